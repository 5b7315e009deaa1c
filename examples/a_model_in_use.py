"""
A model in use
==============

Train, keep the model in a file, load it elsewhere, and label a table whose columns come in another
order. Model files hold no code: loading one from a stranger runs nothing.
"""

# %%
# Train on tickets: two numbers, a colour, and the labels people gave.

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
# Save it, read it again, and ask it about a new table. Columns are found by name, categories by
# their text; what the model does not know is left out.

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
    answers = predict_dataset(read_model(path), new)
for row in answers.labels.toarray():
    print([name for name, has in zip(tickets.labels, row, strict=True) if has])

# %%
# How sure it is, and from where on each label is predicted.

figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
scores = model.predict_proba(tickets.X)
for place in range(tickets.n_labels):
    has = tickets.Y[:, [place]].toarray().ravel()
    for rows, color, shift in ((~has, "#0072B2", -0.15), (has, "#E69F00", 0.15)):
        axes.plot(scores[rows, place], np.full(rows.sum(), place + shift), "|", color=color)
    axes.plot([model.thresholds_[place]] * 2, [place - 0.35, place + 0.35], color="black")
axes.set_yticks(range(3), tickets.labels)
axes.set(xlabel="score", title="Rows with the label (orange) and without (blue); black: threshold")
axes.spines[["top", "right", "left"]].set_visible(False)
plt.show()
