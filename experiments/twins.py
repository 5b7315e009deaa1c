"""Compute the F1 of labels by the share of their rows that decoupling splits.

``python experiments/twins.py decoupling.db`` reads the counts of every label from the store of the
study of decoupling, and the data sets, and writes ``experiments/twins.csv``: for each classifier,
arm and share of a label's training rows that are mixed (so that ``keep`` splits them), the number
of labels and of data sets, and the mean F1 of the labels. Only labels that occur in the test set
and at least twice in the training set are included, once per fold. A data set is included for a
classifier only if all of its cells are done, so that arms are compared on the same labels.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from decoupling_arms import sides_of

from scumble.evaluate.model_selection.folds import LabelCounts
from scumble.experiment import Store, plan_cells, read_plan
from scumble.experiment.components import load_cell_dataset
from scumble.experiment.compute_cell import _split

HERE = Path(__file__).parent
OUT = HERE / "twins.csv"
PLANS = ("decoupling", "decoupling_costly", "decoupling_unknown")
#: Lower ends of the ranges of shares; the last one is for labels of which every row is split.
BORDERS = (0.0, 1e-9, 0.25, 0.5, 0.75, 1.0)
NAMES = ("0", "up to 1/4", "1/4 to 1/2", "1/2 to 3/4", "3/4 to all", "all")


def shares_of(cell):
    """Return the share of each label's training rows that are mixed; NaN for unseen labels."""
    data = load_cell_dataset(cell)
    train, _ = _split(cell, data)
    Y = data[train].Y
    counts = np.asarray(Y.sum(axis=0)).ravel()
    mixed_counts = np.asarray(Y[sides_of(Y).mixed].sum(axis=0)).ravel()
    return np.divide(mixed_counts, counts, out=np.full(len(counts), np.nan), where=counts > 0)


def dataset_and_classifier(cell):
    """Return the data set and classifier of a cell, whose arms all have to be done."""
    return cell.dataset.label, cell.classifier.label.removesuffix(" unknown")


def count(store):
    """Write the table."""
    planned = []
    with Store(store, create=False) as opened:
        done = {cell["key"]: cell for cell in opened.cells() if cell["state"] == "done"}
        for name in PLANS:
            planned += plan_cells(read_plan(HERE / f"{name}.toml"), opened)
    incomplete = {dataset_and_classifier(cell) for cell in planned if cell.key not in done}
    cells = [cell for cell in planned if dataset_and_classifier(cell) not in incomplete]
    shares_of_fold = {}
    f1_of_group = defaultdict(list)  # by classifier, arm and range of shares
    for cell in cells:
        dataset, classifier = dataset_and_classifier(cell)
        if (dataset, cell.fold) not in shares_of_fold:
            shares_of_fold[dataset, cell.fold] = shares_of(cell)
        counts = LabelCounts.from_dict(done[cell.key]["details"]["labels"])
        is_included = (counts.true > 0) & (counts.training >= 2)
        f1 = 2 * counts.hits[is_included] / (counts.predicted + counts.true)[is_included]
        shares = shares_of_fold[dataset, cell.fold][is_included]
        ranges = np.searchsorted(BORDERS, shares, side="right") - 1
        arm = cell.resampler.label if classifier == cell.classifier.label else "unknown"
        for index in np.unique(ranges):
            f1_of_group[classifier, arm, int(index)].append((dataset, f1[ranges == index]))
    with OUT.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("classifier", "arm", "share", "data_sets", "labels", "f1"))
        for (classifier, arm, index), parts in sorted(f1_of_group.items()):
            values = np.concatenate([f1 for _, f1 in parts])
            n_sets = len({name for name, _ in parts})
            writer.writerow(
                (classifier, arm, NAMES[index], n_sets, len(values), f"{values.mean():.4f}")
            )
    print(f"{OUT}: {len(f1_of_group)} rows from {len(cells)} cells")


if __name__ == "__main__":
    count(*sys.argv[1:])
