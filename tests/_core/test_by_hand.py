"""Small functions, each with a case that is checked by hand."""

import numpy as np
import pytest

from scumble._core import calls, errors, java, table_repr, text
from scumble._core.parallel import row_blocks
from scumble._validation import label_hierarchy
from scumble._validation.labels import align_label_lists, label_lists
from scumble._validation.provenance import (
    is_resampled,
    mark_resampled,
    remember_sample_weight,
    remembered_sample_weight,
)
from scumble._validation.selection import resolve_categorical, resolve_label_indices

NAMES = ("comedy", "drama", "war")
CASES = [
    (calls.split_outside_brackets("a(x=1,y=2), b", ","), ["a(x=1,y=2)", "b"]),
    (
        calls.parse_call("rare(quality=best, n_neighbors=3)")[1],
        {"quality": "best", "n_neighbors": 3},
    ),
    (calls.parse_call("br"), ("br", {})),
    (calls.format_call("rare", {"quality": "best", "k": None}), "rare(quality=best)"),
    (calls.format_call("br", {}), "br"),
    (
        calls.parse_parameters(["a=0.5", "b=true", "c=ranking"]),
        {"a": 0.5, "b": True, "c": "ranking"},
    ),
    (label_hierarchy.check_parents([-1, 0, 1], 3), (-1, 0, 1)),
    (label_hierarchy.select_parents([-1, 0, 1], [2, 0]), (1, -1)),
    ((java.java_hash("Aa"), java.java_hash("BB")), (2112, 2112)),
    ([java.JavaRandom(42).next_int(100)], [30]),
    (
        java.mulan_label_order(["red", "blue", "white", "orange"]),
        ["red", "orange", "white", "blue"],
    ),
    (text.pluralize(1, "label"), "1 label"),
    (text.pluralize(1200, "label"), "1,200 labels"),
    ([text.format_significant(value) for value in (0.09011494, 1234.56)], ["0.09011", "1,235"]),
    (
        [table_repr.format_cell(value) for value in (12345, 0.123456, None)],
        ["12,345", "0.1235", "–"],
    ),
    ([table_repr.format_cell(value) for value in ("a\tb", (1, 2))], ["a\\tb", "1, 2"]),
    (errors.did_you_mean("remidial", ["mlros", "remedial"]), " Did you mean 'remedial'?"),
    (errors.did_you_mean("f1_macro", ["f1", "macro_f1"]), " Did you mean 'macro_f1'?"),
    (errors.did_you_mean_parameter("k", ["n_neighbors", "scale"]), " Here it is 'n_neighbors'."),
    (text.strip_markup("See `fit`: ``k=1``   and :func:`rest`."), "See fit: k=1 and rest."),
    (text.align(("label", "n"), [("war", "12")]), [["label", " n"], ["war  ", "12"]]),
    (resolve_categorical([False, True, True], 3, caller="docs"), {1: 0, 2: 0}),
    (resolve_categorical({"colour": 4}, 2, ["size", "colour"], caller="docs"), {1: 4}),
    (resolve_label_indices(["war", 0], 3, NAMES, caller="docs").tolist(), [2, 0]),
    (resolve_label_indices(slice(2), 3, NAMES, caller="docs").tolist(), [0, 1]),
    (row_blocks(np.array([0, 8, 9, 10, 16]), 2), [(0, 2), (2, 4)]),
    ([label_lists(Y) for Y in ([{0}, {1}], [[0, 1], [1, 1]])], [[{0}, {1}], None]),
]


@pytest.mark.parametrize(("found", "expected"), CASES)
def test_a_case_by_hand(found, expected):
    assert found == expected


def test_lists_of_names_have_the_columns_of_both():
    Y, predicted = align_label_lists([["war"], ["love", "war"]], [[], ["love"]])
    assert Y.labels == ("love", "war")
    assert predicted.Y.toarray().tolist() == [[False, False], [True, False]]


def test_what_was_resampled_is_known_and_copies_are_not():
    before, Y = np.array([1.0, 2.0]), np.zeros((3, 2))
    mark_resampled(Y)
    remember_sample_weight(Y, before, np.array([1.0, 2.0, 2.0]))
    assert (is_resampled(Y), is_resampled(Y.copy())) == (True, False)
    assert remembered_sample_weight(Y, before).tolist() == [1, 2, 2]
    assert remembered_sample_weight(Y.copy(), before).tolist() == [1, 2]
