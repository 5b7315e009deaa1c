"""CSV: label columns or one column of label lists."""

import csv
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings, strategies as st

import scumble
from scumble._core.errors import DataError, ParameterError, ReadError, ScumbleError, ScumbleWarning
from scumble._core.files import InputFile
from scumble.data import Feature, MultilabelDataset
from scumble.data.formats import arrow_texts
from scumble.data.formats.csv import FORMAT, sniff
from scumble.data.formats.delimited import cells
from scumble.testing.strategies import datasets, texts


def read(tmp_path, text: str | bytes, name: str = "data.csv", **options) -> MultilabelDataset:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return scumble.read(path, format="csv", **options)


def labelsets(data: MultilabelDataset) -> list[list[str]]:
    return [[data.labels[at] for at in data.Y[[row]].indices] for row in range(len(data))]


FILMS = 'minutes,land,stars,war,love\n150,no,4.5,1,1\n90,"fr, south",NA,0,0\n120,,1,0,1\n'


class TestColumns:
    def test_a_file_made_by_hand(self, tmp_path):
        data = read(tmp_path, FILMS, labels=["war", "love"])
        assert data.features == (
            Feature("minutes", integer=True),
            Feature("land", "nominal", ("fr, south", "no")),
            Feature("stars"),
        )
        np.testing.assert_array_equal(data.X, [[150, 1, 4.5], [90, 0, np.nan], [120, np.nan, 1]])
        assert data.labels == ("war", "love")
        assert data.Y.toarray().astype(int).tolist() == [[1, 1], [0, 0], [0, 1]]
        assert data.name == "data"

    @pytest.mark.parametrize("labels", [["love", "war"], [3, 4], [-1, -2], -2])
    def test_ways_to_say_which(self, tmp_path, labels):
        assert read(tmp_path, FILMS, labels=labels).labels == ("war", "love")

    def test_labels_named_by_an_xml_file(self, tmp_path):
        (tmp_path / "films.xml").write_text(
            '<labels xmlns="http://mulan.sourceforge.net/labels">'
            '<label name="love"><label name="war"/></label></labels>'
        )
        data = read(tmp_path, FILMS, labels=str(tmp_path / "films.xml"))
        assert data.labels == ("war", "love")
        assert data.label_parents == (1, -1)

    def test_labels_in_front(self, tmp_path):
        data = read(tmp_path, "a,b,x\n1,0,5\n", labels=2)
        assert data.labels == ("a", "b")
        assert data.feature_names == ("x",)

    @pytest.mark.parametrize(
        ("yes", "no"),
        [("1", "0"), ("1.0", "0.0"), ("true", "FALSE"), ('" 1"', '"0"'), ("1e0", "-0")],
    )
    def test_ways_to_write_a_label(self, tmp_path, yes, no):
        data = read(tmp_path, f"x,a\n5,{yes}\n6,{no}\n", labels=["a"])
        assert data.Y.toarray().ravel().tolist() == [True, False]

    @pytest.mark.parametrize("cell", ["2", "x", "", "NA", "?", "nan", "-1", "yes", "1e400", "0.5"])
    def test_labels_are_nothing_else(self, tmp_path, cell):
        with pytest.raises(ReadError, match=r"the label 'a' (holds|is missing)") as fault:
            read(tmp_path, f"x,a\n5,1\n6,{cell}\n", labels=["a"])
        assert (fault.value.line, fault.value.column) == (3, 2)

    def test_the_file_cannot_tell(self, tmp_path):
        with pytest.raises(ReadError, match=r"which columns are labels\? No column holds label"):
            read(tmp_path, FILMS)

    def test_a_marked_header_tells(self, tmp_path):
        data = read(tmp_path, "x,label:a,weight:,feature:label:z,label:\n5,1,0.5,7,0\n")
        assert data.labels == ("a", "")
        assert data.feature_names == ("x", "label:z")
        assert data.weights.tolist() == [0.5]
        again = read(tmp_path, "x,label:a,weight:\n5,1,0.5\n", ignore=["weight:"])
        assert again.weights is None
        chosen = read(tmp_path, "x,label:a,w\n5,1,0.5\n", weight_column="w")
        assert (chosen.feature_names, chosen.weights.tolist()) == (("x",), [0.5])
        with pytest.raises(ReadError, match="one kind of labels"):
            read(tmp_path, "label:a,labels:\n1,[]\n")

    def test_weights(self, tmp_path):
        data = read(tmp_path, "w,x,a\n0.5,3,1\n2,4,0\n", labels=["a"], weight_column="w")
        assert data.weights.tolist() == [0.5, 2]
        assert data.feature_names == ("x",)
        for bad in ("-1", "NA", "x", "inf", "1_0", "\u0661"):  # float() takes the last two
            with pytest.raises(ReadError, match="Expected a number >= 0") as fault:
                read(tmp_path, f"w,x,a\n1,3,1\n{bad},4,0\n2,4,0\n", labels=["a"], weight_column=0)
            assert (fault.value.line, fault.value.column) == (3, 1)
        with pytest.raises(ReadError, match="is a label"):
            read(tmp_path, "w,x,a\n1,3,1\n", labels=["a"], weight_column="a")


LISTS = {
    "python": "['b', 'a']",
    "python double": '["it\'s", "a"]',
    "json": '["b", "é"]',
    "escapes": r"""['it\'s', "\u00e9\ud83d\udc0d", '\x41\\', "a\/b\n"]""",
    "python 2": "[u'b', u\"a\"]",
    "tuple": "('a',)",
    "set": "{'a', 'b'}",
    "empty set": "set()",
    "bare": "[b, a c ]",
    "numbers": "[3, 20]",
    "empty": "[ ]",
    "empty label": "['', ' a ']",
    "brackets in quotes": "['a]', '[b', ',']",
}
EXPECTED = {
    "python": ["a", "b"],
    "python double": ["a", "it's"],
    "json": ["b", "é"],
    "escapes": ["A\\", "a/b\n", "it's", "é\U0001f40d"],
    "python 2": ["a", "b"],
    "tuple": ["a"],
    "set": ["a", "b"],
    "empty set": [],
    "bare": ["a c", "b"],
    "numbers": ["3", "20"],
    "empty": [],
    "empty label": ["", " a "],
    "brackets in quotes": [",", "[b", "a]"],
}


class TestLists:
    @pytest.mark.parametrize("case", LISTS)
    def test_ways_to_write_a_list(self, tmp_path, case):
        cell = LISTS[case].replace('"', '""')
        data = read(tmp_path, f'x,tags\n1,"{cell}"\n', label_column="tags")
        assert labelsets(data) == [EXPECTED[case]]

    @pytest.mark.parametrize(
        ("cell", "reason"),
        [
            ("a", "expected a list of labels in brackets.*label_separator"),
            ("['a'", "the list of labels is not closed"),
            ("['a", "the list of labels is not closed"),
            ("['a'] b", "text follows the list"),
            ("['a']]", "text follows the list"),
            ("['a' 'b']", "expected a comma between labels"),
            ("['a'b]", "expected a comma between labels"),
            ("[a'b']", "expected a comma between labels"),
            ("[,'a']", "a label in the list is missing"),
            ("['a',,'b']", "a label in the list is missing"),
            ("[None]", "a label in the list is missing"),
            ("[nan, 'b']", "a label in the list is missing"),
            ("[['a'], ['b']]", "holds brackets without quotes"),
            (r"['\q']", r"unknown escape \\q in the label"),
            (r"['\ud83d']", "half a character"),
            (r"['\U00ffffff']", "no character has the number"),
            (r"['a\']", "the list of labels is not closed"),
            ("NA", "the labels are missing"),
            ("?", "the labels are missing"),
            ("__import__('os').system('true')", "expected a list of labels in brackets"),
        ],
    )
    def test_bad_lists_name_their_place(self, tmp_path, cell, reason):
        quoted = cell if cell in ("NA", "?") else '"' + cell.replace('"', '""') + '"'
        with pytest.raises(ReadError, match=reason) as fault:
            read(tmp_path, f"x,tags\n1,[]\n\n2,{quoted}\n", label_column="tags")
        assert (fault.value.line, fault.value.column) == (4, 2)

    def test_the_one_column_of_lists_is_found(self, tmp_path):
        data = read(tmp_path, "x,tags,y\n1,\"['b', 'a']\",2\n3,,4\n5,[a],6\n")
        assert data.feature_names == ("x", "y")
        assert labelsets(data) == [["a", "b"], [], ["a"]]
        assert data.X.tolist() == [[1, 2], [3, 4], [5, 6]]

    def test_two_columns_of_lists_are_a_question(self, tmp_path):
        text = "x,a,b\n1,[u],[v]\n"
        with pytest.raises(ReadError, match="Columns 'a', 'b' all hold lists"):
            read(tmp_path, text)
        assert read(tmp_path, text, label_column="b").labels == ("v",)

    @pytest.mark.parametrize(
        ("separator", "cell"),
        [("|", "b| a|c"), (";", "a; b;c"), ("||", "c||a||b"), (" ", "a c  b")],
    )
    def test_separated_lists(self, tmp_path, separator, cell):
        data = read(
            tmp_path,
            f"x,tags\n1,{cell}\n2,\n3,a\n",
            label_column="tags",
            label_separator=separator,
            delimiter=",",
        )
        assert labelsets(data) == [["a", "b", "c"], [], ["a"]]

    def test_empty_names_are_left_out_with_a_warning(self, tmp_path, monkeypatch):
        monkeypatch.setattr(InputFile.blocks, "__defaults__", (8,))
        text = "x,tags\n1,b| a||c|\n2,\n3,a|\n4, \n"
        with pytest.warns(ScumbleWarning, match="3 empty label names were left out"):
            data = read(tmp_path, text, label_column="tags", label_separator="|", delimiter=",")
        assert labelsets(data) == [["a", "b", "c"], [], ["a"], []]

    def test_commas_between_labels_and_before_decimals(self, tmp_path):
        text = "price;tags\n1,5;a, b\n0,25;b\n"
        for column in ("tags", 1):
            data = read(tmp_path, text, label_column=column, label_separator=",")
            assert data.X.ravel().tolist() == [1.5, 0.25]
            assert labelsets(data) == [["a", "b"], ["b"]]

    def test_labels_cannot_be_ignored(self, tmp_path):
        with pytest.raises(ReadError, match="ignore names the column 't', which holds labels"):
            read(tmp_path, "x,t\n1,a\n", label_column="t", label_separator=";", ignore="t")

    def test_a_separator_needs_a_column(self, tmp_path):
        with pytest.raises(ParameterError, match="needs 'label_column'"):
            read(tmp_path, "x,tags\n1,a|b\n", label_separator="|")

    def test_labels_in_quotes_hold_commas_and_line_ends(self, tmp_path):
        data = read(tmp_path, 'x,tags\n1,"[""a,b"", ""c\nd""]"\n2,[]\n')
        assert data.labels == ("a,b", "c\nd")
        assert len(data) == 2

    def test_a_label_named_twice_counts_once_and_is_reported(self, tmp_path):
        with pytest.warns(ScumbleWarning, match=r"data\.csv: 2 labels repeat"):
            data = read(tmp_path, "x,t\n1,\"['a', 'a', 'b', 'a']\"\n")
        assert labelsets(data) == [["a", "b"]]

    @given(st.lists(st.lists(texts(), unique=True, max_size=4), min_size=1, max_size=5))
    @example([["\\", "'", '"', "'\"", "\\'"]])
    def test_what_python_and_json_write_is_read(self, tmp_path_factory, rows):
        folder = tmp_path_factory.mktemp("csv")
        for write in (repr, json.dumps, lambda row: json.dumps(row, ensure_ascii=False)):
            with open(folder / "a.csv", "w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([["x", "t"], *([1, write(row)] for row in rows)])
            data = scumble.read(folder / "a.csv", label_column="t")
            assert [sorted(row) for row in labelsets(data)] == [sorted(row) for row in rows]


class TestHeader:
    @pytest.mark.parametrize(
        ("text", "options", "names"),
        [
            ("a,b,c\n1,2,1\n", {"labels": -1}, ("a", "b")),
            ("5,2,1\n1,2,1\n", {"labels": -1}, ("x0", "x1")),
            ("5,red,1\n1,blue,1\n", {"labels": -1}, ("x0", "x1")),
            ("1,2,a\n3,4,1\n", {"labels": ["a"]}, ("1", "2")),
            ("a,b,c\n0,1,1\n", {"labels": -1, "header": True}, ("a", "b")),
            ("NA,b,1\n5,c,1\n", {"labels": -1}, ("x0", "x1")),
            ("u,true\n5,false\n", {"labels": -1}, ("x0",)),
            ("a,b\nu,[]\n", {}, ("a",)),
            ("5,b\n6,[]\n", {}, ("5",)),
            ("v,[]\nu,[]\n", {}, ("x0",)),
            (' a , "b" ,c\n5,6,1\n', {"labels": -1}, ("a", "b")),
            ("a,,c\n5,6,1\n", {"labels": -1}, ("a", "x1")),
            ("x1,,c\n5,6,1\n", {"labels": -1}, ("x1", "x1_")),
            ("a,,c\n5,,1\n", {"labels": -1}, ("a",)),
        ],
    )
    def test_is_found(self, tmp_path, text, options, names):
        assert read(tmp_path, text, **options).feature_names == names

    def test_without_a_header_labels_are_numbered(self, tmp_path):
        data = read(tmp_path, "5,1,0\n6,0,1\n", labels=-2)
        assert data.labels == ("y0", "y1")
        assert len(data) == 2
        with pytest.raises(ReadError, match="'column 0'"):
            read(tmp_path, "5,1,0\n", labels=["a"], header=False)

    @pytest.mark.parametrize(
        ("text", "options", "names"),
        [
            ("0.5,7,0.2,1\n0.6,8,0.3,0\n", {"labels": [3], "ignore": [1]}, ("x0", "x2")),
            ("0.5,1,0.2\n0.6,0,0.3\n", {"labels": [1]}, ("x0", "x2")),
            ("1,0.5,0.2\n0,0.6,0.3\n", {"labels": [0]}, ("x1", "x2")),
            ("0.5,1,0.2,1\n0.6,2,0.3,0\n", {"labels": -1, "weight_column": 1}, ("x0", "x2")),
            ("1,0.5,1\n2,0.6,0\n3,0.7,0\n", {"labels": -1}, ("x1",)),  # rows' numbers left out
            ("0.5,a|b,0.2\n0.6,b,0.3\n", {"label_column": 1, "label_separator": "|"}, ("x0", "x2")),
        ],
    )
    def test_without_one_features_are_named_by_place(self, tmp_path, text, options, names):
        assert read(tmp_path, text, **options).feature_names == names

    def test_without_one_guessed_and_ignored_columns_give_the_same_names(self, tmp_path):
        rows = [f"0.{n % 7 + 1},AB{7 * n:05d},0.{n % 5 + 1},{n % 2}\n" for n in range(60)]
        with pytest.warns(ScumbleWarning, match="'x1' holds a different value in most rows"):
            guessed = read(tmp_path, "".join(rows), labels=-1)
        ignored = read(tmp_path, "".join(rows), labels=-1, ignore=[1])
        assert guessed.feature_names == ignored.feature_names == ("x0", "x2")
        assert (guessed.X == ignored.X).all()

    def test_may_stand_alone(self, tmp_path):
        data = read(tmp_path, "a,b,c\n", labels=-2)
        assert (len(data), data.feature_names, data.labels) == (0, ("a",), ("b", "c"))

    def test_repeats_no_name(self, tmp_path):
        with pytest.raises(ReadError, match="two columns are called 'b'") as fault:
            read(tmp_path, "\na,b,b\n1,2,1\n", labels=1)
        assert (fault.value.line, fault.value.column) == (2, 3)
        with pytest.raises(ReadError, match="two columns are called 'a'"):
            read(tmp_path, "label:a,label:a\n1,0\n")


class TestRowNumbers:
    @pytest.mark.parametrize("name", ["", "id", "Index", "row", "Unnamed: 0"])
    @pytest.mark.parametrize("numbers", [[0, 1, 2], [1, 2, 3], [0, 2, 5]])
    def test_are_left_out(self, tmp_path, name, numbers):
        text = f"{name},x,a\n" + "".join(f"{n},7.5,1\n" for n in numbers)
        assert read(tmp_path, text, labels=["a"]).feature_names == ("x",)
        assert len(read(tmp_path, text, labels=["a"], keep=True).feature_names) == 2

    @pytest.mark.parametrize(
        ("name", "numbers"),
        [("age", [0, 1, 2]), ("id", [2, 3, 4]), ("id", [0, 2, 1]), ("id", [0]), ("id", [0, 1, 6])],
    )
    def test_other_first_columns_stay(self, tmp_path, name, numbers):
        text = f"{name},x,a\n" + "".join(f"{n},7.5,1\n" for n in numbers)
        assert read(tmp_path, text, labels=["a"]).feature_names == (name, "x")

    def test_without_a_header(self, tmp_path):
        assert read(tmp_path, "0,7.5,1\n1,8.5,0\n", labels=-1).X.tolist() == [[7.5], [8.5]]


class TestValues:
    def test_integers_and_numbers(self, tmp_path):
        data = read(tmp_path, "a,b,c,d,l\n1,1.0,1,NA,0\n2,2,,?,0\n", labels=-1)
        assert [f.integer for f in data.features] == [True, False, True, False]
        np.testing.assert_array_equal(data.X, [[1, 1, 1, np.nan], [2, 2, np.nan, np.nan]])

    def test_quotes_tell_text_from_missing(self, tmp_path):
        text = (
            't,n,l\n"",1,0\n,"",0\nNA,NA,0\n"NA","NA",0\n?,?,0\n"?",2,0\n x ," 3 ",0\n" x ",4,0\n'
        )
        data = read(tmp_path, text, labels=-1)
        assert data.features[0].categories == ("", " x ", "?", "NA", "x")
        np.testing.assert_array_equal(
            data.X.T,
            [
                [0, np.nan, np.nan, 3, np.nan, 2, 4, 1],
                [1, np.nan, np.nan, np.nan, np.nan, 2, 3, 4],
            ],
        )

    def test_long_numbers_are_exact(self, tmp_path):
        values = [0.1234567890123456789, 1e300, 5e-324, 123456789012345678, -1 / 3]
        text = "x,l\n" + "".join(f"{value!r},1\n" for value in values)
        assert read(tmp_path, text, labels=-1).X.ravel().tolist() == [float(v) for v in values]

    def test_quotes_within_text(self, tmp_path):
        data = read(tmp_path, 't,l\n"say ""no""",1\n5" disk,0\n"a\nb",1\n', labels=-1)
        assert data.features[0].categories == ('5" disk', "a\nb", 'say "no"')

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_line_ends(self, tmp_path, end):
        text = f"x,l{end}1,1{end}{end}  {end}2,0"
        assert read(tmp_path, text, labels=-1).X.tolist() == [[1], [2]]

    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", ":"])
    def test_delimiters(self, tmp_path, delimiter):
        text = "x,y,l\n1,a b,1\n2,c,0\n".replace(",", delimiter)
        options = {"delimiter": ":"} if delimiter == ":" else {}
        data = read(tmp_path, text, labels=-1, **options)
        assert data.X.tolist() == [[1, 0], [2, 1]]

    def test_a_delimiter_within_names(self, tmp_path):
        data = MultilabelDataset(
            np.empty((0, 2)), np.empty((0, 1), bool), features=["a;b;c", "x,y"]
        )
        for delimiter in ",;|":
            scumble.write(data, tmp_path / "a.csv", delimiter=delimiter)
            assert scumble.read(tmp_path / "a.csv").feature_names == ("a;b;c", "x,y")

    def test_empty_cells_between_tabs(self, tmp_path):
        data = read(tmp_path, "x\ty\tl\n\t\t1\n1\t\t0\n", labels=-1)
        np.testing.assert_array_equal(data.X, [[np.nan, np.nan], [1, np.nan]])

    def test_ignored_columns(self, tmp_path):
        data = read(tmp_path, FILMS, labels=-2, ignore=["land", 0])
        assert data.feature_names == ("stars",)

    @pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8-sig"])
    def test_encodings(self, tmp_path, encoding):
        content = "t,l\né\u00a0,1\nü,0\n".encode(encoding)
        data = read(tmp_path, content, labels=-1, encoding=encoding)
        assert data.features[0].categories == ("é\u00a0", "ü")

    def test_a_byte_order_mark_is_no_text(self, tmp_path):
        assert read(tmp_path, "\ufeffx,l\n1,1\n", labels=-1).feature_names == ("x",)
        (tmp_path / "marked").write_text("\ufefflabel:a,x\n1,5\n", encoding="utf-8")
        assert scumble.read(tmp_path / "marked").labels == ("a",)

    @pytest.mark.parametrize("name", ["sheet.txt", "sheet.csv", "sheet"])
    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
    def test_the_unicode_text_of_excel_is_found(self, tmp_path, monkeypatch, name, encoding):
        monkeypatch.setattr(cells, "BLOCK_BYTES", 61)  # within a character, too
        text = "\ufefft\tn\tlabel:l\r\né \U0001f40d\t0,5\t1\r\nü\t2\t0\r\n"
        (tmp_path / name).write_bytes(text.encode(encoding))
        data = scumble.read(tmp_path / name)
        assert data.features[0].categories == ("é \U0001f40d", "ü")
        assert data.X[:, 1].tolist() == [0.5, 2]
        assert data.labels == ("l",)

    @pytest.mark.parametrize("content", [b"\xff\xfea", b"\xff\xfe\x00\xd8a\x00\n\x00", b"\xfe\xff"])
    def test_damaged_utf_16(self, tmp_path, content):
        with pytest.raises(ReadError):
            read(tmp_path, content, labels=-1)

    def test_commas_before_decimals_are_found(self, tmp_path):
        data = read(tmp_path, "x;y;z;l\n1,5;2;,5;1\n-0,25;3;1e3;0\n", labels=-1)
        assert data.X.tolist() == [[1.5, 2, 0.5], [-0.25, 3, 1000]]
        assert [f.integer for f in data.features] == [False, True, False]
        bare = read(tmp_path, "1,5;2,5;1\n3,5;4,5;0\n", labels=-1)
        assert bare.X.tolist() == [[1.5, 2.5], [3.5, 4.5]]
        lists = read(tmp_path, "x;t\n1;1,3\n2;3\n", label_column="t", label_separator=",")
        assert lists.labels == ("1", "3")

    def test_where_points_stand_before_decimals_commas_are_text(self, tmp_path):
        data = read(tmp_path, "x;y;l\n1.5;2,5;1\n2;3,5;0\n", labels=-1)
        assert data.features == (Feature("x"), Feature("y", "nominal", ("2,5", "3,5")))

    def test_commas_before_decimals_are_asked_for(self, tmp_path):
        text = 'x,w,l\n"1,5","0,5",1\n2,3,0\n"0,12345678901234567890123",1,1\n'
        data = read(tmp_path, text, labels=-1, weight_column="w", decimal=",")
        assert data.X.ravel().tolist() == [1.5, 2, 0.12345678901234567890123]
        assert data.weights.tolist() == [0.5, 3, 1]
        with pytest.raises(ReadError, match=r"the weight is '1\.5'") as fault:
            read(tmp_path, text.replace("0,5", "1.5"), labels=-1, weight_column="w", decimal=",")
        assert (fault.value.line, fault.value.column) == (2, 2)
        other = read(tmp_path, "x;l\n1,5;1\n2;0\n", labels=-1, decimal=".")
        assert other.features == (Feature("x", "nominal", ("1,5", "2")),)

    def test_text_that_shows_late(self, tmp_path, monkeypatch):
        monkeypatch.setattr(InputFile.blocks, "__defaults__", (64,))
        rows = [f"{at},{at},{at}.5,{at % 2}" for at in range(100)]
        rows[60] = "60,sixty,60.5,0"
        rows[90] = "90,90,,1"
        data = read(tmp_path, "a,b,c,l\n" + "\n".join(rows), labels=-1, keep=True)
        assert data.features[0] == Feature("a", integer=True)
        assert data.features[1].kind == "nominal"
        assert len(data.features[1].categories) == 100
        texts = [data.features[1].categories[int(code)] for code in data.X[:, 1]]
        assert texts == [row.split(",")[1] for row in rows]
        assert data.features[2] == Feature("c")
        assert np.isnan(data.X[90, 2])

    def test_blocks_make_no_difference(self, tmp_path, monkeypatch):
        rows = [f'{at},"x ""{at % 7}""\n,",[{at % 3}, "" l{at % 4}""]' for at in range(200)]
        text = "a,b,t\n" + "\n".join(row.replace("[", '"[').replace("]", ']"') for row in rows)
        whole = read(tmp_path, text, keep="a")
        monkeypatch.setattr(InputFile.blocks, "__defaults__", (50,))
        assert read(tmp_path, text, keep="a") == whole
        assert whole.labels == (" l0", " l1", " l2", " l3", "0", "1", "2")
        assert whole.features[1].categories[0] == 'x "0"\n,'


class TestFaults:
    @pytest.mark.parametrize(
        ("text", "line", "column", "reason"),
        [
            ("a,b,l\n1,2,1\n1,2\n", 3, None, "expected 3 values as in the first row, found 2"),
            ("a,b,l\n1,2,1\n1,2,3,4\n", 3, None, "expected 3 values as in the first row, found 4"),
            ('a,b,l\n"x\ny",2,1\n1,2\n', 4, None, "expected 3 values"),
            ('a,b,l\n1,2,1\n1,"2,1\n4,5,1\n', 3, 2, "a quote opened in this row is never closed"),
            ('a,b,l\n1,"2"3,1\n', 2, 2, "text follows a closing quote"),
            ('a,b,l\n"1\n",2,1\n1,"2\n"3,1\n', 5, 2, "text follows a closing quote"),
        ],
    )
    def test_rows(self, tmp_path, text, line, column, reason):
        with pytest.raises(ReadError, match=reason) as fault:
            read(tmp_path, text, labels=-1, delimiter=",")
        assert (fault.value.line, fault.value.column) == (line, column)

    def test_rows_of_later_blocks(self, tmp_path, monkeypatch):
        monkeypatch.setattr(InputFile.blocks, "__defaults__", (64,))
        with pytest.raises(ReadError, match="expected 2 values") as fault:
            read(tmp_path, "a,l\n" + "1,1\n" * 50 + "1\n", labels=-1)
        assert fault.value.line == 52
        monkeypatch.setattr(cells, "MAX_QUOTED_BYTES", 100)
        with pytest.raises(ReadError, match="is not closed within") as fault:
            read(tmp_path, "a,l\n" + "1,1\n" * 50 + '"' + "1,1\n" * 100, labels=-1)
        assert fault.value.line == 52

    def test_bytes_that_are_no_text(self, tmp_path):
        with pytest.raises(ReadError, match=r"byte 0xe9 is not UTF-8.*'latin-1'") as fault:
            read(tmp_path, b"t,l\na,1\n\xe9,0\n", labels=-1)
        assert fault.value.line == 3
        with pytest.raises(ReadError, match="encoding='utf-16'"):
            read(tmp_path, "t,l\n".encode("utf-16"), labels=-1, encoding="utf-8")
        with pytest.raises(ReadError, match="this is not ascii"):
            read(tmp_path, b"t,l\n\xe9,0\n", labels=-1, encoding="ascii")

    @pytest.mark.parametrize(
        ("options", "error", "reason"),
        [
            (
                {"labels": ["z"]},
                ReadError,
                "names the label 'z', but the file has no such column. The columns are 'minutes'",
            ),
            ({"labels": 9}, ReadError, "9 labels are requested, but the file has only 5 columns"),
            ({"labels": ["wra"]}, ReadError, "no such column. Did you mean 'war'"),
            ({"labels": "war"}, ParameterError, "label_column='war'"),
            ({"labels": -1, "label_column": "war"}, ParameterError, "exclude each other"),
            ({"label_column": "war", "label_separator": ""}, ParameterError, "must be a text"),
            ({"label_column": 1.5}, ParameterError, "'label_column' parameter must be"),
            ({"labels": -1, "delimiter": ",,"}, ParameterError, "'delimiter' parameter"),
            ({"labels": -1, "delimiter": '"'}, ParameterError, "'delimiter' parameter"),
            ({"labels": -1, "header": "yes"}, ParameterError, "'header' parameter"),
            ({"labels": -1, "decimal": ";"}, ParameterError, "'decimal' parameter"),
            ({"labels": -1, "encoding": "klingon"}, ParameterError, "'encoding' parameter"),
            ({"labels": -1, "encoding": "base64"}, ParameterError, "'encoding' parameter"),
            ({"labels": -1, "ignore": ["z"]}, ReadError, "ignore names 'z'"),
        ],
    )
    def test_options(self, tmp_path, options, error, reason):
        with pytest.raises(error, match=reason):
            read(tmp_path, FILMS, **options)

    def test_nothing_but_blanks(self, tmp_path):
        with pytest.raises(ReadError, match="the file is empty"):
            read(tmp_path, "\n \n\n", labels=-1)


class TestWrite:
    def test_the_bytes(self, tmp_path):
        data = MultilabelDataset(
            [[1, 0.1, 0], [np.nan, 5, 1], [3, 1e-9, np.nan], [4, 0, 2]],
            [[1, 0], [0, 0], [0, 1], [1, 1]],
            features=[
                Feature("n", integer=True),
                Feature("a,b"),
                Feature("c", "nominal", ("NA", 'say "x"', " y")),
            ],
            labels=["war", "it's"],
            weights=[1, 2, 0.5, 0],
        )
        with pytest.warns(ScumbleWarning, match="cannot carry: feature kinds"):
            scumble.write(data, tmp_path / "a.csv")
        assert (tmp_path / "a.csv").read_text() == (
            'n,"a,b",c,weight:,label:war,label:it\'s\n'
            '1,0.1,"NA",1.0,1,0\n'
            ',5.0,"say ""x""",2.0,0,0\n'
            "3,1e-9,,0.5,0,1\n"
            '4,0.0," y",0.0,1,1\n'
        )
        again = scumble.read(tmp_path / "a.csv")
        expected = ("NA", 'say "x"', " y")
        assert sorted(expected) == list(again.features[2].categories)
        with pytest.warns(ScumbleWarning):
            scumble.write(data, tmp_path / "a.tsv", layout="lists")
        assert (tmp_path / "a.tsv").read_text() == (
            'n\t"a,b"\tc\tweight:\tlabels:\n'
            '1\t0.1\t"NA"\t1.0\t"[""war""]"\n'
            '\t5.0\t"say ""x"""\t2.0\t"[]"\n'
            '3\t1e-9\t\t0.5\t"[""it\'s""]"\n'
            '4\t0.0\t" y"\t0.0\t"[""war"", ""it\'s""]"\n'
        )

    @pytest.mark.parametrize("options", [{}, {"delimiter": "|"}, {"layout": "lists"}])
    @given(data=datasets(parts=FORMAT.preserved_parts, infinite=True))
    @settings(max_examples=60)
    def test_there_and_back(self, tmp_path_factory, options, data):
        if "layout" in options:
            data = _without_unseen(data)
        path = tmp_path_factory.mktemp("csv") / "a.csv"
        scumble.write(data, path, **options)
        assert replace(scumble.read(path), name="") == data

    @given(data=datasets(parts=["feature names", "feature kinds", "missing values"], infinite=True))
    @settings(max_examples=60)
    def test_texts_and_whole_numbers_come_back(self, tmp_path_factory, data):
        path = tmp_path_factory.mktemp("csv") / "a.csv"
        with _maybe_lossy(data):
            scumble.write(data, path)
        again = scumble.read(path)
        for at, feature in enumerate(data.features):
            found = again.features[at]
            assert found.name == feature.name
            if found.kind == "nominal":
                assert _texts(again, at) == _texts(data, at)
            else:
                values = data.X[:, at] if not feature.holds_codes else _as_numbers(data, at)
                np.testing.assert_array_equal(again.X[:, at], values)
            if feature.integer and not np.isnan(data.X[:, at]).all():
                assert found.integer

    def test_many_pieces_make_no_difference(self, tmp_path, monkeypatch):
        rng = np.random.default_rng(0)
        data = MultilabelDataset(rng.random((50, 7)), rng.random((50, 4)) < 0.4)
        scumble.write(data, tmp_path / "a.csv")
        monkeypatch.setattr(arrow_texts, "CELLS_PER_WRITE", 30)
        scumble.write(data, tmp_path / "b.csv")
        assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()

    def test_lists_lose_labels_that_never_occur(self, tmp_path):
        data = MultilabelDataset([[1.0]], [[1, 0]], labels=["a", "b"])
        with pytest.warns(ScumbleWarning, match="labels never seen. Use layout='columns'"):
            scumble.write(data, tmp_path / "a.csv", layout="lists")
        assert scumble.read(tmp_path / "a.csv").labels == ("a",)

    def test_no_labels_at_all(self, tmp_path):
        data = MultilabelDataset([[1.0], [2.0]], np.zeros((2, 0), bool), name="a")
        scumble.write(data, tmp_path / "a.csv")  # named like the file: nothing is lost
        assert scumble.read(tmp_path / "a.csv") == data

    @pytest.mark.parametrize("options", [{"layout": "tree"}, {"delimiter": ":"}])
    def test_options(self, tmp_path, options):
        with pytest.raises(ParameterError, match=next(iter(options))):
            scumble.write(MultilabelDataset([[1.0]], [[1]]), tmp_path / "a.csv", **options)

    def test_names_that_are_no_unicode(self, tmp_path):
        with pytest.raises(DataError, match="UTF-8"):
            scumble.write(MultilabelDataset([[1.0]], [[1]], labels=["\ud800"]), tmp_path / "a.csv")
        assert list(tmp_path.iterdir()) == []

    def test_codes_without_a_category(self, tmp_path):
        data = MultilabelDataset([[7.0]], [[1]], features=[Feature("c", "nominal", ("a",))])
        with pytest.warns(ScumbleWarning), pytest.raises(ScumbleError, match="not a code of its 1"):
            scumble.write(data, tmp_path / "a.csv")

    def test_pandas_reads_what_we_write(self, tmp_path):
        data = MultilabelDataset([[1.5, np.nan], [2, 3]], [[1, 0], [0, 1]], labels=["a", 'b "q"'])
        scumble.write(data, tmp_path / "a.csv")
        frame = pd.read_csv(tmp_path / "a.csv")
        assert list(frame.columns) == ["x0", "x1", "label:a", 'label:b "q"']
        np.testing.assert_array_equal(frame[["x0", "x1"]], data.X)


def _without_unseen(data: MultilabelDataset) -> MultilabelDataset:
    """Keep what lists carry: labels that occur, in the order of their names."""
    from scumble.data.label_lists import label_order

    order = label_order(data.labels)
    seen = order[np.bincount(data.Y.indices, minlength=data.n_labels)[order] > 0]
    # Some names may be numbers once the others are gone.
    seen = seen[label_order([data.labels[at] for at in seen])]
    Y = data.Y.toarray()[:, seen]
    return replace(data, Y=Y, labels=tuple(data.labels[at] for at in seen))


def _maybe_lossy(data: MultilabelDataset):
    from contextlib import nullcontext

    lossy = any(feature.kind != "numeric" for feature in data.features)
    return pytest.warns(ScumbleWarning, match="feature kinds") if lossy else nullcontext()


def _texts(data: MultilabelDataset, at: int) -> list[str | None]:
    categories = data.features[at].categories
    return [None if np.isnan(code) else categories[int(code)] for code in data.X[:, at]]


def _as_numbers(data: MultilabelDataset, at: int) -> list[float]:
    """Read texts as numbers, as a reader does that finds nothing else in a column."""
    return [
        np.nan if text in (None, "", "?", "NA", " ") else float(text) for text in _texts(data, at)
    ]


def test_eurlex(datasets):
    path = datasets / "eurlex_eurovoc-labels" / "label.csv.xz"
    with pytest.warns(ScumbleWarning, match="33 labels repeat"):
        data = scumble.read(path)
    assert (data.n_instances, data.n_features, data.n_labels) == (19577, 0, 3976)
    summary = scumble.characterize(data)
    assert summary.scumble == pytest.approx(0.4208, abs=5e-5)
    assert summary.mean_ir == pytest.approx(400.848, abs=5e-4)
    assert summary.n_labelsets == 16705
    assert data.labels[-1] > data.labels[0]


@pytest.mark.parametrize(
    ("name", "text", "low", "high"),
    [
        ("a.csv", "x,y\n1,2\n", 0.5, 0.5),
        ("a", "x,y\n1,2\n", 0.3, 0.3),
        ("a", "x,label:y\n1,0\n", 0.9, 1.0),
        ("a", "0,\"['a', 'b']\"\n1,\"['c']\"\n", 0.3, 0.3),
        ("a.csv", "one column\n", 0.1, 0.5),
        ("a", "some text\nand more, yes\n", 0.0, 0.0),
        ("a.csv", "% c\n@relation x\n@data\n1,2\n", 0.0, 0.0),
        ("a", "\0\1,2", 0.0, 0.0),
    ],
)
def test_sniff(tmp_path, name, text, low, high):
    (tmp_path / name).write_text(text)
    assert low <= sniff(InputFile(tmp_path / name), text.encode()) <= high


def test_another_delimiter_in_the_only_name_does_not_mislead(tmp_path):
    for name in ("a;b", "a|b", "a\tb"):
        data = MultilabelDataset(np.zeros((1, 0)), [[0]], labels=[name])
        scumble.write(data, tmp_path / "a.csv")
        assert scumble.read(tmp_path / "a.csv").labels == (name,)


@pytest.mark.parametrize(
    ("option", "value", "shown"),
    [
        ("label_column", ["a"], r"Got \['a'\] instead"),
        ("encoding", ["utf-8"], "must be the name of an encoding"),
        ("ignore", 1.5, r"1\.5"),
    ],
)
def test_what_is_refused_is_shown_as_it_was_given(tmp_path, option, value, shown):
    path = tmp_path / "films.csv"
    path.write_text("a,war\n1,0\n2,1\n")
    labels = {} if option == "label_column" else {"labels": ["war"]}
    with pytest.raises(ScumbleError, match=shown):
        scumble.read(path, **labels, **{option: value})
