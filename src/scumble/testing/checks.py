"""One exam for all resamplers.

In a test suite of your own::

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
    """Make a small imbalanced problem with instances of all sorts."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 3)).round(3)
    share = 0.8 / 2.0 ** np.arange(n_labels)
    Y = (rng.random((n_samples, n_labels)) < share).astype(int)
    Y[0] = 1  # one instance has them all, so no label is unseen
    Y[-1] = 0
    return X, Y


def check_resampler(resampler: Any) -> None:
    """Run every check on a resampler.

    Parameters
    ----------
    resampler : object
        Has ``fit_resample`` and scikit-learn's ``get_params``.

    Examples
    --------
    >>> from scumble.resample import REMEDIAL
    >>> from scumble.testing import check_resampler
    >>> check_resampler(REMEDIAL())
    """
    for check in resampler_checks():
        check(resampler)


def resampler_checks() -> list[Check]:
    """List the checks; each takes a resampler and raises AssertionError where it fails.

    Returns
    -------
    list of callable
        Named ``check_...``.

    Examples
    --------
    >>> from scumble.resample import MLROS
    >>> from scumble.testing import resampler_checks
    >>> for check in resampler_checks()[:3]:
    ...     check(MLROS())
    """
    named = (thing for name, thing in globals().items() if name.startswith("check_"))
    return [check for check in named if check is not check_resampler]


def _seeded(resampler: Any, seed: int = 3) -> Any:
    fresh = clone(resampler)
    if "random_state" in fresh.get_params():
        fresh.set_params(random_state=seed)
    return fresh


def _dense(data: Any) -> Array:
    if sparse.issparse(data):
        return data.toarray()
    return data.to_numpy() if hasattr(data, "to_numpy") else np.asarray(data)


def _assert_equal(found: Sequence[Any], expected: Sequence[Any]) -> None:
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(_dense(a), _dense(b))


def _assert_close(found: Sequence[Any], expected: Sequence[Any]) -> None:
    """Compare features up to rounding, and labels."""
    np.testing.assert_allclose(_dense(found[0]), expected[0], atol=1e-9)
    _assert_equal(found[1:], expected[1:])


def _refusal(resampler: Any, X: Any, Y: Any) -> ScumbleError | None:
    """Give the error by which a resampler refuses data; None if it takes them."""
    try:
        resampler.fit_resample(X, Y)
    except ScumbleError as error:
        return error
    return None


def check_sample_indices_name_the_source_of_every_row(resampler: Any) -> None:
    """`sample_indices_` has one valid row per output row; `n_added_`, `n_removed_` add up."""
    X, Y = make_multilabel_example()
    sampler = _seeded(resampler)
    X_new, Y_new = sampler.fit_resample(X, Y)
    rows = sampler.sample_indices_
    assert X_new.shape[0] == Y_new.shape[0] == len(rows)
    assert X_new.shape[1] == X.shape[1]
    assert Y_new.shape[1] == Y.shape[1]
    assert rows.min() >= 0
    assert rows.max() < len(X)
    assert len(rows) == len(X) + sampler.n_added_ - sampler.n_removed_
    assert len(X) - len(set(rows.tolist())) == sampler.n_removed_
    assert sampler.summary()["after"]["n_instances"] == len(rows)


def check_containers_come_back_as_they_were_given(resampler: Any) -> None:
    """Arrays, sparse matrices and frames come back as such, all with the same values."""
    X, Y = make_multilabel_example()
    expected = _seeded(resampler).fit_resample(X, Y)
    for make in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
        found = _seeded(resampler).fit_resample(make(X), make(Y))
        assert [type(part) for part in found] == [make, make]
        _assert_close(found, expected)
    X_new, Y_new = _seeded(resampler).fit_resample(X.tolist(), Y.tolist())
    assert isinstance(X_new, np.ndarray)
    np.testing.assert_array_equal(Y_new, expected[1])
    for library in _frame_libraries("pandas", "polars"):
        given = [
            library.DataFrame({f"{letter}{at}": column for at, column in enumerate(table.T)})
            for letter, table in (("f", X), ("l", Y))
        ]
        found = _seeded(resampler).fit_resample(*given)
        for part, source in zip(found, given, strict=True):
            assert isinstance(part, library.DataFrame)
            assert list(part.columns) == list(source.columns)
        _assert_close(found, expected)


def check_types_and_names_are_kept(resampler: Any) -> None:
    """Element types survive, as do a pandas frame's columns and index."""
    X, Y = make_multilabel_example()
    for kind in (bool, np.int8, np.int64, np.float32):
        X_new, Y_new = _seeded(resampler).fit_resample(X.astype(np.float32), Y.astype(kind))
        assert X_new.dtype == np.float32
        assert Y_new.dtype == kind
    for library in _frame_libraries("pandas"):
        index = [f"row {at}" for at in range(len(X))]
        X_frame = library.DataFrame(X, index=index, columns=["a", "b", "c"])
        Y_frame = library.DataFrame(Y.astype(bool), index=index)
        sampler = _seeded(resampler)
        X_new, Y_new = sampler.fit_resample(X_frame, Y_frame)
        assert X_new.index.tolist() == [index[row] for row in sampler.sample_indices_]
        assert X_new.index.tolist() == Y_new.index.tolist()
        assert {str(dtype) for dtype in Y_new.dtypes} == {"bool"}
        assert {str(dtype) for dtype in X_new.dtypes} == {"float64"}


def check_input_is_not_changed(resampler: Any) -> None:
    """Arrays of the caller, dense or sparse, are as before."""
    X, Y = make_multilabel_example()
    for make in (np.array, sparse.csr_array):
        given = make(X), make(Y)
        _seeded(resampler).fit_resample(*given)
        _assert_equal(given, (X, Y))


def check_global_random_state_is_left_alone(resampler: Any) -> None:
    """NumPy's global generator is neither read nor written."""
    X, Y = make_multilabel_example()
    before = repr(np.random.get_state())  # noqa: NPY002  (the global state is the point)
    clone(resampler).fit_resample(X, Y)
    assert repr(np.random.get_state()) == before  # noqa: NPY002  (as above)


def check_one_seed_gives_one_answer(resampler: Any) -> None:
    """Seeded alike, the rows are the same, in the same object or a new one."""
    X, Y = make_multilabel_example()
    sampler = _seeded(resampler)
    first = sampler.fit_resample(X, Y)
    for again in (sampler, _seeded(resampler)):
        _assert_equal(again.fit_resample(X, Y), first)


def check_number_of_jobs_changes_nothing(resampler: Any) -> None:
    """Threads change the time and never the result."""
    if "n_jobs" not in resampler.get_params():
        return
    X, Y = make_multilabel_example(n_samples=120)
    results = [_seeded(resampler).set_params(n_jobs=n).fit_resample(X, Y) for n in (1, 3)]
    _assert_equal(*results)


def check_it_can_be_cloned_and_pickled(resampler: Any) -> None:
    """scikit-learn's clone and pickle give an equal resampler, before and after use."""
    X, Y = make_multilabel_example()
    sampler = _seeded(resampler)
    expected = sampler.fit_resample(X, Y)
    for copy in (pickle.loads(pickle.dumps(sampler)), clone(sampler)):
        assert repr(copy.get_params()) == repr(sampler.get_params())
        _assert_equal(copy.fit_resample(X, Y), expected)


def check_bad_input_is_refused(resampler: Any) -> None:
    """Wrong shapes and label values raise a ScumbleError that is a ValueError."""
    X, Y = make_multilabel_example()
    bad_cell = Y.copy()
    bad_cell[3, 2] = 7
    bad = {
        "one-dimensional labels": (X, Y[:, 0]),
        "one-dimensional features": (X[:, 0], Y),
        "unequal lengths": (X[:-1], Y),
        "a label that is not 0/1": (X, bad_cell),
        "a missing label": (X, np.where(bad_cell == 7, np.nan, Y)),
    }
    for what, (X_bad, Y_bad) in bad.items():
        refusal = _refusal(_seeded(resampler), X_bad, Y_bad)
        assert isinstance(refusal, ValueError), f"accepted {what}"


def check_awkward_data_is_defined(resampler: Any) -> None:
    """Labels never seen, rows without labels, one label, one row: an answer, never a crash."""
    X, Y = make_multilabel_example()
    unseen = Y.copy()
    unseen[:, 4] = 0
    awkward = {
        "a label never seen": (X, unseen),
        "no labels anywhere": (X, np.zeros_like(Y)),
        "all labels everywhere": (X, np.ones_like(Y)),
        "one label": (X, Y[:, :1]),
        "one row": (X[:1], Y[:1]),
        "two rows": (X[:2], Y[:2]),
        "equal rows": (np.zeros_like(X), Y),
    }
    for what, (X_in, Y_in) in awkward.items():
        X_new, Y_new = _seeded(resampler).fit_resample(X_in, Y_in)
        assert X_new.shape[0] == Y_new.shape[0], what
        assert np.isin(Y_new, (0, 1)).all(), what
        assert np.isfinite(X_new).all(), what


def check_missing_values_are_handled_or_explained(resampler: Any) -> None:
    """Missing features stay missing in copies and make no known one missing; or the way is told."""
    X, Y = make_multilabel_example()
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    X[5] = np.nan
    sampler = _seeded(resampler)
    if refusal := str(_refusal(sampler, X, Y) or ""):
        assert "missing" in refusal, f"missing values are refused without saying so: {refusal}"
        assert "fill" in refusal, f"what to do about missing values is not told: {refusal}"
        return
    X_new, Y_new = sampler.fit_resample(X, Y)
    rows = sampler.sample_indices_
    n_input = len(X) - sampler.n_removed_
    np.testing.assert_array_equal(X_new[:n_input], X[rows[:n_input]])
    made_missing = np.isnan(X_new) & ~np.isnan(X[rows])
    assert not made_missing.any(), "a value is missing that the row it comes from has"
    _assert_close(_seeded(resampler).fit_resample(sparse.csr_array(X), Y), (X_new, Y_new))


def check_weights_travel_with_their_rows(resampler: Any) -> None:
    """Given weights, ``sample_weight_`` has the weight of every row's source."""
    X, Y = make_multilabel_example()
    weights = np.arange(len(X)) + 0.5
    sampler = _seeded(resampler)
    _, Y_new = sampler.fit_resample(X, Y, sample_weight=weights)
    assert len(Y_new) == len(sampler.sample_weight_)
    np.testing.assert_array_equal(sampler.sample_weight_, weights[sampler.sample_indices_])


def check_data_sets_keep_their_columns(resampler: Any) -> None:
    """`resample` takes and returns a MultilabelDataset: names, kinds and weights are kept."""
    X, Y = make_multilabel_example()
    features = [Feature("a"), Feature("b"), Feature("c")]
    weights = np.arange(len(X)) + 0.5
    data = MultilabelDataset(X, Y, features=features, name="example", weights=weights)
    sampler = _seeded(resampler)
    after = sampler.resample(data)
    assert (after.features, after.labels, after.name) == (data.features, data.labels, data.name)
    np.testing.assert_array_equal(after.weights, weights[sampler.sample_indices_])
    X_new, Y_new = _seeded(resampler).fit_resample(X, Y)
    np.testing.assert_array_equal(after.X, X_new)
    np.testing.assert_array_equal(after.Y.toarray(), Y_new.astype(bool))


def check_it_works_in_a_pipeline(resampler: Any) -> None:
    """In imbalanced-learn's pipeline the training data is resampled, the test data is not."""
    try:
        from imblearn.pipeline import Pipeline
    except ImportError:
        return
    from sklearn.tree import DecisionTreeClassifier

    X, Y = make_multilabel_example()
    tree = DecisionTreeClassifier(random_state=0)
    model = Pipeline([("resample", _seeded(resampler)), ("learn", tree)]).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    X_new, Y_new = _seeded(resampler).fit_resample(X, Y)
    direct = clone(tree).fit(X_new, Y_new)
    np.testing.assert_array_equal(model.predict(X), direct.predict(X))


def _frame_libraries(*names: str) -> list[Any]:
    return [import_module(name) for name in names if find_spec(name) is not None]
