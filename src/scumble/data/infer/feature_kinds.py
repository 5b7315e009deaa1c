"""Inference of what the columns of a plain table hold: identifiers, dates, texts or categories.

A *plain table* is a CSV file or a DataFrame, whose columns have no declared kinds.
"""

import re
import warnings
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, get_column, take_by_code, with_columns
from scumble._core.errors import DataError, ScumbleWarning
from scumble.data.feature import Feature

#: Names, in lower case, of a first column with row numbers.
ROW_NUMBER_NAMES = ("id", "index", "row", "unnamed: 0")
#: With fewer values than this, all of them may differ by chance, so nothing is inferred from it.
MIN_VALUES_TO_INFER = 20
#: A column is an identifier column if at least this share of its values occurs only once: the
#: remaining values are too few to learn from, such as the few customers with two tickets.
MIN_UNIQUE_SHARE = 0.7
#: Categories are taken for text if they have at least this many words on average ...
MIN_MEAN_WORDS_OF_TEXT = 3.0
#: ... and if at least this share of the values differs.
MIN_DISTINCT_SHARE_OF_TEXT = 0.5

#: Names of identifier columns, such as ``id``, ``ticket_id``, ``row`` or ``userID``.
_IDENTIFIER_NAME = re.compile(
    r"(?:.*[\W_])?(?:id|ids|key|index|row|no|nr|uuid|guid)|.*[a-z](?:Id|ID)"
)
#: A date of ISO 8601, with or without a time and a time zone.
_ISO_DATE = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII
)
#: Formats of days and times other than ISO 8601: for Java's SimpleDateFormat, and for C's strptime.
_DAY_FORMATS = {
    "dd.MM.yyyy": "%d.%m.%Y",
    "dd/MM/yyyy": "%d/%m/%Y",
    "MM/dd/yyyy": "%m/%d/%Y",
    "yyyy/MM/dd": "%Y/%m/%d",
}
_TIME_FORMATS = {"": "", " HH:mm": " %H:%M", " HH:mm:ss": " %H:%M:%S"}
#: Texts that may be dates; other texts are rejected without trying all formats.
_DATE_LIKE = re.compile(r"\d{1,2}[./]\d{1,2}[./]\d{4}(?: .*)?|\d{4}[-/]\d\d[-/]\d\d.*", re.ASCII)


class ParsedDates(NamedTuple):
    """Texts converted to milliseconds since 1970, and their format."""

    #: None if not all texts are dates; with a specified format, NaN for texts that do not follow
    #: it.
    times: Array | None
    #: Whether the texts fit several formats with different results; ``times`` is None then.
    is_ambiguous: bool = False
    #: The format, in the syntax of Java's SimpleDateFormat; None for ISO 8601.
    date_format: str | None = None


class InferredContent(NamedTuple):
    """What a column holds that needs special treatment."""

    #: "identifiers", "text", "dates" or "ambiguous dates"; "" for a column that is kept as it is.
    content: str
    #: The dates, for the content "dates".
    dates: ParsedDates = ParsedDates(None)


def infer_feature_kinds(
    X: Any,
    features: Sequence[Feature],
    *,
    text_names: Container[str],
    as_is_names: Container[str],
    input_name: str,
    column_numbers: Mapping[str, int] = MappingProxyType({}),
) -> tuple[Any, tuple[Feature, ...]]:
    """Infer what the columns of a plain table hold, and leave out those that cannot be learnt from.

    A warning names the columns that are left out or converted, with the options that change it.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        The values of the columns; texts are codes.
    features : sequence of Feature
        The columns as a reader sees them: numeric or nominal.
    text_names : container of str
        Names of columns that become text features.
    as_is_names : container of str
        Names of columns that are not changed: an option names them, or the table declares them,
        as a pandas Categorical does.
    input_name : str
        The text by which warnings call the table.
    column_numbers : mapping of str to int
        The numbers of columns that have no name in the file, by their name in ``features``;
        warnings use these.

    Returns
    -------
    X : ndarray or sparse matrix
        The columns that remain.
    features : tuple of Feature
        Their descriptions.

    Notes
    -----
    A column is an *identifier column* if seven in ten of its values occur in one row only, and if
    they are at least 20 texts of less than three words on average, or at least 20 whole numbers in
    a column with a name such as ``id``, ``ticket_id``, ``row`` or ``key``; or if its whole numbers
    grow from row to row. It is left out.

    A column of texts holds *dates* if all have the same format: ``2024-05-31``, with or without a
    time, ``31.5.2024``, or ``31/5/2024`` in either order of day and month, provided that one of
    them shows the order. It becomes milliseconds since 1970. If no date shows the order, the column
    is left out.

    A column of texts holds *text* if it has at least 20 values with three words or more on average,
    and if half of them differ. As categories they would be useless: the column is left out unless
    the option ``text`` names it.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from scumble.data import Feature
    >>> from scumble.data.infer.feature_kinds import infer_feature_kinds
    >>> days = Feature("opened", "nominal", ("2024-05-30", "2024-05-31"))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     X, features = infer_feature_kinds(
    ...         np.array([[1.0], [0.0]]), [days], text_names=(), as_is_names=(), input_name="films"
    ...     )
    >>> features[0].kind, X.ravel() / 86_400_000
    ('date', array([19874., 19873.]))
    """
    names_by_content: dict[str, list[str]] = {}
    remaining_columns: list[int] = []
    remaining_features: list[Feature] = []
    times_by_column: dict[int, Array] = {}
    for column, feature in enumerate(features):
        inferred = InferredContent("")
        if feature.name in text_names:
            if not feature.holds_codes and np.isnan(get_column(X, column)).all():  # no text at all
                feature = Feature(feature.name, "nominal")
            feature = as_text_feature(feature, input_name=input_name)
        elif feature.name not in as_is_names:
            inferred = infer_column_content(feature, X, column)
        if inferred.content:
            names_by_content.setdefault(inferred.content, []).append(feature.name)
        if inferred.dates.times is not None:
            new_column = len(remaining_columns)
            times_by_column[new_column] = take_by_code(inferred.dates.times, get_column(X, column))
            feature = Feature(feature.name, "date", date_format=inferred.dates.date_format)
        elif inferred.content:
            continue
        remaining_columns.append(column)
        remaining_features.append(feature)
    _warn_of_inferred_columns(names_by_content, column_numbers, input_name)
    if len(remaining_columns) < len(features):
        X = X[:, remaining_columns]
    if times_by_column:
        X = with_columns(X, times_by_column)
    return X, tuple(remaining_features)


def as_text_feature(feature: Feature, *, input_name: str) -> Feature:
    """Return a feature of kind "text" with the same name and texts.

    Raise DataError for numbers and dates; the message calls the table ``input_name``.
    """
    if not feature.holds_codes:
        raise DataError(
            f"{input_name}: text={feature.name!r} names a column of {feature.kind} values. "
            "Expected a column of texts."
        )
    return replace(feature, kind="text")


def _is_increasing(values: Array) -> bool:
    """Return whether all values are whole numbers, each larger than the one before it.

    Fewer than `MIN_VALUES_TO_INFER` values do not count as increasing.
    """
    first = values[:MIN_VALUES_TO_INFER]
    if len(first) < MIN_VALUES_TO_INFER:
        return False
    if not (np.diff(first) > 0).all():  # rejects most columns without a pass over all values
        return False
    return bool((np.diff(values) > 0).all() and (values == np.floor(values)).all())


def are_row_numbers(values: Array) -> bool:
    """Return whether values look like row numbers.

    There are at least two; they start at 0 or 1, increase, and stay below twice their number, since
    some rows may have been deleted.
    """
    is_increasing = len(values) > 1 and values[0] in (0, 1) and np.all(np.diff(values) > 0)
    return bool(is_increasing and values[-1] < 2 * len(values))


def infer_column_content(feature: Feature, X: Any, column: int) -> InferredContent:
    """Return whether a column of X holds identifiers, dates or long texts.

    ``feature`` is the column as a reader sees it; the rules are those of `infer_feature_kinds`.
    """
    if feature.kind == "numeric" and feature.integer and not sparse.issparse(X):
        is_identifier = is_identifier_column(feature, X[:, column])
        return InferredContent("identifiers" if is_identifier else "")
    if feature.kind != "nominal" or not feature.categories:
        return InferredContent("")
    dates = parse_dates(feature.categories)
    if dates.is_ambiguous:
        return InferredContent("ambiguous dates", dates)
    if dates.times is not None:
        return InferredContent("dates", dates)
    return InferredContent(_infer_content_of_texts(feature, get_column(X, column)), dates)


def _infer_content_of_texts(feature: Feature, codes: Array) -> str:
    """Return "text" or "identifiers" if a nominal feature seems to hold these, or "".

    ``codes`` is its column of X.
    """
    n_values = int(np.count_nonzero(~np.isnan(codes)))
    n_distinct = len(feature.categories)
    if n_values < MIN_VALUES_TO_INFER or n_distinct < MIN_DISTINCT_SHARE_OF_TEXT * n_values:
        return ""
    n_words = sum(text.count(" ") + 1 for text in feature.categories)
    if n_words >= MIN_MEAN_WORDS_OF_TEXT * n_distinct:
        return "text"
    if is_identifier_column(feature, codes):
        return "identifiers"
    return ""


def is_identifier_column(feature: Feature, values: Array) -> bool:
    """Return whether texts or whole numbers identify rows.

    Texts, and numbers in a column with a name such as ``ticket_id``, do if most of their values
    occur only once; numbers with another name do if they increase from row to row. ``values`` is
    the feature's column of X.
    """
    name = feature.name
    is_named = _IDENTIFIER_NAME.fullmatch(name) or _IDENTIFIER_NAME.fullmatch(name.lower())
    if not (feature.holds_codes or is_named):
        return _is_increasing(values)
    present = values[~np.isnan(values)]
    if len(present) < MIN_VALUES_TO_INFER or not (present == np.floor(present)).all():
        return False
    if feature.holds_codes:
        counts = np.bincount(present.astype(np.intp))
    else:
        counts = np.unique_counts(present).counts
    return bool((counts == 1).sum() >= MIN_UNIQUE_SHARE * len(present))


def parse_dates(texts: Sequence[str], date_format: str | None = None) -> ParsedDates:
    """Convert texts to dates: by ``date_format``, or if all of them are dates of one format.

    Examples
    --------
    >>> from scumble.data.infer.feature_kinds import parse_dates
    >>> dates = parse_dates(["31/05/1970", "01/06/1970"])
    >>> dates.times, dates.date_format
    (array([1.29600e+10, 1.30464e+10]), 'dd/MM/yyyy')
    >>> parse_dates(["03/04/1970"]).is_ambiguous, parse_dates(["red", "31/05/1970"]).times
    (True, None)
    >>> parse_dates(["01/06/1970", "06/30/1970"], "dd/MM/yyyy").times
    array([1.30464e+10,         nan])
    """
    day_format = (date_format or "").partition(" ")[0]
    if day_format in _DAY_FORMATS:
        strptime_formats = [_DAY_FORMATS[day_format] + time for time in _TIME_FORMATS.values()]
        candidates = [_parse_with_strptime(texts, pattern) for pattern in strptime_formats]
        return ParsedDates(np.fmax.reduce(candidates), date_format=date_format)
    if not texts or not _DATE_LIKE.fullmatch(texts[0]):
        return ParsedDates(None)
    if _ISO_DATE.fullmatch(texts[0]):
        return ParsedDates(_parse_iso(texts))
    first_times = None
    first_format = ""
    for (day_format, day), (time_format, time) in product(
        _DAY_FORMATS.items(), _TIME_FORMATS.items()
    ):
        times = _parse_with_strptime(texts, day + time)
        if np.isnan(times).any():
            continue
        if first_times is None:
            first_times = times
            first_format = day_format + time_format
        elif not np.array_equal(times, first_times):
            return ParsedDates(None, is_ambiguous=True)
    if first_times is None:
        return ParsedDates(None)
    return ParsedDates(first_times, date_format=first_format)


def _parse_iso(texts: Sequence[str]) -> Array | None:
    """Convert dates of ISO 8601 to milliseconds since 1970; None if one text is not a date.

    Times without a time zone are UTC.
    """
    times = np.empty(len(texts))
    for index, text in enumerate(texts):
        if not _ISO_DATE.fullmatch(text):
            return None
        try:
            time = datetime.fromisoformat(text)
        except ValueError:  # the 31st of June
            return None
        if time.tzinfo is None:
            time = time.replace(tzinfo=UTC)
        times[index] = time.timestamp() * 1000
    return times


def _parse_with_strptime(texts: Sequence[str], pattern: str) -> Array:
    """Convert texts to milliseconds since 1970 (UTC) by a pattern of C's strptime.

    Texts that do not match the pattern become NaN.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    strings = pa.array(texts, pa.string())
    timestamps = pc.strptime(strings, format=pattern, unit="ms", error_is_null=True)
    times: Array = timestamps.cast(pa.int64()).cast(pa.float64()).to_numpy(zero_copy_only=False)
    return times


def _warn_of_inferred_columns(
    names_by_content: dict[str, list[str]], column_numbers: Mapping[str, int], input_name: str
) -> None:
    """Warn of columns that are left out or converted, and name the options that change it.

    ``names_by_content`` maps the content of `InferredContent` to names of columns; the other
    parameters are those of `infer_feature_kinds`.
    """
    sentences = {
        "identifiers": "{names} {hold} a different value in most rows: left out, because nothing "
        "can be learnt from an identifier. keep={keys} takes it as it is.",
        "text": "{names} {hold} text: left out. text={keys} learns from the words, keep={keys} "
        "takes every text as a category.",
        "dates": "{names} {hold} dates: read as milliseconds since 1970. ignore={keys} leaves "
        "them out.",
        "ambiguous dates": "{names} {hold} dates that do not show what is the day and what the "
        "month: left out. Write them as 2024-05-31, or take each as a category with keep={keys}.",
    }
    for content, sentence in sentences.items():
        names = names_by_content.get(content)
        if not names:
            continue
        quoted_names = ", ".join(map(repr, names))
        keys = [column_numbers.get(name, name) for name in names]
        keys_text = repr(keys[0] if len(keys) == 1 else keys)
        hold = "holds" if len(names) == 1 else "hold"
        warnings.warn(
            f"{input_name}: {sentence.format(names=quoted_names, hold=hold, keys=keys_text)}",
            ScumbleWarning,
            stacklevel=6,
        )
