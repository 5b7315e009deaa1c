"""Label tables on disk, in every shape, and what memory says about them."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

from scumble.measures import characterize
from scumble.resample import REMEDIAL

NUMBERS = (
    "n_instances n_labels n_labelsets n_single_labelsets max_labelset_count cardinality density "
    "diversity p_min mean_ir max_ir cvir scumble scumble_cv n_unseen n_unlabelled n_minority"
).split()


def clean(rows):
    """What a list column means: no nulls, no duplicates, a missing list is empty."""
    return [sorted({item for item in row or [] if item is not None}) for row in rows]


def matrix(rows, labels=None):
    """The same as a label matrix, with its label values in order."""
    rows = clean(rows)
    values = sorted({item for row in rows for item in row}) if labels is None else list(labels)
    place = {value: at for at, value in enumerate(values)}
    Y = sparse.lil_array((len(rows), len(values)), dtype=bool)
    for at, row in enumerate(rows):
        for item in row:
            Y[at, place[item]] = True
    return Y.tocsr(), values


def write_lists(path, rows, kind=None, **features):
    """One row per instance; ``instance`` counts them."""
    kind = kind or (pa.int64() if _has_integers(rows) else pa.string())
    table = {"instance": pa.array(range(len(rows))), **features}
    table["tags"] = pa.array(rows, pa.list_(kind))
    pq.write_table(pa.table(table), path)


def write_pairs(path, rows):
    """One row per assignment; an instance without labels has a null label."""
    pairs = [(at, item) for at, row in enumerate(rows) for item in (row or [None])]
    kind = pa.int64() if _has_integers(rows) else pa.string()
    instances = pa.array([at for at, _ in pairs], pa.int64())
    labels = pa.array([item for _, item in pairs], kind)
    pq.write_table(pa.table({"instance": instances, "label": labels}), path)


def rows_of(Y):
    """The label numbers of each row of a matrix."""
    return [Y.indices[a:b].tolist() for a, b in zip(Y.indptr[:-1], Y.indptr[1:], strict=True)]


def assert_same_summary(scan, rows, labels=None):
    """All numbers of a scan equal those of memory to 1e-9."""
    Y, values = matrix(rows, labels)
    ours, theirs = characterize(scan), characterize(Y)
    for name in NUMBERS:
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-9, rtol=1e-9)
    assert ours.labels.name == tuple(map(str, values))
    for name in ("count", "frequency", "irlbl", "scumble", "scumble_cv"):
        np.testing.assert_allclose(ours.labels[name], theirs.labels[name], atol=1e-9, rtol=1e-9)
    scores, expected = np.asarray(ours.scumble_by_instance), theirs.scumble_by_instance
    if not scan.layout.instance_columns:
        scores, expected = np.sort(scores), np.sort(expected)
    np.testing.assert_allclose(scores, expected, atol=1e-9)
    assert sorted(ours.labelsets.counts) == sorted(theirs.labelsets.counts)
    assert len(ours.labelsets) == len(theirs.labelsets)


def expected_remedial(rows, **parameters):
    """The rows memory gives: (instance, labels) pairs, sorted, and the method."""
    Y, values = matrix(rows)
    method = REMEDIAL(**parameters)
    _, result = method.fit_resample(np.arange(len(rows)).reshape(-1, 1), Y)
    labels = [tuple(values[at] for at in row) for row in rows_of(result)]
    return sorted(zip(method.sample_indices_.tolist(), labels, strict=True)), method


def written_lists(folder):
    """The rows of a folder of Parquet files, as `expected_remedial` gives them."""
    found = pq.read_table(folder).to_pylist()
    return sorted((row["instance"], tuple(clean([row["tags"]])[0])) for row in found)


def written_pairs(folder):
    """The same from (instance, clone, label) rows."""
    gathered = {}
    for row in pq.read_table(folder).to_pylist():
        labels = gathered.setdefault((row["instance"], row["clone"]), [])
        if row["label"] is not None:
            labels.append(row["label"])
    return sorted((instance, tuple(sorted(row))) for (instance, _), row in gathered.items())


def _has_integers(rows):
    return any(isinstance(item, int) for row in rows for item in row or [])
