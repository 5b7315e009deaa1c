"""Why decoupling harms: the F1 of labels by the share of their rows that are split.

``python experiments/twins.py decoupling.db`` reads the counts of every label from the store of the
study of decoupling, and the data sets, and writes ``experiments/twins.csv``: for each classifier,
arm and share of a label's training rows that are mixed (so that ``keep`` splits them), how many
labels of how many data sets there are, and their mean F1. Labels count that occur in a test part
and at least twice in the training part; a label counts once a fold. Data sets count for a
classifier where all of its cells are done, so that arms are compared on the same labels.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from decoupling_arms import sides_of

from scumble.evaluate.folds import LabelCounts
from scumble.experiment import Store, plan_cells, read_plan
from scumble.experiment.compute_cell import _split
from scumble.experiment.parts import load_cell_dataset

HERE = Path(__file__).parent
OUT = HERE / "twins.csv"
PLANS = ("decoupling", "decoupling_costly", "decoupling_unknown")
#: Shares from each border up to the next; the last are labels of which every row is split.
BORDERS = (0.0, 1e-9, 0.25, 0.5, 0.75, 1.0)
NAMES = ("0", "up to 1/4", "1/4 to 1/2", "1/2 to 3/4", "3/4 to all", "all")


def shares_of(cell):
    """Tell which share of each label's rows in a training part is mixed; NaN for labels unseen."""
    data = load_cell_dataset(cell)
    train, _ = _split(cell, data)
    Y = data[train].Y
    counts = np.asarray(Y.sum(axis=0)).ravel()
    split = np.asarray(Y[sides_of(Y).mixed].sum(axis=0)).ravel()
    return np.divide(split, counts, out=np.full(len(counts), np.nan), where=counts > 0)


def place_of(cell):
    """Tell what must be whole: a data set for a classifier, with all arms."""
    return cell.dataset.label, cell.classifier.label.removesuffix(" unknown")


def count(store):
    """Write the table."""
    with Store(store, create=False) as opened:
        known = {cell["key"]: cell for cell in opened.cells() if cell["state"] == "done"}
        planned = [
            cell for name in PLANS for cell in plan_cells(read_plan(HERE / f"{name}.toml"), opened)
        ]
    broken = {place_of(cell) for cell in planned if cell.key not in known}
    wanted = [cell for cell in planned if place_of(cell) not in broken]
    shares, found = {}, defaultdict(list)
    for cell in wanted:
        place = (cell.dataset.label, cell.fold)
        if place not in shares:
            shares[place] = shares_of(cell)
        counts = LabelCounts.from_dict(known[cell.key]["details"]["labels"])
        judged = (counts.true > 0) & (counts.training >= 2)
        f1 = 2 * counts.hits[judged] / (counts.predicted + counts.true)[judged]
        bins = np.searchsorted(BORDERS, shares[place][judged], side="right") - 1
        _, classifier = place_of(cell)
        arm = cell.resampler.label if classifier == cell.classifier.label else "unknown"
        for at in np.unique(bins):
            found[classifier, arm, int(at)].append((cell.dataset.label, f1[bins == at]))
    with OUT.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("classifier", "arm", "share", "data_sets", "labels", "f1"))
        for (classifier, arm, at), parts in sorted(found.items()):
            values = np.concatenate([f1 for _, f1 in parts])
            n_sets = len({name for name, _ in parts})
            writer.writerow(
                (classifier, arm, NAMES[at], n_sets, len(values), f"{values.mean():.4f}")
            )
    print(f"{OUT}: {len(found)} rows from {len(wanted)} cells")


if __name__ == "__main__":
    count(*sys.argv[1:])
