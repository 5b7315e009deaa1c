"""Read compiled sources (``.pyx``, ``.pxd``) as text: imports, functions, limits, stubs.

Linters and type checkers read Python only. Each rule is a function from texts to a list of errors,
so that `tests/test_subpackages.py` can apply it to the source tree and to snippets that break it.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: No function of a kernel takes more arguments than this: what travels together is one struct.
MAX_ARGUMENTS = 8
#: No body has more lines than this, docstring and blank lines not counted.
MAX_LINES = 80

_IMPORT = re.compile(r"^[ \t]*c?import[ \t]+(.+)$", re.M)
_FROM = re.compile(r"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+c?import[ \t]+(\([^)]*\)|[^\n]+)", re.M)
_HEAD = re.compile(r"^([ \t]*)(def|cdef|cpdef)\b[^\n(=:]*?(\w+)[ \t]*\(", re.M)
_TEXT = re.compile(r"'''.*?'''|\"\"\".*?\"\"\"|'[^'\n]*'|\"[^\"\n]*\"|#[^\n]*", re.S)


@dataclass(frozen=True)
class Function:
    """One function of a compiled source."""

    name: str
    is_public: bool  # can be called from Python by users of the module
    parameters: tuple[str, ...]
    line: int
    n_lines: int


def without_texts(source: str) -> str:
    """Blank out comments and strings, so that they are not taken for code; lines stay."""
    return _TEXT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)


def imported_modules(source: str, module: str) -> list[str]:
    """List the modules a source imports or cimports; ``module`` is its own_layer name."""
    code = without_texts(source).replace("\\\n", " ")
    function = []
    for match in _IMPORT.finditer(code):
        function += [part.split()[0] for part in match[1].split(",") if part.strip()]
    for match in _FROM.finditer(code):
        dots, name, names = match.groups()
        base = ".".join(module.split(".")[: -len(dots)]) if dots else ""
        base = ".".join(part for part in (base, name) if part)
        # ``from package import module``: below the top both count; at the top the name is the
        # subpackage.
        parts = [part.split()[0] for part in names.strip("() \n").split(",") if part.strip()]
        function += [f"{base}.{part}" for part in parts] if base == "scumble" else [base]
        function += [f"{base}.{part}" for part in parts] if base != "scumble" else []
    return function


def import_errors(source: str, module: str, layers: list[str]) -> list[str]:
    """List the imports that break the order; ``layers`` has the uppermost subpackage first."""
    own_layer = layers.index(module.split(".")[1])
    errors = []
    for target in imported_modules(source, module):
        parts = target.split(".")
        if parts[0] != "scumble":
            continue
        if len(parts) < 2 or parts[1] not in layers:
            errors.append(f"{module} imports the package itself ({target})")
        elif layers.index(parts[1]) < own_layer:
            errors.append(f"{module} imports {target}, a subpackage above")
    return errors


def functions(source: str) -> Iterator[Function]:
    """Go through the functions a source defines; declarations without a body are left out."""
    code = without_texts(source)
    for match in _HEAD.finditer(code):
        close = _closing(code, match.end() - 1)
        tail = re.match(r"[^\n:]*:[ \t]*$", code[close + 1 :], re.M)
        if tail is None:
            continue  # a declaration, or a variable that is given the value of a call
        body = close + 1 + tail.end()
        yield Function(
            name=match[3],
            is_public=match[2] != "cdef" and not match[3].startswith("_") and not match[1],
            parameters=tuple(_parameters(code[match.end() : close])),
            line=code.count("\n", 0, match.start()) + 1,
            n_lines=_body_lines(source[body:], code[body:], len(match[1])),
        )


def limit_errors(source: str, module: str) -> list[str]:
    """List the functions with too many arguments or lines."""
    errors = []
    for function in functions(source):
        location = f"{module}.{function.name} (line {function.line})"
        if len(function.parameters) > MAX_ARGUMENTS:
            errors.append(
                f"{location} has {len(function.parameters)} arguments; at most {MAX_ARGUMENTS}"
            )
        if function.n_lines > MAX_LINES:
            errors.append(f"{location} has {function.n_lines} lines; at most {MAX_LINES}")
    return errors


def stub_errors(source: str, stub: str, module: str) -> list[str]:
    """List the differences between a ``.pyi`` and the functions of its ``.pyx``."""
    compiled = {
        function.name: function.parameters for function in functions(source) if function.is_public
    }
    typed = {
        node.name: tuple(arg.arg for arg in (*node.args.posonlyargs, *node.args.args))
        for node in ast.parse(stub).body
        if isinstance(node, ast.FunctionDef)
    }
    errors = [f"{module}.{name} has no types" for name in compiled if name not in typed]
    errors += [f"{module}.{name} is typed but not there" for name in typed.keys() - compiled]
    errors += [
        f"{module}.{name} takes {compiled[name]}, its types say {typed[name]}"
        for name in compiled
        if name in typed and compiled[name] != typed[name]
    ]
    return errors


def stub_names(stub: str) -> list[str]:
    """List the functions, classes and constants that a ``.pyi`` declares, without aliases."""
    names = []
    for node in ast.parse(stub).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.append(node.target.id)
    return names


def has_public_functions(source: str) -> bool:
    """Return whether a source has public functions; others serve kernels only."""
    return any(function.is_public for function in functions(source))


def duplicate_modules(paths: set[Path]) -> list[str]:
    """List the ``.pyx`` files next to a module or package of the same name."""
    packages = {path.parent for path in paths}
    return [
        f"{path} has a module of the same name: which one is imported is undefined"
        for path in sorted(paths)
        if path.suffix == ".pyx"
        and (path.with_suffix(".py") in paths or path.with_suffix("") in packages)
    ]


def unused_declarations(sources: dict[str, str], declarations: set[str]) -> list[str]:
    """List the ``.pxd`` files that no other module cimports.

    ``sources`` maps names of modules to their texts, ``.pyx`` and ``.pxd`` of one name joined.
    """
    used = {
        target
        for module, source in sources.items()
        for target in imported_modules(source, module)
        if target != module
    }
    return [f"{name}.pxd has no user" for name in sorted(declarations - used)]


def _closing(code: str, start: int) -> int:
    depth = 0
    for index in range(start, len(code)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(code[index], 0)
        if depth == 0:
            return index
    return len(code) - 1


def _parameters(code: str) -> Iterator[str]:
    """Yield the names in a list of parameters: the last word of each, before any default."""
    depth, parts = 0, [""]
    for letter in code:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    for part in parts:
        declared = re.sub(r"\bnot[ \t]+None\b|=.*|\bnoexcept\b.*|\bnogil\b", "", part, flags=re.S)
        pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)", declared)  # to a function
        words = [pointer[1]] if pointer else re.findall(r"[A-Za-z_]\w*", declared.split(":")[0])
        if not pointer and "[" in declared:  # ``const double[:, ::1] values``
            words = re.findall(r"[A-Za-z_]\w*", declared.rpartition("]")[2]) or words
        if words:
            yield words[-1]


def _body_lines(source: str, code: str, indent: int) -> int:
    """Count the lines of a body: comments count, the docstring and blank lines do not."""
    n_lines = 0
    pairs = list(zip(source.split("\n"), code.split("\n"), strict=True))[1:]
    in_docstring = True
    for text, plain in pairs:
        if plain.strip() and len(plain) - len(plain.lstrip()) <= indent:
            break
        is_comment = not plain.strip() and text.lstrip().startswith("#")
        if plain.strip() or is_comment:
            in_docstring = False
        if text.strip() and not in_docstring:
            n_lines += bool(plain.strip()) or is_comment
    return n_lines
