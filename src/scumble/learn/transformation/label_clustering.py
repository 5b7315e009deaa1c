"""Hierarchies of labels: similar labels are in the same subtree.

A hierarchy is a tree. Its leaves are the indices of labels, and an inner node is the tuple of its
children.
"""

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

#: The index of a label, or a tuple of hierarchies.
Hierarchy = Any

#: Allowed values of the parameter ``method`` of HOMER.
CLUSTERING_METHODS = ("balanced", "kmeans", "random", "mulan")

#: Maximum number of iterations of k-means, as in MULAN.
MAX_ITERATIONS = 20


@dataclass(frozen=True, eq=False)
class HierarchyNode:
    """An inner node of a hierarchy."""

    labels_by_child: list[Array]  # int64: indices of the labels in the subtree of each child
    node_by_child: list[int]  # index of each child in the list of inner nodes; -1 for a label


def list_nodes(hierarchy: Hierarchy) -> list[HierarchyNode]:
    """Return the inner nodes of a hierarchy, level by level from the root."""
    subtrees = [hierarchy]
    nodes = []
    for children in subtrees:  # grows while it is read
        labels_by_child = [np.array(_leaves(child), np.int64) for child in children]
        node_by_child = []
        for child in children:
            if isinstance(child, tuple):
                node_by_child.append(len(subtrees))
                subtrees.append(child)
            else:
                node_by_child.append(-1)
        nodes.append(HierarchyNode(labels_by_child, node_by_child))
    return nodes


def _leaves(hierarchy: Hierarchy) -> list[int]:
    """Return the label indices of a hierarchy, from left to right."""
    if not isinstance(hierarchy, tuple):
        return [hierarchy]
    leaves = []
    for child in hierarchy:
        leaves.extend(_leaves(child))
    return leaves


def check_hierarchy(hierarchy: Any, n_labels: int, *, caller: str) -> Hierarchy:
    """Return nested sequences of label indices as nested tuples.

    Raise an error unless they hold each label once.
    """
    checked = _as_tuples(hierarchy, caller)
    if not isinstance(checked, tuple):
        checked = (checked,)
    if sorted(_leaves(checked)) != list(range(n_labels)):
        requirement = f"hold each of the {n_labels} labels once, by its number"
        raise parameter_error("hierarchy", caller, requirement, hierarchy)
    return checked


def _as_tuples(value: Any, caller: str) -> Hierarchy:
    """Return nested sequences as nested tuples; a sequence of one item becomes the item.

    Raise an error for an item that is neither a sequence nor an integer, and for an empty sequence.
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) and len(value):
        children = tuple(_as_tuples(child, caller) for child in value)
        return children if len(children) > 1 else children[0]
    raise ParameterError(
        f"The 'hierarchy' parameter of {caller} must be nested sequences of label numbers. "
        f"Found {value!r} in it."
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

    Method "mulan" uses ``names`` of the labels, or None, and ``seed``, the parameter `random_state`
    of HOMER. The other methods use ``generator``, which also draws the seed if it is no int.
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
    """Return a hierarchy of the labels, by any of the methods but "mulan".

    The labels are divided into clusters, and these again, down to groups of at most ``n_clusters``
    labels.
    """
    Y_transposed = Y.T.tocsr().astype(np.float64)

    def divide(labels: Array) -> list[Array]:
        """Divide label indices into clusters; at random if k-means finds only one."""
        clusters = cluster_labels(Y_transposed[labels], n_clusters, method, generator)
        if len(clusters) == 1:
            clusters = _random_clusters(len(labels), n_clusters, generator)
        return [labels[cluster] for cluster in clusters]

    return _divide_recursively(np.arange(Y.shape[1]), n_clusters, divide)


def _divide_recursively(
    labels: Array, n_clusters: int, divide: Callable[[Array], Sequence[Array]]
) -> Hierarchy:
    """Return the hierarchy that results if labels are divided by ``divide`` again and again.

    ``labels`` are label indices. A cluster of at most ``n_clusters`` labels is not divided further;
    with ``n_clusters`` of 1, the labels are not divided at all.
    """
    if len(labels) <= n_clusters or n_clusters == 1:
        return tuple(labels.tolist())
    children: list[Hierarchy] = []
    for cluster in divide(labels):
        if len(cluster) > 1:
            children.append(_divide_recursively(cluster, n_clusters, divide))
        else:
            children.append(int(cluster[0]))
    return tuple(children)


def cluster_labels(
    Y_transposed: csr_array, n_clusters: int, method: str, generator: Generator
) -> list[Array]:
    """Cluster labels by the rows that have them; return the label indices of each cluster.

    ``Y_transposed`` has shape (n_labels, n_samples) and holds 1 where a row has the label. There
    may be less than ``n_clusters`` clusters; none of them is empty.
    """
    n_labels = Y_transposed.shape[0]
    if method == "random":
        return _random_clusters(n_labels, n_clusters, generator)
    n_rows_of_label = np.diff(Y_transposed.indptr)  # squared norms
    initial_labels = _draw_distinct_labels(Y_transposed, n_clusters, generator)
    centres = Y_transposed[initial_labels].toarray()
    # If there are fewer centres than clusters, these must still hold all labels.
    capacity = -(-n_labels // len(centres)) if method == "balanced" else n_labels
    clusters = np.full(n_labels, -1)  # by label
    for _ in range(MAX_ITERATIONS):
        products = Y_transposed @ centres.T
        squared_distances = n_rows_of_label[:, None] - 2 * products + (centres**2).sum(axis=1)
        new_clusters = assign_to_clusters(squared_distances, capacity)
        if (new_clusters == clusters).all():
            break
        clusters = new_clusters
        centres = _cluster_means(Y_transposed, clusters, centres)
    labels_by_cluster = [np.flatnonzero(clusters == cluster) for cluster in range(len(centres))]
    return [labels for labels in labels_by_cluster if len(labels)]


def assign_to_clusters(distances: Array, capacity: int) -> Array:
    """Return the index of the cluster of each label: the nearest one that can hold it.

    ``distances`` has shape (n_labels, n_clusters); a cluster holds at most ``capacity`` labels. The
    farthest label of a full cluster moves to the next nearest one.
    """
    assignment = _assign_within_capacity(
        distances, range(len(distances)), capacity, tie_breaker=lambda label: label
    )
    clusters = np.empty(len(distances), np.int64)
    for cluster, members in enumerate(assignment.members):
        clusters[[label for _, _, label in members]] = cluster
    return clusters


class _ClusterAssignment(NamedTuple):
    """The result of `_assign_within_capacity`."""

    #: By cluster: its labels as sorted tuples (distance, tie breaker, label index).
    members: list[list[tuple[float, int, int]]]
    #: By label: the cluster to which the last label moved that had to move when this label was
    #: added; the cluster of the label itself if none had to move.
    last_clusters: Array


def _assign_within_capacity(
    distances: Array, order: Iterable[int], capacity: int, *, tie_breaker: Callable[[int], int]
) -> _ClusterAssignment:
    """Add labels to their nearest clusters one by one, in the given order.

    If a cluster then has more than ``capacity`` labels, its farthest label moves to its next
    nearest cluster, and so on. Of labels at the same distance, the one with the larger
    ``tie_breaker(label)`` counts as farther. ``distances`` has shape (n_labels, n_clusters).
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


def _draw_distinct_labels(Y_transposed: csr_array, n_drawn: int, generator: Generator) -> list[int]:
    """Draw ``n_drawn`` indices of labels whose columns of Y all differ.

    Two of them may share rows, but not all rows. If there are fewer different columns, return one
    label of each.
    """
    row_indices = np.split(Y_transposed.indices, Y_transposed.indptr[1:-1])
    label_of_rows: dict[bytes, int] = {}
    for label in generator.permutation(Y_transposed.shape[0]).tolist():
        label_of_rows.setdefault(row_indices[label].tobytes(), label)
    return list(label_of_rows.values())[:n_drawn]


def _cluster_means(Y_transposed: csr_array, clusters: Array, centres: Array) -> Array:
    """Return the mean of the labels of each cluster, of shape (n_clusters, n_samples).

    ``clusters`` holds the cluster of each label. An empty cluster keeps its row of ``centres``.
    """
    n_labels = len(clusters)
    counts = np.bincount(clusters, minlength=len(centres))
    coo_parts = (np.ones(n_labels), (clusters, np.arange(n_labels)))
    membership = csr_array(coo_parts, shape=(len(centres), n_labels))
    sums = (membership @ Y_transposed).toarray()
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)


def _random_clusters(n_labels: int, n_clusters: int, generator: Generator) -> list[Array]:
    """Divide label indices at random into clusters whose sizes differ by at most one.

    Empty clusters are left out.
    """
    clusters = np.array_split(generator.permutation(n_labels), n_clusters)
    return [np.sort(cluster) for cluster in clusters if len(cluster)]


# MULAN's hierarchy: balanced k-means that records some labels in the wrong clusters --------------


def mulan_hierarchy(Y: csr_array, order: Sequence[int], *, n_clusters: int, seed: int) -> Hierarchy:
    """Return the hierarchy that MULAN builds of label indices in this order.

    The random generator is seeded with ``seed`` at each node.

    If all labels end in one cluster, MULAN divides them at random without a seed; here they are
    divided into equal parts in their order. If a cluster becomes empty and the others have no
    capacity for all labels, MULAN's rules are undefined; here the capacity grows.
    """
    Y_transposed = Y.T.tocsr().astype(np.float64)

    def divide(labels: Array) -> Sequence[Array]:
        """Divide label indices into clusters."""
        clusters = _mulan_clusters(Y_transposed[labels].toarray(), n_clusters, seed)
        labels_by_cluster = [labels[clusters == cluster] for cluster in np.unique(clusters)]
        if len(labels_by_cluster) == 1:
            return np.array_split(labels, n_clusters)
        return labels_by_cluster

    return _divide_recursively(np.array(order), n_clusters, divide)


def mulan_order(names: Sequence[str] | None, n_labels: int) -> list[int]:
    """Return label indices ordered by the hashes of the labels' names, as in MULAN.

    Without names, return them in ascending order.
    """
    if names is None:
        return list(range(n_labels))
    index_of_name = {name: index for index, name in enumerate(names)}
    return [index_of_name[name] for name in mulan_label_order(names)]


def _mulan_clusters(Y_transposed: Array, n_clusters: int, seed: int) -> Array:
    """Return the index of the cluster that MULAN records for each label.

    ``Y_transposed`` has shape (n_labels, n_samples) and holds 1 where a row has the label.
    """
    order, centres = _mulan_initial_centres(Y_transposed, n_clusters, seed)
    n_labels = len(Y_transposed)
    min_capacity = -(-n_labels // n_clusters)
    clusters = np.zeros(n_labels, np.int64)
    for _ in range(MAX_ITERATIONS + 1):
        previous = clusters
        clusters = _mulan_assign(Y_transposed, centres, order, min_capacity)
        means = []
        for cluster in range(len(centres)):
            members = [label for label in order if clusters[label] == cluster]
            if members:
                means.append(_sequential_sum(Y_transposed[members], axis=0) / len(members))
        centres = np.array(means)
        if (clusters == previous).all():
            break
    return _mulan_assign(Y_transposed, centres, range(n_labels), min_capacity)


def _mulan_initial_centres(
    Y_transposed: Array, n_clusters: int, seed: int
) -> tuple[list[int], Array]:
    """Draw labels whose columns of Y all differ as initial centres, as MULAN does.

    Return all label indices in their order after the draws, and the centres, of shape (n_centres,
    n_samples). The draws are a Fisher-Yates shuffle from the end, which stops at ``n_clusters``
    centres; there are fewer centres if fewer columns differ.
    """
    random = JavaRandom(seed)
    order = list(range(len(Y_transposed)))
    centres: list[Array] = []
    for last in range(len(order) - 1, -1, -1):
        drawn = random.next_int(last + 1)
        label_rows = Y_transposed[order[drawn]]
        if not any(np.array_equal(label_rows, centre) for centre in centres):
            centres.append(label_rows)
        order[last], order[drawn] = order[drawn], order[last]
        if len(centres) == n_clusters:
            break
    return order, np.array(centres)


def _mulan_assign(
    Y_transposed: Array, centres: Array, order: Iterable[int], min_capacity: int
) -> Array:
    """Return the index of the cluster that MULAN records for each label.

    Labels are added in the given order. If other labels have to move when a label is added to a
    full cluster, MULAN records for the added label the cluster to which the last of them moved.
    """
    capacity = max(min_capacity, -(-len(Y_transposed) // len(centres)))
    distances = np.column_stack(
        [_sequential_sum((Y_transposed - centre) ** 2, axis=1) for centre in centres]
    )
    # A label that is added later counts as nearer than those at the same distance.
    ties = itertools.count(0, -1)
    assignment = _assign_within_capacity(
        distances, order, capacity, tie_breaker=lambda _: next(ties)
    )
    return assignment.last_clusters


def _sequential_sum(numbers: Array, *, axis: int) -> Array:
    """Return sums along an axis, rounded as in Java, which adds number by number.

    NumPy adds in pairs.
    """
    return np.add.accumulate(numbers, axis=axis).take(-1, axis=axis)
