"""
A model in use
==============

Train a model, save it to a file, load it elsewhere, and predict labels for a table whose columns
are in another order. Model files contain no code: loading a file from an unknown source executes
nothing.
"""

# %%
# Train on tickets with two numbers, a colour, and three labels.

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import scumble
from scumble.learn import RareLabelClassifier, fit_dataset, predict_dataset, read_model, save

rng = np.random.default_rng(0)
colour = rng.choice(["red", "green", "blue"], 600)
frame = pd.DataFrame({"size": rng.normal(size=600), "age": rng.normal(size=600), "colour": colour})
frame["large"] = (frame["size"] > 0.8).astype(int)
frame["old"] = (frame["age"] > 0).astype(int)
frame["old red"] = ((frame["age"] > 0.9) & (colour == "red")).astype(int)
tickets = scumble.MultilabelDataset.from_frame(
    frame, label_columns=["large", "old", "old red"], name="tickets"
)
model = fit_dataset(RareLabelClassifier(random_state=0), tickets)
print(scumble.characterize(tickets))

# %%
# Save the model, read it again, and predict labels for a new table. Columns are matched by name and
# categories by their text; columns that the model does not know are left out.

new = scumble.MultilabelDataset.from_frame(
    pd.DataFrame(
        {
            "colour": ["red", "blue", "red"],
            "remark": [1.0, 2.0, 3.0],
            "age": [2.0, 1.5, -1.0],
            "size": [0.0, 2.0, 1.9],
            "unknown": [0, 0, 0],
        }
    ),
    label_columns=["unknown"],
)
with TemporaryDirectory() as folder:
    path = Path(folder, "tickets.model")
    save(model, path, data=tickets)
    print(f"{path.stat().st_size / 1000:.0f} kB")
    predictions = predict_dataset(read_model(path), new)
for row in predictions.labels.toarray():
    print([name for name, is_predicted in zip(tickets.labels, row, strict=True) if is_predicted])

# %%
# The scores of the rows, and the decision threshold of each label.

figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
scores = model.predict_proba(tickets.X)
for label in range(tickets.n_labels):
    has_label = tickets.Y[:, [label]].toarray().ravel()
    for rows, color, shift in ((~has_label, "#0072B2", -0.15), (has_label, "#E69F00", 0.15)):
        axes.plot(scores[rows, label], np.full(rows.sum(), label + shift), "|", color=color)
    axes.plot([model.thresholds_[label]] * 2, [label - 0.35, label + 0.35], color="black")
axes.set_yticks(range(3), tickets.labels)
axes.set(xlabel="score", title="Rows with the label (orange) and without (blue); black: threshold")
axes.spines[["top", "right", "left"]].set_visible(False)
plt.show()
