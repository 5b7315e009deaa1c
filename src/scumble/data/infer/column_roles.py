"""Infer the roles of the columns of a plain table: label, list of labels, feature, or ignored.

A *role* says what a column is used for. It is inferred from the first rows and the column names,
for a preview and for suggestions in error messages; users may choose another role. A column of
*flags* holds only 0 and 1, or true and false.
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
from scumble.data.infer.feature_kinds import infer_column_content

#: All roles of a column: a 0/1 label, a list of labels, three kinds of features, and none.
ROLES = ("label", "list", "number", "category", "text", "ignore")
LABEL, LIST, NUMBER, CATEGORY, TEXT, IGNORE = ROLES
#: Number of rows that roles are inferred from: enough to see what most columns hold.
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
#: Names of columns that are labels or lists of them, such as ``tags``, ``film_genre`` or ``label
#: 3``.
_LABEL_NAME = re.compile(rf"(?:.*[\W_])?(?:{_WORDS})(?:[\W_\d].*)?", re.IGNORECASE)
_FLAGS = frozenset(("0", "1", "true", "false"))
#: Role and reason for each content that `infer_column_content` returns.
_ROLE_OF_CONTENT = {
    "identifiers": (IGNORE, "identifies the rows"),
    "text": (TEXT, "several words each"),
    "dates": (NUMBER, "dates"),
    "ambiguous dates": (IGNORE, "dates, day or month first?"),
}


@dataclass(frozen=True)
class ColumnPreview:
    """The first values of a column.

    Parameters
    ----------
    name : str
        Its name; empty for a column without a name.
    feature : Feature or None
        The feature that a reader makes of the cells alone; None if they cannot be a feature.
    values : array
        The values of that feature: numbers, or codes of texts.
    is_list : bool
        Whether all cells are lists.
    is_splittable : bool
        Whether cells are texts that may be split into labels; all cells of a text file are.
    is_inferred : bool
        Whether the kind of the feature is to be inferred; False if the table declares it.
    is_row_number : bool
        Whether the column numbers the rows, so that a reader leaves it out.
    """

    name: str
    feature: Feature | None
    values: Array
    is_list: bool = False
    is_splittable: bool = True
    is_inferred: bool = True
    is_row_number: bool = False


class InferredRole(NamedTuple):
    """The role of a column, and why it was inferred."""

    role: str  # one of `ROLES`
    roles: tuple[str, ...]  # all that the column may have, because of its values
    reason: str  # a few words, shown to users
    separator: str = ""  # the text between labels in a list; "" if lists are in brackets


def infer_column_roles(previews: Sequence[ColumnPreview]) -> list[InferredRole]:
    """Return the inferred role of each column.

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
    >>> previews = [ColumnPreview("size", Feature("size"), np.array([2.5, 1.0])),
    ...             ColumnPreview("sea", Feature("sea", integer=True), np.array([0.0, 1.0]))]
    >>> [(inferred.role, inferred.reason) for inferred in infer_column_roles(previews)]
    [('number', 'numbers'), ('label', '0 and 1')]
    """
    inferred_roles = [_infer_feature_role(preview) for preview in previews]
    list_roles: dict[int, InferredRole] = {}
    for index, preview in enumerate(previews):
        list_role = _infer_list_role(preview)
        if list_role is not None:
            list_roles[index] = list_role
    certain_lists = [
        index
        for index in list_roles
        if previews[index].is_list or _is_named_like_labels(previews[index])
    ]
    label_columns: list[int] = []
    if not certain_lists:
        flag_columns = [i for i, inferred in enumerate(inferred_roles) if LABEL in inferred.roles]
        label_columns = _select_label_columns(previews, flag_columns)
    for index in label_columns:
        inferred_roles[index] = inferred_roles[index]._replace(role=LABEL, reason="0 and 1")
    if list_roles and not label_columns:
        named_lists = [index for index in certain_lists if _is_named_like_labels(previews[index])]
        first = (named_lists or certain_lists or list(list_roles))[0]
        inferred_roles[first] = list_roles[first]._replace(roles=inferred_roles[first].roles)
    return inferred_roles


def suggest_label_options(previews: Sequence[ColumnPreview]) -> str:
    """Return a sentence that suggests options of `scumble.read` for the labels.

    These are ``label_column`` for a column of label lists, else ``labels``: the number of labels if
    they are the last columns, else at most `MAX_SUGGESTED_LABELS` names or indices. The sentence
    starts with a blank, so that it can follow an error message, and is "" if no column looks like
    labels, or too many do.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.data import Feature
    >>> from scumble.data.infer.column_roles import ColumnPreview, suggest_label_options
    >>> texts = Feature("tags", "nominal", ("sea", "sea|sky", "sky|war"))
    >>> suggest_label_options([ColumnPreview("tags", texts, np.array([0.0, 1.0, 2.0]))])
    " It looks like label_column='tags', label_separator='|'."
    """
    inferred_roles = infer_column_roles(previews)
    keys = [column_key(preview.name, index) for index, preview in enumerate(previews)]
    for key, inferred in zip(keys, inferred_roles, strict=True):
        if inferred.role == LIST:
            separator = f", label_separator={inferred.separator!r}" if inferred.separator else ""
            return f" It looks like label_column={key!r}{separator}."
    indices = [index for index, inferred in enumerate(inferred_roles) if inferred.role == LABEL]
    if indices and indices[0] == len(previews) - len(indices):
        return f" It looks like labels={-len(indices)}."
    if not 0 < len(indices) <= MAX_SUGGESTED_LABELS:
        return ""
    label_keys = [keys[index] for index in indices]
    # Readers take names or numbers, never a mixture.
    labels = label_keys if all(isinstance(key, str) for key in label_keys) else indices
    return f" It looks like labels={labels!r}."


def column_key(name: str, index: int) -> str | int:
    """Return the name of a column if options of readers accept it, or else its number ``index``.

    Names that are empty, very long, or could be taken for a number or for several names do not
    work.
    """
    is_key = 0 < len(name) <= MAX_KEY_LENGTH and "," not in name
    if is_key and not name.strip("+-").isdecimal():
        return name
    return index


def _infer_feature_role(preview: ColumnPreview) -> InferredRole:
    """Return the role that a column has if it is not used for labels: a feature, or ignored."""
    feature = preview.feature
    values = preview.values
    if preview.is_list:
        return InferredRole(IGNORE, (LIST, IGNORE), "a second list")
    if feature is None:
        return InferredRole(IGNORE, (IGNORE,), "nothing to learn from")
    role, reason = _role_and_reason(preview, feature)
    n_present = np.count_nonzero(~np.isnan(values))
    if not n_present:
        reason = "empty in the first rows" if len(values) else "no rows"
    is_possible = {
        LABEL: 0 < n_present == len(values) and _are_flags(feature, values),
        LIST: preview.is_splittable,
        NUMBER: not feature.holds_codes,
        CATEGORY: feature.holds_codes or feature.kind == "numeric",
        TEXT: feature.holds_codes or (preview.is_splittable and not n_present),
        IGNORE: True,
    }
    roles = tuple(name for name in ROLES if is_possible[name] or name == role)
    return InferredRole(role, roles, reason)


def _role_and_reason(preview: ColumnPreview, feature: Feature) -> tuple[str, str]:
    """Return the role of a column and the reason, as a reader will treat its ``feature``."""
    content = "dates" if feature.kind == "date" else ""
    if preview.is_inferred:
        inferred = infer_column_content(feature, preview.values.reshape(-1, 1), 0)
        content = inferred.content or content
    if preview.is_row_number:
        content = "identifiers"
    if content:
        return _ROLE_OF_CONTENT[content]
    if not feature.holds_codes:
        return NUMBER, "whole numbers" if feature.integer else "numbers"
    n_categories = len(feature.categories)
    noun = "value" if n_categories == 1 else "values"
    return CATEGORY, f"{n_categories} different {noun}"


def _are_flags(feature: Feature, values: Array) -> bool:
    """Return whether a feature holds only 0 and 1, or true and false.

    The caller has checked that no value is missing.
    """
    if feature.kind == "nominal":
        return {text.lower() for text in feature.categories} <= _FLAGS
    return feature.kind == "numeric" and bool(np.isin(values, (0.0, 1.0)).all())


def _is_named_like_labels(preview: ColumnPreview) -> bool:
    """Return whether the name of a column has a word such as "label", "tags" or "genre"."""
    return _LABEL_NAME.fullmatch(preview.name) is not None


def _select_label_columns(
    previews: Sequence[ColumnPreview], flag_columns: Sequence[int]
) -> list[int]:
    """Return the columns of flags that are likely labels.

    These are the ones that are named like labels; else those at the end of the table; else those at
    its beginning, if there are several. The list is empty if all columns of the table are flags.
    """
    named = [index for index in flag_columns if _is_named_like_labels(previews[index])]
    if named:
        return named
    if len(flag_columns) == len(previews):  # nothing distinguishes labels from features
        return []
    is_flag_column = set(flag_columns).__contains__
    last = list(takewhile(is_flag_column, reversed(range(len(previews)))))[::-1]
    if last:
        return last
    first = list(takewhile(is_flag_column, range(len(previews))))
    return first if len(first) > 1 else []


def _infer_list_role(preview: ColumnPreview) -> InferredRole | None:
    """Return the role `LIST` for a column that seems to hold lists of labels, else None.

    The possible roles of the result are left empty.
    """
    if preview.is_list:
        return InferredRole(LIST, (), "lists")
    feature = preview.feature
    if feature is None or not preview.is_splittable or feature.kind != "nominal":
        return None
    counts = np.bincount(preview.values[~np.isnan(preview.values)].astype(np.intp))
    count_of_text = Counter(dict(zip(feature.categories, counts.tolist(), strict=False)))
    is_named = _is_named_like_labels(preview)
    candidates = SEPARATORS_IF_NAMED if is_named else SEPARATORS
    separators = [
        separator
        for separator in candidates
        if _separates_labels(count_of_text, separator, is_named=is_named)
    ]
    if not separators:
        return None
    best = max(separators, key=lambda separator: _count_cells_with(count_of_text, separator))
    separator_name = "blanks" if best == " " else best
    return InferredRole(LIST, (), f"separated by {separator_name}", best)


def _count_cells_with(count_of_text: Counter[str], separator: str) -> int:
    """Return the number of cells whose text contains a separator.

    ``count_of_text`` maps each text of a column to the number of its cells.
    """
    return sum(count for text, count in count_of_text.items() if separator in text)


def _separates_labels(count_of_text: Counter[str], separator: str, *, is_named: bool) -> bool:
    """Return whether a separator splits cells into what looks like labels: short and repeated.

    ``count_of_text`` maps each text of a column to the number of its cells; ``is_named`` says that
    the column is named like labels.
    """
    n_separated = _count_cells_with(count_of_text, separator)
    min_share = MIN_SEPARATED_SHARE_IF_NAMED if is_named else MIN_SEPARATED_SHARE
    if n_separated == 0 or n_separated < min_share * count_of_text.total():
        return False
    count_of_label: Counter[str] = Counter()
    for text, count in count_of_text.items():
        for label in {part.strip() for part in text.split(separator)} - {""}:
            count_of_label[label] += count
    n_labels = len(count_of_label)
    if n_labels < 3:
        return False
    words_per_label = sum(len(label.split()) for label in count_of_label) / n_labels
    cells_per_label = count_of_label.total() / n_labels
    is_short = words_per_label < MAX_WORDS_PER_LABEL
    is_repeated = cells_per_label >= MIN_CELLS_PER_LABEL
    return is_short and (is_repeated or (is_named and separator != " "))
