import json

import numpy as np
import pytest

from scumble import MultilabelDataset, read
from scumble.measures import difficult_labels


def test_partners_are_majority_labels_by_joint_count():
    # Counts: a 8, b 6, rare 2, lone 1. MeanIR = (1 + 4/3 + 4 + 8) / 4 = 3.58.
    Y = np.zeros((10, 4), int)
    Y[:8, 0] = Y[2:8, 1] = Y[[1, 2], 2] = Y[9, 3] = 1
    data = MultilabelDataset(np.zeros((10, 0)), Y, labels=["a", "b", "rare", "lone"])
    first, second = difficult_labels(data)
    assert (first.name, first.count, first.irlbl) == ("rare", 2, 4.0)
    assert [(p.name, p.joint_count) for p in first.partners] == [("a", 2), ("b", 1)]
    assert (second.name, second.scumble, second.partners) == ("lone", 0.0, ())


def test_no_minority_label_gives_nothing():
    assert difficult_labels(np.eye(3, dtype=int)) == []
    assert difficult_labels(np.zeros((3, 2), int)) == []


def test_the_number_can_be_chosen():
    Y = np.zeros((30, 6), int)
    Y[:, 0] = 1
    Y[:20, 1] = 1
    for label in range(2, 6):
        Y[label, label] = 1
    assert len(difficult_labels(Y)) == 3  # of four, as in mldr's report
    assert len(difficult_labels(Y, n_labels=9)) == 4
    assert difficult_labels(Y, n_labels=0) == []


@pytest.mark.parametrize("name", ["emotions", "enron", "flags", "genbase", "yeast"])
def test_equals_mldr_042_label_interactions(name, datasets, golden):
    expected = json.loads((golden / "mldr" / f"labelInteractions_{name}.json").read_text())
    data = read(next((datasets / name).glob(f"{name}.arff*")))
    found = difficult_labels(data, n_labels=len(expected["indexes"]))
    names = expected["names"] if isinstance(expected["names"], list) else [expected["names"]]
    assert [label.name for label in found] == names
    # mldr numbers columns from 1, features first; in these files labels come last.
    shift = data.n_features + 1
    for label in found:
        joint = {str(p.label + shift): p.joint_count for p in label.partners}
        assert joint == expected["interactions"][label.name]
