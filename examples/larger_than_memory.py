"""
Larger than memory
==================

Label tables with a billion assignments are measured by SQL on DuckDB with a memory limit. This
example does the same with a small table, and shows that the numbers equal those computed in memory.
"""

# %%
# A table with one label per row, as in logs and databases: 150,000 instances in a Parquet file.

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
# `scumble.scan` opens the file without reading it; `characterize` accepts its result like a data
# set.

with scumble.scan(
    path, label_column="label", instance_column="instance", memory="300MB"
) as scanned:
    out_of_core = scumble.characterize(scanned)
    ratios = np.sort(np.asarray(out_of_core.labels["irlbl"]))
print(out_of_core)
folder.cleanup()

Y = sparse.csr_array((np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])))
in_memory = scumble.characterize(Y)
print("largest difference:", f"{abs(ratios - np.sort(in_memory.labels['irlbl'])).max():.0e}")
print("SCUMBLE differs by", f"{abs(out_of_core.scumble - in_memory.scumble):.0e}")

# %%
# Imbalance ratios of the labels, from 1 to more than 100.

figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
axes.plot(ratios, color="#0072B2")
axes.axhline(in_memory.mean_ir, color="#D55E00", linewidth=1)
axes.annotate("MeanIR", (5, in_memory.mean_ir * 1.1), color="#D55E00")
axes.set_yscale("log")
axes.set(xlabel="labels, from frequent to rare", ylabel="IRLbl", title="Measured out of core")
axes.spines[["top", "right"]].set_visible(False)
plt.show()
