"""Count the house: lines, bodies, examples, and who imports whom.

``python tools/figures.py [FOLDER] [--show WHAT]`` prints one table for ``src/scumble`` (or for
FOLDER); ``--show`` lists what stands behind a figure: ``bodies``, ``examples``, ``importers``,
``upward`` or ``cycles``.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import statistics
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = (".py", ".pyx", ".pxd", ".pyi", ".h")
COMPILED_BODY = re.compile(r"^(\s*)(?:cdef|cpdef|def)\s.*\w\(")
COMPILED_IMPORT = re.compile(r"^\s*from\s+(scumble[\w.]*)\s+c?import\s+(\w+)")


class Module:
    """One file: its name with dots, its text and, for Python, its tree."""

    def __init__(self, path: Path, source: Path) -> None:
        parts = path.relative_to(source.parent).with_suffix("").parts
        self.is_package = path.stem == "__init__"
        self.name = ".".join(parts[:-1] if self.is_package else parts)
        self.path = path
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.tree = ast.parse("\n".join(self.lines)) if path.suffix in (".py", ".pyi") else None

    @property
    def room(self) -> str:
        """The room it stands in; a file beside the rooms is one of its own."""
        return f"{self.name}.".split(".")[1]


def main(arguments: list[str] | None = None) -> None:
    """Print the table, and the list that was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "src" / "scumble")
    parser.add_argument("--show", choices=tuple(LISTS))
    options = parser.parse_args(arguments)
    paths = sorted(path for path in options.folder.rglob("*") if path.suffix in KINDS)
    modules = [Module(path, options.folder) for path in paths]
    for name, value in figures(modules).items():
        print(f"{name:<44} {value:>8}")
    if options.show:
        print("\n".join(map(str, LISTS[options.show](modules))))


def figures(modules: list[Module]) -> dict[str, str]:
    """Return all figures by name."""
    count = sum_lines(modules)
    lengths = [length for length, _ in bodies(modules)]
    exported = list(exported_names(modules))
    return {
        "files": f"{len(modules):,}",
        "lines": f"{count['lines']:,}",
        "lines of code": f"{count['code']:,}",
        "lines of docstrings": f"{count['docstrings']:,}",
        "lines of docstrings of names not exported": f"{inner_docstrings(modules):,}",
        "longest body": f"{max(lengths)}",
        "bodies above 80 lines": f"{sum(length > 80 for length in lengths)}",
        "median body": f"{statistics.median(lengths):g}",
        "exported names": f"{len(exported)}",
        "exported names without an example": f"{sum(not ok for _, ok in exported)}",
        "modules with one importer": f"{len(lonely(modules))}",
        "upward imports": f"{len(upward(modules))}",
        "modules in import cycles": f"{len(cycles(modules))}",
    }


# Lines ------------------------------------------------------------------------------------------


def sum_lines(modules: list[Module]) -> dict[str, int]:
    """Count lines, those of code, and those of docstrings."""
    found: dict[str, int] = defaultdict(int)
    for module in modules:
        docs = set(docstring_lines(module))
        found["lines"] += len(module.lines)
        found["docstrings"] += len(docs)
        found["code"] += len(code_lines(module) - docs)
    return found


def code_lines(module: Module) -> set[int]:
    """Return the numbers of lines that are neither blank nor comment alone."""
    if module.tree is None:
        plain = (line.strip() for line in module.lines)
        marks = ("#", "//", "/*", "*") if module.path.suffix == ".h" else ("#",)
        return {n for n, line in enumerate(plain, 1) if line and not line.startswith(marks)}
    empty = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    tokens = tokenize.generate_tokens(io.StringIO("\n".join(module.lines) + "\n").readline)
    return {
        number
        for token in tokens
        if token.type not in (*empty, tokenize.ENDMARKER)
        for number in range(token.start[0], token.end[0] + 1)
    }


def docstring_lines(module: Module) -> Iterator[int]:
    """Return the numbers of lines that belong to docstrings."""
    if module.tree is None:
        inside = False
        for number, line in enumerate(module.lines, 1):
            marks = line.count('"""')
            if inside or marks:
                yield number
            inside ^= marks % 2 == 1
        return
    for node in ast.walk(module.tree):
        if (found := docstring_of(node)) is not None:
            yield from range(found.lineno, (found.end_lineno or found.lineno) + 1)


def docstring_of(node: ast.AST) -> ast.Expr | None:
    """Return the docstring of a module, class or function."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    if not isinstance(node, kinds) or not node.body:
        return None
    first = node.body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return first if is_text and isinstance(first.value.value, str) else None  # type: ignore[return-value,union-attr]  # checked above


def inner_docstrings(modules: list[Module]) -> int:
    """Count the docstring lines of functions and classes that no room exports."""
    exported = {name.rpartition(".")[2] for name, _ in exported_names(modules)}
    total = 0
    for module in modules:
        if module.tree is None:
            continue
        for node in module.tree.body:
            if getattr(node, "name", None) in exported:
                continue
            for inner in ast.walk(node):
                if (found := docstring_of(inner)) is not None:
                    total += (found.end_lineno or found.lineno) - found.lineno + 1
    return total


# Bodies -----------------------------------------------------------------------------------------


def bodies(modules: list[Module]) -> list[tuple[int, str]]:
    """Return the length of every function's body, without its docstring, and its place."""
    return sorted((one for module in modules for one in bodies_of(module)), reverse=True)


def bodies_of(module: Module) -> Iterator[tuple[int, str]]:
    """Go through the functions of one file."""
    if module.tree is None:
        yield from compiled_bodies(module)
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            rest = node.body[docstring_of(node) is not None :]
            length = (rest[-1].end_lineno or 0) - rest[0].lineno + 1 if rest else 0
            yield length, f"{module.name}:{node.lineno} {node.name}"


def compiled_bodies(module: Module) -> Iterator[tuple[int, str]]:
    """Find bodies by their indentation; lines of their docstrings do not count."""
    if module.path.suffix != ".pyx":
        return
    docs = set(docstring_lines(module))
    for at, line in enumerate(module.lines):
        if not (head := COMPILED_BODY.match(line)):
            continue
        begin = next(i for i in range(at, len(module.lines)) if module.lines[i].endswith(":")) + 1
        end = begin
        for number in range(begin, len(module.lines)):
            text = module.lines[number]
            if text.strip() and len(text) - len(text.lstrip()) <= len(head[1]):
                break
            end = number + 1 if text.strip() else end
        kept = [n for n in range(begin, end) if n + 1 not in docs]
        yield len(kept), f"{module.name}:{at + 1} {line.strip()}"


# Examples ---------------------------------------------------------------------------------------


def exported_names(modules: list[Module]) -> Iterator[tuple[str, bool]]:
    """Go through the functions and classes that rooms export: name, and whether one has an example.

    A package exports what it imports as itself: ``from room.module import name as name``.
    """
    defined: dict[str, list[ast.AST]] = defaultdict(list)
    for module in modules:
        for node in module.tree.body if module.tree else ():
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                defined[node.name].append(node)
    seen = set()
    for module in modules:
        if not module.is_package or "._" in module.name:
            continue
        for name in sorted(exports_of(module)):
            if name in seen or not defined.get(name):
                continue
            seen.add(name)
            docs = [ast.get_docstring(node) or "" for node in defined[name]]  # type: ignore[arg-type]  # functions and classes only
            yield f"{module.name}.{name}", any(">>>" in text for text in docs)


def exports_of(package: Module) -> Iterator[str]:
    """Go through the names a package imports as themselves, but for its own modules."""
    for node in ast.walk(package.tree) if package.tree else ():
        if isinstance(node, ast.ImportFrom) and node.module != package.name:
            yield from (alias.name for alias in node.names if alias.asname == alias.name)


# Imports ----------------------------------------------------------------------------------------


def imports(modules: list[Module], *, types: bool = False) -> dict[str, set[str]]:
    """Return what each module imports, lazily or not; what only type checkers see if asked."""
    names = {module.name for module in modules}
    found: dict[str, set[str]] = {module.name: set() for module in modules}
    for module in modules:
        for name in imported_names(module, names, types=types):
            while name and name not in names:
                name = name.rpartition(".")[0]
            if name and name != module.name:
                found[module.name].add(name)
    return found


def imported_names(module: Module, names: set[str], *, types: bool) -> Iterator[str]:
    """Go through the dotted names a file imports, also inside functions."""
    if module.tree is None:
        for line in module.lines:
            if found := COMPILED_IMPORT.match(line):
                yield f"{found[1]}.{found[2]}"
        return
    skipped = set() if types else set(map(id, typing_only(module.tree)))
    for node in ast.walk(module.tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if "." in node.value and node.value in names:  # a lazy import by name
                yield node.value


def typing_only(tree: ast.Module) -> Iterator[ast.AST]:
    """Go through what stands below ``if TYPE_CHECKING``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            yield from ast.walk(node)


def lonely(modules: list[Module]) -> list[str]:
    """Return the modules that one other module imports."""
    importers: dict[str, set[str]] = defaultdict(set)
    for name, wanted in imports(modules, types=True).items():
        for other in wanted:
            importers[other].add(name)
    return sorted(
        f"{module.name} <- {', '.join(importers[module.name])}"
        for module in modules
        if module.path.suffix == ".py"
        and not module.is_package
        and len(importers[module.name]) == 1
    )


def upward(modules: list[Module]) -> list[str]:
    """Return imports of a room that stands higher."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    order = contract["contracts"][0]["layers"][::-1]
    height = {room: at for at, room in enumerate(order)}
    graph = imports(modules)
    return sorted(
        f"{module.name} -> {other}"
        for module in modules
        for other in graph[module.name]
        if module.room in height
        and (room := f"{other}.".split(".")[1]) in height
        and height[room] > height[module.room]
    )


def cycles(modules: list[Module]) -> list[str]:
    """Return the modules that import themselves by a detour, lazy imports included."""
    graph = imports(modules)
    packages = {module.name for module in modules if module.is_package}
    reach = {name: reached(graph, name) for name in graph}
    return sorted(name for name in graph if name in reach[name] and name not in packages)


def reached(graph: dict[str, set[str]], start: str) -> set[str]:
    """Return all that a module imports, at any depth."""
    found: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(graph.get(name, ()))
    return found


LISTS = {
    "bodies": lambda modules: bodies(modules)[:40],
    "examples": lambda modules: [name for name, ok in exported_names(modules) if not ok],
    "importers": lonely,
    "upward": upward,
    "cycles": cycles,
}


if __name__ == "__main__":
    main()
