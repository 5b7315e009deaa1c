"""
Which methods differ?
=====================

A table of means invites to crown its largest number. A test over data sets tells which differences
are more than chance: the critical-difference diagram joins methods that cannot be told apart.
"""

# %%
# Five methods on twelve data sets made to measure: as many labels and rows, more and more
# imbalance. The same folds for all. Any table with one column per method will do; so will the
# store of an experiment, or the file that ``scumble experiment export`` writes.

import matplotlib.pyplot as plt

import scumble
from scumble.evaluate import cross_validate
from scumble.evaluate.statistics import (
    bayesian_signed_rank,
    friedman,
    score_table,
    wilcoxon,
    win_tie_loss,
)
from scumble.plots.statistics import plot_critical_difference

results = {name: [] for name in ("rare", "br", "lp", "mlknn", "brknn")}
for seed in range(12):
    data = scumble.make_multilabel(
        250, 8, mean_ir=4 + seed, scumble=None, separation=0.8, random_state=seed
    )
    for name, values in results.items():
        found = cross_validate(data, name, splitter=3, random_state=0)
        values.append(found["all.macro_f1"].mean)
table = score_table(results, "all.macro_f1")
print(table)

# %%
# Friedman's test asks whether all are alike, Nemenyi's which are not. To the left is better.

print(friedman(table))
_, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
plot_critical_difference(table, ax=axes)
plt.show()

# %%
# Two methods alone: Wilcoxon's signed ranks ask whether they differ, the Bayesian test how probable
# it is that one is better by more than a hundredth.

print(wilcoxon("br", "rare", results=table))
print(win_tie_loss("br", "rare", results=table))
print(bayesian_signed_rank("br", "rare", results=table, rope=0.01))
