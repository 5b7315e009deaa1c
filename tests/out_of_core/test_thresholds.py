"""Thresholds from tables on disk are those of memory, on DuckDB and on Spark."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from scumble._core.errors import ParameterError, ReadError
from scumble.learn import threshold_table
from scumble.out_of_core import DuckDBEngine, label_thresholds, scan

pytest.importorskip("duckdb", reason="DuckDB is missing: pip install 'scumble[scale]'")

RULES = ("shrunken", "capped", "rate", "fixed")


@pytest.fixture(scope="module")
def duckdb():
    """One database for all small problems: starting it takes longer than solving them."""
    engine = DuckDBEngine(threads=1)
    yield engine
    engine.close()


def problem(seed):
    """Sparse scores with ties, labels that are rare, always there, or never."""
    generator = np.random.default_rng(seed)
    n_rows, n_labels = int(generator.integers(1, 60)), int(generator.integers(1, 7))
    Y = generator.random((n_rows, n_labels)) < generator.choice([0, 0.05, 0.2, 0.6, 1], n_labels)
    steps = int(generator.choice([2, 5, 1000]))
    scores = generator.integers(-1, steps, (n_rows, n_labels)) / steps + 0.25 * Y
    scores[generator.random((n_rows, n_labels)) < generator.choice([0, 0.5, 0.9])] = 0
    scores[:, generator.random(n_labels) < 0.1] = 0
    return scores, Y


def write(folder, scores, Y):
    """(instance, label, score) and (instance, label) rows; an instance without labels is there."""
    rows, labels = np.nonzero(scores)
    table = {"instance": rows, "label": labels, "score": scores[rows, labels]}
    pq.write_table(pa.table(table), folder / "scores.parquet")
    pairs = [(row, label) for row, label in zip(*np.nonzero(Y), strict=True)]
    pairs += [(row, None) for row in np.flatnonzero(~Y.any(axis=1))]
    instances = pa.array([int(row) for row, _ in pairs], pa.int64())
    names = pa.array([None if label is None else int(label) for _, label in pairs], pa.int64())
    pq.write_table(pa.table({"instance": instances, "label": names}), folder / "labels.parquet")
    return folder / "scores.parquet", folder / "labels.parquet"


def assert_same(ours, scores, Y, **how):
    theirs = threshold_table(sparse.csr_array(scores), Y, **how)
    shown = [label for label in theirs.labels if Y[:, label].any() or scores[:, label].any()]
    assert list(ours.labels) == shown
    for name in ("thresholds", "positives", "predicted", "hits"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name)[shown], name)
    np.testing.assert_allclose(ours.expected, theirs.expected[shown], rtol=1e-8)


@pytest.mark.parametrize("start", range(0, 200, 50))
def test_random_problems_on_duckdb(tmp_path, duckdb, start):
    for seed in range(start, start + 50):
        scores, Y = problem(seed)
        paths = write(tmp_path, scores, Y)
        how = {"rule": RULES[seed % 4], "metric": ("f1", "f2", "f0.5")[seed % 3]}
        assert_same(label_thresholds(*paths, engine=duckdb, **how), scores, Y, **how)


@pytest.mark.parametrize("strength", [0.0, 0.3, 1e6])
def test_other_strengths(tmp_path, duckdb, strength):
    for seed in range(200, 220):
        scores, Y = problem(seed)
        found = label_thresholds(*write(tmp_path, scores, Y), engine=duckdb, strength=strength)
        assert_same(found, scores, Y, strength=strength)


def test_both_engines(tmp_path, engine):
    generator = np.random.default_rng(1)
    Y = generator.random((150, 12)) < generator.choice([0.01, 0.05, 0.3], 12)
    Y[:, 11] = True
    scores = np.maximum(generator.integers(0, 20, (150, 12)) / 20 + 0.3 * Y - 0.4, 0)
    scores[:, 11] = 0  # all rows have it, and no score says so
    paths = write(tmp_path, scores, Y)
    for rule in RULES if engine["engine"] == "duckdb" else ("shrunken", "fixed"):
        assert_same(label_thresholds(*paths, rule=rule, **engine), scores, Y, rule=rule)


def test_lists_texts_and_other_names(tmp_path, engine):
    scores = {"photo": ["a", "b", "c", "d"], "tag": ["it's"] * 4, "sure": [0.9, 0.8, 0.4, 0.3]}
    pa.csv.write_csv(pa.table(scores), tmp_path / "scores.csv")
    truth = {"name": ["a", "b", "c", "e"], "tags": [["it's", "x", "it's"], ["it's"], ["it's"], []]}
    pq.write_table(pa.table(truth), tmp_path / "labels.parquet")
    with scan(
        tmp_path / "labels.parquet", label_column="tags", instance_column="name", **engine
    ) as labels:
        found = label_thresholds(
            tmp_path / "scores.csv", labels, rule="capped", label_column="tag",
            instance_column="photo", score_column="sure",
        )  # fmt: skip
        assert labels.layout.label.name == "tags"  # the scan goes on
    assert found.labels == ("it's", "x")
    # By hand: three rows a, b, c have it and score highest; x has no score and is never predicted.
    assert found.thresholds.tolist() == [(0.4 + 0.3) / 2, np.inf]
    assert (found.positives.tolist(), found.predicted.tolist()) == ([3, 1], [3, 0])
    assert found.expected.tolist() == [1.0, 0.0]


def test_two_columns_name_an_instance_and_braces_are_no_trouble(tmp_path, duckdb):
    scores = {"{day}": [1, 1, 2], "n": [1, 2, 1], "label": [7, 7, 7], "score": [0.9, 0.5, 0.7]}
    pq.write_table(pa.table(scores), tmp_path / "scores.parquet")
    truth = {"{day}": [1, 2], "n": [1, 1], "label": [7, 7]}
    pq.write_table(pa.table(truth), tmp_path / "labels.parquet")
    found = label_thresholds(
        tmp_path / "scores.parquet", tmp_path / "labels.parquet", rule="rate",
        instance_column=("{day}", "n"), engine=duckdb,
    )  # fmt: skip
    assert found.thresholds.tolist() == [0.6]


def test_the_number_of_instances_matters_where_all_are_predicted(tmp_path, duckdb):
    scores, Y = np.array([[0.9], [0.8]]), np.array([[True], [True]])
    paths = write(tmp_path, scores, Y)
    assert label_thresholds(*paths, engine=duckdb).thresholds.tolist() == [-np.inf]
    found = label_thresholds(*paths, n_instances=5, engine=duckdb)
    assert found.thresholds.tolist() == [0.4]
    more = np.zeros((3, 1))
    assert_same(found, np.vstack([scores, more]), np.vstack([Y, more.astype(bool)]))


@pytest.mark.parametrize("rule", ["shrunken", "capped", "rate"])
def test_equal_scores_of_all_rows_tell_nothing(tmp_path, duckdb, rule):
    scores, Y = np.full((8, 3), 0.5), np.ones((8, 3), bool)
    Y[4:, 0] = False
    scores[0, 2], Y[4:, 2] = 0.75, False  # here one row differs
    found = label_thresholds(*write(tmp_path, scores, Y), rule=rule, engine=duckdb)

    assert found.thresholds[:2].tolist() == [np.inf, -np.inf]
    assert_same(found, scores, Y, rule=rule)


def test_tables_do_not_stay_behind(tmp_path, duckdb):
    paths = write(tmp_path, *problem(3))
    count = "SELECT count(*) AS n FROM duckdb_tables()"
    before = duckdb.query(count, title="Counting").to_pylist()
    label_thresholds(*paths, engine=duckdb)
    assert duckdb.query(count, title="Counting").to_pylist() == before


SCORES = {"instance": [1, 2], "label": [0, 0], "score": [0.5, 0.25]}
LABELS = {"instance": [1, 2], "label": [0, None]}


@pytest.mark.parametrize(
    ("scores", "labels", "options", "said"),
    [
        (SCORES | {"score": [0.5, np.nan]}, LABELS, {}, "label 0 for instance '2' is nan"),
        (SCORES | {"score": [0.5, None]}, LABELS, {}, "for instance '2' is None"),
        (SCORES | {"label": [0, None]}, LABELS, {}, "label None for instance '2'"),
        (SCORES | {"instance": [1, None]}, LABELS, {}, "instance 'None'"),
        (SCORES | {"instance": [1, 1]}, LABELS, {}, "instance '1' has 2 scores"),
        (SCORES | {"score": ["a", "b"]}, LABELS, {}, "'score' holds texts"),
        (SCORES | {"label": [[0], [0]]}, LABELS, {}, "one label a row"),
        (SCORES | {"label": ["0", "0"]}, LABELS, {}, "labels are of kind 'string' here"),
        (SCORES | {"instance": ["1", "2"]}, LABELS, {}, "instances are of kind 'string' here"),
        (SCORES, {"instance": [1, None], "label": [0, 0]}, {}, "do not name their instance"),
        (SCORES, LABELS, {"score_column": "sure"}, "no column 'sure'"),
        (SCORES, LABELS, {"instance_column": "row"}, "no column 'row'"),
        (SCORES, {"label": [0]}, {}, "no column 'instance'"),
    ],
)
def test_bad_tables(tmp_path, duckdb, scores, labels, options, said):
    pq.write_table(pa.table(scores), tmp_path / "scores.parquet")
    pq.write_table(pa.table(labels), tmp_path / "labels.parquet")
    paths = (tmp_path / "scores.parquet", tmp_path / "labels.parquet")
    with pytest.raises(ReadError) as caught:
        label_thresholds(*paths, engine=duckdb, **options)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rule": "plain"}, "must not be 'plain' here"),
        ({"rule": "best"}, "'rule' parameter of label_thresholds"),
        ({"metric": "accuracy"}, "metric"),
        ({"strength": -1}, "strength"),
        ({"n_instances": 0}, "n_instances"),
        ({"n_instances": 1}, "one label alone has 2 instances"),
        ({"engine": "abacus"}, "'engine' parameter of label_thresholds"),
        ({"engine": "spark", "memory": "2GB"}, "'memory' parameter of label_thresholds is for"),
    ],
)
def test_bad_parameters(tmp_path, options, said):
    paths = write(tmp_path, np.array([[0.9], [0.8]]), np.array([[True], [True]]))
    with pytest.raises(ParameterError) as caught:
        label_thresholds(*paths, **options)
    assert said in str(caught.value)


def test_a_damaged_file_is_named(tmp_path):
    scores, labels = write(tmp_path, *problem(3))
    (tmp_path / "more").mkdir()
    content = scores.read_bytes()
    (tmp_path / "more" / "a.parquet").write_bytes(content)
    (tmp_path / "more" / "b.parquet").write_bytes(content[:60] + b"\0" * 40 + content[100:])
    with pytest.raises(ReadError, match=r"b\.parquet"):
        label_thresholds(tmp_path / "more", labels)


def test_an_instance_needs_as_many_columns_in_both(tmp_path, duckdb):
    scores, labels = write(tmp_path, *problem(3))
    pq.write_table(pa.table({"a": [1], "b": [1], "label": [0]}), labels)
    with scan(labels, instance_column=("a", "b"), engine="duckdb") as truth:
        with pytest.raises(ReadError, match="has 1 columns here and 2"):
            label_thresholds(scores, truth)
