"""Tables of pandas, polars and Arrow."""

import datetime as dt
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from scipy import sparse

from scumble._core.errors import (
    DataError,
    LabelError,
    ParameterError,
    ParameterTypeError,
    ScumbleError,
    ScumbleWarning,
)
from scumble.data import Feature, MultilabelDataset, frames, read
from scumble.data.formats.base import DATASET_PARTS
from scumble.data.label_lists import split_labels
from scumble.testing.strategies import datasets

from_frame = MultilabelDataset.from_frame
NEW_YEAR = 1_577_836_800_000.0  # 2020-01-01 UTC in milliseconds
MOMENT = dt.datetime(2020, 1, 1, 0, 0, 1, 500_000)
FRAMES = {
    "pandas": pd.DataFrame(
        {
            "minutes": [150, 90, 120],
            "stars": [4.5, np.nan, 1.0],
            "seen": [True, False, True],
            "land": ["no", None, "fr"],
            "size": pd.Categorical(["S", "L", "S"], categories=["S", "M", "L"]),
            "day": pd.array([dt.date(2020, 1, 1)] * 3, dtype="date32[pyarrow]"),
            "at": pd.to_datetime([MOMENT, None, MOMENT]),
            "prizes": pd.array([1, None, 3], dtype="Int64"),
            "war": [1, 0, 0],
            "love": [True, True, False],
        },
        index=[7, 8, 9],
    ),
    "polars": pl.DataFrame(
        {
            "minutes": [150, 90, 120],
            "stars": [4.5, None, 1.0],
            "seen": [True, False, True],
            "land": ["no", None, "fr"],
            "size": pl.Series(["S", "L", "S"], dtype=pl.Enum(["S", "M", "L"])),
            "day": [dt.date(2020, 1, 1)] * 3,
            "at": [MOMENT, None, MOMENT],
            "prizes": [1, None, 3],
            "war": [1, 0, 0],
            "love": [True, True, False],
        }
    ),
    "pyarrow": pa.table(
        {
            "minutes": [150, 90, 120],
            "stars": [4.5, None, 1.0],
            "seen": [True, False, True],
            "land": ["no", None, "fr"],
            "size": pa.DictionaryArray.from_arrays([0, 2, 0], ["S", "M", "L"]),
            "day": [dt.date(2020, 1, 1)] * 3,
            "at": [MOMENT, None, MOMENT],
            "prizes": [1, None, 3],
            "war": [1, 0, 0],
            "love": [True, True, False],
        }
    ),
}


@pytest.mark.parametrize("backend", FRAMES)
def test_every_kind_of_column(backend):
    data = from_frame(FRAMES[backend], label_columns=["love", "war"], name="films")
    assert data.features == (
        Feature("minutes", integer=True),
        Feature("stars"),
        Feature("seen", "nominal", ("False", "True")),
        Feature("land", "nominal", ("fr", "no")),
        Feature("size", "nominal", ("S", "M", "L")),
        Feature("day", "date"),
        Feature("at", "date"),
        Feature("prizes", integer=True),
    )
    np.testing.assert_array_equal(
        data.X,
        [
            [150, 4.5, 1, 1, 0, NEW_YEAR, NEW_YEAR + 1500, 1],
            [90, np.nan, 0, np.nan, 2, NEW_YEAR, np.nan, np.nan],
            [120, 1, 1, 0, 0, NEW_YEAR, NEW_YEAR + 1500, 3],
        ],
    )
    assert data.labels == ("love", "war")
    assert data.Y.toarray().astype(int).tolist() == [[1, 1], [1, 0], [0, 0]]
    assert data.name == "films"


LISTS = {
    "pandas": pd.DataFrame({"x": [1.0, 2, 3], "tags": [["b", "a"], [], ("c",)]}),
    "pandas sets": pd.DataFrame({"x": [1.0, 2, 3], "tags": [{"b", "a"}, set(), {"c"}]}),
    "pandas arrays": pd.DataFrame({"x": [1.0, 2, 3], "tags": [np.array(["b", "a"]), [], ["c"]]}),
    "polars": pl.DataFrame({"x": [1.0, 2, 3], "tags": [["b", "a"], [], ["c"]]}),
    "polars categories": pl.DataFrame(
        {
            "x": [1.0, 2, 3],
            "tags": pl.Series([["b", "a"], [], ["c"]], dtype=pl.List(pl.Categorical)),
        }
    ),
    "pyarrow": pa.table({"x": [1.0, 2, 3], "tags": [["b", "a"], [], ["c"]]}),
}


@pytest.mark.parametrize("case", LISTS)
def test_one_column_of_label_lists(case):
    data = from_frame(LISTS[case], label_columns="tags")
    assert data.labels == ("a", "b", "c")
    assert data.Y.toarray().astype(int).tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1]]
    assert data.feature_names == ("x",)


def test_label_numbers_are_ordered_as_numbers():
    data = from_frame(pa.table({"tags": [[10, 9], [100]]}), label_columns="tags")
    assert data.labels == ("9", "10", "100")
    assert data.n_features == 0


def test_a_label_named_twice_counts_once_and_is_reported():
    with pytest.warns(ScumbleWarning, match="column 'tags': 1 labels repeat"):
        data = from_frame(pa.table({"tags": [["a", "b", "a"]]}), label_columns="tags")
    assert data.Y.toarray().tolist() == [[True, True]]


def test_weights_come_from_a_column():
    frame = pd.DataFrame({"x": [1, 2], "w": [0.5, 2.0], "a": [0, 1]})
    data = from_frame(frame, label_columns=["a"], weight_column="w")
    assert data.weights.tolist() == [0.5, 2.0]
    assert data.feature_names == ("x",)


def test_sparse_pandas_columns_stay_sparse():
    frame = pd.DataFrame(
        {
            "a": pd.arrays.SparseArray([0.0, 2.5, np.nan, 0.0], fill_value=0),
            "b": pd.arrays.SparseArray([0, 0, 3, 0]),
            "c": pd.arrays.SparseArray([np.nan, np.nan, 1.0, np.nan]),
            "d": [0.0, 0.0, 0.0, 4.0],
            "e": pd.Categorical(["u", "u", "v", "u"]),
            "l": pd.arrays.SparseArray([True, False, False, False]),
            "m": pd.arrays.SparseArray([0, 1, 0, 1]),
        }
    )
    data = from_frame(frame, label_columns=["l", "m"])
    assert data.is_sparse
    np.testing.assert_array_equal(
        data.X.toarray(),
        [[0, 0, np.nan, 0, 0], [2.5, 0, np.nan, 0, 0], [np.nan, 3, 1, 0, 1], [0, 0, np.nan, 4, 0]],
    )
    assert [f.integer for f in data.features] == [False, True, False, False, False]
    assert data.Y.toarray().astype(int).tolist() == [[1, 0], [0, 1], [0, 0], [0, 1]]


def test_a_sparse_data_set_becomes_a_sparse_pandas_table():
    rng = np.random.default_rng(0)
    X = sparse.random_array((50, 2000), density=0.01, rng=rng, format="csr")
    features = [Feature(f"x{at}", integer=at == 7) for at in range(2000)]
    X = sparse.csr_array(X.multiply(np.arange(2000) != 7))
    data = MultilabelDataset(X, rng.random((50, 30)) < 0.1, features=features)
    frame = data.to_frame()
    assert frame.shape == (50, 2030)
    assert all(isinstance(kind, pd.SparseDtype) for kind in frame.dtypes)
    assert {kind.subtype.name for kind in frame.dtypes[2000:]} == {"bool"}
    assert frame.dtypes["x7"].subtype == np.int64
    assert frame.dtypes["x8"].subtype == np.float64
    again = from_frame(frame, label_columns=data.labels)
    assert again == data
    assert again.is_sparse


@pytest.mark.parametrize("backend", ["polars", "pyarrow", "pandas"])
def test_a_huge_sparse_data_set_is_not_filled(backend, monkeypatch):
    monkeypatch.setattr(frames, "MAX_FILLED_BYTES", 1000)
    feature = Feature("c", "nominal", ("a", "b"))
    X = sparse.csr_array((2000, 1))
    data = MultilabelDataset(X, np.eye(2000, 2, dtype=bool), features=[feature])
    with pytest.raises(DataError, match=f"Filling a {backend} table .* Use .X and .Y"):
        data.to_frame(backend)


def test_types_of_a_pandas_table():
    data = from_frame(FRAMES["pandas"], label_columns=["love", "war"])
    frame = data.to_frame()
    assert [str(kind) for kind in frame.dtypes] == [
        "int64",
        "float64",
        "category",
        "category",
        "category",
        "datetime64[ms, UTC]",
        "datetime64[ms, UTC]",
        "Int64",
        "bool",
        "bool",
    ]
    assert frame["size"].cat.categories.tolist() == ["S", "M", "L"]
    assert frame["land"].tolist()[0] == "no"
    assert frame["land"].isna().tolist() == [False, True, False]
    assert list(frame.columns[-2:]) == ["love", "war"]


def test_types_of_a_polars_table():
    frame = from_frame(FRAMES["polars"], label_columns=["love", "war"]).to_frame("polars")
    assert frame.schema["size"] == pl.Enum(["S", "M", "L"])
    assert frame.schema["at"] == pl.Datetime("ms", "UTC")
    assert frame.schema["prizes"] == pl.Int64
    assert frame.schema["war"] == pl.Boolean
    assert frame["land"].to_list() == ["no", None, "fr"]


def test_types_of_an_arrow_table():
    table = from_frame(FRAMES["pyarrow"], label_columns=["love", "war"]).to_frame("pyarrow")
    assert table["size"].chunk(0).dictionary.to_pylist() == ["S", "M", "L"]
    assert table["at"].type == pa.timestamp("ms", "UTC")
    assert table["stars"].to_pylist() == [4.5, None, 1.0]


def test_texts_become_text():
    data = MultilabelDataset(
        [[1.0], [0.0]], [[1], [0]], features=[Feature("t", "string", ("b", "a"))]
    )
    assert data.to_frame()["t"].tolist() == ["a", "b"]
    assert data.to_frame("polars")["t"].to_list() == ["a", "b"]
    again = from_frame(data.to_frame("pyarrow"), label_columns=["y0"])
    assert again.features == (Feature("t", "nominal", ("a", "b")),)


FRAME_PARTS = set(DATASET_PARTS) - {"data set name", "instance weights", "label hierarchy"}


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@given(data=datasets(parts=FRAME_PARTS, infinite=True))
@settings(max_examples=60)
def test_there_and_back(backend, data):
    if set(data.feature_names) & set(data.labels):
        with pytest.raises(DataError, match="name of a feature and of a label"):
            data.to_frame(backend)
        return
    again = from_frame(data.to_frame(backend), label_columns=data.labels)
    X = _recoded(data)
    features = [_expected(f, X[:, at]) for at, f in enumerate(data.features)]
    if backend != "pandas" or not data.is_sparse:
        features = [replace(f, integer=data.features[at].integer) for at, f in enumerate(features)]
    assert again == replace(data, X=X, features=features)


def _expected(feature: Feature, values: np.ndarray) -> Feature:
    """Expect text as a nominal feature with sorted categories, and no sparse missing integers."""
    if feature.kind not in ("string", "text"):
        return replace(feature, integer=feature.integer and not np.isnan(values).any())
    return Feature(feature.name, "nominal", tuple(sorted(feature.categories)))


def _recoded(data: MultilabelDataset) -> np.ndarray:
    X = data.X.toarray() if data.is_sparse else data.X.copy()
    for at, feature in enumerate(data.features):
        if feature.kind in ("string", "text"):
            rank = {text: code for code, text in enumerate(sorted(feature.categories))}
            X[:, at] = [
                np.nan if np.isnan(code) else rank[feature.categories[int(code)]]
                for code in X[:, at]
            ]
    return X


def test_dates_finer_than_a_millisecond():
    data = MultilabelDataset([[NEW_YEAR + 0.25]], [[1]], features=[Feature("t", "date")])
    for backend in ("pandas", "polars", "pyarrow"):
        assert from_frame(data.to_frame(backend), label_columns=["y0"]) == data
    ticks = pa.table({"t": pa.array([1_577_836_800_000_000_001], pa.timestamp("ns")), "a": [1]})
    assert from_frame(ticks, label_columns=["a"]).X[0, 0] == pytest.approx(NEW_YEAR, abs=1e-3)
    seconds = pa.table({"t": pa.array([5, None], pa.timestamp("s")), "a": [1, 1]})
    np.testing.assert_array_equal(from_frame(seconds, label_columns=["a"]).X, [[5000], [np.nan]])


def test_times_with_a_zone_are_turned_to_utc():
    time = pd.Series(pd.to_datetime(["2020-01-01 01:00"])).dt.tz_localize("Europe/Paris")
    data = from_frame(pd.DataFrame({"t": time, "a": [1]}), label_columns=["a"])
    assert data.X[0, 0] == NEW_YEAR


def test_arrow_dictionaries_that_differ_between_chunks():
    first = pa.DictionaryArray.from_arrays([1, 0], ["a", "b"])
    second = pa.DictionaryArray.from_arrays([0, None], ["c"])
    table = pa.table({"c": pa.chunked_array([first, second]), "l": [1, 0, 1, 0]})
    data = from_frame(table, label_columns=["l"])
    assert data.features[0].categories == ("a", "b", "c")
    np.testing.assert_array_equal(data.X.ravel(), [1, 0, 2, np.nan])


def test_categories_that_are_no_text_become_text():
    frame = pd.DataFrame({"c": pd.Categorical([30, 10, 30]), "l": [0, 1, 0]})
    data = from_frame(frame, label_columns=["l"])
    assert data.features[0].categories == ("10", "30")
    assert data.X.ravel().tolist() == [1, 0, 1]


def test_columns_of_nothing():
    frame = pl.DataFrame({"x": [None, None], "l": [True, False]})
    data = from_frame(frame, label_columns=["l"])
    assert data.features == (Feature("x"),)
    assert np.isnan(data.X).all()


def test_no_rows_and_no_label_columns():
    empty = from_frame(
        pa.table({"x": pa.array([], "int64"), "l": pa.array([], "bool")}), label_columns=["l"]
    )
    assert (empty.n_instances, empty.n_features, empty.n_labels) == (0, 1, 1)
    none = from_frame(pa.table({"x": [1, 2]}), label_columns=[])
    assert (none.n_instances, none.n_labels) == (2, 0)


def test_pandas_columns_named_by_numbers():
    frame = pd.DataFrame(np.eye(3))
    data = from_frame(frame, label_columns=["2"])
    assert data.feature_names == ("0", "1")


@pytest.mark.parametrize(
    ("frame", "labels", "error", "reason"),
    [
        (pa.table({"a": [1]}), ["b"], DataError, "no column 'b'. Its columns are 'a'"),
        (pa.table({"a": [1]}), ["a", "a"], DataError, "'a' is named twice"),
        (pa.table({"a": [0, 2]}), ["a"], LabelError, "row 1, column 'a' holds 2"),
        (pl.DataFrame({"a": [True, None]}), ["a"], LabelError, "row 1, column 'a' is missing"),
        (pa.table({"a": [1]}), "a", LabelError, "give its name in a list"),
        (pa.table({"a": ["x|y"]}), "a", LabelError, "what stands between the labels"),
        (pa.table({"a": [["x"], None]}), "a", LabelError, "label list of row 1 is missing"),
        (pa.table({"a": [[], ["x", None]]}), "a", LabelError, "a label in row 1 is missing"),
        (pa.table({"a": [[0.5]]}), "a", LabelError, "expected lists of label names or numbers"),
        (
            pa.table({"x": [b"1"], "a": [1]}),
            ["a"],
            DataError,
            "'x' of X holds values of type binary",
        ),
        (pa.table({"x": [2**60], "a": [1]}), ["a"], DataError, "exact up to 2\\*\\*53 only"),
        (pd.DataFrame({"x": [1, "b"], "a": [1, 1]}), ["a"], DataError, "'x' of type object"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ["a"], DataError, "Two columns"),
        (pl.LazyFrame({"a": [1]}), ["a"], ParameterTypeError, "Collect the lazy frame"),
        (pd.Series([1]), ["a"], ParameterTypeError, "Got Series instead"),
        ([[1]], ["a"], ParameterTypeError, "Got list instead"),
    ],
)
def test_refusals(frame, labels, error, reason):
    with pytest.raises(error, match=reason):
        from_frame(frame, label_columns=labels)


def test_unknown_backend():
    with pytest.raises(ParameterError, match="'backend' parameter of to_frame"):
        MultilabelDataset([[1.0]], [[1]]).to_frame("excel")


@pytest.mark.parametrize("code", [2.0, -1.0, 0.5, np.inf])
def test_codes_without_a_category_are_refused(code):
    data = MultilabelDataset(
        [[0.0], [code]], [[1], [1]], features=[Feature("c", "nominal", ("a", "b"))]
    )
    for backend in ("pandas", "polars", "pyarrow"):
        with pytest.raises(DataError, match=r"Row 1 of the nominal feature 'c' holds"):
            data.to_frame(backend)


def test_the_table_is_not_changed():
    frame = FRAMES["pandas"].copy(deep=True)
    from_frame(frame, label_columns=["love", "war"])
    pd.testing.assert_frame_equal(frame, FRAMES["pandas"])


@pytest.mark.parametrize(
    "weights",
    [
        ["1", "2"],
        pd.Categorical([7, 8]),
        pd.date_range("2020", periods=2),
        pa.array(["1", "2"]),
    ],
    ids=lambda weights: type(weights).__name__,
)
def test_weights_are_numbers_and_not_codes(weights):
    table = {"minutes": [150.0, 90.0], "war": [1, 0], "heavy": weights}
    frame = pa.table(table) if isinstance(weights, pa.Array) else pd.DataFrame(table)
    with pytest.raises(DataError, match="weights in column 'heavy' must be numbers"):
        MultilabelDataset.from_frame(frame, label_columns=["war"], weight_column="heavy")


@pytest.mark.parametrize("labels", [["war"], "war"])
@pytest.mark.parametrize("values", [[1, "a"], [pd.Interval(0, 1), pd.Interval(1, 2)]])
def test_categories_that_are_no_labels(values, labels):
    frame = pd.DataFrame({"minutes": [150.0, 90.0], "war": pd.Categorical(values)})
    with pytest.raises(ScumbleError, match="column 'war'"):
        MultilabelDataset.from_frame(frame, label_columns=labels)


def test_sparse_columns_of_text():
    words = pd.arrays.SparseArray(np.array(["a", 0, "b"], object), fill_value=0)
    frame = pd.DataFrame({"word": words, "war": [1, 0, 1]})
    with pytest.raises(DataError, match="column 'word' of type object cannot be read"):
        MultilabelDataset.from_frame(frame, label_columns=["war"])


def test_texts_of_labels_are_cut_and_empty_names_counted():
    names, counts, n_empty = split_labels(pa.array(["war; love", "", "war;;"]), ";")
    assert names.to_pylist() == ["war", "love", "war"]
    assert (counts.tolist(), n_empty) == ([2, 0, 1], 2)


def test_columns_that_are_numbered_are_named_by_number():
    frame = pd.DataFrame([[5.0, 1, 0, 2.0, "b;a"], [6.0, 0, 1, 3.0, "a"]])
    data = from_frame(frame, label_columns=[1, 2], ignore=[0, 4], weight_column=3)
    assert (data.labels, data.n_features, data.weights.tolist()) == (("1", "2"), 0, [2.0, 3.0])
    lists = from_frame(frame, label_columns=4, label_separator=";", ignore=0)
    assert (lists.labels, lists.Y.toarray().tolist()) == (("a", "b"), [[1, 1], [1, 0]])
    with pytest.raises(DataError, match="no column '7'"):
        from_frame(frame, label_columns=[1, 2], ignore=7)
    with pytest.raises(ParameterError, match="must be one column"):
        from_frame(frame, label_columns=[1, 2], weight_column=[3, 0])


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(
    "labels",
    [np.array([1, 2]), np.array(["b", "c"]), pd.Index(["b", "c"]), np.int64(-2), {"b", "c"}],
)
def test_labels_of_a_table_may_be_an_array_or_an_index(tmp_path, suffix, labels):
    frame, path = pd.DataFrame({"a": [2, 3], "b": [1, 0], "c": [1, 1]}), tmp_path / f"t{suffix}"
    frame.to_csv(path, index=False) if suffix == ".csv" else frame.to_parquet(path)
    assert read(path, labels=labels) == read(path, labels=["b", "c"])
