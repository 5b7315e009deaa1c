"""Reads and writes the XML file of a MULAN data set, which names the labels and their hierarchy."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from scumble._core.errors import ReadError
from scumble._core.files import InputFile
from scumble.data.input_files import TRAIN_TEST_SUFFIX, ArchiveMember

#: The XML namespace of the elements.
NAMESPACE = "http://mulan.sourceforge.net/labels"
#: A character that XML does not allow. Compiled on first use, because that takes 6 ms.
_ILLEGAL = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
#: Characters that an attribute of XML cannot hold, and the entities of some of them.
_TO_ESCAPE = re.compile(r"[&<>\"\t\n\r\x7f-\x9f\u2028]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


class MissingXmlError(ReadError):
    """Neither an ARFF file nor an XML file beside it says which attributes are labels."""


@dataclass(frozen=True)
class LabelHierarchy:
    """The labels in an XML file and their parents."""

    parents: dict[str, str | None]  # for each label the name of its parent, None at the top
    origin: str  # the path of the XML file, for messages


class LabelXmlFile(NamedTuple):
    """The XML file that belongs to an ARFF file."""

    file: ArchiveMember | Path | None  # in the same archive or folder; None if there is none
    has_same_name: bool = False  # as the ARFF file, apart from "-train" or "-test"


def find_label_xml(source: InputFile) -> LabelXmlFile:
    """Return the XML file that belongs to an ARFF file.

    This is the one with the same name, or with the name without "-train" or "-test"; else the only
    XML file in the folder or archive, if there is exactly one.
    """
    stems = (source.stem, TRAIN_TEST_SUFFIX.sub("", source.stem))
    xml_files: list[ArchiveMember] | list[Path]
    if isinstance(source, ArchiveMember):
        members = {
            member.name: member for member in source.other_members() if member.suffix == ".xml"
        }
        for stem in stems:
            if f"{stem}.xml" in members:
                return LabelXmlFile(members[f"{stem}.xml"], has_same_name=True)
        xml_files = list(members.values())
    else:
        folder = source.path.parent
        try:
            for stem in stems:
                path = folder / f"{stem}.xml"
                if path.is_file():
                    return LabelXmlFile(path, has_same_name=True)
            xml_files = [path for path in folder.iterdir() if path.suffix.lower() == ".xml"]
        except OSError:  # a folder that may not be listed, a name too long
            return LabelXmlFile(None)
    return LabelXmlFile(xml_files[0] if len(xml_files) == 1 else None)


def read_label_xml(file: InputFile | Path | str) -> LabelHierarchy:
    """Return the labels in a MULAN XML file, with their parents.

    Raise ReadError if the file is damaged, declares entities, or holds other things than labels.
    """
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
    return LabelHierarchy(_collect_parents(root, source), source.display_name)


def _collect_parents(root: Any, source: InputFile) -> dict[str, str | None]:
    """Return the name of the parent of each label, None at the top, in the order of the file.

    ``root`` is the root element of the XML; ``source`` is named in errors.
    """
    if _local_name(root) != "labels":
        raise source.error(
            f"the XML begins with <{_local_name(root)}>. Expected <labels> with <label name='...'> "
            "elements, as MULAN writes them."
        )
    parents: dict[str, str | None] = {}
    # Elements with the name of their parent, in reverse order, because the last one is next.
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
    """Return the content of the XML file for labels.

    ``parents`` are the indices of the labels' parents, -1 at the top; None: no label has a parent.
    The labels are in their order, but each is followed by its descendants.
    """
    children: dict[int, list[int]] = {}
    for label, parent in enumerate(parents or (-1,) * len(names)):
        children.setdefault(parent, []).append(label)
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f'<labels xmlns="{NAMESPACE}">']
    # Labels and end tags, in reverse order, because the last one is next.
    remaining: list[int | str] = [*reversed(children.get(-1, []))]
    while remaining:
        item = remaining.pop()
        if isinstance(item, str):
            lines.append(item)
            continue
        start_tag = f'<label name="{_escape(names[item])}">'
        if item in children:
            lines.append(start_tag)
            remaining += ["</label>", *reversed(children[item])]
        else:
            lines.append(start_tag + "</label>")
    return "\n".join([*lines, "</labels>", ""])


def fits_xml(name: str) -> bool:
    """Return whether XML allows all characters of a name."""
    return re.search(_ILLEGAL, name) is None


def _escape(name: str) -> str:
    """Return a name with entities for characters that an attribute of XML cannot hold."""
    return _TO_ESCAPE.sub(lambda match: _ENTITIES.get(match[0], f"&#{ord(match[0])};"), name)
