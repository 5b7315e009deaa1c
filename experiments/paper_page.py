"""The paper beside our runs: files of cells, the ledger, and the tables of the guide's page.

``python compare_experiments/paper_page.py save FOLDER`` writes ``compare_experiments/paper/*.csv`` from the stores
``imbalance.db``, ``homer.db``, ``remedial.db``, ``seeds.db`` and ``variants.db`` of a folder;
``python compare_experiments/paper_page.py page`` makes the ledger and the tables from these files
(``SCUMBLE_DATA`` names the data sets, for Table 1).
"""

from __future__ import annotations

import sys
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
#: Name of a store and its file -> plan.
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
    found = [
        cell for name, plan in PLANS.items() for cell in cells.load(FILES / f"{name}.csv", plan)
    ]
    means, entries = FoldMeans(found), ledger(found)
    (FILES / "ledger.csv").write_text(to_csv(entries))
    text = [
        *progress(found),
        *verdicts(entries, means),
        *reasons(entries),
        *by_classifier(entries),
        *histories(means),
        *gains(means),
        *spread(means),
    ]
    INCLUDED.write_text("\n".join(text) + "\n")


def progress(found):
    """Say how much of the plans was run."""
    done = [cell for cell in found if cell["state"] == "done"]
    total = sum(cells.plan_of(plan).n_cells for plan in PLANS.values())
    sets = {}
    for cell in done:
        if cell["resampler"] == "REMEDIAL" and cell["classifier"] in published.CLASSIFIERS:
            sets.setdefault(cell["classifier"], {}).setdefault(cell["dataset"], set()).add(
                (cell["seed"], cell["fold"])
            )
    rows = []
    for name in published.CLASSIFIERS:
        counts = [len(folds) // 10 for folds in sets.get(name, {}).values()]
        rows.append((name, sum(n >= 1 for n in counts), sum(n >= 3 for n in counts)))
    yield f"The tables rest on {len(done):,} cells; the plans have up to {total:,}, less what they"
    yield "leave out because it is too large."
    yield ""
    head = ("classifier", "data sets", "with three seeds")
    yield from titled("Data sets of the second phase that are done", rst(head, rows))


def verdicts(entries, means):
    """Count verdicts table by table, and by MULAN's rule for undefined values."""
    by_mulan = [entry for entry in entries if entry.table == 1]
    by_mulan += compare_experiments(means, rule="mulan")
    rows = [
        (str(n), *(row[v] for v in VERDICTS)) for n, row in count_verdicts_by_table(entries).items()
    ]
    for what, some in (("together", entries), ("by MULAN's rule", by_mulan)):
        rows.append((what, *(sum(e.verdict == v for e in some) for v in VERDICTS)))
    yield from titled("Verdicts", rst(("table", *VERDICTS), rows))


def reasons(entries):
    """Count causes."""
    rows = [(cause, *row.values(), CAUSES[cause]) for cause, row in causes(entries).items()]
    head = ("cause", *VERDICTS[:3], "what it means")
    yield from titled("Why numbers are not reproduced", rst(head, rows))


def by_classifier(entries):
    """Count how many of the numbers of Tables 5 to 9 are reproduced, classifier by classifier."""
    rows = []
    for name in published.CLASSIFIERS:
        mine = [e for e in entries if 5 <= e.table <= 9 and f" {name} " in e.item]
        known = [e for e in mine if e.ours is not None]
        near = [e for e in known if e.verdict == VERDICTS[0]]
        same = [e for e in known if e.verdict == VERDICTS[1]]
        unknown = [e for e in known if e.cause == "unknown"]
        rows.append((name, len(known), len(near), len(same), len(unknown)))
    head = ("classifier", "numbers", VERDICTS[0], VERDICTS[1], "without a known cause")
    yield from titled("Tables 5 to 9 by classifier", rst(head, rows))


def histories(means):
    """Show which versions reach how many printed numbers."""
    rows = [(one.item, one.published, one.ours, one.verdict) for one in check_mulan_versions(means)]
    head = ("what", "compared", "reached within two standard errors", "verdict")
    yield from titled("Which MULAN the numbers fit", rst(head, rows))


def gains(means):
    """Count the data sets on which REMEDIAL improves a metric, with the printed count."""
    rows = []
    for metric in published.METRICS:
        for rule in ("fits", "mulan"):
            name = resolve_metric_names(means, rule)[metric]
            if rule == "mulan" and name == resolve_metric_names(means, "fits")[metric]:
                continue
            title = f"{metric}, {name}" if "." in name else metric
            texts = [
                counted(means, metric, classifier, name, rule)
                for classifier in published.CLASSIFIERS
            ]
            rows.append((title if rule == "fits" else f"{metric}, MULAN's rule", *texts))
    head = ("metric", *published.CLASSIFIERS)
    title = "Data sets on which REMEDIAL improves a metric, of those run (printed, rows put back)"
    yield from titled(title, rst(head, rows))


def counted(means, metric, classifier, name, rule):
    """Say how often ours improves, of how many, and how often the printed numbers do there."""
    sign = 1 if published.HIGHER_IS_BETTER[metric] else -1
    ours = printed = n_pairs = 0
    for pair in map(restore_displaced_value, published.results()):
        before, after = means.result_means(pair, name)
        if (pair.measure, pair.method) == (metric, classifier) and None not in (before, after):
            n_pairs += 1
            ours += (after - before) * sign > 0
            printed += (pair.after - pair.before) * sign > 0
    brackets = f" ({printed})" if rule == "fits" else ""
    return f"{ours} of {n_pairs}{brackets}" if n_pairs else "-"


def spread(means):
    """Hold the spread of 2x5 means between seeds against the standard error over folds."""
    rows = []
    for metric, name in METRIC_NAMES.items():
        ratios = []
        for pair in published.results():
            if pair.measure != metric:
                continue
            for arm in ("none", "REMEDIAL"):
                folds = means.folds(pair.dataset, arm, pair.method, name)
                seeds = sorted({seed for seed, _ in folds})
                if len(seeds) < 3:
                    continue
                parts = [[v for (s, _), v in folds.items() if s == seed] for seed in seeds]
                error = fmean(stdev(part) for part in parts) / 10**0.5
                if error:
                    ratios.append(stdev(map(fmean, parts)) / error)
        if ratios:
            ratio = fmean(one**2 for one in ratios) ** 0.5
            rows.append((metric, len(ratios), f"{ratio:.2f}"))
    head = ("metric", "combinations", "between seeds / over folds")
    if rows:
        yield from titled("Spread of means over 2x5 folds", rst(head, rows))


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    {"save": save, "page": page}[what](*given)
