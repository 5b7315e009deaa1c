"""Reports as HTML pages with script and style in one file, and as PDF, typeset by typst."""

import base64
import hashlib
import json
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from scumble._core.optional import import_optional_dependency
from scumble._core.text import escape_controls, format_number, format_significant
from scumble.report.concurrence import more_labelsets_text, size_text
from scumble.report.terminal import (
    LABEL_FORMATS,
    LABELSET_FORMATS,
    describe_difficult_label,
    format_cells,
    joint_count_cells,
    measure_rows,
)
from scumble.report.treatment import prepare_treatments

PACKAGE = __name__.rpartition(".")[0]
#: The text above the first chord diagram of the PDF.
CHORD_EXPLANATION = (
    "An arc is as long as the label's count; rare labels are at the top in warm colours. Ribbons "
    "join labels that share instances and have the colour of the rarer one; the bare end of an arc "
    "are instances with that label alone."
)
#: The zero-width space, at which a line may be broken.
MAY_BREAK = "\u200b"
#: Number of letters and digits in a row after which a word may be broken; shorter ones fit into a
#: column.
MAX_UNBROKEN_LETTERS = 24
#: Unicode combining class of the signs that join two letters of an Indic script.
VIRAMA = 9
#: A character for private use that no font has, the last one of Unicode.
CHARACTER_WITHOUT_FONT = "\U0010fffd"
#: Columns of the table of co-occurring labels, with formats; see `format_cells`.
PARTNER_FORMATS = {"irlbl": ",.1f", "scumble": ""}
#: A typst document with a page for each letter, to find out which letters have a font.
LETTER_PAGES = b"""
#set page(width: auto, height: auto, margin: 0pt)
#set text(font: ("Libertinus Serif", "DejaVu Sans Mono"))
#for letter in json(bytes(sys.inputs.letters)) { page(letter) }
"""


def render_html(report: dict[str, Any], treatment: dict[str, Any] | None = None) -> str:
    """Return a concurrence report as an HTML page; all names are escaped.

    Parameters
    ----------
    report : dict
        From `scumble.report.concurrence_report`.
    treatment : dict, optional
        An additional treatment to show before and after, from `scumble.resample.apply_remedial` or
        `scumble.resample.apply_chain`.

    Returns
    -------
    str
        A self-contained page for light and dark mode, with sortable tables and an interactive chord
        diagram. It runs no other scripts and loads no other files.

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
        "chords": [report["chord"], *(item["chord"] for item in treatments)],
        "measures": measure_rows(report),
        "size": size_text(report["summary"]),
        "more_labelsets": more_labelsets_text(report),
    }
    assets = ("chord.js", "report.js", "report.css", "chord.css")
    return render_page("concurrence.html.j2", content, *assets)


def render_page(template: str, content: dict[str, Any], *assets: str) -> str:
    """Return the HTML page of a template, filled with content, scripts and style sheets.

    ``template`` is a file name in ``templates``, ``content`` holds the variables of the template,
    and ``assets`` are file names of scripts and style sheets in ``assets``. The page forbids the
    browser to run any other script.
    """
    script = "".join(read_asset(name) for name in assets if name.endswith(".js"))
    style = "".join(read_asset(name) for name in assets if name.endswith(".css"))
    digest = hashlib.sha256(f"\n{script}".encode()).digest()
    script_hash = base64.b64encode(digest).decode()  # for the Content-Security-Policy
    page = _load_template(template).render(
        **content, style=style, script=script, script_hash=script_hash
    )
    return str(page)


def read_asset(name: str) -> str:
    """Return the text of a script or style sheet in the folder ``assets``."""
    return (files(PACKAGE) / "assets" / name).read_text(encoding="utf-8")


@cache
def _load_template(name: str) -> Any:
    """Return a Jinja template from the folder ``templates`` that escapes all values for HTML.

    Unknown variables raise an error.
    """
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
    """Return a concurrence report as PDF, with numbered pages, all tables and chord diagrams.

    Parameters
    ----------
    report : dict
        From `scumble.report.concurrence_report`.
    treatment : dict, optional
        An additional treatment to show before and after, from `scumble.resample.apply_remedial` or
        `scumble.resample.apply_chain`.

    Returns
    -------
    bytes
        The content of the file; the same report always gives the same bytes.

    Notes
    -----
    Names and sentences are passed to typst as JSON, so that they are never interpreted as markup.

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
    chords = _draw_chords(report, treatments)
    content = _pdf_content(report, treatments)
    content["chords"] = [{"method": chord.method} for chord in chords]
    missing = letters_without_pdf_font(json.dumps(content, ensure_ascii=False), typst)
    printable_content = escape_letters(content, missing, suffix=MAY_BREAK)
    # The name is for the PDF's metadata, which needs no font.
    content = {**printable_content, "name": content["title"], "note": _font_note(missing)}
    template = (files(PACKAGE) / "templates" / "concurrence.typ").read_bytes()
    inputs = {f"chord-{number}": chord.svg for number, chord in enumerate(chords)}
    inputs["report"] = json.dumps(content, allow_nan=False)
    pdf: bytes = typst.compile(template, format="pdf", sys_inputs=inputs)
    return pdf


def _font_note(missing: frozenset[str]) -> str:
    """Return a note for the PDF about letters that no font has; "" if there are none."""
    if not missing:
        return ""
    subject = f"{len(missing):,} letters are" if len(missing) > 1 else "One letter is"
    return (
        f"{subject} in no font of the machine that made this, and written as codes such as "
        f"{escape_sequence(min(missing))}. With a font that has them (Noto has all scripts) names "
        "are printed as they are; the HTML report always holds them."
    )


class _ChordPicture(NamedTuple):
    """A chord diagram as SVG, and the resampling that was applied to the data."""

    method: str  # name of the resampler or chain; "" for the original data
    svg: str


def _draw_chords(report: dict[str, Any], treatments: list[dict[str, Any]]) -> list[_ChordPicture]:
    """Return the chord diagrams of the data and of the result of each treatment that has one.

    A label has the same colour in all diagrams. Diagrams without labels are left out.
    """
    from scumble.plots import ChordLayout, plot_bytes, plot_chord
    from scumble.plots.saving import characters_without_font

    methods = [""]
    chords = [report["chord"]]
    for treatment in treatments:
        if treatment["chord"]:
            methods.append(escape_controls(treatment["method"]))
            chords.append(treatment["chord"])
    missing = characters_without_font(json.dumps(chords, ensure_ascii=False))
    first_layout = None
    pictures = []
    for method, chord in zip(methods, chords, strict=True):
        if not chord["arcs"]:
            continue
        layout = ChordLayout.from_json(escape_letters(chord, missing))
        if first_layout is None:
            first_layout = layout  # all diagrams use the same colours for a label
        ax = plot_chord(layout, like=first_layout, dark=False)
        pictures.append(_ChordPicture(method, plot_bytes(ax, "svg").decode()))
    return pictures


def _pdf_content(report: dict[str, Any], treatments: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the content of the PDF as values for JSON: texts, and tables of texts."""
    summary = report["summary"]
    return {
        "title": escape_controls(summary["name"]) or "Data set",
        "subtitle": f"Concurrence of imbalanced labels: {size_text(summary)}",
        "origin": escape_controls(report["origin"]),
        "verdict": [escape_controls(sentence) for sentence in report["verdict"]],
        "explanation": CHORD_EXPLANATION,
        "measures": measure_rows(report),
        "treatments": [
            {
                "method": escape_controls(treatment["method"]),
                "titles": treatment["titles"],
                "rows": treatment["rows"],
                "notes": treatment["notes"],
            }
            for treatment in treatments
        ],
        "difficult": [_difficult_label_content(label) for label in report["difficult"]],
        "labels": {
            "head": ["label", "count", "frequency", "IRLbl", "SCUMBLE", "CV"],
            "rows": [
                [_printable_name(label), *format_cells(label, LABEL_FORMATS)]
                for label in report["labels"]
            ],
            "rare": [label["is_minority"] for label in report["labels"]],
        },
        "labelsets": {
            "head": ["labelset", "count", "imbalance", "SCUMBLE"],
            "rows": [_labelset_cells(row) for row in report["labelsets"]],
            "more": more_labelsets_text(report),
        },
        "colophon": f"Made by scumble {report['version']}. Measures: Charte, Rivera, del Jesus and "
        "Herrera, Dealing with difficult minority labels in imbalanced multilabel data sets.",
    }


def _difficult_label_content(label: dict[str, Any]) -> dict[str, Any]:
    """Return what the PDF shows of a difficult label, as values for JSON.

    These are a description and the table of the majority labels that co-occur with it.
    """
    description = f"in {describe_difficult_label(label)}"
    if not label["partners"]:
        description += "; co-occurs with no majority label"
    n_hidden = label["n_partners"] - len(label["partners"])
    return {
        "name": _printable_name(label),
        "facts": description,
        "head": ["majority label", "together", "share", "IRLbl", "SCUMBLE"],
        "rows": [
            [
                _printable_name(partner),
                *joint_count_cells(partner, label),
                *format_cells(partner, PARTNER_FORMATS),
            ]
            for partner in label["partners"]
        ],
        "more": f"and {n_hidden:,} more" if n_hidden else "",
    }


def _labelset_cells(row: dict[str, Any]) -> list[str]:
    """Return a labelset as a row of the table of the PDF.

    The cells are the names of its labels, its count, imbalance and SCUMBLE, as texts.
    """
    name = insert_word_breaks(", ".join(map(escape_controls, row["labels"]))) or "(no label)"
    return [name, *format_cells(row, LABELSET_FORMATS)]


def _printable_name(row: dict[str, Any]) -> str:
    """Return the name of a label (``row`` is a dict with its ``name``) for the PDF.

    Control characters are visible, and long words have optional line breaks.
    """
    return insert_word_breaks(escape_controls(row["name"]))


# Names in a PDF: optional line breaks, and letters that are in no font ----------------------------


def insert_word_breaks(name: str) -> str:
    """Return a name with `MAY_BREAK` after punctuation and symbols, and within very long words."""
    characters: list[str] = []
    n_letters = 0
    for index, char in enumerate(name):
        characters.append(char)
        category = unicodedata.category(char)
        n_letters = n_letters + 1 if category[0] in "LMN" else 0
        is_symbol = category[0] == "P" or category in ("Sm", "Sc")
        may_break = is_symbol or n_letters >= MAX_UNBROKEN_LETTERS
        if may_break and not _is_joined(char, name[index + 1 : index + 2]):
            characters.append(MAY_BREAK)
            n_letters = 0
    return "".join(characters)


def _is_joined(char: str, following: str) -> bool:
    """Return whether there must be no line break between two characters of a name.

    Accents and joined letters of Indic scripts must not be separated. ``following`` is "" at the
    end of the name, where there is no break either.
    """
    if not following or unicodedata.category(following)[0] == "M":
        return True
    return unicodedata.combining(char) == VIRAMA


def letters_without_pdf_font(text: str, typst: Any) -> frozenset[str]:
    """Return the letters of a text for which typst finds no font.

    ``typst`` is the module. It draws all letters without a font as the same box, so that their
    pages are equal to that of a letter which certainly has none.
    """
    letters = sorted(letter for letter in set(text) if not letter.isascii())
    if not letters:
        return frozenset()
    inputs = {"letters": json.dumps([CHARACTER_WITHOUT_FONT, *letters])}
    page_without_font, *pages = typst.compile(LETTER_PAGES, format="svg", sys_inputs=inputs)
    return frozenset(
        letter for letter, page in zip(letters, pages, strict=True) if page == page_without_font
    )


def escape_letters(content: Any, letters: Iterable[str], *, suffix: str = "") -> Any:
    """Return a JSON value in whose texts some letters are replaced by escape sequences.

    ``suffix`` is added to each escape sequence.
    """
    replacements = {}
    for letter in letters:
        # Within quotes of JSON, so that the backslash is escaped.
        replacements[ord(letter)] = json.dumps(f"{escape_sequence(letter)}{suffix}")[1:-1]
    if not replacements:
        return content
    return json.loads(json.dumps(content, ensure_ascii=False).translate(replacements))


def escape_sequence(letter: str) -> str:
    r"""Return the escape sequence of a letter in Python, such as ``\u20ac``."""
    return letter.encode("unicode_escape").decode()
