"""
Why clones do not always help
=============================

Oversampling clones instances with rare labels. Frequent labels in the same instances are cloned
too, so the imbalance hardly decreases. The data sets of this example differ only in SCUMBLE.
"""

# %%
# For each SCUMBLE, three data sets with the same MeanIR. ML-ROS and LP-ROS add 25 percent of
# clones, to the original data and to the data decoupled by REMEDIAL.

from itertools import product

import matplotlib.pyplot as plt
import numpy as np

import scumble
from scumble.resample import LPROS, MLROS, REMEDIAL

levels = (0.05, 0.1, 0.2, 0.3, 0.4)
seeds = (0, 1, 2)
methods = {"ML-ROS": MLROS, "LP-ROS": LPROS}
change = {key: [] for key in product(methods, (False, True))}
for level in levels:
    ratios = {key: [] for key in change}
    for seed in seeds:
        data = scumble.make_multilabel(2000, mean_ir=20, scumble=level, random_state=seed)
        decoupled = REMEDIAL(one_sided="keep").resample(data)
        start = scumble.characterize(data).mean_ir
        for method, is_decoupled in change:
            resampler = methods[method](percent=25, random_state=seed)
            resampled = resampler.resample(decoupled if is_decoupled else data)
            end = scumble.characterize(resampled).mean_ir
            ratios[method, is_decoupled].append(end / start)
    for key, values in ratios.items():
        change[key].append(np.mean(values))

# %%
# Values below 1 are better: MeanIR decreased. The higher the concurrence, the less both methods
# achieve. Decoupling first helps ML-ROS where SCUMBLE is high. It harms LP-ROS, which clones rows
# of rare *labelsets*: once a rare label is the only label of all its rows, these rows share one
# labelset that is more frequent than average, and LP-ROS clones none of them.

figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
for (method, is_decoupled), values in change.items():
    axes.plot(
        levels,
        values,
        color="#0072B2" if method == "ML-ROS" else "#E69F00",
        linestyle="--" if is_decoupled else "-",
        marker="s" if method == "ML-ROS" else "o",
    )
    name = f"{'REMEDIAL, ' if is_decoupled else ''}{method}"
    axes.annotate(
        name, (levels[-1], values[-1]), xytext=(8, 0), textcoords="offset points", va="center"
    )
axes.axhline(1, color="black", linewidth=1)
axes.annotate("no change", (levels[0], 1), xytext=(0, 4), textcoords="offset points")
axes.set(
    ylim=(0, 1.35),
    xticks=levels,
    xlabel="SCUMBLE of the data",
    ylabel="MeanIR after / MeanIR before",
    title="MeanIR after adding 25 percent of clones",
)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
