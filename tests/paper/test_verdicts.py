"""Verdicts by the spread of folds, causes of differences, and versions of MULAN."""

import math

import pytest

from scumble import MultilabelDataset
from scumble.paper import published
from scumble.paper.claims import check_mulan_versions
from scumble.paper.ledger import causes, compare_experiments
from scumble.paper.sources import substitute_note
from scumble.paper.verdicts import CAUSES, FoldMeans, ReproductionResult, is_near, standard_error


def folds(dataset, resampler, classifier, name, mean, spread=0.0, seeds=(1,), **others):
    """Ten folds a seed, half of them ``spread`` above the mean and half below."""
    place = {"dataset": dataset, "resampler": resampler, "classifier": classifier, "state": "done"}
    return [
        {
            **place, "seed": seed, "fold": fold,
            "key": (*place.values(), seed, fold),
            "scores": {name: mean + spread * (-1) ** fold, **others},
        }
        for seed in seeds
        for fold in range(10)
    ]  # fmt: skip


def entry(cells, item, rule="fits"):
    return next(one for one in compare_experiments(FoldMeans(cells), rule=rule) if one.item == item)


def test_the_standard_error_is_that_of_two_means():
    # Ten values at +-1: sample variance 10/9; ours over 10 folds, the printed one over 10 others.
    assert standard_error([1, -1] * 5) == pytest.approx(math.sqrt(10 / 9 * (1 / 10 + 1 / 10)))
    # Thirty folds of our own: variance 30/29.
    assert standard_error([1, -1] * 15) == pytest.approx(math.sqrt(30 / 29 * (1 / 10 + 1 / 30)))
    assert standard_error([3.0]) == 0.0


@pytest.mark.parametrize(
    ("errors", "verdict", "cause"),
    [
        (1.9, "reproduced", ""),
        (2.1, "not reproduced", "fold noise"),
        (2.9, "not reproduced", "fold noise"),
        (3.1, "not reproduced", "unknown"),
    ],
)
def test_near_is_told_in_standard_errors(errors, verdict, cause):
    spread = 0.02
    away = errors * standard_error([spread, -spread] * 5)
    cells = folds("yeast", "none", "BR", "hamming_loss", 0.2505 + away, spread)
    assert published.results()[0].decimals == 4  # rounding adds half a unit: too little to matter
    found = entry(cells, "HL yeast BR before")
    assert found.published == 0.2505
    assert (found.verdict, found.cause) == (verdict, cause)


def test_other_folds_make_the_mean_surer():
    one, three = (
        FoldMeans(folds("yeast", "none", "BR", "f1", 0.5, 0.1, seeds))
        for seeds in ((1,), (1, 2, 3))
    )
    place = ("yeast", "none", "BR", "f1")
    assert one.mean(*place) == pytest.approx(three.mean(*place))
    assert three.standard_error(*place) / one.standard_error(*place) == pytest.approx(
        math.sqrt((30 / 29 * (1 / 10 + 1 / 30)) / (10 / 9 * (1 / 10 + 1 / 10)))
    )


def test_a_seed_counts_when_all_of_its_folds_are_done():
    first = folds("yeast", "none", "BR", "f1", 0.5)
    second = folds("yeast", "none", "BR", "f1", 0.9, seeds=(2,))
    place = ("yeast", "none", "BR", "f1")
    assert FoldMeans([*first, *second]).mean(*place) == pytest.approx(0.7)
    second[3] = {**second[3], "state": "pending", "scores": {}}
    assert FoldMeans([*first, *second]).mean(*place) == pytest.approx(0.5)


def test_the_error_of_a_change_is_taken_fold_by_fold():
    before = folds("yeast", "none", "HOMER", "f1", 0.5, 0.1)
    after = folds("yeast", "LP-ROS 25 %", "HOMER", "f1", 0.6, 0.1)  # 0.1 more on every fold
    found = FoldMeans([*before, *after])
    assert found.standard_error_of_change("yeast", "LP-ROS 25 %", "HOMER", "f1") == pytest.approx(
        0, abs=1e-9
    )


def test_a_number_of_another_rule_or_version_has_that_cause():
    printed = next(
        p for p in published.results()
        if (p.method, p.dataset, p.measure) == ("CLR", "medical", "MacroFM")
    ).before  # fmt: skip
    rules = {"ignore.macro_f1": printed, "hits.macro_f1": 0.9}
    cells = folds("medical", "none", "CLR", "macro_f1", 0.1, **rules)
    rules = {"ignore.macro_f1": 0.0, "hits.macro_f1": 0.99}  # here the rule that fits on the whole
    near = folds("genbase", "none", "CLR", "macro_f1", 0.1, **rules)
    assert entry([*cells, *near], "MacroFM medical CLR before").cause == "undefined rule"

    cells = folds("medical", "none", "CLR", "hamming_loss", 0.5)
    other = folds("medical", "none", "CLR that loses votes", "hamming_loss", 0.0109)
    assert entry(cells, "HL medical CLR before").cause == "unknown"
    found = entry([*cells, *other], "HL medical CLR before")
    assert (found.published, found.cause) == (0.0109, "version of MULAN")


def test_a_data_set_for_which_another_stands_in_is_named():
    found = entry(folds("tmc2007", "none", "BR", "hamming_loss", 0.5), "HL tmc2007 BR before")
    assert found.cause == "substitute data"
    assert found.reason == "tmc2007-500: the same labels with 500 features"


def test_mulans_rule_stands_beside_the_one_that_fits():
    pair = next(p for p in published.results() if (p.method, p.measure) == ("BR", "MacroFM"))
    scores = {"hits.macro_f1": pair.before, "ignore.macro_f1": 0.0}
    cells = folds(pair.dataset, "none", "BR", "macro_f1", 0.0, **scores)
    item = f"MacroFM {pair.dataset} BR before"
    assert entry(cells, item).verdict == "reproduced"
    by_mulan = entry(cells, item, rule="mulan")
    assert (by_mulan.verdict, by_mulan.cause) == ("not reproduced", "undefined rule")


def test_every_number_that_is_not_reproduced_has_a_cause():
    cells = []
    for pair in published.results():
        cells += folds(pair.dataset, "none", pair.method, "hamming_loss", 0.77)
        cells += folds(pair.dataset, "REMEDIAL", pair.method, "hamming_loss", 0.66)
    entries = compare_experiments(FoldMeans(cells))
    judged = [one for one in entries if one.verdict in ("same direction", "not reproduced")]
    assert judged
    assert all(one.cause in CAUSES for one in judged)
    counted = causes(entries)
    assert sum(sum(row.values()) for row in counted.values()) == len(judged)
    assert causes([ReproductionResult(5, "a", 1.0, 1.0, "reproduced")]) == {}


def test_the_version_that_reaches_most_numbers_is_found():
    cells = []
    for pair in published.results():
        if pair.method != "CLR" or pair.measure != "HL":
            continue
        for arm, value in (("none", pair.before), ("REMEDIAL", pair.after)):
            cells += folds(pair.dataset, arm, "CLR", "hamming_loss", value, seeds=(1, 2))
            lost = value if pair.dataset == "yeast" else value + 0.01  # yeast has no empty pair
            cells += folds(pair.dataset, arm, "CLR that loses votes", "hamming_loss", lost)
    found = {one.item: one for one in check_mulan_versions(FoldMeans(cells))}
    clr = found["CLR, where versions differ"]
    # Eleven data sets without two substitutes and without yeast, twice.
    assert clr.published == "16 numbers"
    assert (clr.scumble_value, clr.verdict) == ("CLR 16, CLR that loses votes 0", "fits CLR")
    assert found["HOMER, where versions differ"].verdict == "not computable here"


def test_chance_and_rounding_decide_what_is_near_and_stand_ins_are_named():
    assert is_near(0.25, 0.27, error=0.011, decimals=4)
    assert not is_near(0.25, 0.28, error=0.011, decimals=4)
    data = MultilabelDataset([[1.0]], [[1]], name="tmc2007-500")
    assert substitute_note("tmc2007", data) == "tmc2007-500: the same labels with 500 features"
