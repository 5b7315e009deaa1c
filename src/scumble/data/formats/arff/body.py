"""The rows of an ARFF file, read by compiled loops block by block, and what these refuse."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any, NoReturn

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
    refuse_zero_bytes,
)
from scumble.data.formats.arff.quoting import BLANKS, unescape
from scumble.data.formats.kernels import arff as k
from scumble.data.formats.kernels.numbers import LONG, NO_NUMBER, exact_floats, parse_float

#: How many labels may be present in sparse rows that do not name them: a small file of empty rows
#: could otherwise fill any memory.
MOST_IMPLIED = 10**8

#: About how many values are read before they are put aside.
_ROOM = 1 << 16
_EVENTS = 1 << 12
_LABEL_HELP = (
    "Expected 0 or 1 (or false or true): a label is present or absent. If the column is no label, "
    "name the labels with labels=..."
)
#: What the compiled loops refuse, in words: rows, then values.
_FAULTS = {
    k.LONG_ROW: "the row has more than the {n} values the header declares: {found} is left over. "
    "Does a text with a comma or a blank lack its quotes?",
    k.AFTER_ROW: "{found} follows the closing brace. Expected the end of the line or a weight such "
    "as {{2.5}}.",
    k.NOT_CLOSED: "the sparse row is not closed after {before} values. Expected a '}}' before the "
    "end of the line: is the file cut short?",
    k.BAD_INDEX: "found {found} instead of an attribute's number. Expected a sparse row such as "
    "{{0 1, 5 red}}: numbers from 0, each followed by a value.",
    k.OTHER_FORM: "the row begins with {found}, other than the rows before it. Expected all rows "
    "dense (1,0,2), or all sparse ({{0 1, 2 2}}).",
    k.INDEX_RANGE: "the sparse row names the attribute {found}, but there are only {n}, numbered "
    "from 0.",
    k.INDEX_ORDER: "the sparse row names the attribute {found} out of order or twice. Expected "
    "each one once, in increasing order.",
    k.SHORT_ROW: "the row has {before} values, but the header declares {n} attributes. Expected a "
    "value for {name} and those after it.",
    k.EMPTY_VALUE: "the value of {name} is empty. Expected one; a missing value is written ?.",
    k.OPEN_QUOTE: "the quote before {found} is not closed. Close it on its line; a quote inside of "
    "a text is written \\'.",
    k.NO_SEPARATOR: "no comma follows {found}, the value of {name}.",
    k.BAD_NUMBER: "{name} is numeric, but its value is {found}. Expected a number or ?.",
    k.UNDECLARED: "{found} is not among the values declared for {name} in line {line}. Expected "
    "one of {listed}.{near}",
    k.BAD_LABEL: "the label {name} has the value {found}. " + _LABEL_HELP,
    k.MISSING_LABEL: "the label {name} is missing. " + _LABEL_HELP,
    k.OMITTED_LABEL: "the label {name} is omitted from this sparse row, which stands for its first "
    "value, {first}. " + _LABEL_HELP,
}
_KINDS = {"numeric": k.NUMBER, "nominal": k.NOMINAL, "string": k.TEXT, "date": k.TEXT}
_TOO_LARGE = "the number {} is too large. Expected one below 1.8e308."
_ABSENT = re.compile(r"0(\.0*)?|false", re.IGNORECASE)
_PRESENT = re.compile(r"1(\.0*)?|true", re.IGNORECASE)
_LABEL_KINDS = {"numeric": k.NUMBER_LABEL, "nominal": k.NOMINAL_LABEL}


class Rows:
    """Rows, all dense or all sparse: where the compiled loops put them, and those put aside."""

    def __init__(self, shape: tuple[int, int], *, is_sparse: bool, as_sparse: bool) -> None:
        self.n_features, self.n_labels = shape
        width = sum(shape)
        height = _ROOM // 8 if is_sparse else max(1, _ROOM // max(width, 1))
        size = _ROOM + width if is_sparse else height * self.n_features
        self.values = np.empty(size)
        self.indices = np.empty(size, np.int32) if is_sparse else None
        self.present = np.empty(_ROOM // 4 + width, np.int32)
        self.ends = np.empty(height, k.ENDS)
        self.events = np.empty(_EVENTS + width + 1, k.EVENT)
        self.n_rows = 0  # put aside
        self.weighted: list[tuple[Array, Any]] = []  # numbers of rows, and their weights
        self._kind: Any = sparse.csr_array if is_sparse or as_sparse else np.array
        self._features = [self._kind(np.empty((0, self.n_features)))]
        self._labels = [sparse.csr_array((0, self.n_labels), dtype=bool)]

    def keep(self, n_rows: int, n_present: int, n_values: int) -> None:
        """Put the rows aside that were read last."""
        self.n_rows += n_rows
        ends, present = self.ends[:n_rows], self.present[:n_present]
        flags = np.ones(n_present, bool)
        self._labels.append(_matrix(flags, present, ends["labels"], self.n_labels))
        if self.indices is None:
            dense_part = self.values[: n_rows * self.n_features].reshape(n_rows, self.n_features)
            self._features.append(self._kind(dense_part))
        else:
            values, columns = self.values[:n_values], self.indices[:n_values]
            self._features.append(_matrix(values, columns, ends["values"], self.n_features))

    def features(self) -> Any:
        """Join all features."""
        is_sparse = sparse.issparse(self._features[0])
        return sparse.vstack(self._features) if is_sparse else np.concatenate(self._features)

    def labels(self) -> sparse.csr_array:
        """Join all labels."""
        return sparse.vstack(self._labels)

    def weights(self) -> Array | None:
        """Join all weights; None if no row has one."""
        weights = np.ones(self.n_rows)
        for rows, given in self.weighted:
            weights[rows] = given
        return weights if self.weighted else None


def _matrix(values: Array, columns: Array, ends: Array, n_columns: int) -> sparse.csr_array:
    """Copy the entries of rows, each up to its end, into a matrix."""
    pointers = np.append(0, ends).astype(np.int32)
    shape = (len(ends), n_columns)
    return sparse.csr_array((values, columns, pointers), shape=shape, copy=True)


class BodyReader:
    """Hands blocks to the compiled loops and does what they leave to Python."""

    def __init__(
        self,
        source: InputFile,
        header: Header,
        labels: Sequence[int],
        encoding: str,
        null_is_missing: bool,
    ) -> None:
        self._source, self._header, self._encoding = source, header, encoding
        lookup = Lookup(header.attributes, encoding)
        self._roles = roles = _roles(source, header, labels, lookup)
        line = header.n_lines + 1
        self._parser = k.Parser(roles, lookup.entries, lookup.blob, null_is_missing, line)
        self._shape = (len(header.attributes) - len(labels), len(labels))
        self._rows: Rows | None = None
        self._noted = _noted_texts(header)
        # Codes of texts and of nominal values, times of dates.
        self._known: defaultdict[int, dict[str, float]] = defaultdict(dict)
        self._strings = [
            at for at, attribute in enumerate(header.attributes) if attribute.type.kind == "string"
        ]
        for at in self._strings:
            self._known[at] = {text: code for code, text in enumerate(self._noted.get(at, ()))}

    def feed(self, block: bytes) -> None:
        """Read some whole lines."""
        refuse_zero_bytes(self._source, block, self._parser.line - 1)
        if not block.endswith(b"\n"):
            block += b"\n"  # the compiled loops rely on it
        text = np.frombuffer(block, np.uint8)
        at = self._parser.next_row(text)
        if self._rows is None and at < len(text):  # the first row decides the form of all
            self._rows = self._first_rows(is_sparse=text[at] == ord("{"))
        ended = k.FULL
        while ended == k.FULL and self._rows is not None:
            ended, state = self._parser.parse(text, at, self._rows)
            at = state["at"]
            events = self._rows.events[: state["n_events"]]
            self._resolve(block, self._rows, events[:-1] if ended < 0 else events)
            if ended < 0:
                self._refuse(ended, block, *events[-1].item())
            self._rows.keep(state["n_rows"], state["n_present"], state["n_values"])
            self._check_implied(self._rows)

    def _first_rows(self, *, is_sparse: bool) -> Rows:
        for attribute in self._strings if is_sparse else ():
            if attribute not in self._noted:
                self._known[attribute][""] = 0  # what a text is where it is omitted
        as_sparse = self._header.notes.get("sparse", False)
        return Rows(self._shape, is_sparse=is_sparse, as_sparse=as_sparse)

    def _check_implied(self, rows: Rows) -> None:
        n_implied = np.count_nonzero(self._roles["omitted"]) * rows.n_rows
        if rows.indices is not None and n_implied > MOST_IMPLIED:
            raise self._source.error(
                f"more than {MOST_IMPLIED} labels are present because sparse rows omit them "
                "(the first value declared for them is 1). Declare them as {0,1}.",
                line=self._parser.line,
            )

    def finish(self) -> tuple[Any, sparse.csr_array, Array | None, dict[int, tuple[str, ...]]]:
        """Give features, labels, weights, and the texts of string attributes by attribute."""
        rows = self._first_rows(is_sparse=False) if self._rows is None else self._rows
        X = rows.features()
        if rows.indices is not None:
            self._settle_omitted_texts(X)
        if not self._header.attributes and not self._header.notes.get("sparse", False):
            X = to_dense(X)  # rows without columns are always sparse
        texts = {attribute: tuple(self._known[attribute]) for attribute in self._strings}
        return X, rows.labels(), rows.weights(), texts

    def _settle_omitted_texts(self, X: sparse.csr_array) -> None:
        """Take back the empty text where no row omitted a text or had an empty one."""
        X.eliminate_zeros()
        counts = np.bincount(X.indices, minlength=X.shape[1])
        is_named = np.zeros(X.shape[1], bool)
        for attribute in set(self._strings) - self._noted.keys():
            column = self._roles["column"][attribute]
            if counts[column] == X.shape[0]:
                is_named[column] = True
                del self._known[attribute][""]
        if is_named.any():
            X.data[is_named[X.indices]] -= 1
            X.eliminate_zeros()

    def _resolve(self, block: bytes, rows: Rows, events: Array) -> None:
        """Read what the compiled loops could not."""
        of_row, is_long = events["attribute"] == k.WEIGHT, events["how"] == k.LATER_LONG
        if of_row.any():
            weights = list(self._weights(block, events[of_row]))
            rows.weighted.append((rows.n_rows + events["place"][of_row], weights))
        if is_long.any():
            rows.values[events["place"][is_long]] = self._long_numbers(block, events[is_long])
        others = events[~(of_row | is_long)]
        rows.values[others["place"]] = [self._read_text(block, *event) for event in others.tolist()]

    def _weights(self, block: bytes, events: Array) -> Iterator[float]:
        for _, _, start, end, _, line, value in events.tolist():
            text = block[start:end].strip(BLANKS.encode())
            kind, weight = parse_float(text)
            closed = block[end : end + 1] == b"}"
            if kind == NO_NUMBER or not 0 <= weight < math.inf or not closed:
                raise self._source.error(
                    f"found {excerpt(text.decode('latin-1'))} as the weight of the row. Expected a "
                    "number that is not negative, in braces.",
                    line=line,
                    column=value,
                )
            yield weight

    def _long_numbers(self, block: bytes, events: Array) -> Array:
        values = exact_floats(np.frombuffer(block, np.uint8), events["start"], events["end"])
        infinite = np.isinf(values)
        if infinite.any():
            _, _, start, end, _, line, value = events[infinite][0].item()
            found = excerpt(block[start:end].decode("ascii"))
            raise self._source.error(_TOO_LARGE.format(found), line=line, column=value)
        return values

    def _read_text(self, block: bytes, *event: int) -> float:
        """Read one text, date, nominal value with escapes or number in words."""
        _, attribute, start, end, how, line, value = event
        try:
            text = block[start:end].decode(self._encoding)
        except UnicodeDecodeError as error:
            raise EncodingError(line) from error
        if how == k.LATER_ESCAPED:
            text = unescape(text)
        known, declared = self._known[attribute], self._header.attributes[attribute]
        if not known and declared.type.kind == "nominal":
            known.update((value, code) for code, value in enumerate(declared.type.categories))
        if text in known:
            return known[text]
        if declared.type.kind == "string":
            return known.setdefault(text, len(known))
        try:
            if declared.type.kind == "numeric":
                return _number(declared, text)
            known[text] = _date(declared, text)
        except ValueError as error:
            raise self._source.error(str(error), line=line, column=value) from error
        return known[text]

    def _refuse(self, fault: int, block: bytes, *event: int) -> NoReturn:
        _, attribute, start, end, _, line, value = event
        token = block[start:end].decode(self._encoding, "replace")
        attributes = self._header.attributes
        about_row = attribute < 0 or fault == k.OTHER_FORM
        declared = None if about_row else attributes[attribute]
        message = explain(fault, declared, value, token, len(attributes))
        raise self._source.error(message, line=line, column=value)


def _number(declared: Attribute, text: str) -> float:
    """Read a number in quotes, or a word: infinity is let through, so that X survives."""
    kind, value = parse_float(text.encode())
    if kind == NO_NUMBER:
        raise ValueError(explain(k.BAD_NUMBER, declared, 0, text, 0))
    if kind == LONG and math.isinf(value):
        raise ValueError(_TOO_LARGE.format(excerpt(text)))
    return value


def _date(declared: Attribute, text: str) -> float:
    """Read a date; a nominal value would be known, had it been declared."""
    if declared.type.kind == "nominal":
        raise ValueError(explain(k.UNDECLARED, declared, 0, text, 0))
    try:
        return date_format(declared.type.date_format).parse(text)
    except ValueError as error:
        message = f"{excerpt(text)} is no date for {excerpt(declared.name)}: {error}."
        raise ValueError(message) from error


def _noted_texts(header: Header) -> dict[int, list[str]]:
    """Find the string attributes whose texts the notes list."""
    noted = header.notes.get("features", {})
    return {
        at: noted[attribute.name]["categories"]
        for at, attribute in enumerate(header.attributes)
        if attribute.type.kind == "string" and "categories" in noted.get(attribute.name, {})
    }


def _roles(source: InputFile, header: Header, labels: Sequence[int], lookup: Lookup) -> Array:
    """Tabulate what the compiled loops have to know of each attribute."""
    roles = np.zeros(len(header.attributes), k.ROLE)
    roles["kind"] = [_KINDS[attribute.type.kind] for attribute in header.attributes]
    roles["domain"] = lookup._parameter_constraints
    is_feature = np.ones(len(roles), bool)
    is_feature[list(labels)] = False
    roles["column"][is_feature] = np.arange(np.count_nonzero(is_feature))
    for number, at in enumerate(labels):
        attribute = header.attributes[at]
        kind = attribute.type.kind
        if kind not in _LABEL_KINDS:
            raise source.error(
                f"the label {excerpt(attribute.name)} is declared as {kind}. Expected {{0,1}} or "
                "numeric.",
                line=attribute.line,
            )
        first = attribute.type.categories[:1]
        omitted = 0 if kind == "numeric" else presence(first[0]) if first else -1
        roles[at] = (_LABEL_KINDS[kind], number, lookup._parameter_constraints[at], omitted)
    return roles


class Lookup:
    """The nominal values of all attributes; attributes with the same values share a domain."""

    def __init__(self, attributes: Sequence[Attribute], encoding: str) -> None:
        known: dict[AttributeType, int] = {}
        self._parameter_constraints = [
            known.setdefault(attribute.type, len(known)) if attribute.type.kind == "nominal" else -1
            for attribute in attributes
        ]
        entries: list[tuple[int, ...]] = []
        blob = bytearray()
        for kind, domain in known.items():
            spellings = zip(kind.categories, kind.raw or repeat(None), strict=False)
            for code, (value, raw) in enumerate(spellings):
                for text, escaped in ((value, 0), (raw, 1)):
                    spelled = None if text is None else _encode(text, encoding)
                    if spelled is not None:
                        place = (len(blob), len(spelled))
                        entries.append((domain, code, *place, escaped, presence(value)))
                        blob += spelled
        self.entries = np.array(entries, k.ENTRY)
        self.blob = np.frombuffer(blob, np.uint8)


def _encode(text: str, encoding: str) -> bytes | None:
    """Spell a value as the file would; None if its encoding has no such characters."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:  # came from an escape, and only an escape can spell it
        return None


def presence(text: str) -> int:
    """Tell what a nominal value means for a label."""
    if _ABSENT.fullmatch(text):
        return 0
    return 1 if _PRESENT.fullmatch(text) else -1


def explain(fault: int, attribute: Attribute | None, value: int, token: str, n: int) -> str:
    """Say what is wrong with a row, or with the value of an attribute in it."""
    categories: Sequence[str] = () if attribute is None else attribute.type.categories
    said = {
        "name": "" if attribute is None else excerpt(attribute.name),
        "found": excerpt(token),
        "n": n,
        "before": value - 1,
        "first": excerpt(categories[0]) if categories else "which it does not have",
    }
    if attribute is not None and fault == k.UNDECLARED:
        listed = ", ".join(excerpt(value) for value in categories[:8])
        said["line"] = attribute.line
        said["listed"] = listed + (
            f" and {len(categories) - 8} more" if len(categories) > 8 else ""
        )
        said["near"] = did_you_mean(token, categories)
    return _FAULTS[fault].format(**said)
