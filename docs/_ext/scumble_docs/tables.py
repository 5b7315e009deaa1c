"""Tables of the registered parts, made from the registry when the documentation is built."""

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
from scumble.data.formats.base import DATASET_PARTS
from scumble.data.public import repository
from scumble.testing import resampler_checks
from scumble_docs.rst import MARK, escape, literal, summary_of, table, title

ROOT = Path(__file__).resolve().parents[3]
#: Parameters of every reader and writer; the others are a format's own options.
COMMON = ("source", "labels", "dataset", "target")


def format_preserved_parts():
    """Return a table of the parts of a data set that each format preserves."""
    formats = sorted(catalogue.entries("format").items())
    head = ["", *(literal(name) for name, _ in formats)]
    rows = [
        [part, *(MARK if part in form.preserved_parts else "–" for _, form in formats)]
        for part in DATASET_PARTS
    ]
    return table(head, rows)


def format_list():
    """Return a table of the formats with their titles and suffixes."""
    rows = [
        [literal(name), form.title, " ".join(literal(suffix) for suffix in form.suffixes)]
        for name, form in sorted(catalogue.entries("format").items())
    ]
    return table(["name", "description", "suffixes"], rows)


def format_options():
    """Return tables of the options of readers and writers."""
    parts = []
    for name, form in sorted(catalogue.entries("format").items()):
        options_by_verb = {"read": options_of(form.read), "write": options_of(form.write)}
        if not any(options_by_verb.values()):
            continue
        parts.append(title(f"{literal(name)}: {form.title}", "~"))
        for verb, options in options_by_verb.items():
            rows = [[literal(key), default, text] for key, default, text in options]
            if rows:
                parts.append(table([f"option of ``{verb}``", "default", "meaning"], rows))
    return "\n".join(parts) + "\n"


def options_of(function):
    """Return name, default and description of the options that only this reader or writer has."""
    signature = inspect.signature(function).parameters
    options = []
    for name, _, lines in FunctionDoc(function)["Parameters"]:
        if name not in COMMON and name.lstrip("*") in signature:
            default = signature[name.lstrip("*")].default
            options.append((name, default_text(default), "\n".join(lines)))
    return options


def measures():
    """Return a table of the measures with their level, bounds and summary."""
    rows = [
        [
            f":func:`~scumble.measures.{name}`",
            measure.level,
            f"{bound(measure.lower)} to {bound(measure.upper)}",
            summary_of(measure.function),
        ]
        for name, measure in sorted(catalogue.entries("measure").items())
    ]
    return table(["measure", "one number per", "range", "meaning"], rows)


def metrics():
    """Return a table of the metrics with their range and summary, by what they evaluate."""
    rows = []
    for needs in ("predictions", "scores", "probabilities"):
        for name, metric in sorted(catalogue.entries("metric").items()):
            if metric.needs == needs:
                rows.append(
                    [
                        f":obj:`~scumble.evaluate.{name}`",
                        needs,
                        f"{bound(metric.lower)} to {bound(metric.upper)}",
                        "larger" if metric.greater_is_better else "smaller",
                        summary_of(metric.function),
                    ]
                )
    return table(["metric", "of", "range", "better", "meaning"], rows)


def bound(value):
    """Format a bound."""
    return "∞" if value == float("inf") else f"{value:g}"


def resamplers():
    """Return a table of the resamplers."""
    entries = [catalogue.describe("resampler", name) for name in catalogue.names("resampler")]
    rows = [
        [reference(entry.obj), literal(entry.name), entry.display_group, entry.description]
        for entry in entries
    ]
    return table(["class", "name in the catalogue", "group", "what it does"], rows)


def parameters():
    """Return tables of the defaults and allowed values of all parameters."""
    parts = []
    for kind in CLASS_KINDS:
        parts.append(title(f"Parameters of {kind}s", "-"))
        for name in catalogue.names(kind):
            entry = catalogue.describe(kind, name)
            rows = [
                [
                    literal(parameter.name),
                    default_text(parameter.default),
                    escape(parameter.constraint.description),
                ]
                for parameter in catalogue.parameters_of(entry.obj)
            ]
            head = [f"{reference(entry.obj)}, {literal(name)}", "default", "allowed values"]
            parts.append(table(head, rows, widths="30 20 50"))
    return "\n".join(parts) + "\n"


def default_text(default):
    """Format a default; empty for a required parameter."""
    return "" if default is inspect.Parameter.empty else literal(repr(default))


def reference(obj):
    """Return a reference to a class or function by the subpackage that exports it."""
    subpackage = ".".join(obj.__module__.split(".")[:2])
    return f":py:obj:`~{subpackage}.{obj.__name__}`"


def catalogue_names():
    """Return a table of the kinds of parts and the names registered for them."""
    rows = [
        [literal(kind), " ".join(literal(name) for name in catalogue.names(kind))]
        for kind in KINDS
        if catalogue.names(kind)
    ]
    return table(["kind", "names"], rows, widths="15 85")


def public_data_sets():
    """Return a table of the public data sets with their expected measures."""
    rows = []
    for entry in repository.entries():
        numbers = entry.measures
        aliases = ", ".join(literal(alias) for alias in entry.aliases)
        rows.append(
            [
                literal(entry.name),
                f"{entry.title} (also {aliases})" if aliases else entry.title,
                f"{numbers['instances']:,}",
                f"{numbers['labels']:,}",
                f"{numbers['mean_ir']:,.1f}",
                f"{numbers['scumble']:.3f}",
                source_of(entry),
            ]
        )
    head = ["name", "description", "instances", "labels", "MeanIR", "SCUMBLE", "source"]
    return table(head, rows, style="compact wide")


def source_of(entry):
    """Return where a data set comes from: the package, a download or a local folder."""
    if entry.name == repository.EMBEDDED:
        return "package"
    return "download" if entry.can_be_fetched else "folder"


def errors():
    """Return a table of the errors with their built-in base classes."""
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
    """Return all subclasses that scumble defines, recursively."""
    descendants = []
    for child in error.__subclasses__():
        if child.__module__.startswith("scumble."):
            descendants += [child, *subclasses(child)]
    return descendants


def checks():
    """Return a list of the checks for resamplers."""
    lines = (f"- {literal(check.__name__)}: {summary_of(check)}" for check in resampler_checks())
    return "\n".join(lines) + "\n"


def benchmarks():
    """Return a list of the benchmark modules with their summaries, without importing them."""
    lines = []
    for path in sorted((ROOT / "benchmarks").glob("*.py")):
        if not path.stem.startswith("_"):
            summary = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            lines.append(
                f"- {literal(path.stem)}: {' '.join(summary.split(chr(10) * 2)[0].split())}"
            )
    return "\n".join(lines) + "\n"


def commands():
    """Return the help of every command."""
    parts = []
    for words, command in commands_of(typer.main.get_command(app), ("scumble",)):
        name = " ".join(words)
        with typer.Context(command, info_name=name) as context:
            text = command.get_help(context)
        help_text = "\n".join(
            f"   {line}".rstrip() for line in f"$ {name} --help\n{text}".split("\n")
        )
        parts.append(f".. code-block:: console\n\n{help_text}\n")
    return "\n".join(parts)


def commands_of(group, words):
    """Yield the words and the command of each command, also inside groups."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands_of(command, (*words, name))
        else:
            yield (*words, name), command


def avoided_words():
    """Return a table of the words that the code avoids, with better ones."""
    words = tomllib.loads((ROOT / "docs" / "vocabulary.toml").read_text(encoding="utf-8"))
    rows = [[literal(word), escape(better)] for word, better in words["identifiers"].items()]
    return table(["avoid", "use"], rows)


PAGES = {
    "checks.inc": checks,
    "benchmarks.inc": benchmarks,
    "commands.inc": commands,
    "format_table.inc": format_preserved_parts,
    "format_list.inc": format_list,
    "format_options.inc": format_options,
    "measures.inc": measures,
    "metrics.inc": metrics,
    "vocabulary.inc": avoided_words,
    "resamplers.inc": resamplers,
    "catalogue.inc": catalogue_names,
    "parameters.inc": parameters,
    "public_data.inc": public_data_sets,
    "errors.inc": errors,
}
