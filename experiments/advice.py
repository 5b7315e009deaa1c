"""Does advice hold? What `advise` expects of methods beside what they do on rows it never saw.

``python experiments/advice.py run FOLDER`` deals every data set of ``rare.toml`` into four folds by
iterative stratification. On three of them all candidates are tried as `advise` does without a
budget; trained on these three, they predict the fourth. Predictions go to FOLDER, a file for each
data set and fold; what is there already is not done again. The first folds of all data sets come
first, the smallest sets before the others.

``python experiments/advice.py judge FOLDER advice.csv`` makes a table from FOLDER: one row for each
data set, fold, candidate and metric. Nothing is trained, so that rules of choosing and intervals
can be judged again in a moment.

``python experiments/advice.py page advice.csv docs/guide/advice_held.inc`` says what it shows.

``python experiments/advice.py evidence advice.csv src/scumble/advice/evidence.csv`` keeps what the
package itself tells of these data sets.
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
#: Nearly every label of it is solved: it stands beside the others, in no mean.
ASIDE = "genbase"
PLAN = Path(__file__).with_name("rare.toml")
TITLES = {"macro_f1": "macro F1", "minority_f1": "F1 of rare labels", "micro_f1": "micro F1"}
METRICS = {"macro_f1": "all.macro_f1", "minority_f1": "minority.macro_f1", "micro_f1": "micro_f1"}
COLUMNS = ("data", "fold", "method", "advised", "metric", "inner", "low", "high", "outer")
BY_NAME = {candidate.name: candidate for candidate in CANDIDATES}


def run(folder: Path) -> None:
    """Predict, inside and outside, whatever is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    data = [(part.label, load_dataset(part)) for part in read_plan(PLAN).datasets]
    data.sort(key=lambda one: np.prod([*one[1].X.shape, one[1].n_labels], dtype=float))
    for fold in range(N_FOLDS):
        for name, rows in data:
            path = folder / f"{name}-{fold}.npz"
            if not path.exists():
                began = time.perf_counter()
                found = predict(rows, fold)
                with path.with_suffix(".part").open("wb") as stream:
                    np.savez_compressed(stream, **found)
                path.with_suffix(".part").rename(path)
                print(f"{name} {fold}: {time.perf_counter() - began:.1f} s", flush=True)


def split(data, fold):
    """Return the rows to advise on and those to judge by."""
    splitter = make_splitter(f"1x{N_FOLDS}", "iterative").set_params(random_state=SEED)
    return list(splitter.split(data.X, data.Y))[fold]


def predict(data, fold):
    """Try all candidates inside the training part, then train them on it and ask for the rest."""
    train, test = split(data, fold)
    trials = CandidateRunner(data[train], SEED).try_all()
    found = {f"failed {name}": np.array(why) for name, why in trials.left_out}
    for name, one in trials.candidate_predictions.items():
        began = time.perf_counter()
        try:
            model = one.candidate.fit(data[train], random_state=SEED)
            said, _ = predict_with_scores(model, data[test].X, data.n_labels)
        except Exception:  # one that fails must not end the others: it is told in the tables
            found[f"failed {name}"] = np.array(traceback.format_exc())
            continue
        found[f"outer {name}"] = np.packbits(sparse.csr_array(said).toarray().astype(bool))
        found[f"inner {name}"] = np.packbits(one.predictions.toarray().astype(bool))
        found[f"seconds {name}"] = np.array([one.seconds, time.perf_counter() - began])
    return found


def judge(folder: Path, table: Path) -> None:
    """Hold what was expected against what came."""
    rows = []
    for part in read_plan(PLAN).datasets:
        data = load_dataset(part)
        for fold in range(N_FOLDS):
            path = folder / f"{part.label}-{fold}.npz"
            if path.exists():
                with np.load(path) as found:
                    rows += judge_fold(part.label, data, fold, found)
                    for key in found:
                        if key.startswith("failed "):
                            print(f"{part.label} {fold}, {key}: {found[key]}")
    with table.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {k: round(v, 5) if isinstance(v, float) else v for k, v in row.items()} for row in rows
        )


def judge_fold(name, data, fold, found):
    """Return the rows of one data set and fold."""
    train, test = split(data, fold)
    training, tested = data[train], data[test]
    known = [method for method in BY_NAME if f"inner {method}" in found]
    tried = {
        method: CandidatePredictions(
            BY_NAME[method], unpack(found[f"inner {method}"], training.Y.shape), None, 0
        )
        for method in known
    }
    advice = build_advice(
        CandidateRunner(training, SEED, candidate_predictions=tried), diagnose(training)
    )
    rows = []
    for method in known:
        said = unpack(found[f"outer {method}"], tested.Y.shape)
        outer = evaluate(tested, said, groups=("all", "minority"), training=training.Y)
        for metric, theirs in METRICS.items():
            inner = advice[method].expected[metric]
            place = (name, fold, method, int(method == advice.chosen), metric)
            rows.append(dict(zip(COLUMNS, (*place, *inner, float(outer[theirs])), strict=True)))
    return rows


def evidence(table: Path, out: Path) -> None:
    """Keep SCUMBLE of every data set, and macro F1 of every method, a mean over folds."""
    scumbles = {p.label: characterize(load_dataset(p)).scumble for p in read_plan(PLAN).datasets}
    found = defaultdict(list)
    with table.open() as stream:
        for row in csv.DictReader(stream):
            if row["metric"] == "macro_f1" and row["data"] != ASIDE:
                found[row["data"], row["method"]].append(float(row["outer"]))
    lines = [
        f"{data},{scumbles[data]:.4f},{method},{np.mean(values):.4f}"
        for (data, method), values in found.items()
    ]
    out.write_text("\n".join(["data,scumble,method,macro_f1", *lines]) + "\n")


def unpack(bits, shape):
    """Return predictions as they were."""
    return sparse.csr_array(np.unpackbits(bits, count=np.prod(shape)).reshape(shape).astype(bool))


def page(table: Path, out: Path) -> None:
    """Say what was to be shown, and by how much."""
    with table.open() as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        row.update({name: float(row[name]) for name in ("inner", "low", "high", "outer")})
        row["advised"] = row["advised"] == "1"
    lines = list(tell(rows))
    out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


def tell(rows):
    """Say how near expectations came, how often intervals held, and what was chosen."""
    own = [
        row for row in rows if row["data"] != ASIDE and not np.isnan(row["inner"] + row["outer"])
    ]
    sets, folds = {row["data"] for row in own}, {(row["data"], row["fold"]) for row in own}
    yield (
        f"On {len(sets)} public data sets of up to 4,000 rows ``advise`` saw three of four folds, "
        f"without a budget, and was judged by the fourth ({len(folds)} times in all; "
        "``experiments/advice.py``)."
    )
    yield ""
    rows_told = [figures(title, metric, own) for metric, title in TITLES.items()]
    rows_told.append(figures("all three", None, own))
    head = (
        "", "correlation", "mean deviation", "mean difference", "intervals held", "of the advised",
    )  # fmt: skip
    yield from rst(head, rows_told)
    yield ""
    yield from tell_sets([row for row in rows if row["metric"] == "macro_f1"])


def figures(title, metric, rows):
    """Compare what was expected with what came, for one metric or all."""
    pairs = [row for row in rows if metric in (None, row["metric"])]
    inner, outer = (np.array([row[side] for row in pairs]) for side in ("inner", "outer"))
    advised = [row for row in pairs if row["advised"]]
    return (
        title,
        f"{np.corrcoef(inner, outer)[0, 1]:.3f}",
        f"{np.abs(inner - outer).mean():.3f}",
        f"{(inner - outer).mean():+.3f}",
        f"{holds(pairs):.1%} of {len(pairs):,}",
        f"{holds(advised):.1%} of {len(advised):,}",
    )


def holds(rows):
    """Return the share of intervals that hold."""
    return np.mean([row["low"] - 1e-9 <= row["outer"] <= row["high"] + 1e-9 for row in rows])


def tell_sets(rows):
    """Compare the advised method with the untreated one and with the best, set by set."""
    sums = defaultdict(lambda: defaultdict(list))
    chosen = defaultdict(list)
    for row in rows:
        sums[row["data"]][row["method"]].append(row["outer"])
        if row["advised"]:
            sums[row["data"]]["advised"].append(row["outer"])
            chosen[row["data"]].append(row["method"])
    near, lost, table = [], [], []
    for name in sorted(sums):
        means = {method: float(np.mean(values)) for method, values in sums[name].items()}
        advised, untreated = means.pop("advised"), means["br"]
        best = max(means, key=means.get)
        taken = ", ".join(f"{m} {chosen[name].count(m)}x" for m in sorted(set(chosen[name])))
        told = (f"{advised:.3f}", f"{untreated:.3f}", best, f"{means[best]:.3f}")
        table.append((name, taken, *told))
        if name != ASIDE:
            near.append(means[best] - advised)
        lost.append((untreated - advised, name))
    worst, where = max(lost)
    yield (
        f"The advised method is within 0.015 macro F1 of the best candidate on "
        f"{sum(gap <= 0.015 for gap in near)} of {len(near)} data sets (at most {max(near):.3f} "
        f"behind). It is ahead of untreated trees on {sum(gap < 0 for gap, _ in lost)} of "
        f"{len(lost)}; the worst is {where}, {abs(worst):.3f} "
        f"{'behind' if worst > 0 else 'ahead'}. {ASIDE}, where nearly every label is solved, "
        "counts in no other figure."
    )
    yield ""
    yield from rst(("data set", "advised", "macro F1", "untreated", "best", "its macro F1"), table)


if __name__ == "__main__":
    what, *paths = sys.argv[1:]
    {"run": run, "judge": judge, "evidence": evidence, "page": page}[what](*map(Path, paths))
