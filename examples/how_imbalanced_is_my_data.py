"""
How imbalanced is my data?
==========================

The imbalance ratio of a label (IRLbl) says how many times rarer it is than the most frequent label.
Plotted for all labels, from frequent to rare, the ratios show how imbalanced the data is. The data
is ``debtags``, a slice of Debian's package tags.
"""

# %%
# `scumble.characterize` measures the data set and each label.

import matplotlib.pyplot as plt
import numpy as np

import scumble

data = scumble.load("debtags")
summary = scumble.characterize(data)
print(summary)
print(f"{summary.n_minority} of {summary.n_labels} labels are rarer than average")

# %%
# One bar per label. The scale is logarithmic: on a linear scale only the rarest labels would be
# visible. Labels above the mean (MeanIR) are the minority labels.

order = np.argsort(summary.labels["irlbl"], kind="stable")
ratios = summary.labels["irlbl"][order]
is_rare = summary.labels.is_minority[order]

figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
positions = np.arange(len(ratios))
axes.bar(positions[~is_rare], ratios[~is_rare], width=1, color="#0072B2")
axes.bar(positions[is_rare], ratios[is_rare], width=1, color="#E69F00")
axes.axhline(summary.mean_ir, color="black", linewidth=1)
axes.text(2, 1.08 * summary.mean_ir, f"MeanIR {summary.mean_ir:.0f}")
axes.text(positions[~is_rare].mean(), 2, "majority labels", color="white", ha="center")
axes.text(positions[is_rare].mean(), 2, "minority labels", ha="center")
axes.set_yscale("log")
axes.set_yticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
axes.set(
    ylim=(0.9, 1100),
    xlim=(-0.5, len(ratios) - 0.5),
    xlabel="labels, from the most frequent to the rarest",
    ylabel="IRLbl: times rarer than the first",
    title="Imbalance of Debian's package tags",
)
axes.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The three most frequent and the three rarest labels.

for index in [*order[:3], *order[-3:]]:
    label = list(summary.labels)[index]
    print(f"{label['name']:28} in {label['count']:5,} packages, IRLbl {label['irlbl']:6.1f}")
