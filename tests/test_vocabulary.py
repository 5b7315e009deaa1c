"""Names and sentences use the words of the field; ``docs/vocabulary.toml`` lists those to avoid."""

import ast
import io
import re
import tokenize
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
VOCABULARY = tomllib.loads((ROOT / "docs" / "vocabulary.toml").read_text(encoding="utf-8"))
FORBIDDEN_NAMES = VOCABULARY["identifiers"]
FORBIDDEN_PHRASES = {
    re.compile(phrase, re.IGNORECASE): better for phrase, better in VOCABULARY["phrases"].items()
}
PYTHON_FILES = sorted(
    path for folder in ("src", "examples", "tools") for path in (ROOT / folder).rglob("*.py")
)
KERNELS = sorted(path for path in (ROOT / "src").rglob("*") if path.suffix in (".pyx", ".pxd"))
SCRIPTS = sorted((ROOT / "src").rglob("*.js"))
#: Style sheets and templates, which have texts but no names.
TEMPLATES = sorted(
    path for path in (ROOT / "src").rglob("*") if path.suffix in (".html", ".css", ".j2", ".typ")
)
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.rst"), *(ROOT / "docs" / "guide").glob("*.rst")]
)
#: The page of the vocabulary explains the words it avoids.
PAGES.remove(ROOT / "docs" / "guide" / "vocabulary.rst")
#: A declared C variable, or an argument, of a kernel: its last word is the name.
DECLARED_IN_KERNEL = re.compile(r"\b(?:cdef|cpdef|def)\b[^=#:]*?\b(\w+)\s*(?:=|$|\()", re.MULTILINE)
#: What declares names in JavaScript: a name, or a list of names that may be in braces.
DECLARED_IN_SCRIPT = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"\b(?:const|let|var|function|class)\s+(\w+)",
        r"\bthis\.(\w+)\s*=[^=>]",
        r"^[ ]+(?:async |get |set |static )*(\w+)\([^()]*\) \{",  # a method
        r"\b(?:const|let|var)\s+([\[{][^;]*?[\]}])\s*(?:=|of\b)",  # const { name } = ...
        r"\b(\w+)\s*=>",
        r"\(((?:[^()]|\([^()]*\))*)\)\s*=>",  # (name) => ...
        r"\bfunction\s*\w*\(((?:[^()]|\([^()]*\))*)\)",  # function f(name)
        r"^[ ]+(?:async |get |set |static )*\w+\(((?:[^()]|\([^()]*\))*)\) \{",  # f(name) {
    )
)


def defined_names(source):
    """Yield line and name of everything that Python code defines."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.lineno, node.name


def names_in_script(source):
    """Yield line and name of everything that JavaScript declares; keys of JSON are no names."""
    source = re.sub(
        r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), source, flags=re.DOTALL
    )
    source = re.sub(r"(?<![:\w])//.*", "", source)
    for declaration in DECLARED_IN_SCRIPT:
        for match in declaration.finditer(source):
            line = source.count("\n", 0, match.start()) + 1
            without_keys = re.sub(r"\w+\s*:", "", match[1])
            without_defaults = re.sub(r"=\s*[^,{}\[\]]+", "", without_keys)
            for name in re.findall(r"[A-Za-z_]\w*", without_defaults):
                yield line, name


def names_to_replace(lines_and_names):
    """List names that the vocabulary forbids, each with a better one."""
    return [
        f"line {line}: {name} -> {FORBIDDEN_NAMES[name.strip('_').lower()]}"
        for line, name in lines_and_names
        if name.strip("_").lower() in FORBIDDEN_NAMES
    ]


def phrases_to_replace(text):
    """List phrases that the vocabulary forbids, each with a better one."""
    problems = []
    for pattern, better in FORBIDDEN_PHRASES.items():
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            problems.append(f"line {line}: {match[0]!r} -> {better}")
    return problems


def prose_of(source):
    """Keep the comments and strings of Python code, each in its line."""
    lines = [""] * (source.count("\n") + 2)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            for offset, text in enumerate(token.string.split("\n")):
                lines[token.start[0] - 1 + offset] += f" {text}"
    return "\n".join(lines)


def relative(path):
    """Return the path below the root, as the name of a test."""
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", PYTHON_FILES, ids=relative)
def test_python_code_uses_the_words_of_the_field(path):
    source = path.read_text(encoding="utf-8")
    module = path.stem if path.stem != "__init__" else path.parent.name
    assert names_to_replace([(1, module), *defined_names(source)]) == []
    assert phrases_to_replace(prose_of(source)) == []


@pytest.mark.parametrize("path", KERNELS, ids=relative)
def test_kernels_use_the_words_of_the_field(path):
    source = path.read_text(encoding="utf-8")
    names = [
        (source.count("\n", 0, match.start()) + 1, match[1])
        for match in DECLARED_IN_KERNEL.finditer(source)
    ]
    assert names_to_replace(names) == []
    assert phrases_to_replace(source) == []


@pytest.mark.parametrize("path", SCRIPTS, ids=relative)
def test_scripts_use_the_words_of_the_field(path):
    source = path.read_text(encoding="utf-8")
    assert names_to_replace([(1, path.stem), *names_in_script(source)]) == []
    assert phrases_to_replace(source) == []


@pytest.mark.parametrize("path", TEMPLATES, ids=relative)
def test_templates_use_the_words_of_the_field(path):
    assert phrases_to_replace(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", PAGES, ids=relative)
def test_pages_use_the_words_of_the_field(path):
    assert phrases_to_replace(path.read_text(encoding="utf-8")) == []


def test_forbidden_words_are_reported_with_better_ones():
    source = (
        "def judge(told):\n"
        "    found = [one for one in told]\n"
        "    self.whole_ = found  # keeps company with the second look\n"
    )
    assert names_to_replace(defined_names(source)) == [
        "line 1: judge -> evaluate, score",
        "line 1: told -> options, metadata, text",
        "line 2: found -> result, matches, value",
        "line 3: whole_ -> full, total",
        "line 2: one -> row, item, entry",
    ]
    assert phrases_to_replace(prose_of(source)) == [
        "line 3: 'second look' -> stacking",
        "line 3: 'keeps company' -> co-occurs",
    ]


def test_forbidden_words_are_reported_in_scripts():
    source = (
        "/* ask */ export function tell(wish, { at, kept: kept_rows }) {\n"
        "  const { found, given: shown = 3 } = wish;  // told on the shelf\n"
        "  for (const each of found) this.chosen = each.map((own, index) => own.place);\n"
        "  let rows = found.filter(usual => usual !== null);\n"
        "}\n"
        "class Sheet {\n"
        "  async judge(most = 3) { return this.whole === { what: most }; }\n"
        "}\n"
    )
    reported = [
        problem.partition(" ->")[0] for problem in names_to_replace(names_in_script(source))
    ]
    assert sorted(reported) == [
        "line 1: at",
        "line 1: tell",
        "line 1: wish",
        "line 2: found",
        "line 2: shown",
        "line 3: chosen",
        "line 3: each",
        "line 3: own",
        "line 4: usual",
        "line 7: judge",
        "line 7: most",
    ]
    assert phrases_to_replace(source) == ["line 2: 'on the shelf' -> in the repository"]


def test_the_vocabulary_does_not_contradict_itself():
    assert list(FORBIDDEN_NAMES) == sorted(FORBIDDEN_NAMES)
    better_words = re.findall(r"\w+", " ".join(FORBIDDEN_NAMES.values()))
    explanations = {"say", "it", "its", "what", "the", "to", "is", "thing", "itself"}
    assert set(better_words) & set(FORBIDDEN_NAMES) <= explanations
