"""What decoupling does, and why: tables and charts from the cells of ``decoupling*.csv``.

``python experiments/decoupling.py save decoupling.db`` writes them and ``twins.csv`` from a store;
``python experiments/decoupling.py page`` makes the tables and charts of the guide's page from them.
A combination of data set and classifier counts where all folds of all arms are done, so that arms
are compared on the same data sets.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import cells
import numpy as np
import twins
from scipy import stats
from tables import rst, titled

from scumble.evaluate.statistics import corrected_t_test, effect_sizes, holm
from scumble.experiment import read_plan
from scumble.plots import save_plot
from scumble.plots.statistics import plot_intervals

HERE = Path(__file__).parent
GUIDE = HERE.parent / "docs" / "guide"
PICTURES = HERE.parent / "docs" / "_static"
PLANS = ("decoupling", "decoupling_costly", "decoupling_unknown")
N_FOLDS = 5
CLASSIFIERS = ("BR", "CLR", "HOMER", "LP", "EPS", "ECC", "MLkNN", "IBLR")
DATASETS = tuple(part.label for part in read_plan(HERE / "decoupling.toml").datasets)
ARMS = ("clone", "keep", "dealt labels", "empty copies", "whole copies", "unknown")
GROUPS = {"minority": "minority labels", "difficult": "difficult labels", "all": "all labels"}
METRICS = {
    "macro_precision": "precision",
    "macro_recall": "recall",
    "macro_f1": "F1",
    "macro_auc_pr": "AUC-PR",
    "never_predicted": "never predicted",
}


@dataclass(frozen=True)
class Effect:
    """The change by one arm instead of another, over data sets."""

    by_dataset: dict[str, float]
    p_by_dataset: dict[str, float]
    rank_biserial: float

    @property
    def changes(self):
        """The changes alone."""
        return np.array(list(self.by_dataset.values()))

    @property
    def mean(self):
        """The mean change."""
        return float(self.changes.mean())

    @property
    def interval(self):
        """95 % for the mean change on data sets like these; unknown where there is one."""
        changes = self.changes
        if len(changes) < 2:
            return -np.inf, np.inf
        reach = stats.t.ppf(0.975, len(changes) - 1) * changes.std(ddof=1) / len(changes) ** 0.5
        return self.mean - reach, self.mean + reach

    @property
    def p_value(self):
        """Of no change on average, by a t-test over data sets."""
        changes = self.changes
        if len(changes) < 2 or not changes.any():
            return 1.0
        return float(stats.ttest_1samp(changes, 0).pvalue) if changes.std() else 0.0


class Study:
    """The finished cells, by data set, classifier and arm."""

    def __init__(self, folder=HERE):
        self.plans = {name: read_plan(HERE / f"{name}.toml") for name in PLANS}
        self.found = {name: cells.load(folder / f"{name}.csv") for name in PLANS}
        self._folds = defaultdict(dict)
        for cell in (cell for found in self.found.values() for cell in found):
            classifier, arm = cell["classifier"], cell["resampler"]
            if classifier.endswith(" unknown"):
                classifier, arm = classifier.removesuffix(" unknown"), "unknown"
            self._folds[cell["dataset"], classifier, arm][cell["fold"]] = cell["scores"]

    def values(self, place, metric):
        """Return a value for each fold, or None where one is missing."""
        folds = self._folds.get(place, {})
        if len(folds) < N_FOLDS:
            return None
        return np.array([folds[fold].get(metric, np.nan) for fold in range(N_FOLDS)])

    def whole(self, classifier):
        """Name the data sets on which a classifier has all arms; not all can have ``unknown``."""
        arms = {arm for *_, arm in self._folds} - {"unknown"}
        return [
            name
            for name in DATASETS
            if all(len(self._folds.get((name, classifier, arm), {})) == N_FOLDS for arm in arms)
        ]

    def effect(self, classifier, arm, metric, other="none"):
        """Compare two arms, fold by fold; None where no data set has both."""
        changes, p_values, pairs = {}, {}, []
        for name in self.whole(classifier):
            sides = [self.values((name, classifier, which), metric) for which in (other, arm)]
            if any(side is None for side in sides):
                continue
            known = ~np.isnan(sides).any(axis=0)
            if not known.any():
                continue
            before, after = (side[known] for side in sides)
            test = corrected_t_test(before, after, test_over_train=1 / (N_FOLDS - 1))
            changes[name], p_values[name] = test.difference, test.p_value
            pairs.append((before.mean(), after.mean()))
        if not changes:
            return None
        size = effect_sizes(*zip(*pairs, strict=True)).rank_biserial
        return Effect(changes, p_values, size)

    def added(self, name, arm):
        """Return how many rows an arm adds to a training part, on average."""
        for classifier in CLASSIFIERS:
            sizes = [
                self.values((name, classifier, arm), f"{when}.n_instances")
                for when in ("after", "before")
            ]
            if sizes[0] is not None:
                return float((sizes[0] - sizes[1]).mean())
        return np.nan


def save(store):
    """Write the files of cells, and what the counts of labels tell."""
    for name in PLANS:
        cells.save(str(HERE / f"{name}.toml"), store, HERE / f"{name}.csv")
    twins.count(store)


def page():
    """Write the tables and charts."""
    study = Study()
    text = [*progress(study), *doses(study), *tally(study), *twins_table()]
    for group, title in GROUPS.items():
        text += arms_table(study, f"{group}.macro_f1", f"Change of macro F1, {title}")
    for metric, title in (("macro_f1", "F1"), ("macro_auc_pr", "AUC-PR")):
        text += contrasts(study, f"minority.{metric}", f"minority {title}")
    for metric, title in (("ranking_loss", "ranking loss"), ("one_error", "one error")):
        text += arms_table(study, metric, f"Change of {title}; less is better")
    for arm in ("keep", "clone"):
        text += anatomy(study, arm)
    text += by_dataset(study)
    for classifier in ("BR", "HOMER", "LP"):
        text += plain(study, classifier)
    (GUIDE / "decoupling_tables.inc").write_text("\n".join(text) + "\n")
    for group in ("minority", "all"):
        chart(study, group, PICTURES / f"decoupling-{group}.svg")


def progress(study):
    """Say how much of the plans is done."""
    done = sum(map(len, study.found.values()))
    plans = study.plans.values()
    kinds = [(plan.datasets, plan.classifiers, plan.resamplers) for plan in plans]
    total = N_FOLDS * sum(len(d) * len(c) * len(r) for d, c, r in kinds)
    rows = []
    for classifier in CLASSIFIERS:
        whole = study.whole(classifier)
        rows.append((classifier, len(whole), ", ".join(whole) or "-"))
    yield f"The tables rest on {done:,} of {total:,} cells."
    yield ""
    yield from titled("Data sets that are whole", rst(("classifier", "number", "data sets"), rows))


def doses(study):
    """Tell how many rows there are to decouple, and how many are one-sided."""
    rows = []
    for name in DATASETS:
        keep, clone, empty = (study.added(name, arm) for arm in ("keep", "clone", "empty copies"))
        if np.isnan(keep):
            continue
        folds = study.values((name, "BR", "none"), "before.n_instances")
        scumble = study.values((name, "BR", "none"), "before.scumble").mean()
        counts = (folds.mean(), clone, keep, clone - keep, empty)
        rows.append((name, f"{scumble:.3f}", *(f"{count:,.0f}" for count in counts)))
    head = ("data set", "SCUMBLE", "rows", "above mean", "mixed", "one-sided", "empty copies")
    yield from titled("Rows of a training part, means over folds", rst(head, rows))


def tally(study):
    """Count the combinations of classifier and data set that an arm lowers, leaves and raises."""
    rows = []
    for arm in ARMS:
        texts = []
        for group in GROUPS:
            effects = [study.effect(name, arm, f"{group}.macro_f1") for name in CLASSIFIERS]
            changes = np.concatenate([[], *(e.changes for e in effects if e is not None)])
            falls, rises = (changes < 0).sum(), (changes > 0).sum()
            texts.append(f"{falls} / {len(changes) - falls - rises} / {rises}")
        rows.append((arm, *texts))
    title = "Combinations of classifier and data set whose macro F1 falls / stays / rises"
    yield from titled(title, rst(("arm", *GROUPS.values()), rows))


def twins_table():
    """Show F1 by the share of a label's rows that are split."""
    if not twins.OUT.exists():
        return
    with twins.OUT.open() as stream:
        found = {
            (row["classifier"], row["arm"], row["share"]): row for row in csv.DictReader(stream)
        }
    rows = []
    for classifier in CLASSIFIERS:
        for arm in ("none", "clone", "keep", "dealt labels", "whole copies", "unknown"):
            cells_here = [found.get((classifier, arm, share)) for share in twins.NAMES]
            if any(cells_here):
                texts = ["-" if cell is None else f"{float(cell['f1']):.3f}" for cell in cells_here]
                rows.append((classifier, arm, *texts))
    counted = [found.get(("BR", "none", share)) for share in twins.NAMES]
    texts = ["-" if cell is None else cell["labels"] for cell in counted]
    rows.append(("BR", "labels, all folds", *texts))
    title = "F1 of labels by the share of their rows that are mixed"
    yield from titled(title, rst(("classifier", "arm", *twins.NAMES), rows))


def arms_table(study, metric, title):
    """Show what each arm changes for each classifier, with intervals over data sets."""
    found = {
        (classifier, arm): study.effect(classifier, arm, metric)
        for classifier in CLASSIFIERS
        for arm in ARMS
    }
    known = {place: effect for place, effect in found.items() if effect is not None}
    adjusted = (
        dict(zip(known, holm([e.p_value for e in known.values()]), strict=True)) if known else {}
    )
    rows = []
    for classifier in CLASSIFIERS:
        texts = [
            told(known[classifier, arm], adjusted[classifier, arm])
            if (classifier, arm) in known
            else "-"
            for arm in ARMS
        ]
        sizes = [len(known[classifier, arm].changes) for arm in ARMS if (classifier, arm) in known]
        if sizes:
            rows.append((classifier, max(sizes), *texts))
    yield from titled(title, rst(("classifier", "sets", *ARMS), rows))


def told(effect, p_value):
    """Write a change with its interval; a star where it is told from chance in its table."""
    low, high = effect.interval
    star = "*" if p_value < 0.05 else ""
    if not np.isfinite(low):
        return f"{effect.mean:+.3f}"
    return f"{effect.mean:+.3f} [{low:+.3f} {high:+.3f}]{star}"


def contrasts(study, metric, title):
    """Hold decoupling against what shares its dose, and unknown labels against absent ones."""
    wanted = (
        ("keep", "dealt labels", CLASSIFIERS),
        ("keep", "empty copies", CLASSIFIERS),
        ("unknown", "keep", ("BR", "CLR")),
    )
    found = [
        (f"{arm} - {other}", classifier, effect)
        for arm, other, classifiers in wanted
        for classifier in classifiers
        if (effect := study.effect(classifier, arm, metric, other)) is not None
    ]
    adjusted = holm([effect.p_value for *_, effect in found]) if found else []
    rows = [
        (
            what, classifier, len(effect.changes), told(effect, p_value).rstrip("*"),
            f"{effect.rank_biserial:+.2f}", f"{p_value:.3f}",
        )
        for (what, classifier, effect), p_value in zip(found, adjusted, strict=True)
    ]  # fmt: skip
    head = ("arms", "classifier", "sets", title, "rank-biserial", "p (Holm)")
    yield from titled(f"Arms against each other, {title}", rst(head, rows))


def anatomy(study, arm):
    """Show what an arm does to precision, recall, F1, order and silence of each group."""
    rows = []
    for classifier in CLASSIFIERS:
        for group, title in GROUPS.items():
            found = [study.effect(classifier, arm, f"{group}.{metric}") for metric in METRICS]
            if any(effect is not None for effect in found):
                texts = ["-" if effect is None else f"{effect.mean:+.3f}" for effect in found]
                rows.append((classifier, title, *texts))
    head = ("classifier", "labels", *METRICS.values())
    yield from titled(f"What {arm} changes, means over data sets", rst(head, rows))


def by_dataset(study):
    """Count the data sets on which folds show a change for the minority labels."""
    places, p_values = [], []
    for classifier in CLASSIFIERS:
        for arm in ARMS:
            effect = study.effect(classifier, arm, "minority.macro_f1")
            for name, p_value in (effect.p_by_dataset if effect else {}).items():
                if not np.isnan(p_value):
                    places.append((classifier, arm, np.sign(effect.by_dataset[name])))
                    p_values.append(p_value)
    shown = holm(p_values) < 0.05 if p_values else []
    counted = defaultdict(lambda: [0, 0, 0])
    for (classifier, arm, sign), is_shown in zip(places, shown, strict=True):
        counted[classifier, arm][int(1 - sign) if is_shown else 1] += 1
    rows = [
        (
            classifier,
            *("-".join(map(str, counted[classifier, arm])) if (classifier, arm) in counted else "-"
              for arm in ARMS),
        )
        for classifier in CLASSIFIERS
        if any((classifier, arm) in counted for arm in ARMS)
    ]  # fmt: skip
    title = "Data sets on which minority F1 rises, cannot be told, and falls"
    yield from titled(title, rst(("classifier", *ARMS), rows))


def plain(study, classifier):
    """Show the minority F1 of a classifier, data set by data set."""
    rows = []
    for name in DATASETS:
        found = [
            study.values((name, classifier, arm), "minority.macro_f1") for arm in ("none", *ARMS)
        ]
        if any(values is not None for values in found):
            texts = ["-" if values is None else f"{np.nanmean(values):.3f}" for values in found]
            rows.append((name, *texts))
    title = f"Minority F1 of {classifier}, data set by data set"
    yield from titled(title, rst(("data set", "none", *ARMS), rows))


def chart(study, group, picture):
    """Draw the change by each arm for each classifier."""
    metric = f"{group}.macro_f1"
    shown = [name for name in CLASSIFIERS if study.effect(name, "keep", metric) is not None]
    series = {arm: [interval(study.effect(name, arm, metric)) for name in shown] for arm in ARMS}
    title = f"Change of macro F1, {GROUPS[group]}"
    save_plot(plot_intervals(shown, series, title=title), picture)


def interval(effect):
    """Return a mean and the ends of its interval; NaN where there is none."""
    known = effect is not None and len(effect.changes) > 1
    return (effect.mean, *effect.interval) if known else (np.nan,) * 3


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    {"save": save, "page": page}[what](*given)
