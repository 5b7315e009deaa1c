"""The rows of an ARFF file, read by compiled loops block by block."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, dense
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
from scumble.data.formats.arff.rows import Rows, explain
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
            X = dense(X)  # rows without columns are always sparse
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
        known = self._known[attribute]
        if text in known:
            return known[text]
        declared = self._header.attributes[attribute]
        if declared.type.kind == "string":
            return known.setdefault(text, len(known))
        try:
            if declared.type.kind == "numeric":
                return _number(declared, text)
            known[text] = _date_or_code(declared, text)
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


def _date_or_code(declared: Attribute, text: str) -> float:
    """Read a date, or a nominal value that is not spelled as it was declared."""
    kind = declared.type
    if kind.kind == "nominal":
        if text not in kind.categories:
            raise ValueError(explain(k.UNDECLARED, declared, 0, text, 0))
        return kind.categories.index(text)
    try:
        return date_format(kind.date_format).parse(text)
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
