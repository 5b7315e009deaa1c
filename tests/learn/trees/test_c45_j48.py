"""Hundreds of random data sets against live J48 (WEKA), where Java and the oracle are present."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from scumble.learn import C45Classifier, export_text

ROOT = Path(__file__).resolve().parents[3]
KINDS = ["numeric", "nominal", "mixed", "missing", "weighted", "multiclass", "everything", "ties"]
PER_KIND = 60


@pytest.fixture(scope="module")
def ask_j48():
    sys.path.insert(0, str(ROOT))
    try:
        from benchmarks._j48_oracle import ask_j48, oracle_python
    finally:
        sys.path.remove(str(ROOT))
    python = oracle_python()
    if python is None:
        pytest.skip("needs Java and python-weka-wrapper3 (set SCUMBLE_ORACLE_PYTHON to its Python)")
    return lambda jobs: ask_j48(jobs, python)


def make_problem(kind, seed):
    """Draw a data set with some structure: classes follow two of the columns, with noise."""
    rng = np.random.default_rng([KINDS.index(kind), seed])
    n = int(rng.integers(4, 150))
    m = int(rng.integers(1, 8))
    n_classes = int(rng.integers(3, 7)) if kind in ("multiclass", "everything") else 2
    n_values = np.zeros(m, np.int64)
    nominal = {"numeric": 0.0, "nominal": 1.0, "ties": 0.2}.get(kind, 0.4)
    chosen = rng.random(m) < nominal
    n_values[chosen] = rng.integers(2, 6, chosen.sum())
    X = np.empty((2 * n, m))
    for column in range(m):
        if n_values[column]:
            X[:, column] = rng.integers(0, n_values[column], 2 * n)
        elif kind == "ties" or rng.random() < 0.4:
            X[:, column] = rng.integers(-3, 4, 2 * n)
        else:
            X[:, column] = np.round(rng.normal(size=2 * n) * 10.0 ** rng.integers(-4, 4), 6)
    X += 0.0  # no negative zeros, which J48 prints as -0
    score = X[:, 0] + (X[:, -1] if m > 1 else 0) * rng.normal()
    noise = rng.normal(size=2 * n) * score.std() * rng.choice([0.1, 0.5, 2])
    edges = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    y = np.digitize(score + noise, edges)
    if kind in ("missing", "everything"):
        X[rng.random(X.shape) < rng.choice([0.02, 0.1, 0.4])] = np.nan
    weights = np.ones(2 * n)
    if kind in ("weighted", "everything"):
        weights = np.round(rng.exponential(size=2 * n) + 0.01, 3)
        if rng.random() < 0.5:
            weights = rng.integers(1, 5, 2 * n).astype(float)
    options = {
        "prune": bool(rng.random() < 0.7),
        "subtree_raising": bool(rng.random() < 0.8),
        "mdl": bool(rng.random() < 0.8),
        "laplace": bool(rng.random() < 0.2),
        "min_objects": int(rng.choice([1, 2, 2, 5])),
        "confidence": float(rng.choice([0.05, 0.25, 0.25, 0.4])),
    }
    y[:n_classes] = np.arange(n_classes)[: len(y)]  # every class is seen in training
    return X, y, weights, n_values, n, options


def arff(X, y, weights, n_values, n_classes):
    lines = ["@relation r"]
    for column, v in enumerate(n_values):
        kind = "{" + ",".join(f"v{i}" for i in range(v)) + "}" if v else "numeric"
        lines.append(f"@attribute x{column} {kind}")
    lines += ["@attribute class {" + ",".join(f"c{i}" for i in range(n_classes)) + "}", "@data"]
    for row, label, weight in zip(X, y, weights, strict=True):
        cells = [
            "?" if np.isnan(x) else f"v{int(x)}" if v else repr(float(x))
            for x, v in zip(row, n_values, strict=True)
        ]
        lines.append(",".join([*cells, f"c{label}"]) + f",{{{float(weight)!r}}}")
    return "\n".join(lines) + "\n"


def weka_options(options):
    words = ["-M", str(options["min_objects"])]
    if options["prune"]:
        words += ["-C", str(options["confidence"])]
        words += [] if options["subtree_raising"] else ["-S"]
    else:
        words += ["-U"]
    words += [] if options["mdl"] else ["-J"]
    return words + (["-A"] if options["laplace"] else [])


def same_text(ours, theirs):
    """Compare printed trees; weights may round either way, as sums in another order do."""
    weight = re.compile(r"(?<=[(/])[0-9.]+(?=[/)])")
    if len(ours) != len(theirs):
        return False
    for a, b in zip(ours, theirs, strict=True):
        if weight.sub("", a) != weight.sub("", b):
            return False
        pairs = zip(weight.findall(a), weight.findall(b), strict=True)
        if any(abs(float(x) - float(y)) > 0.0101 for x, y in pairs):
            return False
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_tree_as_live_j48(ask_j48, kind):
    problems = [make_problem(kind, seed) for seed in range(PER_KIND)]
    jobs = []
    for X, y, weights, n_values, n, options in problems:
        n_classes = int(y[:n].max()) + 1
        jobs.append(
            {
                "train": arff(X[:n], y[:n], weights[:n], n_values, n_classes),
                "test": arff(X[n:], np.zeros(n, int), np.ones(n), n_values, n_classes),
                "options": weka_options(options),
            }
        )
    answers = ask_j48(jobs)
    wrong = []
    grown = 0
    for seed, (problem, answer) in enumerate(zip(problems, answers, strict=True)):
        X, y, weights, n_values, n, options = problem
        categorical = {int(c): int(n_values[c]) for c in np.flatnonzero(n_values)}
        tree = C45Classifier(**options, categorical_features=categorical)
        tree.fit(X[:n], y[:n], weights[:n])
        grown += tree.n_nodes_ > 1
        same = (tree.n_leaves_, tree.n_nodes_) == (answer["leaves"], answer["size"])
        same = same and np.abs(tree.predict_proba(X[n:]) - answer["p"]).max() < 1e-9
        values = [[f"v{i}" for i in range(v)] if v else None for v in n_values]
        text = export_text(
            tree, class_names=[f"c{c}" for c in tree.classes_], value_names=values
        ).splitlines()[1:]
        if not same or not same_text(text, answer["text"].splitlines()[1:]):
            wrong.append((seed, options, "\n".join(text), answer["text"]))
    assert grown > PER_KIND / 3
    assert not wrong, f"{len(wrong)} of {PER_KIND}: {wrong[0][:2]}\n{wrong[0][2]}\n{wrong[0][3]}"
