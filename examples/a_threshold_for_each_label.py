"""
A threshold for each label
==========================

A model that ranks rows well may still never predict a rare label: its scores for it hardly ever
reach one half. The cure is a threshold per label, chosen on rows the model has not learnt from. It
needs nothing but the scores, so that the model may live anywhere.
"""

# %%
# Any model will do. Here a ridge regression of all tags on words, and five folds that give scores
# of rows not learnt from.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_predict

import scumble
from scumble.learn import threshold_curves, threshold_table
from scumble.plots import plot_thresholds

debtags = scumble.load("debtags")[:2000]
seen = np.flatnonzero(debtags.Y.sum(axis=0) >= 2)
words, tags = debtags.X.toarray(), debtags.Y[:, seen]
names = [debtags.labels[at] for at in seen]
scores = cross_val_predict(Ridge(alpha=10), words, tags.toarray().astype(float), cv=5)

for rule in ("fixed", "capped", "shrunken"):
    table = threshold_table(scores, tags, labels=names, rule=rule)
    print(f"{rule}: {table.n_silent} of {len(table)} tags are never predicted")

# %%
# What every possible threshold gives, for tags from the rarest to the most frequent. With few
# positives the curve of the rows at hand follows chance. The rule trusts it as far as there are
# positives, and the mean of all tags for the rest: its curve is calmer, and its top is a safer
# choice. From a few dozen positives on the two agree.

figure = plt.figure(figsize=(9, 7.4), layout="constrained")
plot_thresholds(threshold_curves(scores, tags), names=names, figure=figure)
plt.show()
