"""How MULAN builds HOMER's tree of labels: balanced k-means with a quirk."""

import numpy as np

from tests.learn.java import JavaRandom

N_CLUSTERS = 3
MOST_ROUNDS = 20


def grow_tree(labels, Y, *, seed=10):
    """Cluster labels, the clusters, and so on.

    Parameters
    ----------
    labels : list of int
        Labels in the order MULAN walks through them.
    Y : ndarray of bool
        The training rows.
    seed : int
        MULAN's is 10, at every node of every tree.

    Returns
    -------
    nested lists of int
        The tree.
    """
    if len(labels) <= N_CLUSTERS:
        return labels
    columns = Y[:, labels].T.astype(float)
    clusters = _cluster(columns, seed)
    parts = [
        [label for label, own in zip(labels, clusters, strict=True) if own == cluster]
        for cluster in range(max(clusters) + 1)
    ]
    parts = [part for part in parts if part]
    assert len(parts) > 1  # else MULAN would divide by chance, without a seed
    return [part[0] if len(part) == 1 else grow_tree(part, Y, seed=seed) for part in parts]


def _cluster(columns, seed):
    order, centres = _start(columns, seed)
    capacity = -(-len(columns) // N_CLUSTERS)
    clusters = dict.fromkeys(order, 0)
    for _ in range(MOST_ROUNDS + 1):
        before, clusters = clusters, _assign(columns, centres, order, capacity)
        members = [[at for at in order if clusters[at] == own] for own in range(len(centres))]
        centres = [_sum(columns[part]) / len(part) for part in members if part]
        if clusters == before:
            break
    clusters = _assign(columns, centres, range(len(columns)), capacity)
    return [clusters[at] for at in range(len(columns))]


def _start(columns, seed):
    """Draw different columns as centres; the columns drawn change their places."""
    random, order, centres = JavaRandom(seed), list(range(len(columns))), []
    for last in range(len(order) - 1, -1, -1):
        drawn = random.next_int(last + 1)
        column = columns[order[drawn]]
        if not any((column == centre).all() for centre in centres):
            centres.append(column)
        order[last], order[drawn] = order[drawn], order[last]
        if len(centres) == N_CLUSTERS:
            break
    return order, centres


def _assign(columns, centres, order, capacity):
    """Give each column to the nearest centre; a full cluster sends its farthest member on.

    MULAN records, for the column that set this off, the cluster that took the last one sent on.
    """
    buckets = [[] for _ in centres]
    distances = {at: [_sum((columns[at] - centre) ** 2) for centre in centres] for at in order}
    recorded = {}
    for at in order:
        moving = at
        while True:
            cluster = int(np.argmin(distances[moving]))
            distance = distances[moving][cluster]
            bucket = buckets[cluster]
            place = sum(distances[other][cluster] < distance for other in bucket)
            bucket.insert(place, moving)  # before its equals
            if len(bucket) <= capacity:
                break
            moving = bucket.pop()
            distances[moving][cluster] = np.inf
        recorded[at] = cluster
    return recorded


def _sum(numbers):
    """Add up one after another, as Java does; numpy adds in pairs."""
    return np.add.accumulate(numbers, axis=0)[-1]
