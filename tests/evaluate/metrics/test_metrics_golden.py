"""Metrics against MULAN's and mldr's numbers, and against scikit-learn's where they agree."""

import csv
import json
import lzma
import math

import numpy as np
import pytest
from sklearn import metrics as sk

import scumble
from scumble import evaluate

#: Names in MULAN (snapshot 43f6389 of 1.5.0 and later) and here.
MULAN = {
    "Hamming Loss": "hamming_loss",
    "Subset Accuracy": "subset_accuracy",
    "Example-Based Precision": "precision",
    "Example-Based Recall": "recall",
    "Example-Based F Measure": "f1",
    "Example-Based Accuracy": "accuracy",
    "Example-Based Specificity": "specificity",
    "Micro-averaged Precision": "micro_precision",
    "Micro-averaged Recall": "micro_recall",
    "Micro-averaged F-Measure": "micro_f1",
    "Micro-averaged Specificity": "micro_specificity",
    "Macro-averaged Precision": "macro_precision",
    "Macro-averaged Recall": "macro_recall",
    "Macro-averaged F-Measure": "macro_f1",
    "Macro-averaged Specificity": "macro_specificity",
    "Average Precision": "average_precision",
    "Coverage": "coverage",
    "OneError": "one_error",
    "IsError": "is_error",
    "ErrorSetSize": "error_set_size",
    "Ranking Loss": "ranking_loss",
    "Mean Average Precision": "mean_average_precision",
    "Geometric Mean Average Precision": "geometric_mean_average_precision",
    "Mean Average Interpolated Precision": "mean_average_interpolated_precision",
    "Geometric Mean Average Interpolated Precision": (
        "geometric_mean_average_interpolated_precision"
    ),
    "Micro-averaged AUC": "micro_auc",
    "Macro-averaged AUC": "macro_auc",
    "Logarithmic Loss": "log_loss",
}


def read_predictions(path):
    """Read truth, bipartition, ranks and confidences of MULAN's dump."""
    with lzma.open(path, "rt") as file:
        lines = csv.reader(file)
        n_labels = (len(next(lines)) - 1) // 4
        table = np.array([line[1:] for line in lines], float)
    truth, said, ranks, scores = np.split(table, 4, axis=1)
    assert truth.shape[1] == n_labels
    return truth > 0, said > 0, ranks, scores


def read_measures(folder):
    records = json.loads((folder / "golden_split.json").read_text())
    found = {(r["dataset"], r["algorithm"]): r["measures"] for r in records if "measures" in r}
    for line in (folder / "split_measures_CLRfixed.jsonl").read_text().splitlines():
        record = json.loads(line)
        found[record["dataset"], f"{record['algorithm']}fixed"] = record["measures"]
    return found


@pytest.mark.parametrize("name", ["emotions", "flags", "genbase", "medical", "enron"])
def test_every_measure_of_every_prediction_mulan_dumped(golden, name):
    measures = read_measures(golden / "mulan")
    paths = sorted((golden / "mulan" / "pred").glob(f"{name}_*.csv.xz"))
    assert len(paths) >= 5
    for path in paths:
        Y, Z, _, S = read_predictions(path)
        found = evaluate.evaluate(Y, Z, S)
        method = path.name.split("_")[1].removesuffix(".csv.xz")
        for title, ours in MULAN.items():
            theirs = float(measures[name, method][title])  # "NaN" is text in JSON
            # The log loss is a sum over labels: relative there.
            assert found[ours] == pytest.approx(theirs, abs=1e-12, rel=1e-12, nan_ok=True), (
                path.name, title,
            )  # fmt: skip


#: Names in mldr and here; all of mldr's nineteen.
MLDR = {
    name: name.replace("fmeasure", "f1")
    for name in (
        "accuracy", "precision", "recall", "fmeasure", "hamming_loss", "subset_accuracy",
        "macro_precision", "macro_recall", "macro_fmeasure", "micro_precision", "micro_recall",
        "micro_fmeasure", "average_precision", "coverage", "one_error", "ranking_loss",
        "example_auc", "macro_auc", "micro_auc",
    )
}  # fmt: skip
#: mldr hands raw scores to these and never applies the threshold to them.
IGNORE_THE_THRESHOLD = {"accuracy", "precision", "recall", "fmeasure"}


@pytest.mark.parametrize("name", ["emotions", "flags", "yeast"])
def test_what_mldr_0_4_2_computes(golden, datasets, name):
    record = json.loads((golden / "mldr" / f"{name}.evaluate.json").read_text())
    data = scumble.read(next((datasets / name).glob(f"{name}.arff*")))
    Y = data.Y.toarray()
    i, j = np.indices(Y.shape) + 1
    S = 0.6 * (((i * 7 + j * 13) % 101) / 101) + 0.4 * Y
    found = evaluate.evaluate(Y, S >= 0.5, S)
    for theirs, ours in MLDR.items():
        # With these scores the right labels score higher throughout, so that pROC's guess of the
        # direction is right and its AUC can be compared.
        if theirs not in IGNORE_THE_THRESHOLD:
            assert found[ours] == pytest.approx(record["with_scores"][theirs], abs=1e-12), theirs
        else:
            assert found[ours] == pytest.approx(record["with_bipartition"][theirs], abs=1e-12)
            assert found[ours] != pytest.approx(record["with_scores"][theirs], abs=1e-3)


@pytest.mark.parametrize("name", ["emotions", "flags", "yeast"])
def test_what_mldr_computes_from_labels_as_scores(golden, datasets, name):
    # Scores of 0 and 1 only: ties everywhere. mldr ranks them as MULAN does, but its ranking loss
    # counts every tied pair as wrong, which is ties="worst" here, and its one error looks at the
    # first of the best labels, which is the last when the labels are turned round.
    record = json.loads((golden / "mldr" / f"{name}.evaluate.json").read_text())
    data = scumble.read(next((datasets / name).glob(f"{name}.arff*")))
    Y = data.Y.toarray()
    i, j = np.indices(Y.shape) + 1
    Z = 0.6 * (((i * 7 + j * 13) % 101) / 101) + 0.4 * Y >= 0.5
    found = dict(evaluate.evaluate(Y, Z, Z.astype(float)))
    found["ranking_loss"] = evaluate.ranking_loss(Y, Z, ties="worst")
    found["one_error"] = evaluate.one_error(Y[:, ::-1], Z[:, ::-1])
    for theirs, ours in MLDR.items():
        assert found[ours] == pytest.approx(record["with_bipartition"][theirs], abs=1e-12), theirs
    ignored = record["per_metric_bip"]
    assert evaluate.precision(Y, Z, undefined="ignore") == pytest.approx(
        ignored["precision_ignore"], abs=1e-12
    )
    assert evaluate.recall(Y, Z, undefined="ignore") == pytest.approx(
        ignored["recall_ignore"], abs=1e-12
    )
    assert evaluate.precision(Y, Z, undefined=0) == pytest.approx(ignored["precision_0"], abs=1e-12)


def test_inverted_scores_are_judged_as_inverted():
    # mldr leaves the direction of the curve to pROC, which turns it round where that looks
    # better: a classifier that is always wrong gets the AUC of one that is always right.
    Y, S = np.array([[1, 0], [0, 1], [1, 1], [0, 0]]), np.array([[4, 1], [2, 3], [3, 2], [1, 4]])
    assert evaluate.macro_auc(Y, S) == 0.75
    for auc in (evaluate.macro_auc, evaluate.micro_auc, evaluate.example_auc):
        assert auc(Y, -S) == pytest.approx(1 - auc(Y, S))


def random_case(seed, *, n=60, q=9, decimals=1):
    rng = np.random.default_rng(seed)
    S = np.round(rng.random((n, q)), decimals)
    Y = rng.random((n, q)) < 0.15 + 0.5 * S
    Y[:, 0] |= ~Y.any(
        axis=1
    )  # scikit-learn's ranking metrics treat empty rows in ways of their own
    return Y.astype(int), (S >= 0.5).astype(int), S


@pytest.mark.parametrize("seed", range(5))
def test_scikit_learn_agrees_where_the_definitions_agree(seed):
    Y, Z, S = random_case(seed)
    found = evaluate.evaluate(Y, Z, S, undefined=0, ties="worst")
    expected = {
        "hamming_loss": sk.hamming_loss(Y, Z),
        "subset_accuracy": sk.accuracy_score(Y, Z),
        "accuracy": sk.jaccard_score(Y, Z, average="samples", zero_division=0),
        "coverage": sk.coverage_error(Y, S) - 1,  # scikit-learn counts labels, not steps
        "ranking_loss": sk.label_ranking_loss(Y, S),
        "average_precision": sk.label_ranking_average_precision_score(Y, S),
        "macro_auc": sk.roc_auc_score(Y, S, average="macro"),
        "micro_auc": sk.roc_auc_score(Y, S, average="micro"),
        "example_auc": sk.roc_auc_score(Y, S, average="samples"),
        "macro_auc_pr": sk.average_precision_score(Y, S, average="macro"),
        "mean_average_precision": sk.average_precision_score(Y, S, average="macro"),
        "mean_squared_error": sk.mean_squared_error(Y, S),
    }
    for prefix, average in (("", "samples"), ("macro_", "macro"), ("micro_", "micro")):
        for name in ("precision", "recall", "f1"):
            score = getattr(sk, f"{name}_score")
            expected[f"{prefix}{name}"] = score(Y, Z, average=average, zero_division=0)
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    for name, theirs in (
        ("precision", sk.precision_score(Y, Z, average=None)),
        ("f1", sk.f1_score(Y, Z, average=None)),
        ("auc", sk.roc_auc_score(Y, S, average=None)),
        ("auc_pr", sk.average_precision_score(Y, S, average=None)),
    ):
        np.testing.assert_allclose(found.by_label[name], theirs, atol=1e-12)
    kept = np.clip(S, 1e-8, 1 - 1e-8)
    losses = [sk.log_loss(Y[:, j], kept[:, j]) for j in range(Y.shape[1])]
    assert found["log_loss"] == pytest.approx(math.fsum(losses), abs=1e-9)


def test_where_scikit_learn_differs():
    # Neither there nor predicted: MULAN calls that perfect, scikit-learn a failure by default.
    Y, Z = np.array([[1, 0], [1, 0]]), np.array([[1, 0], [1, 0]])
    assert evaluate.macro_f1(Y, Z) == 1.0
    assert sk.f1_score(Y, Z, average="macro", zero_division=0) == 0.5
