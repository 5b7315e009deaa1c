"""Lines such as ``1,3 5:0.2 7:1``: labels, then the features that are not zero."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, ReadError
from scumble._core.files import Source
from scumble._core.parallel import row_blocks
from scumble.data.formats.arrow_texts import as_lines, join_runs, number_texts
from scumble.data.formats.kernels import svmlight as k
from scumble.data.formats.kernels.numbers import exact_floats, pieces

if TYPE_CHECKING:
    from scumble.data.dataset import Feature, MultilabelDataset

#: Column numbers fit the 32-bit indices of a sparse matrix.
MOST_COLUMNS = 2**31 - 1
#: Without the user's word nobody gets more columns than this ...
FREE_COLUMNS = 1 << 17
#: ... or this many for each byte of the file. Each column costs memory for its name.
COLUMNS_PER_BYTE = 16
VALUES_PER_WRITE = 500_000
BOM = b"\xef\xbb\xbf"
#: What such lines can hold of a data set.
CARRIES = frozenset(
    {"labels never seen", "missing values", "rows without labels", "sparse storage"}
)


@dataclass
class Rows:
    """What was read, block by block."""

    n_bytes: int = 0
    n_lines: int = 0
    whole: bool = True
    names: dict[str, int] = field(default_factory=dict)
    labels: list[Any] = field(default_factory=list)
    label_counts: list[Any] = field(default_factory=list)
    indices: list[Any] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    value_counts: list[Any] = field(default_factory=list)
    lines: list[Any] = field(default_factory=list)

    @property
    def n_rows(self) -> int:
        """Number of rows so far."""
        return sum(len(counts) for counts in self.label_counts)

    def label_columns(self) -> Array:
        """Join the labels of all blocks."""
        return _joined(self.labels, np.int64)

    def label_indptr(self) -> Array:
        """Tell where each row's labels begin."""
        return _pointers(self.label_counts)

    def lowest_index(self) -> int:
        """Find the smallest feature number; 0 without any."""
        return min((int(part.min()) for part in self.indices if len(part)), default=0)

    def highest_index(self) -> int:
        """Find the largest feature number; -1 without any."""
        return max((int(part.max()) for part in self.indices if len(part)), default=-1)

    def features(self, base: int, n_features: int) -> sparse.csr_array:
        """Join the features of all blocks into a matrix; ``base`` is the first's number."""
        indices = _joined(self.indices, np.int32)
        if base:
            indices -= np.int32(base)
        indptr = _pointers(self.value_counts)
        values = _joined(self.values, np.float64)
        return sparse.csr_array((values, indices, indptr), shape=(len(indptr) - 1, n_features))

    def columns(self, X: sparse.csr_array) -> list[Feature]:
        """Name the features; they are integers if all values that are not missing are."""
        from scumble.data.dataset import Feature

        integer = self.whole and not np.isnan(X.data).all()
        return [Feature(f"x{at}", integer=integer) for at in range(X.shape[1])]


def parse_rows(
    source: Source,
    blocks: Iterable[bytes],
    *,
    lenient: bool,
    n_lines: int = 0,
    label_limit: int = -1,
    index_limit: int = MOST_COLUMNS,
) -> Rows:
    """Read blocks of whole lines."""
    rows = Rows(n_lines=n_lines)
    for block in blocks:
        _parse_block(source, block, rows, lenient, label_limit, index_limit)
    return rows


def check_width(
    source: Source, n_columns: int, what: str, n_bytes: int, max_columns: int | None
) -> None:
    """Refuse a number of columns that the size of the file does not explain."""
    allowed = max(FREE_COLUMNS, COLUMNS_PER_BYTE * n_bytes)
    if n_columns > min(MOST_COLUMNS, allowed if max_columns is None else max_columns):
        raise source.error(
            f"{n_columns} {what} in a file of {n_bytes} bytes would need much memory for their "
            f"names. Is a number mistaken? If not, allow them with max_columns={n_columns}."
        )


def _parse_block(
    source: Source, block: bytes, rows: Rows, lenient: bool, label_limit: int, index_limit: int
) -> None:
    text = np.frombuffer(block, np.uint8)
    most_rows = block.count(b"\n") + 1
    most_labels = block.count(b",") + most_rows
    most_values = block.count(b":")
    places = np.empty((most_labels, 3), np.int64)  # number, start and end of each label
    indices, values = np.empty(most_values, np.int64), np.empty(most_values)
    long_at = np.empty((most_values, 3), np.int64)
    ends = np.empty((most_rows, 3), np.int64)
    fault, at, n_rows, n_labels, n_values, n_long, n_lines, whole, in_order = k.parse_lines(
        text, (lenient, label_limit, index_limit), places, indices, values, long_at, ends
    )
    if fault:
        raise _fault(source, block, fault, at, rows.n_lines, label_limit, index_limit)
    if n_long:
        values[long_at[:n_long, 0]] = exact_floats(text, long_at[:n_long, 1], long_at[:n_long, 2])
    labels, label_at = places[:n_labels, 0].copy(), places[:n_labels, 1:]
    _number_names(source, block, labels, label_at, rows)
    counts = np.diff(ends[:n_rows, :2], axis=0, prepend=0)
    lines = ends[:n_rows, 2] + rows.n_lines
    indices, values = indices[:n_values].astype(np.int32), values[:n_values].copy()
    if not in_order:
        indices, values = _sorted_rows(source, indices, values, counts[:, 1], lines)
    rows.n_bytes += len(block)
    rows.n_lines += n_lines
    rows.whole &= whole
    rows.labels.append(labels)
    rows.indices.append(indices)
    rows.values.append(values)
    rows.label_counts.append(counts[:, 0].copy())
    rows.value_counts.append(counts[:, 1].copy())
    rows.lines.append(lines)


def _number_names(source: Source, block: bytes, labels: Array, label_at: Array, rows: Rows) -> None:
    """Give labels that are names a number: the first is -1, the second -2, and so on."""
    import pyarrow as pa

    named = np.flatnonzero(labels == k.A_NAME)
    if not len(named):
        return
    places = label_at[named]
    texts = pieces(np.frombuffer(block, np.uint8), places[:, 0], places[:, 1], pa.large_binary())
    coded = texts.dictionary_encode()
    numbers = np.empty(len(coded.dictionary), np.int64)
    for at, name in enumerate(coded.dictionary.to_pylist()):
        try:
            numbers[at] = rows.names.setdefault(name.decode(), len(rows.names))
        except UnicodeDecodeError:
            first = int(places[int((coded.indices.to_numpy() == at).argmax()), 0])
            raise _at(source, block, first, rows.n_lines)(
                f"the label {name!r} is not UTF-8 text. Convert the file to UTF-8."
            ) from None
    labels[named] = -1 - numbers[coded.indices.to_numpy()]


def _sorted_rows(
    source: Source, indices: Array, values: Array, counts: Array, lines: Array
) -> tuple[Array, Array]:
    """Sort each row by feature; a feature named twice is refused."""
    row = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((indices, row))
    indices = indices[order]
    twice = (np.diff(indices) == 0) & (np.diff(row) == 0)
    if twice.any():
        at = int(twice.argmax())
        raise source.error(
            f"feature {indices[at]} is given twice. Expected every feature at most once in a row.",
            line=int(lines[row[at]]),
        )
    return indices, values[order]


def _fault(
    source: Source,
    block: bytes,
    fault: int,
    at: int,
    n_lines: int,
    label_limit: int,
    index_limit: int,
) -> ReadError:
    found = _excerpt(block[at:])
    number = found.partition(":")[0].partition(",")[0]
    reasons = {
        k.NO_LABEL: f"expected labels between commas, found {found!r}."
        if label_limit < 0
        else f"expected label numbers from 0 to {label_limit - 1}, found {found!r}.",
        k.LABEL_TOO_LARGE: f"label {number} is beyond the {label_limit} labels of the data.",
        k.NO_PAIR: f"expected index:value, found {found!r}.",
        k.NO_INDEX: f"expected a feature number before the colon, found {found!r}.",
        k.INDEX_TOO_LARGE: f"feature {number} is too large. Expected at most {index_limit - 1}.",
        k.NO_VALUE: f"expected a number after the colon, found {found!r}.",
    }
    return _at(source, block, at, n_lines)(reasons[fault])


def _at(source: Source, block: bytes, at: int, n_lines: int) -> Any:
    """Make a function that makes an error at byte ``at`` of the block."""
    begin = block.rfind(b"\n", 0, at) + 1
    line = n_lines + block.count(b"\n", 0, at) + 1
    column = len((block[begin:at] + b"x").split())  # the x stands for the value at fault
    return lambda message: source.error(message, line=line, column=column)


def _excerpt(text: bytes) -> str:
    """Return the first token, cut to a readable length."""
    token = text[:200].partition(b"\n")[0].split()[:1]
    shown = token[0].decode(errors="replace") if token else ""
    return shown if len(shown) <= 40 else shown[:40] + "..."


def _joined(parts: list[Any], dtype: Any) -> Array:
    return np.concatenate([np.empty(0, dtype), *parts], dtype=dtype)


def _pointers(counts: list[Any]) -> Array:
    return np.concatenate([[0], np.cumsum(_joined(counts, np.int64))])


def row_texts(dataset: MultilabelDataset, *, base: int) -> Iterator[bytes]:
    """Write rows as lines, many at a time."""
    import pyarrow as pa
    import pyarrow.compute as pc

    X = sparse.csr_array(dataset.X)
    Y = dataset.Y
    whole = all(feature.integer or feature.holds_codes for feature in dataset.features)
    for start, stop in row_blocks(X.indptr, X.nnz // VALUES_PER_WRITE + 1):
        part = slice(int(X.indptr[start]), int(X.indptr[stop]))
        indices = pa.array(X.indices[part].astype(np.int64) + base).cast(pa.string())
        values = pc.fill_null(number_texts(X.data[part], whole=whole), "nan")
        pairs = pc.binary_join_element_wise(indices, values, ":")
        features = join_runs(pairs, X.indptr[start : stop + 1], " ")
        label_part = slice(int(Y.indptr[start]), int(Y.indptr[stop]))
        labels = pa.array(Y.indices[label_part]).cast(pa.string())
        labels = join_runs(labels, Y.indptr[start : stop + 1], ",")
        lines = pc.binary_join_element_wise(labels, features, " ")
        # Without features the labels end the line; without both a blank shows that it is a row.
        bare = pc.and_(pc.equal(features, ""), pc.not_equal(labels, ""))
        lines = pc.if_else(bare, labels, lines)
        yield as_lines(lines)


def refuse_label_choice(labels: object, name: str) -> None:
    """Refuse ``labels=`` for a format in which labels have a place of their own."""
    if labels is not None:
        raise ParameterError(
            f"The 'labels' parameter has no meaning for the {name} format: each line begins with "
            "its labels. Leave it out."
        )
