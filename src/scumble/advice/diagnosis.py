"""What is wrong with a data set, before anything is learnt from it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, get_column
from scumble._core.parallel import row_slices
from scumble._core.table_repr import TableReprMixin
from scumble.data import MultilabelDataset
from scumble.data.infer.feature_kinds import MIN_UNIQUE_SHARE, is_identifier_column
from scumble.measures import characterize, cooccurrence

#: Labels are nearly the same from this share of common rows on, and so many common rows.
SAME_FROM, SAME_ROWS = 0.9, 5
#: A column tells a label by itself from this correlation on.
LEAK_FROM = 0.97
#: A label needs so many rows before a column's agreement with it is more than an accident.
LEAK_ROWS = 10
#: Cells of a table columns x labels that is looked at in one piece.
_CELLS_AT_ONCE = 2**23


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(TableReprMixin):
    """What stands in the way of learning, by the data alone.

    Attributes
    ----------
    counts, irlbl, scumble : ndarray of shape (n_labels,)
        Rows of each label, how many times rarer it is than the most frequent one, and how unequal
        its company.
    is_rare : ndarray of bool
        Labels rarer than the mean: IRLbl > MeanIR.
    company : tuple of (int, float) or None, one per label
        The label it meets most often, and in which share of its rows.
    same : tuple of (int, int, float)
        Pairs of labels that are nearly the same, with their share of common rows.
    identifiers : tuple of int
        Columns that name rows.
    leaks : tuple of (int, int, float)
        Column, label and correlation where a column tells a label by itself.

    Examples
    --------
    The second label comes in one row, always with the first.

    >>> from scumble import MultilabelDataset
    >>> from scumble.advice import diagnose
    >>> found = diagnose(MultilabelDataset([[1.5], [2.0], [0.5]], [[1, 0], [1, 1], [1, 0]]))
    >>> found.counts, found.is_rare, found.top_cooccurrence[1]
    (array([3, 1]), array([False,  True]), (0, 1.0))
    """

    counts: Array
    irlbl: Array
    scumble: Array
    is_rare: Array
    top_cooccurrence: tuple[tuple[int, float] | None, ...]
    near_duplicates: tuple[tuple[int, int, float], ...]
    identifiers: tuple[int, ...]
    leaks: tuple[tuple[int, int, float], ...]

    def has_both_classes(self, n_rows: int) -> Array:
        """Tell which labels some of so many rows have, and some have not."""
        found: Array = (self.counts > 0) & (self.counts < n_rows)
        return found


def diagnose(data: MultilabelDataset) -> Diagnosis:
    """Look for what stands in the way of learning the labels of a data set.

    Parameters
    ----------
    data : MultilabelDataset
        The data.

    Returns
    -------
    Diagnosis
        Rare labels and their company, labels that are nearly the same, columns that name rows or
        give a label away.

    Examples
    --------
    The first column numbers the rows, the second gives the first label away.

    >>> import numpy as np
    >>> from scumble import MultilabelDataset
    >>> from scumble.advice import diagnose
    >>> Y = np.arange(40)[:, None] % [2, 3] == 0
    >>> data = MultilabelDataset(np.c_[np.arange(40), Y[:, 0], np.arange(40) % 7], Y)
    >>> found = diagnose(data)
    >>> found.identifiers, found.leaks
    ((0,), ((1, 0, 1.0),))
    """
    labels = characterize(data.Y).labels
    together = cooccurrence(data.Y)
    counts = np.asarray(labels.count)
    return Diagnosis(
        counts=counts,
        irlbl=np.asarray(labels.irlbl),
        scumble=np.asarray(labels.scumble),
        is_rare=np.asarray(labels.is_minority),
        top_cooccurrence=_company(together, counts),
        near_duplicates=_same(together, counts),
        identifiers=_identifiers(data),
        leaks=_leaks(data, counts),
    )


def _company(together: sparse.csr_array, counts: Array) -> tuple[tuple[int, float] | None, ...]:
    if not len(counts):
        return ()
    apart = together.copy()
    apart.setdiag(0)
    found = zip(apart.argmax(axis=1), apart.max(axis=1).toarray(), counts, strict=True)
    return tuple((int(other), float(met / n)) if met else None for other, met, n in found)


def _same(together: sparse.csr_array, counts: Array) -> tuple[tuple[int, int, float], ...]:
    pairs = sparse.triu(together, 1).tocoo()
    shares = pairs.data / (counts[pairs.row] + counts[pairs.col] - pairs.data)
    near = np.flatnonzero((shares >= SAME_FROM) & (pairs.data >= SAME_ROWS))
    order = near[np.lexsort((pairs.col[near], pairs.row[near], -shares[near]))]
    return tuple((int(pairs.row[at]), int(pairs.col[at]), float(shares[at])) for at in order)


def _identifiers(data: MultilabelDataset) -> tuple[int, ...]:
    """Find columns that name rows by the rule of those who read plain tables."""
    X, candidates = data.X, np.arange(data.n_features)
    if sparse.issparse(X):  # most values of such a column differ, so that few can be 0
        X = sparse.csc_array(X)
        candidates = np.flatnonzero(np.diff(X.indptr) >= MIN_UNIQUE_SHARE * len(data))
    able = [at for at in candidates.tolist() if data.features[at].kind != "text"]
    return tuple(at for at in able if is_identifier_column(data.features[at], get_column(X, at)))


def _leaks(data: MultilabelDataset, counts: Array) -> tuple[tuple[int, int, float], ...]:
    """Find columns that go up and down with a label almost without exception."""
    able = np.flatnonzero((counts >= LEAK_ROWS) & (counts <= len(data) - LEAK_ROWS))
    n_values = data.categorical_features | dict.fromkeys(data.text_features, 0)
    told = np.array([c for c in range(data.n_features) if n_values.get(c, 2) == 2], np.int64)
    if not len(able) or not len(told):
        return ()
    Y = sparse.csc_array(data.Y, dtype=np.float64)[:, able]
    rates = counts[able] / len(data)
    found = []
    width = len(able) if data.is_sparse else max(len(able), len(data))
    for part in row_slices(len(told), width, _CELLS_AT_ONCE):
        columns = told[part]
        strength = _correlations(data.X[:, columns], Y, rates)
        for place, label in np.argwhere(np.abs(strength) >= LEAK_FROM):
            found.append((int(columns[place]), int(able[label]), float(strength[place, label])))
    return tuple(sorted(found, key=lambda one: (one[1], -abs(one[2]), one[0])))


def _correlations(part: Any, Y: sparse.csc_array, rates: Array) -> Array:
    """Correlate columns with labels; missing values count as the column's mean."""
    n_rows = part.shape[0]
    if sparse.issparse(part):
        part = sparse.csr_array(part, dtype=np.float64)
        part.data = np.nan_to_num(part.data)
        means = np.asarray(part.mean(axis=0)).ravel()
        squares = np.asarray(part.multiply(part).mean(axis=0)).ravel()
        products = (part.T @ Y).toarray() / n_rows
    else:
        part = np.asarray(part, np.float64)
        means = (
            np.nan_to_num(np.nanmean(part, axis=0)) if np.isnan(part).any() else part.mean(axis=0)
        )
        part = np.where(np.isnan(part), means, part)
        squares = (part**2).mean(axis=0)
        products = np.asarray((Y.T @ part).T) / n_rows
    spread = np.sqrt(np.maximum(squares - means**2, 0))
    scale = np.outer(spread, np.sqrt(rates * (1 - rates)))
    return np.divide(
        products - np.outer(means, rates), scale, out=np.zeros_like(products), where=scale > 1e-12
    )
