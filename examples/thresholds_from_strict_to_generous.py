"""
Strict or generous: what a threshold costs
==========================================

A threshold per label decides between missing rare labels and raising false alarms. The rule decides
how far the few rows of a rare label are trusted. Here the rules are compared on rows that had no
part in the choice.
"""

# %%
# One model, scores of training rows as if they were new (five folds), and every rule on them.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_predict

import scumble
from scumble.evaluate import evaluate
from scumble.learn import label_thresholds

data = scumble.load("debtags")
train, test = data[:2000], data[2000:4000]
seen = np.flatnonzero(np.asarray(train.Y.sum(axis=0)) >= 3)
words, tags = train.X.toarray(), train.Y[:, seen]
ridge = Ridge(alpha=10)
inner = cross_val_predict(ridge, words, tags.toarray().astype(float), cv=5)
scores = ridge.fit(words, tags.toarray().astype(float)).predict(test.X.toarray())

found = {}
for rule in ("fixed", "rate", "plain", "capped", "shrunken"):
    thresholds = label_thresholds(inner, tags, rule=rule)
    found[rule] = evaluate(test.Y[:, seen], scores >= thresholds, groups=["all"], training=tags)
    print(f"{rule:9} never predicted {found[rule]['never_predicted']:.0%}, "
          f"macro F1 {found[rule]['all.macro_f1']:.3f}")  # fmt: skip

# %%
# Precision against recall, as means over labels; a label that is never predicted has neither. One
# half for all (``fixed``) never predicts most of them. The best threshold at hand (``plain``) finds
# the most, with the most false alarms; the rules that mistrust few positives stand between.

figure, axes = plt.subplots(figsize=(7, 4.4), layout="constrained")
for rule, color in zip(found, ("#000000", "#56B4E9", "#E69F00", "#009E73", "#D55E00"), strict=True):
    place = found[rule]["all.macro_recall"], found[rule]["all.macro_precision"]
    axes.plot(*place, "o", color=color, markersize=9)
    axes.annotate(
        rule,
        place,
        xytext=(9, 0),
        textcoords="offset points",
        va="top" if rule == "rate" else "bottom",
    )
axes.set(xlabel="macro recall", ylabel="macro precision", title="Five rules, the same scores")
axes.margins(0.2)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
