"""Tell what is lost by thresholds, and what by ranking, on the data sets of ``rare.toml``.

``python experiments/rare_ceiling.py [DATA SET ...]`` trains on four of five folds of a split that
``rare.toml`` does not use, and prints F of the fifth: by binary relevance; by the thresholds that
were chosen; with as many rows predicted, from the highest score on, as have the label; with the
threshold that is best on these very rows; and the same for scores by chance, which tells how much
of that is luck. Of the nine small data sets all five folds are judged, of the others the first.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from scumble.evaluate import IterativeStratification, evaluate
from scumble.experiment import read_plan
from scumble.experiment.parts import load_dataset
from scumble.learn import BinaryRelevance, RareLabelClassifier, label_thresholds

SEED = 77
PLAN = Path(__file__).with_name("rare.toml")
METRICS = ("all.macro_f1", "minority.macro_f1", "micro_f1")
#: Nearly every label of it is solved: no mean should have it.
ASIDE = "genbase"
SMALL = "flags emotions birds scene yeast enron medical slashdot cal500".split()


def judge_all(name, data):
    """Return the mean of the folds that are judged."""
    folds = list(IterativeStratification(5, random_state=SEED).split(data.X, data.Y))
    kept = folds if name in SMALL else folds[:1]
    found = [judge(data[train], data[test]) for train, test in kept]
    return {way: np.nanmean([one[way] for one in found], axis=0) for way in found[0]}


def judge(train, test):
    """Return F of all, of minority labels and of cells by every way to predict."""
    nominal = {"categorical_features": train.categorical_features or None}
    told = {"BR": BinaryRelevance(**nominal).fit(train.X, train.Y).predict(test.X)}
    for quality in ("fast", "best"):
        model = RareLabelClassifier(quality, random_state=5, **nominal).fit(train.X, train.Y)
        scores = model.predict_proba(test.X)
        told[quality] = scores >= model.thresholds_
        told[f"{quality}, their number"] = scores >= label_thresholds(scores, test.Y, rule="rate")
        told[f"{quality}, best cut"] = scores >= label_thresholds(scores, test.Y, rule="plain")
    chance = np.random.default_rng(SEED).random(scores.shape)
    told["chance, best cut"] = chance >= label_thresholds(chance, test.Y, rule="plain")
    return {name: rate(test.Y, labels, train.Y) for name, labels in told.items()}


def rate(Y, predictions, training):
    """Return the three F."""
    groups = ["all", "minority"]
    found = evaluate(Y, predictions, groups=groups, training=training)
    return [found[name] for name in METRICS]


def main(names):
    """Print a table for each data set, and the mean of all."""
    parts = [part for part in read_plan(PLAN).datasets if part.label != ASIDE]
    tables = []
    for part in parts:
        if not names or part.label in names:
            tables.append(judge_all(part.label, load_dataset(part)))
            show(part.label, tables[-1])
    show("mean", {name: np.nanmean([t[name] for t in tables], axis=0) for name in tables[0]})


def show(title, table):
    """Print one table, with ratios to binary relevance."""
    print(f"\n{title:25s}" + "".join(f"{name:>26s}" for name in METRICS))
    for name, found in table.items():
        ratios = np.array(found) / np.maximum(table["BR"], 1e-9)
        cells = zip(found, ratios, strict=True)
        texts = (
            f"{value:.4f} ({ratio:.2f})" if ratio < 99 else f"{value:.4f}" for value, ratio in cells
        )
        print(f"{name:25s}" + "".join(f"{text:>26s}" for text in texts), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
