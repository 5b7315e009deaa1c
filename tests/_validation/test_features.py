"""One door for features: data sets, resamplers and classifiers read the same table alike."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from scumble._core.errors import DataError, ParameterError, ParameterTypeError
from scumble._validation.features import FeatureCodes, encode_features, read_features
from scumble._validation.selection import MAX_CATEGORIES, resolve_categorical
from scumble.data import Feature, MultilabelDataset
from scumble.learn import BinaryRelevance, C45Classifier
from scumble.resample import MLSMOTE

TEXTS = ["no", "yes", "no", "perhaps"]
SWITCH = [True, False, True, True]
NAMED = [[0.5, "a"], [1.5, "b"], [2.5, "a"], [3.5, "b"]]
TABLES = {
    "truth values": (np.array([SWITCH, SWITCH[::-1]]).T, [2, 2]),
    "sparse truth values": (sparse.csr_array(np.array([SWITCH]).T), [2]),
    "truth values in pandas": (pd.DataFrame({"a": SWITCH, "b": [1, 2, 3, 4]}), [2, 0]),
    "truth values in polars": (pl.DataFrame({"a": SWITCH, "b": [1, 2, 3, 4]}), [2, 0]),
    "only True in pandas": (pd.DataFrame({"a": [True] * 4}), [2]),
    "text": (np.array([TEXTS, TEXTS[::-1]]).T, [3, 3]),
    "bytes": (np.array([TEXTS]).T.astype("S"), [3]),
    "numbers beside text": (NAMED, [0, 2]),
    "objects": (np.array(NAMED, object), [0, 2]),
    "numbers as objects": (np.arange(4.0).reshape(-1, 1).astype(object), [0]),
    "text in Arrow": (pa.table({"a": TEXTS, "b": [1.0, 2.0, 3.0, 4.0]}), [3, 0]),
    "decimals in pandas": (pd.DataFrame({"a": [Decimal(at) / 4 for at in range(4)]}), [0]),
    "decimals in polars": (pl.DataFrame({"a": [Decimal(at) / 4 for at in range(4)]}), [0]),
    "intervals": (pd.DataFrame({"a": pd.cut([1, 2, 3, 9], [0, 2, 4, 10])}), [3]),
    "sparse in pandas": (pd.DataFrame({"a": pd.arrays.SparseArray([0, 0, 1.5, 0])}), [0]),
    "sparse truth in pandas": (pd.DataFrame({"a": pd.arrays.SparseArray(SWITCH)}), [2]),
}


@pytest.mark.parametrize("case", TABLES)
def test_all_rooms_find_the_same_nominal_columns(case):
    X, expected = TABLES[case]
    Y = np.array([[1], [1], [0], [0]])

    assert C45Classifier().fit(X, Y.ravel()).n_values_.tolist() == expected
    assert MLSMOTE()._read_features(X, None).n_values.tolist() == expected
    X_new, _ = MLSMOTE(random_state=0).fit_resample(X, Y)
    assert type(X_new) is type(np.asarray(X) if isinstance(X, list) else X)
    data = MultilabelDataset(X, Y)
    assert [len(feature.categories) for feature in data.features] == expected


@pytest.mark.parametrize("case", TABLES)
def test_all_subpackages_read_the_same_values(case):
    X, _ = TABLES[case]
    values = read_features(X, caller="test").values
    found = MultilabelDataset(X, np.ones((4, 1), int)).X
    assert sparse.issparse(found) == sparse.issparse(values)
    np.testing.assert_array_equal(_dense(found), _dense(values))
    fitted = C45Classifier().fit(X, [0, 1, 0, 1])
    np.testing.assert_array_equal(_dense(fitted._validate_rows(X)), _dense(values))


def _dense(table):
    return table.toarray() if sparse.issparse(table) else table


def test_names_of_a_frame_are_those_of_the_data_set():
    frame = pd.DataFrame({"size": [1.5, 2.5], "kind": ["b", "a"], 7: [1, 2]})
    data = MultilabelDataset(frame, [["x"], ["y"]])
    assert data.feature_names == ("size", "kind", "7")
    assert data.features[1].categories == ("a", "b")
    assert data.features[2].integer
    renamed = MultilabelDataset(frame, [["x"], ["y"]], features=["p", "q", "r"])
    assert renamed.features[1].categories == ("a", "b")
    assert renamed.feature_names == ("p", "q", "r")
    other = [Feature("size"), Feature("kind", "nominal", ("b", "a")), Feature("7")]
    with pytest.raises(DataError, match="'kind' declares the categories"):
        MultilabelDataset(frame, [["x"], ["y"]], features=other)


def test_categories_of_polars_are_those_that_occur_in_order():
    frame = pl.DataFrame({"a": pl.Series(["z", "b", None], dtype=pl.Categorical), "l": [1, 0, 1]})
    data = MultilabelDataset.from_frame(frame, label_columns=["l"])
    assert data.features[0].categories == ("b", "z")
    assert read_features(frame[["a"]], caller="test").codes.categories == (("b", "z"),)


def test_a_declared_number_of_values_is_kept_to():
    X = np.array([[0.0], [2.0], [1.0]])
    for form in (X, sparse.csr_array(X), pd.DataFrame(X, columns=["a"])):
        for method in (MLSMOTE, C45Classifier, BinaryRelevance):
            with pytest.raises(DataError, match=r"holds 2 in row 1\. Expected a code"):
                _fit(method(categorical_features={0: 2}), form)
        with pytest.raises(DataError, match="holds 2 in row 1"):
            _fit(C45Classifier(categorical_features={0: 1}), form)


def _fit(method, X):
    Y = np.array([[1], [0], [1]])
    if method is MultilabelDataset:
        return MultilabelDataset(X, Y)
    return method.fit(X, Y.ravel() if isinstance(method, C45Classifier) else Y)


@pytest.mark.parametrize("method", [MLSMOTE, C45Classifier, BinaryRelevance])
def test_codes_are_below_one_limit(method):
    X = np.array([[0.0], [1.0], [float(MAX_CATEGORIES)]])
    for form in (X, sparse.csr_array(X)):
        with pytest.raises(DataError, match=f"column 0 of X holds {MAX_CATEGORIES} in row 2. Exp"):
            _fit(method(categorical_features=[0]), form)
    with pytest.raises(ParameterError, match=f"an int in \\[0, {MAX_CATEGORIES}\\]"):
        _fit(method(categorical_features={0: MAX_CATEGORIES + 1}), X)


@pytest.mark.parametrize(
    "method", [MLSMOTE(), C45Classifier(), BinaryRelevance(), MultilabelDataset]
)
def test_whole_numbers_that_are_no_doubles_are_refused(method):
    X = np.array([[0], [1], [2**53 + 1]])
    for form in (X, X.astype(object), pd.DataFrame(X), pl.DataFrame(X), pa.table({"a": X[:, 0]})):
        with pytest.raises(DataError, match=r"holds 9007199254740993; .* up to 2\*\*53 only"):
            _fit(method, form)


def test_two_columns_of_one_name():
    frame = pd.DataFrame([[1, 1], [2, 0], [3, 0]], columns=["a", "a"])
    for method in (C45Classifier(), BinaryRelevance(), MultilabelDataset):
        with pytest.raises(DataError, match=r"(columns of X|features) are called 'a'"):
            _fit(method, frame)
    assert _fit(MLSMOTE(), frame).n_features_in_ == 2  # goes by places


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_are_refused_in_the_same_words(value):
    X = np.array([[0.0, 1.0], [1.0, value], [np.nan if value > 0 else 1.0, 2.0]])
    for form in (X, sparse.csr_array(X)):
        for method in (MLSMOTE, C45Classifier, BinaryRelevance):
            with pytest.raises(DataError, match=f"X holds {value} in row 1, column 1. Expected fi"):
                _fit(method(), form)


def test_nothing_is_copied_that_is_a_table_of_numbers_already():
    X = np.random.default_rng(0).random((5, 3))
    stored = sparse.csr_array(X)
    for table in (X, stored):
        before = _dense(table).copy()
        assert np.shares_memory(read_features(table, caller="test").values.data, table.data)
        np.testing.assert_array_equal(_dense(table), before)


def test_sparse_tables_are_put_in_order_and_the_input_is_left_alone():
    X = sparse.csr_array(
        (np.array([3.0, 0.0, 1.0, 2.0]), np.array([1, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 2)
    )
    found = read_features(X, caller="test").values
    assert found.has_canonical_format
    assert found.data.tolist() == [3.0, 3.0]
    assert X.data.tolist() == [3.0, 0.0, 1.0, 2.0]


def test_rows_to_judge_take_the_codes_of_training():
    frame = pd.DataFrame({"kind": pd.Categorical([30, 10, 20]), "on": [True, True, True]})
    codes = read_features(frame, caller="test").codes
    other = pl.DataFrame({"kind": [20.0, None, 30.0], "on": [False, None, True]})
    np.testing.assert_array_equal(
        encode_features(other, codes, caller="test"), [[1, 0], [np.nan, np.nan], [2, 1]]
    )
    on = pd.arrays.SparseArray([0, 1, 0])
    with_zeros = pd.DataFrame({"kind": pd.arrays.SparseArray([10, 30, 30]), "on": on})
    np.testing.assert_array_equal(
        _dense(encode_features(with_zeros, codes, caller="test")), [[0, 0], [2, 1], [2, 0]]
    )
    unknown = pd.DataFrame({"kind": pd.Categorical([10, 11]), "on": [True, False]})
    with pytest.raises(DataError, match="column 'kind' of X holds 11 in row 1, a value not seen"):
        encode_features(unknown, codes, caller="test")
    with pytest.raises(DataError, match=r"column 'kind' of X holds 3 in row 1\. Expected a code"):
        encode_features(np.array([[0.0, 1.0], [3.0, 1.0]]), codes, caller="test")


def test_codes_beyond_what_a_damaged_model_declares_are_refused():
    codes = FeatureCodes(np.array([1]), (("a", "b"),), ("kind",))
    with pytest.raises(DataError, match="column 'kind' of X holds 1 in row 0"):
        encode_features(pd.DataFrame({"kind": ["b"]}), codes, caller="test")


def test_numbers_stay_numbers_when_judging():
    codes = read_features(pd.DataFrame({"a": [1.0, 2.0]}), caller="test").codes
    assert encode_features(pd.DataFrame({"a": SWITCH}), codes, caller="test").ravel().tolist() == [
        1,
        0,
        1,
        1,
    ]
    with pytest.raises(DataError, match=r"column 'a' of X holds categories or text\. Expected num"):
        encode_features(pd.DataFrame({"a": TEXTS}), codes, caller="test")
    with pytest.raises(DataError, match="column 'a' of X holds values of type datetime"):
        encode_features(pd.DataFrame({"a": pd.date_range("2020", periods=2)}), codes, caller="test")


CODED_LISTS = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([[1], [2]]))


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.zeros(3), DataError, "two-dimensional"),
        ([[1], [2, 3]], DataError, "equally many values in every row"),
        ([[1j]], ParameterTypeError, "Got complex"),
        (np.array([["2020"]], "M8[D]"), DataError, "values of type datetime64"),
        ([[1.0], [{}]], ParameterTypeError, "must be a string or a real number, not 'dict'"),
        ([["a"], [1.0]], DataError, "column 0 of type object cannot be read"),
        (pl.DataFrame({"a": [[1], [2]]}), DataError, "column 'a' of X holds values of type"),
        (
            pa.table({"a": CODED_LISTS}),
            DataError,
            "column 'a' of X holds values of type dictionary",
        ),
        (pl.LazyFrame({"a": [1]}), ParameterTypeError, "Collect the lazy frame first"),
    ],
)
def test_what_is_no_table_of_features(X, error, message):
    with pytest.raises(error, match=message):
        read_features(X, caller="test")


def test_declared_values_count_even_if_unseen():
    X = np.array([[0.0, 1.0], [1.0, 2.0]])

    assert read_features(X, {0: 5, 1: 3}, caller="test").n_values.tolist() == [5, 3]
    assert read_features(X, [1], caller="test").n_values.tolist() == [0, 3]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (None, {}),
        ([], {}),
        ([2, 0], {0: 0, 2: 0}),
        (np.array([True, False, False]), {0: 0}),
        (["b", "c"], {1: 0, 2: 0}),
        ({"c": 3, 0: 2}, {0: 2, 2: 3}),
        ({"c", "a"}, {0: 0, 2: 0}),
    ],
)
def test_ways_to_name_categorical_columns(spec, expected):
    assert resolve_categorical(spec, 3, ["a", "b", "c"], caller="test") == expected


@pytest.mark.parametrize("spec", [[3], ["d"], [1.5], 7, {"a": 2.5}, [True, False], np.array(1)])
def test_columns_that_are_not_there(spec):
    with pytest.raises(ParameterError, match="'categorical_features'"):
        resolve_categorical(spec, 3, ["a", "b", "c"], caller="test")


def test_codes_must_be_whole_and_not_negative():
    for value in (0.5, -1.0):
        X = np.array([[0.0, 1.0], [1.0, value]])
        for form in (X, sparse.csr_array(X)):
            with pytest.raises(DataError, match=f"categorical column 1 of X holds {value:g}"):
                read_features(form, [1], caller="test")


def test_codes_too_large_for_a_table_are_refused():
    X = np.array([[0.0], [2e9]])

    with pytest.raises(
        DataError, match=r"column 0 of X holds 2000000000 in row 1\. Expected a code"
    ):
        read_features(X, [0], caller="test")


def test_categorical_columns_by_an_index_or_a_mask_of_pandas():
    X = pd.DataFrame({"a": [0.5, 1.5], "b": [0, 1], "c": [1, 0]})

    for spec in (X.columns[1:], X.dtypes == "int64"):
        assert read_features(X, spec, caller="test").n_values.tolist() == [0, 2, 2]


def test_classifiers_refuse_odd_frames_in_our_words():
    fitted = BinaryRelevance().fit([[0.0], [1.0]], [[0], [1]])
    for method in (fitted.predict, lambda X: BinaryRelevance().fit(X, [[0], [1]])):
        with pytest.raises(ParameterTypeError, match=r"^BinaryRelevance: .*Collect the lazy frame"):
            method(pl.LazyFrame({"a": [1.0, 2.0]}))
        with pytest.raises(ParameterTypeError, match=r"^BinaryRelevance: Feature names are only"):
            method(pd.DataFrame({"a": [1.0, 2.0], 0: [1.0, 2.0]}))
