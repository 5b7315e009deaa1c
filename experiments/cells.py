"""Cells of a store as a small CSV file, and back.

``python experiments/cells.py save PLAN STORE FILE.csv`` keeps what tables need of finished cells
of a plan; ``restore PLAN FILE.csv STORE`` enters them into a store again, so that a run goes on
where the file ends (keys are made of the data: ``SCUMBLE_DATA`` must name its folder). PLAN is a
TOML file or a phase of the paper, such as ``remedial``.
"""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path

from scumble.experiment import Result, Store, plan_cells, read_plan
from scumble.paper import PHASES, phase

PLACE = ("dataset", "resampler", "classifier", "seed", "fold")
GROUPS = ("all", "minority", "difficult")
OF_LABELS = ("macro_precision", "macro_recall", "macro_f1", "macro_auc_pr", "never_predicted")
#: What is kept of a cell. (A store without ``never_predicted`` would be computed anew.)
SCORES = {
    "decoupling": (
        *(f"{group}.{name}" for group in GROUPS for name in OF_LABELS),
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
    """Name what is kept of the cells of a plan."""
    kind = "decoupling" if plan.name.startswith("decoupling") else "paper"
    return SCORES.get(plan.name, SCORES[kind])


def places_of(plan):
    """List the combinations of a plan in its order; ``where`` may rule some out."""
    kinds = (plan.datasets, plan.resamplers, plan.classifiers)
    datasets, resamplers, classifiers = ([part.label for part in kind] for kind in kinds)
    return [(d, r, c) for d in datasets for c in classifiers for r in resamplers]


def save(plan, store, out):
    """Write the finished cells of a plan."""
    plan = plan_of(plan)
    names = scores_of(plan)
    order = {place: at for at, place in enumerate(places_of(plan))}
    with Store(store, create=False) as opened:
        cells = [cell for cell in opened.cells() if cell["state"] == "done"]
    mine = [cell for cell in cells if _place(cell) in order and cell["seed"] in plan.seeds]
    mine.sort(key=lambda cell: (order[_place(cell)], cell["seed"], cell["fold"]))
    with Path(out).open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow((*PLACE, *names))
        for cell in mine:
            values = (_text(cell["scores"].get(name, math.nan)) for name in names)
            writer.writerow((*(cell[name] for name in PLACE), *values))
    print(f"{out}: {len(mine)} cells; the plan has up to {plan.n_cells}")


def load(path, plan=None):
    """Read a file of cells as a store would give them; an absent file has none.

    With a plan, folds that are missing beside others are there as pending ones.
    """
    if not Path(path).exists():
        return []
    with Path(path).open() as stream:
        found = [_cell(row) for row in csv.DictReader(stream)]
    if plan is None:
        return found
    begun = {(*_place(cell), cell["seed"]) for cell in found}
    known = {cell["key"] for cell in found}
    keys = ((*place, fold) for place in begun for fold in range(plan_of(plan).n_folds))
    return found + [_pending(key) for key in keys if key not in known]


def restore(plan, source, store):
    """Enter the cells of a file into a store."""
    with Store(store) as opened:
        cells = plan_cells(plan_of(plan), opened)
        labels = ("dataset", "resampler", "classifier")
        by_place = {
            (*(getattr(cell, name).label for name in labels), cell.seed, cell.fold): cell.key
            for cell in cells
        }
        opened.add(cells)
        opened.register()
        found = [
            (by_place[(*_place(cell), cell["seed"], cell["fold"])], cell) for cell in load(source)
        ]
        entered = [cell for key, cell in found if _enter(opened, key, cell["scores"])]
    print(f"{store}: {len(entered)} of {len(cells)} cells entered")


def _enter(store, key, scores):
    """Enter one cell; one that the store has already stays as it is."""
    claimed = store.claim([key]) is not None
    return claimed and store.finish(key, Result(scores), seconds=0.0, megabytes=None)


def _place(cell):
    return cell["dataset"], cell["resampler"], cell["classifier"]


def _cell(row):
    place = {name: int(row[name]) if name in ("seed", "fold") else row[name] for name in PLACE}
    scores = {name: float(text or "nan") for name, text in row.items() if name not in PLACE}
    return {**place, "state": "done", "scores": scores, "key": tuple(place.values())}


def _pending(key):
    return {**dict(zip(PLACE, key, strict=True)), "state": "pending", "scores": {}, "key": key}


def _text(value):
    """Write five digits, and nothing where there is no value."""
    return "" if math.isnan(value) else f"{value:.5g}" if abs(value) < 1e4 else f"{value:.0f}"


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    {"save": save, "restore": restore}[what](*given)
