"""Chains by name, and the table of all methods."""

import math

import numpy as np
import pytest

from scumble import MultilabelDataset, ScumbleError
from scumble._core.registry import registered_objects
from scumble.measures import characterize
from scumble.resample import (
    MLSMOTE,
    REMEDIAL,
    MLeNN,
    apply_remedial,
    compare_methods,
    make_chain,
    run_chain,
)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    Y = rng.random((60, 5)) < [0.8, 0.6, 0.3, 0.1, 0.05]
    return MultilabelDataset(rng.normal(size=(60, 3)), Y, name="made up")


def test_names_become_resamplers_with_their_parameters():
    chain = make_chain("REMEDIAL + mlsmote+MLeNN", n_neighbors=4, random_state=7, threshold=None)

    assert [type(step) for step in chain] == [REMEDIAL, MLSMOTE, MLeNN]
    assert [step.get_params().get("n_neighbors") for step in chain] == [None, 4, 4]
    assert chain[1].random_state == 7
    assert chain[2].threshold == 0.75


def test_a_chain_runs_in_order(data):
    after = run_chain(data, make_chain("remedial+mlsmote", random_state=1))

    between = REMEDIAL().resample(data)
    assert after == MLSMOTE(random_state=1).resample(between)


@pytest.mark.parametrize(("passes", "n_passes"), [(None, 1), (1, 1), (np.int64(3), 3)])
def test_remedial_as_often_as_asked(data, passes, n_passes):
    after, report = apply_remedial(data, passes=passes)

    assert len(report["passes"]) == len(report["steps"]) == n_passes
    assert after == REMEDIAL(passes=n_passes).resample(data)


@pytest.mark.parametrize(
    ("methods", "parameters", "message"),
    [
        ("mlsmot", {}, "There is no resampler 'mlsmot'. Did you mean 'mlsmote'"),
        ("remedial+", {}, "There is no resampler ''"),
        ("remedial", {"percent": 3}, "No method of 'remedial' has a parameter 'percent'"),
        ("mlsmote", {"n_neighbors": 0}, "'n_neighbors' parameter of MLSMOTE"),
    ],
)
def test_wrong_chains(methods, parameters, message):
    with pytest.raises(ScumbleError, match=message):
        make_chain(methods, **parameters)


def test_a_seed_fits_every_chain():
    assert len(make_chain("remedial", random_state=3, n_jobs=2)) == 1


def test_all_methods_side_by_side(data):
    table = compare_methods(data, random_state=0)

    assert [row["method"] for row in table] == ["none", *registered_objects("resampler")]
    assert all(row["error"] is None for row in table)
    by_name = {row["method"]: row for row in table}
    for name in ("remedial", "mlros", "mlenn"):
        after = run_chain(data, make_chain(name, random_state=0))
        summary = characterize(after)
        row = by_name[name]
        assert row["n_instances"] == len(after) == 60 + row["n_added"] - row["n_removed"]
        assert row["mean_ir"] == summary.mean_ir
        assert row["scumble"] == summary.scumble
    assert by_name["none"]["cvir"] == characterize(data).cvir


def test_parameters_that_no_method_has_are_refused_in_a_comparison(data):
    message = "No method of mlenn, mltl has a parameter 'treshold'. Did you mean 'threshold'"
    with pytest.raises(ScumbleError, match=message):
        compare_methods(data, ["mlenn", "mltl"], treshold=0.5)
    with pytest.raises(ScumbleError, match="There is no resampler 'mlsmot'"):
        compare_methods(data, ["mlsmot"])


def test_a_parameter_that_suits_some_methods_does_not_stop_the_others(data):
    _, lpros, lprus = compare_methods(data, ["lpros", "lprus"], percent=150, random_state=0)

    expected = len(run_chain(data, make_chain("lpros", percent=150, random_state=0)))
    assert lpros["n_instances"] == expected > 60
    assert "'percent' parameter of LPRUS must be a number in [0, 100]" in lprus["error"]


def test_a_method_that_fails_says_why(data):
    X = data.X.copy()
    X[3, 1] = math.inf
    broken = MultilabelDataset(X, data.Y)

    before, remedial, mlsmote = compare_methods(broken, ["remedial", "mlsmote"])

    assert before["error"] is None
    assert remedial["error"] is None
    assert "X holds inf in row 3" in mlsmote["error"]
