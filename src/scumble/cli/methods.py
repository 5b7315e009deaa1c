"""``methods``: what there is by name, and the parameters of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scumble._core.registry import KINDS
from scumble.cli.console import show, show_json, width
from scumble.cli.inputs import JSON, argument

if TYPE_CHECKING:
    from scumble._core.registry import Entry
    from scumble.report.terminal import Line


def methods(
    kind: str = argument("[KIND]", f"One of {', '.join(KINDS)}.", "resampler"),
    name: str | None = argument(None, "Show this one with its parameters.", None),
    json: bool = JSON,
) -> None:
    """List resamplers, classifiers, metrics and more, or the parameters of one of them."""
    from scumble.catalogue import describe, names

    found = [describe(kind, each) for each in (names(kind) if name is None else (name,))]
    if json:
        show_json([_plain(entry) for entry in found])
    elif name is None:
        show(_listed(found, width()))
    else:
        show(_in_detail(found[0], width()))


def _plain(entry: Entry) -> dict[str, Any]:
    told = {key: getattr(entry, key) for key in ("kind", "name", "family", "description")}
    return {**told, "parameters": _parameters(entry)}


def _parameters(entry: Entry) -> list[dict[str, str]]:
    """Tell name, default, domain and description of each parameter, as texts."""
    from inspect import Signature

    from scumble.catalogue import parameters_of

    if not isinstance(entry.thing, type):
        return []
    return [
        {
            "name": each.name,
            "default": "" if each.default is Signature.empty else repr(each.default),
            "allowed": each.domain.words,
            "text": each.text,
        }
        for each in parameters_of(entry.thing)
    ]


def _listed(entries: list[Entry], width: int | None) -> list[Line]:
    from scumble._core.text import safe, wrap
    from scumble.report.terminal import Segment

    lines: list[Line] = []
    indent = 4 + max(len(entry.name) for entry in entries)
    room = None if width is None else max(width - indent, 20)
    for family in dict.fromkeys(entry.family for entry in entries):
        lines += [[], [Segment(safe(family), "title")]]
        for entry in entries:
            if entry.family == family:
                first, *rest = wrap(safe(entry.description), room) or [""]
                lines.append([Segment(f"  {entry.name}".ljust(indent)), Segment(first, "dim")])
                lines += [[Segment(" " * indent + more, "dim")] for more in rest]
    return lines[1:]


def _in_detail(entry: Entry, width: int | None) -> list[Line]:
    from scumble._core.text import safe, wrap
    from scumble.report.terminal import Segment

    lines: list[Line] = [[Segment(f"{entry.name}: {safe(entry.description)}", "title")]]
    for each in _parameters(entry):
        given = f" (default: {each['default']})" if each["default"] else ""
        lines += [[], [Segment(each["name"], "rare"), Segment(f": {each['allowed']}{given}")]]
        room = None if width is None else max(width - 4, 20)
        lines += [[Segment(f"    {part}", "dim")] for part in wrap(safe(each["text"]), room)]
    return lines
