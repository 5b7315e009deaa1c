"""
From text to rare tags
======================

A pipeline of scikit-learn: texts become TF-IDF, and a classifier predicts tags. With one threshold
for all tags the rare ones are lost; `RareLabelClassifier` in the same place finds them. The proof
is on texts that were held out.
"""

# %%
# Texts and tags. Descriptions are put together from the words of Debian's packages, in no order:
# the embedded data set knows how often each word stands in each description.

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
rows = [data.X[[at]] for at in range(len(data))]
texts = np.array([" ".join(np.repeat(words[row.indices], row.data.astype(int))) for row in rows])
common_enough = np.flatnonzero(np.asarray(data.Y.sum(axis=0)) >= 10)
tags = data.Y[:, common_enough]
print(texts[0])

# %%
# A third of the texts is held out, with every tag on both sides.

train, test = next(IterativeStratification(3, random_state=0).split(texts.reshape(-1, 1), tags))
plain = make_pipeline(TfidfVectorizer(), OneVsRestClassifier(LogisticRegression()))
plain.fit(texts[train], tags[train].toarray().astype(int))
cure = make_pipeline(TfidfVectorizer(), RareLabelClassifier(random_state=0))
cure.fit(texts[train], tags[train])

judged = {}
for name, model in (("logistic regression", plain), ("RareLabelClassifier", cure)):
    judged[name] = evaluate(
        tags[test], model.predict(texts[test]), groups=["minority"], training=tags[train]
    )
    print(f"{name}: macro F1 {judged[name]['macro_f1']:.2f}, minority "
          f"{judged[name]['minority.macro_f1']:.2f}, "
          f"never predicted {judged[name]['never_predicted']:.0%}")  # fmt: skip

# %%
# What each tag gains, from the rarest to the most frequent: means over tags with about as many
# training texts.

counts = np.asarray(tags[train].sum(axis=0))
edges = [0, 10, 20, 50, 100, counts.max() + 1]
figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
for shift, color, name in zip((-0.2, 0.2), ("#0072B2", "#E69F00"), judged, strict=True):
    f1 = judged[name].by_label["f1"]
    means = [np.nanmean(f1[(counts >= low) & (counts < high)]) for low, high in pairwise(edges)]
    axes.bar(np.arange(len(means)) + shift, means, width=0.38, color=color, label=name)
axes.set_xticks(range(5), ["under 10", "10 to 19", "20 to 49", "50 to 99", "more"])
axes.set(xlabel="training texts with the tag", ylabel="F1 on held-out texts")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
