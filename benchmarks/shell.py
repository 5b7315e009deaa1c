"""From the shell, start of the process included: ``train`` then ``predict`` against WEKA's J48.

scumble runs two processes, J48 one Java machine that reads the same files, builds a tree for every
label and predicts with it. CPU seconds of all threads. Predictions differ at most where a leaf has
probability 0.5: MULAN and scumble assign the label then, WEKA does not.
"""

from __future__ import annotations

import csv
import statistics
from pathlib import Path

import numpy as np

from benchmarks._environments import FOLDER, core_python
from benchmarks._j48_oracle import ask_j48, oracle_python
from benchmarks._tools import dataset_path, no_python_variables, record, run
from scumble import read, write

TRAINED = {"yeast": 1500, "enron": 1123}  # rows of the standard split


def parts(name: str) -> tuple[Path, Path, list[str]] | None:
    """Write training and test rows as plain files, and name the labels."""
    path = dataset_path(name)
    if path is None:
        return None
    data, n_rows = read(path), TRAINED[name]
    paths = FOLDER / f"{name}-train.arff", FOLDER / f"{name}-test.arff"
    for part, rows in zip(paths, (data[:n_rows], data[n_rows:]), strict=True):
        write(rows, part, format="mulan")
    return *paths, list(data.labels)


def run_scumble(train: Path, test: Path) -> float:
    """Run the two commands; return their CPU seconds."""
    scumble = Path(core_python()).with_name("scumble")
    model, out = FOLDER / "shell.model", FOLDER / "shell.csv"
    commands = (
        [scumble, "train", train, model, "-c", "br"],
        [scumble, "predict", model, test, out],
    )
    return sum(run(command, env=no_python_variables()).cpu for command in commands)


def against(name: str, at_least: float, repeats: int) -> dict:
    """Compare one data set."""
    title = f"{name}: train and predict from the shell, J48 over scumble"
    python = oracle_python()
    if python is None:
        return {
            "name": title,
            "skipped": "needs Java and python-weka-wrapper3; set SCUMBLE_ORACLE_PYTHON",
        }
    try:
        core_python()
    except RuntimeError as error:
        return {"name": title, "skipped": f"no environment with the core alone: {error}"}
    result = parts(name)
    if result is None:
        return {"name": title, "skipped": "the reference data is absent; set SCUMBLE_SHARED"}
    train, test, labels = result
    run_scumble(train, test)  # the disk's cache
    rounds = []
    for _ in range(repeats):
        answer = ask_j48([{"train": str(train), "test": str(test), "labels": labels}], python)[0]
        rounds.append((run_scumble(train, test), answer["process_cpu_s"]))
    with (FOLDER / "shell.csv").open() as stream:
        predicted = np.array(list(csv.reader(stream))[1:], float).astype(int)
    n_other = int((predicted != np.array(answer["classes"]).T).sum())
    scumble_time, peer_time = map(statistics.median, zip(*rounds, strict=True))
    note = f"CPU seconds; {n_other} of {predicted.size} answers differ"
    return record(title, scumble_time, peer_time, at_least=at_least, note=note)


def yeast():
    return against("yeast", 0.8, repeats=3)


def enron():
    return against("enron", 15, repeats=1)


ALL = [yeast, enron]
