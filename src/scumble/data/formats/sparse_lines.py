"""Lines such as ``1,3 5:0.2 7:1``: labels, then the features that are not zero."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, ReadError
from scumble._core.files import InputFile, OutputFile
from scumble.data.dataset import MultilabelDataset
from scumble.data.feature import Feature
from scumble.data.formats.kernels import svmlight as kernel
from scumble.data.formats.kernels.numbers import exact_floats, slices_to_arrow
from scumble.data.label_lists import indptr_from_counts

#: Largest number of columns: their numbers fit the 32-bit indices of a sparse matrix.
MAX_COLUMNS = 2**31 - 1
#: A file may have this many columns whatever its size, unless ``max_columns`` says more ...
FREE_COLUMNS = 1 << 17
#: ... or this many for each of its bytes. Each column costs memory for its name.
COLUMNS_PER_BYTE = 16
#: The parts of a data set that such lines can store.
PRESERVED_PARTS = frozenset(
    {"labels never seen", "missing values", "rows without labels", "sparse storage"}
)


class _Block(NamedTuple):
    """The rows of one block: labels and values one row after the other, counts for each row."""

    labels: Array
    indices: Array
    values: Array
    counts: Array  # number of labels and number of values of each row
    lines: Array


class ParsedRows:
    """The rows of a file, parsed block by block.

    Parameters
    ----------
    source : InputFile
        The file, for error messages.
    blocks : iterable of bytes
        Its content in whole lines.
    lenient : bool
        Whether comments, query numbers and empty lines are allowed.
    label_limit : int
        Labels are numbers below it; negative if they may be any texts.
    index_limit : int
        Feature numbers are below it.
    max_columns : int or None
        The option of that name.
    n_lines : int
        Number of lines before the first block.

    Attributes
    ----------
    labels, indices, values : arrays
        The labels, feature numbers and values of all rows, one row after the other. A label that
        is not a number is -1, -2, ... in the order of ``names``.
    counts : array of shape (n_rows, 2)
        Number of labels and number of values of each row.
    lines : array
        The line number of each row.
    names : dict of str to int
        Labels that are not numbers, in the order of their appearance.
    """

    def __init__(
        self,
        source: InputFile,
        blocks: Iterable[bytes],
        *,
        lenient: bool,
        label_limit: int,
        index_limit: int,
        max_columns: int | None,
        n_lines: int = 0,
    ) -> None:
        self.source = source
        self.lenient = lenient
        self.label_limit = label_limit
        self.index_limit = index_limit
        self.max_columns = max_columns
        self.n_bytes = 0
        self.n_lines = n_lines
        self.all_integers = True
        self.names: dict[str, int] = {}
        parsed = [self._parse(block) for block in blocks]
        self.labels = np.concatenate([block.labels for block in parsed])
        self.indices = np.concatenate([block.indices for block in parsed])
        self.values = np.concatenate([block.values for block in parsed])
        self.counts = np.concatenate([block.counts for block in parsed])
        self.lines = np.concatenate([block.lines for block in parsed])

    def __len__(self) -> int:
        return len(self.lines)

    def label_indptr(self) -> Array:
        """Return where the labels of each row begin, and the end of the last row."""
        return indptr_from_counts(self.counts[:, 0])

    def features(self, base: int, n_features: int) -> sparse.csr_array:
        """Return the feature matrix; ``base`` is the number of the first feature, 0 or 1."""
        indices = self.indices - np.int32(base) if base else self.indices
        indptr = indptr_from_counts(self.counts[:, 1])
        return sparse.csr_array((self.values, indices, indptr), shape=(len(self), n_features))

    def make_features(self, X: sparse.csr_array) -> list[Feature]:
        """Return a feature for each column; they are integers if all present values are."""
        integer = self.all_integers and not np.isnan(X.data).all()
        return [Feature(f"x{column}", integer=integer) for column in range(X.shape[1])]

    def check_n_columns(self, n_columns: int, description: str) -> None:
        """Raise an error for a number of columns that the size of the file does not explain."""
        max_columns = self.max_columns
        if max_columns is None:
            max_columns = max(FREE_COLUMNS, COLUMNS_PER_BYTE * self.n_bytes)
        if n_columns > min(MAX_COLUMNS, max_columns):
            raise self.source.error(
                f"{n_columns} {description} in a file of {self.n_bytes} bytes would need much "
                "memory for their names. Is a number mistaken? If not, allow them with "
                f"max_columns={n_columns}."
            )

    def _parse(self, block: bytes) -> _Block:
        """Parse one block."""
        text = np.frombuffer(block, np.uint8)
        parsed = kernel.parse_lines(
            text,
            lenient=self.lenient,
            label_limit=self.label_limit,
            index_limit=self.index_limit,
        )
        if parsed.fault:
            raise self._line_error(block, parsed.fault, parsed.position)
        indices, values = parsed.indices, parsed.values
        if len(parsed.long_numbers):
            index, start, end = parsed.long_numbers.T
            values[index] = exact_floats(text, start, end)
        labels = self._numbered_labels(block, parsed.labels)
        counts = np.diff(parsed.rows[:, :2], axis=0, prepend=0)
        lines = parsed.rows[:, 2] + self.n_lines
        if not parsed.is_sorted:
            indices, values = self._sorted(indices, values, counts[:, 1], lines)
        self.n_bytes += len(block)
        self.n_lines += parsed.n_lines
        self.all_integers &= parsed.all_integers
        return _Block(labels=labels, indices=indices, values=values, counts=counts, lines=lines)

    def _numbered_labels(self, block: bytes, labels: Array) -> Array:
        """Return the number of each label; those that are names become -1, -2, and so on."""
        import pyarrow as pa

        numbers = labels[:, 0].copy()
        is_name = np.flatnonzero(numbers == kernel.LABEL_IS_NAME)
        if not len(is_name):
            return numbers
        starts, ends = labels[is_name, 1], labels[is_name, 2]
        text = np.frombuffer(block, np.uint8)
        coded = slices_to_arrow(text, starts, ends, pa.large_binary()).dictionary_encode()
        codes = coded.indices.to_numpy()
        positions = np.empty(len(coded.dictionary), np.int64)
        for code, name in enumerate(coded.dictionary.to_pylist()):
            try:
                positions[code] = self.names.setdefault(name.decode(), len(self.names))
            except UnicodeDecodeError:
                message = f"the label {name!r} is not UTF-8 text. Convert the file to UTF-8."
                first = int(starts[(codes == code).argmax()])
                raise self._error_in_block(message, block, first) from None
        numbers[is_name] = -1 - positions[codes]
        return numbers

    def _sorted(
        self, indices: Array, values: Array, counts: Array, lines: Array
    ) -> tuple[Array, Array]:
        """Return indices and values sorted by feature in each row; duplicates are an error."""
        row = np.repeat(np.arange(len(counts)), counts)
        order = np.lexsort((indices, row))
        indices = indices[order]
        is_duplicate = (np.diff(indices) == 0) & (np.diff(row) == 0)
        if is_duplicate.any():
            first = int(is_duplicate.argmax())
            raise self.source.error(
                f"feature {indices[first]} is given twice. Expected every feature at most once in "
                "a row.",
                line=int(lines[row[first]]),
            )
        return indices, values[order]

    def _line_error(self, block: bytes, fault: int, position: int) -> ReadError:
        """Build the error for a fault of the kernel at a position of the block."""
        token = _first_token(block[position:])
        number = token.partition(":")[0].partition(",")[0]
        labels = "labels between commas"
        if self.label_limit >= 0:
            labels = f"label numbers from 0 to {self.label_limit - 1}"
        reasons = {
            kernel.NO_LABEL: f"expected {labels}, found {token!r}.",
            kernel.LABEL_TOO_LARGE: f"label {number} is beyond the {self.label_limit} labels of "
            "the data.",
            kernel.NO_PAIR: f"expected index:value, found {token!r}.",
            kernel.NO_INDEX: f"expected a feature number before the colon, found {token!r}.",
            kernel.INDEX_TOO_LARGE: f"feature {number} is too large. Expected at most "
            f"{self.index_limit - 1}.",
            kernel.NO_VALUE: f"expected a number after the colon, found {token!r}.",
        }
        return self._error_in_block(reasons[fault], block, position)

    def _error_in_block(self, message: str, block: bytes, position: int) -> ReadError:
        """Build an error with the line and the column of a position of the block."""
        begin = block.rfind(b"\n", 0, position) + 1
        line = self.n_lines + block.count(b"\n", 0, position) + 1
        column = len((block[begin:position] + b"x").split())  # the x stands for the wrong value
        return self.source.error(message, line=line, column=column)


def _first_token(text: bytes) -> str:
    """Return the first token of a line, cut to a readable length."""
    tokens = text[:200].partition(b"\n")[0].split()
    token = tokens[0].decode(errors="replace") if tokens else ""
    return token if len(token) <= 40 else token[:40] + "..."


def write_lines(
    dataset: MultilabelDataset, target: OutputFile, first_line: str, *, base: int
) -> None:
    """Write a first line, which may be empty, and the rows; features are numbered from ``base``."""
    from scumble.data.formats.arrow_texts import sparse_rows

    with target.open() as stream:
        stream.write(first_line.encode())
        for lines in sparse_rows(dataset, base=base):
            stream.write(lines)


def check_no_label_option(labels: object, name: str) -> None:
    """Raise an error if ``labels`` is given for a format whose lines begin with the labels."""
    if labels is not None:
        raise ParameterError(
            f"The 'labels' parameter has no meaning for the {name} format: each line begins with "
            "its labels. Leave it out."
        )
