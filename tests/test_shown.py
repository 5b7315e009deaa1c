"""Every record that users get prints as a table, in a notebook too, and has a short repr."""

import math
import pickle
from html.parser import HTMLParser

import numpy as np
import pytest

import scumble
from scumble._core.table_repr import MAX_ROWS_SHOWN, RecordList, format_cell
from scumble.evaluate import confusion, cross_validate, evaluate
from scumble.evaluate.statistics import (
    bayesian_signed_rank,
    corrected_t_test,
    effect_sizes,
    friedman,
    nemenyi,
    pearson,
    score_table,
    wilcoxon,
    win_tie_loss,
)
from scumble.learn import threshold_curves, threshold_table
from scumble.measures import concurrence, difficult_labels, labelsets

EVIL = "<script>alert('x')</script> & \x1b[31mred"
N_LABELS = 1500


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(0)
    chances = np.geomspace(0.4, 0.002, N_LABELS)
    Y = rng.random((1200, N_LABELS)) < chances
    names = [EVIL, *(f"label {at}" for at in range(1, N_LABELS))]
    return scumble.MultilabelDataset(rng.random((1200, 2)), Y, labels=names, name=EVIL)


@pytest.fixture(scope="module")
def records(large):
    summary = scumble.characterize(large)
    small = scumble.make_multilabel(90, 8, mean_ir=5, scumble=None, random_state=0)
    judged = cross_validate(large[:60], "mlknn", splitter=2, random_state=0)
    compared = scumble.evaluate.compare(small, ["br", "mlknn"], folds="1x3", random_state=0)
    rng = np.random.default_rng(1)
    scores = {f"method {at}": rng.random(30) for at in range(40)}
    x, y = scores["method 0"], scores["method 1"]
    found = {
        "summary": summary,
        "labels": summary.labels,
        "labelsets": summary.labelsets,
        "labelsets alone": labelsets(large),
        "concurrence": concurrence(large),
        "difficult": difficult_labels(large, n_labels=300),
        "a difficult label": difficult_labels(large)[0],
        "evaluation": evaluate(large.Y, large.Y, large.Y.toarray(), groups={"mine": [0]}),
        "confusion": confusion(large.Y, large.Y),
        "cross-validation": judged,
        "fold": judged.folds[0],
        "label table": judged.label_table(),
        "label counts": judged.label_counts[0],
        "comparison": compared,
        "differences": compared.table,
        "difference": compared.table[0],
        "gains": compared.gains("mlknn"),
        "trial": compared.results[0],
        "thresholds": threshold_table(large.Y.toarray() * 0.5, large),
        "threshold curve": threshold_curves(rng.random((500, 1)), rng.random((500, 1)) < 0.3)[0],
        "score table": score_table(scores, "macro_f1"),
        "friedman": friedman(scores),
        "nemenyi": nemenyi(scores),
        "wilcoxon": wilcoxon(x, y),
        "bayes": bayesian_signed_rank(x, y, n_draws=100),
        "wins": win_tie_loss(x, y),
        "effects": effect_sizes(x, y),
        "pearson": pearson(x, y),
        "folds": corrected_t_test(x, y, test_over_train=0.5),
    }
    advice = scumble.advise(small, budget=0.001, random_state=0)
    found |= {"advice": advice, "diagnosis": advice.diagnosis, "judged": advice.results[0]}
    return found


NAMES = [
    "summary", "labels", "labelsets", "labelsets alone", "concurrence", "difficult",
    "a difficult label", "evaluation", "confusion", "cross-validation", "fold", "label table",
    "label counts", "comparison", "differences", "difference", "gains", "trial", "thresholds",
    "threshold curve", "score table", "friedman", "nemenyi", "wilcoxon", "bayes", "wins",
    "effects", "pearson", "folds", "advice", "diagnosis", "judged",
]  # fmt: skip


def test_all_records_take_part(records):
    assert sorted(records) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_repr_is_short_however_large_the_data(records, name):
    text = repr(records[name])
    assert len(text) <= 500
    assert len(text.splitlines()) <= 10
    assert "\x1b" not in text


class Cells(HTMLParser):
    """Reads tables, and refuses what is not closed or does not belong."""

    def __init__(self):
        super().__init__()
        self.open, self.rows, self.tags = [], [], set()

    def handle_starttag(self, tag, attrs):
        assert not attrs
        self.tags.add(tag)
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def read_html(record):
    reader = Cells()
    reader.feed(record._repr_html_())
    reader.close()
    assert reader.open == []
    return reader


@pytest.mark.parametrize("name", NAMES)
def test_html_is_a_table_in_which_nothing_runs(records, name):
    found = read_html(records[name])
    assert found.tags <= {"table", "thead", "tbody", "tr", "th", "td", "p", "b"}
    assert 0 < len(found.rows) <= MAX_ROWS_SHOWN + 1
    assert len({len(row) for row in found.rows}) == 1
    assert "\x1b" not in records[name]._repr_html_()


@pytest.mark.parametrize("name", NAMES)
def test_what_is_printed_is_what_the_html_holds(records, name):
    text = str(records[name])
    assert "\x1b" not in text
    if name == "advice":  # speaks in sentences
        assert "What to do" in text or "Nothing can be learnt" in text
        return
    squeezed = "".join(text.split())
    for first, *others in read_html(records[name]).rows:
        assert "".join(first.split())[:40] in squeezed
        assert "".join("".join(others).split()) in squeezed


def test_columns_are_aligned_and_the_rest_is_counted(records):
    lines = str(records["labels"]).splitlines()
    n_rare = int(records["labels"].is_minority.sum())
    assert lines[0] == f"LabelTable: {N_LABELS:,} labels, {n_rare:,} of them rarer than average"
    assert lines[1].split() == ["name", "count", "frequency", "irlbl", "scumble", "scumble_cv"]
    assert len({len(line) for line in lines[1:-1]}) == 1
    assert len(lines) == MAX_ROWS_SHOWN + 3
    assert lines[-1] == f"... {N_LABELS - MAX_ROWS_SHOWN:,} more"
    assert "<script>alert('x')</script> & \\x1b[31mred" in lines[2]


def test_the_summary_prints_its_numbers():
    lines = str(scumble.characterize([[1, 0], [1, 0], [1, 1]])).splitlines()
    told = dict(line.split() for line in lines[1:])
    assert told["n_instances"] == "3"
    assert told["mean_ir"] == "2"
    assert told["scumble"] == "0.04466"
    assert told["tcs"] == "–"


def test_an_evaluation_has_its_groups_beside_it():
    found = evaluate([[1, 0], [1, 1]], [[1, 0], [1, 0]], groups={"rare": [1]})
    rows = {first: others for first, *others in read_html(found).rows}
    assert rows["metric"] == ["value", "rare"]
    assert rows["macro_recall"] == ["0.5", "0"]
    assert rows["subset_accuracy"] == ["0.5", "–"]


def test_records_are_lists():
    rows = [{"name": "a", "n": 1}, {"name": "b", "n": 2}]
    found = RecordList(rows, "letters")
    assert found == rows
    assert repr(found) == "<2 letters>"
    again = pickle.loads(pickle.dumps(found))
    assert (again, str(again)) == (rows, str(found))
    assert str(RecordList([], "letters")) == "0 letters"
    assert read_html(RecordList([], "letters")).rows == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234567, "1,234,567"),
        (True, "yes"),
        (np.float64(0.5), "0.5"),
        (math.inf, "inf"),
        (3.2e-9, "3.2e-09"),
        (np.arange(5), "0, 1, 2, ... (5)"),
        (np.zeros((2, 3)), "2 x 3 values"),
        ({"a": 1, "b": 2}, "a, b"),
        (EVIL, "<script>alert('x')</script> & \\x1b[31mred"),
    ],
)
def test_cells(value, text):
    assert format_cell(value) == text
