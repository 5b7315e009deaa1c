"""What the columns of a plain table are for: labels, features, or nothing, as a person would guess.

The guess is made from the first rows and from names. Whoever opens the table may say otherwise.
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
from scumble.data.feature_kinds import infer_column_kind

#: All that a column can be for.
ROLES = ("label", "list", "number", "category", "text", "ignore")
LABEL, LIST, NUMBER, CATEGORY, TEXT, IGNORE = ROLES
#: Rows that are looked at.
MAX_INSPECTED_ROWS = 1000
#: Characters of a name by which a column is spoken of.
MAX_KEY_LENGTH = 100
#: What may stand between labels. A blank or a slash is in other texts, too: the name must fit.
SEPARATORS, SEPARATORS_IF_NAMED = ";|,", ";|,/ "
#: Labels are parted in so many of the cells, or of those in a column with a telling name.
PARTED_FROM, PARTED_FROM_IF_NAMED = 0.2, 0.3
#: Labels come back: each stands in so many cells, in the mean; and has fewer words than this.
REPEATED_FROM, LONGEST = 1.5, 3.0

_WORDS = "labels?|tags?|topics?|genres?|keywords?|categor(?:y|ies)|class(?:es)?|themes?"
_NAMES_LABELS = re.compile(rf"(?:.*[\W_])?(?:{_WORDS})(?:[\W_\d].*)?", re.IGNORECASE)
_FLAGS = frozenset(("0", "1", "true", "false"))
_WHY = {
    "rows": (IGNORE, "names the rows"),
    "text": (TEXT, "several words each"),
    "dates": (NUMBER, "dates"),
    "unclear dates": (IGNORE, "dates, day or month first?"),
}


@dataclass(frozen=True)
class ColumnPreview:
    """The first values of a column."""

    name: str  # empty where it has none
    feature: Feature | None  # what a reader makes of its cells alone; None: nothing
    values: Array  # numbers, or codes of texts
    is_list: bool = False
    parts: bool = True  # whether a cell can be parted into labels, as all in a text file can
    guessed: bool = True  # whether its kind may be; not where the table declares it
    is_row_number: bool = False  # so that its reader leaves it out


class InferredRole(NamedTuple):
    """What a column is for, what else it may be, why; and what parts the labels of a list."""

    role: str
    roles: tuple[str, ...]
    reason: str
    separator: str = ""


def infer_column_roles(heads: Sequence[ColumnPreview]) -> list[InferredRole]:
    """Tell what each column is for.

    Notes
    -----
    *A list of labels* is the column with lists, or with texts that a separator parts into few words
    which come back in other rows. *Labels* are columns of 0 and 1: those named like labels, else
    the last columns, else the first ones, if there are other columns as well. There is one list, or
    there are labels; a list counts more if it has brackets or is named like labels.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.data import Feature
    >>> from scumble.data.column_roles import ColumnPreview, infer_column_roles
    >>> heads = [ColumnPreview("size", Feature("size"), np.array([2.5, 1.0])),
    ...          ColumnPreview("sea", Feature("sea", integer=True), np.array([0.0, 1.0]))]
    >>> [(guess.role, guess.reason) for guess in infer_column_roles(heads)]
    [('number', 'numbers'), ('label', '0 and 1')]
    """
    guesses = [_alone(head) for head in heads]
    lists = {at: found for at, head in enumerate(heads) if (found := _label_list(head)) is not None}
    sure = [at for at in lists if heads[at].is_list or _is_named(heads[at])]
    flags = [at for at, guess in enumerate(guesses) if LABEL in guess.roles]
    labels = [] if sure else _label_columns(heads, flags)
    for at in labels:
        guesses[at] = guesses[at]._replace(role=LABEL, reason="0 and 1")
    if not labels and lists:
        named = [at for at in sure if _is_named(heads[at])]
        at = (named or sure or list(lists))[0]
        guesses[at] = lists[at]._replace(roles=guesses[at].roles)
    return guesses


def suggest_label_options(heads: Sequence[ColumnPreview]) -> str:
    """Say what the labels seem to be, as options of `scumble.read`, after a blank; "" if none do.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.data import Feature
    >>> from scumble.data.column_roles import ColumnPreview, suggest_label_options
    >>> texts = Feature("tags", "nominal", ("sea", "sea|sky", "sky|war"))
    >>> suggest_label_options([ColumnPreview("tags", texts, np.array([0.0, 1.0, 2.0]))])
    " It looks like label_column='tags', label_separator='|'."
    """
    guesses = infer_column_roles(heads)
    keys = [column_key(head.name, at) for at, head in enumerate(heads)]
    for key, guess in zip(keys, guesses, strict=True):
        if guess.role == LIST:
            separator = f", label_separator={guess.separator!r}" if guess.separator else ""
            return f" It looks like label_column={key!r}{separator}."
    places = [at for at, guess in enumerate(guesses) if guess.role == LABEL]
    if places and places[0] == len(heads) - len(places):
        return f" It looks like labels={-len(places)}."
    named = [keys[at] for at in places]
    labels = named if all(isinstance(key, str) for key in named) else places  # never a mixture
    return f" It looks like labels={labels!r}." if 0 < len(labels) <= 20 else ""


def column_key(name: str, at: int) -> str | int:
    """Tell what readers, and command lines, know a column by: its name, or its number."""
    is_key = 0 < len(name) <= MAX_KEY_LENGTH and "," not in name
    return name if is_key and not name.strip("+-").isdecimal() else at


def _alone(head: ColumnPreview) -> InferredRole:
    """Tell what a column is for by its values alone."""
    feature = head.feature
    if head.is_list:
        return InferredRole(IGNORE, (LIST, IGNORE), "a second list")
    if feature is None:
        return InferredRole(IGNORE, (IGNORE,), "nothing to learn from")
    role, why = _as_feature(head, feature)
    n_known = np.count_nonzero(~np.isnan(head.values))
    if not n_known:
        why = "empty in the first rows" if len(head.values) else "no rows"
    possible = {
        LABEL: 0 < n_known == len(head.values) and _are_flags(feature, head.values),
        LIST: head.parts,
        NUMBER: not feature.holds_codes,
        CATEGORY: feature.holds_codes or feature.kind == "numeric",
        TEXT: feature.holds_codes or (head.parts and not n_known),
        IGNORE: True,
    }
    return InferredRole(role, tuple(each for each in ROLES if possible[each] or each == role), why)


def _as_feature(head: ColumnPreview, feature: Feature) -> tuple[str, str]:
    """Tell what a feature is, and why, as its reader will take it."""
    verdict = "dates" if feature.kind == "date" else ""
    if head.guessed:
        verdict = infer_column_kind(feature, head.values.reshape(-1, 1), 0)[0] or verdict
    if head.is_row_number:
        verdict = "rows"
    if verdict:
        return _WHY[verdict]
    if not feature.holds_codes:
        return NUMBER, "whole numbers" if feature.integer else "numbers"
    n = len(feature.categories)
    return CATEGORY, f"{n} different {'value' if n == 1 else 'values'}"


def _are_flags(feature: Feature, values: Array) -> bool:
    if feature.kind == "nominal":
        return {text.lower() for text in feature.categories} <= _FLAGS
    return feature.kind == "numeric" and bool(np.isin(values, (0.0, 1.0)).all())


def _is_named(head: ColumnPreview) -> bool:
    return _NAMES_LABELS.fullmatch(head.name) is not None


def _label_columns(heads: Sequence[ColumnPreview], flags: Sequence[int]) -> list[int]:
    """Choose among columns of 0 and 1: by name, or at one end of a table that has others."""
    named = [at for at in flags if _is_named(heads[at])]
    if named:
        return named
    if len(flags) == len(heads):  # nothing tells labels and features apart
        return []
    is_flag = set(flags).__contains__
    last = [*takewhile(is_flag, reversed(range(len(heads))))][::-1]
    first = [*takewhile(is_flag, range(len(heads)))]
    return last or (first if len(first) > 1 else [])


def _label_list(head: ColumnPreview) -> InferredRole | None:
    """Tell whether a column holds lists of labels, and what parts them."""
    if head.is_list:
        return InferredRole(LIST, (), "lists")
    feature = head.feature
    if feature is None or not head.parts or feature.kind != "nominal":
        return None
    counts = np.bincount(head.values[~np.isnan(head.values)].astype(np.intp))
    cells = Counter(dict(zip(feature.categories, counts.tolist(), strict=False)))
    tried = SEPARATORS_IF_NAMED if _is_named(head) else SEPARATORS
    found = [each for each in tried if _parts(cells, each, named=_is_named(head))]
    if not found:
        return None
    best = max(found, key=lambda each: sum(n for text, n in cells.items() if each in text))
    return InferredRole(LIST, (), f"parted by {'blanks' if best == ' ' else best}", best)


def _parts(cells: Counter[str], separator: str, *, named: bool) -> bool:
    """Tell whether what a separator parts looks like labels: short, and back in other rows."""
    n_parted = sum(n for text, n in cells.items() if separator in text)
    if n_parted < (PARTED_FROM_IF_NAMED if named else PARTED_FROM) * cells.total() or not n_parted:
        return False
    labels: Counter[str] = Counter()
    for text, n in cells.items():
        for part in {part.strip() for part in text.split(separator)} - {""}:
            labels[part] += n
    if len(labels) < 3:
        return False
    n_words = sum(len(label.split()) for label in labels) / len(labels)
    repeated = labels.total() / len(labels)
    is_short = n_words < LONGEST
    return is_short and (repeated >= REPEATED_FROM or (named and separator != " "))
