"""
Weights instead of copies
=========================

To make a row count twice, give it a weight of 2 instead of a copy. Classifiers accept
``sample_weight``, and ``class_weight`` weights the rows with a label against those without it. The
weight balances missed rare labels against false positives.
"""

# %%
# For a ridge regression, a weight of 2 equals a duplicated row.

import matplotlib.pyplot as plt
import numpy as np

import scumble
from scumble.evaluate import cross_validate
from scumble.learn import BinaryRelevance, RidgeRanker

data = scumble.make_multilabel(500, 10, mean_ir=12, scumble=None, separation=0.7, random_state=0)
has_double_weight = np.asarray(data.Y.sum(axis=1)) > 3
rows = np.concatenate([np.arange(len(data)), np.flatnonzero(has_double_weight)])
weighted = RidgeRanker().fit(data.X, data.Y, sample_weight=np.where(has_double_weight, 2.0, 1.0))
copied = RidgeRanker().fit(data.X[rows], data.Y[rows])
print(np.allclose(weighted.predict_proba(data.X), copied.predict_proba(data.X)))

# %%
# Class weights from none to balanced, evaluated by cross-validation.

class_weights = {"none": None, "sqrt": "sqrt", "balanced": "balanced"}
runs = {
    name: cross_validate(data, BinaryRelevance(class_weight=weight), splitter="2x5", random_state=0)
    for name, weight in class_weights.items()
}
metrics = {
    "minority.macro_precision": "precision",
    "minority.macro_recall": "recall",
    "minority.macro_f1": "F1",
}
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
for (metric, title), color in zip(metrics.items(), ("#0072B2", "#E69F00", "#009E73"), strict=True):
    means = [runs[name][metric].mean for name in class_weights]
    axes.plot(range(3), means, "o-", color=color)
    axes.annotate(
        title, (2, means[-1]), xytext=(8, 0), textcoords="offset points", va="center", color=color
    )
    print(title, [round(float(mean), 2) for mean in means])
axes.set_xticks(range(3), list(class_weights))
axes.set(xlabel="class_weight", ylabel="mean over minority labels", xlim=(-0.2, 2.5))
axes.set_title("Trees with increasing weight of rare labels")
axes.spines[["top", "right"]].set_visible(False)
plt.show()
