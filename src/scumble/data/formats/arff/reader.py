"""An ARFF file as a whole: header, rows, and what the notes add."""

import itertools
import re
import warnings
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from typing import Any, cast

from scumble._core.errors import DataError, ParameterError, ScumbleWarning
from scumble._core.files import InputFile
from scumble.data.dataset import Feature, MultilabelDataset
from scumble.data.formats.arff.body import BodyReader
from scumble.data.formats.arff.header import Attribute, EncodingError, Header, read_header
from scumble.data.formats.base import LabelChoice
from scumble.data.formats.label_choice import FileColumns, LabelColumns

#: About how many bytes are read at once. Small, because memory beyond the result is a cost.
BLOCK = 1 << 19

_SNIFF = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[\x01-\x20]++|%[^\r\n]*+)*+@relation(?![^\x01-\x20'\"%])([^\r\n]*)",
    re.IGNORECASE,
)


def read_arff(
    source: InputFile,
    declared: Callable[[Header, FileColumns], LabelColumns],
    *,
    labels: LabelChoice,
    encoding: str | None,
    null_is_missing: bool = False,
    name_from_relation: Callable[[str], str] = str,
) -> MultilabelDataset:
    """Read a file of the ARFF family; it declares its labels itself, unless ``labels`` does.

    The data set's name is what the notes say, or else ``name_of`` the relation.
    """

    def choose(header: Header) -> LabelColumns:
        columns = FileColumns(source, header.names, header.notes.get("unlabelled", False))
        return declared(header, columns) if labels is None else columns.resolve_labels(labels)

    try:
        return _dataset(
            source,
            name_from_relation,
            *_read(source, choose, _check_encoding(encoding), null_is_missing),
        )
    except EncodingError as error:
        line = error.args[0]
        if encoding is not None:
            message = f"the text cannot be read as {encoding}. Name the right encoding=..."
            raise source.error(message, line=line) from error
    parts = _read(source, choose, "latin-1", null_is_missing)
    warnings.warn(
        f"{source.where}, line {line}: the file is not UTF-8 and was read as Latin-1. If names "
        "look wrong, name the right encoding=...",
        ScumbleWarning,
        stacklevel=4,
    )
    return _dataset(source, name_from_relation, *parts)


def _read(
    source: InputFile,
    resolve_labels: Callable[[Header], LabelColumns],
    encoding: str,
    null_is_missing: bool,
) -> tuple[Header, LabelColumns, BodyReader]:
    # A fault leaves the file half read: close it now, not when the traceback is forgotten.
    with closing(cast(Generator[bytes, None, None], source.blocks(BLOCK))) as blocks:
        header, rest = read_header(source, blocks, encoding)
        chosen = resolve_labels(header)
        body = BodyReader(source, header, chosen.columns, encoding, null_is_missing)
        for block in itertools.chain([rest] if rest else [], blocks):
            body.feed(block)
    return header, chosen, body


def _dataset(
    source: InputFile,
    name_from_relation: Callable[[str], str],
    header: Header,
    chosen: LabelColumns,
    body: BodyReader,
) -> MultilabelDataset:
    X, Y, weights, texts = body.finish()
    notes, attributes = header.notes, header.attributes
    renamed = notes.get("labels", {})
    names = [attributes[at].name for at in chosen.columns]
    labels = set(chosen.columns)
    inputs = [at for at in range(len(attributes)) if at not in labels]
    noted = notes.get("features", {})
    try:
        return MultilabelDataset(
            X,
            Y,
            features=[_feature(attributes[at], texts.get(at), noted) for at in inputs],
            labels=[renamed.get(name, name) for name in names],
            name=notes.get("name", name_from_relation(header.relation)),
            weights=notes.get("weights", weights),
            label_parents=notes.get("parents", chosen.parents),
        )
    except DataError as error:
        raise source.error(str(error)) from error


def _feature(attribute: Attribute, texts: tuple[str, ...] | None, noted: dict[str, Any]) -> Feature:
    """Say what an attribute is; notes correct what a declaration could not say."""
    name, kind = attribute.name, attribute.type
    categories = kind.categories if texts is None else texts
    feature = Feature(name, kind.kind, categories, kind.integer, kind.date_format)
    if name not in noted:
        return feature
    fields = noted[name]
    if fields.get("kind", kind.kind) not in _MEANT.get(kind.kind, (kind.kind,)):
        raise DataError(f"The feature {name!r} cannot be of kind {fields['kind']!r}.")
    changes = {key: fields[key] for key in ("kind", "integer", "date_format") if key in fields}
    return replace(feature, **changes)


#: What a column may be in truth, by what its declaration says.
_MEANT = {
    "nominal": ("nominal", "string", "text"),
    "string": ("string", "text"),
    "numeric": ("numeric", "date"),
}


def _check_encoding(encoding: str | None) -> str:
    if encoding is None:
        return "utf-8"
    signs = " ,{}'\"\\%?@09az\n"
    try:
        fits = signs.encode(encoding) == signs.encode("ascii")
    except LookupError:
        fits = False
    if not fits:
        raise ParameterError(
            f"The 'encoding' parameter is {encoding!r}. Expected the name of an encoding that "
            "contains ASCII, such as utf-8, latin-1 or cp1252."
        )
    return encoding


def sniff_relation(head: bytes) -> str | None:
    """Look for an ARFF header."""
    match = _SNIFF.match(head)
    return None if match is None else match[1].decode("latin-1")
