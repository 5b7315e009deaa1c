"""REMEDIAL-HwR: two steps in one, and what the second does to the halves."""

import numpy as np
import pytest

from scumble import MultilabelDataset, ScumbleError
from scumble.data import Feature
from scumble.resample import LPROS, MLROS, MLSMOTE, MLTL, REMEDIAL, MLeNN, RemedialHwR


def problem(n=60):
    rng = np.random.default_rng(0)
    Y = rng.random((n, 5)) < [0.8, 0.6, 0.3, 0.1, 0.05]
    return np.hstack([rng.normal(size=(n, 2)), rng.integers(0, 3, (n, 1))]), Y.astype(int)


@pytest.mark.parametrize(
    "second",
    [MLSMOTE(random_state=4), MLROS(random_state=4), MLeNN(), MLTL(), LPROS(random_state=4)],
    ids=lambda sampler: type(sampler).__name__,
)
def test_it_is_remedial_and_then_the_resampler(second):
    X, Y = problem()
    first = REMEDIAL()
    expected = second.fit_resample(*first.fit_resample(X, Y))

    sampler = RemedialHwR(second)
    found = sampler.fit_resample(X, Y)

    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    sources = first.sample_indices_[second.sample_indices_]
    np.testing.assert_array_equal(sampler.sample_indices_, sources)
    assert sampler.n_halves_ == 2 * first.n_added_
    kept = set(second.sample_indices_.tolist())
    split = set(first.sample_indices_[60:].tolist()) | set(range(60, 60 + first.n_added_))
    assert sampler.n_halves_removed_ == len(split - kept)


def test_cleaning_takes_the_halves_for_noise():
    X, Y = problem()
    cleaned = RemedialHwR(MLTL(threshold=0.5))
    cleaned.fit_resample(X, Y)
    grown = RemedialHwR(MLSMOTE(random_state=0))
    grown.fit_resample(X, Y)

    assert cleaned.n_halves_removed_ > cleaned.n_halves_ / 3
    assert grown.n_halves_removed_ == 0


def test_the_default_is_mlsmote():
    X, Y = problem()
    expected = RemedialHwR(MLSMOTE(random_state=3)).fit_resample(X, Y)

    found = RemedialHwR(random_state=3).fit_resample(X, Y)

    np.testing.assert_array_equal(found[0], expected[0])


def test_the_resampler_given_is_left_alone():
    second = MLROS(random_state=1)
    RemedialHwR(second, random_state=2).fit_resample(*problem())

    assert not hasattr(second, "sample_indices_")
    assert second.random_state == 1


def test_the_resamplers_own_seed_comes_first():
    X, Y = problem()
    expected = RemedialHwR(LPROS(random_state=1)).fit_resample(X, Y)[0]
    found = RemedialHwR(LPROS(random_state=1), random_state=2).fit_resample(X, Y)[0]
    outer, inner = RemedialHwR(LPROS(), random_state=2), RemedialHwR(LPROS(random_state=2))

    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(outer.fit_resample(X, Y)[0], inner.fit_resample(X, Y)[0])
    assert not np.array_equal(found, outer.fit_resample(X, Y)[0])


def test_a_generator_goes_on_from_run_to_run():
    ours, theirs = np.random.default_rng(5), np.random.default_rng(5)
    between = REMEDIAL().fit_resample(*problem())
    sampler = RemedialHwR(LPROS(random_state=ours))

    found = [sampler.fit_resample(*problem())[0] for _ in range(2)]
    expected = [LPROS(random_state=theirs).fit_resample(*between)[0] for _ in range(2)]

    np.testing.assert_array_equal(found, expected)
    assert not np.array_equal(*found)


def test_data_sets_tell_their_nominal_columns():
    X, Y = problem()
    features = [Feature("a"), Feature("b"), Feature("c", "nominal", ("x", "y", "z"))]
    data = MultilabelDataset(X, Y, features=features)

    after = RemedialHwR(random_state=0).resample(data)
    expected, _ = RemedialHwR(MLSMOTE(categorical_features=[2]), random_state=0).fit_resample(X, Y)

    np.testing.assert_array_equal(after.X, expected)
    assert set(after.X[:, 2]) <= {0.0, 1.0, 2.0}


def test_parameters_reach_the_steps():
    sampler = RemedialHwR(MLSMOTE(), passes=2, one_sided="keep")
    sampler.set_params(resampler__n_neighbors=2)
    sampler.fit_resample(*problem())

    assert sampler.resampler_.n_neighbors == 2
    assert sampler.remedial_.passes == 2
    assert sampler.remedial_.one_sided == "keep"


@pytest.mark.parametrize(
    ("sampler", "message"),
    [
        (RemedialHwR("mlsmote"), "'resampler' parameter of RemedialHwR must be a resampler"),
        (RemedialHwR(MLSMOTE(n_neighbors=0)), "'n_neighbors' parameter of MLSMOTE"),
        (RemedialHwR(passes=0), "'passes' parameter"),
    ],
)
def test_wrong_parameters(sampler, message):
    with pytest.raises(ScumbleError, match=message):
        sampler.fit_resample(*problem())
