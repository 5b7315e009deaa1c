"""Cells that cost milliseconds, and ones that misbehave."""

import os
import signal
import time
from dataclasses import replace

from scumble.experiment import Cell, Component, Result

#: Seconds that no limit is late by, on however busy a machine.
FOR_EVER = 1200.0


def make_cells(n, *, classifier="toy", **limits):
    parts = Component("toy data"), Component("none"), Component(classifier), Component("folds")
    return [Cell(*parts, seed=7, fold=fold, dataset_checksum="abc", **limits) for fold in range(n)]


def quick(cell):
    """A number that depends on the cell alone, after two milliseconds."""
    time.sleep(0.002)
    seed = cell.seed_for("classifier")
    return Result({"score": seed / 2**31, "fold": float(cell.fold)}, {"seed": seed})


def instant(cell):
    return Result({"score": cell.seed_for("classifier") / 2**31})


def logged(cell):
    """Leave a trace of every computation in the file TOY_LOG names."""
    with open(os.environ["TOY_LOG"], "a") as stream:
        stream.write(f"{cell.key}\n")
    time.sleep(0.01)
    return instant(cell)


def troubled_cells(n):
    """Cells for `troubled`; only the one that sleeps has little time, on however slow a machine."""
    cells = make_cells(n, seconds=FOR_EVER / 2, megabytes=300.0)
    cells[3] = replace(cells[3], seconds=1.0)
    return cells


def troubled(cell):
    """Fold 1 raises, 2 dies, 3 sleeps, 4 eats memory, 5 prints; the others are fine."""
    if cell.fold == 1:
        raise ValueError("no such luck")
    if cell.fold == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    if cell.fold == 3:
        time.sleep(FOR_EVER)
    if cell.fold == 4:
        held = bytearray(400 << 20)
        time.sleep(FOR_EVER)
        del held
    if cell.fold == 5:
        print("noise on standard output")
    return instant(cell)


def slow_then_logged(cell):
    time.sleep(0.2)
    return logged(cell)
