"""Predictions and confidences of MULAN (after 1.5.0, with WEKA 3.9.7's J48), cell by cell."""

import csv
import json
import lzma

import numpy as np
import pytest

import scumble
from scumble.learn import (
    HOMER,
    BinaryRelevance,
    CalibratedLabelRanking,
    ClassifierChain,
    LabelPowerset,
    PrunedSets,
)
from tests.learn.java import draw_winners, pruned_order
from tests.learn.mulan_replay import GivenChains, GivenSamples, vote


def read_split(datasets, name):
    folder = datasets / name
    return [scumble.read(next(folder.glob(f"{name}-{part}.arff*"))) for part in ("train", "test")]


def read_predictions(golden, name, method):
    with lzma.open(golden / "mulan" / "pred" / f"{name}_{method}.csv.xz", "rt") as file:
        rows = list(csv.DictReader(file))
    n_labels = sum(key.startswith("conf") for key in rows[0])

    def table(part):
        return np.array([[float(row[f"{part}{j}"]) for j in range(n_labels)] for row in rows])

    return table("true") > 0, table("bip") > 0, table("conf")


def read_line(golden, file, name):
    lines = (golden / "mulan" / file).read_text().splitlines()
    return next(line for line in map(json.loads, lines) if line["dataset"] == name)


def fitted(classifier, train):
    return classifier.set_params(categorical_features=train.categorical_features).fit(
        train.X, train.Y
    )


def assert_agrees(classifier, datasets, golden, name, method):
    train, test = read_split(datasets, name)
    truth, labels, confidences = read_predictions(golden, name, method)
    assert (test.Y.toarray() == truth).all()  # the same rows and labels in the same order
    predictions, scores = fitted(classifier, train).predict_both(test.X)
    assert (predictions.toarray() == labels).all()
    np.testing.assert_allclose(scores, confidences, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["emotions", "flags", "medical", "genbase", "enron"])
def test_binary_relevance(datasets, golden, name):
    assert_agrees(BinaryRelevance(), datasets, golden, name, "BR")


@pytest.mark.parametrize("name", ["emotions", "flags", "medical"])
def test_classifier_chain(datasets, golden, name):
    assert_agrees(ClassifierChain(), datasets, golden, name, "CC")


@pytest.mark.parametrize("name", ["emotions", "flags", "enron"])
def test_calibrated_label_ranking_without_empty_pairs(datasets, golden, name):
    for compat in (False, True):  # here MULAN loses no vote
        classifier = CalibratedLabelRanking(mulan_compat=compat)
        assert_agrees(classifier, datasets, golden, name, "CLR")


@pytest.mark.parametrize("name", ["medical", "genbase"])
def test_calibrated_label_ranking_with_lost_votes_and_without(datasets, golden, name):
    assert_agrees(CalibratedLabelRanking(), datasets, golden, name, "CLRfixed")
    assert_agrees(CalibratedLabelRanking(mulan_compat=True), datasets, golden, name, "CLR")


def test_how_many_votes_mulan_loses(datasets):
    # 7 labels of medical have no positive training row, so 21 pairs are never told apart.
    train, _ = read_split(datasets, "medical")
    assert len(fitted(CalibratedLabelRanking(), train).pairs_) == 990 - 21
    assert len(fitted(CalibratedLabelRanking(mulan_compat=True), train).pairs_) == 330


#: Rows with two labelsets of equal probability, of which MULAN draws one: see `java`.
TIED = {"LP": {"emotions": 18, "flags": 19, "medical": 66}}
TIED["PS"] = {"emotions": 25, "flags": 5, "medical": 10}


@pytest.mark.parametrize("name", ["emotions", "flags", "medical"])
@pytest.mark.parametrize(("method", "short"), [(LabelPowerset, "LP"), (PrunedSets, "PS")])
def test_labelsets(datasets, golden, name, method, short):
    train, test = read_split(datasets, name)
    _, labels, confidences = read_predictions(golden, name, short)
    classifier = fitted(method(), train)
    predictions, scores = classifier.predict_both(test.X)
    probabilities = np.vstack([part for _, part in classifier._predict_proba_blocks(test.X)])
    sets = classifier.labelsets_.toarray()
    order = pruned_order(train.Y.toarray(), sets, b=2)
    winners, n_tied = draw_winners(probabilities, order)

    assert n_tied == TIED[short][name]
    assert (sets[winners] == labels).all()
    # Without a tie our own choice is the same, and so are confidences.
    is_best = probabilities == probabilities.max(axis=1, keepdims=True)
    sure = is_best.sum(axis=1) == 1 if short == "LP" else slice(None)
    assert (predictions.toarray()[is_best.sum(axis=1) == 1] == labels[is_best.sum(1) == 1]).all()
    np.testing.assert_allclose(scores[sure], confidences[sure], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["emotions", "flags", "medical", "genbase"])
def test_ensemble_of_classifier_chains(datasets, golden, name):
    classifier = GivenChains()
    classifier.given = read_line(golden, "ensemble_draws.jsonl", name)["ECC"]
    assert_agrees(classifier, datasets, golden, name, "ECC")


#: How often a member was in doubt between labelsets.
EPS_TIED = {"emotions": 249, "flags": 151, "medical": 80, "genbase": 0}


@pytest.mark.parametrize("name", ["emotions", "flags", "medical", "genbase"])
def test_ensemble_of_pruned_sets(datasets, golden, name):
    train, test = read_split(datasets, name)
    _, labels, confidences = read_predictions(golden, name, "EPS")
    samples = read_line(golden, "ensemble_draws.jsonl", name)["EPS"]
    votes, n_tied = vote(samples, train, test)

    assert (votes == confidences).all()
    assert ((votes >= 0.5) == labels).all()
    assert n_tied == EPS_TIED[name]
    # Ours differs where members are in doubt, by no more than their votes.
    classifier = GivenSamples()
    classifier.given = samples
    _, scores = fitted(classifier, train).predict_both(test.X)
    assert abs(scores - confidences).sum(axis=0).max() <= EPS_TIED[name] / 10


def nested(part, position):
    """Turn MULAN's named groups into nested label numbers."""
    if isinstance(part, str):
        return position[part]
    children = part if isinstance(part, list) else next(iter(part.values()))
    return [nested(child, position) for child in children]


@pytest.mark.parametrize("name", ["emotions", "flags", "medical", "genbase", "enron"])
def test_homer(datasets, golden, name):
    line = read_line(golden, "homer_hierarchies.jsonl", name)
    position = {label: j for j, label in enumerate(line["label_attribute_order"])}
    classifier = HOMER(hierarchy=nested(line["hierarchy"], position), mulan_compat=True)
    assert_agrees(classifier, datasets, golden, name, "HOMER")
