"""
Make data with a given SCUMBLE
==============================

`scumble.make_multilabel` generates data in which rare and frequent labels share their instances to
a given degree, while the counts of the labels stay the same. The plot illustrates what SCUMBLE
measures.
"""

# %%
# Three data sets with the same numbers of rows and labels, the same cardinality and the same
# MeanIR.

import matplotlib.pyplot as plt
import numpy as np

import scumble
from scumble.measures import cooccurrence

levels = (0.05, 0.2, 0.4)
data_sets = [
    scumble.make_multilabel(2000, 20, cardinality=3, mean_ir=20, scumble=value, random_state=0)
    for value in levels
]
for data in data_sets:
    summary = scumble.characterize(data)
    print(f"MeanIR {summary.mean_ir:.1f}, SCUMBLE {summary.scumble:.3f}")

# %%
# How often two labels co-occur, as a share of the rarer label's rows. Labels are sorted from
# frequent to rare. With a low SCUMBLE, labels co-occur with labels of similar frequency, near the
# diagonal. With a high SCUMBLE, rare labels (bottom) co-occur with frequent ones (left).

figure, panels = plt.subplots(1, 3, figsize=(9, 3.6), sharey=True, layout="constrained")
for axes, data in zip(panels, data_sets, strict=True):
    joint = cooccurrence(data.Y).toarray()
    counts = joint.diagonal()
    share = joint / np.minimum.outer(counts, counts)
    share[np.triu_indices_from(share)] = np.nan
    image = axes.imshow(share, vmin=0, vmax=1, cmap="cividis")
    axes.set(title=f"SCUMBLE {scumble.characterize(data).scumble:.2f}", xlabel="label")
    axes.set_xticks(range(0, 20, 5), data.labels[::5])
    axes.spines[:].set_visible(False)
panels[0].set_yticks(range(0, 20, 5), data.labels[::5])
panels[0].set_ylabel("label, frequent to rare")
figure.colorbar(image, ax=panels, label="share of the rarer label's rows", shrink=0.8)
plt.show()
