"""The wheel, installed where there is nothing but Python: no compiler, no home, no write access."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import venv
import zipfile
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import distribution
from pathlib import Path, PurePosixPath

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
COMPILERS = ("cc", "gcc", "clang", "c99", "zig", "cl")
# Whether a cat is there depends on the age, a dog on the city; a fish comes as it likes.
PEOPLE = "age,city,cat,dog,fish\n" + "".join(
    f"{30 + 40 * (at % 2)},{'north' if at % 3 else 'south'},{at % 2},{int(at % 3 > 0)},"
    f"{int(at * at % 7 < 2)}\n"
    for at in range(40)
)

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="paths of the environment are POSIX's"),
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build with what is installed here, so that nothing is downloaded."""
    import fcntl

    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w"]
    # Two builds at once in one folder of sources would take files from under each other.
    with (tmp_path_factory.getbasetemp().parent / "wheel.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run([*command, folder, ROOT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("scumble-*.whl")
    return built


@pytest.fixture(scope="module")
def machine(wheel, tmp_path_factory):
    """An environment with the wheel and the packages it asks for, and no others."""
    machine = Machine(tmp_path_factory.mktemp("machine"))
    for name in needed(wheel):
        machine.lend(name)
    machine.install(wheel)
    machine.forbid_writing()
    yield machine
    machine.allow_writing()


class Machine:
    """A computer that has Python, and of other packages those that were lent to it."""

    def __init__(self, folder):
        self.folder, self.home, self.work = folder, folder / "home", folder / "work"
        self.home.mkdir()
        self.work.mkdir()
        venv.create(folder / "env", with_pip=False)
        self.bin = folder / "env" / "bin"
        (self.site,) = (folder / "env" / "lib").glob("python*/site-packages")

    def lend(self, name):
        """Link the files of a package installed here; an editable one beside it is not seen."""
        found = distribution(name)
        for file in found.files or ():
            if ".." not in file.parts:
                target = self.site / file
                target.parent.mkdir(parents=True, exist_ok=True)
                try:
                    os.link(found.locate_file(file), target)
                except FileNotFoundError:  # a .pyc that was never written
                    continue
                except OSError:  # another disk
                    shutil.copy2(found.locate_file(file), target)

    def install(self, wheel):
        """Install the wheel as pip does, and let pip say whether anything it needs is missing."""
        pip = [sys.executable, "-m", "pip", "--python", self.bin / "python"]
        here = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        for command in (["install", "-q", "--no-deps", "--no-index", wheel], ["check"]):
            subprocess.run([*pip, *command], env=here, check=True, capture_output=True)

    @property
    def package(self):
        """The installed folder."""
        return self.site / "scumble"

    def forbid_writing(self):
        """Take away the right to write; it does not bind root, so tests also compare lists."""
        self._add_mode(-1)

    def allow_writing(self):
        """Give it back, so that the folder can be removed."""
        self._add_mode(+1)

    def _add_mode(self, sign):
        for path in (self.package, *self.package.rglob("*")):
            mode = path.stat().st_mode
            path.chmod(mode | stat.S_IWUSR if sign > 0 else mode & ~0o222)

    def listing(self):
        """List what the package's folder holds, to the nanosecond."""
        return {
            str(path.relative_to(self.package)): (path.stat().st_size, path.stat().st_mtime_ns)
            for path in self.package.rglob("*")
            if path.is_file()
        }

    def run(self, *command):
        """Run a command that sees this machine alone; return what it prints."""
        environment = {"PATH": str(self.bin), "HOME": str(self.home), "COLUMNS": "120"}
        done = subprocess.run(
            [self.bin / command[0], *command[1:]], cwd=self.work, env=environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def needed(wheel):
    """List the packages a wheel asks for, and those they ask for, as the metadata says."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = archive.read(name).decode()
    waiting = re.findall(r"^Requires-Dist: (.+)$", metadata, re.M)
    found = set()
    while waiting:
        asked = Requirement(waiting.pop())
        if asked.name not in found and (not asked.marker or asked.marker.evaluate({"extra": ""})):
            found.add(asked.name)
            waiting += distribution(asked.name).requires or []
    return sorted(found)


def test_the_wheel_holds_the_kernels_their_types_and_nothing_of_the_build(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = [PurePosixPath(name) for name in archive.namelist()]
    compiled = {str(n.parent / n.name.partition(".")[0]) for n in names if n.suffix == ".so"}
    sources = {
        str(path.relative_to(ROOT / "src").with_suffix("").as_posix()): path
        for path in (ROOT / "src").rglob("*.pyx")
    }
    assert compiled == {*sources, "scumble/_core/_memoryviews"}  # Cython's, for all of them
    assert all(n.name.endswith(EXTENSION_SUFFIXES[0]) for n in names if n.suffix == ".so")
    for suffix in (".pyi", ".pxd"):
        ours = {p.relative_to(ROOT / "src").as_posix() for p in (ROOT / "src").rglob(f"*{suffix}")}
        assert {str(n) for n in names if n.suffix == suffix} == ours
    assert "scumble/py.typed" in map(str, names)
    assert {n.suffix for n in names}.isdisjoint({".c", ".cpp", ".o", ".pyc"})
    modules = {str(n.with_suffix("")) for n in names if n.suffix == ".py"}
    assert modules.isdisjoint(compiled)
    here = {p.relative_to(ROOT / "src").with_suffix("") for p in (ROOT / "src").rglob("*.py")}
    assert modules == {path.as_posix() for path in here}  # none from an earlier build
    assert wheel.stat().st_size < 20e6


def test_the_machine_has_no_compiler_and_nothing_but_the_core(machine):
    assert not any(shutil.which(name, path=str(machine.bin)) for name in COMPILERS)
    code = (
        "import importlib.util as u, sys, scumble; print(scumble.__file__)\n"
        "print([n for n in sys.argv[1:] if u.find_spec(n)])"
    )
    absent = ("numba", "llvmlite", "Cython", "setuptools", "pip", "matplotlib", "pandas")
    file, found = machine.run("python", "-c", code, *absent).split("\n")[:2]
    assert Path(file).parent == machine.package
    assert found == "[]"


def test_the_demo_runs_and_writes_nothing_into_the_package(machine):
    before = machine.listing()
    printed = machine.run("scumble", "demo", "--output", "out")
    assert machine.listing() == before
    assert not list(machine.home.rglob("*"))
    assert "0.375" in printed  # the SCUMBLE of the embedded data
    assert (machine.work / "out" / "report.html").stat().st_size > 10_000
    arff = (machine.work / "out" / "debtags-remedial.arff").read_text(encoding="utf-8")
    assert "@data" in arff.lower()


def test_the_papers_numbers_and_plans_travel_with_the_package(machine):
    findings = json.loads(machine.run("scumble", "paper", "audit", "--json"))
    assert len(findings) == 445
    assert 'label = "HOMER"' in machine.run("scumble", "paper", "plan", "homer")


@pytest.mark.parametrize("classifier", ["br", "mlknn"])
def test_classifiers_are_evaluated_as_they_are_here(machine, classifier):
    (machine.work / "people.csv").write_text(PEOPLE, encoding="utf-8")
    before = machine.listing()
    arguments = [
        "evaluate",
        "people.csv",
        "-c",
        classifier,
        "--folds",
        "4",
        "--seed",
        "1",
        "--json",
    ]
    there = machine.run("scumble", *arguments, "--labels", "cat,dog,fish")
    here = subprocess.run(
        [sys.executable, "-m", "scumble", *arguments, "--labels", "cat,dog,fish"],
        cwd=machine.work, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(there)["metrics"] == json.loads(here.stdout)["metrics"]
    if classifier == "br":  # what follows from the features is learned without a fault
        plain = machine.run("scumble", *arguments, "--labels", "cat,dog")
        assert json.loads(plain)["metrics"]["hamming_loss"]["folds"] == [0.0, 0.0, 0.0, 0.0]
    assert machine.listing() == before
    assert not list(machine.home.rglob("*"))
