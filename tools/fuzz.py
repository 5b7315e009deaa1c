"""Damage valid files and read them: the result must be a data set, a model or a ScumbleError.

``python tools/fuzz.py [--count 1000000] [--seed 0] [--jobs 2] [--first 0] [--seconds T] [--only
KIND]``. Input number i of a seed is always the same, whichever process reads it. ``--first``
continues a run that was stopped, and ``--first i --count 1`` tries input i again. Inputs with any
other result are stored in ``build/fuzz`` under their numbers, and the exit status is 1. The memory
is printed, too: it must not grow with the number of inputs.
"""

from __future__ import annotations

import argparse
import bz2
import ctypes
import gc
import gzip
import io
import itertools
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
sys.path.insert(0, str(ROOT))  # the tests have the valid files

FAILED_INPUTS = ROOT / "build" / "fuzz"
#: Seconds after which an input has failed; these small files take much less.
SECONDS_PER_INPUT = 30
#: Part of the inputs after which memory is measured first; until then caches are filled.
WARM_UP = 0.2
#: Growth of memory after the warm-up that is allowed, whatever the number of inputs.
MAX_GROWTH_MB = 16.0
#: Names of the classifiers whose models are damaged.
MODELS = ("br", "ecc", "mlknn", "rare", "iblr", "homer")


@dataclass
class Sample:
    """A valid file of some kind, with a function that reads it and its companion files."""

    kind: str
    name: str
    content: bytes
    read: Callable[[Path], object]
    companions: dict[str, bytes] = field(default_factory=dict)  # contents by name


@dataclass
class Outcome:
    """The results of the inputs of one process."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)  # by kind and result
    failures: list[tuple[int, str, str]] = field(default_factory=list)  # number, kind and error
    seconds: float = 0.0
    warm_mb: float = 0.0
    end_mb: float = 0.0
    last_number: int = 0


def samples(only: str | None = None) -> list[Sample]:
    """Return valid files of all formats and of some models, or those of one kind."""
    kinds_of_makers = {
        _tables: ("parquet", "arrow", "feather"),
        _compressed_files: ("gz", "bz2", "xz", "zip", "zst"),
        _models: ("model",),
        _experiment_files: ("plan", "folds", "scores"),
    }
    if only is None:
        makers = [*kinds_of_makers, _text_files]
    else:
        makers = [maker for maker, kinds in kinds_of_makers.items() if only in kinds]
        makers = makers or [_text_files]
    made = itertools.chain.from_iterable(maker() for maker in makers)
    selected = [sample for sample in made if only in (None, sample.kind)]
    if not selected:
        raise SystemExit(f"there are no files of the kind {only!r}")
    return selected


def _reader(**options: Any) -> Callable[[Path], object]:
    """Return a function that reads a data set with these options."""
    import scumble

    return lambda path: scumble.read(path, **options)


def _text_files() -> list[Sample]:
    """Return files of the text formats."""
    from tests.data.formats import test_fuzz_arff as arff, test_fuzz_tables as tables

    made = []
    for name, seeds in tables.SEEDS.items():
        for content, options in seeds:
            made.append(Sample(name, "data", content, _reader(format=name, **options)))
            made.append(Sample(f"{name}, unnamed", "data", content, _reader()))
    for name, content, is_for_xml in arff.SEEDS:
        if is_for_xml:
            made.append(_xml_sample(arff.XML, content))
        else:
            companions = {"films.xml": arff.XML} if name == "mulan" else {}
            made.append(Sample(name, "films.arff", content, _reader(format=name), companions))
    return made


def _xml_sample(xml: bytes, content: bytes) -> Sample:
    """Return the XML file of a valid ARFF file, which is its companion."""
    import scumble

    def read(path: Path) -> object:
        return scumble.read(path.with_suffix(".arff"), format="mulan")

    return Sample("mulan xml", "films.xml", xml, read, {"films.arff": content})


def _tables() -> list[Sample]:
    """Return files of the binary formats."""
    import scumble

    films = scumble.MultilabelDataset(
        [[150.0, 0.5], [90.0, -1.0], [float("nan"), 3.0]], [["war"], ["war", "love"], []]
    )
    made = []
    with tempfile.TemporaryDirectory() as folder:
        for suffix in (".parquet", ".arrow", ".feather"):
            path = Path(folder) / f"films{suffix}"
            scumble.write(films, path)
            made.append(Sample(suffix[1:], path.name, path.read_bytes(), _reader()))
    return made


def _compressed_files() -> list[Sample]:
    """Return compressed files."""
    import pyarrow

    text = b"x,label:a,label:b\n" + b"".join(
        b"%d,%d,%d\n" % (i, i % 2, i % 3 == 0) for i in range(40)
    )
    contents = {
        "gz": gzip.compress(text, mtime=0),
        "bz2": bz2.compress(text),
        "xz": lzma.compress(text),
        "zip": _zip_file("a.csv", text),
        "zst": pyarrow.compress(text, codec="zstd", asbytes=True),
    }
    return [
        Sample(suffix, f"a.csv.{suffix}", content, _reader())
        for suffix, content in contents.items()
    ]


def _zip_file(name: str, content: bytes) -> bytes:
    """Return a zip file with one member."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def _models() -> list[Sample]:
    """Return model files; models that are read predict, too, if they can."""
    import numpy as np

    from scumble.data import MultilabelDataset
    from scumble.learn import fit_dataset, make_classifier, save

    rng = np.random.default_rng(1)
    X = rng.random((60, 4))
    data = MultilabelDataset(X, X[:, :3] > [0.3, 0.5, 0.8])
    rows = np.asarray(data.X[:5])
    made = []
    with tempfile.TemporaryDirectory() as folder:
        for name in MODELS:
            path = Path(folder) / name
            parameters = {} if name in ("br", "mlknn", "iblr") else {"random_state": 0}
            save(fit_dataset(make_classifier(name, **parameters), data), path, data=data)
            made.append(
                Sample(
                    "model",
                    "a.model",
                    path.read_bytes(),
                    lambda path: _load_and_predict(path, rows),
                )
            )
    return made


def _load_and_predict(path: Path, rows: Any) -> object:
    """Load a model and predict; return None if it cannot predict."""
    from scumble.learn import load

    model = load(path)
    try:  # a damaged model may raise any exception, but must not crash the process
        model.predict(rows)
    except MemoryError:
        raise
    except Exception:
        return None
    return model


def _experiment_files() -> list[Sample]:
    """Return files that are not data sets: plans, folds, scores."""
    import numpy as np

    from scumble.evaluate.model_selection.splitters import read_folds
    from scumble.experiment import read_plan
    from scumble.learn.storage.score_files import read_scores

    plan = (
        b'name = "a"\ndatasets = ["flags", { name = "yeast", label = "Y" }]\n'
        b'resamplers = ["none", { name = "mlros", percent = 10 }]\nclassifiers = ["br"]\n'
        b'seeds = [3, 4]\nmetrics = ["macro_f1"]\n'
    )
    array = io.BytesIO()
    arrays = io.BytesIO()
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


def damage(sample: Sample, other: bytes, generator: random.Random) -> bytes:
    """Return a damaged file; ``other`` is the content of another one, whose end may be appended."""
    from tests.data.formats import test_fuzz_arff as arff

    if sample.kind == "model" and generator.random() < 0.5:
        return _damage_members(sample.content, generator)
    if generator.random() < 0.1:
        start = generator.randrange(len(other) + 1)
        return sample.content[: generator.randrange(len(sample.content) + 1)] + other[start:]
    return arff.damage(sample.content, generator)


def _damage_members(content: bytes, generator: random.Random) -> bytes:
    """Return a valid zip file with damaged members: the description of a model, or its arrays."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            member = old.read(name)
            if name.endswith(".json"):
                member = _damage_json(member, generator)
            elif generator.random() < 0.2 and member:
                position = generator.randrange(len(member))
                member = member[:position] + generator.randbytes(1) + member[position + 1 :]
            new.writestr(name, member)
    return out.getvalue()


VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2**40, 1e308, "", "int64", "array", "object", [], {}, [-1, 5],
)  # fmt: skip


def _damage_json(text: bytes, generator: random.Random) -> bytes:
    """Replace one value in a JSON text."""
    document = json.loads(text)
    part: Any = document
    for _ in range(generator.randrange(1, 9)):
        children = part.values() if isinstance(part, dict) else part
        containers = [child for child in children if isinstance(child, dict | list) and child]
        if not containers:
            break
        part = generator.choice(containers)
    key = generator.choice(list(part) if isinstance(part, dict) else range(len(part)))
    part[key] = generator.choice(VALUES)
    return json.dumps(document).encode()


def make_input(number: int, seed: int, all_samples: list[Sample]) -> tuple[Sample, bytes]:
    """Return input ``number`` of a seed: a sample, and its damaged content."""
    generator = random.Random(f"{seed}/{number}")
    kinds = sorted({sample.kind for sample in all_samples})
    kind = kinds[number % len(kinds)]  # all kinds get the same number of inputs
    sample = generator.choice([sample for sample in all_samples if sample.kind == kind])
    other = generator.choice(all_samples)
    return sample, damage(sample, other.content, generator)


def try_input(sample: Sample, content: bytes, folder: Path) -> str:
    """Read a damaged file; return "read" or "refused"."""
    from scumble._core.errors import ScumbleError

    for name, valid_content in sample.companions.items():
        (folder / name).write_bytes(valid_content)
    path = folder / sample.name
    path.write_bytes(content)
    signal.alarm(SECONDS_PER_INPUT)
    try:
        sample.read(path)
    except ScumbleError:
        return "refused"
    finally:
        signal.alarm(0)
        for name in (sample.name, *sample.companions):
            (folder / name).unlink(missing_ok=True)
    return "read"


def run_share(options: argparse.Namespace, share: int) -> Outcome:
    """Try the inputs of one process: every ``jobs``-th, from ``share`` on."""
    signal.signal(signal.SIGALRM, _raise_too_slow)
    numbers = range(options.first + share, options.first + options.count, options.jobs)
    outcome = Outcome()
    all_samples = samples(options.only)
    started = time.monotonic()
    is_warm = False
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in all_samples:  # imports on first use are done now
            try_input(sample, sample.content, Path(folder))
        for n_done, number in enumerate(numbers):
            elapsed = time.monotonic() - started
            if options.seconds and elapsed > options.seconds:
                break
            progress = n_done / len(numbers)
            if options.seconds:
                progress = max(progress, elapsed / options.seconds)
            if progress >= WARM_UP and not is_warm:
                is_warm = True
                outcome.warm_mb = memory_mb()
            sample, content = make_input(number, options.seed, all_samples)
            options.current_numbers[share] = number  # is known even if the process crashes
            try:
                result = try_input(sample, content, Path(folder))
            except (Exception, TooSlow) as error:
                result = "failed"
                outcome.failures.append((number, sample.kind, _describe_error(error)))
                FAILED_INPUTS.mkdir(parents=True, exist_ok=True)
                name = f"{options.seed}-{number}-{sample.name}"
                (FAILED_INPUTS / name).write_bytes(content)
            outcome.counts[sample.kind, result] += 1
            outcome.last_number = number
    outcome.seconds = time.monotonic() - started
    outcome.end_mb = memory_mb()
    return outcome


class TooSlow(BaseException):
    """An input took too long. Not an `Exception`, which readers might take for an invalid file."""


def _raise_too_slow(*_: object) -> None:
    """Raise `TooSlow` when the alarm goes off."""
    raise TooSlow(f"more than {SECONDS_PER_INPUT} seconds")


def _describe_error(error: BaseException) -> str:
    """Return type, message and position of an exception in one line."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"[:300]


def memory_mb() -> float:
    """Return the memory of this process, without garbage and free memory that allocators keep.

    After thousands of small files the C library keeps about 20 MB of freed memory in fragments; it
    is returned on demand, so it is not a leak.
    """
    gc.collect()
    with suppress(ImportError):
        import pyarrow

        pyarrow.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:  # no such file: return the peak memory instead
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _run_and_send(options: argparse.Namespace, share: int, connection: Any) -> None:
    """Try the inputs of one process and send the outcome; run in a child process."""
    connection.send(run_share(options, share))


def run(options: argparse.Namespace) -> tuple[list[Outcome], list[str]]:
    """Try all inputs in several processes; return their outcomes, and messages on crashes."""
    context = multiprocessing.get_context("spawn")
    options.current_numbers = context.Array("q", options.jobs)
    if options.jobs == 1:
        return [run_share(options, 0)], []
    workers = []
    for share in range(options.jobs):
        receiver, sender = context.Pipe(duplex=False)
        worker = context.Process(target=_run_and_send, args=(options, share, sender))
        worker.start()
        sender.close()  # so that the pipe is closed when the process ends
        workers.append((worker, receiver))
    outcomes = []
    crashes = []
    for share, (worker, receiver) in enumerate(workers):
        try:
            outcomes.append(receiver.recv())
        except EOFError:
            worker.join()
            number = options.current_numbers[share]
            crashes.append(f"process {share} died of input {number}: exit code {worker.exitcode}")
        worker.join()
    return outcomes, crashes


def summarize(outcomes: list[Outcome], crashes: list[str]) -> bool:
    """Print the results of all inputs; return whether there are no failures."""
    counts = sum((outcome.counts for outcome in outcomes), Counter[tuple[str, str]]())
    print(f"{'kind':<18}{'read':>10}{'refused':>10}{'failed':>8}")
    for kind in sorted({kind for kind, _ in counts}):
        print(
            f"{kind:<18}{counts[kind, 'read']:>10,}{counts[kind, 'refused']:>10,}"
            f"{counts[kind, 'failed']:>8,}"
        )
    failures: list[tuple[int, str, str]] = []
    growths = []
    for outcome in outcomes:
        n_inputs = sum(outcome.counts.values())
        print(
            f"{n_inputs:,} inputs in {outcome.seconds:,.0f} s, "
            f"{n_inputs / outcome.seconds:,.0f} a second; "
            f"memory {outcome.warm_mb:.0f} MB when warm, {outcome.end_mb:.0f} MB at the end; "
            f"the last was number {outcome.last_number}"
        )
        failures += outcome.failures
        if outcome.warm_mb:
            growths.append(outcome.end_mb - outcome.warm_mb)
    for number, kind, error in sorted(failures)[:20]:
        print(f"input {number} ({kind}): {error}")
    for message in crashes:
        print(message)
    max_growth = max(growths, default=0.0)
    has_leak = max_growth > MAX_GROWTH_MB
    if has_leak:
        print(f"memory grew by {max_growth:.0f} MB, where {MAX_GROWTH_MB:.0f} are allowed")
    is_well = not has_leak and not failures and not crashes
    verdict = "all is well" if is_well else "look above"
    print(f"fuzz: {sum(counts.values()):,} inputs, {len(failures)} failed; {verdict}")
    return is_well


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Parse the arguments."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=1_000_000, help="number of inputs")
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="processes that share the inputs")
    parser.add_argument("--seconds", type=float, help="stop after this time")
    parser.add_argument("--only", help="one kind of file")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Try the inputs; return 1 as the exit status if any fails."""
    outcomes, crashes = run(parse(arguments))
    return 0 if summarize(outcomes, crashes) else 1


if __name__ == "__main__":
    sys.exit(main())
