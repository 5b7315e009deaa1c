"""Checks that every resampler has to pass.

A check is a function that takes a resampler and raises an AssertionError if it does not behave as
it should. It works on clones, so that the resampler itself is not fitted.

Use them in your own test suite::

    @pytest.mark.parametrize("check", resampler_checks(), ids=lambda check: check.__name__)
    def test_my_resampler(check):
        check(MyResampler())
"""

import pickle
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from scumble._core.arrays import Array
from scumble._core.errors import ScumbleError
from scumble.data import Feature, MultilabelDataset

Check = Callable[[Any], None]


def make_multilabel_example(
    n_samples: int = 40, n_labels: int = 5, seed: int = 0
) -> tuple[Array, Array]:
    """Return X and Y of a small data set with imbalanced labels.

    X has three numeric columns; Y is an array of 0 and 1 whose labels are ever rarer. The first row
    has all labels and the last one none.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 3)).round(3)
    frequencies = 0.8 / 2.0 ** np.arange(n_labels)
    Y = (rng.random((n_samples, n_labels)) < frequencies).astype(int)
    Y[0] = 1  # an instance with all labels, so that no label is unseen
    Y[-1] = 0  # an instance without labels
    return X, Y


def check_resampler(resampler: Any) -> None:
    """Run every check on a resampler.

    Parameters
    ----------
    resampler : object
        An object with ``fit_resample`` and scikit-learn's ``get_params``.

    Examples
    --------
    >>> from scumble.resample import REMEDIAL
    >>> from scumble.testing import check_resampler
    >>> check_resampler(REMEDIAL())
    """
    for check in resampler_checks():
        check(resampler)


def resampler_checks() -> list[Check]:
    """Return the checks; each takes a resampler and raises AssertionError if it fails.

    Returns
    -------
    list of callable
        Functions whose names begin with ``check_``.

    Examples
    --------
    >>> from scumble.resample import MLROS
    >>> from scumble.testing import resampler_checks
    >>> for check in resampler_checks()[:3]:
    ...     check(MLROS())
    """
    return [
        function
        for name, function in globals().items()
        if name.startswith("check_") and function is not check_resampler
    ]


def _clone_with_seed(resampler: Any, seed: int = 3) -> Any:
    """Return an unfitted clone of a resampler; ``random_state`` is set if it is a parameter."""
    copy = clone(resampler)
    if "random_state" in copy.get_params():
        copy.set_params(random_state=seed)
    return copy


def _to_dense(data: Any) -> Array:
    """Return an array, sparse matrix or data frame as a dense array."""
    if sparse.issparse(data):
        return data.toarray()
    if hasattr(data, "to_numpy"):
        return data.to_numpy()
    return np.asarray(data)


def _assert_equal(actual: Sequence[Any], expected: Sequence[Any]) -> None:
    """Assert that two results, (X, Y) each, have equal values; containers may differ."""
    for actual_part, expected_part in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(_to_dense(actual_part), _to_dense(expected_part))


def _assert_close(actual: Sequence[Any], expected: Sequence[Any]) -> None:
    """Assert that two results, (X, Y) each, have equal X up to rounding errors and equal Y."""
    np.testing.assert_allclose(_to_dense(actual[0]), expected[0], atol=1e-9)
    _assert_equal(actual[1:], expected[1:])


def _error_of(resampler: Any, X: Any, Y: Any) -> ScumbleError | None:
    """Return the ScumbleError that a resampler raises for X and Y; None if it accepts them."""
    try:
        resampler.fit_resample(X, Y)
    except ScumbleError as error:
        return error
    return None


def check_sample_indices(resampler: Any) -> None:
    """Check that `sample_indices_` has the index of an input row for every output row.

    ``n_added_``, ``n_removed_`` and the summary must agree with the number of output rows.
    """
    X, Y = make_multilabel_example()
    sampler = _clone_with_seed(resampler)
    X_new, Y_new = sampler.fit_resample(X, Y)
    indices = sampler.sample_indices_
    assert X_new.shape[0] == Y_new.shape[0] == len(indices)
    assert X_new.shape[1] == X.shape[1]
    assert Y_new.shape[1] == Y.shape[1]
    assert indices.min() >= 0
    assert indices.max() < len(X)
    assert len(indices) == len(X) + sampler.n_added_ - sampler.n_removed_
    assert len(X) - len(set(indices.tolist())) == sampler.n_removed_
    assert sampler.summary()["after"]["n_instances"] == len(indices)


def check_containers_are_preserved(resampler: Any) -> None:
    """Check that results have the type of the input, and equal values for all types.

    The types are arrays, sparse matrices and data frames; lists become arrays.
    """
    X, Y = make_multilabel_example()
    expected = _clone_with_seed(resampler).fit_resample(X, Y)
    for container in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
        actual = _clone_with_seed(resampler).fit_resample(container(X), container(Y))
        assert [type(part) for part in actual] == [container, container]
        _assert_close(actual, expected)
    X_new, Y_new = _clone_with_seed(resampler).fit_resample(X.tolist(), Y.tolist())
    assert isinstance(X_new, np.ndarray)
    np.testing.assert_array_equal(Y_new, expected[1])
    for library in _frame_libraries("pandas", "polars"):
        X_frame = library.DataFrame({f"f{i}": column for i, column in enumerate(X.T)})
        Y_frame = library.DataFrame({f"l{i}": column for i, column in enumerate(Y.T)})
        actual = _clone_with_seed(resampler).fit_resample(X_frame, Y_frame)
        for actual_frame, input_frame in zip(actual, (X_frame, Y_frame), strict=True):
            assert isinstance(actual_frame, library.DataFrame)
            assert list(actual_frame.columns) == list(input_frame.columns)
        _assert_close(actual, expected)


def check_dtypes_and_names_are_preserved(resampler: Any) -> None:
    """Check that data types are preserved, and the index of a pandas DataFrame.

    A copy of a row has the index of that row.
    """
    X, Y = make_multilabel_example()
    for dtype in (bool, np.int8, np.int64, np.float32):
        X_new, Y_new = _clone_with_seed(resampler).fit_resample(
            X.astype(np.float32), Y.astype(dtype)
        )
        assert X_new.dtype == np.float32
        assert Y_new.dtype == dtype
    for library in _frame_libraries("pandas"):
        index = [f"row {i}" for i in range(len(X))]
        X_frame = library.DataFrame(X, index=index, columns=["a", "b", "c"])
        Y_frame = library.DataFrame(Y.astype(bool), index=index)
        sampler = _clone_with_seed(resampler)
        X_new, Y_new = sampler.fit_resample(X_frame, Y_frame)
        assert X_new.index.tolist() == [index[row] for row in sampler.sample_indices_]
        assert X_new.index.tolist() == Y_new.index.tolist()
        assert {str(dtype) for dtype in Y_new.dtypes} == {"bool"}
        assert {str(dtype) for dtype in X_new.dtypes} == {"float64"}


def check_input_is_not_changed(resampler: Any) -> None:
    """Check that the caller's arrays, dense or sparse, are not modified."""
    X, Y = make_multilabel_example()
    for container in (np.array, sparse.csr_array):
        X_input = container(X)
        Y_input = container(Y)
        _clone_with_seed(resampler).fit_resample(X_input, Y_input)
        _assert_equal((X_input, Y_input), (X, Y))


def check_global_random_state_is_not_used(resampler: Any) -> None:
    """Check that the state of NumPy's global random generator does not change."""
    X, Y = make_multilabel_example()
    before = repr(np.random.get_state())  # noqa: NPY002  (the global state is the point)
    clone(resampler).fit_resample(X, Y)
    assert repr(np.random.get_state()) == before  # noqa: NPY002  (as above)


def check_same_seed_gives_same_result(resampler: Any) -> None:
    """Check that the same seed gives the same result, from the same object and from a clone."""
    X, Y = make_multilabel_example()
    sampler = _clone_with_seed(resampler)
    expected = sampler.fit_resample(X, Y)
    for item in (sampler, _clone_with_seed(resampler)):
        _assert_equal(item.fit_resample(X, Y), expected)


def check_n_jobs_does_not_change_the_result(resampler: Any) -> None:
    """Check that the result does not depend on the number of threads."""
    if "n_jobs" not in resampler.get_params():
        return
    X, Y = make_multilabel_example(n_samples=120)
    sequential = _clone_with_seed(resampler).set_params(n_jobs=1).fit_resample(X, Y)
    parallel = _clone_with_seed(resampler).set_params(n_jobs=3).fit_resample(X, Y)
    _assert_equal(parallel, sequential)


def check_clone_and_pickle(resampler: Any) -> None:
    """Check that copies by pickle and by scikit-learn's clone give the same result."""
    X, Y = make_multilabel_example()
    sampler = _clone_with_seed(resampler)
    expected = sampler.fit_resample(X, Y)
    for copy in (pickle.loads(pickle.dumps(sampler)), clone(sampler)):
        assert repr(copy.get_params()) == repr(sampler.get_params())
        _assert_equal(copy.fit_resample(X, Y), expected)


def check_bad_input_is_refused(resampler: Any) -> None:
    """Check that wrong shapes and invalid label values raise a ScumbleError and ValueError."""
    X, Y = make_multilabel_example()
    bad_cell = Y.copy()
    bad_cell[3, 2] = 7
    bad_inputs = {
        "one-dimensional labels": (X, Y[:, 0]),
        "one-dimensional features": (X[:, 0], Y),
        "unequal lengths": (X[:-1], Y),
        "a label that is not 0/1": (X, bad_cell),
        "a missing label": (X, np.where(bad_cell == 7, np.nan, Y)),
    }
    for description, (X_bad, Y_bad) in bad_inputs.items():
        error = _error_of(_clone_with_seed(resampler), X_bad, Y_bad)
        assert isinstance(error, ValueError), f"accepted {description}"


def check_edge_cases(resampler: Any) -> None:
    """Check that the result is finite and has labels of 0 and 1 for small and constant data.

    Examples are a label that no row has, a single label, a single row, and equal rows.
    """
    X, Y = make_multilabel_example()
    unseen = Y.copy()
    unseen[:, 4] = 0
    edge_cases = {
        "a label never seen": (X, unseen),
        "no labels anywhere": (X, np.zeros_like(Y)),
        "all labels everywhere": (X, np.ones_like(Y)),
        "one label": (X, Y[:, :1]),
        "one row": (X[:1], Y[:1]),
        "two rows": (X[:2], Y[:2]),
        "equal rows": (np.zeros_like(X), Y),
    }
    for description, (X_input, Y_input) in edge_cases.items():
        X_new, Y_new = _clone_with_seed(resampler).fit_resample(X_input, Y_input)
        assert X_new.shape[0] == Y_new.shape[0], description
        assert np.isin(Y_new, (0, 1)).all(), description
        assert np.isfinite(X_new).all(), description


def check_missing_values_are_handled_or_explained(resampler: Any) -> None:
    """Check that missing values of X are preserved, or refused by an error that says what to do.

    A value of the result may be missing only if it is missing in its input row (see
    ``sample_indices_``). The error must mention that missing values can be filled.
    """
    X, Y = make_multilabel_example()
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    X[5] = np.nan
    sampler = _clone_with_seed(resampler)
    error = _error_of(sampler, X, Y)
    if error is not None:
        message = str(error)
        assert "missing" in message, f"the error does not mention missing values: {message}"
        assert "fill" in message, f"the error does not say how to fill missing values: {message}"
        return
    X_new, Y_new = sampler.fit_resample(X, Y)
    indices = sampler.sample_indices_
    n_kept = len(X) - sampler.n_removed_
    np.testing.assert_array_equal(X_new[:n_kept], X[indices[:n_kept]])
    is_newly_missing = np.isnan(X_new) & ~np.isnan(X[indices])
    assert not is_newly_missing.any(), "a value is missing that its source row has"
    _assert_close(_clone_with_seed(resampler).fit_resample(sparse.csr_array(X), Y), (X_new, Y_new))


def check_sample_weight_follows_the_rows(resampler: Any) -> None:
    """Check that ``sample_weight_`` holds for every output row the weight of its input row."""
    X, Y = make_multilabel_example()
    weights = np.arange(len(X)) + 0.5
    sampler = _clone_with_seed(resampler)
    _, Y_new = sampler.fit_resample(X, Y, sample_weight=weights)
    assert len(Y_new) == len(sampler.sample_weight_)
    np.testing.assert_array_equal(sampler.sample_weight_, weights[sampler.sample_indices_])


def check_datasets_keep_their_columns(resampler: Any) -> None:
    """Check that `resample` preserves the features, labels, name and weights of a data set.

    X and Y of the result must be those of ``fit_resample``.
    """
    X, Y = make_multilabel_example()
    features = [Feature("a"), Feature("b"), Feature("c")]
    weights = np.arange(len(X)) + 0.5
    data = MultilabelDataset(X, Y, features=features, name="example", weights=weights)
    sampler = _clone_with_seed(resampler)
    after = sampler.resample(data)
    assert (after.features, after.labels, after.name) == (data.features, data.labels, data.name)
    np.testing.assert_array_equal(after.weights, weights[sampler.sample_indices_])
    X_new, Y_new = _clone_with_seed(resampler).fit_resample(X, Y)
    np.testing.assert_array_equal(after.X, X_new)
    np.testing.assert_array_equal(after.Y.toarray(), Y_new.astype(bool))


def check_imblearn_pipeline(resampler: Any) -> None:
    """Check that imbalanced-learn's pipeline resamples training data but not test data."""
    try:
        from imblearn.pipeline import Pipeline
    except ImportError:
        return
    from sklearn.tree import DecisionTreeClassifier

    X, Y = make_multilabel_example()
    tree = DecisionTreeClassifier(random_state=0)
    model = Pipeline([("resample", _clone_with_seed(resampler)), ("learn", tree)]).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    X_new, Y_new = _clone_with_seed(resampler).fit_resample(X, Y)
    expected = clone(tree).fit(X_new, Y_new)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))


def _frame_libraries(*names: str) -> list[Any]:
    """Return the imported modules of those data frame libraries that are installed."""
    return [import_module(name) for name in names if find_spec(name) is not None]
