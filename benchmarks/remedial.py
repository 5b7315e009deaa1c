"""REMEDIAL against the mere gathering of the rows it returns."""

from __future__ import annotations

from benchmarks._tools import alternate, bound, dataset_path
from scumble import read
from scumble.resample import REMEDIAL


def remedial_against_gather():
    name = "REMEDIAL on tmc2007-500 over the gather X[i], Y[i]"
    path = dataset_path("tmc2007-500")
    if path is None:
        return {"name": name, "skipped": "the reference data is absent"}
    data = read(path)
    sampler = REMEDIAL()
    sampler.fit_resample(data.X, data.Y)
    rows = sampler.sample_indices_
    scumble_time, gather = alternate(
        lambda: sampler.fit_resample(data.X, data.Y),
        lambda: (data.X[rows], data.Y[rows]),
        repeats=15,
    )
    return bound(name, scumble_time / gather, at_most=2, ours_s=scumble_time, peer_s=gather)


ALL = [remedial_against_gather]
