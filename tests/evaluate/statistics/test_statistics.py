"""The tests against SciPy, R's documented behaviour and values worked by hand."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from scumble import ScumbleError
from scumble.evaluate.statistics import (
    bayesian_signed_rank,
    effect_sizes,
    friedman,
    holm,
    nemenyi,
    pearson,
    wilcoxon,
    win_tie_loss,
)

decimals = st.integers(-50, 50).map(lambda n: n / 10)
pairs = st.lists(st.tuples(decimals, decimals), min_size=1, max_size=9)


def exact_by_enumeration(x, y):
    """All sign patterns, one after another."""
    differences = np.round(np.asarray(y) - np.asarray(x), 9)
    ranks = stats.rankdata(np.abs(differences[differences != 0]))
    observed = ranks[differences[differences != 0] > 0].sum()
    smaller = min(observed, ranks.sum() - observed)
    sums = [
        sum(rank for rank, up in zip(ranks, signs, strict=True) if up)
        for signs in itertools.product((False, True), repeat=len(ranks))
    ]
    return min(1.0, 2 * np.mean([total <= smaller + 1e-9 for total in sums]))


def test_wilcoxon_by_hand():
    # differences 1, 2, 3, -4: ranks 1, 2, 3, 4; sums 6 and 4
    found = wilcoxon([0, 0, 0, 4], [1, 2, 3, 0])
    assert (found.positive, found.negative, found.statistic) == (6, 4, 4)
    # patterns of four signs whose sum is at most 4: {}, 1, 2, 3, 4, 1+2, 1+3 -> 7 of 16
    assert found.p_value == pytest.approx(14 / 16)
    normal = wilcoxon([0, 0, 0, 4], [1, 2, 3, 0], method="normal")
    assert normal.p_value == pytest.approx(2 * stats.norm.sf(0.5 / math.sqrt(7.5)))


def test_all_eleven_improved_is_what_papers_print_as_exact():
    x = np.zeros(11)
    y = np.arange(1, 12)
    assert wilcoxon(x, y).p_value == pytest.approx(2 / 2**11)
    assert round(wilcoxon(x, y, method="normal").p_value, 6) == 0.003857
    assert wilcoxon(x, y, method="normal", correction=False).p_value == pytest.approx(
        2 * stats.norm.sf(33 / math.sqrt(126.5))
    )


@given(pairs)
def test_exact_equals_the_enumeration_with_ties_and_zeros(values):
    x, y = zip(*values, strict=True)
    assert wilcoxon(x, y).p_value == pytest.approx(exact_by_enumeration(x, y))


@given(st.lists(st.tuples(decimals, decimals), min_size=3, max_size=30))
def test_normal_equals_scipy(values):
    x, y = np.array(values).T
    if len(np.flatnonzero(np.round(y - x, 9))) < 1:
        assert wilcoxon(x, y, method="normal").p_value == 1.0
        return
    for zeros, rule in (("drop", "wilcox"), ("pratt", "pratt")):
        expected = stats.wilcoxon(
            np.round(y - x, 9), zero_method=rule, correction=True, method="asymptotic"
        )
        if rule == "pratt" and (np.round(y - x, 9) == 0).any():
            continue  # SciPy moves the mean for the zeros; ours conditions on them
        found = wilcoxon(x, y, method="normal", zeros=zeros)
        assert found.p_value == pytest.approx(expected.pvalue, abs=1e-12)


def test_pratt_with_zeros_equals_scipy():
    x, y = np.array([1.0, 2, 3, 4, 5, 6]), np.array([1.0, 4, 2, 8, 11, 9])
    expected = stats.wilcoxon(y - x, zero_method="pratt", correction=True, method="asymptotic")
    found = wilcoxon(x, y, method="normal", zeros="pratt")
    assert found.p_value == pytest.approx(expected.pvalue, abs=1e-12)
    assert found.n_zeros == 1


@given(pairs)
def test_wilcoxon_does_not_care_which_side_is_first(values):
    x, y = zip(*values, strict=True)
    assert wilcoxon(x, y).p_value == pytest.approx(wilcoxon(y, x).p_value)
    assert wilcoxon(x, y).positive == wilcoxon(y, x).negative


def test_equal_decimal_differences_share_a_rank():
    # 0.3 - 0.1 and 0.4 - 0.2 differ in the last bit
    assert wilcoxon([0.1, 0.2, 0.0], [0.3, 0.4, 0.1]).positive == 6
    ranks = wilcoxon([0.1, 0.4], [0.3, 0.2])
    assert (ranks.positive, ranks.negative) == (1.5, 1.5)


def test_large_samples_stay_exact():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=200), rng.normal(0.2, size=200)
    assert wilcoxon(x, y).p_value == pytest.approx(stats.wilcoxon(x, y, method="exact").pvalue)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wilcoxon([1], [1, 2]), "equally long. Got 1 and 2"),
        (lambda: wilcoxon([], []), "at least one pair"),
        (lambda: wilcoxon([1, math.nan], [1, 2]), r"finite numbers. Got nan at \[1\]"),
        (lambda: wilcoxon(["a"], [1]), "numbers only"),
        (lambda: wilcoxon([1], [2], method="R"), "one of exact, normal. Got 'R'"),
        (lambda: wilcoxon([1], [2], zeros="keep"), "one of drop, pratt"),
        (lambda: pearson([1, 2], [1, 2]), "three pairs"),
        (lambda: friedman([[1, 2]]), "two cases and two methods"),
        (lambda: nemenyi([[1, 2], [2, 3]], alpha=0), "a number between 0 and 1"),
        (lambda: nemenyi([[1, 2], [2, 3]], alpha="0.05"), "between 0 and 1. Got '0.05' instead"),
        (lambda: holm([0.1, 2]), r"lie in \[0, 1\]"),
        (lambda: win_tie_loss([1], [2], tolerance=-1), "tolerance"),
        (lambda: bayesian_signed_rank([1], [2], rope=-1), "'rope'"),
        (lambda: bayesian_signed_rank([1], [2], n_draws=0), "'n_draws'"),
        (lambda: wilcoxon([[1]], [[2]]), r"1 dimension\(s\). Got 2"),
    ],
)
def test_wrong_input_is_refused_with_its_place(call, message):
    with pytest.raises(ScumbleError, match=message):
        call()


def test_pearson_equals_scipy_and_says_nan_for_a_constant():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 12))
    expected = stats.pearsonr(x, y)
    found = pearson(x, y)
    assert (found.coefficient, found.p_value) == pytest.approx(
        (expected.statistic, expected.pvalue)
    )
    assert math.isnan(pearson([1, 1, 1], [1, 2, 3]).coefficient)


def test_friedman_equals_scipy_with_and_without_ties():
    rng = np.random.default_rng(2)
    for scores in (rng.normal(size=(9, 4)), rng.integers(0, 3, size=(9, 4))):
        expected = stats.friedmanchisquare(*scores.T)
        found = friedman(scores)
        assert found.statistic == pytest.approx(expected.statistic)
        assert found.p_value == pytest.approx(expected.pvalue)


def test_iman_davenport_and_the_critical_difference_by_their_formulas():
    scores = np.random.default_rng(3).normal(size=(14, 4))
    found = friedman(scores)
    chi = found.statistic
    assert found.iman_davenport == pytest.approx(13 * chi / (14 * 3 - chi))
    assert found.iman_davenport_p == pytest.approx(stats.f.sf(found.iman_davenport, 3, 39))
    # the tables of critical values give q = 2.569 and 2.291 for four methods
    unit = math.sqrt(4 * 5 / (6 * 14))
    assert nemenyi(scores).critical_difference == pytest.approx(2.569 * unit, abs=1e-3)
    assert nemenyi(scores, alpha=0.1).critical_difference == pytest.approx(2.291 * unit, abs=1e-3)


def test_friedman_without_any_difference():
    found = friedman(np.ones((3, 3)))
    assert math.isnan(found.statistic)
    assert found.p_value == 1.0


def test_lower_is_better_turns_the_ranks_round():
    scores = [[1, 2, 3], [1, 3, 2]]
    assert friedman(scores, higher_is_better=False).mean_ranks == (1, 2.5, 2.5)
    assert friedman(scores).mean_ranks == (3, 1.5, 1.5)


def test_nemenyi_groups_are_the_maximal_runs():
    # mean ranks 1, 2, 3, 4 and a critical difference between 1 and 2
    scores = np.tile([4, 3, 2, 1], (8, 1))
    found = nemenyi(scores)
    assert 1 < found.critical_difference < 2
    assert found.groups == ((0, 1), (1, 2), (2, 3))
    assert found.p_values[0, 0] == 1
    assert found.p_values[0, 1] == pytest.approx(
        stats.studentized_range.sf(math.sqrt(2) / math.sqrt(20 / 48), 4, np.inf)
    )


def test_holm_by_hand():
    # 0.01 * 4, 0.02 * 3, max(0.06, 0.022 * 2), 0.9
    assert holm([0.022, 0.9, 0.01, 0.02]).tolist() == pytest.approx([0.06, 0.9, 0.04, 0.06])
    assert holm([0.5, 0.6]).tolist() == [1.0, 1.0]


def test_effect_sizes_by_hand():
    sizes = effect_sizes([1, 2, 3, 4], [2, 4, 6, 3])  # differences 1 2 3 -1; ranks 1.5 3 4 1.5
    assert sizes.rank_biserial == pytest.approx(7 / 10)
    assert sizes.mean_difference == 1.25
    assert sizes.median_difference == 1.5
    assert sizes.cohen_d == pytest.approx(1.25 / np.std([1, 2, 3, -1], ddof=1))
    assert sizes.cliff_delta == pytest.approx((10 - 3) / 16)
    assert effect_sizes([1, 2], [1, 2]).rank_biserial == 0
    assert math.isnan(effect_sizes([1], [2]).cohen_d)


def test_win_tie_loss_and_its_sign_test():
    tally = win_tie_loss([1, 2, 3, 4], [2, 2, 2, 5])
    assert (tally.wins, tally.ties, tally.losses) == (2, 1, 1)
    assert tally.p_value == 1.0
    assert win_tie_loss([0] * 5, [1] * 5).p_value == pytest.approx(2 / 32)
    assert win_tie_loss([0.5], [0.6], tolerance=0.1).ties == 1
    assert win_tie_loss([1], [1]).p_value == 1.0


def bayesian_by_loops(differences, rope, prior, draws, seed):
    rng = np.random.default_rng(seed)
    z = [*differences, 0.0]
    won = [0.0, 0.0, 0.0]
    for _ in range(draws):
        w = rng.dirichlet([1.0] * len(differences) + [prior])
        chances = [0.0, 0.0, 0.0]
        for i, j in itertools.product(range(len(z)), repeat=2):
            middle = (z[i] + z[j]) / 2
            side = 0 if middle < -rope else 2 if middle > rope else 1
            chances[side] += w[i] * w[j]
        won[int(np.argmax(chances))] += 1
    return [count / draws for count in won]


def test_bayesian_signed_rank_equals_the_loops():
    differences = [0.05, -0.02, 0.03, 0.004, -0.001]
    expected = bayesian_by_loops(differences, 0.01, 0.5, 300, 7)
    found = bayesian_signed_rank([0] * 5, differences, n_draws=300, random_state=7)
    assert [found.lower, found.equal, found.higher] == pytest.approx(expected)


def test_bayesian_signed_rank_is_sure_where_there_is_nothing_to_doubt():
    same = bayesian_signed_rank([0.5] * 6, [0.505] * 6)
    assert (same.lower, same.equal, same.higher) == (0, 1, 0)
    turned = bayesian_signed_rank([0.9] * 12, [0.1] * 12, n_draws=500)
    assert turned.lower > 0.99
    assert turned.lower + turned.equal + turned.higher == pytest.approx(1)
