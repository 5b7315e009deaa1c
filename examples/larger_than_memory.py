"""
Larger than memory, on a small scale
====================================

Label tables with a billion assignments are measured where they lie, by SQL on DuckDB with a limit
on memory. This example takes the same road with a table that is made in a second, and shows that
the numbers are those of memory.
"""

# %%
# A table with one label per row, as logs and databases have it: 150,000 instances in a Parquet
# file.

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

import scumble

rng = np.random.default_rng(0)
n_instances, n_labels = 150_000, 300
chance = 1 / np.arange(1, n_labels + 1)
sizes = rng.integers(1, 6, n_instances)
labels = rng.choice(n_labels, sizes.sum(), p=chance / chance.sum())
instances = np.repeat(np.arange(n_instances), sizes)
pairs = np.unique(np.column_stack([instances, labels]), axis=0)
print(f"{len(pairs):,} assignments")

folder = TemporaryDirectory()
path = Path(folder.name, "pairs.parquet")
pq.write_table(pa.table({"instance": pairs[:, 0], "label": pairs[:, 1]}), path)

# %%
# `scumble.scan` reads nothing yet; `characterize` takes what it gives as it takes a data set.

with scumble.scan(
    path, label_column="label", instance_column="instance", memory="300MB"
) as scanned:
    outside = scumble.characterize(scanned)
    ratios = np.sort(np.asarray(outside.labels["irlbl"]))
print(outside)
folder.cleanup()

Y = sparse.csr_array((np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])))
inside = scumble.characterize(Y)
print("largest difference:", f"{abs(ratios - np.sort(inside.labels['irlbl'])).max():.0e}")
print("SCUMBLE differs by", f"{abs(outside.scumble - inside.scumble):.0e}")

# %%
# What the labels look like: from 1 to more than a hundred times rarer than the first.

figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
axes.plot(ratios, color="#0072B2")
axes.axhline(inside.mean_ir, color="#D55E00", linewidth=1)
axes.annotate("MeanIR", (5, inside.mean_ir * 1.1), color="#D55E00")
axes.set_yscale("log")
axes.set(xlabel="labels, from frequent to rare", ylabel="IRLbl", title="Measured outside of memory")
axes.spines[["top", "right"]].set_visible(False)
plt.show()
