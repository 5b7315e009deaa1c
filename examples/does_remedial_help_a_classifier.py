"""
Does REMEDIAL help a classifier?
================================

REMEDIAL lowers the concurrence measures of the labels. Whether predictions improve is a separate
question, which only test rows that were not resampled can answer. It depends on the classifier and
on the metric.
"""

# %%
# One data set with high concurrence, four classifiers, 2x5 folds. ``cross_validate`` splits first
# and resamples the training parts only. The same seed gives all runs the same folds, so that they
# can be compared fold by fold.

import matplotlib.pyplot as plt
import numpy as np

import scumble
from scumble.evaluate import cross_validate

data = scumble.make_multilabel(600, 10, mean_ir=12, scumble=0.2, random_state=1)
names = {"br": "binary relevance", "homer": "HOMER", "ecc": "ensemble of chains", "mlknn": "MLkNN"}
untreated, treated = (
    {name: cross_validate(data, name, resampler, splitter="2x5", random_state=0) for name in names}
    for resampler in (None, "remedial")
)
for name in names:
    before, after = untreated[name]["macro_f1"], treated[name]["macro_f1"]
    print(f"{names[name]}: macro F1 {before.mean:.3f}, after REMEDIAL {after.mean:.3f}")
first_fold = treated["br"].folds[0]
print(f"one training part: SCUMBLE {first_fold.before['scumble']:.3f} "
      f"-> {first_fold.after['scumble']:.3f}")  # fmt: skip

# %%
# The change of three metrics on each fold (dots) and on average (bars); positive is better. After
# REMEDIAL a split training row has only some of its labels, so classifiers learn to predict fewer.
# The precision of single trees rises, recall falls for all classifiers. On this data the loss in
# recall outweighs the gain, which the measures of the labels alone do not show.

metrics = {"precision": "precision", "recall": "recall", "macro_f1": "macro F1"}
colors = ("#0072B2", "#E69F00", "#009E73")
figure, panels = plt.subplots(1, 3, figsize=(9, 3.2), sharey=True, layout="constrained")
positions = np.arange(len(names))[::-1]
for axes, color, (metric, title) in zip(panels, colors, metrics.items(), strict=True):
    change = [treated[name][metric].values - untreated[name][metric].values for name in names]
    axes.barh(positions, [values.mean() for values in change], height=0.55, color=color, alpha=0.5)
    for position, values in zip(positions, change, strict=True):
        spread = np.linspace(-0.18, 0.18, len(values))
        axes.plot(values, position + spread, "o", color=color, markersize=3)
    axes.axvline(0, color="black", linewidth=1)
    axes.set(title=title, yticks=positions, yticklabels=names.values())
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False)
panels[1].set_xlabel("after REMEDIAL less before")
plt.show()
