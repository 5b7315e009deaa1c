"""Reads the rows of an ARFF file with a compiled parser, and explains its faults.

An *attribute* is a column of the file: a feature or a label. The compiled parser reports *events*
to Python code: *deferred values*, which it does not parse itself, such as a text or a date; and at
the end a *fault*, the code of what is wrong with a row, if there is one. The parser writes a
limited number of rows to *buffers*, from which they are copied.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any, NamedTuple, NoReturn

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, to_dense
from scumble._core.errors import did_you_mean
from scumble._core.files import InputFile
from scumble._core.text import excerpt
from scumble.data.formats.arff.dates import date_format
from scumble.data.formats.arff.header import (
    Attribute,
    AttributeType,
    EncodingError,
    Header,
    check_no_nul_bytes,
)
from scumble.data.formats.arff.quoting import BLANKS, unescape
from scumble.data.formats.kernels import arff as kernel
from scumble.data.formats.kernels.numbers import LONG, NO_NUMBER, exact_floats, parse_float

#: Largest number of labels that are present because sparse rows omit them: without this limit a
#: small file of empty rows could fill any memory.
MAX_IMPLIED_LABELS = 10**8

#: About how many values are parsed before they are copied: half a megabyte stays in the cache.
_N_BUFFERED_VALUES = 1 << 16
#: Number of events among them, at most; the parser stops before there are more.
_N_BUFFERED_EVENTS = 1 << 12
_LABEL_HELP = (
    "Expected 0 or 1 (or false or true): a label is present or absent. If the column is not a "
    "label, name the labels with labels=..."
)
#: Messages for the faults of the parser: faults of rows, then of values.
_FAULT_MESSAGES = {
    kernel.LONG_ROW: (
        "the row has more than the {n_attributes} values the header declares: {token} is left "
        "over. Does a text with a comma or a blank lack its quotes?"
    ),
    kernel.AFTER_ROW: (
        "{token} follows the closing brace. Expected the end of the line or a weight such as "
        "{{2.5}}."
    ),
    kernel.NOT_CLOSED: (
        "the sparse row is not closed after {n_before} values. Expected a '}}' before the end of "
        "the line: is the file cut short?"
    ),
    kernel.BAD_INDEX: (
        "found {token} instead of an attribute's number. Expected a sparse row such as {{0 1, 5 "
        "red}}: numbers from 0, each followed by a value."
    ),
    kernel.OTHER_FORM: (
        "the row begins with {token}, other than the rows before it. Expected all rows dense "
        "(1,0,2), or all sparse ({{0 1, 2 2}})."
    ),
    kernel.INDEX_RANGE: (
        "the sparse row names the attribute {token}, but there are only {n_attributes}, numbered "
        "from 0."
    ),
    kernel.INDEX_ORDER: (
        "the sparse row names the attribute {token} out of order or twice. Expected each one "
        "once, in increasing order."
    ),
    kernel.SHORT_ROW: (
        "the row has {n_before} values, but the header declares {n_attributes} attributes. "
        "Expected a value for {name} and those after it."
    ),
    kernel.EMPTY_VALUE: "the value of {name} is empty. Expected one; a missing value is written ?.",
    kernel.OPEN_QUOTE: (
        "the quote before {token} is not closed. Close it on its line; a quote inside of a text "
        "is written \\'."
    ),
    kernel.NO_SEPARATOR: "no comma follows {token}, the value of {name}.",
    kernel.BAD_NUMBER: "{name} is numeric, but its value is {token}. Expected a number or ?.",
    kernel.UNDECLARED: (
        "{token} is not among the values declared for {name} in line {line}. Expected one of "
        "{categories}.{suggestion}"
    ),
    kernel.BAD_LABEL: "the label {name} has the value {token}. " + _LABEL_HELP,
    kernel.MISSING_LABEL: "the label {name} is missing. " + _LABEL_HELP,
    kernel.OMITTED_LABEL: (
        "the label {name} is omitted from this sparse row, which stands for its "
        "first value, {first}. " + _LABEL_HELP
    ),
}
#: The codes of the compiled parser for the types of attributes; texts and dates are left to Python.
_KINDS = {
    "numeric": kernel.NUMBER,
    "nominal": kernel.NOMINAL,
    "string": kernel.TEXT,
    "date": kernel.TEXT,
}
_TOO_LARGE = "the number {} is too large. Expected one below 1.8e308."
#: Nominal values that mean that a label is absent, or present.
_ABSENT = re.compile(r"0(\.0*)?|false", re.IGNORECASE)
_PRESENT = re.compile(r"1(\.0*)?|true", re.IGNORECASE)
#: The codes of the compiled parser for labels, by the type of their attribute.
_LABEL_KINDS = {"numeric": kernel.NUMBER_LABEL, "nominal": kernel.NOMINAL_LABEL}


class _Event(NamedTuple):
    """A deferred value, which the compiled parser left to Python, or a fault."""

    value_index: int  # among the values of the buffer; of a weight: number of the row
    attribute: int  # its number; negative for a weight, or if the row as a whole is wrong
    start: int  # of the text in the block
    end: int
    status: int  # a member of the enumerations of the kernel; negative for a fault
    line: int
    number: int  # of the value in its row, from 1


class Rows:
    """Buffers that the parser fills, and the rows copied from them.

    Parameters
    ----------
    n_features, n_labels : int
        Number of attributes of each kind.
    is_sparse : bool
        Whether rows of the file are sparse.
    as_sparse : bool
        Whether dense rows are stored as a sparse matrix as well.

    Attributes
    ----------
    values : array of float
        Buffer for the values of features, row by row.
    indices : array of int or None
        Buffer for the column of each value; None if rows of the file are dense.
    present : array of int
        Buffer for the labels that are present, row by row.
    row_ends : array of ``kernel.ROW_ENDS``
        Buffer for the ends of each row in ``values`` and in ``present``.
    events : array of ``kernel.EVENT``
        Buffer for deferred values, and for a fault.
    n_rows : int
        Number of rows copied so far.
    weighted : list of tuple
        Pairs of an array with row numbers and a list with their weights.
    """

    def __init__(self, n_features: int, n_labels: int, *, is_sparse: bool, as_sparse: bool) -> None:
        """Allocate the buffers."""
        self.n_features = n_features
        self.n_labels = n_labels
        width = n_features + n_labels
        self.indices: Array | None = None
        if is_sparse:
            n_rows = _N_BUFFERED_VALUES // 8
            n_values = _N_BUFFERED_VALUES + width
            self.indices = np.empty(n_values, np.int32)
        else:
            n_rows = max(1, _N_BUFFERED_VALUES // max(width, 1))
            n_values = n_rows * self.n_features
        self.values = np.empty(n_values)
        self.present = np.empty(_N_BUFFERED_VALUES // 4 + width, np.int32)
        self.row_ends = np.empty(n_rows, kernel.ROW_ENDS)
        self.events = np.empty(_N_BUFFERED_EVENTS + width + 1, kernel.EVENT)
        self.n_rows = 0
        self.weighted: list[tuple[Array, Any]] = []
        self._make_matrix: Any = sparse.csr_array if is_sparse or as_sparse else np.array
        self._features = [self._make_matrix(np.empty((0, self.n_features)))]
        self._labels = [sparse.csr_array((0, self.n_labels), dtype=bool)]

    def copy_buffers(self, n_rows: int, n_present: int, n_values: int) -> None:
        """Copy the rows that the parser has just written to the buffers.

        The arguments are the numbers of rows, of labels that are present, and of values of sparse
        rows in the buffers.
        """
        self.n_rows += n_rows
        row_ends, present = self.row_ends[:n_rows], self.present[:n_present]
        is_present = np.ones(n_present, bool)
        self._labels.append(_csr_copy(is_present, present, row_ends["labels"], self.n_labels))
        if self.indices is None:
            dense_rows = self.values[: n_rows * self.n_features].reshape(n_rows, self.n_features)
            self._features.append(self._make_matrix(dense_rows))
        else:
            values, columns = self.values[:n_values], self.indices[:n_values]
            self._features.append(_csr_copy(values, columns, row_ends["values"], self.n_features))

    def feature_matrix(self) -> Any:
        """Return the features of all rows copied so far, as an array or a CSR matrix."""
        if sparse.issparse(self._features[0]):
            return sparse.vstack(self._features)
        return np.concatenate(self._features)

    def label_matrix(self) -> sparse.csr_array:
        """Return the label matrix of all rows copied so far."""
        return sparse.vstack(self._labels)

    def weights(self) -> Array | None:
        """Return the weights of all rows, 1 for a row without one; None if no row has one."""
        if not self.weighted:
            return None
        weights = np.ones(self.n_rows)
        for row_indices, row_weights in self.weighted:
            weights[row_indices] = row_weights
        return weights


def _csr_copy(values: Array, columns: Array, row_ends: Array, n_columns: int) -> sparse.csr_array:
    """Return a CSR matrix with copies of the entries of rows.

    ``values`` and ``columns`` hold the entries row by row; ``row_ends`` is where those of each row
    end.
    """
    indptr = np.append(0, row_ends).astype(np.int32)
    shape = (len(row_ends), n_columns)
    return sparse.csr_array((values, columns, indptr), shape=shape, copy=True)


class Body(NamedTuple):
    """The rows of a file."""

    X: Any
    Y: sparse.csr_array
    weights: Array | None
    #: The texts of each string attribute, by the number of the attribute; codes are their indices.
    texts: dict[int, tuple[str, ...]]


class BodyReader:
    """Parses blocks of rows, with a compiled parser and with Python code for what it leaves out.

    Parameters
    ----------
    source : InputFile
        The file, for error messages.
    header : Header
        The declarations.
    labels : sequence of int
        Numbers of the attributes that are labels.
    encoding : str
        Encoding of the texts.
    null_is_missing : bool
        Whether the word ``<null>`` is a missing value.
    """

    def __init__(
        self,
        source: InputFile,
        header: Header,
        labels: Sequence[int],
        encoding: str,
        null_is_missing: bool,
    ) -> None:
        """Prepare the compiled parser for the declarations; check the types of labels."""
        self._source = source
        self._header = header
        self._encoding = encoding
        nominal_values = NominalValues(header.attributes, encoding)
        self._roles = _make_roles(source, header, labels, nominal_values)
        self._parser = kernel.Parser(
            self._roles,
            nominal_values.entries,
            nominal_values.blob,
            null_is_missing,
            header.n_lines + 1,
        )
        self._n_features = len(header.attributes) - len(labels)
        self._n_labels = len(labels)
        self._rows: Rows | None = None
        self._noted_texts = _texts_in_notes(header)
        # For each attribute its texts with their values: codes of strings and nominal values,
        # dates in milliseconds since 1970.
        self._text_values: defaultdict[int, dict[str, float]] = defaultdict(dict)
        self._string_attributes = [
            index
            for index, attribute in enumerate(header.attributes)
            if attribute.type.kind == "string"
        ]
        for index in self._string_attributes:
            texts = self._noted_texts.get(index, ())
            self._text_values[index] = {text: code for code, text in enumerate(texts)}

    def feed(self, block: bytes) -> None:
        """Parse a block of whole lines and store its rows; raise ReadError for a wrong row."""
        check_no_nul_bytes(self._source, block, self._parser.line - 1)
        if not block.endswith(b"\n"):
            block += b"\n"  # the compiled loops rely on it
        text = np.frombuffer(block, np.uint8)
        position = self._parser.next_row(text)
        if self._rows is None and position < len(text):  # the first row decides the form of all
            self._rows = self._make_rows(is_sparse=text[position] == ord("{"))
        status = kernel.FULL
        while status == kernel.FULL and self._rows is not None:
            status, state = self._parser.parse(text, position, self._rows)
            position = state["position"]
            events = self._rows.events[: state["n_events"]]
            is_fault = status < 0
            deferred_values = events[:-1] if is_fault else events  # a fault is the last event
            self._parse_deferred_values(block, self._rows, deferred_values)
            if is_fault:
                self._raise_fault(status, block, _Event(*events[-1].item()))
            self._rows.copy_buffers(state["n_rows"], state["n_present"], state["n_values"])
            self._check_implied_labels(self._rows)

    def _make_rows(self, *, is_sparse: bool) -> Rows:
        """Return the buffers for dense or sparse rows.

        For sparse rows, give the empty text, which a row may omit, the code 0.
        """
        if is_sparse:
            for attribute in self._string_attributes:
                if attribute not in self._noted_texts:
                    self._text_values[attribute][""] = 0  # an omitted text is empty
        as_sparse = self._header.notes.get("sparse", False)
        return Rows(self._n_features, self._n_labels, is_sparse=is_sparse, as_sparse=as_sparse)

    def _check_implied_labels(self, rows: Rows) -> None:
        """Raise ReadError if sparse rows imply more than `MAX_IMPLIED_LABELS` label assignments.

        An omitted label has the first value declared for it, which may be 1.
        """
        n_implied = np.count_nonzero(self._roles["omitted"]) * rows.n_rows
        if rows.indices is not None and n_implied > MAX_IMPLIED_LABELS:
            raise self._source.error(
                f"more than {MAX_IMPLIED_LABELS} labels are present because sparse rows omit them "
                "(the first value declared for them is 1). Declare them as {0,1}.",
                line=self._parser.line,
            )

    def finish(self) -> Body:
        """Return all rows that were parsed; call this once, after the last block."""
        rows = self._make_rows(is_sparse=False) if self._rows is None else self._rows
        X = rows.feature_matrix()
        if rows.indices is not None:
            self._remove_unused_empty_texts(X)
        if not self._header.attributes and not self._header.notes.get("sparse", False):
            X = to_dense(X)  # rows without columns are always sparse
        texts = {
            attribute: tuple(self._text_values[attribute]) for attribute in self._string_attributes
        }
        return Body(X, rows.label_matrix(), rows.weights(), texts)

    def _remove_unused_empty_texts(self, X: sparse.csr_array) -> None:
        """Remove the empty text, code 0, of string attributes for which no row has it.

        The codes of their other texts decrease by one, in ``X`` in place and in the texts.
        """
        X.eliminate_zeros()
        counts = np.bincount(X.indices, minlength=X.shape[1])
        is_never_empty = np.zeros(X.shape[1], bool)
        for attribute in set(self._string_attributes) - self._noted_texts.keys():
            column = self._roles["column"][attribute]
            if counts[column] == X.shape[0]:
                is_never_empty[column] = True
                del self._text_values[attribute][""]
        if is_never_empty.any():
            X.data[is_never_empty[X.indices]] -= 1
            X.eliminate_zeros()

    def _parse_deferred_values(self, block: bytes, rows: Rows, deferred: Array) -> None:
        """Parse the values that the compiled parser left and write them to the buffers of ``rows``.

        ``deferred`` are the events of these values. Weights are appended to ``rows.weighted``.
        """
        is_weight = deferred["attribute"] == kernel.WEIGHT
        is_long = deferred["status"] == kernel.LATER_LONG
        if is_weight.any():
            weights = list(self._parse_weights(block, deferred[is_weight]))
            rows.weighted.append((rows.n_rows + deferred["index"][is_weight], weights))
        if is_long.any():
            long_numbers = self._parse_long_numbers(block, deferred[is_long])
            rows.values[deferred["index"][is_long]] = long_numbers
        texts = deferred[~(is_weight | is_long)]
        rows.values[texts["index"]] = [
            self._parse_text(block, _Event(*event)) for event in texts.tolist()
        ]

    def _parse_weights(self, block: bytes, events: Array) -> Iterator[float]:
        """Yield the weight in braces at the end of a row, for each event; check that it is >= 0."""
        for event in map(_Event._make, events.tolist()):
            text = block[event.start : event.end].strip(BLANKS.encode())
            status, weight = parse_float(text)
            is_closed = block[event.end : event.end + 1] == b"}"
            if status == NO_NUMBER or not 0 <= weight < math.inf or not is_closed:
                raise self._source.error(
                    f"found {excerpt(text.decode('latin-1'))} as the weight of the row. Expected a "
                    "number that is not negative, in braces.",
                    line=event.line,
                    column=event.number,
                )
            yield weight

    def _parse_long_numbers(self, block: bytes, events: Array) -> Array:
        """Return the values of numbers with too many digits for the compiled parser.

        Raise ReadError for a number that is too large for a double.
        """
        values = exact_floats(np.frombuffer(block, np.uint8), events["start"], events["end"])
        is_infinite = np.isinf(values)
        if is_infinite.any():
            event = _Event(*events[is_infinite][0].item())
            number = excerpt(block[event.start : event.end].decode("ascii"))
            message = _TOO_LARGE.format(number)
            raise self._source.error(message, line=event.line, column=event.number)
        return values

    def _parse_text(self, block: bytes, event: _Event) -> float:
        """Return a deferred value: the code of a text or nominal value, a date or a number.

        A number gets here if it is quoted or a word such as ``inf``. Raise ReadError for a value
        that its attribute cannot have.
        """
        try:
            text = block[event.start : event.end].decode(self._encoding)
        except UnicodeDecodeError as error:
            raise EncodingError(event.line) from error
        if event.status == kernel.LATER_ESCAPED:
            text = unescape(text)
        text_values = self._text_values[event.attribute]
        attribute = self._header.attributes[event.attribute]
        kind = attribute.type.kind
        if not text_values and kind == "nominal":
            categories = attribute.type.categories
            text_values.update((category, code) for code, category in enumerate(categories))
        if text in text_values:
            return text_values[text]
        if kind == "string":
            return text_values.setdefault(text, len(text_values))
        try:
            if kind == "numeric":
                return _parse_number(attribute, text)
            text_values[text] = _parse_date(attribute, text)
        except ValueError as error:
            raise self._source.error(str(error), line=event.line, column=event.number) from error
        return text_values[text]

    def _raise_fault(self, fault: int, block: bytes, event: _Event) -> NoReturn:
        """Raise the ReadError for a fault of the compiled parser; ``event`` says where it is."""
        token = block[event.start : event.end].decode(self._encoding, "replace")
        attributes = self._header.attributes
        is_about_row = event.attribute < 0 or fault == kernel.OTHER_FORM
        attribute = None if is_about_row else attributes[event.attribute]
        message = explain_fault(
            fault,
            attribute=attribute,
            number=event.number,
            token=token,
            n_attributes=len(attributes),
        )
        raise self._source.error(message, line=event.line, column=event.number)


def _parse_number(attribute: Attribute, text: str) -> float:
    """Return the value of a quoted number, or a word such as ``inf`` or ``nan``.

    Raise ValueError if it is not a number, or too large for a double.
    """
    status, value = parse_float(text.encode())
    if status == NO_NUMBER:
        raise ValueError(explain_fault(kernel.BAD_NUMBER, attribute=attribute, token=text))
    if status == LONG and math.isinf(value):
        raise ValueError(_TOO_LARGE.format(excerpt(text)))
    return value


def _parse_date(attribute: Attribute, text: str) -> float:
    """Return a date in milliseconds since 1970; raise ValueError if it does not fit the pattern.

    Raise ValueError, too, for a nominal value: it gets here only if it is not declared.
    """
    if attribute.type.kind == "nominal":
        raise ValueError(explain_fault(kernel.UNDECLARED, attribute=attribute, token=text))
    try:
        return date_format(attribute.type.date_format).parse(text)
    except ValueError as error:
        message = f"{excerpt(text)} is not a date for {excerpt(attribute.name)}: {error}."
        raise ValueError(message) from error


def _texts_in_notes(header: Header) -> dict[int, list[str]]:
    """Return the texts of string attributes that the notes list, by number of the attribute."""
    features = header.notes.get("features", {})
    return {
        index: features[attribute.name]["categories"]
        for index, attribute in enumerate(header.attributes)
        if attribute.type.kind == "string" and "categories" in features.get(attribute.name, {})
    }


def _make_roles(
    source: InputFile, header: Header, labels: Sequence[int], nominal_values: NominalValues
) -> Array:
    """Return an array of records (dtype ``kernel.ROLE``) that say how to parse each attribute.

    ``labels`` are the numbers of the attributes that are labels. Raise ReadError for a label that
    is neither nominal nor numeric.
    """
    roles = np.zeros(len(header.attributes), kernel.ROLE)
    roles["kind"] = [_KINDS[attribute.type.kind] for attribute in header.attributes]
    roles["domain"] = nominal_values.domains
    is_feature = np.ones(len(roles), bool)
    is_feature[list(labels)] = False
    roles["column"][is_feature] = np.arange(np.count_nonzero(is_feature))
    for label, index in enumerate(labels):
        attribute = header.attributes[index]
        kind = attribute.type.kind
        if kind not in _LABEL_KINDS:
            raise source.error(
                f"the label {excerpt(attribute.name)} is declared as {kind}. Expected {{0,1}} or "
                "numeric.",
                line=attribute.line,
            )
        omitted = 0
        if kind == "nominal":
            categories = attribute.type.categories
            omitted = presence(categories[0]) if categories else -1
        roles[index] = (_LABEL_KINDS[kind], label, nominal_values.domains[index], omitted)
    return roles


class NominalValues:
    """The nominal values of all attributes, as the compiled parser needs them.

    Attributes
    ----------
    domains : list of int
        For each attribute the number of its list of declared values, -1 if it is not nominal; equal
        lists have the same number.
    entries : array of ``kernel.ENTRY``
        A record for each value, and for its spelling in the header if that has escapes.
    blob : array of uint8
        The texts of the entries, one after the other.
    """

    def __init__(self, attributes: Sequence[Attribute], encoding: str) -> None:
        """Collect the declared values; ``encoding`` is that of the file."""
        domain_of: dict[AttributeType, int] = {}
        self.domains = []
        for attribute in attributes:
            if attribute.type.kind == "nominal":
                self.domains.append(domain_of.setdefault(attribute.type, len(domain_of)))
            else:
                self.domains.append(-1)
        entries: list[tuple[int, ...]] = []
        blob = bytearray()
        for attribute_type, domain in domain_of.items():
            escaped_texts = attribute_type.raw or repeat(None)
            for code, (value, raw) in enumerate(
                zip(attribute_type.categories, escaped_texts, strict=False)
            ):
                for text, is_escaped in ((value, 0), (raw, 1)):
                    encoded = None if text is None else _encode(text, encoding)
                    if encoded is None:
                        continue
                    entries.append(
                        (domain, code, len(blob), len(encoded), is_escaped, presence(value))
                    )
                    blob += encoded
        self.entries = np.array(entries, kernel.ENTRY)
        self.blob = np.frombuffer(blob, np.uint8)


def _encode(text: str, encoding: str) -> bytes | None:
    """Return a nominal value in the encoding of the file; None if this lacks a character."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:  # the character comes from an escape, and only as one it occurs
        return None


def presence(text: str) -> int:
    """Return 0 if a nominal value means that a label is absent, 1 if present, -1 for neither."""
    if _ABSENT.fullmatch(text):
        return 0
    return 1 if _PRESENT.fullmatch(text) else -1


def explain_fault(
    fault: int,
    *,
    attribute: Attribute | None,
    token: str,
    number: int = 0,
    n_attributes: int = 0,
) -> str:
    """Return the message for a fault of the compiled parser.

    ``attribute`` is None if the row as a whole is wrong, ``token`` the text at the fault and
    ``number`` that of the value in its row, from 1.
    """
    categories: Sequence[str] = () if attribute is None else attribute.type.categories
    fields = {
        "name": "" if attribute is None else excerpt(attribute.name),
        "token": excerpt(token),
        "n_attributes": n_attributes,
        "n_before": number - 1,
        "first": excerpt(categories[0]) if categories else "which it does not have",
    }
    if attribute is not None and fault == kernel.UNDECLARED:
        names = ", ".join(excerpt(category) for category in categories[:8])
        if len(categories) > 8:
            names += f" and {len(categories) - 8} more"
        fields["line"] = attribute.line
        fields["categories"] = names
        fields["suggestion"] = did_you_mean(token, categories)
    return _FAULT_MESSAGES[fault].format(**fields)
