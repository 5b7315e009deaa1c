"""Compiled files keep the import order, have types, and stay small; linters read Python only."""

import tomllib
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from tests import compiled

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
FILES = {
    path.relative_to(SOURCE)
    for path in SOURCE.rglob("*")
    if path.suffix in (".pyx", ".pxd", ".pyi", ".py")
}
COMPILED = sorted(path for path in FILES if path.suffix in (".pyx", ".pxd"))
KERNELS = [path for path in COMPILED if path.suffix == ".pyx"]
LAYERS = ["cli", "learn", "measures", "_core"]


def module_of(path):
    return ".".join(path.with_suffix("").parts)


def text_of(path):
    return (SOURCE / path).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def layers():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract, *_ = settings["tool"]["importlinter"]["contracts"]
    return contract["layers"]


def test_there_are_kernels():
    assert len(KERNELS) >= 2


@pytest.mark.parametrize("path", COMPILED, ids=str)
def test_compiled_files_import_only_subpackages_below(path, layers):
    assert compiled.import_errors(text_of(path), module_of(path), layers) == []


@pytest.mark.parametrize(
    "line",
    [
        "import scumble.learn.trees",
        "cimport scumble.learn.trees as trees",
        "from scumble.learn cimport trees",
        "from scumble.learn.trees cimport Node, Stack",
        "from ..learn.trees cimport Node",
        "import numpy, scumble.learn",
        "def late():\n    from scumble.learn import trees",
        "from scumble import learn",
        "from scumble.learn.trees cimport (\n    Node,\n    Stack,\n)",
        "import scumble",
        "from scumble import characterize",
        "from scumble cimport anything",
    ],
)
def test_an_import_that_points_upwards_is_reported(line):
    assert compiled.import_errors(line, "scumble.measures.kernels", LAYERS)


@pytest.mark.parametrize(
    "line",
    [
        "from scumble._core.types cimport index_t",
        "from scumble._core import parallel",
        "from scumble.measures.kernels cimport total",
        "from .kernels cimport total",
        "from libc.stdint cimport int64_t",
        "import numpy as np",
        '"""import scumble.learn"""',
        "# from scumble.learn import trees",
    ],
)
def test_an_import_that_points_downwards_is_not(line):
    assert compiled.import_errors(line, "scumble.measures.threaded_kernels", LAYERS) == []


@pytest.mark.parametrize(
    "path", [path for path in KERNELS if compiled.has_public_functions(text_of(path))], ids=str
)
def test_types_and_compiled_functions_agree(path):
    stub = path.with_suffix(".pyi")
    assert stub in FILES, f"{path} has no .pyi"
    assert compiled.stub_errors(text_of(path), text_of(stub), module_of(path)) == []
    module = import_module(module_of(path))
    assert str(module.__file__).endswith(tuple(EXTENSION_SUFFIXES))
    assert [name for name in compiled.stub_names(text_of(stub)) if not hasattr(module, name)] == []


def test_missing_and_wrong_types_are_found():
    source = (
        "def add(const double[:, ::1] values, Py_ssize_t start=0, object more=None):\n    pass\n\n"
        "cpdef double half(double x) noexcept nogil:\n    return x / 2\n\n"
        "def _private(int x):\n    pass\n\n"
        "cdef int inner(int x) except -1 nogil:\n    return x\n"
    )
    right = "def add(values, start: int = 0, more=None) -> None: ...\ndef half(x: float): ...\n"
    assert compiled.stub_errors(source, right, "m") == []
    assert compiled.stub_errors(source, right.replace("start", "begin"), "m") == [
        "m.add takes ('values', 'start', 'more'), its types say ('values', 'begin', 'more')"
    ]
    assert compiled.stub_errors(source, "def half(x): ...", "m") == ["m.add has no types"]
    more = right + "def third(x): ...\n"
    assert compiled.stub_errors(source, more, "m") == ["m.third is typed but not there"]
    assert compiled.stub_names("import a\nB = a.C\nN: int\nclass D: ...\n") == ["N", "D"]
    assert compiled.has_public_functions(source)
    assert not compiled.has_public_functions(
        "cdef int inner(int x) except -1 nogil:\n    return x\n"
    )


def test_no_module_has_the_name_of_a_kernel():
    assert compiled.duplicate_modules(FILES) == []
    for twin in (Path("a/b.py"), Path("a/b/c.py")):
        assert len(compiled.duplicate_modules({Path("a/b.pyx"), twin})) == 1
    assert compiled.duplicate_modules({Path("a/b.pyx"), Path("a/b.pyi"), Path("a/c.py")}) == []


def test_declarations_have_users():
    sources = {}
    for path in COMPILED:
        sources[module_of(path)] = sources.get(module_of(path), "") + "\n" + text_of(path)
    declared = {module_of(path) for path in COMPILED if path.suffix == ".pxd"}
    assert compiled.unused_declarations(sources, declared) == []


def test_declarations_without_a_user_are_found():
    sources = {"scumble.a.b": "from scumble.a.c cimport T", "scumble.a.c": "", "scumble.a.d": ""}
    found = compiled.unused_declarations(sources, {"scumble.a.c", "scumble.a.d"})
    assert found == ["scumble.a.d.pxd has no user"]


@pytest.mark.parametrize("path", COMPILED, ids=str)
def test_functions_of_kernels_are_short(path):
    assert compiled.limit_errors(text_of(path), module_of(path)) == []


def test_long_functions_and_long_lists_of_arguments_are_found():
    def body(n):
        return "".join(f"    x += {at}  # step\n\n" for at in range(n))

    most = ", ".join(f"const int[::1] a{at}" for at in range(compiled.MAX_ARGUMENTS))
    head = f'cdef int add(\n    {most}\n) noexcept nogil:\n    """Add.\n\n    Up.\n    """\n'
    tail = "\n\ncdef int other(int x):\n    return x\n"
    assert compiled.limit_errors(head + body(compiled.MAX_LINES) + tail, "m") == []
    assert compiled.limit_errors(head + body(compiled.MAX_LINES + 1) + tail, "m") == [
        "m.add (line 1) has 81 lines; at most 80"
    ]
    wide = head.replace("\n) noexcept", ", double (*more)(int, int) noexcept\n) noexcept")
    assert compiled.limit_errors(wide + body(3) + tail, "m") == [
        "m.add (line 1) has 9 arguments; at most 8"
    ]


def test_functions_are_told_from_declarations():
    source = (
        "cdef extern from *:\n    int far(int a, int b) nogil\n\n"
        "cdef struct Node:\n    int first\n\n"
        "cdef Node make(int first, const double* values=NULL) noexcept nogil:\n"
        "    cdef Node node = Node(first)\n"
        "    cdef double total = sum(values[:first])\n"
        "    return node\n\n"
        "cdef class Store:\n"
        "    def __cinit__(self, Py_ssize_t size):\n        self.size = size\n\n"
        "def door(const index_t[::1] indptr not None, dict more={'a': 1}):\n    pass\n"
    )
    found = [(f.name, f.parameters, f.is_public) for f in compiled.functions(source)]
    assert found == [
        ("make", ("first", "values"), False),
        ("__cinit__", ("self", "size"), False),
        ("door", ("indptr", "more"), True),
    ]
