"""Write the cells of a store to a small CSV file, and restore them from it.

``python experiments/cells.py save PLAN STORE FILE.csv`` writes what tables need of the finished
cells of a plan; ``restore PLAN FILE.csv STORE`` adds them to a store again, so that a run continues
after them (keys are computed from the data: ``SCUMBLE_DATA`` must name its folder). PLAN is a TOML
file or a phase of the paper, such as ``remedial``.
"""

from __future__ import annotations

import csv
import itertools
import math
import sys
from pathlib import Path

from scumble.experiment import Result, Store, plan_cells, read_plan
from scumble.paper import PHASES, phase

#: Columns that identify a cell.
KEY_COLUMNS = ("dataset", "resampler", "classifier", "seed", "fold")
GROUPS = ("all", "minority", "difficult")
GROUP_METRICS = ("macro_precision", "macro_recall", "macro_f1", "macro_auc_pr", "never_predicted")
#: Scores that are written. (Without ``never_predicted`` the cells would be computed again.)
SCORES = {
    "decoupling": (
        *(f"{group}.{name}" for group, name in itertools.product(GROUPS, GROUP_METRICS)),
        "never_predicted", "micro_f1", "one_error", "ranking_loss",
        "before.n_instances", "after.n_instances", "before.scumble",
    ),
    "paper": (
        "hamming_loss", "precision", "ignore.precision", "macro_f1", "ignore.macro_f1",
        "hits.macro_f1", "one_error", "ranking_loss", "f1", "hits.f1", "micro_f1",
    ),
    "imbalance": (
        "before.max_ir", "after.max_ir", "before.mean_ir_zero", "after.mean_ir_zero",
    ),
}  # fmt: skip


def plan_of(name):
    """Return a phase of the paper, or the plan of a file."""
    return phase(name) if name in PHASES else read_plan(name)


def scores_of(plan):
    """Return the names of the scores that are written for the cells of a plan."""
    default = "decoupling" if plan.name.startswith("decoupling") else "paper"
    return SCORES.get(plan.name, SCORES[default])


def combinations_of(plan):
    """Return the combinations of a plan in its order, including those that ``where`` leaves out."""
    combinations = itertools.product(plan.datasets, plan.classifiers, plan.resamplers)
    return [
        (dataset.label, resampler.label, classifier.label)
        for dataset, classifier, resampler in combinations
    ]


def save(plan, store, out):
    """Write the finished cells of a plan to a file."""
    plan = plan_of(plan)
    names = scores_of(plan)
    order = {combination: index for index, combination in enumerate(combinations_of(plan))}
    with Store(store, create=False) as opened:
        cells = [
            cell
            for cell in opened.cells()
            if cell["state"] == "done"
            and _combination(cell) in order
            and cell["seed"] in plan.seeds
        ]
    cells.sort(key=lambda cell: (order[_combination(cell)], cell["seed"], cell["fold"]))
    with Path(out).open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow((*KEY_COLUMNS, *names))
        for cell in cells:
            values = (_score_text(cell["scores"].get(name, math.nan)) for name in names)
            writer.writerow((*(cell[name] for name in KEY_COLUMNS), *values))
    print(f"{out}: {len(cells)} cells; the plan has up to {plan.n_cells}")


def load(path, plan=None):
    """Return the cells of a file as a store would; none if there is no file.

    With a plan, the missing folds of a combination that has others are included as pending.
    """
    if not Path(path).exists():
        return []
    with Path(path).open() as stream:
        done = [_cell_of_row(row) for row in csv.DictReader(stream)]
    if plan is None:
        return done
    repetitions = {(*_combination(cell), cell["seed"]) for cell in done}
    done_keys = {cell["key"] for cell in done}
    pending = []
    for repetition, fold in itertools.product(repetitions, range(plan_of(plan).n_folds)):
        if (*repetition, fold) not in done_keys:
            pending.append(_pending_cell((*repetition, fold)))
    return done + pending


def restore(plan, source, store):
    """Add the cells of a file to a store."""
    with Store(store) as opened:
        cells = plan_cells(plan_of(plan), opened)
        key_of = {}
        for cell in cells:
            combination = (cell.dataset.label, cell.resampler.label, cell.classifier.label)
            key_of[*combination, cell.seed, cell.fold] = cell.key
        opened.add(cells)
        opened.register()
        n_added = sum(
            _add_result(opened, key_of[*_combination(cell), cell["seed"], cell["fold"]], cell)
            for cell in load(source)
        )
    print(f"{store}: {n_added} of {len(cells)} cells entered")


def _add_result(store, key, cell):
    """Add the scores of a cell; return False if the store has a result already."""
    is_claimed = store.claim([key]) is not None
    return is_claimed and store.finish(key, Result(cell["scores"]), seconds=0.0, megabytes=None)


def _combination(cell):
    """Return data set, resampler and classifier of a cell."""
    return cell["dataset"], cell["resampler"], cell["classifier"]


def _cell_of_row(row):
    """Return the finished cell of a row of a file."""
    cell = {}
    for name in KEY_COLUMNS:
        cell[name] = int(row[name]) if name in ("seed", "fold") else row[name]
    key = tuple(cell.values())
    scores = {name: float(text or "nan") for name, text in row.items() if name not in KEY_COLUMNS}
    return {**cell, "state": "done", "scores": scores, "key": key}


def _pending_cell(key):
    """Return a pending cell."""
    values = dict(zip(KEY_COLUMNS, key, strict=True))
    return {**values, "state": "pending", "scores": {}, "key": key}


def _score_text(value):
    """Return a score with five digits; an empty text if it is undefined."""
    if math.isnan(value):
        return ""
    return f"{value:.5g}" if abs(value) < 1e4 else f"{value:.0f}"


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    {"save": save, "restore": restore}[command](*arguments)
