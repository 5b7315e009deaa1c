"""
Which labels keep the same company?
===================================

Two views of the labels that share instances: the chord diagram, which tells rare from frequent
labels, and the heat map, in which labels with the same company stand together.
"""

# %%
# Rare tags of Debian stand at the top. Their ribbons lead to frequent ones: whoever clones their
# packages clones the frequent tags as well.

import matplotlib.pyplot as plt

import scumble
from scumble.plots import plot_chord, plot_cooccurrence

data = scumble.load("debtags")
_, axes = plt.subplots(figsize=(8, 8.4), layout="constrained")
plot_chord(data, n_labels=8, n_partners=8, ax=axes)
plt.show()

# %%
# A cell of the heat map is the share of the row's packages that have the column's tag too. A dark
# column is a tag that comes with everything.

_, axes = plt.subplots(figsize=(9, 8), layout="constrained")
plot_cooccurrence(data, n_labels=24, ax=axes)
plt.show()
