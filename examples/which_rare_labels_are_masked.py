"""
Which rare labels are masked?
=============================

A rare label is called difficult when it always occurs together with frequent labels. The plot shows
rarity (IRLbl) on the horizontal and concurrence (SCUMBLELbl) on the vertical axis, so difficult
labels are in the upper right corner.
"""

# %%
# `scumble.measures.difficult_labels` ranks the minority labels by SCUMBLELbl and lists the frequent
# labels they occur with.

import matplotlib.pyplot as plt

import scumble
from scumble.measures import difficult_labels

data = scumble.load("debtags")
summary = scumble.characterize(data)
hardest = difficult_labels(data, n_labels=6)
for label in hardest:
    partners = ", ".join(f"{p.name} ({p.joint_count})" for p in label.partners[:3])
    print(f"{label.name} in {label.count} packages, with {partners}")

# %%
# Many labels have the same ratio, because counts are integers: the columns of points on the right
# are the labels that occur 6, 5, 4 and 3 times.

table = summary.labels
is_rare = table.is_minority

figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
for mask, colour, marker, name in (
    (~is_rare, "#0072B2", "o", "majority labels"),
    (is_rare, "#E69F00", "^", "minority labels"),
):
    axes.scatter(
        table["irlbl"][mask],
        table["scumble"][mask],
        s=22,
        c=colour,
        marker=marker,
        alpha=0.6,
        linewidths=0,
        label=name,
    )
axes.axvline(summary.mean_ir, color="black", linewidth=1)
axes.annotate(
    f"MeanIR {summary.mean_ir:.0f}",
    (summary.mean_ir, 0.02),
    xytext=(-4, 0),
    textcoords="offset points",
    ha="right",
)

# The names form a column on the right; in this order no two lines cross.
for position, label in enumerate(sorted(hardest, key=lambda label: (label.irlbl, -label.scumble))):
    axes.annotate(
        label.name,
        (label.irlbl, label.scumble),
        xytext=(1.04, 1.02 - 0.05 * position),
        textcoords="axes fraction",
        va="center",
        arrowprops={"arrowstyle": "-", "color": "0.4", "relpos": (0, 0.5), "shrinkB": 3},
    )
axes.set(
    ylim=(0, 1),
    xlabel="IRLbl: times rarer than the most frequent label",
    ylabel="SCUMBLELbl: concurrence with labels of other frequencies",
    title="Rare tags of Debian occur with frequent ones",
)
axes.set_xscale("log")
axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
axes.legend(loc="upper left", frameon=False)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
