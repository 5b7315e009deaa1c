"""Diagnosis of a data set: problems for learning that show before any model is fitted."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, get_column
from scumble._core.parallel import row_slices
from scumble._core.table_repr import TableReprMixin
from scumble.data import MultilabelDataset
from scumble.data.infer.feature_kinds import MIN_UNIQUE_SHARE, is_identifier_column
from scumble.measures import characterize, cooccurrence

#: Two labels are near-duplicates if at least this share of the rows with either of them has both.
MIN_DUPLICATE_SHARE = 0.9
#: With fewer common rows, such an agreement may be chance.
MIN_DUPLICATE_ROWS = 5
#: A column leaks a label if the absolute value of their correlation is at least this.
MIN_LEAK_CORRELATION = 0.97
#: With fewer rows of a label, or fewer rows without it, such a correlation may be chance.
MIN_LEAK_ROWS = 10
#: Maximum number of array elements (columns times labels or rows) that are computed at a time:
#: 64 MB of floats.
_MAX_ELEMENTS = 2**23


class NearDuplicate(NamedTuple):
    """Two labels that are nearly the same."""

    label: int
    other_label: int
    share: float  # rows with both labels, as a share of the rows with either of them


class LabelLeak(NamedTuple):
    """A column of X that leaks a label: they are almost perfectly correlated."""

    column: int
    label: int
    correlation: float


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(TableReprMixin):
    """Problems for learning that the data alone shows.

    Attributes
    ----------
    counts, irlbl, scumble : ndarray of shape (n_labels,)
        Number of rows, IRLbl and SCUMBLELbl of each label.
    is_rare : ndarray of bool
        Minority labels: IRLbl > MeanIR.
    top_cooccurrence : tuple of (int, float) or None, one per label
        The label that co-occurs with it most often, and the share of its rows that have both. None
        if it has no co-occurring label.
    near_duplicates : tuple of NearDuplicate
        Pairs of labels that are nearly the same: ``label``, ``other_label``, and the ``share`` of
        the rows with either label that have both.
    identifiers : tuple of int
        Indices of the identifier columns.
    leaks : tuple of LabelLeak
        Columns that leak a label: ``column``, ``label``, and their ``correlation``.

    Examples
    --------
    The second label has one row, which also has the first label.

    >>> from scumble import MultilabelDataset
    >>> from scumble.advice import diagnose
    >>> diagnosis = diagnose(MultilabelDataset([[1.5], [2.0], [0.5]], [[1, 0], [1, 1], [1, 0]]))
    >>> diagnosis.counts, diagnosis.is_rare, diagnosis.top_cooccurrence[1]
    (array([3, 1]), array([False,  True]), (0, 1.0))
    """

    counts: Array
    irlbl: Array
    scumble: Array
    is_rare: Array
    top_cooccurrence: tuple[tuple[int, float] | None, ...]
    near_duplicates: tuple[NearDuplicate, ...]
    identifiers: tuple[int, ...]
    leaks: tuple[LabelLeak, ...]

    def has_both_classes(self, n_rows: int) -> Array:
        """Return a mask of the labels that some rows have and others do not.

        ``n_rows`` is the number of rows of the data.
        """
        has_both: Array = (self.counts > 0) & (self.counts < n_rows)
        return has_both


def diagnose(data: MultilabelDataset) -> Diagnosis:
    """Return the problems for learning that a data set shows before any model is fitted.

    Parameters
    ----------
    data : MultilabelDataset
        The data.

    Returns
    -------
    Diagnosis
        Rare labels and the labels they co-occur with, near-duplicate labels, identifier columns,
        and columns that leak a label.

    Examples
    --------
    The first column numbers the rows, the second equals the first label.

    >>> import numpy as np
    >>> from scumble import MultilabelDataset
    >>> from scumble.advice import diagnose
    >>> Y = np.arange(40)[:, None] % [2, 3] == 0
    >>> data = MultilabelDataset(np.c_[np.arange(40), Y[:, 0], np.arange(40) % 7], Y)
    >>> diagnosis = diagnose(data)
    >>> diagnosis.identifiers, diagnosis.leaks
    ((0,), (LabelLeak(column=1, label=0, correlation=1.0),))
    """
    labels = characterize(data.Y).labels
    pair_counts = cooccurrence(data.Y)
    counts = np.asarray(labels.count)
    return Diagnosis(
        counts=counts,
        irlbl=np.asarray(labels.irlbl),
        scumble=np.asarray(labels.scumble),
        is_rare=np.asarray(labels.is_minority),
        top_cooccurrence=_top_cooccurrence(pair_counts, counts),
        near_duplicates=_near_duplicates(pair_counts, counts),
        identifiers=_identifier_columns(data),
        leaks=_leaking_columns(data, counts),
    )


def _top_cooccurrence(
    pair_counts: sparse.csr_array, counts: Array
) -> tuple[tuple[int, float] | None, ...]:
    """Return for each label the label that co-occurs with it most often, and its share.

    The share is that of the rows of the label which have both; None for a label that co-occurs with
    no other one. ``pair_counts`` is the co-occurrence matrix, with ``counts`` on the diagonal.
    """
    if not len(counts):
        return ()
    other_counts = pair_counts.copy()
    other_counts.setdiag(0)
    partners = other_counts.argmax(axis=1)
    joint_counts = other_counts.max(axis=1).toarray()
    pairs: list[tuple[int, float] | None] = []
    for partner, joint_count, count in zip(partners, joint_counts, counts, strict=True):
        if joint_count:
            pairs.append((int(partner), float(joint_count / count)))
        else:
            pairs.append(None)
    return tuple(pairs)


def _near_duplicates(pair_counts: sparse.csr_array, counts: Array) -> tuple[NearDuplicate, ...]:
    """Return pairs of labels that are nearly the same, by decreasing share of common rows.

    ``pair_counts`` is the co-occurrence matrix, ``counts`` are the numbers of rows of the labels.
    """
    pairs = sparse.triu(pair_counts, 1).tocoo()
    shares = pairs.data / (counts[pairs.row] + counts[pairs.col] - pairs.data)
    is_duplicate = (shares >= MIN_DUPLICATE_SHARE) & (pairs.data >= MIN_DUPLICATE_ROWS)
    indices = np.flatnonzero(is_duplicate)
    order = indices[np.lexsort((pairs.col[indices], pairs.row[indices], -shares[indices]))]
    return tuple(
        NearDuplicate(int(pairs.row[i]), int(pairs.col[i]), float(shares[i])) for i in order
    )


def _identifier_columns(data: MultilabelDataset) -> tuple[int, ...]:
    """Return the indices of identifier columns, by the rule that readers of plain tables follow."""
    X = data.X
    candidates = np.arange(data.n_features)
    if sparse.issparse(X):
        # Most values of an identifier column differ, so that few can be 0.
        X = sparse.csc_array(X)
        candidates = np.flatnonzero(np.diff(X.indptr) >= MIN_UNIQUE_SHARE * len(data))
    identifiers = []
    for column in candidates.tolist():
        feature = data.features[column]
        if feature.kind != "text" and is_identifier_column(feature, get_column(X, column)):
            identifiers.append(column)
    return tuple(identifiers)


def _leaking_columns(data: MultilabelDataset, counts: Array) -> tuple[LabelLeak, ...]:
    """Return columns with almost perfect correlation to a label, by label and strength.

    ``counts`` are the numbers of rows of the labels.
    """
    has_enough_rows = (counts >= MIN_LEAK_ROWS) & (counts <= len(data) - MIN_LEAK_ROWS)
    labels = np.flatnonzero(has_enough_rows)
    # A correlation is meaningful for numbers and for two categories, not for more or for texts.
    n_categories = data.categorical_features
    texts = set(data.text_features)
    columns = np.array(
        [
            column
            for column in range(data.n_features)
            if column not in texts and n_categories.get(column, 2) == 2
        ],
        np.int64,
    )
    if not len(labels) or not len(columns):
        return ()
    Y = sparse.csc_array(data.Y, dtype=np.float64)[:, labels]
    frequencies = counts[labels] / len(data)
    elements_per_column = len(labels) if data.is_sparse else max(len(labels), len(data))
    leaks = []
    for part in row_slices(len(columns), elements_per_column, _MAX_ELEMENTS):
        part_columns = columns[part]
        correlations = _correlations(data.X[:, part_columns], Y, frequencies)
        for i, j in np.argwhere(np.abs(correlations) >= MIN_LEAK_CORRELATION):
            leak = LabelLeak(
                column=int(part_columns[i]),
                label=int(labels[j]),
                correlation=float(correlations[i, j]),
            )
            leaks.append(leak)
    leaks.sort(key=lambda leak: (leak.label, -abs(leak.correlation), leak.column))
    return tuple(leaks)


def _correlations(X: Any, Y: sparse.csc_array, frequencies: Array) -> Array:
    """Return the correlation of each column with each label, shape (n_columns, n_labels).

    ``frequencies`` are the shares of rows with each label. A missing value counts as the mean of
    its column; in a sparse matrix, as 0. The correlation with a constant column is 0.
    """
    n_rows = X.shape[0]
    if sparse.issparse(X):
        X = sparse.csr_array(X, dtype=np.float64)
        X.data = np.nan_to_num(X.data)
        means = np.asarray(X.mean(axis=0)).ravel()
        mean_squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        mean_products = (X.T @ Y).toarray() / n_rows
    else:
        X = np.asarray(X, np.float64)
        if np.isnan(X).any():
            means = np.nan_to_num(np.nanmean(X, axis=0))
        else:
            means = X.mean(axis=0)
        X = np.where(np.isnan(X), means, X)
        mean_squares = (X**2).mean(axis=0)
        mean_products = np.asarray((Y.T @ X).T) / n_rows
    standard_deviations = np.sqrt(np.maximum(mean_squares - means**2, 0))
    scale = np.outer(standard_deviations, np.sqrt(frequencies * (1 - frequencies)))
    covariances = mean_products - np.outer(means, frequencies)
    # Scales below 1e-12 are rounding errors of constant columns.
    return np.divide(covariances, scale, out=np.zeros_like(mean_products), where=scale > 1e-12)
