"""Which method when: tables and a chart from the store of ``which.toml``.

``python experiments/which.py table which.db experiments/which.csv`` sums finished cells up: one row
for each data set, classifier and treatment with all folds done.

``python experiments/which.py page experiments/which.csv docs/guide/which_tables.inc
docs/_static/which.svg`` writes the tables of the guide's page and its chart. Means are over data
sets on which every method is done.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from tables import rst, titled

from scumble.evaluate.folds import LabelCounts
from scumble.experiment import Store, read_plan
from scumble.plots import save_plot
from scumble.plots.statistics import plot_choices

PLAN = read_plan(Path(__file__).with_name("which.toml"))
METRICS = ("all.macro_f1", "minority.macro_f1", "difficult.macro_f1", "micro_f1")
#: Labels by training positives: from each number to the next.
BINS = (2, 5, 10, 20, 50, 200)
DATASETS, CLASSIFIERS, TREATMENTS = (
    [part.label for part in parts] for parts in (PLAN.datasets, PLAN.classifiers, PLAN.resamplers)
)
UNTREATED = TREATMENTS[0]


def table(store: Path, out: Path) -> None:
    """Write a row for each data set and method."""
    with Store(store, create=False) as opened:
        cells = [cell for cell in opened.cells() if cell["state"] == "done"]
    found = defaultdict(list)
    for cell in cells:
        found[cell["dataset"], cell["classifier"], cell["resampler"]].append(cell)
    places = [(d, c, t) for d in DATASETS for c in CLASSIFIERS for t in TREATMENTS]
    rows = [summary(place, found[place]) for place in places if len(found[place]) == PLAN.n_folds]
    with out.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"{out}: {len(rows)} of {len(places)} rows")


def summary(place, cells):
    """Return means over the folds, and F1 of labels with so many training positives."""
    row = dict(zip(("data", "classifier", "treatment"), place, strict=True))
    for metric in METRICS:
        values = np.array([cell["scores"][metric] for cell in cells])
        row[metric] = f"{np.nanmean(values):.5f}" if not np.isnan(values).all() else ""
    row["cpu_seconds"] = f"{np.mean([cell['details']['cpu_seconds'] for cell in cells]):.2f}"
    row["scumble"] = f"{np.mean([cell['scores']['before.scumble'] for cell in cells]):.4f}"
    f1, positives = map(np.concatenate, zip(*map(labels_of, cells), strict=True))
    for low, high in zip(BINS, (*BINS[1:], np.inf), strict=True):
        chosen = (positives >= low) & (positives < high)
        row[f"f1 from {low}"] = f"{f1[chosen].mean():.5f}" if chosen.any() else ""
        row[f"n from {low}"] = int(chosen.sum())
    return row


def labels_of(cell):
    """Return F1 and training positives of the labels that a test part holds."""
    counts = LabelCounts.from_dict(cell["details"]["labels"])
    known = counts.true > 0
    total = counts.predicted[known] + counts.true[known]
    return 2 * counts.hits[known] / total, counts.training[known]


def page(source: Path, out: Path, picture: Path) -> None:
    """Write tables and chart."""
    with source.open() as stream:
        rows = list(csv.DictReader(stream))
    by_set = defaultdict(dict)
    for row in rows:
        by_set[row["data"]][row["classifier"], row["treatment"]] = row
    n_methods = len(CLASSIFIERS) * len(TREATMENTS)
    whole = [by_set[name] for name in DATASETS if len(by_set[name]) == n_methods]
    names = [name for name in DATASETS if len(by_set[name]) == n_methods]
    text = [
        f"The tables rest on {len(whole)} of {len(DATASETS)} data sets: {', '.join(names)}.",
        "",
        *tables(whole),
        *of_treatments(whole),
        *per_set(names, whole),
    ]
    out.write_text("\n".join(text) + "\n")
    chart(whole, picture)


def mean(sets, method, metric):
    """Return the mean over data sets of one method."""
    values = [float(one[method][metric]) for one in sets if one[method][metric]]
    return float(np.mean(values)) if values else np.nan


def tables(sets):
    """Show every classifier untreated, and its best treatment."""
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


def of_treatments(sets):
    """Show what each treatment changes for each classifier, with wins and losses."""
    for metric, title in (("all.macro_f1", "macro F1"), ("minority.macro_f1", "minority F1")):
        rows = [
            (name, *(change(sets, name, treatment, metric) for treatment in TREATMENTS[1:]))
            for name in CLASSIFIERS
        ]
        text = f"What treatments change in {title}, and on how many data sets it rises and falls"
        yield from titled(text, rst(("classifier", *TREATMENTS[1:]), rows))


def change(sets, classifier, treatment, metric):
    """Say the mean change by a treatment, and wins and losses."""
    pairs = [
        tuple(float(one[classifier, which][metric]) for which in (UNTREATED, treatment))
        for one in sets
        if one[classifier, UNTREATED][metric] and one[classifier, treatment][metric]
    ]
    gains = np.array([after - before for before, after in pairs])
    return f"{gains.mean():+.3f} ({(gains > 0).sum()}-{(gains < 0).sum()})"


def per_set(names, sets):
    """Name the best classifier and treatment of every data set."""
    rows = []
    for name, one in zip(names, sets, strict=True):
        f1 = {method: float(row["all.macro_f1"]) for method, row in one.items()}
        best = max(f1, key=f1.get)
        scumble = one[CLASSIFIERS[0], UNTREATED]["scumble"]
        told = best[0] if best[1] == UNTREATED else f"{best[0]} after {best[1]}"
        trees = f1[CLASSIFIERS[0], UNTREATED]
        rows.append((name, f"{float(scumble):.3f}", told, f"{f1[best]:.3f}", f"{trees:.3f}"))
    head = ("data set", "SCUMBLE", "best of all", "macro F1", f"{CLASSIFIERS[0]}, untreated")
    yield from titled("Data set by data set", rst(head, rows))


def chart(sets, picture):
    """Draw which classifier does best for labels of which frequency, and on which data."""
    situations, values = [], []
    for low, high in zip(BINS, (*BINS[1:], None), strict=True):
        n_labels = sum(int(one[CLASSIFIERS[0], UNTREATED][f"n from {low}"]) for one in sets)
        rows = f"{low}-{high - 1}" if high else f"{low} or more"
        situations.append(f"labels with {rows} rows ({n_labels / PLAN.n_folds:,.0f})")
        values.append([by_frequency(sets, (name, UNTREATED), low) for name in CLASSIFIERS])
    for text, chosen in (
        ("all labels, SCUMBLE up to 0.1", [s for s in sets if scumble_of(s) <= 0.1]),
        ("all labels, SCUMBLE above 0.1", [s for s in sets if scumble_of(s) > 0.1]),
    ):
        if not chosen:
            continue
        situations.append(f"{text} ({len(chosen)} sets)")
        values.append([mean(chosen, (name, UNTREATED), METRICS[0]) for name in CLASSIFIERS])
    situations.append("all cells: micro F1")
    values.append([mean(sets, (name, UNTREATED), "micro_f1") for name in CLASSIFIERS])
    title = f"F1 by classifier, {len(sets)} data sets"
    save_plot(plot_choices(values, situations, CLASSIFIERS, title=title), picture)


def scumble_of(one):
    """Return the SCUMBLE of a data set's training parts."""
    return float(one[CLASSIFIERS[0], UNTREATED]["scumble"])


def by_frequency(sets, method, low):
    """Average over all labels with at least so many training positives, of all data sets."""
    pairs = [(one[method][f"f1 from {low}"], int(one[method][f"n from {low}"])) for one in sets]
    known = [(float(f1), n) for f1, n in pairs if f1]
    return sum(f1 * n for f1, n in known) / sum(n for _, n in known) if known else np.nan


if __name__ == "__main__":
    what, *paths = sys.argv[1:]
    {"table": table, "page": page}[what](*map(Path, paths))
