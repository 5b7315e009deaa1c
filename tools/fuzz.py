"""Damage good files and read them: only a data set, a model or a ScumbleError may come of it.

``python tools/fuzz.py [--count 1000000] [--seed 0] [--jobs 2] [--first 0] [--seconds T] [--only
KIND]``. Input number i of a seed is always the same, whoever reads it: processes take turns,
``--first`` goes on where a run was stopped, and ``--first i --count 1`` tries input i again. What
ends otherwise is kept in ``build/fuzz`` under its number, and the exit status is 1. Memory is told,
too: it must not grow with the number of inputs.
"""

from __future__ import annotations

import argparse
import bz2
import ctypes
import gc
import gzip
import io
import json
import lzma
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the good files are those of the tests

KEPT = ROOT / "build" / "fuzz"
SECONDS_EACH = 30  # longer than any of these small files may take
WARM = 0.2  # of the inputs; until then caches fill
#: Growth after that which a run may show, whatever its length.
ALLOWED_MB = 16.0
MODELS = ("br", "ecc", "mlknn", "rare", "iblr", "homer")


@dataclass
class Sample:
    """A good file: its kind, its name, its content, how it is read, and files beside it."""

    kind: str
    name: str
    content: bytes
    read: Callable[[Path], object]
    beside: dict[str, bytes] = field(default_factory=dict)


@dataclass
class Outcome:
    """What became of the inputs of one process."""

    ended: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: list[tuple[int, str, str]] = field(default_factory=list)
    seconds: float = 0.0
    warm_mb: float = 0.0
    end_mb: float = 0.0
    at: int = 0


def samples(only: str | None = None) -> list[Sample]:
    """Make the good files, of all formats and some models, or those of one kind."""
    makers = {
        _tables: ("parquet", "arrow", "feather"),
        _packed: ("gz", "bz2", "xz", "zip", "zst"),
        _models: ("model",),
        _others: ("plan", "folds", "scores"),
    }
    wanted = [maker for maker, kinds in makers.items() if only is None or only in kinds]
    all_ = [sample for maker in wanted or [_text_files] for sample in maker()]
    all_ += _text_files() if only is None else []
    found = [sample for sample in all_ if only in (None, sample.kind)]
    if not found:
        raise SystemExit(f"there are no files of the kind {only!r}")
    return found


def _reader(**how: Any) -> Callable[[Path], object]:
    import scumble

    return lambda path: scumble.read(path, **how)


def _text_files() -> list[Sample]:
    from tests.data.formats import test_fuzz_arff as arff, test_fuzz_tables as tables

    found = []
    for name, seeds in tables.SEEDS.items():
        for content, how in seeds:
            found.append(Sample(name, "data", content, _reader(format=name, **how)))
            found.append(Sample(f"{name}, unnamed", "data", content, _reader()))
    for name, content, of_xml in arff.SEEDS:
        beside = {} if name != "mulan" else {"films.xml": arff.XML}
        read = _reader(format=name)
        if of_xml:
            found.append(_of_xml(arff.XML, content))
        else:
            found.append(Sample(name, "films.arff", content, read, beside))
    return found


def _of_xml(xml: bytes, content: bytes) -> Sample:
    """Damage the XML file beside a good ARFF file."""
    import scumble

    def read(path: Path) -> object:
        return scumble.read(path.with_suffix(".arff"), format="mulan")

    return Sample("mulan xml", "films.xml", xml, read, {"films.arff": content})


def _tables() -> list[Sample]:
    """Make files of the binary formats."""
    import scumble

    films = scumble.MultilabelDataset(
        [[150.0, 0.5], [90.0, -1.0], [float("nan"), 3.0]], [["war"], ["war", "love"], []]
    )
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for suffix in (".parquet", ".arrow", ".feather"):
            path = Path(folder) / f"films{suffix}"
            scumble.write(films, path)
            found.append(Sample(suffix[1:], path.name, path.read_bytes(), _reader()))
    return found


def _packed() -> list[Sample]:
    """Make compressed files."""
    import pyarrow

    text = b"x,label:a,label:b\n" + b"".join(
        b"%d,%d,%d\n" % (i, i % 2, i % 3 == 0) for i in range(40)
    )
    packed = {
        "gz": gzip.compress(text, mtime=0),
        "bz2": bz2.compress(text),
        "xz": lzma.compress(text),
        "zip": _zipped("a.csv", text),
        "zst": pyarrow.compress(text, codec="zstd", asbytes=True),
    }
    return [Sample(end, f"a.csv.{end}", content, _reader()) for end, content in packed.items()]


def _zipped(name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def _models() -> list[Sample]:
    """Make model files; those read are asked, too, if they can be."""
    import numpy as np

    from scumble.data import MultilabelDataset
    from scumble.learn import fit_dataset, make_classifier, save

    rng = np.random.default_rng(1)
    X = rng.random((60, 4))
    data = MultilabelDataset(X, X[:, :3] > [0.3, 0.5, 0.8])
    rows = np.asarray(data.X[:5])
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name in MODELS:
            path = Path(folder) / name
            more = {} if name in ("br", "mlknn", "iblr") else {"random_state": 0}
            save(fit_dataset(make_classifier(name, **more), data), path, data=data)
            found.append(
                Sample("model", "a.model", path.read_bytes(), lambda path: _ask(path, rows))
            )
    return found


def _ask(path: Path, rows: Any) -> object:
    from scumble.learn import load

    model = load(path)
    try:  # a model that was changed may refuse in any way, but must not take the process down
        model.predict(rows)
    except MemoryError:
        raise
    except Exception:
        return None
    return model


def _others() -> list[Sample]:
    """Make files that are no data sets: plans, folds, scores."""
    import numpy as np

    from scumble.evaluate.splitters import read_folds
    from scumble.experiment import read_plan
    from scumble.learn.score_files import read_scores

    plan = (
        b'name = "a"\ndatasets = ["flags", { name = "yeast", label = "Y" }]\n'
        b'resamplers = ["none", { name = "mlros", percent = 10 }]\nclassifiers = ["br"]\n'
        b'seeds = [3, 4]\nmetrics = ["macro_f1"]\n'
    )
    array, arrays = io.BytesIO(), io.BytesIO()
    np.save(array, np.linspace(0, 1, 12).reshape(4, 3))
    np.savez_compressed(arrays, scores=np.linspace(0, 1, 12).reshape(4, 3))
    return [
        Sample("plan", "plan.toml", plan, read_plan),
        Sample("folds", "folds.csv", b"instance,fold\n0,0\n1,1\n2,0\n3,1\n", read_folds),
        Sample(
            "scores", "a.csv", b"war,love\n0.5,1\n0.25,0\n", lambda path: read_scores(str(path))
        ),
        Sample("scores", "a.npy", array.getvalue(), lambda path: read_scores(str(path))),
        Sample("scores", "a.npz", arrays.getvalue(), lambda path: read_scores(str(path))),
    ]


def damage(sample: Sample, other: bytes, chance: random.Random) -> bytes:
    """Damage a file by one of several hands; a zip file is now and then damaged from within."""
    from tests.data.formats import test_fuzz_arff as arff

    if sample.kind == "model" and chance.random() < 0.5:
        return _damaged_inside(sample.content, chance)
    if chance.random() < 0.1:
        cut = chance.randrange(len(other) + 1)
        return sample.content[: chance.randrange(len(sample.content) + 1)] + other[cut:]
    return arff.damage(sample.content, chance)


def _damaged_inside(content: bytes, chance: random.Random) -> bytes:
    """Change the description in a model file, so that the archive itself is whole."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            if name.endswith(".json"):
                part = _changed_json(part, chance)
            elif chance.random() < 0.2 and part:
                at = chance.randrange(len(part))
                part = part[:at] + chance.randbytes(1) + part[at + 1 :]
            new.writestr(name, part)
    return out.getvalue()


VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2**40, 1e308, "", "int64", "array", "object", [], {}, [-1, 5],
)  # fmt: skip


def _changed_json(text: bytes, chance: random.Random) -> bytes:
    whole = json.loads(text)
    part: Any = whole
    for _ in range(chance.randrange(1, 9)):
        inside = part.values() if isinstance(part, dict) else part
        inner = [each for each in inside if isinstance(each, dict | list) and each]
        if not inner:
            break
        part = chance.choice(inner)
    key = chance.choice(list(part) if isinstance(part, dict) else range(len(part)))
    part[key] = chance.choice(VALUES)
    return json.dumps(whole).encode()


def make_input(number: int, seed: int, all_: list[Sample]) -> tuple[Sample, bytes]:
    """Make input ``number`` of a seed."""
    chance = random.Random(f"{seed}/{number}")
    kinds = sorted({sample.kind for sample in all_})
    kind = kinds[number % len(kinds)]  # every kind gets its share, however many samples it has
    sample = chance.choice([sample for sample in all_ if sample.kind == kind])
    return sample, damage(sample, chance.choice(all_).content, chance)


def try_input(sample: Sample, content: bytes, folder: Path) -> str:
    """Read a damaged file; tell whether it was read or refused."""
    from scumble._core.errors import ScumbleError

    for name, good in sample.beside.items():
        (folder / name).write_bytes(good)
    path = folder / sample.name
    path.write_bytes(content)
    signal.alarm(SECONDS_EACH)
    try:
        sample.read(path)
    except ScumbleError:
        return "refused"
    finally:
        signal.alarm(0)
        for name in (sample.name, *sample.beside):
            (folder / name).unlink(missing_ok=True)
    return "read"


def run_share(options: argparse.Namespace, share: int) -> Outcome:
    """Try the inputs of one process: every ``jobs``-th."""
    signal.signal(signal.SIGALRM, _too_slow)
    numbers = range(options.first + share, options.first + options.count, options.jobs)
    out, all_ = Outcome(), samples(options.only)
    began, is_warm = time.monotonic(), False
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in all_:  # whatever is loaded on first use is loaded now
            try_input(sample, sample.content, Path(name))
        for done, number in enumerate(numbers):
            passed = time.monotonic() - began
            if options.seconds and passed > options.seconds:
                break
            part = max(done / len(numbers), passed / options.seconds if options.seconds else 0)
            if part >= WARM and not is_warm:
                is_warm, out.warm_mb = True, memory_mb()
            sample, content = make_input(number, options.seed, all_)
            options.places[share] = number  # known even if the process dies of the input
            try:
                ended = try_input(sample, content, Path(name))
            except (Exception, TooSlow) as error:
                ended = "failed"
                out.failures.append((number, sample.kind, _told(error)))
                KEPT.mkdir(parents=True, exist_ok=True)
                (KEPT / f"{options.seed}-{number}-{sample.name}").write_bytes(content)
            out.ended[sample.kind, ended] += 1
            out.at = number
    out.seconds, out.end_mb = time.monotonic() - began, memory_mb()
    return out


class TooSlow(BaseException):
    """An input took too long; nobody on the way may take it for an error of the file."""


def _too_slow(*_: object) -> None:
    raise TooSlow(f"more than {SECONDS_EACH} seconds")


def _told(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"[:300]


def memory_mb() -> float:
    """Tell how much memory this process holds now, without garbage and what allocators keep.

    The C library keeps freed memory that lies in pieces, some 20 MB after thousands of small files;
    it gives it back on demand, so it is no leak.
    """
    gc.collect()
    with suppress(ImportError):
        import pyarrow

        pyarrow.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:  # no such file: the most it has held so far
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _work(options: argparse.Namespace, share: int, answer: Any) -> None:
    answer.send(run_share(options, share))


def run(options: argparse.Namespace) -> tuple[list[Outcome], list[str]]:
    """Try all inputs, in as many processes as asked for; tell what became of them, and who died."""
    context = multiprocessing.get_context("spawn")
    options.places = context.Array("q", options.jobs)
    if options.jobs == 1:
        return [run_share(options, 0)], []
    workers = []
    for share in range(options.jobs):
        here, there = context.Pipe(duplex=False)
        worker = context.Process(target=_work, args=(options, share, there))
        worker.start()
        there.close()  # so that the end of the process is the end of the pipe
        workers.append((worker, here))
    found, dead = [], []
    for share, (worker, here) in enumerate(workers):
        try:
            found.append(here.recv())
        except EOFError:
            worker.join()
            last = options.places[share]
            dead.append(f"process {share} died of input {last}: exit code {worker.exitcode}")
        worker.join()
    return found, dead


def summarize(outcomes: list[Outcome], dead: list[str]) -> bool:
    """Print what became of the inputs; tell whether all is well."""
    ended = sum((each.ended for each in outcomes), Counter[tuple[str, str]]())
    print(f"{'kind':<18}{'read':>10}{'refused':>10}{'failed':>8}")
    for kind in sorted({kind for kind, _ in ended}):
        counts = [ended[kind, how] for how in ("read", "refused", "failed")]
        print(f"{kind:<18}{counts[0]:>10,}{counts[1]:>10,}{counts[2]:>8,}")
    for each in outcomes:
        count = sum(each.ended.values())
        print(
            f"{count:,} inputs in {each.seconds:,.0f} s, {count / each.seconds:,.0f} a second; "
            f"memory {each.warm_mb:.0f} MB when warm, {each.end_mb:.0f} MB at the end; "
            f"the last was number {each.at}"
        )
    failures = sorted(failure for each in outcomes for failure in each.failures)
    for number, kind, told in failures[:20]:
        print(f"input {number} ({kind}): {told}")
    for told in dead:
        print(told)
    grown = [each.end_mb - each.warm_mb for each in outcomes if each.warm_mb]
    flat = all(growth <= ALLOWED_MB for growth in grown)
    if not flat:
        print(f"memory grew by {max(grown):.0f} MB, where {ALLOWED_MB:.0f} are allowed")
    total = sum(ended.values())
    well = flat and not failures and not dead
    print(
        f"fuzz: {total:,} inputs, {len(failures)} failed; {'all is well' if well else 'look above'}"
    )
    return well


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Understand the arguments."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=1_000_000, help="how many inputs")
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="processes that share the inputs")
    parser.add_argument("--seconds", type=float, help="stop after so long")
    parser.add_argument("--only", help="one kind of file")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Try the inputs; any failure is an exit status of 1."""
    outcomes, dead = run(parse(arguments))
    return 0 if summarize(outcomes, dead) else 1


if __name__ == "__main__":
    sys.exit(main())
