"""
From text to rare tags
======================

A scikit-learn pipeline turns texts into TF-IDF features and predicts tags. With one threshold for
all tags, rare tags are hardly ever predicted; with `RareLabelClassifier` as the last step they are.
Both are evaluated on held-out texts.
"""

# %%
# Texts and tags. The embedded data set holds the word counts of the descriptions of Debian's
# packages; the texts repeat each word accordingly, so their words are in no meaningful order.

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

import scumble
from scumble.evaluate import IterativeStratification, evaluate
from scumble.learn import RareLabelClassifier

data = scumble.load("debtags")[:1000]
words = np.array(data.feature_names)
word_counts = [data.X[[row]] for row in range(len(data))]
texts = np.array(
    [" ".join(np.repeat(words[row.indices], row.data.astype(int))) for row in word_counts]
)
frequent_enough = np.flatnonzero(np.asarray(data.Y.sum(axis=0)) >= 10)
tags = data.Y[:, frequent_enough]
print(texts[0])

# %%
# A third of the texts is held out. Every tag occurs in both parts.

train, test = next(IterativeStratification(3, random_state=0).split(texts.reshape(-1, 1), tags))
logistic = make_pipeline(TfidfVectorizer(), OneVsRestClassifier(LogisticRegression()))
logistic.fit(texts[train], tags[train].toarray().astype(int))
rare = make_pipeline(TfidfVectorizer(), RareLabelClassifier(random_state=0))
rare.fit(texts[train], tags[train])

evaluations = {}
for name, model in (("logistic regression", logistic), ("RareLabelClassifier", rare)):
    evaluations[name] = evaluate(
        tags[test], model.predict(texts[test]), groups=["minority"], training=tags[train]
    )
    print(f"{name}: macro F1 {evaluations[name]['macro_f1']:.2f}, minority "
          f"{evaluations[name]['minority.macro_f1']:.2f}, "
          f"never predicted {evaluations[name]['never_predicted']:.0%}")  # fmt: skip

# %%
# F1 of the tags, from the rarest to the most frequent: means over tags with similar numbers of
# training texts.

counts = np.asarray(tags[train].sum(axis=0))
edges = [0, 10, 20, 50, 100, counts.max() + 1]
figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
for shift, color, name in zip((-0.2, 0.2), ("#0072B2", "#E69F00"), evaluations, strict=True):
    f1 = evaluations[name].by_label["f1"]
    means = [np.nanmean(f1[(counts >= low) & (counts < high)]) for low, high in pairwise(edges)]
    axes.bar(np.arange(len(means)) + shift, means, width=0.38, color=color, label=name)
axes.set_xticks(range(5), ["under 10", "10 to 19", "20 to 49", "50 to 99", "more"])
axes.set(xlabel="training texts with the tag", ylabel="F1 on held-out texts")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
