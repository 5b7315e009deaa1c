"""Lines such as ``1,3 5:0.2 7:1``: labels, then the features that are not zero.

They are the rows of the LibSVM and the extreme classification formats. A *pair* is ``5:0.2``, the
number of a feature and its value.
"""

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
#: A file of any size may have this many columns. Each column costs memory for its name, some ten
#: megabytes for so many.
ALWAYS_ALLOWED_COLUMNS = 1 << 17
#: A larger file may have this many columns per byte, so that a mistaken number in a small file
#: cannot fill the memory. The option ``max_columns`` replaces both limits.
COLUMNS_PER_BYTE = 16
#: The parts of a data set that such lines can store.
PRESERVED_PARTS = frozenset(
    {"labels never seen", "missing values", "rows without labels", "sparse storage"}
)


class _Block(NamedTuple):
    """The rows of one block; the fields have the same meaning as in `ParsedRows`."""

    labels: Array
    indices: Array
    values: Array
    label_counts: Array
    pair_counts: Array
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
        Whether comments, query numbers (``qid:3``) and empty lines are allowed and skipped.
    label_limit : int
        Labels are numbers below it; -1 if they may be any texts.
    index_limit : int
        Feature numbers are below it.
    max_columns : int or None
        Largest number of features, and of labels; by default it depends on the size of the file,
        see `check_n_columns`.
    n_lines : int
        Number of lines before the first block.

    Attributes
    ----------
    labels : array of int
        The labels of all rows, one row after the other: their numbers, or -1 - code for a label
        that is a text.
    indices, values : arrays
        The feature numbers and the values of the pairs of all rows, one row after the other.
    label_counts, pair_counts : array of shape (n_rows,)
        Number of labels, and of pairs of feature number and value, of each row.
    lines : array of shape (n_rows,)
        The line number of each row, from 1.
    code_of_text_label : dict of str to int
        The codes 0, 1, ... of labels that are not numbers, in the order of their appearance.
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
        """Parse all blocks; raise ReadError for a line that is wrong."""
        self.source = source
        self.lenient = lenient
        self.label_limit = label_limit
        self.index_limit = index_limit
        self.max_columns = max_columns
        self.n_bytes = 0
        self.n_lines = n_lines
        self.all_integers = True
        self.code_of_text_label: dict[str, int] = {}
        parsed_blocks = [self._parse(block) for block in blocks]
        self.labels = np.concatenate([block.labels for block in parsed_blocks])
        self.indices = np.concatenate([block.indices for block in parsed_blocks])
        self.values = np.concatenate([block.values for block in parsed_blocks])
        self.label_counts = np.concatenate([block.label_counts for block in parsed_blocks])
        self.pair_counts = np.concatenate([block.pair_counts for block in parsed_blocks])
        self.lines = np.concatenate([block.lines for block in parsed_blocks])

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.lines)

    def label_indptr(self) -> Array:
        """Return the ``indptr`` of Y: row i has the labels ``labels[indptr[i]:indptr[i + 1]]``."""
        return indptr_from_counts(self.label_counts)

    def feature_matrix(self, n_features: int, *, index_base: int) -> sparse.csr_array:
        """Return X; ``index_base`` is the number of the first feature in the file, 0 or 1."""
        indices = self.indices - np.int32(index_base) if index_base else self.indices
        indptr = indptr_from_counts(self.pair_counts)
        return sparse.csr_array((self.values, indices, indptr), shape=(len(self), n_features))

    def make_features(self, X: sparse.csr_array) -> list[Feature]:
        """Return a `Feature` for each column of X, called x0, x1, ...

        They are declared as integers if all values in the file are whole numbers or missing, and
        not all are missing.
        """
        integer = self.all_integers and not np.isnan(X.data).all()
        return [Feature(f"x{column}", integer=integer) for column in range(X.shape[1])]

    def check_n_columns(self, n_columns: int, noun: str) -> None:
        """Raise ReadError for more columns than the size of the file explains.

        The limit is ``max_columns``; if that is None, it depends on the size. ``noun`` is
        "features" or "labels", for the message.
        """
        max_columns = self.max_columns
        if max_columns is None:
            max_columns = max(ALWAYS_ALLOWED_COLUMNS, COLUMNS_PER_BYTE * self.n_bytes)
        if n_columns > min(MAX_COLUMNS, max_columns):
            raise self.source.error(
                f"{n_columns} {noun} in a file of {self.n_bytes} bytes would need much "
                "memory for their names. Is a number mistaken? If not, allow them with "
                f"max_columns={n_columns}."
            )

    def _parse(self, block: bytes) -> _Block:
        """Parse a block of whole lines; update the numbers of bytes and lines and `all_integers`.

        Raise ReadError for a line that is wrong.
        """
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
        labels = self._number_labels(block, parsed.labels)
        label_counts, pair_counts = np.diff(parsed.rows[:, :2], axis=0, prepend=0).T
        lines = parsed.rows[:, 2] + self.n_lines
        if not parsed.is_sorted:
            indices, values = self._sort_pairs(indices, values, pair_counts, lines)
        self.n_bytes += len(block)
        self.n_lines += parsed.n_lines
        self.all_integers &= parsed.all_integers
        return _Block(
            labels=labels,
            indices=indices,
            values=values,
            label_counts=label_counts,
            pair_counts=pair_counts,
            lines=lines,
        )

    def _number_labels(self, block: bytes, labels: Array) -> Array:
        """Return the number of each label, -1 - code for those that are texts.

        ``labels`` is the array of that name in `kernel.ParsedLines`. New texts get a code in
        ``code_of_text_label``.
        """
        import pyarrow as pa

        numbers = labels[:, 0].copy()
        text_indices = np.flatnonzero(numbers == kernel.LABEL_IS_NAME)
        if not len(text_indices):
            return numbers
        starts, ends = labels[text_indices, 1], labels[text_indices, 2]
        text = np.frombuffer(block, np.uint8)
        encoded = slices_to_arrow(text, starts, ends, pa.large_binary()).dictionary_encode()
        codes_in_block = encoded.indices.to_numpy()
        codes = np.empty(len(encoded.dictionary), np.int64)
        for code_in_block, name in enumerate(encoded.dictionary.to_pylist()):
            try:
                codes[code_in_block] = self.code_of_text_label.setdefault(
                    name.decode(), len(self.code_of_text_label)
                )
            except UnicodeDecodeError:
                message = f"the label {name!r} is not UTF-8 text. Convert the file to UTF-8."
                first = int(starts[(codes_in_block == code_in_block).argmax()])
                raise self._error_in_block(message, block, first) from None
        numbers[text_indices] = -1 - codes[codes_in_block]
        return numbers

    def _sort_pairs(
        self, indices: Array, values: Array, pair_counts: Array, lines: Array
    ) -> tuple[Array, Array]:
        """Return feature numbers and values, sorted by feature number within each row.

        ``pair_counts`` and ``lines`` are by row: number of pairs and line number. Raise ReadError
        if a row has a feature twice.
        """
        row_of_pair = np.repeat(np.arange(len(pair_counts)), pair_counts)
        order = np.lexsort((indices, row_of_pair))
        indices = indices[order]
        is_duplicate = (np.diff(indices) == 0) & (np.diff(row_of_pair) == 0)
        if is_duplicate.any():
            first = int(is_duplicate.argmax())
            raise self.source.error(
                f"feature {indices[first]} is given twice. Expected every feature at most once in "
                "a row.",
                line=int(lines[row_of_pair[first]]),
            )
        return indices, values[order]

    def _line_error(self, block: bytes, fault: int, position: int) -> ReadError:
        """Return the error for a fault of the kernel at a byte position of the block."""
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
        """Return an error that names line and column of a byte position of the block."""
        line_start = block.rfind(b"\n", 0, position) + 1
        line = self.n_lines + block.count(b"\n", 0, position) + 1
        column = len((block[line_start:position] + b"x").split())  # x stands for the wrong value
        return self.source.error(message, line=line, column=column)


def _first_token(text: bytes) -> str:
    """Return the first word of the first line of a text, cut to 40 characters."""
    tokens = text[:200].partition(b"\n")[0].split()
    token = tokens[0].decode(errors="replace") if tokens else ""
    return token if len(token) <= 40 else token[:40] + "..."


def write_lines(
    dataset: MultilabelDataset, target: OutputFile, first_line: str, *, index_base: int
) -> None:
    """Write ``first_line``, with its line end or empty, and a line for each row of a data set.

    The first feature has the number ``index_base``, 0 or 1; the first label always 0.
    """
    from scumble.data.formats.arrow_texts import sparse_rows

    with target.open() as stream:
        stream.write(first_line.encode())
        for lines in sparse_rows(dataset, index_base=index_base):
            stream.write(lines)


def check_no_label_option(labels: object, name: str) -> None:
    """Raise ParameterError unless the option ``labels`` is None.

    It has no meaning for formats whose lines begin with the labels; ``name`` is the format's name.
    """
    if labels is not None:
        raise ParameterError(
            f"The 'labels' parameter has no meaning for the {name} format: each line begins with "
            "its labels. Leave it out."
        )
