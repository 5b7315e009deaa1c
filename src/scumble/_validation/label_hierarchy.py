"""Hierarchies of labels, stored as the index of the parent of each label.

A top label has no parent; -1 stands for it.
"""

from collections.abc import Sequence

from scumble._core.errors import DataError


def check_parents(parents: Sequence[int], n_labels: int, *, caller: str = "") -> tuple[int, ...]:
    """Return the parents of labels as a tuple of int; raise DataError if they are invalid.

    ``parents`` holds the index of the parent of each of ``n_labels`` labels, -1 for a top label. It
    is invalid if its length or a value is wrong, or if a label is its own ancestor.
    """
    prefix = f"{caller}: " if caller else ""
    checked = _as_integers(parents)
    if (
        checked is None
        or len(checked) != n_labels
        or not all(-1 <= parent < n_labels for parent in checked)
    ):
        raise DataError(
            f"{prefix}label_parents must be {n_labels} label numbers, -1 for a top label. "
            f"Got {parents!r} instead."
        )
    leads_to_top = [False] * n_labels
    for start in range(n_labels):
        path: list[int] = []
        label = start
        while label != -1 and not leads_to_top[label]:
            if len(path) > n_labels:
                raise DataError(
                    f"{prefix}label_parents goes round in a circle at label {label}. Expected a "
                    "way up to a top label, -1, from every label."
                )
            path.append(label)
            label = checked[label]
        for ancestor in path:
            leads_to_top[ancestor] = True
    return checked


def select_parents(parents: Sequence[int] | None, labels: Sequence[int]) -> tuple[int, ...] | None:
    """Return the parents of the selected labels, as indices among the selected labels.

    The parent of a selected label becomes its nearest ancestor that is selected too, or -1.
    ``labels`` are the indices of the selected labels; None for ``parents`` gives None.
    """
    if parents is None:
        return None
    new_index = {-1: -1}
    for index, label in enumerate(labels):
        new_index[int(label)] = index
    new_parents = []
    for label in labels:
        ancestor = parents[label]
        while ancestor not in new_index:
            ancestor = parents[ancestor]
        new_parents.append(new_index[ancestor])
    return tuple(new_parents)


def _as_integers(values: Sequence[int]) -> tuple[int, ...] | None:
    """Return the values as integers; None if one of them is not an integer."""
    try:
        integers = tuple(int(value) for value in values)
    except (TypeError, ValueError, OverflowError):
        return None
    is_exact = all(integer == value for integer, value in zip(integers, values, strict=True))
    return integers if is_exact else None
