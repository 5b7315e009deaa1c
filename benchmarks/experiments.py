"""The runner of experiments: what it costs beside its cells."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks._tools import bound, dataset_path

CLASSIFIERS = ("br", "clr", "ecc", "eps", "homer")


def overhead():
    """Compare the time of a run with that of its cells: claims, hand-outs, heartbeats, records.

    One worker, so that no time of the run is spent on two cells. The start of the process counts.
    """
    path = dataset_path("yeast")
    if path is None:
        return {"name": "experiments.overhead", "skipped": "no shared data sets"}
    from scumble.experiment import Plan, Store, run

    plan = Plan(
        name="overhead",
        datasets=[str(path)],
        classifiers=list(CLASSIFIERS),
        resamplers=["none", "remedial"],
        splitter={"name": "kfold", "n_splits": 5, "n_repeats": 2},
        seeds=[1],
    )
    with tempfile.TemporaryDirectory() as folder:
        spent = []
        for attempt in range(2):  # the first fills the caches of compiled kernels
            with Store(Path(folder) / f"{attempt}.db") as store:
                report = run(plan, store, n_jobs=1)
                cells = sum(row["seconds"] for row in store.cells())
            spent.append((report, cells))
    report, cells = spent[-1]
    return bound(
        "experiments.overhead of the runner, share of the cells' time",
        report.seconds / cells - 1,
        at_most=0.05,
        note=f"{report.n_done} cells of {cells:.1f} s in a run of {report.seconds:.1f} s",
    )


ALL = (overhead,)
