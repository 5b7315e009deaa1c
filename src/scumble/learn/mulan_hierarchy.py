"""The tree of labels MULAN's HOMER makes: balanced k-means that misremembers where labels went."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.java import JavaRandom, name_order
from scumble.learn.hierarchy import MOST_ROUNDS, Nested


def mulan_hierarchy(
    Y: sparse.csr_array, order: Sequence[int], *, n_clusters: int, seed: int
) -> Nested:
    """Divide the labels, taken in the given order, as MULAN does from one seed at every node."""
    # MULAN divides by chance, without a seed, where all labels end in one part; we then cut their
    # order into equal parts. Where a cluster has vanished and the others have no room for all
    # labels, MULAN's rules have no answer; the others then grow.
    by_label = Y.T.tocsr().astype(np.float64)

    def divide(labels: Array) -> Nested:
        if len(labels) <= n_clusters or n_clusters == 1:
            return tuple(labels.tolist())
        clusters = _cluster(by_label[labels].toarray(), n_clusters, seed)
        parts = [labels[clusters == cluster] for cluster in np.unique(clusters)]
        if len(parts) == 1:
            parts = np.array_split(labels, n_clusters)
        return tuple(divide(part) if len(part) > 1 else int(part[0]) for part in parts)

    return divide(np.array(order))


def mulan_order(names: Sequence[str] | None, n_labels: int) -> list[int]:
    """List the labels in the order MULAN meets them: by hash; without names, in their own."""
    if names is None:
        return list(range(n_labels))
    position = {name: at for at, name in enumerate(names)}
    return [position[name] for name in name_order(names)]


def _cluster(columns: Array, n_clusters: int, seed: int) -> Array:
    """Give every column the number of its cluster."""
    order, centres = _start(columns, n_clusters, seed)
    least_room = -(-len(columns) // n_clusters)
    clusters = np.zeros(len(columns), np.int64)
    for _ in range(MOST_ROUNDS + 1):
        before, clusters = clusters, _assign(columns, centres, order, least_room)
        members = [[at for at in order if clusters[at] == own] for own in range(len(centres))]
        centres = np.array([_sum(columns[part], axis=0) / len(part) for part in members if part])
        if (clusters == before).all():
            break
    return _assign(columns, centres, range(len(columns)), least_room)


def _start(columns: Array, n_clusters: int, seed: int) -> tuple[list[int], Array]:
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


def _assign(columns: Array, centres: Array, order: Iterable[int], least_room: int) -> Array:
    """Put each column into the nearest cluster; a full one sends its farthest member on."""
    # For the column that set this off, the cluster is recorded that took the last one sent on.
    room = max(least_room, -(-len(columns) // len(centres)))
    distances = np.column_stack([_sum((columns - centre) ** 2, axis=1) for centre in centres])
    buckets: list[list[int]] = [[] for _ in centres]
    recorded = np.zeros(len(columns), np.int64)
    for at in order:
        moving = at
        while True:
            cluster = int(distances[moving].argmin())
            bucket = buckets[cluster]
            nearer = distances[bucket, cluster] < distances[moving, cluster]
            bucket.insert(int(nearer.sum()), moving)  # before its equals
            if len(bucket) <= room:
                break
            moving = bucket.pop()
            distances[moving, cluster] = np.inf
        recorded[at] = cluster
    return recorded


def _sum(numbers: Array, *, axis: int) -> Array:
    """Add up one after another, as Java does; numpy adds in pairs."""
    return np.add.accumulate(numbers, axis=axis).take(-1, axis=axis)
