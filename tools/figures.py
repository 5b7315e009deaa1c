"""Count lines, function bodies, examples and imports of the source.

``python tools/figures.py [FOLDER] [--show LIST]`` prints a table for ``src/scumble`` (or for
FOLDER); ``--show`` also prints the list that a figure counts: ``bodies``, ``examples``,
``importers``, ``upward`` or ``cycles``.
"""

from __future__ import annotations

import argparse
import ast
import io
import itertools
import re
import statistics
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUFFIXES = (".py", ".pyx", ".pxd", ".pyi", ".h")
#: Above this number of lines, a function body counts as long.
LONG_BODY = 80
COMPILED_BODY = re.compile(r"^(\s*)(?:cdef|cpdef|def)\s.*\w\(")
COMPILED_IMPORT = re.compile(r"^\s*from\s+(scumble[\w.]*)\s+c?import\s+(\w+)")


class Module:
    """A source file: its dotted name, its lines and, if it is Python code, its syntax tree."""

    def __init__(self, path: Path, source: Path) -> None:
        parts = path.relative_to(source.parent).with_suffix("").parts
        self.is_package = path.stem == "__init__"
        self.name = ".".join(parts[:-1] if self.is_package else parts)
        self.path = path
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.tree = ast.parse("\n".join(self.lines)) if path.suffix in (".py", ".pyi") else None

    @property
    def subpackage(self) -> str:
        """The subpackage of the module; a module outside of them counts as one."""
        return subpackage_of(self.name)


def subpackage_of(name: str) -> str:
    """Return the second part of a dotted name, or an empty text."""
    return f"{name}.".split(".")[1]


def main(arguments: list[str] | None = None) -> None:
    """Print the table, and the requested list."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "src" / "scumble")
    parser.add_argument("--show", choices=tuple(LISTS))
    options = parser.parse_args(arguments)
    paths = sorted(path for path in options.folder.rglob("*") if path.suffix in SUFFIXES)
    modules = [Module(path, options.folder) for path in paths]
    for name, value in figures(modules).items():
        print(f"{name:<44} {value:>8}")
    if options.show:
        print("\n".join(map(str, LISTS[options.show](modules))))


def figures(modules: list[Module]) -> dict[str, str]:
    """Return all figures as texts, by name."""
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
        f"bodies above {LONG_BODY} lines": f"{sum(length > LONG_BODY for length in lengths)}",
        "median body": f"{statistics.median(lengths):g}",
        "exported names": f"{len(exported)}",
        "exported names without an example": f"{len(names_without_example(modules))}",
        "modules with one importer": f"{len(modules_with_one_importer(modules))}",
        "upward imports": f"{len(upward_imports(modules))}",
        "modules in import cycles": f"{len(modules_in_cycles(modules))}",
    }


# Lines ------------------------------------------------------------------------------------------


def sum_lines(modules: list[Module]) -> dict[str, int]:
    """Return the numbers of all lines, of lines of code and of lines of docstrings."""
    sums: dict[str, int] = defaultdict(int)
    for module in modules:
        docstrings = set(docstring_lines(module))
        sums["lines"] += len(module.lines)
        sums["docstrings"] += len(docstrings)
        sums["code"] += len(code_lines(module) - docstrings)
    return sums


def code_lines(module: Module) -> set[int]:
    """Return the numbers of lines that are neither blank nor only a comment."""
    numbers: set[int] = set()
    if module.tree is None:
        marks = ("#", "//", "/*", "*") if module.path.suffix == ".h" else ("#",)
        for number, line in enumerate(module.lines, 1):
            if line.strip() and not line.strip().startswith(marks):
                numbers.add(number)
        return numbers
    no_code = (
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    )
    for token in tokenize.generate_tokens(io.StringIO("\n".join(module.lines) + "\n").readline):
        if token.type not in no_code:
            numbers.update(range(token.start[0], token.end[0] + 1))
    return numbers


def docstring_lines(module: Module) -> Iterator[int]:
    """Yield the numbers of lines that belong to docstrings."""
    if module.tree is None:
        is_inside = False
        for number, line in enumerate(module.lines, 1):
            n_quotes = line.count('"""')
            if is_inside or n_quotes:
                yield number
            is_inside ^= n_quotes % 2 == 1
        return
    for node in ast.walk(module.tree):
        docstring = docstring_of(node)
        if docstring is not None:
            yield from range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1)


def docstring_of(node: ast.AST) -> ast.Expr | None:
    """Return the docstring of a module, class or function, or None."""
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    first = node.body[0] if node.body else None
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
        return None
    return first if isinstance(first.value.value, str) else None


def inner_docstrings(modules: list[Module]) -> int:
    """Return the number of docstring lines of functions and classes that are not exported."""
    exported = {name.rpartition(".")[2] for name, _ in exported_names(modules)}
    total = 0
    for module in modules:
        for node in module.tree.body if module.tree else ():
            if getattr(node, "name", None) in exported:
                continue
            for inner in ast.walk(node):
                docstring = docstring_of(inner)
                if docstring is not None:
                    total += (docstring.end_lineno or docstring.lineno) - docstring.lineno + 1
    return total


# Bodies -----------------------------------------------------------------------------------------


def bodies(modules: list[Module]) -> list[tuple[int, str]]:
    """Return length and position of every function's body, the longest first.

    Docstrings are not counted.
    """
    of_modules = (bodies_of(module) for module in modules)
    return sorted(itertools.chain.from_iterable(of_modules), reverse=True)


def bodies_of(module: Module) -> Iterator[tuple[int, str]]:
    """Yield length and position of the function bodies of one file."""
    if module.tree is None:
        yield from compiled_bodies(module)
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            statements = node.body
            if docstring_of(node) is not None:
                statements = statements[1:]
            length = 0
            if statements:
                length = (statements[-1].end_lineno or 0) - statements[0].lineno + 1
            yield length, f"{module.name}:{node.lineno} {node.name}"


def compiled_bodies(module: Module) -> Iterator[tuple[int, str]]:
    """Yield length and position of the function bodies of a kernel, by their indentation."""
    if module.path.suffix != ".pyx":
        return
    docstrings = set(docstring_lines(module))
    for index, line in enumerate(module.lines):
        head = COMPILED_BODY.match(line)
        if head is None:
            continue
        start = index
        while not module.lines[start].endswith(":"):
            start += 1
        start += 1
        stop = start
        for number in range(start, len(module.lines)):
            text = module.lines[number]
            if text.strip() and len(text) - len(text.lstrip()) <= len(head[1]):
                break
            stop = number + 1 if text.strip() else stop
        length = sum(number + 1 not in docstrings for number in range(start, stop))
        yield length, f"{module.name}:{index + 1} {line.strip()}"


# Examples ---------------------------------------------------------------------------------------


def exported_names(modules: list[Module]) -> Iterator[tuple[str, bool]]:
    """Yield the functions and classes that packages export, and whether they have an example.

    A package exports the names in its ``__all__``; its subpackages are not counted.
    """
    module_names = {module.name for module in modules}
    definitions: dict[str, list[ast.FunctionDef | ast.ClassDef]] = defaultdict(list)
    for module in modules:
        for node in module.tree.body if module.tree else ():
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                definitions[node.name].append(node)
    seen = set()
    for module in modules:
        if not module.is_package or "._" in module.name:
            continue
        for name in sorted(exports_of(module)):
            is_module = f"{module.name}.{name}" in module_names
            if is_module or name in seen or name not in definitions:
                continue
            seen.add(name)
            docstrings = [ast.get_docstring(node) or "" for node in definitions[name]]
            yield f"{module.name}.{name}", any(">>>" in text for text in docstrings)


def exports_of(package: Module) -> list[str]:
    """Return the names in the ``__all__`` of a package, which is a literal list."""
    for node in package.tree.body if package.tree else ():
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return []


def names_without_example(modules: list[Module]) -> list[str]:
    """Return the exported names without an example."""
    return [name for name, has_example in exported_names(modules) if not has_example]


# Imports ----------------------------------------------------------------------------------------


def imports(modules: list[Module], *, types: bool = False) -> dict[str, set[str]]:
    """Return the modules that each module imports, also those imported inside functions.

    With ``types``, imports for type checkers only are included.
    """
    names = {module.name for module in modules}
    graph: dict[str, set[str]] = {name: set() for name in names}
    for module in modules:
        for name in imported_names(module, names, types=types):
            while name and name not in names:
                name = name.rpartition(".")[0]
            if name and name != module.name:
                graph[module.name].add(name)
    return graph


def imported_names(module: Module, names: set[str], *, types: bool) -> Iterator[str]:
    """Yield the dotted names that a file imports, also inside functions."""
    if module.tree is None:
        for line in module.lines:
            match = COMPILED_IMPORT.match(line)
            if match is not None:
                yield f"{match[1]}.{match[2]}"
        return
    skipped = set() if types else set(map(id, typing_only_nodes(module.tree)))
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


def typing_only_nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes below ``if TYPE_CHECKING``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            yield from ast.walk(node)


def modules_with_one_importer(modules: list[Module]) -> list[str]:
    """Return the modules that exactly one other module imports."""
    importers: dict[str, set[str]] = defaultdict(set)
    for name, imported in imports(modules, types=True).items():
        for other in imported:
            importers[other].add(name)
    return sorted(
        f"{module.name} <- {', '.join(importers[module.name])}"
        for module in modules
        if module.path.suffix == ".py"
        and not module.is_package
        and len(importers[module.name]) == 1
    )


def upward_imports(modules: list[Module]) -> list[str]:
    """Return the imports of a higher subpackage by a lower one, in the order of import-linter."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    lowest_first = contract["contracts"][0]["layers"][::-1]
    rank = {subpackage: index for index, subpackage in enumerate(lowest_first)}
    graph = imports(modules)
    upward = []
    for module in modules:
        if module.subpackage not in rank:
            continue
        upward += [
            f"{module.name} -> {other}"
            for other in graph[module.name]
            if rank.get(subpackage_of(other), -1) > rank[module.subpackage]
        ]
    return sorted(upward)


def modules_in_cycles(modules: list[Module]) -> list[str]:
    """Return the modules that import themselves indirectly, lazy imports included."""
    graph = imports(modules)
    packages = {module.name for module in modules if module.is_package}
    return sorted(name for name in graph if name not in packages and name in reachable(graph, name))


def reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    """Return all modules that a module imports directly or indirectly."""
    reached: set[str] = set()
    stack = list(graph[start])
    while stack:
        name = stack.pop()
        if name not in reached:
            reached.add(name)
            stack.extend(graph.get(name, ()))
    return reached


LISTS = {
    "bodies": lambda modules: bodies(modules)[:40],
    "examples": names_without_example,
    "importers": modules_with_one_importer,
    "upward": upward_imports,
    "cycles": modules_in_cycles,
}


if __name__ == "__main__":
    main()
