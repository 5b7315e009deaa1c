"""The paper's data sets on this machine, and its experiments as plans.

The experiments of the paper are called *phases*: `PHASES` lists them. A plan is an experiment to
run: data sets, resamplers, classifiers, metrics, folds and seeds.
"""

import tomllib
import warnings
from importlib import resources

from scumble._core.errors import DataError, ParameterError, ScumbleWarning, did_you_mean
from scumble.data import MultilabelDataset
from scumble.data.public import repository
from scumble.experiment.plan import Plan, plan_from_dict

#: Data sets of the paper that are not available, with the name of the data set that replaces each
#: of them and its difference.
SUBSTITUTES = {
    "mediamill": ("mediamill_reduced", "2,000 of its 43,907 instances"),
    "tmc2007": ("tmc2007-500", "the same labels with 500 features"),
}
#: Experiments of the paper, with the tables that they reproduce.
PHASES = {
    "imbalance": "MaxIR and MeanIR before and after LP-ROS and LP-RUS (Tables 2 and 3)",
    "homer": "HOMER's F-measure before and after resampling (Table 4)",
    "remedial": "six classifiers before and after REMEDIAL (Tables 5 to 10)",
    "seeds": "four of the six on other folds (the standard errors of Tables 5 to 9)",
}


def load(name: str) -> MultilabelDataset | None:
    """Return one of the paper's data sets, or None if it is not on this machine.

    Nothing is downloaded.
    """
    # A check of the paper must not start with an hour of downloads; 'scumble data get NAME'
    # downloads a missing data set.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScumbleWarning)  # the ledger names substitutes
        try:
            repository.locate(name)
        except DataError:
            return None
        return repository.load(name, download=False)


def substitute_note(name: str, data: MultilabelDataset) -> str:
    """Return a note that ``data`` replaces the paper's data set ``name``, and how they differ.

    The note is "" if ``data`` is the data set of the paper.
    """
    substitute, difference = SUBSTITUTES.get(name, ("", ""))
    if data.name == substitute:
        return f"{substitute}: {difference}"
    return ""


# Plans --------------------------------------------------------------------------------------------


def phase(name: str) -> Plan:
    """Return one of the paper's experiments as a plan.

    Parameters
    ----------
    name : {"imbalance", "homer", "remedial", "seeds"}
        The experiment; `PHASES` lists the tables that it reproduces.

    Returns
    -------
    Plan
        The plan, to run or to change. A cell of it is one run: a fold of a data set with one
        resampler and one classifier.

    Examples
    --------
    >>> from scumble.paper import phase
    >>> phase("imbalance").n_cells
    360
    >>> phase("remedial").n_cells
    1200
    """
    return plan_from_dict(tomllib.loads(phase_text(name)), source=f"plan {name}")


def phase_text(name: str) -> str:
    """Return the TOML text of one of the plans.

    Parameters
    ----------
    name : str
        See `phase`.

    Returns
    -------
    str
        The plan, as a starting point for a changed one.

    Examples
    --------
    >>> from scumble.paper import phase_text
    >>> print(phase_text("homer").splitlines()[1])
    name = "homer"
    """
    if name not in PHASES:
        raise ParameterError(
            f"The paper has no experiment {name!r}.{did_you_mean(str(name), PHASES)} "
            f"Expected one of {', '.join(PHASES)}."
        )
    path = resources.files(__package__) / "plans" / f"{name}.toml"
    return path.read_text(encoding="utf-8")
