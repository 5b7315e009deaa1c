"""Compare the paper with runs of scumble: files of cells, the ledger, and the guide's tables.

``python experiments/paper_page.py save FOLDER`` writes ``experiments/paper/*.csv`` from the stores
``imbalance.db``, ``homer.db``, ``remedial.db``, ``seeds.db`` and ``variants.db`` of a folder;
``python experiments/paper_page.py page`` makes the ledger and the tables from these files
(``SCUMBLE_DATA`` is the folder of the data sets, for Table 1).
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from pathlib import Path
from statistics import fmean, stdev

import cells
from tables import rst, titled

from scumble.paper import ledger, published
from scumble.paper.audit import restore_displaced_value
from scumble.paper.claims import check_mulan_versions
from scumble.paper.ledger import (
    causes,
    compare_experiments,
    count_verdicts_by_table,
    resolve_metric_names,
    to_csv,
)
from scumble.paper.verdicts import CAUSES, METRIC_NAMES, VERDICTS, FoldMeans

HERE = Path(__file__).parent
FILES = HERE / "paper"
INCLUDED = HERE.parent / "docs" / "guide" / "paper_tables.inc"
#: Plan of each store, by the name of the store and of its file of cells.
PLANS = {
    **{name: name for name in ("imbalance", "homer", "remedial", "seeds")},
    "variants": str(HERE / "paper_variants.toml"),
}


def save(folder):
    """Write files of cells from the stores of a folder."""
    for name, plan in PLANS.items():
        store = Path(folder, f"{name}.db")
        if store.exists():
            cells.save(plan, store, FILES / f"{name}.csv")


def page():
    """Write the ledger and the tables."""
    all_cells = []
    for name, plan in PLANS.items():
        all_cells += cells.load(FILES / f"{name}.csv", plan)
    means = FoldMeans(all_cells)
    entries = ledger(all_cells)
    (FILES / "ledger.csv").write_text(to_csv(entries))
    text = [
        *progress(all_cells),
        *verdict_table(entries, means),
        *cause_table(entries),
        *classifier_table(entries),
        *mulan_version_table(means),
        *gain_table(means),
        *spread_table(means),
    ]
    INCLUDED.write_text("\n".join(text) + "\n")


def progress(all_cells):
    """Yield the table of finished data sets, and how many cells are done."""
    done = [cell for cell in all_cells if cell["state"] == "done"]
    total = sum(cells.plan_of(plan).n_cells for plan in PLANS.values())
    folds_of = {name: defaultdict(set) for name in published.CLASSIFIERS}
    for cell in done:
        if cell["resampler"] == "REMEDIAL" and cell["classifier"] in folds_of:
            folds_of[cell["classifier"]][cell["dataset"]].add((cell["seed"], cell["fold"]))
    rows = []
    for name in published.CLASSIFIERS:
        n_seeds = [len(folds) // 10 for folds in folds_of[name].values()]
        rows.append((name, sum(n >= 1 for n in n_seeds), sum(n >= 3 for n in n_seeds)))
    yield f"The tables rest on {len(done):,} cells; the plans have up to {total:,}, less what they"
    yield "leave out because it is too large."
    yield ""
    head = ("classifier", "data sets", "with three seeds")
    yield from titled("Data sets of the second phase that are done", rst(head, rows))


def verdict_table(entries, means):
    """Yield the table of verdicts by table, and by MULAN's rule for undefined values."""
    by_mulan = [entry for entry in entries if entry.table == 1]
    by_mulan += compare_experiments(means, rule="mulan")
    rows = [
        (str(number), *(counts[verdict] for verdict in VERDICTS))
        for number, counts in count_verdicts_by_table(entries).items()
    ]
    for title, group in (("together", entries), ("by MULAN's rule", by_mulan)):
        counts = Counter(entry.verdict for entry in group)
        rows.append((title, *(counts[verdict] for verdict in VERDICTS)))
    yield from titled("Verdicts", rst(("table", *VERDICTS), rows))


def cause_table(entries):
    """Yield the table of causes of differences."""
    rows = [(cause, *counts.values(), CAUSES[cause]) for cause, counts in causes(entries).items()]
    head = ("cause", *VERDICTS[:3], "what it means")
    yield from titled("Why numbers are not reproduced", rst(head, rows))


def classifier_table(entries):
    """Yield the table of verdicts on Tables 5 to 9 by classifier."""
    rows = []
    for name in published.CLASSIFIERS:
        computed = [
            entry
            for entry in entries
            if 5 <= entry.table <= 9 and f" {name} " in entry.item and entry.ours is not None
        ]
        counts = Counter(entry.verdict for entry in computed)
        n_unknown = sum(entry.cause == "unknown" for entry in computed)
        rows.append((name, len(computed), counts[VERDICTS[0]], counts[VERDICTS[1]], n_unknown))
    head = ("classifier", "numbers", VERDICTS[0], VERDICTS[1], "without a known cause")
    yield from titled("Tables 5 to 9 by classifier", rst(head, rows))


def mulan_version_table(means):
    """Yield the table of how many printed numbers each version of MULAN reproduces."""
    rows = [
        (claim.item, claim.published, claim.ours, claim.verdict)
        for claim in check_mulan_versions(means)
    ]
    head = ("what", "compared", "reached within two standard errors", "verdict")
    yield from titled("Which MULAN the numbers fit", rst(head, rows))


def gain_table(means):
    """Yield the table of how many data sets REMEDIAL improves, with the printed counts."""
    rows = []
    for metric in published.METRICS:
        for rule in ("fits", "mulan"):
            name = resolve_metric_names(means, rule)[metric]
            if rule == "mulan" and name == resolve_metric_names(means, "fits")[metric]:
                continue
            title = f"{metric}, {name}" if "." in name else metric
            texts = [
                gain_text(means, metric, classifier, name, with_printed=rule == "fits")
                for classifier in published.CLASSIFIERS
            ]
            rows.append((title if rule == "fits" else f"{metric}, MULAN's rule", *texts))
    head = ("metric", *published.CLASSIFIERS)
    title = "Data sets on which REMEDIAL improves a metric, of those run (printed, rows put back)"
    yield from titled(title, rst(head, rows))


def gain_text(means, metric, classifier, name, *, with_printed):
    """Return how many data sets improve by our numbers, of how many, and by the printed ones."""
    sign = 1 if published.HIGHER_IS_BETTER[metric] else -1
    n_improved = n_printed = n_pairs = 0
    for pair in map(restore_displaced_value, published.results()):
        before, after = means.result_means(pair, name)
        if (pair.measure, pair.method) == (metric, classifier) and None not in (before, after):
            n_pairs += 1
            n_improved += (after - before) * sign > 0
            n_printed += (pair.after - pair.before) * sign > 0
    if n_pairs == 0:
        return "-"
    brackets = f" ({n_printed})" if with_printed else ""
    return f"{n_improved} of {n_pairs}{brackets}"


def spread_table(means):
    """Yield the table of the spread of 2x5 means between seeds over their standard error."""
    rows = []
    for metric, name in METRIC_NAMES.items():
        ratios = []
        for pair in published.results():
            if pair.measure != metric:
                continue
            for arm in ("none", "REMEDIAL"):
                folds = means.values_by_fold(pair.dataset, arm, pair.method, name)
                seeds = sorted({seed for seed, _ in folds})
                if len(seeds) < 3:
                    continue
                by_seed = {seed: [] for seed in seeds}
                for (seed, _), value in folds.items():
                    by_seed[seed].append(value)
                error = fmean(map(stdev, by_seed.values())) / 10**0.5
                if error:
                    ratios.append(stdev(map(fmean, by_seed.values())) / error)
        if ratios:
            ratio = fmean(value**2 for value in ratios) ** 0.5
            rows.append((metric, len(ratios), f"{ratio:.2f}"))
    head = ("metric", "combinations", "between seeds / over folds")
    if rows:
        yield from titled("Spread of means over 2x5 folds", rst(head, rows))


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    {"save": save, "page": page}[command](*arguments)
