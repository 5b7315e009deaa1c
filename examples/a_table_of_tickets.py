"""
A table of tickets
==================

A table as it leaves a help desk: an identifier, a date, a subject, a priority, an amount, and all
tags of a ticket in one column. Read as it is, its subjects become words inside of the folds and of
the model, and the proof is on tickets that were held out.
"""

# %%
# The table is made here: every tag has words that hint at it, some of them shared with other tags,
# and people forget a tag now and then.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import scumble
from scumble.evaluate import IterativeStratification, run_fold
from scumble.learn import BinaryRelevance, RareLabelClassifier

WORDS = {
    "billing": "invoice charged refund payment card amount",
    "login": "password locked reset account sign code",
    "crash": "crash freezes error restart screen log",
    "printer": "printer paper ink jam tray colour",
    "network": "wifi slow router vpn drops cable",
    "privacy": "delete data consent account copy law",
    "fraud": "stolen unknown charged card suspicious abroad",
}
SHARES = np.array([0.40, 0.30, 0.25, 0.10, 0.08, 0.03, 0.02])
OTHERS = "please help since today again the my is not after update customer".split()

rng = np.random.default_rng(0)
has_tag = rng.random((1500, 7)) < SHARES
rows = []
for at, has in enumerate(has_tag):
    hints = [
        word for tag in np.array(list(WORDS))[has] for word in rng.choice(WORDS[tag].split(), 2)
    ]
    subject = rng.permutation([*hints, *rng.choice(OTHERS, 5)])
    tags = ";".join(
        tag for tag, there in zip(WORDS, has, strict=True) if there and rng.random() < 0.9
    )
    day = np.datetime64("2024-01-01") + int(rng.integers(365))
    priority = rng.choice(["low", "normal", "high"])
    rows.append(
        (f"T-{at}", str(day), " ".join(subject), priority, rng.gamma(2, 40 + 400 * has[6]), tags)
    )
table = pd.DataFrame(rows, columns=["id", "created", "subject", "priority", "amount", "tags"])
print(table.head(4).to_string(index=False, float_format="{:.0f}".format))

# %%
# Two ways to read it: with the words of the subjects, and without. The column that names rows and
# the dates are left out; scumble would name both in a warning.

how = {"label_columns": "tags", "label_separator": ";", "ignore": ["id", "created"]}
with_words = scumble.MultilabelDataset.from_frame(table, text="subject", **how)
without = scumble.MultilabelDataset.from_frame(table.drop(columns="subject"), **how)
print(scumble.characterize(with_words))

# %%
# A third of the tickets is held out, with every tag on both sides. Words and their weights are
# those of the other two thirds: `run_fold` sees to that, and so does everything else that learns.

train, test = next(IterativeStratification(3, 1, random_state=0).split(with_words))
models = {
    "trees, without words": (BinaryRelevance(), without),
    "trees, with words": (BinaryRelevance(), with_words),
    "RareLabelClassifier, with words": (RareLabelClassifier(random_state=0), with_words),
}
f1 = {}
for name, (classifier, data) in models.items():
    judged = run_fold(data[train], data[test], classifier).evaluation
    f1[name] = judged.by_label["f1"]
    print(f"{name}: macro F1 {judged['macro_f1']:.2f}, micro F1 {judged['micro_f1']:.2f}")

# %%
# Tag by tag, from the most frequent to the rarest.

figure, axes = plt.subplots(figsize=(8, 3.8), layout="constrained")
counts = np.asarray(with_words.Y[train].sum(axis=0))
order = np.argsort(-counts)
colours = ("#999999", "#0072B2", "#E69F00")
for at, (name, colour) in enumerate(zip(f1, colours, strict=True)):
    places = np.arange(len(order)) + (at - 1) * 0.27
    axes.bar(places, np.nan_to_num(f1[name][order]), width=0.25, color=colour, label=name)
axes.set_xticks(range(len(order)), [f"{with_words.labels[at]}\n{counts[at]}" for at in order])
axes.set(xlabel="tag, and its training tickets", ylabel="F1 on held-out tickets", ylim=(0, 1.25))
axes.legend(frameon=False, ncols=3, loc="upper center")
axes.spines[["top", "right"]].set_visible(False)
plt.show()
