"""
Why clones do not always help
=============================

Oversampling clones instances with rare labels. If frequent labels sit in the same instances, they
are cloned too, and the imbalance hardly falls. Here data sets differ in nothing but SCUMBLE.
"""

# %%
# For each SCUMBLE, three data sets with the same MeanIR. ML-ROS and LP-ROS add a quarter of clones,
# on the data as it is, and after REMEDIAL has decoupled it.

import matplotlib.pyplot as plt
import numpy as np

import scumble
from scumble.resample import LPROS, MLROS, REMEDIAL

levels = (0.05, 0.1, 0.2, 0.3, 0.4)
seeds = (0, 1, 2)
change = {(method, first): [] for method in ("ML-ROS", "LP-ROS") for first in (False, True)}
for level in levels:
    found = {key: [] for key in change}
    for seed in seeds:
        data = scumble.make_multilabel(2000, mean_ir=20, scumble=level, random_state=seed)
        decoupled = REMEDIAL(one_sided="keep").resample(data)
        start = scumble.characterize(data).mean_ir
        for method, resampler in (("ML-ROS", MLROS), ("LP-ROS", LPROS)):
            for first in (False, True):
                sampler = resampler(percent=25, random_state=seed)
                end = scumble.characterize(sampler.resample(decoupled if first else data)).mean_ir
                found[method, first].append(end / start)
    for key, ratios in found.items():
        change[key].append(np.mean(ratios))

# %%
# Below the line is better: MeanIR fell. The more entangled the labels, the less both methods
# achieve. Decoupling first helps ML-ROS where SCUMBLE is high. It harms LP-ROS, which clones rows
# of rare *labelsets*: once a rare label stands alone in all its rows, they share one labelset. It
# is larger than average, and none of them is cloned.

figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
for (method, first), values in change.items():
    axes.plot(
        levels,
        values,
        color="#0072B2" if method == "ML-ROS" else "#E69F00",
        linestyle="--" if first else "-",
        marker="s" if method == "ML-ROS" else "o",
    )
    name = f"{'REMEDIAL, ' if first else ''}{method}"
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
    title="What a quarter of clones does to the imbalance",
)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
