"""Rebuild the embedded data set ``debtags`` from the package lists of a Debian system.

Rows are packages, labels are their tags (https://wiki.debian.org/Debtags), features count the
words of their short descriptions. Only tag names, words and counts are stored: facts about the
archive, gathered by this script. No description, no package name and no file of Debian is copied.

The shipped file was built from **Debian 12.15 (bookworm), main, amd64**, with its updates and
security archive, by::

    apt-get update
    python tools/build_debtags.py

The same package lists always give the same bytes. Another point release gives slightly different
data: the tests then name the recorded numbers that have to be updated (``tests/data``).

The rows are selected as follows (the numbers are in `Slice`). Only packages with at least two tags
are used; tags called TODO are placeholders and are left out. Of these packages, the first n in the
order of a hash of their names are selected, so that a package that enters or leaves the archive
does not change the selection of others. Finally tags of at least three packages, and words of at
least five packages, are selected.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import itertools
import json
import re
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

OUTPUT = Path(__file__).resolve().parents[1] / "src" / "scumble" / "data" / "public" / "debtags.npz"
STOP_WORDS = frozenset("a an and as at by for from in into is it of on or that the to with".split())


@dataclass(frozen=True)
class Slice:
    """The part of the archive that is selected."""

    n_packages: int = 5000
    min_tags: int = 2
    min_packages_per_tag: int = 3
    min_packages_per_word: int = 5
    seed: int = 1


@dataclass(frozen=True)
class Package:
    """Name, tags and words of a package."""

    name: str
    tags: frozenset[str]
    words: Counter[str]


def parse_fields(paragraph: str) -> dict[str, str]:
    """Return the fields of a paragraph of a package list; long values have several lines."""
    fields: dict[str, str] = {}
    name = ""
    for line in paragraph.splitlines():
        if line[:1] in (" ", "\t"):
            fields[name] = f"{fields.get(name, '')} {line.strip()}"
        elif ":" in line:
            name, value = line.split(":", 1)
            fields[name] = value.strip()
    return fields


def parse_tags(value: str) -> frozenset[str]:
    """Return the tags of a field: ``a::b, c::{d,e}`` means a::b, c::d, c::e; TODO is left out."""
    expanded: list[str] = []
    for facet, group, plain in re.findall(r"([^\s,{]+)\{([^}]*)\}|([^\s,]+)", value):
        if facet:
            expanded += [facet + member.strip() for member in group.split(",")]
        else:
            expanded.append(plain)
    return frozenset(tag for tag in expanded if not tag.endswith(":TODO"))


def count_words(description: str) -> Counter[str]:
    """Count the words of a short description, in lower case and without stop words."""
    words = re.findall(r"[a-z][a-z0-9+#]+", description.lower())
    return Counter(word for word in words if word not in STOP_WORDS)


def read_packages(lines: Iterable[str]) -> Iterator[Package]:
    """Yield the packages with tags of a package list; of several versions only the first one."""
    seen: set[str] = set()
    for paragraph in _paragraphs(lines):
        fields = parse_fields(paragraph)
        name = fields.get("Package", "")
        if not name or name in seen or "Tag" not in fields:
            continue
        seen.add(name)
        description = fields.get("Description", fields.get("Description-en", ""))
        yield Package(name, parse_tags(fields["Tag"]), count_words(description))


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Yield the paragraphs of a text, which blank lines separate."""
    paragraph: list[str] = []
    for line in lines:
        if line.strip():
            paragraph.append(line)
        elif paragraph:
            yield "".join(paragraph)
            paragraph = []
    if paragraph:
        yield "".join(paragraph)


def choose_packages(packages: Iterable[Package], cut: Slice) -> list[Package]:
    """Select the first n packages by the hash of their names, and sort them by name."""

    def name_hash(package: Package) -> bytes:
        return hashlib.sha256(f"{cut.seed}:{package.name}".encode()).digest()

    tagged = [package for package in packages if len(package.tags) >= cut.min_tags]
    selected = sorted(tagged, key=name_hash)[: cut.n_packages]
    return sorted(selected, key=lambda package: package.name)


def choose_names(names_of_packages: Iterable[Iterable[str]], minimum: int) -> list[str]:
    """Return the names that at least ``minimum`` packages have, sorted."""
    counts: Counter[str] = Counter()
    for names in names_of_packages:
        counts.update(set(names))
    return sorted(name for name, count in counts.items() if count >= minimum)


def tabulate(packages: Iterable[Package], cut: Slice, *, release: str) -> dict[str, np.ndarray]:
    """Return the arrays of the file: sizes of rows, columns and counts, and names of columns."""
    selected = choose_packages(packages, cut)
    tags = choose_names([package.tags for package in selected], cut.min_packages_per_tag)
    words = choose_names([package.words for package in selected], cut.min_packages_per_word)
    tag_rows = _column_indices([package.tags for package in selected], tags)
    word_rows = _column_indices([package.words for package in selected], words)
    word_counts: list[int] = []
    for package, columns in zip(selected, word_rows, strict=True):
        word_counts += [package.words[words[column]] for column in columns]
    meta = {"source": release, "slice": asdict(cut)}
    return {
        "meta": _text_to_array(json.dumps(meta, sort_keys=True)),
        "tags": _text_to_array("\n".join(tags)),
        "words": _text_to_array("\n".join(words)),
        "tag_sizes": np.array([len(columns) for columns in tag_rows], np.uint8),
        "tag_columns": np.array(list(itertools.chain.from_iterable(tag_rows)), np.uint16),
        "word_sizes": np.array([len(columns) for columns in word_rows], np.uint8),
        "word_columns": np.array(list(itertools.chain.from_iterable(word_rows)), np.uint16),
        "word_counts": np.array(word_counts, np.uint8),
    }


def _column_indices(rows: Iterable[Iterable[str]], names: list[str]) -> list[list[int]]:
    """Return the sorted indices of each row's names in ``names``; others are left out."""
    index_of = {name: index for index, name in enumerate(names)}
    return [sorted(index_of[name] for name in row if name in index_of) for row in rows]


def _text_to_array(text: str) -> np.ndarray:
    """Return the UTF-8 bytes of a text as an array."""
    return np.frombuffer(text.encode(), np.uint8)


def pack(arrays: dict[str, np.ndarray]) -> bytes:
    """Return arrays as an .npz file without time stamps and without pickles."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, np.ascontiguousarray(array), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content.getvalue(), compresslevel=9)
    return packed.getvalue()


def parse_release(policy: str) -> str:
    """Return the Debian release from the output of ``apt-cache policy``."""
    for line in policy.splitlines():
        settings = line.strip().removeprefix("release ").split(",")
        values = dict(setting.split("=", 1) for setting in settings if "=" in setting)
        if values.get("l") == "Debian" and values.get("c") == "main" and "-" not in values["n"]:
            return f"Debian {values['v']} ({values['n']}), main, {values.get('b', 'all')}"
    return "unknown"


def _run_command(*command: str) -> str:
    """Run a command and return its output."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(arguments: list[str] | None = None) -> int:
    """Build the file and print its size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--dumpavail", type=Path, help="a file in place of `apt-cache dumpavail`")
    parser.add_argument("--release", help="where that file comes from")
    parser.add_argument("--packages", type=int, default=Slice.n_packages)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args(arguments)

    if options.dumpavail is None:
        text = _run_command("apt-cache", "dumpavail")
        release = parse_release(_run_command("apt-cache", "policy"))
    else:
        text = options.dumpavail.read_text(encoding="utf-8")
        release = options.release or "unknown"
    packages = read_packages(io.StringIO(text))
    arrays = tabulate(packages, Slice(n_packages=options.packages), release=release)
    packed = pack(arrays)
    options.output.write_bytes(packed)
    print(
        f"{options.output}: {len(arrays['tag_sizes'])} packages of {release}, {len(packed)} bytes"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
