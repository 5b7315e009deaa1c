"""Code reads from top to bottom: every function says what it does, and expressions stay simple."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PYTHON_FILES = sorted((ROOT / "src").rglob("*.py"))
KERNELS = sorted((ROOT / "src").rglob("*.pyx"))
COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
#: The first line of a function of a kernel, up to the colon that ends its signature.
KERNEL_FUNCTION = re.compile(
    r"^(?:cdef|cpdef|def)\s+(?!extern|struct|enum|class|packed)[^=\n]*?\b(\w+)\s*\([^)]*\)"
    r"[^:\n]*:[ \t]*\n(.*)",
    re.MULTILINE,
)


def relative(path):
    """Return the path below the root, as the name of a test."""
    return path.relative_to(ROOT).as_posix()


def functions_without_docstring(tree):
    """Yield the functions and methods that do not say what they do; magic methods need not."""
    for parent in ast.walk(tree):
        if isinstance(parent, FUNCTIONS):
            continue  # a function inside another one is explained by its place
        for node in ast.iter_child_nodes(parent):
            is_magic = isinstance(node, FUNCTIONS) and re.fullmatch(r"__\w+__", node.name)
            if isinstance(node, FUNCTIONS) and not is_magic and ast.get_docstring(node) is None:
                yield f"line {node.lineno}: {node.name} has no docstring"


def nested_comprehensions(tree):
    """Yield the comprehensions with more than one ``for``."""
    for node in ast.walk(tree):
        if isinstance(node, COMPREHENSIONS) and len(node.generators) > 1:
            yield f"line {node.lineno}: a comprehension with {len(node.generators)} for clauses"


def lists_times_conditions(tree):
    """Yield products of a list or string with a condition, which should be an ``if``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            sides = (node.left, node.right)
            has_text = any(
                isinstance(side, ast.List | ast.Tuple | ast.JoinedStr)
                or (isinstance(side, ast.Constant) and isinstance(side.value, str))
                for side in sides
            )
            has_condition = any(
                isinstance(side, ast.Compare | ast.BoolOp)
                or (isinstance(side, ast.UnaryOp) and isinstance(side.op, ast.Not))
                for side in sides
            )
            if has_text and has_condition:
                yield f"line {node.lineno}: a product with a condition instead of an if"


@pytest.mark.parametrize("path", PYTHON_FILES, ids=relative)
def test_python_code_is_plain(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [
        *functions_without_docstring(tree),
        *nested_comprehensions(tree),
        *lists_times_conditions(tree),
    ] == []


@pytest.mark.parametrize("path", KERNELS, ids=relative)
def test_functions_of_kernels_say_what_they_do(path):
    source = path.read_text(encoding="utf-8")
    silent = [
        match[1]
        for match in KERNEL_FUNCTION.finditer(source)
        if not match[2].lstrip().startswith(('"""', 'r"""'))
    ]
    assert silent == []


def test_problems_are_reported_with_their_lines():
    tree = ast.parse(
        "def f(rows):\n"
        "    return [cell for row in rows for cell in row]\n"
        "more = ['...'] * (3 > 2)\n"
    )
    assert list(functions_without_docstring(tree)) == ["line 1: f has no docstring"]
    assert list(nested_comprehensions(tree)) == ["line 2: a comprehension with 2 for clauses"]
    assert list(lists_times_conditions(tree)) == [
        "line 3: a product with a condition instead of an if"
    ]
