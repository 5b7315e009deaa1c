"""Problems of every kind for C4.5, drawn at random, and a short name for the tree of each.

``python random_problems.py 900`` prints the names. `random_problems.txt` holds those of version
0.1.0, whose trees were compared with J48's: see `test_random_problems.py`.
"""

import hashlib
import sys

import numpy as np
from scipy import sparse

FIELDS = ("feature", "first", "width", "empty", "cut", "branch", "counts")


def draw(seed):
    """Draw a table, a target and settings; None where the target has no rows that count."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([5, 30, 200, 1000], p=[0.1, 0.35, 0.35, 0.2]))
    X, n_values = _columns(rng, n)
    if rng.random() < 0.3:
        X = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    n_classes = int(rng.choice([2, 2, 2, 3, 7, 40]))
    target = {"y": _classes(rng, X, n_classes), **_amounts(rng, n)}
    if rng.random() < 0.3:
        rows = np.sort(rng.choice(n, max(2, n // 2), replace=False))
        target = {name: part[rows] for name, part in target.items()} | {"rows": rows}
    if any(not target[name].any() for name in ("weights", "repeats") if name in target):
        return None
    extra = None
    if rng.random() < 0.3:
        extra = sparse.csr_array(rng.random((n, 4)) < 0.3)
        target["extra"] = np.array([0, 2])
    settings = {
        "confidence": float(rng.choice([0.05, 0.25, 0.5])),
        "min_objects": int(rng.choice([1, 2, 2, 5])),
        **{name: bool(rng.random() < 0.8) for name in ("prune", "subtree_raising", "mdl")},
    }
    table = sparse.csr_array(X) if rng.random() < 0.4 else X
    return table, n_values, extra, target | {"n_classes": n_classes}, settings


def _columns(rng, n):
    parts, n_values = [np.zeros((n, 0))], []
    kinds = rng.integers(0, 6)  # numbers alone, values alone, or mostly both
    if kinds != 1:
        numbers = np.round(rng.normal(size=(n, rng.integers(1, 8))), int(rng.integers(0, 6)))
        if rng.random() < 0.5:
            numbers *= rng.random(numbers.shape) < rng.random()
        parts.append(numbers)
        n_values += [0] * numbers.shape[1]
    if kinds != 0:
        several = int(rng.integers(2, 6))
        codes = np.floor(rng.random((n, rng.integers(1, 12))) ** 2 * several)
        bits = (rng.random((n, rng.integers(0, 12))) < 0.2).astype(float)
        parts += [codes, bits]
        n_values += [several] * codes.shape[1] + [2] * bits.shape[1]
    return np.hstack(parts), np.array(n_values)


def _classes(rng, X, n_classes):
    n = len(X)
    score = np.nansum(X[:, :3], axis=1) + rng.normal(size=n) * rng.random() * 2
    if rng.random() < 0.5:
        return np.argsort(np.argsort(score, kind="stable"), kind="stable") * n_classes // n
    return (rng.random(n) < 0.15) * rng.integers(0, n_classes, n)


def _amounts(rng, n):
    kind = rng.random()
    if kind < 0.1:
        return {"weights": rng.integers(0, 4, n).astype(float)}
    if kind < 0.2:
        return {"weights": rng.random(n)}
    if kind < 0.5:
        return {"repeats": np.bincount(rng.integers(0, n, n), minlength=n)}
    if kind < 0.55:
        return {"repeats": rng.integers(0, 40, n)}
    return {}


def name_of(tree):
    """Name a tree by its nodes: equal names, equal trees."""
    text = hashlib.sha256()
    for field in FIELDS:
        numbers = np.asarray(getattr(tree, field), np.float64)
        text.update((np.round(numbers, 6) + 0.0).tobytes())  # 0.0 and -0.0 are the same
    return f"{text.hexdigest()[:12]} {len(tree.feature)}"


def names(n_problems, module):
    """Grow the trees with the functions of a module, and name them."""
    for seed in range(n_problems):
        drawn = draw(seed)
        if drawn is None:
            yield "none"
            continue
        X, n_values, extra, target, settings = drawn
        table = module.prepare_table(X, n_values, extra=extra)
        settings = module.TreeSettings(**settings)
        yield name_of(module.grow_trees(table, [module.Target(**target)], settings)[0])


if __name__ == "__main__":
    from scumble.learn.trees import c45

    if not hasattr(c45, "grow_trees"):  # before the folder c45 there was a module trees
        from scumble.learn import trees as c45
    print(*names(int(sys.argv[1]), c45), sep="\n")
