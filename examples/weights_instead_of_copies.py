"""
Weights instead of copies
=========================

Whoever wants a row to count twice need not copy it. Classifiers take a weight for every row, and
can weigh the rows that have a label against those that have not: ``class_weight``. It is a dial
between missing rare labels and false alarms.
"""

# %%
# To a ridge regression a weight of 2 is a row that stands there twice.

import matplotlib.pyplot as plt
import numpy as np

import scumble
from scumble.evaluate import cross_validate
from scumble.learn import BinaryRelevance, RidgeRanker

data = scumble.make_multilabel(500, 10, mean_ir=12, scumble=None, separation=0.7, random_state=0)
twice = np.asarray(data.Y.sum(axis=1)) > 3
rows = np.concatenate([np.arange(len(data)), np.flatnonzero(twice)])
weighted = RidgeRanker().fit(data.X, data.Y, sample_weight=np.where(twice, 2.0, 1.0))
copied = RidgeRanker().fit(data.X[rows], data.Y[rows])
print(np.allclose(weighted.predict_proba(data.X), copied.predict_proba(data.X)))

# %%
# Weights of classes, from none to balanced, on held-out folds.

dial = {"none": None, "sqrt": "sqrt", "balanced": "balanced"}
runs = {
    name: cross_validate(data, BinaryRelevance(class_weight=weight), splitter="2x5", random_state=0)
    for name, weight in dial.items()
}
shown = {
    "minority.macro_precision": "precision",
    "minority.macro_recall": "recall",
    "minority.macro_f1": "F1",
}
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
for (metric, title), color in zip(shown.items(), ("#0072B2", "#E69F00", "#009E73"), strict=True):
    means = [runs[name][metric].mean for name in dial]
    axes.plot(range(3), means, "o-", color=color)
    axes.annotate(
        title, (2, means[-1]), xytext=(8, 0), textcoords="offset points", va="center", color=color
    )
    print(title, [round(float(mean), 2) for mean in means])
axes.set_xticks(range(3), list(dial))
axes.set(xlabel="class_weight", ylabel="mean over minority labels", xlim=(-0.2, 2.5))
axes.set_title("Rare labels of trees, with more and more weight")
axes.spines[["top", "right"]].set_visible(False)
plt.show()
