"""Resamplers that take distances do with the values that are known."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

from scumble._core.neighbours import Space
from scumble._validation.features import read_features
from scumble.resample import MLSMOTE, MLSOL, MLTL, MLUL, LabelsetSMOTE, MLeNN
from scumble.resample.local import LocalImbalance, _assign_labels
from scumble.resample.mlsmote import ValueDifferenceMetric
from scumble.resample.synthesis import SeedInstances, synthesize

N = 40
NOMINAL = {3: 2, 4: 3}


def labels():
    rng = np.random.default_rng(1)
    return (rng.random((N, 3)) < [0.6, 0.3, 0.15]).astype(int)


def labels_of_alike():
    """Rare labels for rows of which the same columns are missing, every fourth row alike."""
    Y = np.zeros((N, 3), int)
    Y[:, 0] = 1
    Y[[1, 9, 17, 25], 1] = 1
    Y[[2, 10, 18, 26], 2] = 1
    return Y


def gapped(rng, n, share=0.3):
    """Numbers and codes, zeros among them, with gaps."""
    X = np.column_stack(
        [rng.integers(0, 4, (n, 3)) / 2, rng.integers(0, 2, n), rng.integers(0, 3, n)]
    )
    X[rng.random(X.shape) < share] = np.nan
    return X


def slow_rows(X, n_values, seeds, partners, rng, nominal):
    """Make synthetic rows cell by cell, a draw at a time."""
    rows = []
    for at, seed in enumerate(seeds.rows):
        row = []
        for column, count in enumerate(n_values):
            a, b = X[seed, column], X[partners[at], column]
            if count and nominal == "vote":
                near = X[seeds.neighbours[at, : seeds.neighbour_counts[at]], column]
                known = near[~np.isnan(near)].astype(int)
                row.append(np.bincount(known).argmax() if len(known) else a)
            elif math.isnan(a) or math.isnan(b):
                row.append(b if math.isnan(a) else a)
            elif a == b:
                row.append(a)
            elif count:
                row.append(a if rng.random() < 0.5 else b)
            else:
                row.append(a + (b - a) * rng.random())
        rows.append(row)
    return np.array(rows, float)


@given(st.integers(0, 10_000), st.sampled_from(["vote", "coin"]), st.floats(0, 0.8))
def test_synthetic_rows_are_those_of_the_slow_way(seed, nominal, share):
    rng = np.random.default_rng(seed)
    X = gapped(rng, 12, share)
    rows = rng.integers(0, 12, 9)
    seeds = SeedInstances(rows, rng.integers(0, 12, (9, 3)), rng.integers(1, 4, 9))
    partners = seeds.draw_partners(rng)

    made = {}
    for form in (np.asarray, sparse.csr_array):
        features = read_features(form(X), NOMINAL, caller="test")
        made[form] = synthesize(
            features, seeds, partners, np.random.default_rng(seed), nominal=nominal, n_jobs=1
        )

    expected = slow_rows(
        X, features.n_values, seeds, partners, np.random.default_rng(seed), nominal
    )
    np.testing.assert_array_equal(made[np.asarray], expected)
    np.testing.assert_array_equal(made[sparse.csr_array].toarray(), expected)


def test_mlsmote_by_hand():
    # Label 1 is rare; its two rows are each other's neighbour. Column 0 is known in both, column
    # 1 in the first, column 2 in the second, column 3 in neither; codes: the neighbour's in
    # column 4, the seed's own where the neighbour has none.
    nan = np.nan
    X = np.zeros((6, 6))
    X[4] = [1.0, 7.0, nan, nan, 0, 2]
    X[5] = [2.0, nan, 8.0, nan, 1, nan]
    Y = np.array([[1, 0]] * 4 + [[1, 1]] * 2)

    for form in (np.asarray, sparse.csr_array):
        sampler = MLSMOTE(categorical_features=[4, 5], random_state=0)
        X_new, _ = sampler.fit_resample(form(X), Y)
        first, second = (X_new.toarray() if sparse.issparse(X_new) else X_new)[6:]

        assert 1 <= first[0] <= 2
        assert 1 <= second[0] <= 2
        np.testing.assert_array_equal(first[1:], [7, 8, nan, 1, 2])
        np.testing.assert_array_equal(second[1:], [7, 8, nan, 0, 2])


def test_the_shares_of_a_value_are_those_among_rows_that_know_theirs():
    X = np.array([[0], [0], [np.nan], [1], [1], [np.nan]])
    for form in (np.asarray, sparse.csr_array):
        table = ValueDifferenceMetric(read_features(form(X), [0], caller="test"))
        # Of two rows with value 0 one has the label; the row without a value says nothing.
        assert table.table(np.array([1, 2, 3, 4])).tolist() == [1.0, 2.0]


def test_mlenn_by_hand():
    # Row 0 knows column 1 alone, where rows 4 and 5 are its neighbours; of these, labels differ.
    X = np.array([[np.nan, 0.0], [0.0, 9.0], [0.1, 9.1], [0.2, 9.2], [9.0, 0.0], [9.1, 0.1]])
    Y = np.array([[1, 0], [1, 0], [1, 0], [1, 0], [0, 1], [0, 1]])
    sampler = MLeNN(n_neighbors=2)
    sampler.fit_resample(X, np.hstack([Y, np.eye(6, 2, dtype=int) * 0]))

    assert sampler.sample_indices_.tolist() == [1, 2, 3, 4, 5]


def test_mltl_takes_the_nearest_by_what_is_known():
    X = np.array([[0.0, np.nan], [5.0, 0.0], [0.2, 9.0], [5.5, 9.0]])
    Y = np.array([[1, 0], [1, 0], [0, 1], [1, 0]])
    sampler = MLTL(threshold=0.5)
    sampler.fit_resample(X, Y)

    # Row 0 shares its only known column with row 2, which has another label.
    assert 0 not in sampler.sample_indices_


def test_mlsol_where_nothing_is_known_of_a_parent():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    X[::3] = np.nan
    X_new, Y_new = MLSOL(percent=200, random_state=0).fit_resample(X, labels())

    assert len(X_new) == len(Y_new) == 3 * N


@pytest.mark.parametrize(
    ("known", "taken"),
    # Label 0 is the seed's, label 1 the partner's. Between two parents of which nothing is known
    # neither is far; of one that is known alone, the new row is a copy.
    [("neither", [1, 1]), ("seed", [1, 0]), ("partner", [0, 1])],
)
def test_mlsol_takes_a_parent_of_which_nothing_is_known_for_the_farther_one(known, taken):
    X = np.full((3, 2), np.nan)
    X[2] = 1.0
    X[{"neither": [], "seed": [0], "partner": [1]}[known]] = 0.0
    cells = sparse.csr_array(np.array([[1, 0], [0, 1], [0, 0]], bool))
    safe = np.zeros(2, np.int8)  # kind 0 of a cell
    nothing = np.zeros(0, np.int64)
    space = Space.from_matrix(X)
    made = np.where(np.isnan(X[:1]), X[1:2], X[:1])

    labels = _assign_labels(
        LocalImbalance(cells, nothing, nothing, safe, nothing, nothing),
        space, space.transform(made), seed_rows=np.array([0]), partner_rows=np.array([1]),
    )  # fmt: skip

    assert labels.toarray().astype(int).tolist() == [taken]


SAMPLERS = [MLSMOTE, LabelsetSMOTE, MLSOL, MLUL, MLeNN, MLTL]


@pytest.mark.parametrize("make", SAMPLERS)
def test_a_column_missing_everywhere_changes_nothing(make):
    X = gapped(np.random.default_rng(2), N)
    wider = np.insert(X, 2, np.nan, axis=1)
    seed = {"random_state": 4} if "random_state" in make().get_params() else {}

    one, two = (make(**seed).fit_resample(part, labels()) for part in (X, wider))

    np.testing.assert_array_equal(np.delete(two[0], 2, axis=1), one[0])
    assert np.isnan(two[0][:, 2]).all()
    np.testing.assert_array_equal(one[1], two[1])


@pytest.mark.parametrize("make", [MLSMOTE, LabelsetSMOTE, MLSOL])
def test_frames_keep_their_marks_of_missing_values(make):
    pd = pytest.importorskip("pandas", reason="pip install 'scumble[frames]'")
    frame = pd.DataFrame(
        {
            "float": [0.5, np.nan] * 20,
            "Int64": pd.array([1, 5, None, 2] * 10, dtype="Int64"),
            "boolean": pd.array([True, None, False, None] * 10, dtype="boolean"),
            "string": pd.array(["a", None, "b", "b"] * 10, dtype="string"),
            "category": pd.Categorical(["x", "y", None, None] * 10),
            "object": pd.Series(["u", None, "v", None] * 10, dtype=object),
        }
    )
    X_new, _ = make(n_neighbors=3, random_state=0).fit_resample(frame, labels_of_alike())

    assert len(X_new) > N
    assert X_new.dtypes.tolist() == frame.dtypes.tolist()
    for name in frame:
        assert X_new[name].isna()[N:].any()
        assert set(X_new[name].dropna()) <= set(frame[name].dropna()) or name in ("float", "Int64")
    assert X_new["Int64"].dropna().between(1, 5).all()
    assert all(value is None for value in X_new["object"] if pd.isna(value))


@pytest.mark.parametrize("make", [MLSMOTE, LabelsetSMOTE, MLSOL])
def test_frames_of_polars_keep_nulls_and_nans_apart(make):
    pl = pytest.importorskip("polars", reason="pip install 'scumble[frames]'")
    frame = pl.DataFrame(
        {
            "null": [0.5, None] * 20,
            "nan": [0.5, math.nan] * 20,
            "int": [1, 5, None, 2] * 10,
            "text": ["a", None, "b", "b"] * 10,
            "kind": pl.Series(["x", "y", None, None] * 10, dtype=pl.Categorical),
            "truth": [True, None, False, None] * 10,
        }
    )
    X_new, _ = make(n_neighbors=3, random_state=0).fit_resample(frame, labels_of_alike())

    assert X_new.schema == frame.schema
    assert len(X_new) > N
    assert X_new["nan"].null_count() == 0
    assert X_new["nan"].is_nan()[N:].any()
    for name in ("null", "int", "text", "kind", "truth"):
        assert X_new[name][N:].null_count() > 0, name
    assert not X_new["null"].is_nan().any()


@pytest.mark.parametrize("make", [MLSMOTE, LabelsetSMOTE, MLSOL])
def test_arrays_of_objects_keep_their_marks(make):
    X = np.array([["a", 1.5], [None, 2.5], ["b", None], ["b", 4.0]] * 10, object)
    X_new, _ = make(n_neighbors=3, random_state=0).fit_resample(X, labels_of_alike())

    assert {value for value in X_new[:, 0].tolist() if value is not None} == {"a", "b"}
    assert any(value is None for value in X_new[N:, 0])
    assert any(value is None for value in X_new[N:, 1])
