"""Tables of what the package has, read from its registry when the documentation is built."""

import ast
import inspect
import tomllib
from pathlib import Path

import typer
from numpydoc.docscrape import FunctionDoc

from scumble import catalogue
from scumble._core.errors import ScumbleError
from scumble._core.registry import CLASS_KINDS, KINDS
from scumble.cli.main import app
from scumble.data import repository
from scumble.data.formats.base import DATASET_PARTS
from scumble.testing import resampler_checks
from scumble_docs.rst import MARK, escape, literal, summary_of, table, title

ROOT = Path(__file__).resolve().parents[3]
#: Parameters of every reader and writer; the others are a format's own options.
COMMON = ("source", "labels", "dataset", "target")


def what_formats_carry():
    """Show which parts of a data set survive writing and reading again."""
    formats = sorted(catalogue.entries("format").items())
    head = ["", *(literal(name) for name, _ in formats)]
    rows = [
        [part, *(MARK if part in form.preserved_parts else "–" for _, form in formats)]
        for part in DATASET_PARTS
    ]
    return table(head, rows)


def formats_at_a_glance():
    """List the formats, the suffixes they write, and where the file says which are labels."""
    rows = [
        [literal(name), form.title, " ".join(literal(suffix) for suffix in form.suffixes)]
        for name, form in sorted(catalogue.entries("format").items())
    ]
    return table(["name", "what it is", "suffixes"], rows)


def options_of_formats():
    """Describe the options of every reader and writer that has any."""
    parts = []
    for name, form in sorted(catalogue.entries("format").items()):
        found = {"read": options_of(form.read), "write": options_of(form.write)}
        if not any(found.values()):
            continue
        parts.append(title(f"{literal(name)}: {form.title}", "~"))
        for verb, options in found.items():
            rows = [[literal(key), default, text] for key, default, text in options]
            if rows:
                parts.append(table([f"option of ``{verb}``", "default", "meaning"], rows))
    return "\n".join(parts) + "\n"


def options_of(function):
    """List name, default and description of a reader's or writer's own options."""
    signature = inspect.signature(function).parameters
    options = []
    for name, _, lines in FunctionDoc(function)["Parameters"]:
        if name not in COMMON and name.lstrip("*") in signature:
            default = signature[name.lstrip("*")].default
            options.append((name, shown(default), "\n".join(lines)))
    return options


def measures():
    """List the measures with what they describe and their bounds."""
    rows = [
        [
            f":func:`~scumble.measures.{name}`",
            found.level,
            f"{bound(found.lower)} to {bound(found.upper)}",
            summary_of(found.function),
        ]
        for name, found in sorted(catalogue.entries("measure").items())
    ]
    return table(["measure", "one number per", "range", "what it says"], rows)


def bound(value):
    """Print a bound."""
    return "∞" if value == float("inf") else f"{value:g}"


def resamplers():
    """List the resamplers."""
    found = [catalogue.describe("resampler", name) for name in catalogue.names("resampler")]
    rows = [
        [reference(entry.obj), literal(entry.name), entry.display_group, entry.description]
        for entry in found
    ]
    return table(["class", "name in the catalogue", "family", "what it does"], rows)


def parameters():
    """Tell defaults and allowed values of every resampler, classifier and splitter."""
    parts = []
    for kind in CLASS_KINDS:
        parts.append(title(f"Parameters of {kind}s", "-"))
        for name in catalogue.names(kind):
            entry = catalogue.describe(kind, name)
            rows = [
                [literal(each.name), shown(each.default), escape(each.constraint.description)]
                for each in catalogue.parameters_of(entry.obj)
            ]
            head = [f"{reference(entry.obj)}, {literal(name)}", "default", "must be"]
            parts.append(table(head, rows, widths="30 20 50"))
    return "\n".join(parts) + "\n"


def shown(default):
    """Print a default, and nothing where there is none."""
    return "" if default is inspect.Parameter.empty else literal(repr(default))


def reference(obj):
    """Refer to a class or function by the room that offers it."""
    room = ".".join(obj.__module__.split(".")[:2])
    return f":py:obj:`~{room}.{obj.__name__}`"


def whole_catalogue():
    """List every kind that has entries, with their names."""
    rows = [
        [literal(kind), " ".join(literal(name) for name in catalogue.names(kind))]
        for kind in KINDS
        if catalogue.names(kind)
    ]
    return table(["kind", "names"], rows, widths="15 85")


def the_shelf():
    """List the public data sets with the measures that are expected of them."""
    rows = []
    for entry in repository.entries():
        numbers = entry.measures
        also = ", ".join(literal(alias) for alias in entry.aliases)
        rows.append(
            [
                literal(entry.name),
                f"{entry.title} (also {also})" if also else entry.title,
                f"{numbers['instances']:,}",
                f"{numbers['labels']:,}",
                f"{numbers['mean_ir']:,.1f}",
                f"{numbers['scumble']:.3f}",
                source_of(entry),
            ]
        )
    head = ["name", "what it is", "instances", "labels", "MeanIR", "SCUMBLE", "from"]
    return table(head, rows, style="compact wide")


def source_of(entry):
    """Say how one gets a data set."""
    if entry.name == repository.EMBEDDED:
        return "package"
    return "download" if entry.can_be_fetched else "folder"


def errors():
    """List the errors with the built-in exceptions that also catch them."""
    rows = []
    for error in [ScumbleError, *subclasses(ScumbleError)]:
        builtin = [
            base.__name__
            for base in error.__mro__
            if base.__module__ == "builtins" and base not in (Exception, BaseException, object)
        ]
        rows.append([literal(error.__name__), literal(", ".join(builtin)), summary_of(error)])
    return table(["error", "also caught as", "meaning"], rows)


def subclasses(error):
    """List all subclasses that the floor of the package defines."""
    found = []
    for child in error.__subclasses__():
        if child.__module__.startswith("scumble."):
            found += [child, *subclasses(child)]
    return found


def checks():
    """List the checks of the exam for resamplers."""
    lines = (f"- {literal(check.__name__)}: {summary_of(check)}" for check in resampler_checks())
    return "\n".join(lines) + "\n"


def benchmarks():
    """List the modules of benchmarks by what their first lines say, without importing them."""
    lines = []
    for path in sorted((ROOT / "benchmarks").glob("*.py")):
        if not path.stem.startswith("_"):
            said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            lines.append(f"- {literal(path.stem)}: {' '.join(said.split(chr(10) * 2)[0].split())}")
    return "\n".join(lines) + "\n"


def commands():
    """Show the help of every command."""
    parts = []
    for words, command in commands_of(typer.main.get_command(app), ("scumble",)):
        line = " ".join(words)
        with typer.Context(command, info_name=line) as context:
            text = command.get_help(context)
        shown = "\n".join(f"   {each}".rstrip() for each in f"$ {line} --help\n{text}".split("\n"))
        parts.append(f".. code-block:: console\n\n{shown}\n")
    return "\n".join(parts)


def commands_of(group, words):
    """Walk through commands and groups of commands."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands_of(command, (*words, name))
        else:
            yield (*words, name), command


def avoided_words():
    """List the words that the code avoids, with better ones."""
    words = tomllib.loads((ROOT / "docs" / "vocabulary.toml").read_text(encoding="utf-8"))
    rows = [[literal(word), escape(better)] for word, better in words["identifiers"].items()]
    return table(["not", "but"], rows)


PAGES = {
    "checks.inc": checks,
    "benchmarks.inc": benchmarks,
    "commands.inc": commands,
    "format_table.inc": what_formats_carry,
    "format_list.inc": formats_at_a_glance,
    "format_options.inc": options_of_formats,
    "measures.inc": measures,
    "vocabulary.inc": avoided_words,
    "resamplers.inc": resamplers,
    "catalogue.inc": whole_catalogue,
    "parameters.inc": parameters,
    "shelf.inc": the_shelf,
    "errors.inc": errors,
}
