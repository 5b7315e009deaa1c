"""The rows of an ARFF file, read by compiled loops block by block."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.files import Source
from scumble._core.text import excerpt
from scumble.data.formats.arff.dates import date_format
from scumble.data.formats.arff.header import (
    Attribute,
    EncodingError,
    Header,
    Type,
    refuse_zero_bytes,
)
from scumble.data.formats.arff.quoting import BLANKS, unescape
from scumble.data.formats.arff.rows import DenseRows, SparseRows, explain, undeclared
from scumble.data.formats.kernels import arff as k
from scumble.data.formats.kernels.numbers import LONG, NO_NUMBER, exact_floats, parse_float

#: How many labels may be present in sparse rows that do not name them: a small file of empty rows
#: could otherwise fill any memory.
MOST_IMPLIED = 10**8

_KINDS = {"numeric": k.NUMBER, "nominal": k.NOMINAL, "string": k.TEXT, "date": k.TEXT}
_TOO_LARGE = "the number {} is too large. Expected one below 1.8e308."
_ABSENT = re.compile(r"0(\.0*)?|false", re.IGNORECASE)
_PRESENT = re.compile(r"1(\.0*)?|true", re.IGNORECASE)
_LABEL_KINDS = {"numeric": k.NUMBER_LABEL, "nominal": k.NOMINAL_LABEL}


class BodyReader:
    """Hands blocks to the compiled loops and does what they leave to Python."""

    def __init__(
        self, source: Source, header: Header, labels: Sequence[int], encoding: str, nulls: bool
    ) -> None:
        self._source, self._header, self._encoding = source, header, encoding
        lookup = Lookup(header.attributes, encoding)
        self._roles = roles = _roles(source, header, labels, lookup)
        line = header.n_lines + 1
        self._parser = k.Parser(roles, lookup.entries, lookup.blob, nulls, line)
        self._shape = (len(header.attributes) - len(labels), len(labels))
        self._rows: DenseRows | SparseRows | None = None
        self._noted = _noted_texts(header)
        self._texts = {
            at: {text: code for code, text in enumerate(self._noted.get(at, ()))}
            for at, attribute in enumerate(header.attributes)
            if attribute.type.kind == "string"
        }
        self._known: dict[int, dict[str, float]] = {}  # codes of nominal values, times of dates
        self._readers: dict[str, Callable[[int, str], float]] = {
            "string": self._text,
            "date": self._date,
            "nominal": self._code,
            "numeric": self._number,
        }

    def feed(self, block: bytes) -> None:
        """Read some whole lines."""
        refuse_zero_bytes(self._source, block, self._parser.line - 1)
        if not block.endswith(b"\n"):
            block += b"\n"  # the compiled loops rely on it
        text = np.frombuffer(block, np.uint8)
        at = self._parser.next_row(text)
        if self._rows is None and at < len(text):  # the first row decides the form of all
            self._rows = self._sparse_rows() if text[at] == ord("{") else self._dense_rows()
        ended = k.FULL
        while ended == k.FULL and self._rows is not None:
            ended, state = self._rows.parse(self._parser, text, at)
            at = state["at"]
            self._resolve(block, text, self._rows, state["n_events"])
            if ended < 0:
                self._refuse(ended, block, **state["fault"])
            self._rows.keep(state["n_rows"], state["n_present"], state["n_values"])
            if self._rows.n_implied > MOST_IMPLIED:
                raise self._source.error(
                    f"more than {MOST_IMPLIED} labels are present because sparse rows omit them "
                    "(the first value declared for them is 1). Declare them as {0,1}.",
                    line=self._parser.line,
                )

    def _sparse_rows(self) -> SparseRows:
        for attribute, texts in self._texts.items():
            if attribute not in self._noted:
                texts[""] = 0  # what a text is where it is omitted
        return SparseRows(self._shape, self._roles)

    def _dense_rows(self) -> DenseRows:
        return DenseRows(self._shape, as_sparse=self._header.notes.get("sparse", False))

    def finish(self) -> tuple[Any, sparse.csr_array, Array | None, dict[int, tuple[str, ...]]]:
        """Give features, labels, weights, and the texts of string attributes by attribute."""
        rows = self._dense_rows() if self._rows is None else self._rows
        X: Any = rows.features()
        if isinstance(rows, SparseRows):
            self._settle_omitted_texts(X)
        if not self._header.attributes and not self._header.notes.get("sparse", False):
            X = X.toarray() if sparse.issparse(X) else X  # rows without columns are always sparse
        texts = {attribute: tuple(found) for attribute, found in self._texts.items()}
        return X, rows.labels(), rows.weights(), texts

    def _settle_omitted_texts(self, X: sparse.csr_array) -> None:
        """Take back the empty text where no row omitted a text or had an empty one."""
        X.eliminate_zeros()
        counts = np.bincount(X.indices, minlength=X.shape[1])
        is_named = np.zeros(X.shape[1], bool)
        for attribute in self._texts.keys() - self._noted.keys():
            column = self._roles["column"][attribute]
            if counts[column] == X.shape[0]:
                is_named[column] = True
                del self._texts[attribute][""]
        if is_named.any():
            X.data[is_named[X.indices]] -= 1
            X.eliminate_zeros()

    def _resolve(
        self, block: bytes, text: Array, rows: DenseRows | SparseRows, n_events: int
    ) -> None:
        """Read what the compiled loops could not."""
        events = rows.events[:n_events]
        if not len(events):
            return
        of_row = events["attribute"] == k.WEIGHT
        if of_row.any():
            self._resolve_weights(events[of_row], block, rows)
            events = events[~of_row]
        is_long = events["how"] == k.LATER_LONG
        if is_long.any():
            self._resolve_numbers(events[is_long], text, rows)
            events = events[~is_long]
        self._put(rows, events, [self._read_text(block, *event) for event in events.tolist()])

    def _put(self, rows: DenseRows | SparseRows, events: Array, values: Any) -> None:
        columns = self._roles["column"][events["attribute"]]
        rows.put(events["place"], columns, np.array(values, np.float64))

    def _resolve_weights(self, events: Array, block: bytes, rows: DenseRows | SparseRows) -> None:
        for row, _, start, end, _, line, value in events.tolist():
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
            rows.row_weights[row] = weight
        rows.any_weight = True

    def _resolve_numbers(self, events: Array, text: Array, rows: DenseRows | SparseRows) -> None:
        values = exact_floats(text, events["start"], events["end"])
        infinite = np.isinf(values)
        if infinite.any():
            _, _, start, end, _, line, value = events[infinite][0].item()
            found = excerpt(text[start:end].tobytes().decode("ascii"))
            raise self._source.error(_TOO_LARGE.format(found), line=line, column=value)
        self._put(rows, events, values)

    def _read_text(self, block: bytes, *event: int) -> float:
        """Read one text, date, nominal value with escapes or number in words."""
        _, attribute, start, end, how, line, value = event
        try:
            text = block[start:end].decode(self._encoding)
        except UnicodeDecodeError as error:
            raise EncodingError(line) from error
        if how == k.LATER_ESCAPED:
            text = unescape(text)
        try:
            return self._readers[self._header.attributes[attribute].type.kind](attribute, text)
        except ValueError as error:
            raise self._source.error(str(error), line=line, column=value) from error

    def _text(self, attribute: int, text: str) -> int:
        texts = self._texts[attribute]
        return texts.setdefault(text, len(texts))

    def _number(self, attribute: int, text: str) -> float:
        """Read a number in quotes, or a word: infinity is let through, so that X survives."""
        kind, value = parse_float(text.encode())
        if kind == NO_NUMBER:
            declared = self._header.attributes[attribute]
            raise ValueError(explain(k.BAD_NUMBER, declared, 0, text, 0))
        if kind == LONG and math.isinf(value):
            raise ValueError(_TOO_LARGE.format(excerpt(text)))
        return value

    def _code(self, attribute: int, text: str) -> float:
        declared = self._header.attributes[attribute]
        if attribute not in self._known:
            categories = enumerate(declared.type.categories)
            self._known[attribute] = {value: code for code, value in categories}
        if text not in self._known[attribute]:
            raise ValueError(undeclared(declared, text))
        return self._known[attribute][text]

    def _date(self, attribute: int, text: str) -> float:
        known = self._known.setdefault(attribute, {})
        if text not in known:
            declared = self._header.attributes[attribute]
            try:
                known[text] = date_format(declared.type.date_format).parse(text)
            except ValueError as error:
                raise ValueError(
                    f"{excerpt(text)} is no date for {excerpt(declared.name)}: {error}."
                ) from error
        return known[text]

    def _refuse(
        self, fault: int, block: bytes, *, attribute: int, line: int, value: int, **place: int
    ) -> NoReturn:
        token = block[place["start"] : place["end"]].decode(self._encoding, "replace")
        attributes = self._header.attributes
        about_row = attribute < 0 or fault == k.OTHER_FORM
        declared = None if about_row else attributes[attribute]
        if declared is not None and fault == k.UNDECLARED:
            message = undeclared(declared, token)
        else:
            message = explain(fault, declared, value, token, len(attributes))
        raise self._source.error(message, line=line, column=value)


def _noted_texts(header: Header) -> dict[int, list[str]]:
    """Find the string attributes whose texts the notes list."""
    noted = header.notes.get("features", {})
    return {
        at: noted[attribute.name]["categories"]
        for at, attribute in enumerate(header.attributes)
        if attribute.type.kind == "string" and "categories" in noted.get(attribute.name, {})
    }


def _roles(source: Source, header: Header, labels: Sequence[int], lookup: Lookup) -> Array:
    """Tabulate what the compiled loops have to know of each attribute."""
    roles = np.zeros(len(header.attributes), k.ROLE)
    roles["kind"] = [_KINDS[attribute.type.kind] for attribute in header.attributes]
    roles["domain"] = lookup.domains
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
        roles[at] = (_LABEL_KINDS[kind], number, lookup.domains[at], omitted)
    return roles


class Lookup:
    """The nominal values of all attributes; attributes with the same values share a domain."""

    def __init__(self, attributes: Sequence[Attribute], encoding: str) -> None:
        known: dict[Type, int] = {}
        self.domains = [
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
