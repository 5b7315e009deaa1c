"""The head of an ARFF file: relation, attributes, comments, up to ``@data``."""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from scumble._core.errors import ReadError
from scumble._core.files import InputFile
from scumble._core.text import excerpt
from scumble.data.feature import FeatureKind, first_duplicate
from scumble.data.formats.arff.dates import date_format
from scumble.data.formats.arff.notes import NOTE, parse_notes
from scumble.data.formats.arff.quoting import BLANKS, UnclosedQuoteError, scan, skip_blanks

_LINES = re.compile(rb"\r\n|\n|\r")
#: Begins with a line end and names both cases, because the search for it is 20 times as fast then.
_DATA = re.compile(
    rb"[\r\n][\t\x0b\x0c ]*@[Dd][Aa][Tt][Aa](?![^\x00-\x20%])[^\r\n]*(?:\r\n|\n|\r|\Z)"
)
_NUMBERS = {"numeric": False, "real": False, "integer": True}
#: What may follow a numeric type: a range (KEEL), an attribute weight (WEKA), a comment.
_AFTER_NUMBER = re.compile(
    r"[\0-\x20]*+(\[[^\[\]]*+\])?+[\0-\x20]*+(\{[^{}]*+\})?+[\0-\x20]*+(%.*)?", re.DOTALL
)
_AFTER = re.compile(r"[\0-\x20]*+(\{[^{}]*+\})?+[\0-\x20]*+(%.*)?", re.DOTALL)
#: The usual case in one go: an attribute whose name is a word.
_PLAIN_ATTRIBUTE = re.compile(
    r"@attribute[\x01-\x20]+([^\0-\x20'\"%{},][^\0-\x20{},]*)[\x01-\x20]*", re.IGNORECASE
)
_TYPE = re.compile("[A-Za-z]*")
_KEYWORD = re.compile(r"@[^\0-\x20%]*")


class EncodingError(Exception):
    """The file holds bytes that its supposed encoding does not know."""


@dataclass(frozen=True, slots=True)
class AttributeType:
    """What follows the name of an attribute."""

    # `raw` holds, for nominal values written with escapes, what stands between their quotes: a file
    # usually spells them the same way in its rows.

    kind: FeatureKind
    categories: tuple[str, ...] = ()
    integer: bool = False
    date_format: str | None = None
    raw: tuple[str | None, ...] = ()


@dataclass(slots=True)
class Attribute:
    """One ``@attribute`` declaration."""

    name: str
    type: AttributeType
    line: int


@dataclass(slots=True)
class Header:
    """Everything above ``@data``."""

    relation: str = ""
    attributes: list[Attribute] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)
    inputs: list[str] | None = None
    outputs: list[str] | None = None
    n_lines: int = 0

    @property
    def names(self) -> list[str]:
        """Names of the attributes."""
        return [attribute.name for attribute in self.attributes]


def read_header(source: InputFile, blocks: Iterator[bytes], encoding: str) -> tuple[Header, bytes]:
    """Read up to and with the ``@data`` line."""
    parser = _HeaderParser(source, encoding)
    for number, block in enumerate(blocks):
        refuse_zero_bytes(source, block, parser.header.n_lines)
        if number == 0:
            block = block.removeprefix(BOM_UTF8)
        data = _DATA.search(b"\n" + block)
        stop = len(block) if data is None else data.end() - 1
        parser.feed(block[:stop])
        if data is not None:
            return parser.finish(), block[stop:]
    raise source.error(
        "the file ends without @data. Expected @relation, @attribute lines and then @data: is it "
        "an ARFF file, and is it complete?"
    )


def refuse_zero_bytes(source: InputFile, block: bytes, n_lines: int) -> None:
    """Refuse a block that holds a NUL byte."""
    at = block.find(0)
    if at >= 0:
        raise source.error(
            "the file holds a NUL byte. Expected text: if it was saved as UTF-16, save it as "
            "UTF-8; otherwise it is damaged.",
            line=n_lines + 1 + len(_LINES.findall(block, 0, at)),
        )


class _HeaderParser:
    """Takes the head of a file line by line."""

    def __init__(self, source: InputFile, encoding: str) -> None:
        self.source, self.encoding = source, encoding
        self.header, self._has_relation = Header(), False
        self._types: dict[str, AttributeType] = {}
        self._lines: dict[str, int] = {}

    def feed(self, block: bytes) -> None:
        try:
            text = block.decode(self.encoding)
        except UnicodeDecodeError as error:
            n_before = len(_LINES.findall(block, 0, error.start))
            raise EncodingError(self.header.n_lines + 1 + n_before) from error
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if not lines[-1]:
            lines.pop()  # the block ended with a line end
        for line in lines:
            self.header.n_lines += 1
            line = line.strip(BLANKS)
            if line.startswith("@"):
                try:
                    self._declare(line)
                except UnclosedQuoteError as error:
                    found = f"the quote in {excerpt(str(error))} is not closed"
                    raise self._error(f"{found}. Close it on its line.") from error
            elif line.startswith(NOTE):
                self.header.notes = parse_notes(line, self.source, self.header.n_lines)
            elif line and not line.startswith("%"):
                raise self._error(
                    f"found {excerpt(line)} before @data. Expected a line that begins with "
                    "@relation, @attribute, @data or %."
                )

    def finish(self) -> Header:
        if not self._has_relation:
            raise self._error("@data comes before @relation. Expected '@relation name' first.")
        if not self.header.attributes and not self.header.notes.get("unlabelled"):
            raise self._error("no @attribute comes before @data. Expected one for every column.")
        return self.header

    def _error(self, message: str) -> ReadError:
        return self.source.error(message, line=self.header.n_lines)

    def _declare(self, text: str) -> None:
        plain = _PLAIN_ATTRIBUTE.match(text)
        if plain is not None and self._has_relation:
            self._add(plain[1], text[plain.end() :])
            return
        match = _KEYWORD.match(text)
        assert match is not None  # the text begins with @
        keyword, rest = match[0].lower(), text[match.end() :].lstrip(BLANKS)
        if keyword == "@attribute":
            self._attribute(rest)
        elif keyword == "@relation":
            self._relation(rest)
        elif keyword == "@data":
            if rest and not rest.startswith("%"):
                raise self._error(f"{excerpt(rest)} follows @data. Expected the rows below it.")
        elif keyword in ("@inputs", "@input"):
            self.header.inputs = self._names(rest)
        elif keyword in ("@outputs", "@output"):
            self.header.outputs = self._names(rest)
        else:
            raise self._error(
                f"the declaration {excerpt(keyword)} is not known. Expected @relation, @attribute "
                "or @data."
            )

    def _relation(self, rest: str) -> None:
        if self._has_relation:
            raise self._error("a second @relation. Expected one in a file.")
        self._has_relation = True
        if rest.startswith(("'", '"')):
            name, _, end = scan(rest, 0)
            after = rest[end:].strip(BLANKS)
            if after and not after.startswith("%"):
                raise self._error(f"{excerpt(after)} follows the quoted name of the relation.")
        else:  # unquoted names with blanks are common: take the line
            name = re.split(f"[{re.escape(BLANKS)}]%", " " + rest)[0].strip(BLANKS)
        self.header.relation = name

    def _attribute(self, rest: str) -> None:
        if not self._has_relation:
            raise self._error("@attribute comes before @relation. Expected '@relation name' first.")
        name, _, end = scan(rest, 0)
        if not name and not rest.startswith(("'", '"')):
            raise self._error("@attribute without a name. Expected '@attribute name type'.")
        self._add(name, rest[end:].strip(BLANKS))

    def _add(self, name: str, text: str) -> None:
        """Declare an attribute by its name and what follows."""
        line = self.header.n_lines
        first = self._lines.setdefault(name, line)
        if first != line:
            raise self._error(
                f"the attribute {excerpt(name)} is declared twice, first in line {first}. Names "
                "must be unique: rename one of them."
            )
        if text not in self._types:
            self._types[text] = self._type(name, text)
        self.header.attributes.append(Attribute(name, self._types[text], line))

    def _type(self, name: str, text: str) -> AttributeType:
        if text.startswith("{"):
            return self._nominal(name, text)
        word = _TYPE.match(text)
        assert word is not None  # the pattern fits the empty word
        kind, after = word[0].lower(), text[word.end() :]
        if kind in _NUMBERS:
            self._check_after(name, after, _AFTER_NUMBER)
            return AttributeType("numeric", integer=_NUMBERS[kind])
        if kind == "string":
            self._check_after(name, after)
            return AttributeType("string")
        if kind == "date":
            return self._date(name, after)
        if kind == "relational":
            raise self._error(
                f"the attribute {excerpt(name)} is relational (rows within rows), which has no "
                "place in a table. Flatten the data first, for instance in WEKA."
            )
        found = f"the type {excerpt(text)}" if text else "no type"
        raise self._error(
            f"the attribute {excerpt(name)} has {found}. Expected numeric, real, integer, "
            "string, date or {value, value, ...}."
        )

    def _date(self, name: str, after: str) -> AttributeType:
        after = after.lstrip(BLANKS)
        pattern, end = None, 0
        if after and after[0] not in "%{":
            pattern, _, end = scan(after, 0)
        self._check_after(name, after[end:])
        try:
            date_format(pattern)
        except ValueError as error:
            raise self._error(
                f"the date pattern {excerpt(pattern or '')} of the attribute {excerpt(name)} "
                f"cannot be used: {error}. Expected one such as yyyy-MM-dd HH:mm:ss."
            ) from error
        return AttributeType("date", date_format=pattern)

    def _nominal(self, name: str, text: str) -> AttributeType:
        values: list[str] = []
        raw: list[str | None] = []
        at = skip_blanks(text, 1)
        while text[at : at + 1] != "}":
            start = at
            value, escaped, at = scan(text, at)
            if at == start:
                found = "an empty value" if text[at : at + 1] == "," else "no closing brace"
                raise self._error(
                    f"the values of the attribute {excerpt(name)} have {found}. Expected "
                    "{value, value, ...} on one line."
                )
            values.append(value)
            raw.append(escaped)
            at = skip_blanks(text, at)
            if text[at : at + 1] == ",":
                at = skip_blanks(text, at + 1)
        self._check_after(name, text[at + 1 :])
        if len(set(values)) < len(values):
            twice = excerpt(first_duplicate(values))
            raise self._error(f"the attribute {excerpt(name)} declares the value {twice} twice.")
        return AttributeType("nominal", tuple(values), raw=tuple(raw) if any(raw) else ())

    def _names(self, rest: str) -> list[str]:
        if not re.search("['\"%{}]", rest):  # the usual case in one go
            return re.findall(r"[^\0-\x20,]+", rest)
        names: list[str] = []
        at = skip_blanks(rest, 0, commas=True)
        while at < len(rest) and rest[at] != "%":
            name, _, end = scan(rest, at)
            if end == at:
                raise self._error(f"{excerpt(rest[at:])} is no name. Expected names with commas.")
            names.append(name)
            at = skip_blanks(rest, end, commas=True)
        return names

    def _check_after(self, name: str, after: str, allowed: re.Pattern[str] = _AFTER) -> None:
        if not allowed.fullmatch(after):
            raise self._error(
                f"{excerpt(after.strip(BLANKS))} follows the type of the attribute "
                f"{excerpt(name)}. Expected the end of the line. A name with blanks needs quotes."
            )
