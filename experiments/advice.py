"""Compare what `advise` expects of methods with their results on rows that it has not seen.

``python experiments/advice.py run FOLDER`` divides every data set of ``rare.toml`` into four folds
by iterative stratification. On three of them all candidates are evaluated as `advise` does without
a budget; then they are fitted on these three and predict the fourth. Predictions are written to
FOLDER, a file per data set and fold; existing files are not computed again. The first folds of all
data sets are computed first, small data sets before large ones.

``python experiments/advice.py judge FOLDER advice.csv`` makes a table from FOLDER: one row per data
set, fold, candidate and metric. Nothing is fitted, so rules of selection and intervals can be
evaluated again in a moment.

``python experiments/advice.py page advice.csv docs/guide/advice_held.inc`` writes the summary for
the guide.

``python experiments/advice.py evidence advice.csv src/scumble/advice/evidence.csv`` writes the
results on these data sets that the package itself uses.
"""

from __future__ import annotations

import csv
import sys
import time
import traceback
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy import sparse
from tables import rst

from scumble.advice.advice import build_advice
from scumble.advice.candidates import CANDIDATES, CandidatePredictions, CandidateRunner
from scumble.advice.diagnosis import diagnose
from scumble.evaluate import evaluate, make_splitter
from scumble.experiment import read_plan
from scumble.experiment.parts import load_dataset
from scumble.learn.predictions import predict_with_scores
from scumble.measures import characterize

N_FOLDS = 4
SEED = 1
#: Nearly every label of this data set is solved: it is shown, but not part of any mean.
EXCLUDED = "genbase"
PLAN = Path(__file__).with_name("rare.toml")
TITLES = {"macro_f1": "macro F1", "minority_f1": "F1 of rare labels", "micro_f1": "micro F1"}
METRICS = {"macro_f1": "all.macro_f1", "minority_f1": "minority.macro_f1", "micro_f1": "micro_f1"}
COLUMNS = ("data", "fold", "method", "advised", "metric", "inner", "low", "high", "outer")
BY_NAME = {candidate.name: candidate for candidate in CANDIDATES}


def run(folder: Path) -> None:
    """Compute the predictions that are missing in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    datasets = [(part.label, load_dataset(part)) for part in read_plan(PLAN).datasets]
    datasets.sort(key=lambda item: work_of(item[1]))
    for fold in range(N_FOLDS):
        for name, data in datasets:
            path = folder / f"{name}-{fold}.npz"
            if not path.exists():
                started = time.perf_counter()
                arrays = predict(data, fold)
                with path.with_suffix(".part").open("wb") as stream:
                    np.savez_compressed(stream, **arrays)
                path.with_suffix(".part").rename(path)
                print(f"{name} {fold}: {time.perf_counter() - started:.1f} s", flush=True)


def work_of(data):
    """Return number of rows times features times labels."""
    return np.prod([*data.X.shape, data.n_labels], dtype=float)


def split(data, fold):
    """Return the training and test rows of a fold."""
    splitter = make_splitter(f"1x{N_FOLDS}", "iterative").set_params(random_state=SEED)
    return list(splitter.split(data.X, data.Y))[fold]


def predict(data, fold):
    """Return the predictions of all candidates within the training set, and on the test set."""
    train, test = split(data, fold)
    runner = CandidateRunner(data[train], SEED)
    runner.run_all()
    arrays = {f"failed {name}": np.array(reason) for name, reason in runner.left_out}
    for name, inner in runner.candidate_predictions.items():
        started = time.perf_counter()
        try:
            model = inner.candidate.fit(data[train], random_state=SEED)
            labels, _ = predict_with_scores(model, data[test].X, data.n_labels)
        except Exception:  # reported with the results; the other candidates continue
            arrays[f"failed {name}"] = np.array(traceback.format_exc())
            continue
        arrays[f"outer {name}"] = np.packbits(sparse.csr_array(labels).toarray().astype(bool))
        arrays[f"inner {name}"] = np.packbits(inner.predictions.toarray().astype(bool))
        arrays[f"seconds {name}"] = np.array([inner.seconds, time.perf_counter() - started])
    return arrays


def evaluate_folds(folder: Path, table: Path) -> None:
    """Write a table of expected and actual scores."""
    rows = []
    for part in read_plan(PLAN).datasets:
        data = load_dataset(part)
        for fold in range(N_FOLDS):
            path = folder / f"{part.label}-{fold}.npz"
            if path.exists():
                with np.load(path) as arrays:
                    rows += evaluate_fold(part.label, data, fold, arrays)
                    for key in arrays:
                        if key.startswith("failed "):
                            print(f"{part.label} {fold}, {key}: {arrays[key]}")
    with table.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            for key, value in row.items():
                if isinstance(value, float):
                    row[key] = round(value, 5)
            writer.writerow(row)


def evaluate_fold(name, data, fold, arrays):
    """Return the rows of one data set and fold."""
    train, test = split(data, fold)
    training, tested = data[train], data[test]
    methods = [method for method in BY_NAME if f"inner {method}" in arrays]
    predictions = {
        method: CandidatePredictions(
            candidate=BY_NAME[method],
            predictions=unpack(arrays[f"inner {method}"], training.Y.shape),
            scores=None,
            seconds=0,
        )
        for method in methods
    }
    advice = build_advice(
        CandidateRunner(training, SEED, candidate_predictions=predictions), diagnose(training)
    )
    rows = []
    for method in methods:
        labels = unpack(arrays[f"outer {method}"], tested.Y.shape)
        outer = evaluate(tested, labels, groups=("all", "minority"), training=training.Y)
        for metric, score_name in METRICS.items():
            inner, low, high = advice[method].expected[metric]
            rows.append(
                {
                    "data": name,
                    "fold": fold,
                    "method": method,
                    "advised": int(method == advice.selected),
                    "metric": metric,
                    "inner": inner,
                    "low": low,
                    "high": high,
                    "outer": float(outer[score_name]),
                }
            )
    return rows


def evidence(table: Path, out: Path) -> None:
    """Write SCUMBLE of every data set, and macro F1 of every method as the mean over folds."""
    scumbles = {p.label: characterize(load_dataset(p)).scumble for p in read_plan(PLAN).datasets}
    scores = defaultdict(list)
    with table.open() as stream:
        for row in csv.DictReader(stream):
            if row["metric"] == "macro_f1" and row["data"] != EXCLUDED:
                scores[row["data"], row["method"]].append(float(row["outer"]))
    lines = [
        f"{data},{scumbles[data]:.4f},{method},{np.mean(values):.4f}"
        for (data, method), values in scores.items()
    ]
    out.write_text("\n".join(["data,scumble,method,macro_f1", *lines]) + "\n")


def unpack(bits, shape):
    """Return predictions from their packed bits."""
    return sparse.csr_array(np.unpackbits(bits, count=np.prod(shape)).reshape(shape).astype(bool))


def page(table: Path, out: Path) -> None:
    """Write and print the summary for the guide."""
    with table.open() as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        row.update({name: float(row[name]) for name in ("inner", "low", "high", "outer")})
        row["advised"] = row["advised"] == "1"
    lines = list(summarize(rows))
    out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


def summarize(rows):
    """Yield the lines of the summary: errors of expectations, intervals, and advised methods."""
    included = [
        row for row in rows if row["data"] != EXCLUDED and not np.isnan(row["inner"] + row["outer"])
    ]
    sets = {row["data"] for row in included}
    folds = {(row["data"], row["fold"]) for row in included}
    yield (
        f"On {len(sets)} public data sets of up to 4,000 rows ``advise`` saw three of four folds, "
        f"without a budget, and was judged by the fourth ({len(folds)} times in all; "
        "``experiments/advice.py``)."
    )
    yield ""
    table = [figures(title, metric, included) for metric, title in TITLES.items()]
    table.append(figures("all three", None, included))
    head = (
        "", "correlation", "mean deviation", "mean difference", "intervals held", "of the advised",
    )  # fmt: skip
    yield from rst(head, table)
    yield ""
    yield from summarize_datasets([row for row in rows if row["metric"] == "macro_f1"])


def figures(title, metric, rows):
    """Return the row of one metric, or of all: agreement of expected and actual scores."""
    pairs = [row for row in rows if metric in (None, row["metric"])]
    inner = np.array([row["inner"] for row in pairs])
    outer = np.array([row["outer"] for row in pairs])
    advised = [row for row in pairs if row["advised"]]
    return (
        title,
        f"{np.corrcoef(inner, outer)[0, 1]:.3f}",
        f"{np.abs(inner - outer).mean():.3f}",
        f"{(inner - outer).mean():+.3f}",
        f"{interval_coverage(pairs):.1%} of {len(pairs):,}",
        f"{interval_coverage(advised):.1%} of {len(advised):,}",
    )


def interval_coverage(rows):
    """Return the share of intervals that contain the actual score."""
    return np.mean([row["low"] - 1e-9 <= row["outer"] <= row["high"] + 1e-9 for row in rows])


def summarize_datasets(rows):
    """Yield the comparison of the advised method with the untreated and the best one."""
    scores = defaultdict(lambda: defaultdict(list))
    advised_methods = defaultdict(list)
    for row in rows:
        scores[row["data"]][row["method"]].append(row["outer"])
        if row["advised"]:
            scores[row["data"]]["advised"].append(row["outer"])
            advised_methods[row["data"]].append(row["method"])
    gaps, losses, table = [], [], []
    for name in sorted(scores):
        means = {method: float(np.mean(values)) for method, values in scores[name].items()}
        advised = means.pop("advised")
        untreated = means["br"]
        best = max(means, key=means.get)
        methods = advised_methods[name]
        counts = ", ".join(f"{m} {methods.count(m)}x" for m in sorted(set(methods)))
        table.append(
            (name, counts, f"{advised:.3f}", f"{untreated:.3f}", best, f"{means[best]:.3f}")
        )
        if name != EXCLUDED:
            gaps.append(means[best] - advised)
        losses.append((untreated - advised, name))
    worst, worst_name = max(losses)
    yield (
        f"The advised method is within 0.015 macro F1 of the best candidate on "
        f"{sum(gap <= 0.015 for gap in gaps)} of {len(gaps)} data sets (at most {max(gaps):.3f} "
        f"behind). It is ahead of untreated trees on {sum(gap < 0 for gap, _ in losses)} of "
        f"{len(losses)}; the worst is {worst_name}, {abs(worst):.3f} "
        f"{'behind' if worst > 0 else 'ahead'}. {EXCLUDED}, where nearly every label is solved, "
        "counts in no other figure."
    )
    yield ""
    yield from rst(("data set", "advised", "macro F1", "untreated", "best", "its macro F1"), table)


if __name__ == "__main__":
    command, *paths = sys.argv[1:]
    functions = {"run": run, "judge": evaluate_folds, "evidence": evidence, "page": page}
    functions[command](*map(Path, paths))
