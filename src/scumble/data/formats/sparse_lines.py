"""Lines such as ``1,3 5:0.2 7:1``: labels, then the features that are not zero."""

from collections.abc import Iterable

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, ReadError
from scumble._core.files import InputFile, OutputFile
from scumble.data.dataset import MultilabelDataset
from scumble.data.feature import Feature
from scumble.data.formats.kernels import svmlight as k
from scumble.data.formats.kernels.numbers import exact_floats, slices_to_arrow
from scumble.data.label_lists import indptr_from_counts

#: Column numbers fit the 32-bit indices of a sparse matrix.
MAX_COLUMNS = 2**31 - 1
#: Without the user's word nobody gets more columns than this ...
FREE_COLUMNS = 1 << 17
#: ... or this many for each byte of the file. Each column costs memory for its name.
COLUMNS_PER_BYTE = 16
#: What such lines can hold of a data set.
PRESERVED_PARTS = frozenset(
    {"labels never seen", "missing values", "rows without labels", "sparse storage"}
)


class ParsedRows:
    """What whole lines hold, read block by block; ``rules`` are those of `parse_lines`."""

    def __init__(
        self,
        source: InputFile,
        blocks: Iterable[bytes],
        rules: tuple[bool, int, int],
        max_columns: int | None,
        n_lines: int = 0,
    ) -> None:
        self.source, self.rules, self.max_columns = source, rules, max_columns
        self.n_bytes, self.n_lines, self.whole = 0, n_lines, True
        self.names: dict[str, int] = {}
        parts = zip(*map(self._parse, blocks), strict=True)
        # The counts are those of a row's labels and of its values.
        self.labels, self.indices, self.values, self.counts, self.lines = map(np.concatenate, parts)

    def __len__(self) -> int:
        return len(self.lines)

    def label_indptr(self) -> Array:
        """Tell where each row's labels begin."""
        return indptr_from_counts(self.counts[:, 0])

    def features(self, base: int, n_features: int) -> sparse.csr_array:
        """Make a matrix of the features; ``base`` is the first's number."""
        indices = self.indices - np.int32(base) if base else self.indices
        parts = (self.values, indices, indptr_from_counts(self.counts[:, 1]))
        return sparse.csr_array(parts, shape=(len(self), n_features))

    def make_features(self, X: sparse.csr_array) -> list[Feature]:
        """Name the features; they are integers if all values that are not missing are."""
        integer = self.whole and not np.isnan(X.data).all()
        return [Feature(f"x{at}", integer=integer) for at in range(X.shape[1])]

    def check_n_columns(self, n_columns: int, what: str) -> None:
        """Refuse a number of columns that the size of the file does not explain."""
        allowed = max(FREE_COLUMNS, COLUMNS_PER_BYTE * self.n_bytes)
        if n_columns > min(MAX_COLUMNS, allowed if self.max_columns is None else self.max_columns):
            raise self.source.error(
                f"{n_columns} {what} in a file of {self.n_bytes} bytes would need much memory for "
                "their names. Is a number mistaken? If not, allow them with "
                f"max_columns={n_columns}."
            )

    def _parse(self, block: bytes) -> tuple[Array, ...]:
        text = np.frombuffer(block, np.uint8)
        fault, at, n_lines, whole, in_order, places, indices, values, long_at, ends = k.parse_lines(
            text, self.rules
        )
        if fault:
            raise self._fault(block, fault, at)
        if len(long_at):
            values[long_at[:, 0]] = exact_floats(text, long_at[:, 1], long_at[:, 2])
        labels = self._numbered(block, places)
        counts = np.diff(ends[:, :2], axis=0, prepend=0)
        lines = ends[:, 2] + self.n_lines
        if not in_order:
            indices, values = self._sorted(indices, values, counts[:, 1], lines)
        self.n_bytes += len(block)
        self.n_lines += n_lines
        self.whole &= whole
        return labels, indices, values, counts, lines

    def _numbered(self, block: bytes, places: Array) -> Array:
        """Give labels that are names a number: the first is -1, the second -2, and so on."""
        import pyarrow as pa

        labels = places[:, 0].copy()
        named = np.flatnonzero(labels == k.LABEL_IS_NAME)
        if not len(named):
            return labels
        starts, ends = places[named, 1], places[named, 2]
        coded = slices_to_arrow(
            np.frombuffer(block, np.uint8), starts, ends, pa.large_binary()
        ).dictionary_encode()
        codes, numbers = coded.indices.to_numpy(), np.empty(len(coded.dictionary), np.int64)
        for at, name in enumerate(coded.dictionary.to_pylist()):
            try:
                numbers[at] = self.names.setdefault(name.decode(), len(self.names))
            except UnicodeDecodeError:
                message = f"the label {name!r} is not UTF-8 text. Convert the file to UTF-8."
                raise self._error(message, block, int(starts[(codes == at).argmax()])) from None
        labels[named] = -1 - numbers[codes]
        return labels

    def _sorted(
        self, indices: Array, values: Array, counts: Array, lines: Array
    ) -> tuple[Array, Array]:
        """Sort each row by feature; a feature named twice is refused."""
        row = np.repeat(np.arange(len(counts)), counts)
        order = np.lexsort((indices, row))
        indices = indices[order]
        twice = (np.diff(indices) == 0) & (np.diff(row) == 0)
        if twice.any():
            at = int(twice.argmax())
            raise self.source.error(
                f"feature {indices[at]} is given twice. Expected every feature at most once in a "
                "row.",
                line=int(lines[row[at]]),
            )
        return indices, values[order]

    def _fault(self, block: bytes, fault: int, at: int) -> ReadError:
        _, label_limit, index_limit = self.rules
        found = _excerpt(block[at:])
        number = found.partition(":")[0].partition(",")[0]
        labels = (
            "labels between commas"
            if label_limit < 0
            else f"label numbers from 0 to {label_limit - 1}"
        )
        reasons = {
            k.NO_LABEL: f"expected {labels}, found {found!r}.",
            k.LABEL_TOO_LARGE: f"label {number} is beyond the {label_limit} labels of the data.",
            k.NO_PAIR: f"expected index:value, found {found!r}.",
            k.NO_INDEX: f"expected a feature number before the colon, found {found!r}.",
            k.INDEX_TOO_LARGE: f"feature {number} is too large. Expected at most "
            f"{index_limit - 1}.",
            k.NO_VALUE: f"expected a number after the colon, found {found!r}.",
        }
        return self._error(reasons[fault], block, at)

    def _error(self, message: str, block: bytes, at: int) -> ReadError:
        """Make an error at byte ``at`` of the block."""
        begin = block.rfind(b"\n", 0, at) + 1
        line = self.n_lines + block.count(b"\n", 0, at) + 1
        column = len((block[begin:at] + b"x").split())  # the x stands for the value at fault
        return self.source.error(message, line=line, column=column)


def _excerpt(text: bytes) -> str:
    """Return the first token, cut to a readable length."""
    token = text[:200].partition(b"\n")[0].split()[:1]
    shown = token[0].decode(errors="replace") if token else ""
    return shown if len(shown) <= 40 else shown[:40] + "..."


def write_lines(dataset: MultilabelDataset, target: OutputFile, first: str, *, base: int) -> None:
    """Write a first line, which may be empty, and the rows; ``base`` is the first feature's."""
    from scumble.data.formats.arrow_texts import sparse_rows

    with target.open() as stream:
        stream.write(first.encode())
        for lines in sparse_rows(dataset, base=base):
            stream.write(lines)


def refuse_label_choice(labels: object, name: str) -> None:
    """Refuse ``labels=`` for a format in which labels have a place of their own."""
    if labels is not None:
        raise ParameterError(
            f"The 'labels' parameter has no meaning for the {name} format: each line begins with "
            "its labels. Leave it out."
        )
