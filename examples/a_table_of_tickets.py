"""
A table of tickets
==================

A table exported from a help desk: an identifier, a date, a subject, a priority, an amount, and all
tags of a ticket in one column. The words of the subjects become features inside the folds and the
model. The models are evaluated on held-out tickets.
"""

# %%
# The table is synthetic: every tag has words that indicate it, some of them shared with other tags,
# and a tenth of the tags is missing.

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
COMMON_WORDS = "please help since today again the my is not after update customer".split()

rng = np.random.default_rng(0)
has_tag = rng.random((1500, 7)) < SHARES
rows = []
for number, is_tagged in enumerate(has_tag):
    hints = []
    for tag in np.array(list(WORDS))[is_tagged]:
        hints += list(rng.choice(WORDS[tag].split(), 2))
    subject = rng.permutation([*hints, *rng.choice(COMMON_WORDS, 5)])
    tags = ";".join(
        tag
        for tag, is_present in zip(WORDS, is_tagged, strict=True)
        if is_present and rng.random() < 0.9
    )
    day = np.datetime64("2024-01-01") + int(rng.integers(365))
    priority = rng.choice(["low", "normal", "high"])
    amount = rng.gamma(2, 40 + 400 * is_tagged[6])
    rows.append((f"T-{number}", str(day), " ".join(subject), priority, amount, tags))
table = pd.DataFrame(rows, columns=["id", "created", "subject", "priority", "amount", "tags"])
print(table.head(4).to_string(index=False, float_format="{:.0f}".format))

# %%
# Read it with the words of the subjects, and without. The identifier column and the dates are left
# out; otherwise scumble would name both in a warning.

read_options = {"label_columns": "tags", "label_separator": ";", "ignore": ["id", "created"]}
with_words = scumble.MultilabelDataset.from_frame(table, text="subject", **read_options)
without = scumble.MultilabelDataset.from_frame(table.drop(columns="subject"), **read_options)
print(scumble.characterize(with_words))

# %%
# A third of the tickets is held out. Every tag occurs in both parts. Words and their weights are
# learnt from the training tickets only: `run_fold` ensures this, as do all functions that fit
# models.

train, test = next(IterativeStratification(3, 1, random_state=0).split(with_words))
models = {
    "trees, without words": (BinaryRelevance(), without),
    "trees, with words": (BinaryRelevance(), with_words),
    "RareLabelClassifier, with words": (RareLabelClassifier(random_state=0), with_words),
}
f1 = {}
for name, (classifier, data) in models.items():
    evaluation = run_fold(data[train], data[test], classifier).evaluation
    f1[name] = evaluation.by_label["f1"]
    print(f"{name}: macro F1 {evaluation['macro_f1']:.2f}, micro F1 {evaluation['micro_f1']:.2f}")

# %%
# Tag by tag, from the most frequent to the rarest.

figure, axes = plt.subplots(figsize=(8, 3.8), layout="constrained")
counts = np.asarray(with_words.Y[train].sum(axis=0))
order = np.argsort(-counts)
colours = ("#999999", "#0072B2", "#E69F00")
for index, (name, colour) in enumerate(zip(f1, colours, strict=True)):
    positions = np.arange(len(order)) + (index - 1) * 0.27
    axes.bar(positions, np.nan_to_num(f1[name][order]), width=0.25, color=colour, label=name)
axes.set_xticks(range(len(order)), [f"{with_words.labels[tag]}\n{counts[tag]}" for tag in order])
axes.set(xlabel="tag, and its training tickets", ylabel="F1 on held-out tickets", ylim=(0, 1.25))
axes.legend(frameon=False, ncols=3, loc="upper center")
axes.spines[["top", "right"]].set_visible(False)
plt.show()
