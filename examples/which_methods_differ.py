"""
Which methods differ?
=====================

A table of means invites to crown its largest number. A test over data sets tells which differences
are more than chance: the critical-difference diagram joins methods that cannot be told apart.
"""

# %%
# Five methods on twelve data sets made to measure: as many labels and rows, more and more
# imbalance. The same folds for all.

import matplotlib.pyplot as plt
import numpy as np

import scumble
from scumble.evaluate import cross_validate
from scumble.evaluate.statistics import friedman, nemenyi, wilcoxon, win_tie_loss
from scumble.plots.statistics import plot_critical_difference

names = {"rare": "rare", "br": "BR", "lp": "LP", "mlknn": "MLkNN", "brknn": "BRkNN"}
scores = []
for seed in range(12):
    data = scumble.make_multilabel(
        250, 8, mean_ir=4 + seed, scumble=None, separation=0.8, random_state=seed
    )
    runs = [cross_validate(data, short, splitter=3, random_state=0) for short in names]
    scores.append([run["all.macro_f1"].mean for run in runs])
scores = np.array(scores)
for name, mean in zip(names.values(), scores.mean(axis=0), strict=True):
    print(f"{name:6} {mean:.3f}")

# %%
# Friedman's test asks whether all are alike, Nemenyi's which are not. To the left is better.

print(f"Friedman: p = {friedman(scores).p_value:.1g}")
_, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
plot_critical_difference(nemenyi(scores), list(names.values()), ax=axes)
plt.show()

# %%
# Two methods alone: Wilcoxon's signed ranks, and how often each wins.

trees, cure = scores[:, 1], scores[:, 0]
print(f"rare against BR: p = {wilcoxon(trees, cure).p_value:.2g}, {win_tie_loss(trees, cure)}")
