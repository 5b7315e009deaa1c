"""
Which labels occur together?
============================

Two plots of the labels that share instances. The chord diagram separates rare from frequent labels.
The heat map places labels that co-occur with the same labels next to each other.
"""

# %%
# Rare tags of Debian are at the top. Their ribbons lead to frequent tags: cloning their packages
# also clones the frequent tags.

import matplotlib.pyplot as plt

import scumble
from scumble.plots import plot_chord, plot_cooccurrence

data = scumble.load("debtags")
_, axes = plt.subplots(figsize=(8, 8.4), layout="constrained")
plot_chord(data, n_labels=8, n_partners=8, ax=axes)
plt.show()

# %%
# A cell of the heat map is the share of the packages with the row's tag that also have the column's
# tag. A dark column is a tag that co-occurs with nearly all others.

_, axes = plt.subplots(figsize=(9, 8), layout="constrained")
plot_cooccurrence(data, n_labels=24, ax=axes)
plt.show()
