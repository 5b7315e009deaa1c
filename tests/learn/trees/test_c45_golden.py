"""Every tree WEKA 3.9.7's J48 grew on the reference splits: leaves, size, text, probabilities."""

import csv
import lzma
import re

import numpy as np
import pytest

import scumble
from scumble.learn import C45Classifier, export_text
from scumble.learn.trees.c45 import Target, TreeSettings, grow_trees, predict_trees, prepare_table

NAMES = ["emotions", "flags", "genbase", "medical", "enron", "flagsmiss"]


def find(folder, name):
    return next(p for p in (folder / name, folder / f"{name}.xz") if p.exists())


def open_text(path):
    return lzma.open(path, "rt") if path.suffix == ".xz" else path.open()


def read_split(datasets, golden, name):
    if name != "flagsmiss":
        return [scumble.read(find(datasets / name, f"{name}-{p}.arff")) for p in ("train", "test")]
    folder, labels = golden / "mulan" / "j48_missing", datasets / "flags" / "flags.xml"
    return [scumble.read(folder / f"{name}-{p}.arff", labels=labels) for p in ("train", "test")]


def read_golden(golden, name):
    folder = golden / "mulan" / ("j48_missing" if name == "flagsmiss" else "j48")
    with (folder / f"{name}_summary.csv").open() as file:
        summary = list(csv.DictReader(file))
    tables = []
    for form in ("p1", "p1_unpruned"):
        with open_text(find(folder, f"{name}_{form}.csv")) as file:
            tables.append(np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2))
    with open_text(find(folder, f"{name}_trees.txt")) as file:
        texts = re.split(r"^##### label .*\n", file.read(), flags=re.MULTILINE)[1:]
    return summary, tables, [text.strip().splitlines()[1:] for text in texts]


def number_of_values(data):
    n_values = np.zeros(data.n_features, np.int64)
    for column, count in data.categorical_features.items():
        n_values[column] = count
    return n_values


@pytest.mark.parametrize("name", NAMES)
def test_trees_are_those_of_j48(datasets, golden, name):
    train, test = read_split(datasets, golden, name)
    summary, (pruned, unpruned), _ = read_golden(golden, name)
    table = prepare_table(train.X, number_of_values(train))
    targets = [Target(column) for column in train.Y.toarray().T.astype(np.uint8)]

    for prune, expected in ((True, pruned), (False, unpruned)):
        trees = grow_trees(table, targets, TreeSettings(prune=prune))
        prefix = ("num_leaves", "tree_size") if prune else ("unpruned_leaves", "unpruned_size")
        for at, key in zip(("n_leaves", "n_nodes"), prefix, strict=True):
            assert [getattr(t, at) for t in trees] == [int(row[key]) for row in summary]
        found = predict_trees(trees, test.X, positive_only=True)
        assert found.shape == expected.shape
        assert np.abs(found - expected).max() < 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_printed_trees_are_those_of_j48(datasets, golden, name):
    train, _ = read_split(datasets, golden, name)
    _, _, texts = read_golden(golden, name)
    labels = train.Y.toarray().astype(int)
    value_names = [feature.categories or None for feature in train.features]
    compared = 0
    for label in range(train.n_labels):
        if labels[:, label].all() or not labels[:, label].any():
            continue  # a classifier knows the classes it has seen, J48 the declared ones
        for prune in (True, False):
            tree = C45Classifier(prune=prune, categorical_features=train.categorical_features)
            tree.fit(train.X, labels[:, label])
            text = export_text(tree, feature_names=train.feature_names, value_names=value_names)
            assert text.strip().splitlines()[1:] == texts[2 * label + (not prune)]
            compared += 1
    assert compared >= 10
