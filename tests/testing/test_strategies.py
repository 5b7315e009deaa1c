"""The strategies give what they promise."""

import numpy as np
import pytest
from hypothesis import find, given

from scumble.data.formats.base import DATASET_PARTS, present_parts
from scumble.testing.strategies import datasets, label_matrices


@given(label_matrices(unseen=False, unlabelled=False, max_labels=4, min_instances=2))
def test_labels_seen_and_rows_labelled(Y):
    assert Y.dtype == bool
    assert Y.has_canonical_format
    assert Y.shape[0] >= 2
    assert 1 <= Y.shape[1] <= 4
    assert np.diff(Y.indptr).min() > 0
    assert np.bincount(Y.indices, minlength=Y.shape[1]).min() > 0


@given(datasets(parts=()))
def test_data_sets_that_hold_nothing_special(data):
    assert present_parts(data) == set()
    assert not any(feature.integer for feature in data.features)


@pytest.mark.parametrize("part", DATASET_PARTS)
def test_data_sets_that_hold_one_part(part):
    found = find(datasets(parts=[part]), lambda data: present_parts(data) == {part})
    assert present_parts(found) == {part}


@pytest.mark.parametrize("kind", ["numeric", "nominal", "string", "date"])
def test_all_kinds_occur(kind):
    found = find(datasets(), lambda data: any(f.kind == kind for f in data.features))
    assert kind in [feature.kind for feature in found.features]
