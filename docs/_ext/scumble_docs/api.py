"""One page per room, one page per public object, from the rooms' ``__all__``."""

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
#: Public modules whose names their room does not repeat.
BESIDE_THE_ROOM = ("scumble.evaluate.statistics", "scumble.plots.statistics")
#: Where the names of ``scumble`` that come from a room are described.
SHORTCUTS = {}
#: Where things are described that alone have their name.
BARE_NAMES = {}


def pages():
    """Make the API pages: the rooms' texts, and the names of the pages of all objects."""
    rooms = {}
    for name in room_names():
        rooms |= with_modules_inside(import_module(f"scumble.{name}"))
    rooms = {name: members for name, members in rooms.items() if members}
    shortcuts, others = split_front_door(rooms)
    texts = {f"{name}.rst": room_page(name, members) for name, members in rooms.items()}
    texts["scumble.rst"] = room_page("scumble", others) + shortcut_list(shortcuts)
    rooms = {"scumble": others, **rooms}
    BARE_NAMES.update(bare_names(rooms))
    texts["index.rst"] = index_page(rooms)
    return texts, page_names(rooms)


def split_front_door(rooms):
    """Tell the names of ``scumble`` that live in a room from those that live nowhere else."""
    homes = {}
    for room, members in rooms.items():
        for name, thing in members.items():
            homes.setdefault(id(thing), f"{room}.{name}")
    names = own_names(import_module("scumble"))
    shortcuts = {name: homes[id(thing)] for name, thing in names.items() if id(thing) in homes}
    others = {name: thing for name, thing in names.items() if name not in shortcuts}
    SHORTCUTS.update({f"scumble.{name}": home for name, home in shortcuts.items()})
    return shortcuts, others


def bare_names(rooms):
    """Find the names that one thing alone has, be it offered by several rooms."""
    homes = {}
    for room, members in rooms.items():
        for name, thing in members.items():
            homes.setdefault(name, {}).setdefault(id(thing), f"{room}.{name}")
    return {name: next(iter(found.values())) for name, found in homes.items() if len(found) == 1}


def shortcut_list(shortcuts):
    """List the names of ``scumble`` whose pages are those of a room."""
    rows = [
        [f":py:obj:`scumble.{name} <{home}>`", summary_of(find(home))]
        for name, home in shortcuts.items()
    ]
    return "\n" + title("From the rooms", "-") + "\n" + table(["name", "what it does"], rows)


def find(full_name):
    """Import a room's member."""
    room, _, name = full_name.rpartition(".")
    return getattr(import_module(room), name)


def resolve_shortcut(app, env, node, contnode):
    """Lead references to ``scumble.read`` to the page of ``scumble.data.read``.

    The pages of the guide may also use the bare name, where only one public thing has it.
    """
    if node.get("refdomain") != "py":
        return None
    target = node.get("reftarget")
    home = SHORTCUTS.get(target)
    if home is None and not node["refdoc"].startswith("generated/"):
        home = BARE_NAMES.get(target)
    if home is None:
        return None
    domain = env.get_domain("py")
    return domain.resolve_xref(
        env, node["refdoc"], app.builder, node["reftype"], home, node, contnode
    )


def room_names():
    """List the rooms from the floor up, as the check of the import order has them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [name for name in reversed(layers) if not name.startswith("_")]


def own_names(module):
    """Collect what a module offers: its ``__all__``, else the public things made in it."""
    listed = getattr(module, "__all__", None)
    if listed is None:
        things = vars(module).items()
        listed = [
            name
            for name, thing in things
            if not name.startswith("_") and getattr(thing, "__module__", "") == module.__name__
        ]
    # A name that is listed and absent is for the test of the public names to complain about.
    found = {name: getattr(module, name, None) for name in listed if not name.startswith("__")}
    return {
        name: thing
        for name, thing in found.items()
        if inspect.isclass(thing) or inspect.isfunction(thing)
    }


def with_modules_inside(module):
    """Add modules that a room offers by name (``data.repository``), and those that are named above."""
    found = {module.__name__: own_names(module)}
    for name in getattr(module, "__all__", ()):
        inner = getattr(module, name)
        if isinstance(inner, ModuleType):
            found[inner.__name__] = own_names(inner)
    for name in BESIDE_THE_ROOM:
        if name.startswith(f"{module.__name__}."):
            found[name] = own_names(import_module(name))
    return found


def room_page(name, members):
    """List the members of a room."""
    module = import_module(name)
    lines = [title(name), f".. module:: {name}", "", summary_of(module), ""]
    functions = [key for key, thing in members.items() if inspect.isfunction(thing)]
    errors = [
        key
        for key, thing in members.items()
        if inspect.isclass(thing) and issubclass(thing, BaseException)
    ]
    classes = [key for key in members if key not in functions and key not in errors]
    for heading, keys in (("Classes", classes), ("Functions", functions), ("Errors", errors)):
        if keys:
            lines += ["", title(heading, "-"), ".. autosummary::", "   :toctree: .", ""]
            lines += [f"   {key}" for key in keys]
    return "\n".join(lines) + "\n"


def index_page(rooms):
    """List the rooms."""
    lines = [title("API"), "Everything public, room by room, from the floor of the house up.", ""]
    for name in rooms:
        lines += [f":doc:`{name} <{name}>`", f"   {summary_of(import_module(name))}", ""]
    lines += [".. toctree::", "   :hidden:", "", *(f"   {name}" for name in rooms)]
    return "\n".join(lines) + "\n"


def page_names(rooms):
    """Name the page of every object; apart where names differ in case only (``Labelsets``)."""
    names = [f"{room}.{key}" for room, members in rooms.items() for key in members]
    times = Counter(name.lower() for name in [*names, *rooms])
    return {name: name if times[name.lower()] == 1 else f"{name}-{kind(name)}" for name in names}


def kind(full_name):
    """Tell classes from functions."""
    return "class" if inspect.isclass(find(full_name)) else "function"


def protect_fitted_names(app, what, name, thing, options, lines):
    """Keep ``(n_features_in_,)`` in a type from being taken for a reference."""
    for at, line in enumerate(lines):
        before, colon, kind_text = line.partition(" : ")
        if colon and "`" not in kind_text and ">>>" not in before:
            lines[at] = before + colon + FITTED_NAME.sub(r"``\1``", kind_text)


def skip_foreign_members(app, what, name, thing, skip, options):
    """Leave out what is inherited from elsewhere: its own documentation describes it."""
    function = getattr(thing, "fget", None) or getattr(thing, "__func__", thing)
    home = getattr(function, "__module__", None)
    if home is None:  # a field: the class's docstring describes it
        return True
    return True if not home.startswith("scumble") else None
