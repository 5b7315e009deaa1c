"""Measure how much F1 thresholds and rankings cost on the data sets of ``rare.toml``.

``python experiments/rare_ceiling.py [DATA SET ...]`` fits on four of five folds of a split that
``rare.toml`` does not use, and prints F of the fifth: by binary relevance; by the chosen
thresholds; if as many rows are predicted, from the highest score on, as have the label; with the
threshold that is best on these rows; and the same for random scores, which shows how much of that
is chance. Of the nine small data sets all five folds are used, of the others the first.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from scumble.evaluate import IterativeStratification, evaluate
from scumble.experiment import read_plan
from scumble.experiment.components import load_dataset
from scumble.learn import BinaryRelevance, RareLabelClassifier, label_thresholds

SEED = 77
PLAN = Path(__file__).with_name("rare.toml")
METRICS = ("all.macro_f1", "minority.macro_f1", "micro_f1")
#: Nearly every label of this data set is solved: it is not part of the means.
EXCLUDED = "genbase"
SMALL = "flags emotions birds scene yeast enron medical slashdot cal500".split()


def evaluate_dataset(name, data):
    """Return the mean F of every method over the folds that are used."""
    folds = list(IterativeStratification(5, random_state=SEED).split(data.X, data.Y))
    if name not in SMALL:
        folds = folds[:1]
    results = [evaluate_fold(data[train], data[test]) for train, test in folds]
    return {
        method: np.nanmean([result[method] for result in results], axis=0) for method in results[0]
    }


def evaluate_fold(train, test):
    """Return F of all labels, of minority labels and of all cells, by method."""
    nominal = {"categorical_features": train.categorical_features or None}
    predictions = {"BR": BinaryRelevance(**nominal).fit(train.X, train.Y).predict(test.X)}
    for quality in ("fast", "best"):
        model = RareLabelClassifier(quality, random_state=5, **nominal).fit(train.X, train.Y)
        scores = model.predict_proba(test.X)
        by_number = label_thresholds(scores, test.Y, rule="rate")
        best = label_thresholds(scores, test.Y, rule="plain")
        predictions[quality] = scores >= model.thresholds_
        predictions[f"{quality}, their number"] = scores >= by_number
        predictions[f"{quality}, best cut"] = scores >= best
    random_scores = np.random.default_rng(SEED).random(scores.shape)
    best = label_thresholds(random_scores, test.Y, rule="plain")
    predictions["chance, best cut"] = random_scores >= best
    return {name: scores_of(test.Y, labels, train.Y) for name, labels in predictions.items()}


def scores_of(Y, predictions, training):
    """Return the values of the three metrics."""
    evaluation = evaluate(Y, predictions, groups=["all", "minority"], training=training)
    return [evaluation[name] for name in METRICS]


def main(names):
    """Print a table for each data set, and their mean."""
    parts = [part for part in read_plan(PLAN).datasets if part.label != EXCLUDED]
    tables = []
    for part in parts:
        if not names or part.label in names:
            tables.append(evaluate_dataset(part.label, load_dataset(part)))
            print_table(part.label, tables[-1])
    print_table("mean", {name: np.nanmean([t[name] for t in tables], axis=0) for name in tables[0]})


def print_table(title, table):
    """Print one table, with ratios to binary relevance."""
    print(f"\n{title:25s}" + "".join(f"{name:>26s}" for name in METRICS))
    for name, values in table.items():
        ratios = np.array(values) / np.maximum(table["BR"], 1e-9)
        texts = []
        for value, ratio in zip(values, ratios, strict=True):
            texts.append(f"{value:.4f} ({ratio:.2f})" if ratio < 99 else f"{value:.4f}")
        print(f"{name:25s}" + "".join(f"{text:>26s}" for text in texts), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
