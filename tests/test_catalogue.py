"""The catalogue: what other packages add, by hand and by entry points, and dotted names."""

import importlib
import json
import sys

import numpy as np
import pytest

import scumble
from scumble import catalogue
from scumble._core import registry
from scumble._core.errors import ParameterError, ParameterTypeError, ScumbleWarning
from scumble.evaluate import evaluate
from scumble.learn import MLkNN, make_classifier
from scumble.resample import MLROS, BaseResampler, make_chain
from tests.cli.test_cli import run

Y = [[1, 0], [1, 0], [1, 1]]
PACKAGE = '''
"""A package of somebody else's."""

from scumble import catalogue
from scumble.data import MultilabelDataset
from scumble.data.formats.base import Format
from scumble.evaluate import bipartition_metric
from scumble.learn import MLkNN
from scumble.resample import MLROS


class Doubled(MLROS):
    """Clone as many rows as there are."""

    def __init__(self, *, percent=100, random_state=None):
        super().__init__(percent=percent, random_state=random_state)


class OneNear(MLkNN, name="onenear", display_group="Neighbours"):
    """Ask the nearest row."""

    def __init__(self, n_neighbors=1):
        super().__init__(n_neighbors)


@bipartition_metric()
def all_hits(counts, undefined):
    """Share of all cells that are there and predicted."""
    return float(counts.by_label.true_positives.sum() / counts.Y.shape[0] / counts.Y.shape[1])


def read_hello(source, *, labels=None):
    return MultilabelDataset([[0.0]], [["hello"]])


def write_hello(dataset, target):
    raise NotImplementedError  # nobody calls it


FORMAT = Format(
    name="hello",
    title="One line of greeting",
    suffixes=(".hello",),
    sniff=lambda source, head: float(head.startswith(b"HELLO")),
    read=read_hello,
    write=write_hello,
    preserved_parts=frozenset(),
)
catalogue.register("resampler", "doubled", Doubled, display_group="Add rows")
'''
ADDED = [
    ("resampler", "doubled"),
    ("classifier", "onenear"),
    ("metric", "all_hits"),
    ("format", "hello"),
]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package that is installed beside scumble and names its module in its entry points."""
    (tmp_path / "greeting.py").write_text(PACKAGE)
    info = tmp_path / "greeting-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[scumble.plugins]\ngreeting = greeting\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    registry.load_plugins.cache_clear()
    yield tmp_path
    for kind, name in ADDED:
        registry.unregister(kind, name)
    sys.modules.pop("greeting", None)


@pytest.fixture
def doubled():
    class Doubled(MLROS):
        """Clone as many rows as there are."""

        def __init__(self, *, percent=100, random_state=None):
            super().__init__(percent=percent, random_state=random_state)

    yield Doubled
    catalogue.unregister("resampler", "doubled")


def test_what_is_registered_can_be_had_by_name(doubled):
    catalogue.register("resampler", "doubled", doubled, display_group="Add rows")
    assert "doubled" in catalogue.names("resampler")
    entry = catalogue.describe("resampler", "Doubled")
    assert (entry.display_group, entry.description) == (
        "Add rows",
        "Clone as many rows as there are.",
    )
    [step] = make_chain("doubled", random_state=0)
    assert len(step.fit_resample(np.zeros((40, 1)), Y * 13 + [[0, 1]])[0]) > 40
    catalogue.register("resampler", "doubled", doubled)  # again, as a notebook does


def test_a_second_name_is_a_second_entry():
    catalogue.register(
        "resampler", "clones", MLROS, display_group="Mine", description="Clone rows."
    )
    try:
        entry = catalogue.describe("resampler", "clones")
        assert (entry.name, entry.display_group, entry.obj) == ("clones", "Mine", MLROS)
        assert catalogue.describe("resampler", "mlros").name == "mlros"
    finally:
        catalogue.unregister("resampler", "clones")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            ("resampler", "remedial", MLROS),
            ParameterError,
            "The resampler 'remedial' is registered twice",
        ),
        (("resampler", "My.Own", MLROS), ParameterError, "in lower case, without dots"),
        (("resampler", "a+b", MLROS), ParameterError, "plus signs"),
        (("resampler", "own", MLkNN), ParameterTypeError, "it has no 'fit_resample'"),
        (("resampler", "own", MLROS()), ParameterTypeError, "it is not a class"),
        (("metric", "own", len), ParameterTypeError, "is not a metric: it has no 'function'"),
        (
            ("sampler", "own", MLROS),
            ParameterError,
            "'sampler'. Did you mean 'resampler'",
        ),
    ],
)
def test_what_cannot_be_registered(arguments, error, message):
    with pytest.raises(error, match=message):
        catalogue.register(*arguments)


def test_plugins_are_loaded_when_they_are_asked_for_and_not_before(package):
    assert make_chain("mlros")
    assert "greeting" not in sys.modules
    assert [type(step).__name__ for step in make_chain("remedial+doubled")] == [
        "REMEDIAL",
        "Doubled",
    ]
    assert "greeting" in sys.modules
    assert make_classifier("onenear").fit([[0.0], [1.0]], [[1], [0]]).n_labels_ == 1
    assert evaluate(Y, Y)["all_hits"] == pytest.approx(4 / 6)
    assert [catalogue.describe(*each).description for each in ADDED] == [
        "Clone as many rows as there are.",
        "Ask the nearest row.",
        "Share of all cells that are there and predicted.",
        "One line of greeting",
    ]


def test_a_file_that_only_a_plugin_reads(package):
    path = package / "a.hello"
    path.write_text("HELLO WORLD")
    assert scumble.read(path).labels == ("hello",)


def test_a_plugin_that_fails_is_named_and_left_out(package):
    (package / "greeting.py").write_text("import nonesuch\n")
    with pytest.warns(ScumbleWarning, match=r"plug-in 'greeting' .* 'greeting' .* 'nonesuch'"):
        found = catalogue.names("resampler")
    assert "remedial" in found


def test_a_dotted_name_is_imported(tmp_path, monkeypatch, capsys):
    (tmp_path / "dotted_home.py").write_text(
        "from scumble.resample import MLROS\nclass Mine(MLROS): ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    [_, mine] = make_chain("remedial+dotted_home.Mine", percent=10)
    assert (type(mine).__name__, mine.percent) == ("Mine", 10)
    assert isinstance(mine, BaseResampler)
    assert make_classifier("sklearn.neighbors.KNeighborsClassifier", n_neighbors=2).n_neighbors == 2
    path = tmp_path / "out.arff"
    out, _ = run(
        capsys, "resample", "debtags", path, "-r", "dotted_home.Mine", "--percent", "1", "--json"
    )
    assert json.loads(out)["methods"][0]["method"] == "Mine"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nonesuch.Mine", "There is no resampler 'nonesuch.Mine': No module named 'nonesuch'"),
        ("scumble.resample.Mine", "There is no resampler 'scumble.resample.Mine'"),
        ("os.path", "is not a resampler: it has no 'fit_resample'"),
        (".Mine", "There is no resampler '.Mine'"),
    ],
)
def test_dotted_names_that_lead_nowhere(name, message):
    with pytest.raises(scumble.ScumbleError, match=message):
        make_chain(name)


def test_the_command_line_lists_everything_with_its_parameters(capsys):
    for kind in registry.KINDS:
        out, _ = run(capsys, "methods", kind)
        for name in catalogue.names(kind):
            entry = catalogue.describe(kind, name)
            assert f"  {name} " in out
            assert entry.display_group in out
            assert entry.description.split()[0] in out
    out, _ = run(capsys, "methods", "resampler", "mlsmote")
    assert "n_neighbors: an int in [1, inf) (default: 5)" in out
    [rare] = json.loads(run(capsys, "methods", "classifier", "rare", "--json")[0])
    assert rare["parameters"][0]["allowed"] == "one of 'fast', 'best'"
    assert "default" not in run(capsys, "methods", "splitter", "fixed")[0]


def test_every_entry_has_a_family_and_a_description():
    for kind in registry.KINDS:
        for name in catalogue.names(kind):
            entry = catalogue.describe(kind, name)
            assert entry.display_group != "More", (kind, name)
            assert entry.description, (kind, name)
