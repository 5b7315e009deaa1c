"""The XML file beside a MULAN data set: which attributes are labels, and their hierarchy."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scumble._core.errors import ReadError
from scumble._core.files import InputFile
from scumble.data.input_files import TRAIN_TEST_SUFFIX, ArchiveMember

NAMESPACE = "http://mulan.sourceforge.net/labels"
#: Compiled when something is written: it takes 6 ms.
_ILLEGAL = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_TO_ESCAPE = re.compile(r"[&<>\"\t\n\r\x7f-\x9f\u2028]")
_SHORT = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


class MissingXmlError(ReadError):
    """An ARFF file does not say which attributes are labels, and no XML file beside it does."""


@dataclass(frozen=True)
class LabelHierarchy:
    """Names of labels with the name of each one's parent, None at the top."""

    parents: dict[str, str | None]
    where: str


def find_label_xml(source: InputFile) -> tuple[ArchiveMember | Path | None, bool]:
    """Find the XML file that belongs to an ARFF file; tell whether its name says so."""
    stems = (source.stem, TRAIN_TEST_SUFFIX.sub("", source.stem))
    if isinstance(source, ArchiveMember):
        others = {other.name: other for other in source.other_members() if other.suffix == ".xml"}
        named = [others[f"{stem}.xml"] for stem in stems if f"{stem}.xml" in others]
        found: list[Any] = named or list(others.values())
        return (found[0], bool(named)) if named or len(found) == 1 else (None, False)
    folder = source.path.parent
    try:
        for stem in stems:
            path = folder / f"{stem}.xml"
            if path.is_file():
                return path, True
        beside = [path for path in folder.iterdir() if path.suffix.lower() == ".xml"]
    except OSError:  # a folder that may not be listed, a name too long
        return None, False
    return (beside[0], False) if len(beside) == 1 else (None, False)


def read_label_xml(file: InputFile | Path | str) -> LabelHierarchy:
    """Read which attributes are labels."""
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
    except (ValueError, LookupError) as error:  # an encoding nobody knows
        raise source.error(f"the XML cannot be read ({error}).") from error
    return LabelHierarchy(_collect(root, source), source.where)


def _collect(root: Any, source: InputFile) -> dict[str, str | None]:
    if _local_name(root) != "labels":
        raise source.error(
            f"the XML begins with <{_local_name(root)}>. Expected <labels> with <label name='...'> "
            "elements, as MULAN writes them."
        )
    parents: dict[str, str | None] = {}
    todo: list[tuple[Any, str | None]] = [(element, None) for element in reversed(root)]
    while todo:
        element, parent = todo.pop()
        name = element.get("name")
        if _local_name(element) != "label" or name is None:
            raise source.error(
                f"the XML holds <{_local_name(element)}> without a name or in place of a label. "
                "Expected <label name='...'>."
            )
        if name in parents:
            raise source.error(f"the XML names the label {name!r} twice.")
        parents[name] = parent
        todo.extend((child, name) for child in reversed(element))
    return parents


def _local_name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def format_label_xml(names: tuple[str, ...], parents: tuple[int, ...] | None) -> str:
    """Write the XML file."""
    children: dict[int, list[int]] = {}
    for label, parent in enumerate(parents or (-1,) * len(names)):
        children.setdefault(parent, []).append(label)
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f'<labels xmlns="{NAMESPACE}">']
    todo: list[int | str] = [*reversed(children.get(-1, []))]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            lines.append(item)
            continue
        inner = children.get(item, [])
        lines.append(f'<label name="{_escape(names[item])}">' + ("" if inner else "</label>"))
        if inner:
            todo += ["</label>", *reversed(inner)]
    return "\n".join([*lines, "</labels>", ""])


def fits_xml(name: str) -> bool:
    """Tell whether XML can carry a name."""
    return re.search(_ILLEGAL, name) is None


def _escape(name: str) -> str:
    return _TO_ESCAPE.sub(lambda m: _SHORT.get(m[0], f"&#{ord(m[0])};"), name)
