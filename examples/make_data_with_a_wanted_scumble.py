"""
Make data with a wanted SCUMBLE
===============================

`scumble.make_multilabel` makes data in which rare and frequent labels share their instances as much
as you ask for, while the labels' counts stay the same. This shows what SCUMBLE means.
"""

# %%
# Three data sets with equally many rows and labels, the same cardinality and the same MeanIR.

import matplotlib.pyplot as plt
import numpy as np

import scumble
from scumble.measures import cooccurrence

wanted = (0.05, 0.2, 0.4)
made = [
    scumble.make_multilabel(2000, 20, cardinality=3, mean_ir=20, scumble=value, random_state=0)
    for value in wanted
]
for data in made:
    summary = scumble.characterize(data)
    print(f"MeanIR {summary.mean_ir:.1f}, SCUMBLE {summary.scumble:.3f}")

# %%
# How often labels meet, as the share of the rarer one's rows. Labels go from frequent to rare. With
# low SCUMBLE labels meet others of about their own frequency, near the diagonal. With high SCUMBLE
# the rare ones (below) travel with the frequent ones (left).

figure, panels = plt.subplots(1, 3, figsize=(9, 3.6), sharey=True, layout="constrained")
for axes, data in zip(panels, made, strict=True):
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
