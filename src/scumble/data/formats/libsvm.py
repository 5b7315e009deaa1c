"""The multilabel LibSVM format: ``1,3 5:0.2 7:1 # comment``."""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from itertools import chain
from typing import Literal

import numpy as np
from scipy import sparse

from scumble._core.errors import parameter_error
from scumble._core.files import InputFile, OutputFile
from scumble._core.parameters import check_count
from scumble.data.dataset import MultilabelDataset
from scumble.data.formats import sparse_lines
from scumble.data.formats.base import Format, LabelChoice
from scumble.data.formats.sparse_lines import MAX_COLUMNS, ParsedRows
from scumble.data.label_lists import label_indicator_matrix, sorted_label_matrix

# The writer's first line holds what the rows do not say: how many columns there are.
_FIRST_LINE = re.compile(
    rb"# multilabel LibSVM, features from (?P<base>[01]): (?P<features>\d{1,18}) features, "
    rb"(?P<labels>\d{1,18}) labels\r?\n?"
)
#: A line with labels, a query number, pairs index:value and a comment, each of which may be
#: missing.
_NUMBER = rb"[+-]?(?:[0-9.]+(?:[eE][+-]?[0-9]+)?|inf|nan)"
_ROW = re.compile(
    rb"(?:[^\s:#][^\s:]*)?(?:[ \t]+qid:\d+)?(?:(?:^|[ \t]+)\d+:" + _NUMBER + rb")*[ \t]*(?:#.*)?\r?"
)
#: A line up to its first pair index:value.
_PAIR = re.compile(rb"[^#]*?(?:^|[ \t])\d+:")


def sniff(source: InputFile, head: bytes) -> float:
    """Return how likely a file is LibSVM, from 0 to 1; ``head`` are its first bytes."""
    head = head.removeprefix(BOM_UTF8)
    if _FIRST_LINE.match(head):
        return 1.0
    lines = head.split(b"\n")[: 20 if b"\n" in head else 1]
    rows = [line for line in lines[:-1] or lines if line.strip() and not line.startswith(b"#")]
    if all(_ROW.fullmatch(row) for row in rows) and any(_PAIR.match(row) for row in rows):
        return 0.8
    return 0.05 if source.suffix in FORMAT.suffixes else 0.0


def read_libsvm(
    source: InputFile,
    *,
    labels: LabelChoice = None,
    zero_based: bool | Literal["auto"] = "auto",
    n_features: int | None = None,
    n_labels: int | None = None,
    max_columns: int | None = None,
) -> MultilabelDataset:
    """Read a multilabel LibSVM file.

    An empty line is not a row; a line of blanks is a row without labels and features. Query numbers
    (``qid:3``) and comments are skipped.

    ``zero_based`` says whether features are counted from 0; "auto" means that they are if a feature
    0 occurs. ``n_features`` and ``n_labels`` are the numbers of columns; by default as many as
    occur, or as the first line says. Labels are numbers below ``n_labels`` if that is known,
    otherwise any texts. ``max_columns`` allows more columns than the size of the file explains, see
    `ParsedRows.check_n_columns`. ``labels`` must be None: each line begins with its labels.
    """
    sparse_lines.check_no_label_option(labels, "libsvm")
    if zero_based not in (True, False, "auto"):
        raise parameter_error("zero_based", "read_libsvm", "be True, False or 'auto'", zero_based)
    for name, count in (("n_features", n_features), ("n_labels", n_labels)):
        if count is not None:
            check_count(count, name=name, caller="read_libsvm", minimum=0)
    blocks, comment = _read_comment(source)
    index_base = comment.get("base") if zero_based == "auto" else int(not zero_based)
    if n_features is None:
        n_features = comment.get("features")
    if n_labels is None:
        n_labels = comment.get("labels")
    index_limit = MAX_COLUMNS
    if n_features is not None:
        index_limit = min(n_features + (1 if index_base is None else index_base), MAX_COLUMNS)
    rows = ParsedRows(
        source,
        blocks,
        lenient=True,
        label_limit=-1 if n_labels is None else n_labels,
        index_limit=index_limit,
        max_columns=max_columns,
    )
    if not comment and len(rows) == 0:
        raise source.error("the file is empty. Expected a data set.")
    X = _make_feature_matrix(rows, index_base, n_features)
    Y, names = _make_label_matrix(rows, n_labels)
    return MultilabelDataset(X, Y, features=rows.make_features(X), labels=names, name=source.stem)


def write_libsvm(
    dataset: MultilabelDataset,
    target: OutputFile,
    *,
    zero_based: bool = False,
    comment: bool = True,
) -> None:
    """Write a multilabel LibSVM file; labels are written as their numbers from 0.

    Features are counted from 0 if ``zero_based`` is set, else from 1. The first line is a comment
    with the numbers of columns, unless ``comment`` is False.
    """
    index_base = 0 if zero_based else 1
    first_line = ""
    if comment:
        first_line = (
            f"# multilabel LibSVM, features from {index_base}: {dataset.n_features} features, "
            f"{dataset.n_labels} labels\n"
        )
    sparse_lines.write_lines(dataset, target, first_line, index_base=index_base)


def _read_comment(source: InputFile) -> tuple[Iterator[bytes], dict[str, int]]:
    """Return the blocks of a file, and the numbers in the comment that `write_libsvm` begins with.

    These are ``base`` (0 or 1, the number of the first feature), ``features`` and ``labels`` (the
    numbers of columns). The dict is empty if the file does not begin with this comment.
    """
    blocks = source.blocks()
    first_block = next(blocks, b"").removeprefix(BOM_UTF8)
    match = _FIRST_LINE.match(first_block)
    numbers: dict[str, int] = {}
    if match:
        numbers = {name: int(digits) for name, digits in match.groupdict().items()}
    return chain([first_block], blocks), numbers


def _make_feature_matrix(
    rows: ParsedRows, index_base: int | None, n_features: int | None
) -> sparse.csr_array:
    """Return X with ``n_features`` columns; None: as many as occur.

    ``index_base`` is the number of the first feature in the file, 0 or 1; None: 0 if a feature 0
    occurs. Raise ReadError for a feature that does not exist.
    """
    source = rows.source
    lowest = 0
    highest = -1
    if len(rows.indices):
        lowest, highest = int(rows.indices.min()), int(rows.indices.max())
    if index_base is None:
        index_base = int(lowest > 0)
    if lowest < index_base and highest >= 0:
        raise source.error("feature 0 occurs, but features are counted from 1: zero_based=False.")
    if n_features is None:
        n_features = max(highest + 1 - index_base, 0)
    elif highest - index_base >= n_features:
        raise source.error(f"feature {highest} is beyond the {n_features} features of the data.")
    rows.check_n_columns(n_features, "features")
    return rows.feature_matrix(n_features, index_base=index_base)


def _make_label_matrix(
    rows: ParsedRows, n_labels: int | None
) -> tuple[sparse.csr_array, tuple[str, ...] | None]:
    """Return the label matrix Y and the names of its columns.

    If ``n_labels`` is not None, the labels in the file are column numbers below it, and the names
    are None. Otherwise Y has a column for each label that occurs, in `label_order`.
    """
    indptr = rows.label_indptr()
    input_name = rows.source.display_name
    if n_labels is not None:
        rows.check_n_columns(n_labels, "labels")
        Y = label_indicator_matrix(indptr, rows.labels, n_labels, input_name=input_name)
        return Y, None
    numbers, codes = np.unique(rows.labels, return_inverse=True)
    texts = list(rows.code_of_text_label)
    names = [str(number) if number >= 0 else texts[-1 - number] for number in numbers.tolist()]
    return sorted_label_matrix(indptr, codes, names, input_name=input_name)


FORMAT = Format(
    name="libsvm",
    title="LibSVM: labels, then index:value",
    display_group="Sparse lines",
    suffixes=(".svm", ".libsvm"),
    sniff=sniff,
    read=read_libsvm,
    write=write_libsvm,
    preserved_parts=sparse_lines.PRESERVED_PARTS,
)
