"""The embedded data: what it holds, and the script that rebuilds it."""

import importlib.util
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from scumble.data.public.embedded import debtags_source, load_debtags
from scumble.measures import cardinality, irlbl, max_ir, mean_ir, scumble, scumble_by_label

SCRIPT = Path(__file__).resolve().parents[3] / "tools" / "build_debtags.py"

# Four packages with tags and one without; long fields fold, tags may be written in groups.
DUMPAVAIL = """\
Package: alpha
Description: Editor for text, a text editor
Tag: interface::{x11,text-mode}, role::program,
 use::editing
Section: editors

Package: beta
Description: library for text
Tag: role::shared-lib, devel::library, suite::TODO

Package: gamma
Description: no tags at all

Package: alpha
Version: 2
Description: the second version does not count
Tag: role::documentation, made-of::html

Package: delta
Description: the text library's documentation
Tag: role::documentation

Package: epsilon
Description: Viewer for text
Tag: role::program, interface::x11
"""


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("build_debtags", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["build_debtags"] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def debtags():
    return load_debtags()


def test_the_slice_has_the_recorded_size(debtags):
    assert debtags.name == "debtags"
    assert (debtags.n_instances, debtags.n_features, debtags.n_labels) == (5000, 949, 431)
    assert debtags.Y.nnz == 24292
    assert debtags.X.nnz == 19872
    assert debtags.is_sparse


def test_the_slice_has_the_recorded_measures(debtags):
    assert cardinality(debtags.Y) == pytest.approx(4.8584, abs=1e-9)
    assert mean_ir(debtags.Y) == pytest.approx(285.81071180100486, abs=1e-9)
    assert max_ir(debtags.Y) == 842.0
    assert scumble(debtags.Y) == pytest.approx(0.37488202168799606, abs=1e-9)


def test_the_frequent_and_the_rare_tags_are_the_recorded_ones(debtags):
    counts = dict(zip(debtags.labels, np.bincount(debtags.Y.indices).tolist(), strict=True))

    assert counts["devel::library"] == 2526
    assert counts["role::program"] == 1965
    assert counts["culture::galician"] == 3
    assert min(counts.values()) == 3


def test_rare_tags_are_difficult(debtags):
    """The point of the data: most minority tags mostly meet frequent ones."""
    ratios = irlbl(debtags.Y)
    minority = ratios > ratios.mean()

    assert minority.sum() == 159
    assert np.median(scumble_by_label(debtags.Y)[minority]) > 0.75


def test_features_are_counts_of_words(debtags):
    assert "library" in debtags.feature_names
    assert all(feature.integer and feature.kind == "numeric" for feature in debtags.features)
    assert np.unique(debtags.X.data).tolist() == [1.0, 2.0]


def test_the_file_is_small_and_says_where_it_comes_from(debtags):
    path = Path(sys.modules["scumble.data.public.embedded"].__file__).with_name("debtags.npz")

    assert path.stat().st_size < 100_000
    assert debtags_source()["source"] == "Debian 12.15 (bookworm), main, amd64"
    assert debtags_source()["slice"]["n_packages"] == len(debtags)


def test_a_paragraph_is_read_with_its_folded_lines(script):
    fields = script.parse_fields(DUMPAVAIL.split("\n\n")[0])

    assert fields["Package"] == "alpha"
    assert fields["Tag"] == "interface::{x11,text-mode}, role::program, use::editing"
    assert fields["Section"] == "editors"


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        ("role::program", {"role::program"}),
        ("a::b, c::{d, e:f}, g::h", {"a::b", "c::d", "c::e:f", "g::h"}),
        ("a::{b,c}", {"a::b", "a::c"}),
        ("suite::TODO, a::b", {"a::b"}),
        ("", set()),
    ],
)
def test_tags_are_read_plain_and_in_groups(script, value, tags):
    assert script.parse_tags(value) == tags


def test_words_are_counted_without_the_commonest(script):
    counts = script.count_words("The C++ editor for GTK+ 3: an editor")

    assert counts == Counter({"editor": 2, "c++": 1, "gtk+": 1})


def test_of_several_versions_the_first_counts(script):
    packages = list(script.read_packages(DUMPAVAIL.splitlines(keepends=True)))

    assert [package.name for package in packages] == ["alpha", "beta", "delta", "epsilon"]
    assert packages[0].words == Counter({"text": 2, "editor": 2})


def test_the_slice_keeps_packages_in_order_and_drops_rare_names(script):
    packages = list(script.read_packages(DUMPAVAIL.splitlines(keepends=True)))
    cut = script.Slice(n_packages=3, min_packages_per_tag=2, min_packages_per_word=3)

    arrays = script.tabulate(packages, cut, release="by hand")

    # delta has one tag only; of alpha, beta, epsilon the shared tags and the shared word remain
    assert arrays["tags"].tobytes() == b"interface::x11\nrole::program"
    assert arrays["tag_sizes"].tolist() == [2, 0, 2]
    assert arrays["tag_columns"].tolist() == [0, 1, 0, 1]
    assert arrays["words"].tobytes() == b"text"
    assert arrays["word_counts"].tolist() == [2, 1, 1]


def test_packages_are_chosen_by_a_hash_of_their_names(script):
    packages = list(script.read_packages(DUMPAVAIL.splitlines(keepends=True)))
    two = {p.name for p in script.choose_packages(packages, script.Slice(n_packages=2))}

    assert len(two) == 2
    assert two == {p.name for p in script.choose_packages(packages[::-1], script.Slice(2))}


def test_the_release_is_found_in_the_policy(script):
    policy = """\
 100 /var/lib/dpkg/status
     release a=now
 500 http://example.org/debian-security bookworm-security/main amd64 Packages
     release v=12,o=Debian,a=stable-security,n=bookworm-security,l=Debian-Security,c=main,b=amd64
 500 http://example.org/debian bookworm/main amd64 Packages
     release v=12.9,o=Debian,a=stable,n=bookworm,l=Debian,c=main,b=amd64
"""
    assert script.parse_release(policy) == "Debian 12.9 (bookworm), main, amd64"
    assert script.parse_release("") == "unknown"


def test_the_script_writes_the_same_bytes_every_time(tmp_path):
    source = tmp_path / "dumpavail.txt"
    source.write_text(DUMPAVAIL + _more_packages(), encoding="utf-8")
    first, second = tmp_path / "first.npz", tmp_path / "second.npz"

    for output in (first, second):
        command = [sys.executable, SCRIPT, "--dumpavail", source, "--output", output]
        subprocess.run([*command, "--release", "by hand"], check=True, capture_output=True)

    assert first.read_bytes() == second.read_bytes()
    with np.load(first, allow_pickle=False) as archive:
        assert json.loads(archive["meta"].tobytes())["source"] == "by hand"
        assert archive["tags"].tobytes() == b"interface::x11\nrole::program\nuse::viewing"
        assert archive["words"].tobytes() == b"text\nviewer"
        assert archive["tag_sizes"].tolist() == [2, 0, 2, 3, 3, 3, 3]


def _more_packages() -> str:
    paragraph = (
        "\nPackage: zeta{0}\nDescription: viewer of text\n"
        "Tag: role::program, use::viewing, interface::x11\n"
    )
    return "".join(paragraph.format(number) for number in range(4))
