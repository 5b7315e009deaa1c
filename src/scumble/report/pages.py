"""Reports as pages: HTML with script and style in one file, and PDF, set by typst."""

import base64
import hashlib
import json
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from scumble._core.optional import import_optional_dependency
from scumble._core.text import escape_controls, format_number, format_significant
from scumble.report.concurrence import more_labelsets_text, size_text
from scumble.report.terminal import (
    LABEL_FORMATS,
    LABELSET_FORMATS,
    cells,
    describe_difficult_label,
    joint_count_cells,
    measure_rows,
)
from scumble.report.treatment import prepare_treatments

PACKAGE = __name__.rpartition(".")[0]
EXPLANATION = (
    "An arc is as long as the label's count; rare labels stand at the top in warm colours. Ribbons "
    "join labels that share instances and have the colour of the rarer one; the bare end of an arc "
    "are instances with that label alone."
)
#: Marks a place where a line may end; takes no room.
MAY_BREAK = "\u200b"
#: Letters and digits in a row after which a word counts as endless.
ENDLESS = 24
#: Combining class of the signs that tie two letters of an Indic script together.
VIRAMA = 9
#: For private use, at the very end of Unicode: no font has it.
NOBODYS = "\U0010fffd"
#: What is told of a partner, with formats; see `cells`.
OF_PARTNER = {"irlbl": ",.1f", "scumble": ""}
#: Sets each letter on a page of its own.
SPECIMEN = b"""
#set page(width: auto, height: auto, margin: 0pt)
#set text(font: ("Libertinus Serif", "DejaVu Sans Mono"))
#for letter in json(bytes(sys.inputs.letters)) { page(letter) }
"""


def render_html(report: dict[str, Any], treatment: dict[str, Any] | None = None) -> str:
    """Render a concurrence report; every name is escaped.

    Parameters
    ----------
    report : dict
        From `scumble.report.concurrence_report`.
    treatment : dict, optional
        One more treatment to show before and after, from `scumble.resample.apply_remedial` or
        `scumble.resample.apply_chain`.

    Returns
    -------
    str
        A page that needs nothing but itself: light and dark, sortable, with a chord diagram that
        can be pointed at. It may run no script but its own and load nothing.

    Examples
    --------
    >>> import scumble
    >>> from scumble.report import concurrence_report, render_html
    >>> page = render_html(concurrence_report(scumble.load("debtags")))
    >>> "https://" in page
    False
    """
    treatments = prepare_treatments(report, treatment)
    content = {
        "report": report,
        "treatments": treatments,
        "chords": [report["chord"], *(each["chord"] for each in treatments)],
        "measures": measure_rows(report),
        "size": size_text(report["summary"]),
        "more_labelsets": more_labelsets_text(report),
    }
    parts = ("chord.js", "report.js", "report.css", "chord.css")
    return render_page("concurrence.html.j2", content, *parts)


def render_page(template: str, content: dict[str, Any], *parts: str) -> str:
    """Fill a template; the page may run no script but those given, and load nothing."""
    script, style = (
        "".join(read_asset(part) for part in parts if part.endswith(kind))
        for kind in (".js", ".css")
    )
    digest = hashlib.sha256(f"\n{script}".encode()).digest()
    known = {"style": style, "script": script, "script_hash": base64.b64encode(digest).decode()}
    return str(_template(template).render(**content, **known))


def read_asset(name: str) -> str:
    """Return the text of a script or style sheet that comes with the reports."""
    return (files(PACKAGE) / "assets" / name).read_text(encoding="utf-8")


@cache
def _template(name: str) -> Any:
    """Load a template; what comes from files is escaped."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(PACKAGE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(
        number=format_number, significant=format_significant, visible=escape_controls
    )
    return environment.get_template(name)


def render_pdf(report: dict[str, Any], treatment: dict[str, Any] | None = None) -> bytes:
    """Set a concurrence report as PDF: numbered pages, all tables, the chord as vectors.

    Parameters
    ----------
    report : dict
        From `scumble.report.concurrence_report`.
    treatment : dict, optional
        One more treatment to show before and after, from `scumble.resample.apply_remedial` or
        `scumble.resample.apply_chain`.

    Returns
    -------
    bytes
        The content of the file; the same report gives the same bytes.

    Notes
    -----
    Names and sentences reach typst as JSON, so that nothing in them is ever taken for markup.

    Examples
    --------
    >>> import scumble
    >>> from scumble.report import concurrence_report, render_pdf
    >>> films = scumble.MultilabelDataset([[0.0]] * 3, [["war"], ["war", "love"], ["war"]])
    >>> render_pdf(concurrence_report(films))[:5]
    b'%PDF-'
    """
    typst = import_optional_dependency("typst", purpose="render_pdf", extra="pdf")
    treatments = prepare_treatments(report, treatment)
    pictures = _chords(report, treatments)
    content = _content(report, treatments)
    content["chords"] = [{"method": method} for method, _ in pictures]
    lost = unprintable(json.dumps(content, ensure_ascii=False), typst)
    printed = escape_letters(content, lost, after=MAY_BREAK)
    content = {**printed, "name": content["title"], "note": _note(lost)}
    template = (files(PACKAGE) / "templates" / "concurrence.typ").read_bytes()
    inputs = {f"chord-{at}": svg for at, (_, svg) in enumerate(pictures)}
    inputs["report"] = json.dumps(content, allow_nan=False)
    rendered: bytes = typst.compile(template, format="pdf", sys_inputs=inputs)
    return rendered


def _note(lost: frozenset[str]) -> str:
    if not lost:
        return ""
    n_lost = f"{len(lost):,} letters are" if len(lost) > 1 else "One letter is"
    return (
        f"{n_lost} in no font of the machine that made this, and written as codes such as "
        f"{code(min(lost))}. With a font that has them (Noto has all scripts) names are printed as "
        "they are; the HTML report always holds them."
    )


def _chords(report: dict[str, Any], treatments: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Draw the chord of the data, and of what each treatment makes of it."""
    from scumble.plots import ChordLayout, plot_bytes, plot_chord
    from scumble.plots.saving import letters_without_font

    found = [("", report["chord"])]
    found += [
        (escape_controls(each["method"]), each["chord"]) for each in treatments if each["chord"]
    ]
    lost = letters_without_font(json.dumps([chord for _, chord in found], ensure_ascii=False))
    drawn = [(method, chord) for method, chord in found if chord["arcs"]]
    layouts = [
        (method, ChordLayout.from_json(escape_letters(chord, lost))) for method, chord in drawn
    ]
    first = layouts[0][1] if layouts else None
    return [
        (method, plot_bytes(plot_chord(layout, like=first, dark=False), "svg").decode())
        for method, layout in layouts
    ]


def _content(report: dict[str, Any], treatments: list[dict[str, Any]]) -> dict[str, Any]:
    """Turn the report into words, cell by cell."""
    summary = report["summary"]
    return {
        "title": escape_controls(summary["name"]) or "Data set",
        "subtitle": f"Concurrence of imbalanced labels: {size_text(summary)}",
        "origin": escape_controls(report["origin"]),
        "verdict": [escape_controls(sentence) for sentence in report["verdict"]],
        "explanation": EXPLANATION,
        "measures": measure_rows(report),
        "treatments": [_treatment(each) for each in treatments],
        "difficult": [_difficult(label) for label in report["difficult"]],
        "labels": {
            "head": ["label", "count", "frequency", "IRLbl", "SCUMBLE", "CV"],
            "rows": [[_name(label), *cells(label, LABEL_FORMATS)] for label in report["labels"]],
            "rare": [label["is_minority"] for label in report["labels"]],
        },
        "labelsets": {
            "head": ["labelset", "count", "imbalance", "SCUMBLE"],
            "rows": [_labelset(row) for row in report["labelsets"]],
            "more": more_labelsets_text(report),
        },
        "colophon": f"Made by scumble {report['version']}. Measures: Charte, Rivera, del Jesus and "
        "Herrera, Dealing with difficult minority labels in imbalanced multilabel data sets.",
    }


def _treatment(treatment: dict[str, Any]) -> dict[str, Any]:
    told = {key: treatment[key] for key in ("titles", "rows", "notes")}
    return {"method": escape_controls(treatment["method"]), **told}


def _difficult(label: dict[str, Any]) -> dict[str, Any]:
    n_hidden = label["n_partners"] - len(label["partners"])
    alone = "" if label["partners"] else "; meets no majority label"
    return {
        "name": _name(label),
        "facts": f"in {describe_difficult_label(label)}{alone}",
        "head": ["majority label", "together", "share", "IRLbl", "SCUMBLE"],
        "rows": [
            [_name(partner), *joint_count_cells(partner, label), *cells(partner, OF_PARTNER)]
            for partner in label["partners"]
        ],
        "more": f"and {n_hidden:,} more" if n_hidden else "",
    }


def _labelset(row: dict[str, Any]) -> list[str]:
    name = insert_word_breaks(", ".join(map(escape_controls, row["labels"]))) or "(no label)"
    return [name, *cells(row, LABELSET_FORMATS)]


def _name(row: dict[str, Any]) -> str:
    return insert_word_breaks(escape_controls(row["name"]))


# Names on paper: where a line may end, and letters that no font at hand can print


def insert_word_breaks(name: str) -> str:
    """Let a long name end its line after any punctuation, and within endless words."""
    found: list[str] = []
    n_letters = 0
    for at, char in enumerate(name):
        found.append(char)
        kind = unicodedata.category(char)
        n_letters = n_letters + 1 if kind[0] in "LMN" else 0
        is_end = kind[0] == "P" or kind in ("Sm", "Sc") or n_letters >= ENDLESS
        if is_end and not _is_joined(char, name[at + 1 : at + 2]):
            found.append(MAY_BREAK)
            n_letters = 0
    return "".join(found)


def _is_joined(char: str, following: str) -> bool:
    """Tell whether a letter and what follows must not be parted; nothing is parted from the end."""
    if not following or unicodedata.category(following)[0] == "M":
        return True
    return unicodedata.combining(char) == VIRAMA


def unprintable(text: str, typst: Any) -> frozenset[str]:
    """Ask typst for which letters it finds no font: they all look the same."""
    letters = sorted(letter for letter in set(text) if not letter.isascii())
    if not letters:
        return frozenset()
    inputs = {"letters": json.dumps([NOBODYS, *letters])}
    box, *pages = typst.compile(SPECIMEN, format="svg", sys_inputs=inputs)
    return frozenset(letter for letter, page in zip(letters, pages, strict=True) if page == box)


def escape_letters(content: Any, letters: Iterable[str], *, after: str = "") -> Any:
    """Write letters as codes, in all texts of a JSON value."""
    codes = {ord(each): json.dumps(f"{code(each)}{after}")[1:-1] for each in letters}
    if not codes:
        return content
    return json.loads(json.dumps(content, ensure_ascii=False).translate(codes))


def code(letter: str) -> str:
    r"""Write a letter as Python does in ASCII."""
    return letter.encode("unicode_escape").decode()
