"""The exceptions and warnings of this package, and suggestions for misspelt names.

Every message says what failed, where, what was expected, what was found and what to do next. An
unknown name may be misspelt, or may be the name that another package uses.
"""

import errno
import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

#: Our parameters, and their names in imbalanced-learn, scikit-learn, scikit-multilearn, mldr, MULAN
#: and MEKA. Where a foreign name stands for several, the first that the class has is suggested.
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
#: Notes that complete a suggestion: how our parameter differs from the foreign one.
FOREIGN_PARAMETER_NOTES = {
    "percent": ", in percent of the rows: 25, not 0.25",
    "estimator": ", the learner of each label",
    "random_state": ", which also decides the order of labels",
}
#: Our names of resamplers, classifiers, metrics, splitters and plots, and their names in other
#: packages, in lower case without punctuation.
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
    """Base class of the exceptions that this package raises on purpose.

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
    """A parameter has a value that is not allowed."""


class ParameterTypeError(ScumbleError, TypeError):
    """A parameter or an input has a type that cannot be used."""


def parameter_error(name: str, caller: str, requirement: str, value: object) -> ParameterError:
    """Return the error for a parameter value that is not allowed.

    ``requirement`` completes the sentence "The 'k' parameter of MLkNN must ...", for example "be an
    int". ``caller`` is the class or function of the parameter (here MLkNN); if it is empty, the
    message does not name it.
    """
    owner = f" of {caller}" if caller else ""
    return ParameterError(
        f"The {name!r} parameter{owner} must {requirement}. Got {value!r} instead."
    )


class LabelError(ScumbleError, ValueError):
    """A label matrix holds something other than 0/1, or has the wrong shape."""


class DataError(ScumbleError, ValueError):
    """The parts of a data set do not fit together."""


class MissingDependencyError(ScumbleError, ImportError):
    """An optional package is not installed."""


class ReadError(ScumbleError, ValueError):
    """A file cannot be read; ``path``, ``line`` and ``column`` say where."""

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        """Store where the error is, and put it before the message; None leaves a part out."""
        self.path = None if path is None else str(path)
        self.line = line
        self.column = column
        self.reason = message
        location = []
        if self.path is not None:
            location.append(self.path)
        if line is not None:
            location.append(f"line {line}")
        if column is not None:
            location.append(f"value {column}")
        super().__init__(f"{', '.join(location)}: {message}" if location else message)


class WriteError(ScumbleError):
    """A file cannot be written; nothing half-written is left behind."""


class DownloadError(ScumbleError):
    """A public data set cannot be downloaded, or the download has an unexpected checksum."""


class ScumbleWarning(UserWarning):
    """Something worth knowing that does not stop the work.

    Examples
    --------
    >>> import pathlib, tempfile, warnings
    >>> import scumble
    >>> films = scumble.MultilabelDataset([[90.0]], [["war"]], weights=[2.0])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", scumble.ScumbleWarning)
    ...     scumble.write(films, pathlib.Path(tempfile.mkdtemp()) / "films.txt")
    >>> [warning.category.__name__ for warning in caught]
    ['ScumbleWarning']
    """


def write_failure_message(error: OSError, folder: Path | None = None) -> str:
    """Return "cannot be written: " and the reason, as text without a full stop.

    ``folder`` is the folder of the file; if it is given, the text says if it does not exist.
    """
    if folder is not None and isinstance(error, FileNotFoundError) and not folder.exists():
        reason = f"the folder {folder} does not exist. Create it first"
    elif error.errno == errno.ENOSPC:
        reason = "the disk is full. Free some space or write elsewhere"
    elif isinstance(error, PermissionError):
        reason = "no permission to write there"
    else:
        reason = error.strerror or str(error)
    return f"cannot be written: {reason}"


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return " Did you mean ...?" with the candidates that are most similar to a name.

    These are the names that mean the same, see `_equivalent_names`, else up to three names of
    similar spelling. Names of more than 60 characters are not compared. The text begins with a
    blank, so that it can be appended to a sentence; it is empty if no candidate is similar.
    """
    from difflib import get_close_matches

    if len(name) > 60:
        return ""
    # The comparison is slow: a wrong file with many long names must not take minutes.
    names = [candidate for candidate in islice(candidates, 20_000) if len(candidate) <= 60]
    cutoff = 0.6 if len(name) > 4 else 0.5  # one of two letters may be wrong
    matches = (
        _equivalent_names(name, names)
        or get_close_matches(name, names, n=3, cutoff=cutoff)
        or get_close_matches(name.lower(), names, n=3, cutoff=cutoff)
    )
    if matches:
        return f" Did you mean {' or '.join(map(repr, matches))}?"
    return ""


def did_you_mean_parameter(name: str, candidates: Iterable[str]) -> str:
    """Return a suggestion like `did_you_mean` for the name of a parameter.

    If other packages use the name for one of the candidates, this candidate is suggested.
    """
    names = list(candidates)
    matches = _translate_foreign_name(name.lower(), FOREIGN_PARAMETERS, names)
    if matches:
        return f" Here it is {matches[0]!r}{FOREIGN_PARAMETER_NOTES.get(matches[0], '')}."
    return did_you_mean(name, names)


def _equivalent_names(name: str, candidates: list[str]) -> list[str]:
    """Return the candidates that mean the same as a name.

    These are the candidates that other packages call by this name; if there are none, those that
    consist of the same words in any order, with any punctuation.
    """
    words = _split_words(name)
    translated = _translate_foreign_name("".join(words), FOREIGN_NAMES, candidates)
    if translated:
        return translated
    matches = []
    for candidate in candidates:
        candidate_words = _split_words(candidate)
        is_same_text = "".join(candidate_words) == "".join(words)
        if is_same_text or sorted(candidate_words) == sorted(words):
            matches.append(candidate)
    return matches


def _translate_foreign_name(
    name: str, foreign_names: dict[str, str], candidates: list[str]
) -> list[str]:
    """Return the candidates that other packages call ``name``.

    ``foreign_names`` maps a name of this package to names in other packages, separated by blanks.
    """
    return [
        candidate
        for candidate, synonyms in foreign_names.items()
        if name in synonyms.split() and candidate in candidates
    ]


def _split_words(name: str) -> list[str]:
    """Return the words of a name in lower case; hyphens, underscores, blanks and dots separate."""
    return re.split(r"[-_ .]", name.lower())
