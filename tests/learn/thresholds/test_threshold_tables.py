"""The table of thresholds: what is chosen, what it predicts, and as a file."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse

from scumble import MultilabelDataset
from scumble._core.errors import DataError, ParameterError
from scumble.learn import label_thresholds, threshold_curves, threshold_table
from scumble.learn.thresholds.selection import predict_labels


@st.composite
def problems(draw):
    n_rows, n_labels = draw(st.integers(1, 30)), draw(st.integers(1, 4))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    Y = generator.random((n_rows, n_labels)) < generator.choice([0, 0.1, 0.5, 1], n_labels)
    scores = generator.integers(0, draw(st.sampled_from([3, 100])), (n_rows, n_labels)) / 3 + Y
    scores[generator.random(scores.shape) < 0.5] = 0
    return draw(st.sampled_from([np.asarray, sparse.csr_array]))(scores), Y


@settings(max_examples=100, deadline=None)
@given(problems(), st.sampled_from(["shrunken", "capped", "rate", "fixed"]))
def test_the_table_tells_what_its_thresholds_predict(problem, rule):
    scores, Y = problem
    table = threshold_table(scores, Y, rule=rule)
    predicted = predict_labels(scores, table.thresholds).toarray()

    np.testing.assert_array_equal(table.thresholds, label_thresholds(scores, Y, rule=rule))
    np.testing.assert_array_equal(table.predicted, predicted.sum(axis=0))
    np.testing.assert_array_equal(table.hits, (predicted & Y).sum(axis=0))
    np.testing.assert_array_equal(table.positives, Y.sum(axis=0))
    f1 = 2 * table.hits / np.maximum(table.predicted + table.positives, 1)
    for label, curve in enumerate(threshold_curves(scores, Y, rule=rule)):
        if curve.selected >= 0:
            assert table.expected[label] == curve.expected[curve.selected]
        elif rule != "shrunken":
            expected = f1[label] if table.positives[label] else np.nan
            np.testing.assert_equal(table.expected[label], expected)


def test_a_label_that_all_rows_have_and_no_score_tells():
    scores = sparse.csr_array([[0.9, 0.0], [0.0, 0.0]])
    table = threshold_table(scores, [[1, 1], [0, 1]], rule="capped")
    assert table.thresholds.tolist() == [0.45, -np.inf]
    assert table.predicted.tolist() == [1, 2]
    assert table.expected.tolist() == [1.0, 1.0]
    assert threshold_curves(scores, [[1, 1], [0, 1]])[1].selected == -1


def test_names_come_from_wherever_they_are():
    scores = [[0.9, 0.1], [0.2, 0.8]]
    assert threshold_table(scores, [["b"], ["a"]]).labels == ("a", "b")
    data = MultilabelDataset([[1.0], [2.0]], [[1, 0], [0, 1]], labels=["sky", "sea"])
    assert threshold_table(scores, data).labels == ("sky", "sea")
    assert threshold_table(scores, [[1, 0], [0, 1]]).labels == (0, 1)
    assert threshold_table(scores, [[1, 0], [0, 1]], labels=["x", "y"]).labels == ("x", "y")
    with pytest.raises(DataError, match="2 labels need as many names"):
        threshold_table(scores, [[1, 0], [0, 1]], labels=["x"])


@pytest.fixture
def table():
    scores = [[0.9, 0.3, 0.1], [0.8, 0.3, 0.1], [0.4, 0.3, 0.2], [0.3, 0.3, 0.0]]
    Y = [[1, 1, 0], [1, 1, 0], [1, 1, 0], [0, 1, 0]]
    return threshold_table(scores, Y, labels=["sky", "sea, 日本", "ship"], rule="capped")


def test_files(tmp_path, table):
    table.write(tmp_path / "t.csv")
    table.write(tmp_path / "t.json.gz")

    found = pd.read_csv(tmp_path / "t.csv")
    assert found["label"].tolist() == ["sky", "sea, 日本", "ship"]
    assert found["threshold"].tolist() == [0.35, -np.inf, np.inf]
    assert found["positives"].tolist() == [3, 4, 0]
    assert found["expected"].isna().tolist() == [False, False, True]
    content = json.loads(gzip.decompress((tmp_path / "t.json.gz").read_bytes()))
    assert content == table.to_dict()
    assert [row["threshold"] for row in content["labels"]] == [0.35, "-inf", "inf"]
    assert (content["mean_expected"], content["n_silent"]) == (1.0, 1)


def test_other_names_are_refused_and_nothing_is_written(tmp_path, table):
    with pytest.raises(ParameterError, match=r"written as \.csv or \.json"):
        table.write(tmp_path / "t.xlsx")
    assert not list(tmp_path.iterdir())
