"""The resamplers of the catalogue with their parameters, as a form can show them."""

from __future__ import annotations

import inspect
import re
from typing import Any, get_args, get_type_hints

from scumble._core.errors import ParameterError

#: Parameters that a page does not offer: what a data set knows itself, and threads.
HIDDEN = {"categorical_features", "n_jobs", "seeding"}
#: How parameters are called in a form.
TITLES = {
    "n_neighbors": "neighbours",
    "percent": "percent of the rows",
    "random_state": "seed",
    "one_sided": "one-sided instances",
    "ranking_ties": "half is enough",
    "resampler": "resampler afterwards",
    "scale": "scale features",
}
FAMILIES = (
    ("Decouple", ("remedial", "remedialhwr")),
    ("Add rows", ("mlros", "lpros", "mlsmote", "labelsetsmote", "mlsol")),
    ("Remove rows", ("mlrus", "lprus", "mlenn", "mltl", "mlul")),
)


def methods() -> list[dict[str, Any]]:
    """Describe every resampler of the catalogue.

    Examples
    --------
    >>> from scumble.gui.methods import methods
    >>> first = methods()[0]
    >>> first["title"], [parameter["name"] for parameter in first["parameters"]]
    ('REMEDIAL', ['passes', 'one_sided'])
    """
    from scumble.catalogue import entries

    known = entries("resampler")
    order = [name for _, members in FAMILIES for name in members]
    return [
        _describe(name, known[name])
        for name in sorted(known, key=lambda n: order.index(n) if n in order else len(order))
    ]


def make_step(method: str, parameters: dict[str, Any]) -> Any:
    """Make a resampler as a client asked for it."""
    from scumble.catalogue import get
    from scumble.resample import make_chain

    kind = get("resampler", method)
    offered = {parameter["name"] for parameter in _parameters(kind)}
    unknown = sorted(set(parameters) - offered)
    if unknown:
        raise ParameterError(
            f"{kind.__name__} has no parameter {unknown[0]!r} here. "
            f"Known are: {', '.join(sorted(offered)) or 'none'}."
        )
    values = dict(parameters)
    if isinstance(values.get("resampler"), str):
        values["resampler"] = get("resampler", values["resampler"])()
    [step] = make_chain(method, **values)
    return step


def _describe(name: str, kind: type) -> dict[str, Any]:
    text = inspect.getdoc(kind) or ""
    family = next((title for title, members in FAMILIES if name in members), "More")
    first, _, rest = text.partition("\n\n")
    return {
        "name": name,
        "title": kind.__name__,
        "family": family,
        "summary": _plain_text(first),
        "details": _plain_text(rest.partition("\n\nParameters\n")[0].split("\n\n")[0]),
        "parameters": _parameters(kind),
    }


def _parameters(kind: Any) -> list[dict[str, Any]]:
    hints = get_type_hints(kind.__init__)
    told = _parameter_texts(inspect.getdoc(kind) or "")
    return [
        _parameter(parameter, hints.get(parameter.name), told.get(parameter.name, ""))
        for parameter in inspect.signature(kind.__init__).parameters.values()
        if parameter.name != "self" and parameter.name not in HIDDEN
    ]


def _parameter(parameter: inspect.Parameter, hint: Any, text: str) -> dict[str, Any]:
    choices = [arg for arg in get_args(hint) if isinstance(arg, str)]
    kind = _kind(parameter, hint, choices)
    default = parameter.default
    if kind == "method":
        choices, default = _second_resamplers(), "mlsmote"
    return {
        "name": parameter.name,
        "title": TITLES.get(parameter.name, parameter.name.replace("_", " ")),
        "kind": kind,
        "default": default,
        "choices": choices,
        "help": text,
    }


def _kind(parameter: inspect.Parameter, hint: Any, choices: list[str]) -> str:
    if parameter.name == "resampler":
        return "method"
    if parameter.name == "random_state":
        return "seed"
    if choices:
        return "choice"
    # A number or a word: MLTL's threshold takes 0.5 and "auto".
    if any(get_args(arg) for arg in get_args(hint)):
        return "number_or_word"
    return {bool: "switch", int: "integer", float: "number"}.get(hint, "text")


def _second_resamplers() -> list[str]:
    from scumble.catalogue import names

    return [name for name in names("resampler") if not name.startswith("remedial")]


def _parameter_texts(doc: str) -> dict[str, str]:
    """Read what a numpydoc docstring says about each parameter."""
    section = re.search(r"\nParameters\n-+\n(.*?)(?:\n\n\w[^\n]*\n-+\n|\Z)", doc, re.DOTALL)
    if section is None:
        return {}
    found: dict[str, str] = {}
    for block in re.split(r"\n(?=\S)", section[1]):
        head, _, body = block.partition("\n")
        for name in head.partition(" : ")[0].split(", "):
            found[name.strip()] = _plain_text(body)
    return found


def _plain_text(text: str) -> str:
    """Join lines, and take the marks of the documentation out."""
    return re.sub(r"`+|:\w+:(?=`)", "", " ".join(text.split())).replace('"', "")
