"""Predictions come in the form the labels had, whatever that was."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

import scumble
from scumble.evaluate import evaluate
from scumble.learn import (
    BinaryRelevance,
    EnsembleOfClassifierChains,
    MLkNN,
    ThresholdedClassifier,
    load,
    save,
)

X = np.array([[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]])
LISTS = [["sea"], ["sea"], ["sea", "sky"], ["sky", "sea"], [], []]
CELLS = np.array([[1, 0], [1, 0], [1, 1], [1, 1], [0, 0], [0, 0]])
SORTED = [["sea"], ["sea"], ["sea", "sky"], ["sea", "sky"], [], []]


def nearest(Y, X=X):
    return BinaryRelevance(KNeighborsClassifier(1)).fit(X, Y)


def test_lists_of_names():
    model = nearest(LISTS)
    assert model.label_names_ == ("sea", "sky")
    assert model.predict(X) == SORTED
    labels, confidences = model.predict_both(X)
    assert labels == SORTED
    assert confidences.shape == (6, 2)
    assert model.predict(X[:1]) == SORTED[:1]
    assert evaluate(LISTS, model.predict(X), model.predict_proba(X))["subset_accuracy"] == 1


@pytest.mark.parametrize("kind", [list, tuple, set, frozenset])
def test_each_row_is_what_rows_were(kind):
    assert nearest([kind(row) for row in LISTS]).predict(X) == [kind(row) for row in SORTED]


def test_lists_of_numbers():
    numbers = [[0], [0], [0, 1], [1, 0], [], []]
    assert nearest(numbers).predict(X) == [[0], [0], [0, 1], [0, 1], [], []]


def test_columns_of_lists():
    index = list("abcdef")
    frame = pd.DataFrame(X, index=index, columns=["depth"])
    found = nearest(pd.Series(LISTS, index=index), frame).predict(frame)
    pd.testing.assert_series_equal(found, pd.Series(SORTED, index=index))
    assert nearest(pl.Series(LISTS)).predict(X).to_list() == SORTED
    column = np.empty(6, object)
    column[:] = LISTS
    found = nearest(column).predict(X)
    assert found.dtype == object
    assert found.tolist() == SORTED


@pytest.mark.parametrize("table", [CELLS, CELLS.astype(bool), CELLS.astype("uint8")])
def test_arrays_and_lists_of_cells_give_arrays(table):
    found = nearest(table).predict(X)
    np.testing.assert_array_equal(found, table)
    assert found.dtype == table.dtype
    assert nearest(CELLS.tolist()).predict(X).tolist() == CELLS.tolist()


def test_sparse_labels_and_frames():
    found = nearest(sparse.csr_array(CELLS)).predict(X)
    assert sparse.issparse(found)
    np.testing.assert_array_equal(found.toarray(), CELLS)
    frame = pd.DataFrame(CELLS, columns=["sea", "sky"], index=list("abcdef"))
    inputs = pd.DataFrame(X, index=list("abcdef"), columns=["depth"])
    pd.testing.assert_frame_equal(nearest(frame, inputs).predict(inputs), frame)
    other = pl.from_pandas(frame)
    assert nearest(other).predict(X).equals(other)


def test_classes_stay_classes():
    y = np.array(["sea", "sky", "sky", "sea", "sea", "sky"])
    assert nearest(y).predict(X).tolist() == y.tolist()
    assert nearest(pd.Series(y)).predict(X).tolist() == y.tolist()
    assert nearest(y.tolist()).predict(X).tolist() == y.tolist()


@pytest.mark.parametrize(
    "model",
    [
        BinaryRelevance(),
        EnsembleOfClassifierChains(n_estimators=2, random_state=0),
        ThresholdedClassifier(MLkNN(n_neighbors=1), random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_lists_go_through_every_kind_of_classifier(model):
    rows, lists = np.tile(X, (5, 1)), LISTS * 5
    of_lists = model.fit(rows, lists).predict(X)
    of_cells = model.fit(rows, np.tile(CELLS, (5, 1))).predict(X)
    names = np.array(["sea", "sky"])
    assert of_lists == [names[row.astype(bool)].tolist() for row in of_cells]


def test_a_stored_model_remembers_the_form(tmp_path):
    model = BinaryRelevance().fit(np.tile(X, (5, 1)), LISTS * 5)
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").predict(X) == model.predict(X) == SORTED


def test_a_data_set_gives_sparse_labels():
    data = scumble.MultilabelDataset(X, LISTS)
    assert sparse.issparse(nearest(data.Y).predict(X))
