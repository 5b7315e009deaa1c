"""The paper's data sets on this machine, and its experiments as plans."""

import tomllib
import warnings
from importlib import resources

from scumble._core.errors import DataError, ParameterError, ScumbleWarning, did_you_mean
from scumble.data import MultilabelDataset, repository
from scumble.experiment.plan import Plan, plan_from_dict

#: Why a data set that was found is not quite the paper's.
SUBSTITUTES = {
    "mediamill": ("mediamill_reduced", "2,000 of its 43,907 instances"),
    "tmc2007": ("tmc2007-500", "the same labels with 500 features"),
}
#: What can be run, with the tables it fills.
PHASES = {
    "imbalance": "MaxIR and MeanIR before and after LP-ROS and LP-RUS (Tables 2 and 3)",
    "homer": "HOMER's F-measure before and after resampling (Table 4)",
    "remedial": "six classifiers before and after REMEDIAL (Tables 5 to 10)",
    "seeds": "four of the six on other folds (the standard errors of Tables 5 to 9)",
}


def load(name: str) -> MultilabelDataset | None:
    """Load one of the paper's data sets; None where it is not on this machine."""
    # Nothing is downloaded: a check of the paper must not start with an hour of transfers.
    # 'scumble data get NAME' brings a missing one.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScumbleWarning)  # the ledger names substitutes itself
        try:
            repository.locate(name)
        except DataError:
            return None
        return repository.load(name, download=False)


def substitute_note(name: str, data: MultilabelDataset) -> str:
    """Tell what stands in for a data set of the paper."""
    other, how = SUBSTITUTES.get(name, ("", ""))
    return f"{other}: {how}" if data.name == other else ""


# Plans --------------------------------------------------------------------------------------------


def phase(name: str) -> Plan:
    """Return one of the paper's experiments as a plan.

    Parameters
    ----------
    name : {"imbalance", "homer", "remedial", "seeds"}
        The experiment; `PHASES` says which tables it fills.

    Returns
    -------
    Plan
        To be run, or changed.

    Examples
    --------
    >>> from scumble.paper import phase
    >>> phase("imbalance").n_cells
    360
    >>> phase("remedial").n_cells
    1200
    """
    return plan_from_dict(tomllib.loads(phase_text(name)), where=f"plan {name}")


def phase_text(name: str) -> str:
    """Return the TOML text of one of the plans.

    Parameters
    ----------
    name : str
        See `phase`.

    Returns
    -------
    str
        A starting point for a plan of one's own.

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
