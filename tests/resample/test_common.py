"""Every registered resampler sits the same exam."""

import numpy as np
import pytest
from scipy import sparse

import scumble.resample
from scumble import ScumbleError
from scumble._core.registry import registered_objects
from scumble.testing import resampler_checks
from scumble.testing.checks import make_multilabel_example

RESAMPLERS = [cls() for cls in registered_objects("resampler").values()]
RESAMPLERS.append(scumble.resample.REMEDIAL(passes=2, one_sided="keep"))


@pytest.mark.parametrize("resampler", RESAMPLERS, ids=repr)
@pytest.mark.parametrize("check", resampler_checks(), ids=lambda check: check.__name__)
def test_resampler(resampler, check):
    check(resampler)


def test_every_resampler_is_exported_and_every_exported_one_is_registered():
    known = registered_objects("resampler")
    for cls in known.values():
        assert getattr(scumble.resample, cls.__name__) is cls
        assert cls.__name__ in scumble.resample.__all__
    exported = [getattr(scumble.resample, name) for name in scumble.resample.__all__]
    base = scumble.resample.BaseResampler
    bases = {base, scumble.resample.BaseDistanceResampler}
    classes = [cls for cls in exported if isinstance(cls, type) and issubclass(cls, base)]
    assert set(classes) == {*bases, *known.values()}


def test_classes_stay_where_model_files_and_stored_comparisons_look_for_them():
    homes = {cls.__name__: cls.__module__ for cls in registered_objects("resampler").values()}
    stored = {
        "REMEDIAL": "scumble.resample.remedial",
        "RemedialHwR": "scumble.resample.hwr",
        "LPROS": "scumble.resample.lp_random",
        "LPRUS": "scumble.resample.lp_random",
        "MLROS": "scumble.resample.ml_random",
        "MLRUS": "scumble.resample.ml_random",
        "MLSMOTE": "scumble.resample.mlsmote",
        "LabelsetSMOTE": "scumble.resample.labelset_smote",
        "MLeNN": "scumble.resample.mlenn",
        "MLTL": "scumble.resample.mltl",
        "MLSOL": "scumble.resample.local",
        "MLUL": "scumble.resample.local",
    }
    assert {name: homes.get(name) for name in stored} == stored


def test_a_class_without_a_family_does_not_register_itself():
    # Classes of docstrings count as those of the module that is documented.
    namespace = {"__name__": "scumble.resample.base", "Base": scumble.resample.BaseResampler}
    exec("class Unlisted(Base): ...", namespace)
    assert namespace["Unlisted"].__module__ == "scumble.resample.base"
    assert "unlisted" not in registered_objects("resampler")


def test_every_resampler_has_a_worked_example_and_a_rule():
    for cls in registered_objects("resampler").values():
        assert ">>>" in cls.__doc__, cls.__name__
        assert "Notes\n" in cls.__doc__, cls.__name__


class Leaky(scumble.resample.REMEDIAL):
    """Wrong on purpose: changes its input."""

    def fit_resample(self, X, Y, sample_weight=None):
        if isinstance(X, np.ndarray):
            X[0] = 0
        return super().fit_resample(X, Y, sample_weight)


class Careless(scumble.resample.REMEDIAL):
    """Wrong on purpose: draws from the global generator."""

    def fit_resample(self, X, Y, sample_weight=None):
        np.random.rand()  # noqa: NPY002  (a culprit on purpose)
        return super().fit_resample(X, Y, sample_weight)


class Gappy(scumble.resample.MLSMOTE):
    """Wrong on purpose: forgets values where one is missing."""

    def fit_resample(self, X, Y, sample_weight=None):
        X_new, Y_new = super().fit_resample(X, Y, sample_weight)
        if isinstance(X, np.ndarray) and np.isnan(X.astype(float)).any():
            X_new[len(X) :] = np.nan
        return X_new, Y_new


class Curt(scumble.resample.MLSMOTE):
    """Wrong on purpose: refuses missing values without a word on what to do."""

    def fit_resample(self, X, Y, sample_weight=None):
        if isinstance(X, np.ndarray) and np.isnan(X.astype(float)).any():
            raise ScumbleError("No missing values, please.")
        return super().fit_resample(X, Y, sample_weight)


@pytest.mark.parametrize("wrong", [Leaky(), Careless(), Gappy(), Curt()], ids=repr)
def test_the_exam_can_be_failed(wrong):
    failures = 0
    for check in resampler_checks():
        try:
            check(wrong)
        except AssertionError:
            failures += 1
    assert failures > 0


def test_every_resampler_takes_missing_values():
    X, Y = make_multilabel_example()
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    for cls in registered_objects("resampler").values():
        X_new, Y_new = cls().fit_resample(X, Y)
        assert len(X_new) == len(Y_new)


def test_the_example_is_imbalanced():
    _, Y = make_multilabel_example()
    assert (Y.sum(axis=0) > 0).all()
    assert Y.sum(axis=0)[0] > 4 * Y.sum(axis=0)[4]


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("kind", [bool, np.int64])
@pytest.mark.parametrize("resampler", RESAMPLERS, ids=repr)
def test_labels_that_did_not_change_are_a_copy(resampler, make, kind):
    # All labels are equally frequent: most methods have nothing to do.
    X, Y = np.arange(8.0).reshape(4, 2), make(np.eye(4, dtype=kind))

    X_new, Y_new = resampler.fit_resample(X, Y)

    assert not np.shares_memory(X_new, X)
    for part in ("data", "indices", "indptr"):
        assert not np.shares_memory(getattr(Y_new, part), getattr(Y, part))


@pytest.mark.parametrize("weights", [1.0, np.ones(3), np.ones((40, 2))])
def test_weights_must_fit_the_rows(weights):
    X, Y = make_multilabel_example()
    with pytest.raises(ScumbleError, match=r"one number per row of X, shape \(40,\). Got shape"):
        scumble.resample.MLROS().fit_resample(X, Y, sample_weight=weights)
