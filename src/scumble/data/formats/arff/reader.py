"""An ARFF file as a whole: header, rows, and what the notes add."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, cast

from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterError, ScumbleWarning
from scumble._core.files import Source
from scumble.data.dataset import Feature, MultilabelDataset
from scumble.data.formats.arff.body import BodyReader
from scumble.data.formats.arff.header import EncodingError, Header, read_header
from scumble.data.formats.base import LabelChoice
from scumble.data.formats.label_choice import Chosen, choose_labels

#: About how many bytes are read at once. Small, because memory beyond the result is a cost.
BLOCK = 1 << 19

_SNIFF = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[\x01-\x20]++|%[^\r\n]*+)*+@relation(?![^\x01-\x20'\"%])([^\r\n]*)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ArffFile:
    """What an ARFF file holds."""

    source: Source
    header: Header
    chosen: Chosen
    X: Any
    Y: sparse.csr_array
    weights: Array | None
    texts: dict[int, tuple[str, ...]]  # of string attributes

    def to_dataset(self, name: str) -> MultilabelDataset:
        """Make the data set; its name is what the notes say, or else the given one."""
        notes = self.header.notes
        try:
            return MultilabelDataset(
                self.X,
                self.Y,
                features=self._features(),
                labels=self._labels(),
                name=notes.get("name", name),
                weights=notes.get("weights", self.weights),
                label_parents=notes.get("parents", self.chosen.parents),
            )
        except DataError as error:
            raise self.source.error(str(error)) from error

    def _features(self) -> tuple[Feature, ...]:
        noted = self.header.notes.get("features", {})
        labels = set(self.chosen.columns)
        features = []
        for at, attribute in enumerate(self.header.attributes):
            if at in labels:
                continue
            kind = attribute.type
            categories = self.texts[at] if kind.kind == "string" else kind.categories
            feature = Feature(attribute.name, kind.kind, categories, kind.integer, kind.date_format)
            if attribute.name in noted:
                feature = _with_notes(feature, noted[attribute.name])
            features.append(feature)
        return tuple(features)

    def _labels(self) -> tuple[str, ...]:
        renamed: dict[str, str] = self.header.notes.get("labels", {})
        names = [self.header.attributes[at].name for at in self.chosen.columns]
        return tuple(renamed.get(name, name) for name in names)


def _with_notes(feature: Feature, fields: dict[str, Any]) -> Feature:
    """Correct what a declaration could not say."""
    if fields.get("kind", feature.kind) not in _MEANT.get(feature.kind, (feature.kind,)):
        raise DataError(f"The feature {feature.name!r} cannot be of kind {fields['kind']!r}.")
    changes = {key: fields[key] for key in ("kind", "integer", "date_format") if key in fields}
    return replace(feature, **changes)


#: What a column may be in truth, by what its declaration says.
_MEANT = {
    "nominal": ("nominal", "string", "text"),
    "string": ("string", "text"),
    "numeric": ("numeric", "date"),
}


def read_arff(
    source: Source,
    declared: Callable[[Header], Chosen],
    *,
    labels: LabelChoice,
    encoding: str | None,
    nulls: bool = False,
) -> ArffFile:
    """Read a file of the ARFF family; it declares its labels itself, unless ``labels`` does."""

    def choose(header: Header) -> Chosen:
        if labels is None:
            return declared(header)
        unlabelled = header.notes.get("unlabelled", False)
        return choose_labels(source, header.names, labels, unlabelled=unlabelled)

    try:
        return _read(source, choose, _check_encoding(encoding), nulls)
    except EncodingError as error:
        if encoding is not None:
            raise source.error(
                f"the text cannot be read as {encoding}. Name the right encoding=...",
                line=error.args[0],
            ) from error
        line = error.args[0]
    file = _read(source, choose, "latin-1", nulls)
    warnings.warn(
        f"{source.where}, line {line}: the file is not UTF-8 and was read as Latin-1. If names "
        "look wrong, name the right encoding=...",
        ScumbleWarning,
        stacklevel=4,
    )
    return file


def _read(
    source: Source, choose: Callable[[Header], Chosen], encoding: str, nulls: bool
) -> ArffFile:
    # A fault leaves the file half read: close it now, not when the traceback is forgotten.
    with closing(cast(Generator[bytes, None, None], source.blocks(BLOCK))) as blocks:
        header, rest = read_header(source, blocks, encoding)
        chosen = choose(header)
        body = BodyReader(source, header, chosen.columns, encoding, nulls)
        for block in itertools.chain([rest] if rest else [], blocks):
            body.feed(block)
    return ArffFile(source, header, chosen, *body.finish())


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
