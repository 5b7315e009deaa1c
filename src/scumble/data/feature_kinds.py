"""What the columns of a plain table are, as a person would say who looks at them."""

import re
import warnings
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, get_column, take_by_code, with_columns
from scumble._core.errors import DataError, ScumbleWarning
from scumble.data.feature import Feature

#: Names of a first column that numbers the rows, in lower case.
ROW_NUMBER_NAMES = ("id", "index", "row", "unnamed: 0")
#: Below so many values nothing can be told from their being different.
MIN_VALUES_TO_INFER = 20
#: A column names rows if so large a share of its values, or a larger one, occurs once only: the
#: rest is too little to learn from. Customers with two tickets each are few among many.
MIN_UNIQUE_SHARE = 0.7
#: Texts are long from so many words on, in the mean; and half of them must differ.
LONG_TEXT, TEXTS_DIFFER_FROM = 3.0, 0.5

_NAMES_ROWS = re.compile(r"(?:.*[\W_])?(?:id|ids|key|index|row|no|nr|uuid|guid)|.*[a-z](?:Id|ID)")
_ISO = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII
)
#: Days and times besides those of ISO 8601, as Java's SimpleDateFormat and as C spells them.
_DAYS = {
    "dd.MM.yyyy": "%d.%m.%Y",
    "dd/MM/yyyy": "%d/%m/%Y",
    "MM/dd/yyyy": "%m/%d/%Y",
    "yyyy/MM/dd": "%Y/%m/%d",
}
_TIMES = {"": "", " HH:mm": " %H:%M", " HH:mm:ss": " %H:%M:%S"}
_DATE_LIKE = re.compile(r"\d{1,2}[./]\d{1,2}[./]\d{4}(?: .*)?|\d{4}[-/]\d\d[-/]\d\d.*", re.ASCII)


class Dates(NamedTuple):
    """Texts as times in milliseconds since 1970, how they are written, and if that is clear.

    The times are None where not all texts are dates; where their form is given, NaN stands for
    those that do not follow it. The form is None for ISO 8601.
    """

    times: Array | None
    is_clear: bool = True
    date_format: str | None = None


def infer_feature_kinds(
    X: Any,
    features: Sequence[Feature],
    texts: Container[str],
    kept: Container[str],
    where: str,
    numbers: Mapping[str, int] = MappingProxyType({}),
) -> tuple[Any, tuple[Feature, ...]]:
    """Tell what columns of a plain table are, and leave out those that tell nothing of other rows.

    The words of columns named in ``texts`` are learnt. Those in ``kept`` are taken as they are: the
    user says so, or the table itself declares them, as categories of pandas do. What is not taken
    as it looks is named in a warning, which calls the table ``where``, and columns that have no
    name in the file by their ``numbers``.

    Notes
    -----
    A column *names rows* if seven in ten of its values occur in one row only, be they at least 20
    texts of less than three words in the mean, or at least 20 whole numbers whose column is called
    such as ``id``, ``ticket_id``, ``row`` or ``key``; or if its whole numbers grow from row to row.
    It tells nothing of other rows, and is left out.

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
    >>> from scumble.data.feature_kinds import infer_feature_kinds
    >>> days = Feature("opened", "nominal", ("2024-05-30", "2024-05-31"))
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     X, features = infer_feature_kinds(np.array([[1.0], [0.0]]), [days], (), (), "films")
    >>> features[0].kind, X.ravel() / 86_400_000
    ('date', array([19874., 19873.]))
    """
    told: dict[str, list[str]] = {}
    places: list[int] = []
    settled: list[Feature] = []
    dates: dict[int, Array] = {}
    for at, feature in enumerate(features):
        verdict, days = "", Dates(None)
        if feature.name in texts:
            if not feature.holds_codes and np.isnan(get_column(X, at)).all():  # no text at all
                feature = Feature(feature.name, "nominal")
            feature = as_text_feature(feature, where)
        elif feature.name not in kept:
            verdict, days = infer_column_kind(feature, X, at)
        if verdict:
            told.setdefault(verdict, []).append(feature.name)
        if days.times is not None:
            dates[len(places)] = take_by_code(days.times, get_column(X, at))
            feature = Feature(feature.name, "date", date_format=days.date_format)
        elif verdict:
            continue
        places.append(at)
        settled.append(feature)
    _tell(told, numbers, where)
    if len(places) < len(features):
        X = X[:, places]
    return (with_columns(X, dates) if dates else X), tuple(settled)


def as_text_feature(feature: Feature, where: str) -> Feature:
    """Let the words of a column be learnt; refuse numbers and dates."""
    if not feature.holds_codes:
        raise DataError(
            f"{where}: text={feature.name!r} names a column of {feature.kind} values. Expected a "
            "column of texts."
        )
    return replace(feature, kind="text")


def _grow(values: Array) -> bool:
    """Tell whether there are enough numbers, all whole, each larger than the one before."""
    first = values[:MIN_VALUES_TO_INFER]
    if len(first) < MIN_VALUES_TO_INFER or not (np.diff(first) > 0).all():  # mostly
        return False
    return bool((np.diff(values) > 0).all() and (values == np.floor(values)).all())


def are_row_numbers(values: Array) -> bool:
    """Tell whether numbers grow from 0 or 1, nearly one by one, as the rows do."""
    grow = len(values) > 1 and values[0] in (0, 1) and np.all(np.diff(values) > 0)
    return bool(grow and values[-1] < 2 * len(values))


def infer_column_kind(feature: Feature, X: Any, at: int) -> tuple[str, Dates]:
    """Tell why a column is not taken as it looks, and its dates where it holds such."""
    if feature.kind == "numeric" and feature.integer and not sparse.issparse(X):
        return ("rows" if is_identifier_column(feature, X[:, at]) else ""), Dates(None)
    if feature.kind != "nominal" or not feature.categories:
        return "", Dates(None)
    days = parse_dates(feature.categories)
    if days.times is not None or not days.is_clear:
        return ("dates" if days.is_clear else "unclear dates"), days
    return _guess_texts(feature, get_column(X, at)), days


def _guess_texts(feature: Feature, codes: Array) -> str:
    """Tell texts and names of rows from categories."""
    n_values = int(np.count_nonzero(~np.isnan(codes)))
    n_different = len(feature.categories)
    if n_values < MIN_VALUES_TO_INFER or n_different < TEXTS_DIFFER_FROM * n_values:
        return ""
    n_words = sum(text.count(" ") + 1 for text in feature.categories)
    if n_words >= LONG_TEXT * n_different:
        return "text"
    return "rows" if is_identifier_column(feature, codes) else ""


def is_identifier_column(feature: Feature, values: Array) -> bool:
    """Tell whether texts, or whole numbers by the name of their column or by growing, name rows."""
    name = feature.name
    is_named = _NAMES_ROWS.fullmatch(name) or _NAMES_ROWS.fullmatch(name.lower())
    if not (feature.holds_codes or is_named):
        return _grow(values)
    known = values[~np.isnan(values)]
    if len(known) < MIN_VALUES_TO_INFER or not (known == np.floor(known)).all():
        return False
    is_code = feature.holds_codes
    times = np.bincount(known.astype(np.intp)) if is_code else np.unique_counts(known).counts
    return bool((times == 1).sum() >= MIN_UNIQUE_SHARE * len(known))


def parse_dates(texts: Sequence[str], date_format: str | None = None) -> Dates:
    """Read texts as dates, if all of them are; or all that follow a form found earlier.

    Examples
    --------
    >>> from scumble.data.feature_kinds import parse_dates
    >>> parse_dates(["31/05/1970", "01/06/1970"])
    Dates(times=array([1.29600e+10, 1.30464e+10]), is_clear=True, date_format='dd/MM/yyyy')
    >>> parse_dates(["03/04/1970"]).is_clear, parse_dates(["red", "31/05/1970"]).times
    (False, None)
    >>> parse_dates(["01/06/1970", "06/30/1970"], "dd/MM/yyyy").times
    array([1.30464e+10,         nan])
    """
    day = (date_format or "").partition(" ")[0]
    if day in _DAYS:
        forms = [_DAYS[day] + clock for clock in _TIMES.values()]  # with a time or without
        return Dates(np.fmax.reduce([_parse_as(texts, form) for form in forms]), True, date_format)
    if not texts or not _DATE_LIKE.fullmatch(texts[0]):
        return Dates(None)
    if _ISO.fullmatch(texts[0]):
        return Dates(_parse_iso(texts))
    found = [
        Dates(times, True, day + time)
        for day, as_c in _DAYS.items()
        for time, clock in _TIMES.items()
        if not np.isnan(times := _parse_as(texts, as_c + clock)).any()
    ]
    if not found:
        return Dates(None)
    is_same = all(np.array_equal(days.times, found[0].times) for days in found)  # type: ignore[arg-type]  # there are times
    return found[0] if is_same else Dates(None, False)


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


def _parse_as(texts: Sequence[str], form: str) -> Array:
    """Read texts after a form as C has it; NaN for those that do not follow it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.strptime(pa.array(texts, pa.string()), format=form, unit="ms", error_is_null=True)
    times: Array = found.cast(pa.int64()).cast(pa.float64()).to_numpy(zero_copy_only=False)
    return times


def _tell(told: dict[str, list[str]], numbers: Mapping[str, int], where: str) -> None:
    """Name the columns that are not taken as they look, and say how to ask for them."""
    sentences = {
        "rows": "{names} {hold} a different value in most rows: left out, since what names "
        "a row tells nothing of others. keep={given} takes it as it is.",
        "text": "{names} {hold} text: left out. text={given} learns from the words, keep={given} "
        "takes every text as a category.",
        "dates": "{names} {hold} dates: read as milliseconds since 1970. ignore={given} leaves "
        "them out.",
        "unclear dates": "{names} {hold} dates that do not show what is the day and what the "
        "month: left out. Write them as 2024-05-31, or take each as a category with keep={given}.",
    }
    for verdict, sentence in sentences.items():
        if not (names := told.get(verdict)):
            continue
        shown = ", ".join(map(repr, names))
        keys = [numbers.get(name, name) for name in names]
        given = repr(keys[0] if len(keys) == 1 else keys)
        hold = "holds" if len(names) == 1 else "hold"
        warnings.warn(
            f"{where}: {sentence.format(names=shown, hold=hold, given=given)}",
            ScumbleWarning,
            stacklevel=6,
        )
