"""
Concurrence before and after
============================

Three treatments of the same data, label by label: which of them reduces concurrence, and which
reduces imbalance?
"""

# %%
# REMEDIAL splits rows and changes no label count. ML-ROS clones rows with rare labels, including
# the frequent labels in them. The third treatment applies both in order.

import matplotlib.pyplot as plt

import scumble
from scumble.plots import chord_layout, plot_before_after, plot_chord
from scumble.resample import MLROS, REMEDIAL

before = scumble.make_multilabel(1500, 14, cardinality=3, mean_ir=15, scumble=0.3, random_state=3)
treated = {
    "REMEDIAL": REMEDIAL(one_sided="keep").resample(before),
    "ML-ROS": MLROS(percent=25, random_state=0).resample(before),
}
treated["REMEDIAL, then ML-ROS"] = MLROS(percent=25, random_state=0).resample(treated["REMEDIAL"])
for name, data in {"untreated": before, **treated}.items():
    summary = scumble.characterize(data)
    print(f"{name}: MeanIR {summary.mean_ir:.1f}, SCUMBLE {summary.scumble:.3f}")

# %%
# Hollow: before; filled: after. Orange labels are rare.

figure, panels = plt.subplots(1, 3, figsize=(11, 4.6), layout="constrained")
for axes, (name, data) in zip(panels, treated.items(), strict=True):
    plot_before_after(before, data, ax=axes)
    axes.set_title(name)
plt.show()

# %%
# The same data as chord diagrams: orange ribbons connect rare labels to frequent ones.

_, panels = plt.subplots(1, 2, figsize=(10, 5.4), layout="constrained")
order = [arc.label for arc in chord_layout(before).arcs]
for axes, data in zip(panels, (before, treated["REMEDIAL"]), strict=True):
    plot_chord(data, order, keep_order=True, ax=axes)
plt.show()
