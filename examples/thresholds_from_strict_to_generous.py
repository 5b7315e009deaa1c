"""
Rules for decision thresholds
=============================

The threshold of a label balances missed positives against false positives. The rule that chooses it
determines how much weight the few positives of a rare label get. This example compares the rules on
rows that were not used to choose the thresholds.
"""

# %%
# One model with out-of-sample scores of the training rows (five folds), and thresholds by each
# rule.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_predict

import scumble
from scumble.evaluate import evaluate
from scumble.learn import label_thresholds

data = scumble.load("debtags")
train, test = data[:2000], data[2000:4000]
frequent_enough = np.flatnonzero(np.asarray(train.Y.sum(axis=0)) >= 3)
words, tags = train.X.toarray(), train.Y[:, frequent_enough]
ridge = Ridge(alpha=10)
training_scores = cross_val_predict(ridge, words, tags.toarray().astype(float), cv=5)
scores = ridge.fit(words, tags.toarray().astype(float)).predict(test.X.toarray())

evaluations = {}
for rule in ("fixed", "rate", "plain", "capped", "shrunken"):
    thresholds = label_thresholds(training_scores, tags, rule=rule)
    evaluations[rule] = evaluate(
        test.Y[:, frequent_enough], scores >= thresholds, groups=["all"], training=tags
    )
    print(f"{rule:9} never predicted {evaluations[rule]['never_predicted']:.0%}, "
          f"macro F1 {evaluations[rule]['all.macro_f1']:.3f}")  # fmt: skip

# %%
# Precision against recall, as means over labels; for a label that is never predicted both are
# undefined. A threshold of 0.5 for all labels (``fixed``) never predicts most of them. The
# threshold with the best F1 on the training rows (``plain``) has the highest recall and the most
# false positives. The rules that account for small numbers of positives lie in between.

figure, axes = plt.subplots(figsize=(7, 4.4), layout="constrained")
for rule, color in zip(
    evaluations, ("#000000", "#56B4E9", "#E69F00", "#009E73", "#D55E00"), strict=True
):
    position = evaluations[rule]["all.macro_recall"], evaluations[rule]["all.macro_precision"]
    axes.plot(*position, "o", color=color, markersize=9)
    axes.annotate(
        rule,
        position,
        xytext=(9, 0),
        textcoords="offset points",
        va="top" if rule == "rate" else "bottom",
    )
axes.set(xlabel="macro recall", ylabel="macro precision", title="Five rules, the same scores")
axes.margins(0.2)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
