"""MLSMOTE against a slow version that takes the rule word by word."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

from scumble import MultilabelDataset, ScumbleError
from scumble.data import Feature
from scumble.measures import is_minority
from scumble.resample import MLSMOTE


def slow_neighbours(X, Y, label, seed, k, nominal, scale):
    """Rank the other rows of the label's bag by distance, then row number."""
    span = X.max(axis=0) - X.min(axis=0)
    span = np.where(span > 0, span, np.inf) if scale else np.ones(X.shape[1])
    bag = np.flatnonzero(Y[:, label])
    terms = (X[bag] / span - X[seed] / span) ** 2
    for column in nominal:
        # Twice the difference of the label's shares among the rows with either value.
        share = {value: Y[X[:, column] == value, label].mean() for value in set(X[bag, column])}
        own = 2 * share[X[seed, column]]
        terms[:, column] = [abs(own - 2 * share[value]) for value in X[bag, column]]
    totals = np.cumsum(terms, axis=1)[:, -1]  # one column after another
    ranked = sorted((total, row) for total, row in zip(totals, bag, strict=True) if row != seed)
    return [row for _, row in ranked[:k]]


def slow_labels(Y, members, strategy, ties=False):
    counts = Y[members].sum(axis=0)
    if strategy == "union":
        return counts > 0
    if strategy == "intersection":
        return counts == len(members)
    return 2 * counts >= len(members) if ties else 2 * counts > len(members)


def assert_follows_the_rule(X, Y, X_new, Y_new, sampler, nominal):
    """Check every synthetic row against the slow version."""
    k, scale = sampler.n_neighbors, sampler.scale
    X, Y, X_new, Y_new = (
        part.toarray() if sparse.issparse(part) else np.asarray(part)
        for part in (X, Y, X_new, Y_new)
    )
    X, Y = X.astype(float), Y.astype(bool)
    np.testing.assert_array_equal(X_new[: len(X)], X)
    np.testing.assert_array_equal(Y_new[: len(Y)], Y)
    at = len(X)
    numeric = [column for column in range(X.shape[1]) if column not in nominal]
    for label in np.flatnonzero(is_minority(Y)):
        bag = np.flatnonzero(Y[:, label])
        for seed in bag if len(bag) > 1 else []:
            assert sampler.sample_indices_[at] == seed
            near = slow_neighbours(X, Y, label, seed, k, nominal, scale)
            low, high = (
                end(X[seed, numeric], X[near][:, numeric]) for end in (np.minimum, np.maximum)
            )
            inside = (low <= X_new[at, numeric]) & (X_new[at, numeric] <= high)
            assert inside.all(axis=1).any()  # one of the neighbours is the partner
            for column in nominal:
                values, counts = np.unique(X[near, column], return_counts=True)
                assert X_new[at, column] == values[counts.argmax()]
            expected = slow_labels(Y, [seed, *near], sampler.strategy)
            np.testing.assert_array_equal(Y_new[at].astype(bool), expected)
            at += 1
    assert at == len(X_new)


def problem(seed, n=40, n_nominal=2, ties=False):
    rng = np.random.default_rng(seed)
    numeric = rng.integers(0, 4, (n, 3)) / 2 if ties else rng.normal(size=(n, 3))
    X = np.hstack([numeric, rng.integers(0, 3, (n, n_nominal))])
    Y = rng.random((n, 5)) < [0.8, 0.5, 0.2, 0.15, 0.05]
    return X, Y, list(range(3, 3 + n_nominal))


@pytest.mark.parametrize("strategy", ["ranking", "union", "intersection"])
@pytest.mark.parametrize("k", [1, 3, 50])
@given(seed=st.integers(0, 10_000), ties=st.booleans(), scale=st.booleans())
def test_every_synthetic_row_follows_the_rule(strategy, k, seed, ties, scale):
    X, Y, nominal = problem(seed, ties=ties)
    sampler = MLSMOTE(
        n_neighbors=k,
        strategy=strategy,
        categorical_features=nominal,
        scale=scale,
        random_state=seed,
    )

    X_new, Y_new = sampler.fit_resample(X, Y)

    assert_follows_the_rule(X, Y, X_new, Y_new, sampler, nominal)


@given(seed=st.integers(0, 10_000))
def test_dense_and_sparse_features_give_the_same_rows(seed):
    X, Y, nominal = problem(seed)
    X[:, :3] *= np.random.default_rng(seed).random((len(X), 3)) < 0.5
    sampler = MLSMOTE(categorical_features=nominal, random_state=seed)

    dense, _ = sampler.fit_resample(X, Y)
    thin, _ = sampler.fit_resample(sparse.csr_array(X), Y)

    np.testing.assert_array_equal(thin.toarray(), dense)


@pytest.mark.parametrize("name", ["flags", "emotions", "birds", "yeast", "genbase", "medical"])
def test_real_data_follows_the_rule(datasets, name):
    from scumble.data import read

    files = sorted((datasets / name).glob(f"{name}.arff*"))
    data = read(files[0])
    data = data[np.arange(0, data.n_instances, 4)] if data.n_instances > 600 else data
    sampler = MLSMOTE(n_neighbors=5, strategy="ranking", random_state=0)

    after = sampler.resample(data)

    whole = [at for at, feature in enumerate(data.features) if feature.integer]
    values = after.X.toarray() if after.is_sparse else after.X
    np.testing.assert_array_equal(values[:, whole], np.rint(values[:, whole]))
    assert sampler.n_added_ > 0
    nominal = list(data.categorical_features)
    assert_follows_the_rule(data.X, data.Y, after.X, after.Y, sampler, nominal)


def rare_rows(X):
    """Label 0 everywhere, label 1 on the given rows alone."""
    X = np.asarray(X, float)
    filler = np.full((6, X.shape[1]), 99.0)
    Y = np.zeros((6 + len(X), 2), int)
    Y[:, 0] = 1
    Y[6:, 1] = 1
    return np.vstack([filler, X]), Y


def test_the_nearest_neighbour_is_used():
    # mldr.resampling takes the 2nd to (k+1)-th nearest.
    X, Y = rare_rows([[0.0], [1.0], [50.0]])
    for seed in range(20):
        sampler = MLSMOTE(n_neighbors=1, random_state=seed)
        X_new, _ = sampler.fit_resample(X, Y)
        assert 0 <= X_new[9, 0] <= 1
        assert 0 <= X_new[10, 0] <= 1
        assert 1 <= X_new[11, 0] <= 50


def test_every_neighbour_becomes_partner_equally_often():
    # mldr.resampling interpolates with an arbitrary row of the data.
    X, Y = rare_rows([[0.0, 0], [1.0, 0], [0.0, 2], [-3.0, 0], [80, 80]])
    counts = np.zeros(3)
    n_runs = 900
    for seed in range(n_runs):
        new = MLSMOTE(n_neighbors=3, scale=False, random_state=seed).fit_resample(X, Y)[0][11]
        counts += [new[0] > 0, new[1] > 0, new[0] < 0]

    assert counts.sum() == n_runs
    assert (abs(counts - n_runs / 3) < 4 * np.sqrt(n_runs * 2 / 9)).all()


def test_the_first_synthetic_row_is_there():
    # mldr.resampling drops it.
    X, Y = rare_rows([[0.0], [4.0]])

    sampler = MLSMOTE(random_state=0)
    X_new, _ = sampler.fit_resample(X, Y)

    assert sampler.sample_indices_[8:].tolist() == [6, 7]
    assert len(X_new) == 10


def test_each_feature_has_a_factor_of_its_own():
    X, Y = rare_rows([[0.0] * 4, [1.0] * 4])

    X_new, _ = MLSMOTE(random_state=0).fit_resample(X, Y)

    assert len(set(X_new[8].tolist())) == 4


def test_labels_by_hand():
    # The seed has {0, 1, 2}, its neighbours {0, 1, 3}, {0, 1} and {0, 1, 2}: label 2 is had by
    # two of four, label 3 by one.
    X = np.array([[0.0], [0.1], [0.2], [0.3], *[[float(at)] for at in range(5, 25)]])
    Y = np.zeros((24, 6), int)
    Y[:, 0] = 1
    Y[:4, 1] = 1
    Y[[0, 3], 2] = Y[1, 3] = 1
    Y[4:, [2, 3, 4, 5]] = 1

    def first(**parameters):
        _, Y_new = MLSMOTE(n_neighbors=3, random_state=0, **parameters).fit_resample(X, Y)
        return np.flatnonzero(Y_new[24]).tolist()

    assert is_minority(Y).tolist() == [False, True, False, False, False, False]
    assert first() == [0, 1]
    assert first(ranking_ties=True) == [0, 1, 2]
    assert first(strategy="union") == [0, 1, 2, 3]
    assert first(strategy="intersection") == [0, 1]


def test_integers_stay_whole_and_floats_keep_their_type():
    X, Y = rare_rows([[0, 10], [7, 30], [3, 90]])
    for kind in (np.int32, np.uint8, np.float32):
        X_new, _ = MLSMOTE(random_state=1).fit_resample(X.astype(kind), Y)
        assert X_new.dtype == kind
    X_new, _ = MLSMOTE(random_state=1).fit_resample(X.astype(int), Y)
    assert ((X_new[9:] >= [0, 10]) & (X_new[9:] <= [7, 90])).all()


def test_data_sets_tell_their_nominal_and_integer_columns():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 30, 40), rng.integers(0, 3, 40), rng.normal(size=40)])
    Y = rng.random((40, 3)) < [0.9, 0.5, 0.2]
    features = [
        Feature("whole", integer=True),
        Feature("colour", "nominal", ("red", "green", "blue")),
        Feature("real"),
    ]
    sampler = MLSMOTE(random_state=0)
    assert (sampler.n_neighbors, sampler.strategy) == (5, "ranking")

    after = sampler.resample(MultilabelDataset(X, Y, features=features))

    new = after.X[40:]
    assert len(new) > 3
    np.testing.assert_array_equal(new[:, :2], np.rint(new[:, :2]))
    assert (new[:, 2] != np.rint(new[:, 2])).any()
    assert_follows_the_rule(X, Y, after.X, after.Y.toarray(), sampler, [1])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_keep_categories_texts_and_types(library):
    frames = pytest.importorskip(library, reason="pip install 'scumble[frames]'")
    rng = np.random.default_rng(1)
    X, Y, _ = problem(1)
    texts = np.array(["one", "two", "three"])[X[:, 3].astype(int)]
    data = {
        "real": X[:, 0],
        "whole": rng.integers(0, 9, 40),
        "text": texts.tolist(),
        "yes": (X[:, 1] > 0),
    }
    frame = frames.DataFrame(data)
    kind = frames.CategoricalDtype(["c", "a", "b"]) if library == "pandas" else frames.Enum("cab")
    values = np.array(["c", "a", "b"])[X[:, 4].astype(int)].tolist()
    column = frames.Series(values, dtype=kind) if library == "pandas" else None
    frame = (
        frame.assign(kind=column)
        if library == "pandas"
        else frame.with_columns(frames.Series("kind", values, dtype=kind))
    )

    X_new, Y_new = MLSMOTE(random_state=0).fit_resample(frame, Y)

    assert list(X_new.columns) == ["real", "whole", "text", "yes", "kind"]
    assert list(X_new.dtypes) == list(frame.dtypes)
    codes = np.column_stack(
        [
            data["real"],
            data["whole"],
            [["one", "three", "two"].index(text) for text in texts],
            data["yes"],
            X[:, 4],
        ]
    )
    coded, Y_coded = MLSMOTE(categorical_features={2: 3, 3: 2, 4: 3}, random_state=0).fit_resample(
        codes, Y
    )
    np.testing.assert_array_equal(Y_new, Y_coded)
    np.testing.assert_array_equal(X_new["real"].to_numpy(), coded[:, 0])
    np.testing.assert_array_equal(X_new["whole"].to_numpy(), np.rint(coded[:, 1]))
    assert X_new["text"].to_list() == [["one", "three", "two"][int(c)] for c in coded[:, 2]]
    assert X_new["kind"].to_list() == ["cab"[int(c)] for c in coded[:, 4]]
    assert X_new["yes"].to_list() == (coded[:, 3] == 1).tolist()


def test_objects_are_read_column_by_column():
    X, Y, _ = problem(3, n_nominal=1)
    mixed = np.empty((40, 2), object)
    mixed[:, 0] = X[:, 0].tolist()
    mixed[:, 1] = ["abc"[int(code)] for code in X[:, 3]]

    X_new, _ = MLSMOTE(random_state=0).fit_resample(mixed, Y)
    coded, _ = MLSMOTE(random_state=0, categorical_features=[1]).fit_resample(X[:, [0, 3]], Y)

    assert X_new[:, 0].tolist() == coded[:, 0].tolist()
    assert X_new[:, 1].tolist() == ["abc"[int(code)] for code in coded[:, 1]]


@pytest.mark.parametrize(
    "spec", [[3, 4], [False, False, False, True, True], {3: 3, 4: 7}, np.array([3, -1])]
)
def test_categorical_columns_can_be_told_in_many_ways(spec):
    X, Y, nominal = problem(5)
    expected, _ = MLSMOTE(categorical_features=nominal, random_state=0).fit_resample(X, Y)

    X_new, _ = MLSMOTE(categorical_features=spec, random_state=0).fit_resample(X, Y)

    np.testing.assert_array_equal(X_new, expected)


def test_a_label_with_one_row_adds_nothing():
    X, Y = rare_rows([[0.0]])

    sampler = MLSMOTE()
    X_new, _ = sampler.fit_resample(X, Y)

    np.testing.assert_array_equal(X_new, X)
    assert sampler.n_added_ == 0


def test_duplicated_rows_give_duplicates():
    X, Y = rare_rows([[5.0, 1], [5.0, 1], [5.0, 1]])

    X_new, _ = MLSMOTE(random_state=0).fit_resample(X, Y)

    assert X_new[9:].tolist() == [[5.0, 1]] * 3


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "'n_neighbors' parameter of MLSMOTE must be an int"),
        ({"n_neighbors": 2.5}, "'n_neighbors' parameter"),
        ({"strategy": "vote"}, "'strategy' parameter of MLSMOTE must be one of 'ranking'"),
        ({"ranking_ties": 1}, "'ranking_ties' parameter"),
        ({"scale": "yes"}, "'scale' parameter"),
        ({"categorical_features": [7]}, "names the column 7"),
        ({"categorical_features": ["a"]}, "names the column 'a'"),
        ({"categorical_features": [True]}, "must have 5 entries"),
        ({"categorical_features": {3: -1}}, "maps column 3 to -1"),
        ({"categorical_features": "ab"}, "must be None, column numbers"),
        ({"categorical_features": [0]}, "categorical column 0 of X holds"),
    ],
)
def test_wrong_parameters(parameters, message):
    X, Y, _ = problem(0)
    with pytest.raises(ScumbleError, match=message):
        MLSMOTE(**parameters).fit_resample(X, Y)


@pytest.mark.parametrize("make", [np.array, sparse.csr_array])
def test_infinite_values_are_refused(make):
    X, Y, _ = problem(0)
    X[4, 2] = np.inf
    for method in ("fit", "fit_resample"):
        with pytest.raises(ScumbleError, match="X holds inf in row 4, column 2"):
            getattr(MLSMOTE(), method)(make(X), Y)


def test_frames_name_the_column_that_is_wrong():
    pd = pytest.importorskip("pandas", reason="pip install 'scumble[frames]'")
    _, Y, _ = problem(0)
    endless = pd.DataFrame({"a": [np.inf, *[1.0] * 39], "b": range(40)})
    with pytest.raises(ScumbleError, match=r"X holds inf in row 0, column 'a'"):
        MLSMOTE().fit_resample(endless, Y)
    dates = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=40)})
    with pytest.raises(ScumbleError, match="column 'when' of X holds values of type datetime"):
        MLSMOTE().fit_resample(dates, Y)
