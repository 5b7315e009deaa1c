"""Reads an ARFF file: header, rows, and notes (see `scumble.data.formats.arff.notes`)."""

import itertools
import re
import warnings
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple, cast

from scumble._core.errors import DataError, ParameterError, ScumbleWarning
from scumble._core.files import InputFile
from scumble.data.dataset import Feature, MultilabelDataset
from scumble.data.formats.arff.body import Body, BodyReader
from scumble.data.formats.arff.header import Attribute, EncodingError, Header, read_header
from scumble.data.formats.base import LabelChoice
from scumble.data.formats.label_choice import FileColumns, LabelColumns

#: Bytes that are read at once: half a megabyte, so that little memory is needed beyond the result.
BLOCK_BYTES = 1 << 19

#: The beginning of an ARFF file, with comments, up to the name of the relation.
_RELATION = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[\x01-\x20]++|%[^\r\n]*+)*+@relation(?![^\x01-\x20'\"%])([^\r\n]*)",
    re.IGNORECASE,
)


class _ParsedFile(NamedTuple):
    """The parts of an ARFF file, and the columns that are labels."""

    header: Header
    labels: LabelColumns
    body: Body


def read_arff(
    source: InputFile,
    declared_labels: Callable[[Header, FileColumns], LabelColumns],
    *,
    labels: LabelChoice,
    encoding: str | None,
    null_is_missing: bool = False,
    name_from_relation: Callable[[str], str] = str,
) -> MultilabelDataset:
    """Read an ARFF file of any format; these differ in how they declare which columns are labels.

    Parameters
    ----------
    source : InputFile
        The file.
    declared_labels : callable
        Takes the header and the columns; returns the labels that the format declares. It is called
        if ``labels`` is None.
    labels : sequence, int, str or Path, optional
        Columns that are labels, see `scumble.read`; None: those that the format declares.
    encoding : str or None
        Encoding of the file. If it is None, a file that is not UTF-8 is read as Latin-1, with a
        warning.
    null_is_missing : bool
        Whether the word ``<null>`` is a missing value.
    name_from_relation : callable
        Takes the name of the relation; returns the name of the data set, unless the notes hold it.
    """

    def resolve_labels(header: Header) -> LabelColumns:
        """Return the label columns, by the option ``labels`` or as the format declares."""
        columns = FileColumns(source, header.names, header.notes.get("unlabelled", False))
        if labels is None:
            return declared_labels(header, columns)
        return columns.resolve_labels(labels)

    first_encoding = _check_encoding(encoding)
    parsed = None
    try:
        parsed = _parse_file(source, resolve_labels, first_encoding, null_is_missing)
    except EncodingError as error:
        line = error.args[0]
        if encoding is not None:
            message = f"the text cannot be read as {encoding}. Name the right encoding=..."
            raise source.error(message, line=line) from error
    if parsed is None:
        parsed = _parse_file(source, resolve_labels, "latin-1", null_is_missing)
        warnings.warn(
            f"{source.display_name}, line {line}: the file is not UTF-8 and was read as Latin-1. "
            "If names look wrong, name the right encoding=...",
            ScumbleWarning,
            stacklevel=4,
        )
    return _make_dataset(source, parsed, name_from_relation)


def _parse_file(
    source: InputFile,
    resolve_labels: Callable[[Header], LabelColumns],
    encoding: str,
    null_is_missing: bool,
) -> _ParsedFile:
    """Parse a file in one pass; raise EncodingError if it is not in the encoding."""
    # A fault leaves the file half read: close it now, not when the traceback is released.
    with closing(cast(Generator[bytes, None, None], source.blocks(BLOCK_BYTES))) as blocks:
        header, unread = read_header(source, blocks, encoding)
        labels = resolve_labels(header)
        reader = BodyReader(source, header, labels.columns, encoding, null_is_missing)
        for block in itertools.chain([unread] if unread else [], blocks):
            reader.feed(block)
    return _ParsedFile(header, labels, reader.finish())


def _make_dataset(
    source: InputFile, parsed: _ParsedFile, name_from_relation: Callable[[str], str]
) -> MultilabelDataset:
    """Return the data set of a parsed file; notes take precedence over declarations."""
    header, labels, body = parsed
    notes, attributes = header.notes, header.attributes
    original_names = notes.get("labels", {})
    label_names = [attributes[index].name for index in labels.columns]
    noted_features = notes.get("features", {})
    is_label = set(labels.columns)
    try:
        features = [
            _make_feature(attribute, body.texts.get(index), noted_features.get(attribute.name))
            for index, attribute in enumerate(attributes)
            if index not in is_label
        ]
        return MultilabelDataset(
            body.X,
            body.Y,
            features=features,
            labels=[original_names.get(name, name) for name in label_names],
            name=notes.get("name", name_from_relation(header.relation)),
            weights=notes.get("weights", body.weights),
            label_parents=notes.get("parents", labels.parents),
        )
    except DataError as error:
        raise source.error(str(error)) from error


def _make_feature(
    attribute: Attribute, texts: tuple[str, ...] | None, note: dict[str, Any] | None
) -> Feature:
    """Return the feature of an attribute.

    ``texts`` are the texts of a string attribute, None for other types. ``note`` holds fields of
    `Feature` that differ from the declaration, None if there are none. Raise DataError if the note
    contradicts the declaration.
    """
    attribute_type = attribute.type
    feature = Feature(
        attribute.name,
        attribute_type.kind,
        attribute_type.categories if texts is None else texts,
        attribute_type.integer,
        attribute_type.date_format,
    )
    if note is None:
        return feature
    kind = note.get("kind", attribute_type.kind)
    if kind not in _ALLOWED_KINDS.get(attribute_type.kind, (attribute_type.kind,)):
        raise DataError(f"The feature {attribute.name!r} cannot be of kind {kind!r}.")
    changes = {key: note[key] for key in ("kind", "integer", "date_format") if key in note}
    return replace(feature, **changes)


#: The kinds that a note may give to a feature, by its declared kind.
_ALLOWED_KINDS = {
    "nominal": ("nominal", "string", "text"),
    "string": ("string", "text"),
    "numeric": ("numeric", "date"),
}


def _check_encoding(encoding: str | None) -> str:
    """Return the encoding to try first: the specified one, or UTF-8 for None.

    Raise ParameterError for an unknown encoding, and for one that does not contain ASCII.
    """
    if encoding is None:
        return "utf-8"
    characters = " ,{}'\"\\%?@09az\n"
    try:
        contains_ascii = characters.encode(encoding) == characters.encode("ascii")
    except LookupError:
        contains_ascii = False
    if not contains_ascii:
        raise ParameterError(
            f"The 'encoding' parameter is {encoding!r}. Expected the name of an encoding that "
            "contains ASCII, such as utf-8, latin-1 or cp1252."
        )
    return encoding


def sniff_relation(head: bytes) -> str | None:
    """Return the text after ``@relation`` in the first bytes of a file; None if it is not ARFF."""
    match = _RELATION.match(head)
    return None if match is None else match[1].decode("latin-1")
