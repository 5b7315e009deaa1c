"""Which method is best when: tables and a chart from the store of ``which.toml``.

``python experiments/which.py table which.db experiments/which.csv`` summarizes finished cells: one
row for each data set, classifier and treatment with all folds done.

``python experiments/which.py page experiments/which.csv docs/guide/which_tables.inc
docs/_static/which.svg`` writes the tables and the chart of the guide's page. Means are over data
sets on which every method is done.
"""

from __future__ import annotations

import csv
import itertools
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from tables import rst, titled

from scumble.evaluate.model_selection.folds import LabelCounts
from scumble.experiment import Store, read_plan
from scumble.plots import save_plot
from scumble.plots.statistics import plot_choices

PLAN = read_plan(Path(__file__).with_name("which.toml"))
METRICS = ("all.macro_f1", "minority.macro_f1", "difficult.macro_f1", "micro_f1")
#: Ranges of the number of training positives of a label: from each number to the next.
BINS = (2, 5, 10, 20, 50, 200)
DATASETS = [part.label for part in PLAN.datasets]
CLASSIFIERS = [part.label for part in PLAN.classifiers]
TREATMENTS = [part.label for part in PLAN.resamplers]
UNTREATED = TREATMENTS[0]


def table(store: Path, out: Path) -> None:
    """Write a row for each data set and method."""
    with Store(store, create=False) as opened:
        cells = [cell for cell in opened.cells() if cell["state"] == "done"]
    cells_of = defaultdict(list)
    for cell in cells:
        cells_of[cell["dataset"], cell["classifier"], cell["resampler"]].append(cell)
    combinations = list(itertools.product(DATASETS, CLASSIFIERS, TREATMENTS))
    rows = [
        summarize(combination, cells_of[combination])
        for combination in combinations
        if len(cells_of[combination]) == PLAN.n_folds
    ]
    with out.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"{out}: {len(rows)} of {len(combinations)} rows")


def summarize(combination, cells):
    """Return a row: means over the folds, and F1 of labels by number of training positives."""
    row = dict(zip(("data", "classifier", "treatment"), combination, strict=True))
    for metric in METRICS:
        values = np.array([cell["scores"][metric] for cell in cells])
        row[metric] = f"{np.nanmean(values):.5f}" if not np.isnan(values).all() else ""
    row["cpu_seconds"] = f"{np.mean([cell['details']['cpu_seconds'] for cell in cells]):.2f}"
    row["scumble"] = f"{np.mean([cell['scores']['before.scumble'] for cell in cells]):.4f}"
    labels = [labels_of(cell) for cell in cells]
    f1 = np.concatenate([fold_f1 for fold_f1, _ in labels])
    positives = np.concatenate([fold_positives for _, fold_positives in labels])
    for low, high in zip(BINS, (*BINS[1:], np.inf), strict=True):
        is_in_range = (positives >= low) & (positives < high)
        row[f"f1 from {low}"] = f"{f1[is_in_range].mean():.5f}" if is_in_range.any() else ""
        row[f"n from {low}"] = int(is_in_range.sum())
    return row


def labels_of(cell):
    """Return F1 and numbers of training positives of the labels that occur in a test set."""
    counts = LabelCounts.from_dict(cell["details"]["labels"])
    occurs = counts.true > 0
    total = counts.predicted[occurs] + counts.true[occurs]
    return 2 * counts.hits[occurs] / total, counts.training[occurs]


def page(source: Path, out: Path, picture: Path) -> None:
    """Write the tables and the chart."""
    with source.open() as stream:
        rows = list(csv.DictReader(stream))
    by_set = defaultdict(dict)
    for row in rows:
        by_set[row["data"]][row["classifier"], row["treatment"]] = row
    n_methods = len(CLASSIFIERS) * len(TREATMENTS)
    names = [name for name in DATASETS if len(by_set[name]) == n_methods]
    complete = [by_set[name] for name in names]
    text = [
        f"The tables rest on {len(complete)} of {len(DATASETS)} data sets: {', '.join(names)}.",
        "",
        *untreated_table(complete),
        *treatment_tables(complete),
        *dataset_table(names, complete),
    ]
    out.write_text("\n".join(text) + "\n")
    chart(complete, picture)


def mean(sets, method, metric):
    """Return the mean of a method over data sets, which are dicts from method to row."""
    values = [float(rows[method][metric]) for rows in sets if rows[method][metric]]
    return float(np.mean(values)) if values else np.nan


def untreated_table(sets):
    """Yield the table of all classifiers on untreated data."""
    head = ("classifier", "macro F1", "minority", "difficult", "micro F1", "CPU seconds a fold")
    rows = [
        (
            name,
            *(f"{mean(sets, (name, UNTREATED), metric):.3f}" for metric in METRICS),
            f"{mean(sets, (name, UNTREATED), 'cpu_seconds'):.1f}",
        )
        for name in CLASSIFIERS
    ]
    yield from titled("Classifiers on untreated data", rst(head, rows))


def treatment_tables(sets):
    """Yield the tables of the changes by each treatment for each classifier."""
    for metric, title in (("all.macro_f1", "macro F1"), ("minority.macro_f1", "minority F1")):
        rows = [
            (name, *(change_text(sets, name, treatment, metric) for treatment in TREATMENTS[1:]))
            for name in CLASSIFIERS
        ]
        text = f"What treatments change in {title}, and on how many data sets it rises and falls"
        yield from titled(text, rst(("classifier", *TREATMENTS[1:]), rows))


def change_text(sets, classifier, treatment, metric):
    """Return the mean change by a treatment, and the numbers of wins and losses."""
    gains = []
    for rows in sets:
        before = rows[classifier, UNTREATED][metric]
        after = rows[classifier, treatment][metric]
        if before and after:
            gains.append(float(after) - float(before))
    gains = np.array(gains)
    return f"{gains.mean():+.3f} ({(gains > 0).sum()}-{(gains < 0).sum()})"


def dataset_table(names, sets):
    """Yield the table of the best classifier and treatment of every data set."""
    table = []
    for name, rows in zip(names, sets, strict=True):
        f1 = {method: float(row["all.macro_f1"]) for method, row in rows.items()}
        best = max(f1, key=f1.get)
        classifier, treatment = best
        method = classifier if treatment == UNTREATED else f"{classifier} after {treatment}"
        baseline = f1[CLASSIFIERS[0], UNTREATED]
        table.append(
            (name, f"{scumble_of(rows):.3f}", method, f"{f1[best]:.3f}", f"{baseline:.3f}")
        )
    head = ("data set", "SCUMBLE", "best of all", "macro F1", f"{CLASSIFIERS[0]}, untreated")
    yield from titled("Data set by data set", rst(head, table))


def chart(sets, picture):
    """Draw the F1 of the classifiers by frequency of labels, by SCUMBLE and for all cells."""
    situations, values = [], []
    for low, high in zip(BINS, (*BINS[1:], None), strict=True):
        n_labels = sum(int(rows[CLASSIFIERS[0], UNTREATED][f"n from {low}"]) for rows in sets)
        n_rows = f"{low}-{high - 1}" if high else f"{low} or more"
        situations.append(f"labels with {n_rows} rows ({n_labels / PLAN.n_folds:,.0f})")
        values.append([mean_f1_from(sets, (name, UNTREATED), low) for name in CLASSIFIERS])
    for text, group in (
        ("all labels, SCUMBLE up to 0.1", [rows for rows in sets if scumble_of(rows) <= 0.1]),
        ("all labels, SCUMBLE above 0.1", [rows for rows in sets if scumble_of(rows) > 0.1]),
    ):
        if group:
            situations.append(f"{text} ({len(group)} sets)")
            values.append([mean(group, (name, UNTREATED), METRICS[0]) for name in CLASSIFIERS])
    situations.append("all cells: micro F1")
    values.append([mean(sets, (name, UNTREATED), "micro_f1") for name in CLASSIFIERS])
    title = f"F1 by classifier, {len(sets)} data sets"
    save_plot(plot_choices(values, situations, CLASSIFIERS, title=title), picture)


def scumble_of(rows):
    """Return the mean SCUMBLE of a data set's training sets."""
    return float(rows[CLASSIFIERS[0], UNTREATED]["scumble"])


def mean_f1_from(sets, method, low):
    """Return the mean F1 of the labels in the range of training positives that starts at ``low``.

    All labels of all data sets have the same weight.
    """
    total, n_labels = 0.0, 0
    for rows in sets:
        f1 = rows[method][f"f1 from {low}"]
        if f1:
            n = int(rows[method][f"n from {low}"])
            total += float(f1) * n
            n_labels += n
    return total / n_labels if n_labels else np.nan


if __name__ == "__main__":
    command, *paths = sys.argv[1:]
    {"table": table, "page": page}[command](*map(Path, paths))
