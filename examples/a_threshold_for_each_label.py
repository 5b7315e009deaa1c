"""
A threshold for each label
==========================

A model that ranks rows well may still never predict a rare label, because its scores rarely reach
0.5. A threshold per label, chosen on out-of-sample scores, solves this. It needs only the scores,
so the model can be from any library.
"""

# %%
# The model is a ridge regression of all tags on words. Five folds give out-of-sample scores.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_predict

import scumble
from scumble.learn import threshold_curves, threshold_table
from scumble.plots import plot_thresholds

debtags = scumble.load("debtags")[:2000]
frequent_enough = np.flatnonzero(debtags.Y.sum(axis=0) >= 2)
words, tags = debtags.X.toarray(), debtags.Y[:, frequent_enough]
names = [debtags.labels[tag] for tag in frequent_enough]
scores = cross_val_predict(Ridge(alpha=10), words, tags.toarray().astype(float), cv=5)

for rule in ("fixed", "capped", "shrunken"):
    table = threshold_table(scores, tags, labels=names, rule=rule)
    print(f"{rule}: {table.n_silent} of {len(table)} tags are never predicted")

# %%
# F1 at every possible threshold, for tags from the rarest to the most frequent. With few positives
# the observed curve is noisy. The rule shrinks it towards the mean curve of all tags, the more so
# the fewer positives a tag has: the shrunken curve is smoother, and its maximum is a safer choice.
# For labels with a few dozen positives or more, the two curves agree.

figure = plt.figure(figsize=(9, 7.4), layout="constrained")
plot_thresholds(threshold_curves(scores, tags), names=names, figure=figure)
plt.show()
