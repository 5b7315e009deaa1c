"""What the columns of a plain table are, as a person would say who looks at them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.errors import DataError, ScumbleWarning
from scumble.data.feature import Feature

Array = np.ndarray[Any, Any]

#: Below so many values nothing can be told from their being different.
FEWEST_VALUES = 20
#: A column whose values differ in this share of its rows, or more, names the rows.
UNIQUE_FROM = 0.9
#: Texts are long from so many words on, in the mean; and half of them must differ.
LONG_TEXT, TEXTS_DIFFER_FROM = 3.0, 0.5

_NAMES_ROWS = re.compile(r"(?:.*[\W_])?(?:id|ids|key|index|row|no|nr|uuid|guid)|.*[a-z](?:Id|ID)")
_ISO = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII
)
_TIMES = ("", " %H:%M", " %H:%M:%S")
#: Day first where points stand between; with slashes, day first or month first.
_DAY_FIRST = tuple(f"%d.%m.%Y{time}" for time in _TIMES)
_SLASHES = tuple(
    tuple(f"{day}{time}" for time in _TIMES) for day in ("%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d")
)
_DATE_LIKE = re.compile(r"\d{1,2}[./]\d{1,2}[./]\d{4}(?: .*)?|\d{4}[-/]\d\d[-/]\d\d.*", re.ASCII)


class Asked(NamedTuple):
    """What the user says of columns, by name: whose words to learn from, and what to keep."""

    text: frozenset[str] = frozenset()
    keep: frozenset[str] = frozenset()


def settle_columns(
    X: Any, features: Sequence[Feature], asked: Asked, guessed: Sequence[bool], where: str
) -> tuple[Any, tuple[Feature, ...]]:
    """Tell what columns of a plain table are, and leave out those that tell nothing of other rows.

    Parameters
    ----------
    X : ndarray or csr_array
        The columns as they were read: numbers, or codes of texts.
    features : sequence of Feature
        What they are by their cells alone.
    asked : Asked
        What the user says; nothing is guessed of columns named there.
    guessed : sequence of bool
        Whether the kind of a column may be guessed. It may not where the table itself declares it,
        as categories of pandas do.
    where : str
        The file or table, for messages.

    Returns
    -------
    X, features
        The columns that remain. What is not taken as it looks is named in a warning.

    Notes
    -----
    A column *names rows* if it has at least 20 values and nine in ten of them differ, be they texts
    of less than three words in the mean; or if it has at least 20 whole numbers, all different,
    which grow from row to row or whose column is called such as ``id``, ``ticket_id``, ``row`` or
    ``key``. It tells nothing of other rows, and is left out.

    A column of texts holds *dates* if all of them are written alike: as ``2024-05-31``, with a time
    or without, ``31.5.2024``, or ``31/5/2024`` in either order of day and month where one of them
    shows it. It becomes milliseconds since 1970. Where none shows the order it is left out.

    A column of texts holds *text* if it has at least 20 values with three words or more in the
    mean, and half of them differ. Each a category of its own would tell nothing: it is left out
    until the user asks for its words.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.data import Feature
    >>> from scumble.data.guesses import Asked, settle_columns
    >>> days = Feature("opened", "nominal", ("2024-05-30", "2024-05-31"))
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     X, features = settle_columns(np.array([[1.0], [0.0]]), [days], Asked(), [True], "films")
    >>> features[0].kind, X.ravel() / 86_400_000
    ('date', array([19874., 19873.]))
    """
    told: dict[str, list[str]] = {}
    kept: list[int] = []
    settled: list[Feature] = []
    dates: dict[int, Array] = {}
    for at, feature in enumerate(features):
        verdict, days = "", None
        if feature.name in asked.text:
            if not feature.holds_codes and np.isnan(column_of(X, at)).all():  # no text at all
                feature = Feature(feature.name, "nominal")
            feature = as_text(feature, where)
        elif guessed[at] and feature.name not in asked.keep:
            verdict, days = _guess(feature, X, at)
        if verdict:
            told.setdefault(verdict, []).append(feature.name)
        if days is not None:
            dates[len(kept)] = days
            feature = Feature(feature.name, "date")
        elif verdict:
            continue
        kept.append(at)
        settled.append(feature)
    _tell(told, where)
    if len(kept) < len(features):
        X = X[:, kept]
    return (with_columns(X, dates) if dates else X), tuple(settled)


def as_text(feature: Feature, where: str) -> Feature:
    """Let the words of a column be learnt; refuse numbers and dates."""
    if not feature.holds_codes:
        raise DataError(
            f"{where}: text={feature.name!r} names a column of {feature.kind} values. Expected a "
            "column of texts."
        )
    return replace(feature, kind="text")


def grows(values: Array) -> bool:
    """Tell whether numbers are whole, and each larger than the one before."""
    if len(values) < 2 or not (np.diff(values[:FEWEST_VALUES]) > 0).all():  # mostly
        return False
    return bool((np.diff(values) > 0).all() and (values == np.floor(values)).all())


def _guess(feature: Feature, X: Any, at: int) -> tuple[str, Array | None]:
    """Tell why a column is not taken as it looks, and its times where it holds dates."""
    if feature.kind == "numeric" and feature.integer and not sparse.issparse(X):
        return ("rows" if _numbers_rows(feature.name, X[:, at]) else ""), None
    if feature.kind != "nominal" or not feature.categories:
        return "", None
    codes = column_of(X, at)
    times, is_clear = parse_dates(feature.categories)
    if times is not None:
        return "dates", look_up(times, codes)
    if not is_clear:
        return "unclear dates", None
    n_values = int(np.count_nonzero(~np.isnan(codes)))
    n_different = len(feature.categories)
    if n_values < FEWEST_VALUES or n_different < TEXTS_DIFFER_FROM * n_values:
        return "", None
    n_words = sum(text.count(" ") + 1 for text in feature.categories)
    if n_words >= LONG_TEXT * n_different:
        return "text", None
    return ("rows" if n_different >= UNIQUE_FROM * n_values else ""), None


def column_of(X: Any, at: int) -> Array:
    """Give one column of a table, dense."""
    found: Array = X[:, [at]].toarray().ravel() if sparse.issparse(X) else X[:, at]
    return found


def look_up(values: Array, codes: Array) -> Array:
    """Give the number that stands for each code; NaN where the code is missing."""
    places = np.where(np.isnan(codes), len(values), codes).astype(np.intp)
    found: Array = np.append(values, np.nan)[places]
    return found


def _numbers_rows(name: str, values: Array) -> bool:
    is_named = _NAMES_ROWS.fullmatch(name) or _NAMES_ROWS.fullmatch(name.lower())
    if not is_named:
        return len(values) >= FEWEST_VALUES and grows(values)
    known = values[~np.isnan(values)]
    return len(known) >= FEWEST_VALUES and len(np.unique(known)) == len(known)


def parse_dates(texts: Sequence[str]) -> tuple[Array | None, bool]:
    """Read texts as times in milliseconds since 1970, if all of them are; tell if that is clear.

    Examples
    --------
    >>> from scumble.data.guesses import parse_dates
    >>> parse_dates(["31/05/1970", "01/06/1970"])
    (array([1.29600e+10, 1.30464e+10]), True)
    >>> parse_dates(["03/04/1970"]), parse_dates(["red", "31/05/1970"])
    ((None, False), (None, True))
    """
    if not texts or not _DATE_LIKE.fullmatch(texts[0]):
        return None, True
    if _ISO.fullmatch(texts[0]):
        return _parse_iso(texts), True
    points = _parse_alike(texts, _DAY_FIRST)
    if points is not None:
        return points, True
    found = [days for formats in _SLASHES if (days := _parse_alike(texts, formats)) is not None]
    same = all(np.array_equal(days, found[0]) for days in found)
    return (found[0] if found and same else None), same


def _parse_iso(texts: Sequence[str]) -> Array | None:
    times = np.empty(len(texts))
    for at, text in enumerate(texts):
        if not _ISO.fullmatch(text):
            return None
        try:
            time = datetime.fromisoformat(text)
        except ValueError:  # the 31st of June
            return None
        times[at] = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000
    return times


def _parse_alike(texts: Sequence[str], formats: Sequence[str]) -> Array | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = pa.array(texts, pa.string())
    for written in formats:
        found = pc.strptime(cells, format=written, unit="ms", error_is_null=True)
        if not found.null_count:
            return found.cast(pa.int64()).to_numpy().astype(np.float64)
    return None


def with_columns(X: Any, columns: dict[int, Array]) -> Any:
    """Put other values into some columns."""
    if not sparse.issparse(X):
        X = np.array(X)
        for at, values in columns.items():
            X[:, at] = values
        return X
    parts = [
        sparse.csc_array(columns[at].reshape(-1, 1)) if at in columns else X[:, [at]].tocsc()
        for at in range(X.shape[1])
    ]
    return sparse.hstack(parts, format="csr")


def _tell(told: dict[str, list[str]], where: str) -> None:
    """Name the columns that are not taken as they look, and say how to ask for them."""
    sentences = {
        "rows": "{names} {hold} a different value in nearly every row: left out, since what names "
        "a row tells nothing of others. keep={given} takes it as it is.",
        "text": "{names} {hold} text: left out. text={given} learns from the words, keep={given} "
        "takes every text as a category.",
        "dates": "{names} {hold} dates: read as milliseconds since 1970. ignore={given} leaves "
        "them out.",
        "unclear dates": "{names} {hold} dates that do not show what is the day and what the "
        "month: left out. Write them as 2024-05-31, or take each as a category with keep={given}.",
    }
    for verdict, sentence in sentences.items():
        names = told.get(verdict)
        if not names:
            continue
        shown = ", ".join(map(repr, names))
        given = repr(names[0]) if len(names) == 1 else repr(names)
        hold = "holds" if len(names) == 1 else "hold"
        warnings.warn(
            f"{where}: {sentence.format(names=shown, hold=hold, given=given)}",
            ScumbleWarning,
            stacklevel=6,
        )
