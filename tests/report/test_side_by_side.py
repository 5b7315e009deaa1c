"""Good and bad changes by resamplers, in words."""

import math

import scumble
from scumble.report.treatment import resampler_comparison
from scumble.resample import LPROS, REMEDIAL, compare_methods


def row(method, **measures):
    usual = {"n_instances": 100, "n_unlabelled": 0, "mean_ir": 4.0, "max_ir": 9.0, "cvir": 0.5}
    told = {"n_added": 0, "n_removed": 0, "seconds": 0.1, "error": None}
    return {"method": method, **usual, "scumble": 0.2, **told, **measures}


def test_less_imbalance_is_better_more_is_worse_and_more_rows_are_neither():
    found = resampler_comparison(
        [row("none"), row("mlros", n_instances=125, mean_ir=3.0, max_ir=12.0, n_unlabelled=5)]
    )
    changes = found["methods"][0]["changes"]
    assert changes["n_instances"] == {"value": 125, "part": 0.25, "verdict": "changed"}
    assert changes["mean_ir"] == {"value": 3.0, "part": -0.25, "verdict": "better"}
    assert changes["max_ir"]["verdict"] == "worse"
    assert changes["cvir"] == {"value": 0.5, "part": 0.0, "verdict": "same"}
    assert changes["n_unlabelled"] == {"value": 5, "part": None, "verdict": "worse"}


def test_one_sentence_names_the_best_of_each_measure_and_what_it_does_not_tell():
    rows = [row("none"), row("mlros", mean_ir=3.0), row("remedial", scumble=0.01, mean_ir=3.5)]
    assert resampler_comparison(rows)["verdict"] == (
        "remedial lowers SCUMBLE most (0.2 to 0.01), and mlros lowers MeanIR most (4 to 3); "
        "only cross-validation shows whether that helps a classifier."
    )
    both = resampler_comparison([row("none"), row("hwr", scumble=0.01, mean_ir=3.0)])["verdict"]
    assert both.startswith("hwr lowers SCUMBLE most (0.2 to 0.01), and MeanIR most (4 to 3);")
    assert resampler_comparison([row("none"), row("mlros", mean_ir=5.0)])["verdict"] == (
        "No method lowers SCUMBLE or MeanIR here; only cross-validation shows whether one of them "
        "helps a classifier."
    )
    assert resampler_comparison([row("none"), row("mlros", mean_ir=3.0)])["verdict"].startswith(
        "mlros lowers MeanIR most (4 to 3), and no method lowers SCUMBLE;"
    )


def test_methods_that_fail_say_why_and_measures_without_a_value_are_none():
    first = row("none", scumble=math.nan)
    found = resampler_comparison(
        [first, {"method": "mlsmote", "error": "no features"}, row("mlros")]
    )
    assert found["before"]["scumble"] is None
    failed, done = found["methods"]
    assert (failed["error"], failed["changes"]) == ("no features", {})
    assert done["changes"]["scumble"]["verdict"] == "changed"


def test_resamplers_with_parameters_are_compared_under_names_of_their_own():
    data = scumble.MultilabelDataset([[0.0]] * 4, [["a"], ["a", "b"], ["a", "c"], ["a", "b"]])
    chains = {"split": [REMEDIAL()], "both": [REMEDIAL(), LPROS(percent=50, random_state=0)]}
    rows = compare_methods(data, chains)
    assert [one["method"] for one in rows] == ["none", "split", "both"]
    assert [one["n_instances"] for one in rows] == [
        4,
        5,
        6,
    ]  # two of a, two of ab, one of c: room for one
    assert [one["n_unlabelled"] for one in rows] == [0, 0, 0]
