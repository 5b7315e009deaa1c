"""
What REMEDIAL does
==================

REMEDIAL splits the instances in which rare and frequent labels co-occur. The plots compare the data
before and after, for both treatments of instances with frequent labels only.
"""

# %%
# Apply REMEDIAL to ``debtags`` as published, and with ``one_sided="keep"``, which leaves instances
# unchanged that have only frequent or only rare labels.

import matplotlib.pyplot as plt
import numpy as np

import scumble
from scumble.resample import REMEDIAL

before = scumble.load("debtags")
samplers = {"clone": REMEDIAL(), "keep": REMEDIAL(one_sided="keep")}
after = {name: sampler.resample(before) for name, sampler in samplers.items()}

threshold = scumble.characterize(before).scumble
first_pass = samplers["clone"].passes_[0]
print(
    f"{first_pass.n_above_mean:,} packages lie above SCUMBLE, "
    f"{first_pass.n_one_sided:,} of them are one-sided"
)
for name, data in after.items():
    summary = scumble.characterize(data)
    print(
        f"{name}: {summary.n_instances:,} rows, {summary.n_unlabelled:,} without labels, "
        f"SCUMBLE {threshold:.3f} -> {summary.scumble:.3f}"
    )

# %%
# The scores of the instances. Instances above the line (the mean of the scores before) are split.
# The published algorithm also adds a copy without labels for every one-sided instance: these copies
# score 0 and account for half of the decrease of the mean.

figure, panels = plt.subplots(1, 3, figsize=(9, 3.4), sharey=True, layout="constrained")
bins = np.linspace(0, 1, 26)
panels_data = {"before": before, 'after, one_sided="clone"': after["clone"]}
panels_data['after, one_sided="keep"'] = after["keep"]
for axes, (title, data) in zip(panels, panels_data.items(), strict=True):
    scores = scumble.measures.scumble_by_instance(data.Y)
    has_labels = np.diff(data.Y.indptr) > 0
    axes.hist(
        [scores[has_labels], scores[~has_labels]],
        bins=bins,
        stacked=True,
        color=["#0072B2", "#E69F00"],
        label=["with labels", "without labels"],
    )
    axes.axvline(threshold, color="black", linewidth=1)
    axes.set(title=title, xlabel="score of the instance")
    axes.spines[["top", "right"]].set_visible(False)
panels[0].set_ylabel("instances")
panels[0].text(threshold + 0.02, 3400, "SCUMBLE before")
panels[1].legend(frameon=False)
plt.show()

# %%
# SCUMBLELbl of the difficult labels before and after. At 0, the label no longer shares an instance
# with labels of another frequency.

labels = scumble.measures.difficult_labels(before, n_labels=12)
numbers = [label.label for label in labels]
new = scumble.measures.scumble_by_label(after["keep"].Y)[numbers]
old = np.array([label.scumble for label in labels])
rows = np.arange(len(labels))[::-1]

figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
axes.hlines(rows, new, old, color="0.7", linewidth=2, zorder=1)
axes.scatter(old, rows, s=45, color="#0072B2", label="before", zorder=2)
axes.scatter(new, rows, s=45, color="#E69F00", marker="D", label="after", zorder=2)
axes.set_yticks(rows, [label.name for label in labels])
axes.set(xlim=(-0.02, 1), xlabel="SCUMBLELbl", title="The twelve most difficult labels")
axes.legend(loc="center", bbox_to_anchor=(0.5, 0.5))
axes.spines[["top", "right"]].set_visible(False)
plt.show()
