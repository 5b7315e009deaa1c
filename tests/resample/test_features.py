"""Frames of all sorts come back with their types, and categorical columns are found."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from scumble import ScumbleError
from scumble._validation.features import read_features
from scumble.resample import MLSMOTE, MLSOL, LabelsetSMOTE

N = 40
SAMPLERS = [MLSMOTE(random_state=0), MLSOL(random_state=0), LabelsetSMOTE(random_state=0)]


def labels():
    return np.random.default_rng(0).random((N, 4)) < [0.8, 0.5, 0.2, 0.1]


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda sampler: type(sampler).__name__)
def test_pandas_extension_types(sampler):
    pd = pytest.importorskip("pandas", reason="pip install 'scumble[frames]'")
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "i": pd.array(rng.integers(0, 9, N), dtype="Int64"),
            "f": pd.array(rng.random(N), dtype="Float64"),
            "c": pd.Categorical(rng.integers(3, 6, N)),
            "s": pd.array(list("ab" * 20), dtype="string"),
            "b": pd.array([True, False] * 20, dtype="boolean"),
            "u": rng.integers(0, 255, N).astype("u1"),
        },
        index=pd.date_range("2024-01-01", periods=N),
    )

    X_new, _ = sampler.fit_resample(X, labels())

    assert len(X_new) > N
    assert list(X_new.dtypes) == list(X.dtypes)
    assert X_new.index.equals(X.index[sampler.sample_indices_])
    assert X_new.notna().all().all()
    assert set(X_new["c"]) <= {3, 4, 5}
    assert set(X_new["s"]) <= {"a", "b"}


def test_pandas_columns_may_share_a_name():
    pd = pytest.importorskip("pandas", reason="pip install 'scumble[frames]'")
    X = np.random.default_rng(2).random((N, 3))
    expected, _ = MLSMOTE(random_state=0).fit_resample(X, labels())

    frame = pd.DataFrame(X, columns=["x", "x", "y"])
    X_new, _ = MLSMOTE(random_state=0).fit_resample(frame, labels())

    np.testing.assert_array_equal(X_new.to_numpy(), expected)
    assert list(X_new.columns) == ["x", "x", "y"]


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda sampler: type(sampler).__name__)
def test_polars_types(sampler):
    pl = pytest.importorskip("polars", reason="pip install 'scumble[frames]'")
    rng = np.random.default_rng(3)
    X = pl.DataFrame(
        {
            "c": pl.Series(["a", "b", "c", "a"] * 10, dtype=pl.Categorical),
            "e": pl.Series(["a", "b", "c", "a"] * 10, dtype=pl.Enum(["c", "b", "a"])),
            "i": pl.Series(rng.integers(0, 9, N), dtype=pl.Int8),
            "b": [True, False] * 20,
            "f": pl.Series(rng.random(N), dtype=pl.Float32),
        }
    )

    X_new, _ = sampler.fit_resample(X, labels())

    assert len(X_new) > N
    assert X_new.schema == X.schema
    assert X_new.null_count().sum_horizontal().item() == 0


def test_arrow_tables():
    rng = np.random.default_rng(4)
    X = pa.table({"f": rng.random(N), "s": ["u", "v"] * 20, "i": rng.integers(0, 9, N)})

    X_new, _ = MLSMOTE(random_state=0).fit_resample(X, labels())

    assert X_new.schema == X.schema
    assert set(X_new["s"].to_pylist()) == {"u", "v"}


CODED = pa.dictionary(pa.int8(), pa.string())


@pytest.mark.parametrize("make", [pa.table, pa.record_batch])
@pytest.mark.parametrize(
    "column",
    [
        pa.array(list("ab" * 20)).dictionary_encode(),
        pa.array([*"ab" * 19, None, "c"]).dictionary_encode().cast(CODED),
        pa.array([7, 8] * 20).dictionary_encode(),
        pa.array(list("ab" * 20), pa.large_string()),
        pa.array(range(N), pa.int32()).cast(pa.decimal128(14, 2)),
        pa.array([None] * N),
    ],
    ids=lambda column: str(column.type),
)
def test_arrow_types(make, column):
    X = make([pa.array(np.arange(N) / 7), column], names=["same", "same"])

    X_new, _ = MLSMOTE(random_state=0).fit_resample(X, labels())

    X_new.validate(full=True)
    assert (type(X_new), X_new.schema) == (type(X), X.schema)
    assert X_new.num_rows > N
    assert X_new.slice(0, N).equals(X)
    if not pa.types.is_decimal(column.type):
        assert set(X_new.column(1).to_pylist()) <= set(column.to_pylist())


def test_truth_values_are_nominal():
    X = np.random.default_rng(5).random((N, 3)) < 0.5
    for form in (X, sparse.csr_array(X)):
        assert read_features(form, caller="test").n_values.tolist() == [2, 2, 2]
        X_new, _ = MLSMOTE(random_state=0).fit_resample(form, labels())
        assert X_new.dtype == bool


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda sampler: type(sampler).__name__)
@pytest.mark.parametrize("kind", ["U3", "S3", object])
def test_arrays_of_text_stay_text(sampler, kind):
    X = np.array(["a", "bb", "ccc"], kind)[np.random.default_rng(6).integers(0, 3, (N, 2))]

    X_new, _ = sampler.fit_resample(X, labels())

    assert X_new.dtype == X.dtype
    assert len(X_new) > N
    assert set(X_new[N:].ravel().tolist()) <= set(X.ravel().tolist())


def test_columns_of_lists_are_refused():
    pl = pytest.importorskip("polars", reason="pip install 'scumble[frames]'")
    X = pl.DataFrame({"a": range(N), "words": [["x", "y"]] * N})

    with pytest.raises(ScumbleError, match="column 'words' of X holds values of type"):
        MLSMOTE().fit_resample(X, labels())
