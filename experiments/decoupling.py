"""Tables and charts of the effects of decoupling, from the cells of ``decoupling*.csv``.

``python experiments/decoupling.py save decoupling.db`` writes these files and ``twins.csv`` from a
store; ``python experiments/decoupling.py page`` makes the tables and charts of the guide's page. A
combination of data set and classifier is included if all folds of all arms are done, so that arms
are compared on the same data sets.
"""

from __future__ import annotations

import csv
import itertools
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
    """The difference between two arms, over data sets."""

    by_dataset: dict[str, float]
    p_by_dataset: dict[str, float]
    rank_biserial: float

    @property
    def changes(self):
        """The changes of all data sets."""
        return np.array(list(self.by_dataset.values()))

    @property
    def mean(self):
        """The mean change."""
        return float(self.changes.mean())

    @property
    def interval(self):
        """The 95 % confidence interval of the mean change; infinite for a single data set."""
        changes = self.changes
        if len(changes) < 2:
            return -np.inf, np.inf
        error = changes.std(ddof=1) / len(changes) ** 0.5
        half_width = stats.t.ppf(0.975, len(changes) - 1) * error
        return self.mean - half_width, self.mean + half_width

    @property
    def p_value(self):
        """The p-value of no change on average, by a t-test over data sets."""
        changes = self.changes
        if len(changes) < 2 or not changes.any():
            return 1.0
        return float(stats.ttest_1samp(changes, 0).pvalue) if changes.std() else 0.0


class Study:
    """The finished cells, by data set, classifier and arm."""

    def __init__(self, folder=HERE):
        self.plans = {name: read_plan(HERE / f"{name}.toml") for name in PLANS}
        self.cells = []
        for name in PLANS:
            self.cells += cells.load(folder / f"{name}.csv")
        self._folds = defaultdict(dict)
        for cell in self.cells:
            classifier, arm = cell["classifier"], cell["resampler"]
            if classifier.endswith(" unknown"):
                classifier, arm = classifier.removesuffix(" unknown"), "unknown"
            self._folds[cell["dataset"], classifier, arm][cell["fold"]] = cell["scores"]

    def values(self, dataset, classifier, arm, metric):
        """Return the values of all folds, or None if a fold is missing."""
        folds = self._folds.get((dataset, classifier, arm), {})
        if len(folds) < N_FOLDS:
            return None
        return np.array([folds[fold].get(metric, np.nan) for fold in range(N_FOLDS)])

    def complete_datasets(self, classifier):
        """Return the data sets with all arms of a classifier; ``unknown`` is not required."""
        arms = {arm for *_, arm in self._folds} - {"unknown"}
        return [
            name
            for name in DATASETS
            if all(len(self._folds.get((name, classifier, arm), {})) == N_FOLDS for arm in arms)
        ]

    def effect(self, classifier, arm, metric, other="none"):
        """Return the difference between two arms, fold by fold; None if no data set has both."""
        changes, p_values, pairs = {}, {}, []
        for name in self.complete_datasets(classifier):
            before = self.values(name, classifier, other, metric)
            after = self.values(name, classifier, arm, metric)
            if before is None or after is None:
                continue
            is_defined = ~np.isnan(before) & ~np.isnan(after)
            if not is_defined.any():
                continue
            before, after = before[is_defined], after[is_defined]
            test = corrected_t_test(before, after, test_over_train=1 / (N_FOLDS - 1))
            changes[name], p_values[name] = test.difference, test.p_value
            pairs.append((before.mean(), after.mean()))
        if not changes:
            return None
        size = effect_sizes(*zip(*pairs, strict=True)).rank_biserial
        return Effect(by_dataset=changes, p_by_dataset=p_values, rank_biserial=size)

    def n_added(self, name, arm):
        """Return the mean number of rows that an arm adds to a training set."""
        for classifier in CLASSIFIERS:
            after = self.values(name, classifier, arm, "after.n_instances")
            before = self.values(name, classifier, arm, "before.n_instances")
            if after is not None:
                return float((after - before).mean())
        return np.nan


def save(store):
    """Write the files of cells, and the table of F1 by the share of mixed rows."""
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
        text += minority_f1_table(study, classifier)
    (GUIDE / "decoupling_tables.inc").write_text("\n".join(text) + "\n")
    for group in ("minority", "all"):
        chart(study, group, PICTURES / f"decoupling-{group}.svg")


def progress(study):
    """Yield the table of complete data sets, and how many cells are done."""
    n_combinations = sum(
        len(plan.datasets) * len(plan.classifiers) * len(plan.resamplers)
        for plan in study.plans.values()
    )
    n_planned = N_FOLDS * n_combinations
    rows = []
    for classifier in CLASSIFIERS:
        complete = study.complete_datasets(classifier)
        rows.append((classifier, len(complete), ", ".join(complete) or "-"))
    yield f"The tables rest on {len(study.cells):,} of {n_planned:,} cells."
    yield ""
    yield from titled("Data sets that are whole", rst(("classifier", "number", "data sets"), rows))


def doses(study):
    """Yield the table of the numbers of rows that are decoupled, and that are one-sided."""
    rows = []
    for name in DATASETS:
        keep = study.n_added(name, "keep")
        clone = study.n_added(name, "clone")
        empty = study.n_added(name, "empty copies")
        if np.isnan(keep):
            continue
        folds = study.values(name, "BR", "none", "before.n_instances")
        scumble = study.values(name, "BR", "none", "before.scumble").mean()
        counts = (folds.mean(), clone, keep, clone - keep, empty)
        rows.append((name, f"{scumble:.3f}", *(f"{count:,.0f}" for count in counts)))
    head = ("data set", "SCUMBLE", "rows", "above mean", "mixed", "one-sided", "empty copies")
    yield from titled("Rows of a training part, means over folds", rst(head, rows))


def tally(study):
    """Yield the table of how often macro F1 falls, stays and rises, by arm and label group."""
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
    """Yield the table of F1 by the share of a label's rows that are split."""
    if not twins.OUT.exists():
        return
    with twins.OUT.open() as stream:
        cell_of = {
            (row["classifier"], row["arm"], row["share"]): row for row in csv.DictReader(stream)
        }
    rows = []
    for classifier in CLASSIFIERS:
        for arm in ("none", "clone", "keep", "dealt labels", "whole copies", "unknown"):
            row = [cell_of.get((classifier, arm, share)) for share in twins.NAMES]
            if any(row):
                texts = ["-" if cell is None else f"{float(cell['f1']):.3f}" for cell in row]
                rows.append((classifier, arm, *texts))
    row = [cell_of.get(("BR", "none", share)) for share in twins.NAMES]
    texts = ["-" if cell is None else cell["labels"] for cell in row]
    rows.append(("BR", "labels, all folds", *texts))
    title = "F1 of labels by the share of their rows that are mixed"
    yield from titled(title, rst(("classifier", "arm", *twins.NAMES), rows))


def arms_table(study, metric, title):
    """Yield the table of the change by each arm for each classifier, with intervals."""
    effects = {}
    for classifier, arm in itertools.product(CLASSIFIERS, ARMS):
        effect = study.effect(classifier, arm, metric)
        if effect is not None:
            effects[classifier, arm] = effect
    p_values = holm([effect.p_value for effect in effects.values()]) if effects else []
    adjusted = dict(zip(effects, p_values, strict=True))
    rows = []
    for classifier in CLASSIFIERS:
        texts, sizes = [], []
        for arm in ARMS:
            if (classifier, arm) in effects:
                effect = effects[classifier, arm]
                texts.append(change_text(effect, adjusted[classifier, arm]))
                sizes.append(len(effect.changes))
            else:
                texts.append("-")
        if sizes:
            rows.append((classifier, max(sizes), *texts))
    yield from titled(title, rst(("classifier", "sets", *ARMS), rows))


def change_text(effect, p_value):
    """Return a change with its interval, and a star if it is significant."""
    low, high = effect.interval
    star = "*" if p_value < 0.05 else ""
    if not np.isfinite(low):
        return f"{effect.mean:+.3f}"
    return f"{effect.mean:+.3f} [{low:+.3f} {high:+.3f}]{star}"


def contrasts(study, metric, title):
    """Yield the table of decoupling against its controls, and of unknown against absent labels."""
    comparisons = (
        ("keep", "dealt labels", CLASSIFIERS),
        ("keep", "empty copies", CLASSIFIERS),
        ("unknown", "keep", ("BR", "CLR")),
    )
    effects = []
    for arm, other, classifiers in comparisons:
        for classifier in classifiers:
            effect = study.effect(classifier, arm, metric, other)
            if effect is not None:
                effects.append((f"{arm} - {other}", classifier, effect))
    p_values = holm([effect.p_value for *_, effect in effects]) if effects else []
    rows = []
    for (arms, classifier, effect), p_value in zip(effects, p_values, strict=True):
        rows.append(
            (
                arms,
                classifier,
                len(effect.changes),
                change_text(effect, p_value).rstrip("*"),
                f"{effect.rank_biserial:+.2f}",
                f"{p_value:.3f}",
            )
        )
    head = ("arms", "classifier", "sets", title, "rank-biserial", "p (Holm)")
    yield from titled(f"Arms against each other, {title}", rst(head, rows))


def anatomy(study, arm):
    """Yield the table of the changes of all metrics by an arm, for each label group."""
    rows = []
    for classifier in CLASSIFIERS:
        for group, title in GROUPS.items():
            effects = [study.effect(classifier, arm, f"{group}.{metric}") for metric in METRICS]
            if any(effect is not None for effect in effects):
                texts = ["-" if effect is None else f"{effect.mean:+.3f}" for effect in effects]
                rows.append((classifier, title, *texts))
    head = ("classifier", "labels", *METRICS.values())
    yield from titled(f"What {arm} changes, means over data sets", rst(head, rows))


def by_dataset(study):
    """Yield the table of how many data sets show a significant change for the minority labels."""
    signs, p_values = [], []
    for classifier, arm in itertools.product(CLASSIFIERS, ARMS):
        effect = study.effect(classifier, arm, "minority.macro_f1")
        for name, p_value in (effect.p_by_dataset if effect else {}).items():
            if not np.isnan(p_value):
                signs.append((classifier, arm, np.sign(effect.by_dataset[name])))
                p_values.append(p_value)
    are_significant = holm(p_values) < 0.05 if p_values else []
    counts = defaultdict(lambda: [0, 0, 0])  # rises, no significant change, falls
    for (classifier, arm, sign), is_significant in zip(signs, are_significant, strict=True):
        counts[classifier, arm][int(1 - sign) if is_significant else 1] += 1
    rows = []
    for classifier in CLASSIFIERS:
        if any((classifier, arm) in counts for arm in ARMS):
            texts = [
                "-".join(map(str, counts[classifier, arm])) if (classifier, arm) in counts else "-"
                for arm in ARMS
            ]
            rows.append((classifier, *texts))
    title = "Data sets on which minority F1 rises, cannot be told, and falls"
    yield from titled(title, rst(("classifier", *ARMS), rows))


def minority_f1_table(study, classifier):
    """Yield the table of the minority F1 of a classifier by data set and arm."""
    rows = []
    for name in DATASETS:
        values = [
            study.values(name, classifier, arm, "minority.macro_f1") for arm in ("none", *ARMS)
        ]
        if any(folds is not None for folds in values):
            texts = ["-" if folds is None else f"{np.nanmean(folds):.3f}" for folds in values]
            rows.append((name, *texts))
    title = f"Minority F1 of {classifier}, data set by data set"
    yield from titled(title, rst(("data set", "none", *ARMS), rows))


def chart(study, group, picture):
    """Draw the change by each arm for each classifier."""
    metric = f"{group}.macro_f1"
    names = [name for name in CLASSIFIERS if study.effect(name, "keep", metric) is not None]
    series = {
        arm: [mean_and_interval(study.effect(name, arm, metric)) for name in names] for arm in ARMS
    }
    title = f"Change of macro F1, {GROUPS[group]}"
    save_plot(plot_intervals(names, series, title=title), picture)


def mean_and_interval(effect):
    """Return a mean and the ends of its interval; NaN if it has none."""
    if effect is None or len(effect.changes) < 2:
        return np.nan, np.nan, np.nan
    return effect.mean, *effect.interval


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    {"save": save, "page": page}[command](*arguments)
