"""Reads and writes the XML file of a MULAN data set, which names the labels and their hierarchy."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scumble._core.errors import ReadError
from scumble._core.files import InputFile
from scumble.data.input_files import TRAIN_TEST_SUFFIX, ArchiveMember

NAMESPACE = "http://mulan.sourceforge.net/labels"
#: A character that XML does not allow. Compiled on first use, because that takes 6 ms.
_ILLEGAL = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_TO_ESCAPE = re.compile(r"[&<>\"\t\n\r\x7f-\x9f\u2028]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


class MissingXmlError(ReadError):
    """Neither an ARFF file nor an XML file beside it says which attributes are labels."""


@dataclass(frozen=True)
class LabelHierarchy:
    """The name of the parent of each label by name, None at the top; messages use ``where``."""

    parents: dict[str, str | None]
    where: str


def find_label_xml(source: InputFile) -> tuple[ArchiveMember | Path | None, bool]:
    """Return the XML file that belongs to an ARFF file, and whether its name says so."""
    stems = (source.stem, TRAIN_TEST_SUFFIX.sub("", source.stem))
    if isinstance(source, ArchiveMember):
        members = {
            member.name: member for member in source.other_members() if member.suffix == ".xml"
        }
        for stem in stems:
            if f"{stem}.xml" in members:
                return members[f"{stem}.xml"], True
        if len(members) == 1:
            return (next(iter(members.values())), False)
        return (None, False)
    folder = source.path.parent
    try:
        for stem in stems:
            path = folder / f"{stem}.xml"
            if path.is_file():
                return path, True
        paths = [path for path in folder.iterdir() if path.suffix.lower() == ".xml"]
    except OSError:  # a folder that may not be listed, a name too long
        return None, False
    return (paths[0], False) if len(paths) == 1 else (None, False)


def read_label_xml(file: InputFile | Path | str) -> LabelHierarchy:
    """Return the labels in an XML file, with their parents."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    source = file if isinstance(file, InputFile) else InputFile(file)
    with source.open(progress=False) as stream:
        text = stream.read()
    try:
        root = fromstring(text, forbid_dtd=True)
    except ParseError as error:
        line = getattr(error, "position", (None,))[0]
        raise source.error(
            f"the XML is damaged ({error}). Expected MULAN labels.", line=line
        ) from None
    except DefusedXmlException as error:
        raise source.error(
            "the XML declares a document type or entities, which labels never need and attacks "
            "do. Remove the declaration."
        ) from error
    except (ValueError, LookupError) as error:  # an unknown encoding
        raise source.error(f"the XML cannot be read ({error}).") from error
    return LabelHierarchy(_collect_parents(root, source), source.where)


def _collect_parents(root: Any, source: InputFile) -> dict[str, str | None]:
    """Return the parent of each label, in the order of the file."""
    if _local_name(root) != "labels":
        raise source.error(
            f"the XML begins with <{_local_name(root)}>. Expected <labels> with <label name='...'> "
            "elements, as MULAN writes them."
        )
    parents: dict[str, str | None] = {}
    remaining: list[tuple[Any, str | None]] = [(element, None) for element in reversed(root)]
    while remaining:
        element, parent = remaining.pop()
        name = element.get("name")
        if _local_name(element) != "label" or name is None:
            raise source.error(
                f"the XML holds <{_local_name(element)}> without a name or in place of a label. "
                "Expected <label name='...'>."
            )
        if name in parents:
            raise source.error(f"the XML names the label {name!r} twice.")
        parents[name] = parent
        remaining.extend((child, name) for child in reversed(element))
    return parents


def _local_name(element: Any) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def format_label_xml(names: tuple[str, ...], parents: tuple[int, ...] | None) -> str:
    """Return the content of the XML file for labels, in their order as far as parents allow."""
    children: dict[int, list[int]] = {}
    for label, parent in enumerate(parents or (-1,) * len(names)):
        children.setdefault(parent, []).append(label)
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f'<labels xmlns="{NAMESPACE}">']
    remaining: list[int | str] = [*reversed(children.get(-1, []))]
    while remaining:
        item = remaining.pop()
        if isinstance(item, str):
            lines.append(item)
            continue
        inner = children.get(item, [])
        start = f'<label name="{_escape(names[item])}">'
        if inner:
            lines.append(start)
            remaining += ["</label>", *reversed(inner)]
        else:
            lines.append(start + "</label>")
    return "\n".join([*lines, "</labels>", ""])


def fits_xml(name: str) -> bool:
    """Return whether XML allows all characters of a name."""
    return re.search(_ILLEGAL, name) is None


def _escape(name: str) -> str:
    """Return a name with entities for characters that an attribute of XML cannot hold."""
    return _TO_ESCAPE.sub(lambda match: _ENTITIES.get(match[0], f"&#{ord(match[0])};"), name)
