"""Labels below labels: a hierarchy as the number of each label's parent."""

from collections.abc import Sequence

from scumble._core.errors import DataError


def check_parents(parents: Sequence[int], n_labels: int, *, caller: str = "") -> tuple[int, ...]:
    """Check that every label leads up to a top label."""
    where = f"{caller}: " if caller else ""
    found = _whole_numbers(parents)
    if found is None or len(found) != n_labels or not all(-1 <= at < n_labels for at in found):
        raise DataError(
            f"{where}label_parents must be {n_labels} label numbers, -1 for a top label. "
            f"Got {parents!r} instead."
        )
    settled = [False] * n_labels  # known to lead to the top
    for label in range(n_labels):
        path: list[int] = []
        while label != -1 and not settled[label]:
            if len(path) > n_labels:
                raise DataError(
                    f"{where}label_parents goes round in a circle at label {label}. Expected a "
                    "way up to a top label, -1, from every label."
                )
            path.append(label)
            label = found[label]
        for step in path:
            settled[step] = True
    return found


def select_parents(parents: Sequence[int] | None, chosen: Sequence[int]) -> tuple[int, ...] | None:
    """Keep some labels of a hierarchy, each below the next label above it that is kept."""
    if parents is None:
        return None
    place = {-1: -1} | {int(label): at for at, label in enumerate(chosen)}
    found = []
    for label in chosen:
        above = parents[label]
        while above not in place:
            above = parents[above]
        found.append(place[above])
    return tuple(found)


def _whole_numbers(values: Sequence[int]) -> tuple[int, ...] | None:
    try:
        numbers = tuple(int(value) for value in values)
    except (TypeError, ValueError, OverflowError):
        return None
    return numbers if all(a == b for a, b in zip(numbers, values, strict=True)) else None
