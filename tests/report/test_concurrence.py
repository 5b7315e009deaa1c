import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import scumble
from scumble._core.text import format_significant
from scumble.advice.evidence import REMEDIAL_METHOD, method_evidence
from scumble.report import concurrence_report, render_html, render_report
from scumble.resample import apply_remedial

GOLDEN = ["emotions", "enron", "flags", "genbase", "yeast"]


def text_of(lines):
    return "\n".join("".join(segment.text for segment in line) for line in lines)


@pytest.mark.parametrize("name", GOLDEN)
def test_says_what_mldr_042_says(name, datasets, golden):
    theirs = (golden / "mldr" / f"concurrenceReport_{name}.txt").read_text()
    report = concurrence_report(scumble.read(next((datasets / name).glob(f"{name}.arff*"))))
    mean, cv = re.search(r"Mean SCUMBLE (\S+) with CV (\S+)", theirs).groups()
    assert f"Mean SCUMBLE {mean} with CV {cv}" in text_of(render_report(report))

    by_label = theirs.split("by label:\n")[1].split("\n\n")[0]
    expected = dict(re.findall(r"# (.+): (\S+)", by_label))
    ours = {label["name"]: format_significant(label["scumble"]) for label in report["labels"]}
    assert {k: float(v) for k, v in ours.items()} == {k: float(v) for k, v in expected.items()}
    values = [label["scumble"] for label in report["labels"]]
    assert values == sorted(values, reverse=True)

    blocks = re.split(r"\n(?=Minority label )", theirs)[1:]
    assert len(blocks) == len(report["difficult"])
    for block, label in zip(blocks, report["difficult"], strict=True):
        head, *partners = [line for line in block.splitlines() if line]
        assert re.match(r"Minority label (.+) \(\d+, SCUMBLE", head)[1] == label["name"]
        found = [
            re.match(r"# (.+) \(\d+, SCUMBLE \S+\): (\d+) inter", line).groups()
            for line in partners
        ]
        ours = [(partner["name"], str(partner["joint_count"])) for partner in label["partners"]]
        assert ours == found


def small(Y):
    return scumble.MultilabelDataset(np.zeros((len(Y), 1)), Y, name="small")


def test_verdicts():
    concurrent = concurrence_report(small([["a"]] * 20 + [["a", "b"]] * 15 + [["a", "b", "c"]] * 9))
    assert "resampling works as intended" in " ".join(concurrent["verdict"])
    masked = concurrence_report(small([["a"]] * 30 + [["a", "c"]] * 30 + [["a", "b"]]))
    assert "b (1 instance), masked by a (100 % of them)." in " ".join(masked["verdict"])
    apart = concurrence_report(small([["a"], ["a"], ["a"], ["b"]]))
    assert "never share an instance" in " ".join(apart["verdict"])
    nothing = concurrence_report(small(np.zeros((3, 2), int)))
    assert "No label ever occurs" in nothing["verdict"][0]
    assert "2 labels never occur and 3 instances have no label" in " ".join(nothing["verdict"])


def test_only_company_that_matters_is_named_and_masking_is_not_said_lightly():
    # The rare label c meets a in 12 of its 20 instances and b in one of them.
    Y = [["a"]] * 40 + [["b"]] * 40 + [["a", "c"]] * 12 + [["b", "c"]] + [["c"]] * 7
    words = " ".join(concurrence_report(small(Y))["verdict"])
    assert "Of the rare labels c (20 instances) shares most: with a (60 % of them)." in words
    assert "masked" not in words
    seldom = [["a"]] * 90 + [["b"]] * 90 + [["c"]] * 19 + [["b", "c"]]
    words = " ".join(concurrence_report(small(seldom))["verdict"])
    assert "label is c (20 instances); no frequent label co-occurs often." in words


def test_few_difficult_labels_are_counted_as_a_person_would():
    two = [["a"]] * 200 + [["a", "x"]] * 2 + [["a", "y"]] * 3 + [["b"]] * 150
    words = " ".join(concurrence_report(small(two))["verdict"])
    assert "a is in at least a tenth of the instances of both difficult labels." in words
    three = [*two, ["a", "z"], ["a", "z"]]
    words = " ".join(concurrence_report(small(three))["verdict"])
    assert "instances of all 3 difficult labels." in words
    apart = [["a"]] * 200 + [["a", "x"]] * 2 + [["b", "y"]] * 3 + [["b"]] * 150
    assert "Next in difficulty: y." in concurrence_report(small(apart))["verdict"]


@pytest.mark.parametrize(
    ("n_alone", "n_rare", "level", "advice"),
    [
        (80, 6, "resampling works as intended", "is not meant for such low concurrence"),
        (10, 6, "This is the border", "The paper is undecided about REMEDIAL"),
        (0, 12, "resampling alone helps little", "The paper recommends REMEDIAL"),
        (0, 60, "lowered MeanIR by 6 %", "The paper recommends REMEDIAL"),
    ],
)
def test_what_the_paper_says_stands_beside_what_was_measured(n_alone, n_rare, level, advice):
    rare = [["a", f"r{at}"] for at in range(n_rare)]
    report = concurrence_report(small([["a"]] * n_alone + [["a", "b"]] * 20 + rare))
    words = " ".join(report["verdict"])
    assert level in words
    assert advice in words
    found = method_evidence(REMEDIAL_METHOD, concurrent=report["summary"]["scumble"] > 0.1)
    assert f"by {-found.change:.2f} on average" in words
    assert "scumble advise FILE" in words


def test_every_kind_of_report_can_be_drawn():
    for Y in ([["a"], ["b"]], np.zeros((3, 2), int), [["a", "b"], ["a"], ["a"]]):
        report = concurrence_report(small(Y))
        after, treatment = apply_remedial(small(Y), passes=2)
        assert text_of(render_report(report, width=40))
        assert "</html>" in render_html(report, treatment)
        assert len(after) == treatment["after"]["n_instances"]


def test_narrow_terminals_cut_names_not_numbers():
    data = small([["a" * 200], ["a" * 200, "ünïcödé 漢字 " * 10], ["a" * 200]])
    for line in (
        text_of(render_report(concurrence_report(data), width=60)).split("\n\n")[2].splitlines()
    ):
        assert len(line) <= 60


FILMS = [["war"], ["war", "love"], ["war", "noir"], ["war", "love"]]


@pytest.mark.parametrize(
    "labels",
    [
        FILMS,
        pd.Series(FILMS, index=[3, 1, 2, 0]),
        pl.Series(FILMS),
        pd.DataFrame({"love": [0, 1, 0, 1], "noir": [0, 0, 1, 0], "war": [1, 1, 1, 1]}),
    ],
    ids=["lists", "pandas column", "polars column", "frame"],
)
def test_labels_alone_are_reported_on(labels):
    report = concurrence_report(labels)
    whole = concurrence_report(scumble.MultilabelDataset([[0.0]] * 4, FILMS))
    assert report["labels"] == whole["labels"]
    assert report["difficult"] == whole["difficult"]
    assert report["verdict"] == whole["verdict"]
    assert report["summary"]["n_features"] is None
    assert report["features"] == {}
    assert "noir" in render_html(report)


def test_what_holds_no_labels_is_refused():
    with pytest.raises(scumble.ScumbleError, match="Y must be two-dimensional"):
        concurrence_report(pd.Series([1, 2, 3]))
