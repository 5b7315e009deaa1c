"""Hierarchies of labels: similar labels are in the same subtree."""

import itertools
from bisect import insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, parameter_error
from scumble._core.java import JavaRandom, mulan_label_order

Hierarchy = Any  # the number of a label, or a tuple of hierarchies

CLUSTERING_METHODS = ("balanced", "kmeans", "random", "mulan")

#: Rounds after which k-means stops, as in MULAN.
MAX_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class HierarchyNode:
    """An inner node of a hierarchy."""

    below: list[Array]  # by child: the labels in its subtree
    inner: list[int]  # by child: its index in the list of inner nodes, -1 for a label


def list_nodes(hierarchy: Hierarchy) -> list[HierarchyNode]:
    """Return the inner nodes, level by level from the root."""
    groups = [hierarchy]
    nodes = []
    for children in groups:  # grows while it is read
        labels = [np.array(_leaves(child), np.int64) for child in children]
        indices = []
        for child in children:
            if isinstance(child, tuple):
                indices.append(len(groups))
                groups.append(child)
            else:
                indices.append(-1)
        nodes.append(HierarchyNode(below=labels, inner=indices))
    return nodes


def _leaves(hierarchy: Hierarchy) -> list[int]:
    """Return the labels of a hierarchy, from left to right."""
    if not isinstance(hierarchy, tuple):
        return [hierarchy]
    leaves = []
    for child in hierarchy:
        leaves.extend(_leaves(child))
    return leaves


def check_hierarchy(hierarchy: Any, n_labels: int, *, caller: str) -> Hierarchy:
    """Return nested sequences as tuples; raise an error unless they hold each label once."""
    checked = _as_tuples(hierarchy, caller)
    if not isinstance(checked, tuple):
        checked = (checked,)
    if sorted(_leaves(checked)) != list(range(n_labels)):
        must = f"hold each of the {n_labels} labels once, by its number"
        raise parameter_error("hierarchy", caller, must, hierarchy)
    return checked


def _as_tuples(part: Any, caller: str) -> Hierarchy:
    """Return nested sequences as tuples; a sequence of one item becomes the item."""
    if isinstance(part, int | np.integer) and not isinstance(part, bool):
        return int(part)
    if isinstance(part, Sequence | np.ndarray) and not isinstance(part, str) and len(part):
        children = tuple(_as_tuples(child, caller) for child in part)
        return children if len(children) > 1 else children[0]
    raise ParameterError(
        f"The 'hierarchy' parameter of {caller} must be nested sequences of label numbers. "
        f"Found {part!r} in it."
    )


def make_hierarchy(
    Y: csr_array,
    *,
    method: str,
    n_clusters: int,
    names: Sequence[str] | None,
    seed: Any,
    generator: Generator,
) -> Hierarchy:
    """Return a hierarchy of the labels by one of `CLUSTERING_METHODS`.

    ``names`` and ``seed`` are used by MULAN's method only, ``generator`` by the others, or if the
    seed is not an int.
    """
    if method != "mulan":
        return build_hierarchy(Y, n_clusters=n_clusters, method=method, generator=generator)
    if not isinstance(seed, int | np.integer):
        seed = generator.integers(2**31)
    order = mulan_order(names, Y.shape[1])
    return mulan_hierarchy(Y, order, n_clusters=n_clusters, seed=int(seed))


def build_hierarchy(
    Y: csr_array, *, n_clusters: int, method: str, generator: Generator
) -> Hierarchy:
    """Divide the labels into clusters, and these again, down to groups of ``n_clusters`` labels."""
    by_label = Y.T.tocsr().astype(np.float64)

    def divide(labels: Array) -> list[Array]:
        parts = divide_labels(by_label[labels], n_clusters, method, generator)
        if len(parts) == 1:
            parts = _random_parts(len(labels), n_clusters, generator)
        return [labels[part] for part in parts]

    return _divide_recursively(np.arange(Y.shape[1]), n_clusters, divide)


def _divide_recursively(
    labels: Array, n_clusters: int, divide: Callable[[Array], Sequence[Array]]
) -> Hierarchy:
    """Divide labels, and their parts, until a part has at most ``n_clusters`` labels."""
    if len(labels) <= n_clusters or n_clusters == 1:
        return tuple(labels.tolist())
    children: list[Hierarchy] = []
    for part in divide(labels):
        if len(part) > 1:
            children.append(_divide_recursively(part, n_clusters, divide))
        else:
            children.append(int(part[0]))
    return tuple(children)


def divide_labels(
    rows_of_labels: csr_array, n_clusters: int, method: str, generator: Generator
) -> list[Array]:
    """Cluster labels by the rows that have them; return the label positions of each cluster.

    ``rows_of_labels`` has shape (n_labels, n_samples).
    """
    n_labels = rows_of_labels.shape[0]
    if method == "random":
        return _random_parts(n_labels, n_clusters, generator)
    sizes = np.diff(rows_of_labels.indptr)
    centres = rows_of_labels[_distinct_labels(rows_of_labels, n_clusters, generator)].toarray()
    # If there are fewer centres than clusters, these must still hold all labels.
    capacity = -(-n_labels // len(centres)) if method == "balanced" else n_labels
    clusters = np.full(n_labels, -1)
    for _ in range(MAX_ROUNDS):
        distances = sizes[:, None] - 2 * (rows_of_labels @ centres.T) + (centres**2).sum(axis=1)
        new_clusters = assign_to_clusters(distances, capacity)
        if (new_clusters == clusters).all():
            break
        clusters = new_clusters
        centres = _cluster_means(rows_of_labels, clusters, centres)
    parts = [np.flatnonzero(clusters == cluster) for cluster in range(len(centres))]
    return [part for part in parts if len(part)]


def assign_to_clusters(distances: Array, capacity: int) -> Array:
    """Return the cluster of each label: the nearest one, within the capacity of the clusters.

    A full cluster passes its farthest label on to the next nearest one.
    """
    assignment = _assign_within_capacity(
        distances, range(len(distances)), capacity, tie_breaker=lambda label: label
    )
    clusters = np.empty(len(distances), np.int64)
    for cluster, members in enumerate(assignment.members):
        clusters[[label for _, _, label in members]] = cluster
    return clusters


class _ClusterAssignment(NamedTuple):
    """Labels in clusters of limited capacity."""

    members: list[list[tuple[float, int, int]]]  # by cluster: sorted (distance, tie, label)
    last_clusters: Array  # by label: the cluster that took the label it displaced last, or itself


def _assign_within_capacity(
    distances: Array, order: Iterable[int], capacity: int, *, tie_breaker: Callable[[int], int]
) -> _ClusterAssignment:
    """Put labels into their nearest clusters one by one; full ones pass their farthest label on.

    Of labels at the same distance, the one with the larger ``tie_breaker`` counts as farther.
    """
    open_distances = distances.copy()  # infinity once a cluster has passed on a label
    clusters: list[list[tuple[float, int, int]]] = [[] for _ in range(distances.shape[1])]
    last_clusters = np.zeros(len(distances), np.int64)
    for label in order:
        moving = label
        while True:
            cluster = int(open_distances[moving].argmin())
            members = clusters[cluster]
            insort(members, (float(distances[moving, cluster]), tie_breaker(moving), moving))
            if len(members) <= capacity:
                break
            _, _, moving = members.pop()
            open_distances[moving, cluster] = np.inf
        last_clusters[label] = cluster
    return _ClusterAssignment(clusters, last_clusters)


def _distinct_labels(rows_of_labels: csr_array, amount: int, generator: Generator) -> list[int]:
    """Draw labels that occur on different rows; fewer if there are not as many."""
    rows = np.split(rows_of_labels.indices, rows_of_labels.indptr[1:-1])
    first: dict[bytes, int] = {}
    for label in generator.permutation(rows_of_labels.shape[0]).tolist():
        first.setdefault(rows[label].tobytes(), label)
    return list(first.values())[:amount]


def _cluster_means(rows_of_labels: csr_array, clusters: Array, centres: Array) -> Array:
    """Return the mean of the labels of each cluster; an empty cluster keeps its centre."""
    n_labels = len(clusters)
    counts = np.bincount(clusters, minlength=len(centres))
    cells = (np.ones(n_labels), (clusters, np.arange(n_labels)))
    membership = csr_array(cells, shape=(len(centres), n_labels))
    sums = (membership @ rows_of_labels).toarray()
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)


def _random_parts(n_labels: int, n_parts: int, generator: Generator) -> list[Array]:
    """Divide label positions at random into parts of equal size; leave out empty ones."""
    parts = np.array_split(generator.permutation(n_labels), n_parts)
    return [np.sort(part) for part in parts if len(part)]


# MULAN's hierarchy: balanced k-means that records some labels in the wrong clusters --------------


def mulan_hierarchy(Y: csr_array, order: Sequence[int], *, n_clusters: int, seed: int) -> Hierarchy:
    """Return the hierarchy that MULAN builds of labels in this order, with one seed at each node.

    If all labels end in one cluster, MULAN divides them at random without a seed; here they are
    divided into equal parts in their order. If a cluster becomes empty and the others have no
    capacity for all labels, MULAN's rules are undefined; here the capacity grows.
    """
    by_label = Y.T.tocsr().astype(np.float64)

    def divide(labels: Array) -> Sequence[Array]:
        clusters = _mulan_clusters(by_label[labels].toarray(), n_clusters, seed)
        parts = [labels[clusters == cluster] for cluster in np.unique(clusters)]
        if len(parts) > 1:
            return parts
        return np.array_split(labels, n_clusters)

    return _divide_recursively(np.array(order), n_clusters, divide)


def mulan_order(names: Sequence[str] | None, n_labels: int) -> list[int]:
    """Return the labels ordered by the hashes of their names, as in MULAN; as they are if None."""
    if names is None:
        return list(range(n_labels))
    position = {name: index for index, name in enumerate(names)}
    return [position[name] for name in mulan_label_order(names)]


def _mulan_clusters(labels: Array, n_clusters: int, seed: int) -> Array:
    """Return the cluster of each label; ``labels`` has shape (n_labels, n_samples)."""
    order, centres = _mulan_initial_centres(labels, n_clusters, seed)
    min_capacity = -(-len(labels) // n_clusters)
    clusters = np.zeros(len(labels), np.int64)
    for _ in range(MAX_ROUNDS + 1):
        previous = clusters
        clusters = _mulan_assign(labels, centres, order, min_capacity)
        means = []
        for cluster in range(len(centres)):
            members = [label for label in order if clusters[label] == cluster]
            if members:
                means.append(_sequential_sum(labels[members], axis=0) / len(members))
        centres = np.array(means)
        if (clusters == previous).all():
            break
    return _mulan_assign(labels, centres, range(len(labels)), min_capacity)


def _mulan_initial_centres(labels: Array, n_clusters: int, seed: int) -> tuple[list[int], Array]:
    """Draw different labels as centres; return the order after these draws, and the centres."""
    random = JavaRandom(seed)
    order = list(range(len(labels)))
    centres: list[Array] = []
    for last in range(len(order) - 1, -1, -1):
        drawn = random.next_int(last + 1)
        label = labels[order[drawn]]
        if not any(np.array_equal(label, centre) for centre in centres):
            centres.append(label)
        order[last], order[drawn] = order[drawn], order[last]
        if len(centres) == n_clusters:
            break
    return order, np.array(centres)


def _mulan_assign(labels: Array, centres: Array, order: Iterable[int], min_capacity: int) -> Array:
    """Return the cluster that MULAN records for each label.

    If a label displaces others from full clusters, MULAN records the cluster that took the last
    of these for the label itself.
    """
    capacity = max(min_capacity, -(-len(labels) // len(centres)))
    distances = np.column_stack(
        [_sequential_sum((labels - centre) ** 2, axis=1) for centre in centres]
    )
    # A label that is added later counts as nearer than those at the same distance.
    ties = itertools.count(0, -1)
    assignment = _assign_within_capacity(
        distances, order, capacity, tie_breaker=lambda _: next(ties)
    )
    return assignment.last_clusters


def _sequential_sum(numbers: Array, *, axis: int) -> Array:
    """Return sums rounded as in Java, which adds number by number; numpy adds in pairs."""
    return np.add.accumulate(numbers, axis=axis).take(-1, axis=axis)
