"""Reads the header of an ARFF file: relation, attributes and comments up to ``@data``."""

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
from scumble.data.formats.arff.notes import NOTES_PREFIX, parse_notes
from scumble.data.formats.arff.quoting import BLANKS, UnclosedQuoteError, scan, skip_blanks

_LINES = re.compile(rb"\r\n|\n|\r")
#: Begins with a line end and lists both cases: searching is 20 times as fast as with re.IGNORECASE.
_DATA = re.compile(
    rb"[\r\n][\t\x0b\x0c ]*@[Dd][Aa][Tt][Aa](?![^\x00-\x20%])[^\r\n]*(?:\r\n|\n|\r|\Z)"
)
#: The numeric types, with whether their values are whole numbers.
_NUMERIC_TYPES = {"numeric": False, "real": False, "integer": True}
#: What may follow a numeric type: a range (KEEL), an attribute weight (WEKA), a comment.
_AFTER_NUMERIC_TYPE = re.compile(
    r"[\0-\x20]*+(\[[^\[\]]*+\])?+[\0-\x20]*+(\{[^{}]*+\})?+[\0-\x20]*+(%.*)?", re.DOTALL
)
#: What may follow any other type: an attribute weight, a comment.
_AFTER_TYPE = re.compile(r"[\0-\x20]*+(\{[^{}]*+\})?+[\0-\x20]*+(%.*)?", re.DOTALL)
#: An attribute whose name is an unquoted word: nearly all are, and one pattern is fast.
_PLAIN_ATTRIBUTE = re.compile(
    r"@attribute[\x01-\x20]+([^\0-\x20'\"%{},][^\0-\x20{},]*)[\x01-\x20]*", re.IGNORECASE
)
_TYPE = re.compile("[A-Za-z]*")
_KEYWORD = re.compile(r"@[^\0-\x20%]*")


class EncodingError(Exception):
    """The file is not in the assumed encoding; the argument is the number of the line."""


@dataclass(frozen=True, slots=True)
class AttributeType:
    """The type of an attribute, as declared after its name; the fields are those of `Feature`.

    ``raw`` has an item for each nominal value: the text between its quotes if it has escapes, else
    None; it is empty if no value has escapes. The rows of a file usually spell values in the same
    way.
    """

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
    """The declarations above ``@data``."""

    relation: str = ""
    attributes: list[Attribute] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)
    inputs: list[str] | None = None  # the names in @inputs and @outputs (KEEL), if there are any
    outputs: list[str] | None = None
    n_lines: int = 0  # number of lines down to @data

    @property
    def names(self) -> list[str]:
        """Names of the attributes."""
        return [attribute.name for attribute in self.attributes]


def read_header(source: InputFile, blocks: Iterator[bytes], encoding: str) -> tuple[Header, bytes]:
    """Read a file up to the ``@data`` line; return the header, and the bytes of the block after it.

    Raise ReadError for a wrong declaration, and EncodingError if the encoding does not fit.
    """
    parser = _HeaderParser(source, encoding)
    for number, block in enumerate(blocks):
        check_no_nul_bytes(source, block, parser.header.n_lines)
        if number == 0:
            block = block.removeprefix(BOM_UTF8)
        match = _DATA.search(b"\n" + block)
        end = len(block) if match is None else match.end() - 1
        parser.feed(block[:end])
        if match is not None:
            return parser.finish(), block[end:]
    raise source.error(
        "the file ends without @data. Expected @relation, @attribute lines and then @data: is it "
        "an ARFF file, and is it complete?"
    )


def check_no_nul_bytes(source: InputFile, block: bytes, n_lines: int) -> None:
    """Raise ReadError if a block holds a NUL byte; ``n_lines`` lines come before the block."""
    position = block.find(0)
    if position >= 0:
        raise source.error(
            "the file holds a NUL byte. Expected text: if it was saved as UTF-16, save it as "
            "UTF-8; otherwise it is damaged.",
            line=n_lines + 1 + len(_LINES.findall(block, 0, position)),
        )


class _HeaderParser:
    """Parses the header of a file line by line; ``header`` holds the declarations so far."""

    def __init__(self, source: InputFile, encoding: str) -> None:
        """Begin with an empty header; ``source`` is the file, for error messages."""
        self.source = source
        self.encoding = encoding
        self.header = Header()
        self._has_relation = False
        self._type_of_text: dict[str, AttributeType] = {}  # many attributes have the same type
        self._line_of_name: dict[str, int] = {}

    def feed(self, block: bytes) -> None:
        """Parse a block of whole lines; raise ReadError or EncodingError if something is wrong."""
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
                    self._parse_declaration(line)
                except UnclosedQuoteError as error:
                    raise self._error(
                        f"the quote in {excerpt(str(error))} is not closed. Close it on its line."
                    ) from error
            elif line.startswith(NOTES_PREFIX):
                self.header.notes = parse_notes(line, self.source, self.header.n_lines)
            elif line and not line.startswith("%"):
                raise self._error(
                    f"found {excerpt(line)} before @data. Expected a line that begins with "
                    "@relation, @attribute, @data or %."
                )

    def finish(self) -> Header:
        """Return the header; raise ReadError if the relation or all attributes are missing."""
        if not self._has_relation:
            raise self._error("@data comes before @relation. Expected '@relation name' first.")
        if not self.header.attributes and not self.header.notes.get("unlabelled"):
            raise self._error("no @attribute comes before @data. Expected one for every column.")
        return self.header

    def _error(self, message: str) -> ReadError:
        """Return an error for the current line."""
        return self.source.error(message, line=self.header.n_lines)

    def _parse_declaration(self, line: str) -> None:
        """Parse a line that begins with @ and add what it declares to the header.

        Besides the declarations of ARFF, these are the inputs and outputs of KEEL; others raise an
        error.
        """
        plain_attribute = _PLAIN_ATTRIBUTE.match(line)
        if plain_attribute is not None and self._has_relation:
            self._add_attribute(plain_attribute[1], line[plain_attribute.end() :])
            return
        match = _KEYWORD.match(line)
        assert match is not None  # the line begins with @
        keyword = match[0].lower()
        text = line[match.end() :].lstrip(BLANKS)
        if keyword == "@attribute":
            self._parse_attribute(text)
        elif keyword == "@relation":
            self._parse_relation(text)
        elif keyword == "@data":
            if text and not text.startswith("%"):
                raise self._error(f"{excerpt(text)} follows @data. Expected the rows below it.")
        elif keyword in ("@inputs", "@input"):
            self.header.inputs = self._parse_names(text)
        elif keyword in ("@outputs", "@output"):
            self.header.outputs = self._parse_names(text)
        else:
            raise self._error(
                f"the declaration {excerpt(keyword)} is not known. Expected @relation, @attribute "
                "or @data."
            )

    def _parse_relation(self, text: str) -> None:
        """Set the relation to the name after ``@relation``."""
        if self._has_relation:
            raise self._error("a second @relation. Expected one in a file.")
        self._has_relation = True
        if text.startswith(("'", '"')):
            value = scan(text, 0)
            name = value.text
            remainder = text[value.end :].strip(BLANKS)
            if remainder and not remainder.startswith("%"):
                raise self._error(f"{excerpt(remainder)} follows the quoted name of the relation.")
        else:  # unquoted names with blanks are common: take the line up to a comment
            name = re.split(f"[{re.escape(BLANKS)}]%", " " + text)[0].strip(BLANKS)
        self.header.relation = name

    def _parse_attribute(self, text: str) -> None:
        """Add the attribute whose name and type stand after ``@attribute``."""
        if not self._has_relation:
            raise self._error("@attribute comes before @relation. Expected '@relation name' first.")
        name = scan(text, 0)
        if not name.text and not text.startswith(("'", '"')):
            raise self._error("@attribute without a name. Expected '@attribute name type'.")
        self._add_attribute(name.text, text[name.end :].strip(BLANKS))

    def _add_attribute(self, name: str, text: str) -> None:
        """Add an attribute to the header; ``text`` is its type as written in the file.

        Raise ReadError if another attribute has the name.
        """
        line = self.header.n_lines
        first = self._line_of_name.setdefault(name, line)
        if first != line:
            raise self._error(
                f"the attribute {excerpt(name)} is declared twice, first in line {first}. Names "
                "must be unique: rename one of them."
            )
        if text not in self._type_of_text:
            self._type_of_text[text] = self._parse_type(name, text)
        self.header.attributes.append(Attribute(name, self._type_of_text[text], line))

    def _parse_type(self, name: str, text: str) -> AttributeType:
        """Return the type of the attribute ``name`` that a text declares."""
        if text.startswith("{"):
            return self._parse_nominal(name, text)
        word = _TYPE.match(text)
        assert word is not None  # the pattern fits the empty word
        keyword = word[0].lower()
        remainder = text[word.end() :]
        if keyword in _NUMERIC_TYPES:
            self._check_remainder(name, remainder, _AFTER_NUMERIC_TYPE)
            return AttributeType("numeric", integer=_NUMERIC_TYPES[keyword])
        if keyword == "string":
            self._check_remainder(name, remainder)
            return AttributeType("string")
        if keyword == "date":
            return self._parse_date(name, remainder)
        if keyword == "relational":
            raise self._error(
                f"the attribute {excerpt(name)} is relational (rows within rows), which has no "
                "place in a table. Flatten the data first, for instance in WEKA."
            )
        description = f"the type {excerpt(text)}" if text else "no type"
        raise self._error(
            f"the attribute {excerpt(name)} has {description}. Expected numeric, real, integer, "
            "string, date or {value, value, ...}."
        )

    def _parse_date(self, name: str, remainder: str) -> AttributeType:
        """Return the type of a date attribute.

        ``remainder``, the text after "date", may begin with a pattern. Raise ReadError for a
        pattern that is not supported.
        """
        remainder = remainder.lstrip(BLANKS)
        pattern = None
        end = 0
        if remainder and remainder[0] not in "%{":
            value = scan(remainder, 0)
            pattern, end = value.text, value.end
        self._check_remainder(name, remainder[end:])
        try:
            date_format(pattern)
        except ValueError as error:
            raise self._error(
                f"the date pattern {excerpt(pattern or '')} of the attribute {excerpt(name)} "
                f"cannot be used: {error}. Expected one such as yyyy-MM-dd HH:mm:ss."
            ) from error
        return AttributeType("date", date_format=pattern)

    def _parse_nominal(self, name: str, text: str) -> AttributeType:
        """Return the type of a nominal attribute; ``text`` lists its values in braces."""
        categories: list[str] = []
        raw: list[str | None] = []
        position = skip_blanks(text, 1)
        while text[position : position + 1] != "}":
            value = scan(text, position)
            if value.end == position:
                has_comma = text[position : position + 1] == ","
                problem = "an empty value" if has_comma else "no closing brace"
                raise self._error(
                    f"the values of the attribute {excerpt(name)} have {problem}. Expected "
                    "{value, value, ...} on one line."
                )
            categories.append(value.text)
            raw.append(value.raw)
            position = skip_blanks(text, value.end)
            if text[position : position + 1] == ",":
                position = skip_blanks(text, position + 1)
        self._check_remainder(name, text[position + 1 :])
        if len(set(categories)) < len(categories):
            duplicate = excerpt(first_duplicate(categories))
            raise self._error(
                f"the attribute {excerpt(name)} declares the value {duplicate} twice."
            )
        return AttributeType("nominal", tuple(categories), raw=tuple(raw) if any(raw) else ())

    def _parse_names(self, text: str) -> list[str]:
        """Return the names, separated by commas, after ``@inputs`` or ``@outputs``."""
        if not re.search("['\"%{}]", text):  # one pattern is fast, and nearly always enough
            return re.findall(r"[^\0-\x20,]+", text)
        names: list[str] = []
        position = skip_blanks(text, 0, commas=True)
        while position < len(text) and text[position] != "%":
            name = scan(text, position)
            if name.end == position:
                raise self._error(
                    f"{excerpt(text[position:])} is not a name. Expected names with commas."
                )
            names.append(name.text)
            position = skip_blanks(text, name.end, commas=True)
        return names

    def _check_remainder(
        self, name: str, remainder: str, allowed: re.Pattern[str] = _AFTER_TYPE
    ) -> None:
        """Raise ReadError unless the text after a type matches the pattern ``allowed``.

        By default this allows an attribute weight, a comment, or nothing. ``name`` is that of the
        attribute, ``remainder`` the text.
        """
        if not allowed.fullmatch(remainder):
            raise self._error(
                f"{excerpt(remainder.strip(BLANKS))} follows the type of the attribute "
                f"{excerpt(name)}. Expected the end of the line. A name with blanks needs quotes."
            )
