"""Rebuild the embedded data set ``debtags`` from the package lists of a Debian system.

Rows are packages, labels are their tags (https://wiki.debian.org/Debtags), features count the
words of their short descriptions. Only tag names, words and counts are kept: facts about the
archive, gathered by this script. No description, no package name and no file of Debian's is
copied.

The shipped file was built from **Debian 12.15 (bookworm), main, amd64**, with its updates and
security archive, by::

    apt-get update
    python tools/build_debtags.py

The same package lists always give the same bytes. Another point release gives slightly other
data: the tests then name the recorded numbers that have to follow (``tests/data``).

How the slice is cut (the numbers are in `Slice`): packages with at least two tags; tags called
TODO are placeholders and are left out; of these packages the first n in the order of a hash of
their names, so that a package enters or leaves the archive without moving the others; then tags
held by three packages or more, and words used by five or more.
"""

from __future__ import annotations

import argparse
import hashlib
import io
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

OUTPUT = Path(__file__).resolve().parents[1] / "src" / "scumble" / "data" / "debtags.npz"
STOP_WORDS = frozenset("a an and as at by for from in into is it of on or that the to with".split())


@dataclass(frozen=True)
class Slice:
    """Which part of the archive is kept."""

    n_packages: int = 5000
    min_tags: int = 2
    min_packages_per_tag: int = 3
    min_packages_per_word: int = 5
    seed: int = 1


@dataclass(frozen=True)
class Package:
    """What we keep of one package."""

    name: str
    tags: frozenset[str]
    words: Counter[str]


def parse_fields(paragraph: str) -> dict[str, str]:
    """Split one paragraph of a package list into its fields; long values fold over lines."""
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
    """Read ``a::b, c::{d,e}`` as a::b, c::d, c::e; leave out the placeholders called TODO."""
    expanded: list[str] = []
    for facet, group, plain in re.findall(r"([^\s,{]+)\{([^}]*)\}|([^\s,]+)", value):
        expanded += [facet + member.strip() for member in group.split(",")] if facet else [plain]
    return frozenset(tag for tag in expanded if not tag.endswith(":TODO"))


def count_words(description: str) -> Counter[str]:
    """Count the words of a short description, in lower case and without the commonest ones."""
    words = re.findall(r"[a-z][a-z0-9+#]+", description.lower())
    return Counter(word for word in words if word not in STOP_WORDS)


def read_packages(lines: Iterable[str]) -> Iterator[Package]:
    """Read the tagged packages of a package list; of several versions the first one counts."""
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
    held: list[str] = []
    for line in lines:
        if line.strip():
            held.append(line)
        elif held:
            yield "".join(held)
            held = []
    if held:
        yield "".join(held)


def choose_packages(packages: Iterable[Package], cut: Slice) -> list[Package]:
    """Take the first n packages by the hash of their names, and put them in order of name."""

    def place(package: Package) -> bytes:
        return hashlib.sha256(f"{cut.seed}:{package.name}".encode()).digest()

    enough = [package for package in packages if len(package.tags) >= cut.min_tags]
    chosen = sorted(enough, key=place)[: cut.n_packages]
    return sorted(chosen, key=lambda package: package.name)


def choose_names(held: Iterable[Iterable[str]], minimum: int) -> list[str]:
    """Return the names that at least ``minimum`` packages hold, sorted."""
    counts = Counter(name for names in held for name in set(names))
    return sorted(name for name, count in counts.items() if count >= minimum)


def tabulate(packages: Iterable[Package], cut: Slice, *, release: str) -> dict[str, np.ndarray]:
    """Turn packages into the arrays of the file: row sizes and column numbers, no text rows."""
    chosen = choose_packages(packages, cut)
    tags = choose_names([package.tags for package in chosen], cut.min_packages_per_tag)
    words = choose_names([package.words for package in chosen], cut.min_packages_per_word)
    tag_rows = _columns([package.tags for package in chosen], tags)
    word_rows = _columns([package.words for package in chosen], words)
    counts = [
        package.words[words[at]]
        for package, row in zip(chosen, word_rows, strict=True)
        for at in row
    ]
    meta = {"source": release, "slice": asdict(cut)}
    return {
        "meta": _as_bytes(json.dumps(meta, sort_keys=True)),
        "tags": _as_bytes("\n".join(tags)),
        "words": _as_bytes("\n".join(words)),
        "tag_sizes": np.array([len(row) for row in tag_rows], np.uint8),
        "tag_columns": np.array([at for row in tag_rows for at in row], np.uint16),
        "word_sizes": np.array([len(row) for row in word_rows], np.uint8),
        "word_columns": np.array([at for row in word_rows for at in row], np.uint16),
        "word_counts": np.array(counts, np.uint8),
    }


def _columns(held: Iterable[Iterable[str]], names: list[str]) -> list[list[int]]:
    place = {name: at for at, name in enumerate(names)}
    return [sorted(place[name] for name in row if name in place) for row in held]


def _as_bytes(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), np.uint8)


def pack(arrays: dict[str, np.ndarray]) -> bytes:
    """Pack arrays as .npz without time stamps and without pickles."""
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
    """Find the release in the output of ``apt-cache policy``."""
    for line in policy.splitlines():
        parts = dict(
            part.split("=", 1)
            for part in line.strip().removeprefix("release ").split(",")
            if "=" in part
        )
        if parts.get("l") == "Debian" and parts.get("c") == "main" and "-" not in parts["n"]:
            return f"Debian {parts['v']} ({parts['n']}), main, {parts.get('b', 'all')}"
    return "unknown"


def _ask(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(arguments: list[str] | None = None) -> int:
    """Build the file; say what went into it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--dumpavail", type=Path, help="a file in place of `apt-cache dumpavail`")
    parser.add_argument("--release", help="where that file comes from")
    parser.add_argument("--packages", type=int, default=Slice.n_packages)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args(arguments)

    if options.dumpavail is None:
        text, release = _ask("apt-cache", "dumpavail"), parse_release(_ask("apt-cache", "policy"))
    else:
        text, release = options.dumpavail.read_text(encoding="utf-8"), options.release or "unknown"
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
