"""One page per subpackage and one per public object, from the ``__all__`` of the subpackages."""

import inspect
import re
import tomllib
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import ModuleType

from scumble_docs.rst import summary_of, table, title

ROOT = Path(__file__).resolve().parents[3]
FITTED_NAME = re.compile(r"\b([A-Za-z]\w*_)(?!\w)")
#: Public modules whose names their subpackage does not export.
SEPARATE_MODULES = ("scumble.evaluate.statistics", "scumble.plots.statistics")
#: Full names of the objects that ``scumble`` re-exports from a subpackage, by their short names.
SHORTCUTS = {}
#: Full names of the objects whose bare name is unique.
BARE_NAMES = {}


def pages():
    """Return the texts of the subpackages' pages, and the names of the pages of all objects."""
    subpackages = {}
    for name in subpackage_names():
        subpackages |= with_modules_inside(import_module(f"scumble.{name}"))
    subpackages = {name: members for name, members in subpackages.items() if members}
    shortcuts, own_members = split_reexports(subpackages)
    texts = {f"{name}.rst": subpackage_page(name, members) for name, members in subpackages.items()}
    texts["scumble.rst"] = subpackage_page("scumble", own_members) + shortcut_list(shortcuts)
    subpackages = {"scumble": own_members, **subpackages}
    BARE_NAMES.update(bare_names(subpackages))
    texts["index.rst"] = index_page(subpackages)
    return texts, page_names(subpackages)


def split_reexports(subpackages):
    """Separate names that ``scumble`` re-exports from a subpackage from its own_members names."""
    full_names = {}
    for subpackage, members in subpackages.items():
        for name, obj in members.items():
            full_names.setdefault(id(obj), f"{subpackage}.{name}")
    names = own_names(import_module("scumble"))
    shortcuts = {name: full_names[id(obj)] for name, obj in names.items() if id(obj) in full_names}
    own_members = {name: obj for name, obj in names.items() if name not in shortcuts}
    SHORTCUTS.update({f"scumble.{name}": full_name for name, full_name in shortcuts.items()})
    return shortcuts, own_members


def bare_names(subpackages):
    """Return the names that only one object has, though several subpackages may export it."""
    full_names = {}
    for subpackage, members in subpackages.items():
        for name, obj in members.items():
            full_names.setdefault(name, {}).setdefault(id(obj), f"{subpackage}.{name}")
    return {
        name: next(iter(owners.values())) for name, owners in full_names.items() if len(owners) == 1
    }


def shortcut_list(shortcuts):
    """Return a list of the names of ``scumble`` that are described on the page of a subpackage."""
    rows = [
        [f":py:obj:`scumble.{name} <{full_name}>`", summary_of(find(full_name))]
        for name, full_name in shortcuts.items()
    ]
    return "\n" + title("From the subpackages", "-") + "\n" + table(["name", "what it does"], rows)


def find(full_name):
    """Import a member of a subpackage by its full name."""
    subpackage, _, name = full_name.rpartition(".")
    return getattr(import_module(subpackage), name)


def resolve_shortcut(app, env, node, contnode):
    """Resolve references to ``scumble.read`` to the page of ``scumble.data.read``.

    The pages of the guide may also use the bare name, where only one public object has it.
    """
    if node.get("refdomain") != "py":
        return None
    target = node.get("reftarget")
    full_name = SHORTCUTS.get(target)
    if full_name is None and not node["refdoc"].startswith("generated/"):
        full_name = BARE_NAMES.get(target)
    if full_name is None:
        return None
    domain = env.get_domain("py")
    return domain.resolve_xref(
        env, node["refdoc"], app.builder, node["reftype"], full_name, node, contnode
    )


def subpackage_names():
    """List the subpackages in dependency order, from the settings of import-linter."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [name for name in reversed(layers) if not name.startswith("_")]


def own_names(module):
    """Return what a module exports: its ``__all__``, or else the public objects defined in it."""
    listed = getattr(module, "__all__", None)
    if listed is None:
        objects = vars(module).items()
        listed = [
            name
            for name, obj in objects
            if not name.startswith("_") and getattr(obj, "__module__", "") == module.__name__
        ]
    # The test of the public names reports a name that is listed but absent.
    collected = {name: getattr(module, name, None) for name in listed if not name.startswith("__")}
    return {
        name: obj
        for name, obj in collected.items()
        if inspect.isclass(obj) or inspect.isfunction(obj)
    }


def with_modules_inside(module):
    """Add modules that a subpackage exports (``data.repository``), and `SEPARATE_MODULES`."""
    collected = {module.__name__: own_names(module)}
    for name in getattr(module, "__all__", ()):
        inner = getattr(module, name)
        if isinstance(inner, ModuleType):
            collected[inner.__name__] = own_names(inner)
    for name in SEPARATE_MODULES:
        if name.startswith(f"{module.__name__}."):
            collected[name] = own_names(import_module(name))
    return collected


def subpackage_page(name, members):
    """Return the page that lists the members of a subpackage."""
    module = import_module(name)
    lines = [title(name), f".. module:: {name}", "", summary_of(module), ""]
    functions = [key for key, obj in members.items() if inspect.isfunction(obj)]
    errors = [
        key
        for key, obj in members.items()
        if inspect.isclass(obj) and issubclass(obj, BaseException)
    ]
    classes = [key for key in members if key not in functions and key not in errors]
    for heading, keys in (("Classes", classes), ("Functions", functions), ("Errors", errors)):
        if keys:
            lines += ["", title(heading, "-"), ".. autosummary::", "   :toctree: .", ""]
            lines += [f"   {key}" for key in keys]
    return "\n".join(lines) + "\n"


def index_page(subpackages):
    """Return the page that lists the subpackages."""
    lines = [title("API"), "All public names, by subpackage, in dependency order.", ""]
    for name in subpackages:
        lines += [f":doc:`{name} <{name}>`", f"   {summary_of(import_module(name))}", ""]
    lines += [".. toctree::", "   :hidden:", "", *(f"   {name}" for name in subpackages)]
    return "\n".join(lines) + "\n"


def page_names(subpackages):
    """Name the page of every object; a suffix separates names that differ only in case."""
    names = [
        f"{subpackage}.{key}" for subpackage, members in subpackages.items() for key in members
    ]
    times = Counter(name.lower() for name in [*names, *subpackages])
    return {name: name if times[name.lower()] == 1 else f"{name}-{kind(name)}" for name in names}


def kind(full_name):
    """Return ``"class"`` or ``"function"``."""
    return "class" if inspect.isclass(find(full_name)) else "function"


def protect_fitted_names(app, what, name, obj, options, lines):
    """Keep ``(n_features_in_,)`` in a type from being taken for a reference."""
    for index, line in enumerate(lines):
        before, colon, kind_text = line.partition(" : ")
        if colon and "`" not in kind_text and ">>>" not in before:
            lines[index] = before + colon + FITTED_NAME.sub(r"``\1``", kind_text)


def skip_foreign_members(app, what, name, obj, skip, options):
    """Skip members inherited from other packages, which document them."""
    function = getattr(obj, "fget", None) or getattr(obj, "__func__", obj)
    module = getattr(function, "__module__", None)
    if module is None:  # a field, which the docstring of the class describes
        return True
    return True if not module.startswith("scumble") else None
