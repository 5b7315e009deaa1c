"""Small functions, each with a case that is checked by hand."""

import numpy as np
import pytest

from scumble._core import calls, errors, hierarchy, java, shown, text
from scumble._core.parallel import row_blocks
from scumble._core.provenance import carried_weights, carry_weights, is_resampled, mark_resampled
from scumble._core.selection import find_labels, resolve_categorical
from scumble._core.validation import label_lists, match_lists

NAMES = ("comedy", "drama", "war")
CASES = [
    (calls.split_outside("a(x=1,y=2), b", ","), ["a(x=1,y=2)", "b"]),
    (
        calls.parse_call("rare(quality=best, n_neighbors=3)")[1],
        {"quality": "best", "n_neighbors": 3},
    ),
    (calls.parse_call("br"), ("br", {})),
    (calls.write_call("rare", {"quality": "best", "k": None}), "rare(quality=best)"),
    (calls.write_call("br", {}), "br"),
    (
        calls.parse_parameters(["a=0.5", "b=true", "c=ranking"]),
        {"a": 0.5, "b": True, "c": "ranking"},
    ),
    (hierarchy.check_parents([-1, 0, 1], 3), (-1, 0, 1)),
    (hierarchy.select_parents([-1, 0, 1], [2, 0]), (1, -1)),
    ((java.hash_of("Aa"), java.hash_of("BB")), (2112, 2112)),
    ([java.JavaRandom(42).next_int(100)], [30]),
    (java.name_order(["red", "blue", "white", "orange"]), ["red", "orange", "white", "blue"]),
    (text.counted(1, "label"), "1 label"),
    (text.counted(1200, "label"), "1,200 labels"),
    ([text.significant(value) for value in (0.09011494, 1234.56)], ["0.09011", "1,235"]),
    ([shown.cell_text(value) for value in (12345, 0.123456, None)], ["12,345", "0.1235", "–"]),
    ([shown.cell_text(value) for value in ("a\tb", (1, 2))], ["a\\tb", "1, 2"]),
    (errors.suggest("remidial", ["mlros", "remedial"]), " Did you mean 'remedial'?"),
    (errors.suggest("f1_macro", ["f1", "macro_f1"]), " Did you mean 'macro_f1'?"),
    (errors.suggest_parameter("k", ["n_neighbors", "scale"]), " Here it is 'n_neighbors'."),
    (text.plain_text("See `fit`: ``k=1``   and :func:`rest`."), "See fit: k=1 and rest."),
    (text.align(("label", "n"), [("war", "12")]), [["label", " n"], ["war  ", "12"]]),
    (resolve_categorical([False, True, True], 3, caller="docs"), {1: 0, 2: 0}),
    (resolve_categorical({"colour": 4}, 2, ["size", "colour"], caller="docs"), {1: 4}),
    (find_labels(["war", 0], 3, NAMES, caller="docs").tolist(), [2, 0]),
    (find_labels(slice(2), 3, NAMES, caller="docs").tolist(), [0, 1]),
    (row_blocks(np.array([0, 8, 9, 10, 16]), 2), [(0, 2), (2, 4)]),
    ([label_lists(Y) for Y in ([{0}, {1}], [[0, 1], [1, 1]])], [[{0}, {1}], None]),
]


@pytest.mark.parametrize(("found", "expected"), CASES)
def test_a_case_by_hand(found, expected):
    assert found == expected


def test_lists_of_names_have_the_columns_of_both():
    Y, predicted = match_lists([["war"], ["love", "war"]], [[], ["love"]])
    assert Y.labels == ("love", "war")
    assert predicted.Y.toarray().tolist() == [[False, False], [True, False]]


def test_what_was_resampled_is_known_and_copies_are_not():
    before, Y = np.array([1.0, 2.0]), np.zeros((3, 2))
    mark_resampled(Y)
    carry_weights(Y, before, np.array([1.0, 2.0, 2.0]))
    assert (is_resampled(Y), is_resampled(Y.copy())) == (True, False)
    assert carried_weights(Y, before).tolist() == [1, 2, 2]
    assert carried_weights(Y.copy(), before).tolist() == [1, 2]
