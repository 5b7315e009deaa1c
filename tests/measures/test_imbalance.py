import math

import numpy as np
import pytest

from scumble import measures
from scumble._core.errors import ParameterError

# Counts 6, 3, 2, 1 and a label never seen: IRLbl 1, 2, 3, 6.
Y = np.zeros((8, 5), int)
Y[:6, 0] = Y[:3, 1] = Y[3:5, 2] = Y[7, 3] = 1


def test_ratios_are_the_largest_count_over_the_own():
    assert measures.label_counts(Y).tolist() == [6, 3, 2, 1, 0]
    assert measures.irlbl(Y)[:4].tolist() == [1.0, 2.0, 3.0, 6.0]
    assert math.isnan(measures.irlbl(Y)[4])


def test_a_label_never_seen_is_left_out_or_counted_as_zero():
    assert measures.mean_ir(Y) == 3.0
    assert measures.mean_ir(Y, unseen="zero") == 12 / 5
    assert measures.irlbl(Y, unseen="zero").tolist() == [1.0, 2.0, 3.0, 6.0, 0.0]
    assert measures.max_ir(Y) == 6.0


def test_cvir_is_sample_deviation_over_mean():
    assert measures.cvir(Y) == pytest.approx(math.sqrt((4 + 1 + 0 + 9) / 3) / 3, abs=1e-15)


def test_minority_is_strictly_above_the_mean():
    assert measures.is_minority(Y).tolist() == [False, False, False, True, False]
    assert not measures.is_minority(np.ones((3, 4), int)).any()


def test_nothing_ever_seen_has_no_ratio_and_raises_no_warning():
    empty = np.zeros((3, 2), int)
    assert np.isnan(measures.irlbl(empty)).all()
    assert np.isnan(measures.irlbl(empty, unseen="zero")).all()  # as in mldr
    assert math.isnan(measures.mean_ir(empty))
    assert math.isnan(measures.max_ir(empty))
    assert math.isnan(measures.cvir(empty))


def test_one_label_has_no_variation():
    assert measures.mean_ir([[1], [0]]) == 1.0
    assert math.isnan(measures.cvir([[1], [0]]))


def test_an_unknown_policy_is_refused():
    with pytest.raises(ParameterError, match="'unseen' parameter of irlbl must be one of"):
        measures.irlbl(Y, unseen="drop")


def test_shares_of_instances():
    assert measures.label_frequencies(Y).tolist() == [0.75, 0.375, 0.25, 0.125, 0.0]
    assert measures.cardinality(Y) == 12 / 8
    assert measures.density(Y) == 12 / 40
    assert measures.p_min(Y) == 2 / 8
