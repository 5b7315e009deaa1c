"""
Which methods differ?
=====================

The largest mean in a table may be due to chance. A test over several data sets shows which
differences are significant: the critical-difference diagram connects methods that do not differ
significantly.
"""

# %%
# Five methods on twelve synthetic data sets of the same size and with increasing imbalance, all on
# the same folds. The tests accept any table with one column per method, the store of an experiment,
# or the file that ``scumble experiment export`` writes.

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
        scores = cross_validate(data, name, splitter=3, random_state=0)
        values.append(scores["all.macro_f1"].mean)
table = score_table(results, "all.macro_f1")
print(table)

# %%
# Friedman's test checks whether any methods differ, Nemenyi's test which ones. Better methods are
# on the left.

print(friedman(table))
_, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
plot_critical_difference(table, ax=axes)
plt.show()

# %%
# Two methods: Wilcoxon's signed-rank test checks whether they differ; the Bayesian test estimates
# the probability that one is better by more than 0.01.

print(wilcoxon("br", "rare", results=table))
print(win_tie_loss("br", "rare", results=table))
print(bayesian_signed_rank("br", "rare", results=table, rope=0.01))
