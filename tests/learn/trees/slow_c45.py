"""C4.5 as its rules read, one row at a time: slow, obvious, and what the fast one must equal.

Rows are dense lists of floats (NaN is missing); ``n_values[a]`` is 0 for a numeric column and the
declared number of values for a nominal one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import NormalDist

TINY = 1e-6


def greater(a, b):
    return a - b > TINY


def at_least(a, b):
    return b - a < TINY or a >= b


def x_ln_x(x):
    return 0.0 if x < TINY else x * math.log(x)


@dataclass
class Node:
    counts: list[float]
    column: int = -1
    cut: float = math.nan
    bags: list[list[float]] = field(default_factory=list)
    sons: list[Node] = field(default_factory=list)
    empty: bool = False

    def branch(self, row, n_values):
        value = row[self.column]
        if math.isnan(value):
            return None
        return int(value) if n_values[self.column] else int(value > self.cut)


@dataclass
class SlowC45:
    n_values: list[int]
    n_classes: int
    confidence: float = 0.25
    min_objects: int = 2
    prune: bool = True
    subtree_raising: bool = True
    mdl: bool = True
    laplace: bool = False

    def fit(self, rows, classes, weights=None):
        self.rows, self.classes = rows, classes
        weights = [1.0] * len(rows) if weights is None else weights
        sample = list(zip(range(len(rows)), weights, strict=True))
        self.root = self.grow(sample)
        self.collapse(self.root)
        if self.prune:
            self.prune_node(self.root, sample)
        return self

    # -- growing --------------------------------------------------------------------------
    def grow(self, sample):
        node = Node(self.counts_of(sample))
        total = sum(node.counts)
        node.empty = abs(total) < TINY
        split = self.choose_split(sample, node.counts, total)
        if split is None:
            return node
        node.column, node.cut = split
        self.set_bags(node, sample)
        node.sons = [self.grow(part) for part in self.parts(node, sample)]
        return node

    def choose_split(self, sample, counts, total):
        if greater(2 * self.min_objects, total) or abs(total - max(counts)) < TINY:
            return None
        many = [v and not greater(0.3 * len(self.rows), v) for v in self.n_values]
        models = {}
        for column, v in enumerate(self.n_values):
            model = (
                self.nominal(sample, column, v, total) if v else self.numeric(sample, column, total)
            )
            if model is not None:
                models[column] = model
        gains = [m[0] for c, m in models.items() if all(many) or not many[c]]
        if not gains:
            return None
        average = sum(gains) / len(gains)
        best, best_ratio = None, 0.0
        for column, (gain, ratio, cut) in models.items():
            if gain >= average - 1e-3 and greater(ratio, best_ratio):
                best, best_ratio = (column, cut), ratio
        return best

    def nominal(self, sample, column, v, total):
        bags = [[0.0] * self.n_classes for _ in range(v)]
        for i, w in sample:
            if not math.isnan(self.rows[i][column]):
                bags[int(self.rows[i][column])][self.classes[i]] += w
        if sum(at_least(sum(bag), self.min_objects) for bag in bags) < 2:
            return None
        gain = self.gain(bags, total)
        return gain, self.ratio(bags, total, gain), math.nan

    def numeric(self, sample, column, total):
        known = sorted(
            (
                (self.rows[i][column], i, w)
                for i, w in sample
                if not math.isnan(self.rows[i][column])
            )
        )
        left = [0.0] * self.n_classes
        right = self.counts_of([(i, w) for _, i, w in known])
        least = 0.1 * sum(right) / self.n_classes
        least = self.min_objects if least - self.min_objects < TINY else min(least, 25)
        if greater(2 * least, len(known)):
            return None
        best_gain, best_at, n_cuts, best_bags = 0.0, None, 0, None
        for at in range(1, len(known)):
            value, i, w = known[at - 1]
            left[self.classes[i]] += w
            right[self.classes[i]] -= w
            if not value + 1e-5 < known[at][0]:
                continue
            if at_least(sum(left), least) and at_least(sum(right), least):
                n_cuts += 1
                gain = self.gain([left, right], total)
                if greater(gain, best_gain):
                    best_gain, best_at, best_bags = gain, at, [left[:], right[:]]
        if n_cuts == 0:
            return None
        gain = best_gain - (math.log2(n_cuts) / total if self.mdl else 0.0)
        if gain < TINY:
            return None
        below, above = known[best_at - 1][0], known[best_at][0]
        cut = (below + above) / 2
        cut = below if cut == above else cut
        return gain, self.ratio(best_bags, total, gain), self.lowered(column, cut)

    def lowered(self, column, cut):
        return max(row[column] for row in self.rows if row[column] <= cut)

    def gain(self, bags, total):
        known = sum(map(sum, bags))
        before = x_ln_x(known) - sum(x_ln_x(sum(c)) for c in zip(*bags, strict=True))
        after = sum(x_ln_x(sum(bag)) - sum(map(x_ln_x, bag)) for bag in bags)
        saved = known / total * (before - after) / math.log(2)
        return 0.0 if abs(saved) < TINY else saved / known

    def ratio(self, bags, total, gain):
        missing = total - sum(map(sum, bags))
        info = x_ln_x(total) - x_ln_x(missing) - sum(x_ln_x(sum(bag)) for bag in bags)
        info /= math.log(2)
        return 0.0 if abs(info) < TINY else gain / (info / total)

    # -- rows on their way through a node ---------------------------------------------------
    def counts_of(self, sample):
        counts = [0.0] * self.n_classes
        for i, w in sample:
            counts[self.classes[i]] += w
        return counts

    def set_bags(self, node, sample):
        """Distribute the rows over the branches, those with a missing value in proportion."""
        width = self.n_values[node.column] or 2
        node.bags = [[0.0] * self.n_classes for _ in range(width)]
        lost = []
        for i, w in sample:
            branch = node.branch(self.rows[i], self.n_values)
            if branch is None:
                lost.append((i, w))
            else:
                node.bags[branch][self.classes[i]] += w
        weights = [sum(bag) for bag in node.bags]
        known = sum(weights)
        for b in range(width):
            share = 1 / width if abs(known) < TINY else weights[b] / known
            for i, w in lost:
                node.bags[b][self.classes[i]] += w * share
        node.counts = [sum(c) for c in zip(*node.bags, strict=True)]

    def shares(self, node):
        total = sum(map(sum, node.bags))
        return [sum(bag) / total if total else 0.0 for bag in node.bags]

    def parts(self, node, sample):
        parts = [[] for _ in node.bags]
        shares = self.shares(node)
        for i, w in sample:
            branch = node.branch(self.rows[i], self.n_values)
            if branch is not None:
                parts[branch].append((i, w))
                continue
            for part, share in zip(parts, shares, strict=True):
                if share > TINY:
                    part.append((i, w * share))
        return parts

    # -- pruning ------------------------------------------------------------------------------
    def majority(self, counts):
        best, most = 0, 0.0
        for c, weight in enumerate(counts):
            if greater(weight, most):
                best, most = c, weight
        return best

    def errors(self, counts):
        return sum(counts) - counts[self.majority(counts)]

    def leaves(self, node):
        return [leaf for son in node.sons for leaf in self.leaves(son)] if node.sons else [node]

    def collapse(self, node):
        if not node.sons:
            return
        if sum(self.errors(leaf.counts) for leaf in self.leaves(node)) >= (
            self.errors(node.counts) - 1e-3
        ):
            node.sons = []
        for son in node.sons:
            self.collapse(son)

    def added(self, n, e):
        if e < 1:
            base = n * (1 - self.confidence ** (1 / n))
            return base if e == 0 else base + e * (self.added(n, 1) - base)
        if e + 0.5 >= n:
            return max(n - e, 0)
        z = NormalDist().inv_cdf(1 - self.confidence)
        f = (e + 0.5) / n
        root = math.sqrt(f / n - f * f / n + z * z / (4 * n * n))
        return (f + z * z / (2 * n) + z * root) / (1 + z * z / n) * n - e

    def estimate(self, counts):
        n, e = sum(counts), self.errors(counts)
        return 0.0 if abs(n) < TINY else e + self.added(n, e)

    def estimate_branch(self, node, sample):
        if not node.sons:
            return self.estimate(self.counts_of(sample))
        trial = Node([], node.column, node.cut)
        self.set_bags(trial, sample)
        parts = self.parts(trial, sample)
        return sum(self.estimate_branch(s, p) for s, p in zip(node.sons, parts, strict=True))

    def redistribute(self, node, sample):
        if node.sons:
            self.set_bags(node, sample)
            for son, part in zip(node.sons, self.parts(node, sample), strict=True):
                self.redistribute(son, part)
        else:
            node.counts = self.counts_of(sample)
            node.empty = node.empty and abs(sum(node.counts)) < TINY

    def prune_node(self, node, sample):
        if not node.sons:
            return
        for son, part in zip(node.sons, self.parts(node, sample), strict=True):
            self.prune_node(son, part)
        weights = [sum(bag) for bag in node.bags]
        largest, most = -1, 0.0
        for b, weight in enumerate(weights):
            if at_least(weight, most):
                largest, most = b, weight
        son = node.sons[largest]
        as_branch = self.estimate_branch(son, sample) if self.subtree_raising else math.inf
        as_leaf = self.estimate(node.counts)
        as_tree = sum(self.estimate(leaf.counts) for leaf in self.leaves(node))
        if as_leaf - as_tree - 0.1 < TINY and as_leaf - as_branch - 0.1 < TINY:
            node.sons = []
        elif as_branch - as_tree - 0.1 < TINY:
            node.column, node.cut, node.sons = son.column, son.cut, son.sons
            self.redistribute(node, sample)
            self.prune_node(node, sample)

    # -- answers ------------------------------------------------------------------------------
    def probability(self, counts):
        total = sum(counts)
        if self.laplace:
            return [(c + 1) / (total + self.n_classes) for c in counts]
        return [c / total if abs(total) >= TINY else 0.0 for c in counts]

    def predict_row(self, row, node=None, weight=1.0):
        node = self.root if node is None else node
        if not node.sons:
            return [weight * p for p in self.probability(node.counts)]
        branch = node.branch(row, self.n_values)
        if branch is None:
            total = [0.0] * self.n_classes
            for son, share in zip(node.sons, self.shares(node), strict=True):
                if not son.empty:
                    part = self.predict_row(row, son, weight * share)
                    total = [a + b for a, b in zip(total, part, strict=True)]
            return total
        if node.sons[branch].empty:
            bag = node.bags[branch]
            return [weight * p for p in self.probability(bag if sum(bag) > TINY else node.counts)]
        return self.predict_row(row, node.sons[branch], weight)

    def predict_proba(self, rows):
        return [self.predict_row(row) for row in rows]

    def size(self, node=None):
        node = self.root if node is None else node
        return 1 + sum(self.size(son) for son in node.sons)

    @property
    def n_leaves(self):
        return len(self.leaves(self.root))

    @property
    def n_nodes(self):
        return self.size()
