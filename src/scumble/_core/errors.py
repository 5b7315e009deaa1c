"""What can go wrong, as one tree of exceptions, and what may have been meant instead.

Every message says what failed, where, what was expected, what was found and what to do next. A name
that there is not may be misspelt, or as other packages call it.
"""

import errno
import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

#: Our parameters, and what imbalanced-learn, scikit-learn, scikit-multilearn, mldr, MULAN and MEKA
#: call them; of two that stand for the same, the first that there is.
FOREIGN_PARAMETERS = {
    "n_neighbors": "k k_neighbors n_neighbours num_neighbors numofneighbors m_neighbors",
    "smoothing": "s smooth",
    "estimator": "classifier base_classifier base_estimator base_learner base learner model",
    "random_state": "order seed random_seed",
    "percent": "sampling_strategy ratio p percentage",
    "n_jobs": "jobs threads num_threads",
    "n_estimators": "n_models num_models m",
    "threshold": "th",
    "n_splits": "folds k_folds cv",
    "splitter": "folds k_folds cv",
    "resamplers": "resampler",
    "datasets": "dataset",
}
#: What has to be known about a parameter of ours by those who know another.
BESIDE = {
    "percent": ", in percent of the rows: 25, not 0.25",
    "estimator": ", the learner of each label",
    "random_state": ", which also decides the order of labels",
}
#: Our methods, and what they are in other packages, in small letters without marks.
FOREIGN_NAMES = {
    "mlsmote": "smote",
    "mlros": "randomoversampler",
    "mlrus": "randomundersampler",
    "mlenn": "editednearestneighbours",
    "mltl": "tomeklinks tomek",
    "br": "binary multioutputclassifier onevsrestclassifier",
    "rakel": "rakeld rakelo",
    "mlknn": "knn kneighborsclassifier",
    "subset_accuracy": "exactmatch exactmatchratio accuracyscore zerooneloss",
    "accuracy": "jaccard",
    "macro_auc": "rocauc",
    "iterative": "iterativestratification",
    "labels": "pie",
}


class ScumbleError(Exception):
    """Base of everything this package raises on purpose.

    Examples
    --------
    >>> import scumble
    >>> try:
    ...     scumble.characterize([[0, 2]])
    ... except scumble.ScumbleError as error:
    ...     print(type(error).__name__)
    LabelError
    """


class ParameterError(ScumbleError, ValueError):
    """A parameter has a value outside its domain."""


class ParameterTypeError(ScumbleError, TypeError):
    """A parameter or an input has a type that cannot be used."""


def parameter_error(name: str, caller: str, must: str, value: object) -> ParameterError:
    """Make the error that says what a parameter of a caller, unless "", must be, and what it is."""
    of = f" of {caller}" if caller else ""
    return ParameterError(f"The {name!r} parameter{of} must {must}. Got {value!r} instead.")


class LabelError(ScumbleError, ValueError):
    """A label matrix holds something other than 0/1, or has the wrong shape."""


class DataError(ScumbleError, ValueError):
    """The parts of a data set do not fit together."""


class MissingDependencyError(ScumbleError, ImportError):
    """An optional package is not installed."""


class ReadError(ScumbleError, ValueError):
    """A file cannot be read; carries the place."""

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        self.path = None if path is None else str(path)
        self.line = line
        self.column = column
        self.reason = message
        places = {"": self.path, "line ": line, "value ": column}
        where = ", ".join(f"{what}{at}" for what, at in places.items() if at is not None)
        super().__init__(f"{where}: {message}" if where else message)


class WriteError(ScumbleError):
    """A file cannot be written; nothing half-written is left behind."""


class DownloadError(ScumbleError):
    """A public data set could not be fetched or is not what was promised."""


class ScumbleWarning(UserWarning):
    """Something worth knowing that does not stop the work.

    Examples
    --------
    >>> import pathlib, tempfile, warnings
    >>> import scumble
    >>> films = scumble.MultilabelDataset([[90.0]], [["war"]], weights=[2.0])
    >>> with warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always", scumble.ScumbleWarning)
    ...     scumble.write(films, pathlib.Path(tempfile.mkdtemp()) / "films.txt")
    >>> [each.category.__name__ for each in heard]
    ['ScumbleWarning']
    """


def write_failure_message(error: OSError, folder: Path | None = None) -> str:
    """Say in words why something cannot be written, to a folder or not, without a full stop."""
    if folder is not None and isinstance(error, FileNotFoundError) and not folder.exists():
        reason = f"the folder {folder} does not exist. Create it first"
    elif error.errno == errno.ENOSPC:
        reason = "the disk is full. Free some space or write elsewhere"
    elif isinstance(error, PermissionError):
        reason = "no permission to write there"
    else:
        reason = error.strerror or str(error)
    return f"cannot be written: {reason}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Propose known names that may have been meant, after a blank; nothing where none is close."""
    from difflib import get_close_matches

    if len(name) > 60:
        return ""
    # The comparison is slow: it must not be what a wrong file costs most.
    candidates = [other for other in islice(known, 20_000) if len(other) <= 60]
    cutoff = 0.6 if len(name) > 4 else 0.5  # of two letters one may be wrong
    near = _same(name, candidates) or get_close_matches(name, candidates, n=3, cutoff=cutoff)
    near = near or get_close_matches(name.lower(), candidates, n=3, cutoff=cutoff)
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def did_you_mean_parameter(name: str, known: Iterable[str]) -> str:
    """Propose a parameter, also for those that other packages have, after a blank."""
    names = list(known)
    for ours in _called(name.lower(), FOREIGN_PARAMETERS, names):
        return f" Here it is {ours!r}{BESIDE.get(ours, '')}."
    return did_you_mean(name, names)


def _same(name: str, candidates: list[str]) -> list[str]:
    """Find names that differ in marks or in the order of words only, or what others call so."""
    words = _words(name)
    return _called("".join(words), FOREIGN_NAMES, candidates) or [
        other
        for other in candidates
        if "".join(_words(other)) == "".join(words) or sorted(_words(other)) == sorted(words)
    ]


def _called(name: str, foreign: dict[str, str], known: list[str]) -> list[str]:
    """List what there is of ours that others call so."""
    return [ours for ours, theirs in foreign.items() if name in theirs.split() and ours in known]


def _words(name: str) -> list[str]:
    return re.split(r"[-_ .]", name.lower())
