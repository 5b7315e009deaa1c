"""
Concurrence before and after
============================

Three ways of treating the same data, label by label: does the company of rare labels change, and
does their rarity?
"""

# %%
# REMEDIAL takes rows apart and leaves every count as it was. ML-ROS clones rows with rare labels,
# company included. One after the other does both.

import matplotlib.pyplot as plt

import scumble
from scumble.plots import chord_layout, plot_before_after, plot_chord
from scumble.resample import MLROS, REMEDIAL

before = scumble.make_multilabel(1500, 14, cardinality=3, mean_ir=15, scumble=0.3, random_state=3)
ways = {
    "REMEDIAL": REMEDIAL(one_sided="keep").resample(before),
    "ML-ROS": MLROS(percent=25, random_state=0).resample(before),
}
ways["REMEDIAL, then ML-ROS"] = MLROS(percent=25, random_state=0).resample(ways["REMEDIAL"])
for name, data in {"untreated": before, **ways}.items():
    summary = scumble.characterize(data)
    print(f"{name}: MeanIR {summary.mean_ir:.1f}, SCUMBLE {summary.scumble:.3f}")

# %%
# Hollow: before; filled: after. Orange labels are rare.

figure, panels = plt.subplots(1, 3, figsize=(11, 4.6), layout="constrained")
for axes, (name, data) in zip(panels, ways.items(), strict=True):
    plot_before_after(before, data, ax=axes)
    axes.set_title(name)
plt.show()

# %%
# The same as chords: orange ribbons tie rare labels to frequent ones.

_, panels = plt.subplots(1, 2, figsize=(10, 5.4), layout="constrained")
order = [arc.label for arc in chord_layout(before).arcs]
for axes, data in zip(panels, (before, ways["REMEDIAL"]), strict=True):
    plot_chord(data, order, keep_order=True, ax=axes)
plt.show()
