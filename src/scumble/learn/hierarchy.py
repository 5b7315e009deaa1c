"""A tree of labels: similar labels stand close together."""

import itertools
from bisect import insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, parameter_error
from scumble._core.java import JavaRandom, mulan_label_order

Nested = Any  # a label's number, or a tuple of such things

CLUSTERING_METHODS = ("balanced", "kmeans", "random", "mulan")

#: K-means stops after so many rounds, as in MULAN.
MOST_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class HierarchyNode:
    """An inner node of the tree."""

    below: list[Array]  # the labels under each child
    inner: list[int]  # the number of each child that is an inner node itself, -1 for a label


def list_nodes(hierarchy: Nested) -> list[HierarchyNode]:
    """List the inner nodes, the root first and parents before their children."""
    waiting, nodes = [hierarchy], []
    for children in waiting:
        below = [np.array(_leaves(child), np.int64) for child in children]
        groups = [child for child in children if isinstance(child, tuple)]
        numbers = itertools.count(len(waiting))
        inner = [next(numbers) if isinstance(child, tuple) else -1 for child in children]
        nodes.append(HierarchyNode(below, inner))
        waiting += groups
    return nodes


def _leaves(tree: Nested) -> list[int]:
    if not isinstance(tree, tuple):
        return [tree]
    return [leaf for part in tree for leaf in _leaves(part)]


def check_hierarchy(hierarchy: Any, n_labels: int, *, caller: str) -> Nested:
    """Read a tree of labels from nested sequences."""
    tree = _as_tuples(hierarchy, caller)
    tree = tree if isinstance(tree, tuple) else (tree,)
    if sorted(_leaves(tree)) != list(range(n_labels)):
        must = f"hold each of the {n_labels} labels once, by its number"
        raise parameter_error("hierarchy", caller, must, hierarchy)
    return tree


def _as_tuples(part: Any, caller: str) -> Nested:
    if isinstance(part, int | np.integer) and not isinstance(part, bool):
        return int(part)
    if isinstance(part, Sequence | np.ndarray) and not isinstance(part, str) and len(part):
        inside = tuple(_as_tuples(child, caller) for child in part)
        return inside if len(inside) > 1 else inside[0]
    raise ParameterError(
        f"The 'hierarchy' parameter of {caller} must be nested sequences of label numbers. "
        f"Found {part!r} in it."
    )


def make_hierarchy(
    Y: csr_array, method: str, n_clusters: int, names: Any, seed: Any, generator: Any
) -> Nested:
    """Make a tree of labels by one of `CLUSTERING_METHODS`, of which MULAN's goes by names and a seed."""
    if method != "mulan":
        return build_hierarchy(Y, n_clusters=n_clusters, method=method, generator=generator)
    seed = int(seed if isinstance(seed, int | np.integer) else generator.integers(2**31))
    return mulan_hierarchy(Y, mulan_order(names, Y.shape[1]), n_clusters=n_clusters, seed=seed)


def build_hierarchy(Y: csr_array, *, n_clusters: int, method: str, generator: Generator) -> Nested:
    """Divide the labels into parts, the parts into parts, down to single labels."""
    by_label = Y.T.tocsr().astype(np.float64)

    def divide(labels: Array) -> list[Array]:
        parts = divide_labels(by_label[labels], n_clusters, method, generator)
        if len(parts) == 1:
            parts = _random_parts(len(labels), n_clusters, generator)
        return [labels[part] for part in parts]

    return _divide_on(np.arange(Y.shape[1]), n_clusters, divide)


def _divide_on(
    labels: Array, n_clusters: int, divide: Callable[[Array], Sequence[Array]]
) -> Nested:
    """Divide labels, and their parts, until there are no more of them than clusters."""
    if len(labels) <= n_clusters or n_clusters == 1:
        return tuple(labels.tolist())
    parts = divide(labels)
    return tuple(_divide_on(p, n_clusters, divide) if len(p) > 1 else int(p[0]) for p in parts)


def divide_labels(
    members: csr_array, n_clusters: int, method: str, generator: Generator
) -> list[Array]:
    """Cluster labels by the rows that have them."""
    n_labels = members.shape[0]
    if method == "random":
        return _random_parts(n_labels, n_clusters, generator)
    sizes = np.diff(members.indptr)
    centres = members[_distinct_labels(members, n_clusters, generator)].toarray()
    # There may be fewer centres than wanted, and they must hold all labels nevertheless.
    capacity = -(-n_labels // len(centres)) if method == "balanced" else n_labels
    assigned = np.full(n_labels, -1)
    for _ in range(MOST_ROUNDS):
        distances = sizes[:, None] - 2 * (members @ centres.T) + (centres**2).sum(axis=1)
        before, assigned = assigned, assign_to_clusters(distances, capacity)
        if (assigned == before).all():
            break
        centres = _means(members, assigned, centres)
    parts = (np.flatnonzero(assigned == cluster) for cluster in range(len(centres)))
    return [part for part in parts if len(part)]


def assign_to_clusters(distances: Array, capacity: int) -> Array:
    """Put each label into the nearest cluster; a full one sends its farthest label on."""
    clusters, _ = _settle(distances, range(len(distances)), capacity, lambda label: label)
    assigned = np.empty(len(distances), np.int64)
    for number, members in enumerate(clusters):
        assigned[[label for *_, label in members]] = number
    return assigned


def _settle(
    distances: Array, order: Iterable[int], room: int, place: Callable[[int], int]
) -> tuple[list[list[tuple[float, int, int]]], Array]:
    """Fill clusters with labels, and record which one took the last that each of them sent on."""
    open_to = distances.copy()
    clusters: list[list[tuple[float, int, int]]] = [[] for _ in range(distances.shape[1])]
    recorded = np.zeros(len(distances), np.int64)
    for label in order:
        moving = label
        while True:
            cluster = int(open_to[moving].argmin())
            members = clusters[cluster]
            insort(members, (float(distances[moving, cluster]), place(moving), moving))
            if len(members) <= room:
                break
            *_, moving = members.pop()
            open_to[moving, cluster] = np.inf
        recorded[label] = cluster
    return clusters, recorded


def _distinct_labels(members: csr_array, n_wanted: int, generator: Generator) -> list[int]:
    """Draw labels no two of which have the same rows, fewer where there are not so many."""
    rows = np.split(members.indices, members.indptr[1:-1])
    first: dict[bytes, int] = {}
    for label in generator.permutation(members.shape[0]).tolist():
        first.setdefault(rows[label].tobytes(), label)
    return list(first.values())[:n_wanted]


def _means(members: csr_array, assigned: Array, centres: Array) -> Array:
    """Move each centre to the mean of its labels; an empty cluster's stays."""
    n_labels = len(assigned)
    counts = np.bincount(assigned, minlength=len(centres))
    cells = (np.ones(n_labels), (assigned, np.arange(n_labels)))
    belongs = csr_array(cells, shape=(len(centres), n_labels))
    sums = (belongs @ members).toarray()
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)


def _random_parts(n: int, n_parts: int, generator: Generator) -> list[Array]:
    parts = np.array_split(generator.permutation(n), n_parts)
    return [np.sort(part) for part in parts if len(part)]


# MULAN's tree: balanced k-means that misremembers where labels went ------------------------------


def mulan_hierarchy(Y: csr_array, order: Sequence[int], *, n_clusters: int, seed: int) -> Nested:
    """Divide the labels, taken in the given order, as MULAN does from one seed at every node."""
    # MULAN divides by chance, without a seed, where all labels end in one part; we then cut their
    # order into equal parts. Where a cluster has vanished and the others have no room for all
    # labels, MULAN's rules have no answer; the others then grow.
    by_label = Y.T.tocsr().astype(np.float64)

    def divide(labels: Array) -> Sequence[Array]:
        clusters = _mulan_clusters(by_label[labels].toarray(), n_clusters, seed)
        parts = [labels[clusters == cluster] for cluster in np.unique(clusters)]
        return parts if len(parts) > 1 else np.array_split(labels, n_clusters)

    return _divide_on(np.array(order), n_clusters, divide)


def mulan_order(names: Sequence[str] | None, n_labels: int) -> list[int]:
    """List the labels in the order MULAN meets them: by hash; without names, in their own."""
    if names is None:
        return list(range(n_labels))
    position = {name: at for at, name in enumerate(names)}
    return [position[name] for name in mulan_label_order(names)]


def _mulan_clusters(columns: Array, n_clusters: int, seed: int) -> Array:
    """Give every column the number of its cluster."""
    order, centres = _mulan_start(columns, n_clusters, seed)
    least_room = -(-len(columns) // n_clusters)
    clusters = np.zeros(len(columns), np.int64)
    for _ in range(MOST_ROUNDS + 1):
        before, clusters = clusters, _mulan_assign(columns, centres, order, least_room)
        members = [[at for at in order if clusters[at] == own] for own in range(len(centres))]
        centres = np.array([_sum(columns[part], axis=0) / len(part) for part in members if part])
        if (clusters == before).all():
            break
    return _mulan_assign(columns, centres, range(len(columns)), least_room)


def _mulan_start(columns: Array, n_clusters: int, seed: int) -> tuple[list[int], Array]:
    """Draw different columns as centres; the columns drawn change their places."""
    random, order = JavaRandom(seed), list(range(len(columns)))
    centres: list[Array] = []
    for last in range(len(order) - 1, -1, -1):
        drawn = random.next_int(last + 1)
        column = columns[order[drawn]]
        if not any(np.array_equal(column, centre) for centre in centres):
            centres.append(column)
        order[last], order[drawn] = order[drawn], order[last]
        if len(centres) == n_clusters:
            break
    return order, np.array(centres)


def _mulan_assign(columns: Array, centres: Array, order: Iterable[int], least_room: int) -> Array:
    """Put each column into the nearest cluster; a full one sends its farthest member on."""
    # For the column that set this off, the cluster is recorded that took the last one sent on.
    room = max(least_room, -(-len(columns) // len(centres)))
    distances = np.column_stack([_sum((columns - centre) ** 2, axis=1) for centre in centres])
    before_equals = itertools.count(0, -1)
    return _settle(distances, order, room, lambda _: next(before_equals))[1]


def _sum(numbers: Array, *, axis: int) -> Array:
    """Add up one after another, as Java does; numpy adds in pairs."""
    return np.add.accumulate(numbers, axis=axis).take(-1, axis=axis)
