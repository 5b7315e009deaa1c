"""Guess the roles of the columns of a plain table: label, list of labels, feature, or ignored.

The guess uses the first rows and the column names. Whoever opens the table may override it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from scumble._core.arrays import Array
from scumble.data.feature import Feature
from scumble.data.infer.feature_kinds import infer_column_kind

#: All roles of a column.
ROLES = ("label", "list", "number", "category", "text", "ignore")
LABEL, LIST, NUMBER, CATEGORY, TEXT, IGNORE = ROLES
#: Number of rows that the guess uses.
MAX_INSPECTED_ROWS = 1000
#: Longest column name, in characters, that serves as a key; a longer one is replaced by its number.
MAX_KEY_LENGTH = 100
#: Characters that may separate labels.
SEPARATORS = ";|,"
#: The same in columns that are named like labels. In other columns, blanks and slashes do not
#: count, because they occur in other texts, too.
SEPARATORS_IF_NAMED = ";|,/ "
#: Share of the cells that must contain the separator.
MIN_SEPARATED_SHARE = 0.2
#: The same in columns that are named like labels; larger, because there are more separators.
MIN_SEPARATED_SHARE_IF_NAMED = 0.3
#: Labels are repeated: mean number of cells that contain a label.
MIN_CELLS_PER_LABEL = 1.5
#: Labels are short: mean number of words of a label.
MAX_WORDS_PER_LABEL = 3.0
#: `suggest_label_options` names no more labels than this.
MAX_SUGGESTED_LABELS = 20

_WORDS = "labels?|tags?|topics?|genres?|keywords?|categor(?:y|ies)|class(?:es)?|themes?"
_NAMES_LABELS = re.compile(rf"(?:.*[\W_])?(?:{_WORDS})(?:[\W_\d].*)?", re.IGNORECASE)
_FLAGS = frozenset(("0", "1", "true", "false"))
#: Role and reason for each verdict of `infer_column_kind`.
_ROLE_OF_VERDICT = {
    "identifiers": (IGNORE, "identifies the rows"),
    "text": (TEXT, "several words each"),
    "dates": (NUMBER, "dates"),
    "ambiguous dates": (IGNORE, "dates, day or month first?"),
}


@dataclass(frozen=True)
class ColumnPreview:
    """The first values of a column."""

    name: str  # empty for a column without a name
    feature: Feature | None  # what a reader makes of the cells alone; None: not a feature
    values: Array  # numbers, or codes of texts
    is_list: bool = False
    parts: bool = True  # whether cells can be split into labels; all cells of a text file can
    guessed: bool = True  # whether the kind is inferred; False if the table declares it
    is_row_number: bool = False  # the reader ignores such a column


class InferredRole(NamedTuple):
    """The role of a column, the roles it may have, the reason, and the separator of a list."""

    role: str
    roles: tuple[str, ...]
    reason: str
    separator: str = ""


def infer_column_roles(heads: Sequence[ColumnPreview]) -> list[InferredRole]:
    """Infer the role of each column.

    Notes
    -----
    *A list of labels* is the column with lists, or with texts that a separator splits into few
    words which are repeated in other rows. *Labels* are columns of 0 and 1: those named like
    labels, else the last columns, else the first ones, if there are other columns as well. A table
    has either a list or labels; a list is preferred if it has brackets or is named like labels.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.data import Feature
    >>> from scumble.data.infer.column_roles import ColumnPreview, infer_column_roles
    >>> heads = [ColumnPreview("size", Feature("size"), np.array([2.5, 1.0])),
    ...          ColumnPreview("sea", Feature("sea", integer=True), np.array([0.0, 1.0]))]
    >>> [(guess.role, guess.reason) for guess in infer_column_roles(heads)]
    [('number', 'numbers'), ('label', '0 and 1')]
    """
    guesses = [_role_of_column(head) for head in heads]
    lists: dict[int, InferredRole] = {}
    for index, head in enumerate(heads):
        label_list = _label_list_role(head)
        if label_list is not None:
            lists[index] = label_list
    certain_lists = [index for index in lists if heads[index].is_list or _is_named(heads[index])]
    labels: list[int] = []
    if not certain_lists:
        flags = [index for index, guess in enumerate(guesses) if LABEL in guess.roles]
        labels = _label_columns(heads, flags)
    for index in labels:
        guesses[index] = guesses[index]._replace(role=LABEL, reason="0 and 1")
    if lists and not labels:
        named_lists = [index for index in certain_lists if _is_named(heads[index])]
        first = (named_lists or certain_lists or list(lists))[0]
        guesses[first] = lists[first]._replace(roles=guesses[first].roles)
    return guesses


def suggest_label_options(heads: Sequence[ColumnPreview]) -> str:
    """Suggest options of `scumble.read` for the labels, as a sentence; "" without a guess.

    The sentence starts with a blank, so that it can follow an error message.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.data import Feature
    >>> from scumble.data.infer.column_roles import ColumnPreview, suggest_label_options
    >>> texts = Feature("tags", "nominal", ("sea", "sea|sky", "sky|war"))
    >>> suggest_label_options([ColumnPreview("tags", texts, np.array([0.0, 1.0, 2.0]))])
    " It looks like label_column='tags', label_separator='|'."
    """
    guesses = infer_column_roles(heads)
    keys = [column_key(head.name, index) for index, head in enumerate(heads)]
    for key, guess in zip(keys, guesses, strict=True):
        if guess.role == LIST:
            separator = f", label_separator={guess.separator!r}" if guess.separator else ""
            return f" It looks like label_column={key!r}{separator}."
    indices = [index for index, guess in enumerate(guesses) if guess.role == LABEL]
    if indices and indices[0] == len(heads) - len(indices):
        return f" It looks like labels={-len(indices)}."
    if not 0 < len(indices) <= MAX_SUGGESTED_LABELS:
        return ""
    label_keys = [keys[index] for index in indices]
    # Readers take names or numbers, never a mixture.
    labels = label_keys if all(isinstance(key, str) for key in label_keys) else indices
    return f" It looks like labels={labels!r}."


def column_key(name: str, index: int) -> str | int:
    """Return the name by which readers and commands refer to a column, or else its number."""
    is_key = 0 < len(name) <= MAX_KEY_LENGTH and "," not in name
    if is_key and not name.strip("+-").isdecimal():
        return name
    return index


def _role_of_column(head: ColumnPreview) -> InferredRole:
    """Infer the role of a column from its values alone."""
    feature = head.feature
    if head.is_list:
        return InferredRole(IGNORE, (LIST, IGNORE), "a second list")
    if feature is None:
        return InferredRole(IGNORE, (IGNORE,), "nothing to learn from")
    role, reason = _role_of_feature(head, feature)
    n_present = np.count_nonzero(~np.isnan(head.values))
    if not n_present:
        reason = "empty in the first rows" if len(head.values) else "no rows"
    is_possible = {
        LABEL: 0 < n_present == len(head.values) and _are_flags(feature, head.values),
        LIST: head.parts,
        NUMBER: not feature.holds_codes,
        CATEGORY: feature.holds_codes or feature.kind == "numeric",
        TEXT: feature.holds_codes or (head.parts and not n_present),
        IGNORE: True,
    }
    roles = tuple(name for name in ROLES if is_possible[name] or name == role)
    return InferredRole(role, roles, reason)


def _role_of_feature(head: ColumnPreview, feature: Feature) -> tuple[str, str]:
    """Return role and reason for a feature, as its reader will interpret it."""
    verdict = "dates" if feature.kind == "date" else ""
    if head.guessed:
        verdict = infer_column_kind(feature, head.values.reshape(-1, 1), 0)[0] or verdict
    if head.is_row_number:
        verdict = "identifiers"
    if verdict:
        return _ROLE_OF_VERDICT[verdict]
    if not feature.holds_codes:
        return NUMBER, "whole numbers" if feature.integer else "numbers"
    n_categories = len(feature.categories)
    noun = "value" if n_categories == 1 else "values"
    return CATEGORY, f"{n_categories} different {noun}"


def _are_flags(feature: Feature, values: Array) -> bool:
    """Return whether all values are 0 or 1, or true or false."""
    if feature.kind == "nominal":
        return {text.lower() for text in feature.categories} <= _FLAGS
    return feature.kind == "numeric" and bool(np.isin(values, (0.0, 1.0)).all())


def _is_named(head: ColumnPreview) -> bool:
    """Return whether a column is named like labels."""
    return _NAMES_LABELS.fullmatch(head.name) is not None


def _label_columns(heads: Sequence[ColumnPreview], flags: Sequence[int]) -> list[int]:
    """Select the labels among the columns of 0 and 1, by name or at one end of the table."""
    named = [index for index in flags if _is_named(heads[index])]
    if named:
        return named
    if len(flags) == len(heads):  # nothing distinguishes labels from features
        return []
    is_flag = set(flags).__contains__
    last = [*takewhile(is_flag, reversed(range(len(heads))))][::-1]
    if last:
        return last
    first = [*takewhile(is_flag, range(len(heads)))]
    return first if len(first) > 1 else []


def _label_list_role(head: ColumnPreview) -> InferredRole | None:
    """Return the role of a column that seems to hold lists of labels; None for other columns."""
    if head.is_list:
        return InferredRole(LIST, (), "lists")
    feature = head.feature
    if feature is None or not head.parts or feature.kind != "nominal":
        return None
    counts = np.bincount(head.values[~np.isnan(head.values)].astype(np.intp))
    cells = Counter(dict(zip(feature.categories, counts.tolist(), strict=False)))
    is_named = _is_named(head)
    candidates = SEPARATORS_IF_NAMED if is_named else SEPARATORS
    separators = [
        separator
        for separator in candidates
        if _separates_labels(cells, separator, is_named=is_named)
    ]
    if not separators:
        return None
    best = max(separators, key=lambda separator: _count_cells_with(cells, separator))
    separator_name = "blanks" if best == " " else best
    return InferredRole(LIST, (), f"separated by {separator_name}", best)


def _count_cells_with(cells: Counter[str], separator: str) -> int:
    """Count the cells that contain a separator; `cells` maps each text to its count."""
    return sum(n for text, n in cells.items() if separator in text)


def _separates_labels(cells: Counter[str], separator: str, *, is_named: bool) -> bool:
    """Return whether a separator splits cells into what looks like labels: short and repeated."""
    n_separated = _count_cells_with(cells, separator)
    min_share = MIN_SEPARATED_SHARE_IF_NAMED if is_named else MIN_SEPARATED_SHARE
    if n_separated == 0 or n_separated < min_share * cells.total():
        return False
    labels: Counter[str] = Counter()
    for text, n in cells.items():
        for label in {part.strip() for part in text.split(separator)} - {""}:
            labels[label] += n
    if len(labels) < 3:
        return False
    words_per_label = sum(len(label.split()) for label in labels) / len(labels)
    cells_per_label = labels.total() / len(labels)
    is_short = words_per_label < MAX_WORDS_PER_LABEL
    is_repeated = cells_per_label >= MIN_CELLS_PER_LABEL
    return is_short and (is_repeated or (is_named and separator != " "))
