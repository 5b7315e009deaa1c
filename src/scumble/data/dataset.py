"""`MultilabelDataset`: an immutable data set of features, labels and their names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, get_column, take_by_code, with_columns
from scumble._core.errors import DataError, ParameterError
from scumble._core.parameters import is_integer
from scumble._core.text import default_names, pluralize
from scumble._validation.features import as_float_matrix, split_table_columns
from scumble._validation.label_hierarchy import check_parents, select_parents
from scumble._validation.labels import check_named_labels
from scumble._validation.selection import resolve_label_indices
from scumble.data.feature import (
    ColumnSelection,
    Feature as Feature,
    features_from_columns,
    first_duplicate,
)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class MultilabelDataset:
    """Instances with features and any number of labels each.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
        Features; missing values are NaN. Kept as float ndarray or `scipy.sparse.csr_array`, in
        which text, categories and truth values are codes.
    Y : array, sparse matrix, DataFrame or list of label lists
        Labels, see `scumble.measures`. Kept as a boolean `scipy.sparse.csr_array`.
    features : sequence of Feature or str, optional
        The columns of ``X``. If a name is given instead of a `Feature`, the kind follows from the
        values of ``X``. By default the columns of a DataFrame, or x0, x1, ...
    labels : sequence of str, optional
        Names of the labels; by default those of ``Y``, or y0, y1, ...
    name : str
        Name of the data set.
    weights : array of shape (n_samples,), optional
        Weight of every instance.
    label_parents : sequence of int, optional
        For hierarchical labels the number of each label's parent, -1 for a label without parent.

    Examples
    --------
    >>> from scumble import MultilabelDataset
    >>> films = MultilabelDataset([[90.0], [150.0]], [["comedy"], ["drama", "war"]], name="films")
    >>> films
    <MultilabelDataset 'films': 2 instances, 1 feature, 3 labels>
    >>> films.labels
    ('comedy', 'drama', 'war')
    >>> films[[1]].Y.toarray()
    array([[False,  True,  True]])
    """

    X: Array | sparse.csr_array
    Y: sparse.csr_array
    features: tuple[Feature, ...]
    labels: tuple[str, ...]
    name: str
    weights: Array | None
    label_parents: tuple[int, ...] | None
    #: Whether the labels were read from lists, which cannot name a label that no row has. Data sets
    #: derived from this one do not keep the mark.
    from_lists: ClassVar[bool] = False

    def __init__(
        self,
        X: Any,
        Y: Any,
        *,
        features: Sequence[Feature | str] | None = None,
        labels: Sequence[str] | None = None,
        name: str = "",
        weights: Any = None,
        label_parents: Sequence[int] | None = None,
    ) -> None:
        """Check the arguments and store them as read-only arrays; the class documents them."""
        Y, names = check_named_labels(Y, caller="MultilabelDataset")
        X, inferred_features = _as_features(X)
        if X.shape[0] != Y.shape[0]:
            raise DataError(
                f"X has {X.shape[0]} rows and Y has {Y.shape[0]}. Expected one row per instance "
                "in both."
            )
        self._set("X", _read_only_view(X))
        self._set("Y", _read_only_view(Y))
        self._set("features", _as_feature_tuple(features, inferred_features, X.shape[1]))
        self._set("labels", _as_label_tuple(names if labels is None else labels, Y.shape[1]))
        self._set("name", str(name))
        self._set("weights", _as_weights(weights, Y.shape[0]))
        self._set("label_parents", _as_parents(label_parents, Y.shape[1]))
        _check_unique(self.feature_names, "feature")
        _check_unique(self.labels, "label")

    def _set(self, field: str, value: Any) -> None:
        """Set a field, which a frozen dataclass otherwise forbids."""
        object.__setattr__(self, field, value)

    def mark_read_from_lists(self, from_lists: bool) -> MultilabelDataset:
        """Set the attribute ``from_lists`` in place and return this data set.

        Only readers of file formats call it, before anybody else has the data set.
        """
        self._set("from_lists", from_lists)
        return self

    @property
    def n_instances(self) -> int:
        """Number of rows."""
        return int(self.Y.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns of ``X``."""
        return int(self.X.shape[1])

    @property
    def n_labels(self) -> int:
        """Number of columns of ``Y``."""
        return int(self.Y.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether ``X`` is stored sparse."""
        return sparse.issparse(self.X)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of ``X``."""
        return tuple(feature.name for feature in self.features)

    @property
    def categorical_features(self) -> dict[int, int]:
        """Mapping of each categorical column, by its number, to its number of categories."""
        return {
            index: len(feature.categories)
            for index, feature in enumerate(self.features)
            if feature.is_categorical
        }

    @property
    def text_features(self) -> tuple[int, ...]:
        """Indices of the columns of kind "text", which classifiers get as numbers per word.

        See `scumble.learn.TextColumns`.
        """
        return tuple(i for i, feature in enumerate(self.features) if feature.kind == "text")

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.n_instances

    def __repr__(self) -> str:
        """Return the name of the data set and its numbers of instances, features and labels."""
        sizes = {"instance": self.n_instances, "feature": self.n_features, "label": self.n_labels}
        counts = ", ".join(pluralize(n, noun) for noun, n in sizes.items())
        return f"<MultilabelDataset {self.name!r}: {counts}>"

    def __getitem__(self, key: Any) -> MultilabelDataset:
        """Select rows, and labels after a comma: ``data[:100]``, ``data[:, ["war", "love"]]``.

        Rows are a slice, a list of row numbers or a boolean mask; labels as in `select_labels`.
        """
        row_selection, *label_selections = key if isinstance(key, tuple) else (key,)
        if len(label_selections) > 1:
            raise DataError(
                f"A data set has rows and labels: data[rows, labels]. Got {len(key)} indices."
            )
        if is_integer(row_selection):
            raise DataError(
                f"A single row is not a data set. Use data[[{int(row_selection)}]] to get one with "
                "one row."
            )
        selected = self.select_labels(label_selections[0]) if label_selections else self
        if isinstance(row_selection, slice) and row_selection == slice(None):
            return selected
        indices = self._resolve_row_indices(row_selection)
        return selected.with_rows(selected.X[indices], selected.Y[indices], indices)

    def _resolve_row_indices(self, selection: Any) -> Array:
        """Return the row numbers that a slice, a list of numbers or a mask selects.

        Raise DataError for texts, which may be meant as labels, and for rows that do not exist.
        """
        if not isinstance(selection, slice):
            values = np.asarray(selection)
            if values.dtype.kind in "US":
                raise DataError(
                    f"{values.ravel()[:1].item()!r} is not a row. Labels come after a comma: "
                    "data[:, names]."
                )
        try:
            return np.arange(self.n_instances)[selection]
        except IndexError as error:
            raise DataError(
                f"The rows of {self!r} are chosen by a slice, row numbers, or a mask with "
                f"{self.n_instances} values: {error}."
            ) from None

    def select_labels(self, labels: Any) -> MultilabelDataset:
        """Select labels; features and rows stay as they are.

        Parameters
        ----------
        labels : names, numbers, a mask or a slice
            The labels, in the order of the result, each once.

        Returns
        -------
        MultilabelDataset
            The parent of a label is its nearest ancestor among the selected labels. Rows that lose
            all their labels are kept.

        Raises
        ------
        ParameterError
            If there is no such label; the message suggests similar names.

        Examples
        --------
        >>> from scumble import MultilabelDataset
        >>> films = MultilabelDataset([[90.0], [150.0]], [["comedy"], ["drama", "war"]])
        >>> films.select_labels(["war", "comedy"]).Y.toarray()
        array([[False,  True],
               [ True, False]])
        >>> films[:, "war"].labels, films[:, [True, False, True]].labels
        (('war',), ('comedy', 'war'))
        >>> films.select_labels("comdy")
        Traceback (most recent call last):
        ...
        scumble._core.errors.ParameterError: select_labels: there is no label 'comdy'. Did you
        mean 'comedy'?
        """
        indices = resolve_label_indices(labels, self.n_labels, self.labels, caller="select_labels")
        repeated = first_duplicate(indices.tolist())
        if repeated is not None:
            raise ParameterError(
                f"select_labels: the label {self.labels[repeated]!r} is given twice. Names of "
                "labels must be unique."
            )
        return replace(
            self,
            Y=self.Y[:, indices],
            labels=tuple(self.labels[index] for index in indices),
            label_parents=select_parents(self.label_parents, indices.tolist()),
        )

    def with_rows(self, X: Any, Y: Any, sample_indices: Array | None = None) -> MultilabelDataset:
        """Return a data set with the same columns and other rows.

        Parameters
        ----------
        X, Y : array or sparse matrix
            The new rows.
        sample_indices : array of int, optional
            For each new row, the row of this data set that it comes from. Required if the data set
            has weights, which are copied.

        Returns
        -------
        MultilabelDataset
            The features, labels and name are those of this data set.

        Examples
        --------
        >>> from scumble import MultilabelDataset
        >>> films = MultilabelDataset([[90.0], [150.0]], [["comedy"], ["war"]], name="films")
        >>> films.with_rows([[100.0]], [[1, 1]])
        <MultilabelDataset 'films': 1 instance, 1 feature, 2 labels>
        """
        if self.weights is None:
            return replace(self, X=X, Y=Y)
        if sample_indices is None:
            raise DataError("The data has weights: say which row each new one comes from.")
        return replace(self, X=X, Y=Y, weights=self.weights[sample_indices])

    def __add__(self, other: MultilabelDataset) -> MultilabelDataset:
        """Append the rows of ``other``, which must have the same columns."""
        if not isinstance(other, MultilabelDataset):
            return NotImplemented
        return MultilabelDataset.concat([self, other])

    @classmethod
    def concat(cls, parts: Iterable[MultilabelDataset]) -> MultilabelDataset:
        """Concatenate the rows of data sets with the same columns.

        Text features may have different categories; they are recoded to common ones. A sparse
        ``X`` in one of the data sets makes the result sparse. If only some have weights, the rows
        of the others get weight 1.

        Parameters
        ----------
        parts : iterable of MultilabelDataset
            At least one.

        Returns
        -------
        MultilabelDataset
            Its name is that of the first.

        Raises
        ------
        DataError
            If there is no data set, or if features or labels differ.

        Examples
        --------
        >>> from scumble import MultilabelDataset
        >>> films = MultilabelDataset([[90.0], [150.0]], [["comedy"], ["war"]], name="films")
        >>> len(MultilabelDataset.concat([films, films[:1]]))
        3
        """
        parts = list(parts)
        if not parts:
            raise DataError("Nothing to concatenate: give at least one data set.")
        parts = _unify_text_codes(parts)
        first = parts[0]
        for part in parts[1:]:
            if first.features != part.features or first.labels != part.labels:
                raise DataError(
                    f"{first!r} and {part!r} cannot be joined: their features and labels must be "
                    "the same, in the same order."
                )
        X: Any = [part.X for part in parts]
        if any(part.is_sparse for part in parts):
            X = sparse.vstack(list(map(sparse.csr_array, X)), format="csr")
        else:
            X = np.concatenate(X)
        Y = sparse.vstack([part.Y for part in parts], format="csr")
        return replace(first, X=X, Y=Y, weights=_concat_weights(parts))

    def __eq__(self, other: object) -> bool:
        """Return whether all fields are equal, NaN being equal to NaN.

        A sparse ``X`` may equal a dense one; ``from_lists`` is not compared.
        """
        if not isinstance(other, MultilabelDataset):
            return NotImplemented
        fields = ("name", "features", "labels", "label_parents")
        return (
            all(getattr(self, field) == getattr(other, field) for field in fields)
            and _arrays_equal(self.weights, other.weights)
            and self.X.shape == other.X.shape
            and _matrices_equal(self.Y, other.Y)
            and _matrices_equal(self.X, other.X)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays are compared, not hashed

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        label_columns: ColumnSelection,
        label_separator: str | None = None,
        name: str = "",
        weight_column: str | int | None = None,
        ignore: ColumnSelection = (),
        text: ColumnSelection = (),
        category: ColumnSelection = (),
        keep: ColumnSelection | Literal[True] = (),
    ) -> MultilabelDataset:
        """Make a data set from a pandas, polars or Arrow table.

        Parameters
        ----------
        frame : DataFrame or Table
            Numbers, booleans, text and categorical columns.
        label_columns : sequence of str or str
            The 0/1 columns that are labels, or the one column that holds lists of labels. Here and
            below, a number is the name of a column in a pandas table whose columns are numbered.
        label_separator : str, optional
            The label separator, if that column holds texts such as ``"war;love"``. A missing text
            means a row without labels.
        name : str
            Name of the data set.
        weight_column : str, optional
            A column with the weights of the instances.
        ignore : sequence of str or str, optional
            Columns to leave out. Identifier columns are left out as well, with a warning.
        text : sequence of str or str
            Columns of free text, which a classifier gets as one number per word, computed from the
            training rows; see `scumble.learn.TextColumns`.
        category : sequence of str or str
            Columns whose values are categories, although they look like numbers or identifiers.
        keep : sequence of str, str or True
            Columns that are read as they are, without inference: they are not left out and not
            converted, whatever they seem to hold. True stands for all columns.

        Returns
        -------
        MultilabelDataset
            Text and categorical columns become nominal features, columns in `text` text features.

        Warns
        -----
        ScumbleWarning
            If a column is left out or converted because it seems to hold identifiers, dates or long
            texts. The rules are in the guide, section "What a column is".

        Examples
        --------
        >>> import pandas as pd
        >>> from scumble import MultilabelDataset
        >>> tickets = pd.DataFrame({
        ...     "id": ["T-1", "T-2"], "subject": ["No sound", "No picture"],
        ...     "minutes": [5, 90], "tags": ["sound", "picture;urgent"],
        ... })
        >>> data = MultilabelDataset.from_frame(
        ...     tickets, label_columns="tags", label_separator=";", ignore="id", text="subject"
        ... )
        >>> data.labels, [(feature.name, feature.kind) for feature in data.features]
        (('picture', 'sound', 'urgent'), [('subject', 'text'), ('minutes', 'numeric')])
        """
        from scumble.data.frames import read_frame

        fields = read_frame(
            frame,
            label_columns,
            weight_column,
            label_separator=label_separator,
            ignore=ignore,
            text=text,
            category=category,
            keep=keep,
        )
        return cls(**fields, name=name)

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return a table with one column per feature, then one per label.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            The library of the table.

        Returns
        -------
        DataFrame or Table
            Nominal features as categoricals, labels as booleans.
        """
        from scumble.data.frames import make_frame

        return make_frame(self, backend)


def _as_features(X: Any) -> tuple[Any, tuple[Feature, ...] | None]:
    """Return the features as a float matrix, and its columns as `Feature`s, None if unknown.

    They are known for a DataFrame and for booleans. An array of numbers has neither names nor
    kinds.
    """
    X, names, columns = split_table_columns(X, caller="MultilabelDataset")
    if columns is not None:
        names = default_names("x", len(columns)) if names is None else names
        features, X = features_from_columns(names, columns, X.shape[0])
        return X, features
    values = as_float_matrix(X, caller="MultilabelDataset")
    if X.dtype == bool:
        texts = ("False", "True")
        return values, tuple(
            Feature(name, "nominal", texts) for name in default_names("x", X.shape[1])
        )
    return values, None


def _read_only_view(matrix: Any) -> Any:
    """Return a view of an array or a CSR matrix that cannot be written to; no data is copied."""
    if sparse.issparse(matrix):
        view = sparse.csr_array(matrix.shape, dtype=matrix.dtype)
        for array in ("data", "indices", "indptr"):
            setattr(view, array, _read_only_view(getattr(matrix, array)))
        view.has_canonical_format = view.has_sorted_indices = True
        return view
    view = matrix.view()
    view.flags.writeable = False
    return view


def _as_feature_tuple(
    features: Sequence[Feature | str] | None,
    inferred_features: tuple[Feature, ...] | None,
    n_features: int,
) -> tuple[Feature, ...]:
    """Return one `Feature` per column of X.

    Parameters
    ----------
    features : sequence of Feature or str, or None
        What the caller declares: features, or only their names; None declares nothing.
    inferred_features : tuple of Feature or None
        The columns of X as `_as_features` returns them.
    n_features : int
        The number of columns of X.
    """
    if features is None:
        return inferred_features or tuple(map(Feature, default_names("x", n_features)))
    if len(features) != n_features:
        raise DataError(f"X has {n_features} columns, but {len(features)} features are named.")
    if inferred_features is None:
        return tuple(f if isinstance(f, Feature) else Feature(str(f)) for f in features)
    combined = []
    for declared, column in zip(features, inferred_features, strict=True):
        if isinstance(declared, str):
            combined.append(replace(column, name=declared))
        else:
            combined.append(_check_categories(declared, column))
    return tuple(combined)


def _check_categories(declared: Feature, column: Feature) -> Feature:
    """Return ``declared``; raise DataError if both have categories and these differ.

    ``column`` is the feature that was inferred from the values of X.
    """
    if column.holds_codes and declared.holds_codes and declared.categories != column.categories:
        raise DataError(
            f"The feature {declared.name!r} declares the categories {declared.categories[:5]}, but "
            f"its column of X holds {column.categories[:5]}. Give X as codes of the declared ones, "
            "or the name alone."
        )
    return declared


def _as_label_tuple(labels: Sequence[str] | None, n_labels: int) -> tuple[str, ...]:
    """Return one name per label; None stands for y0, y1, ...

    Raise DataError if the number of names is not ``n_labels``.
    """
    if labels is None:
        labels = default_names("y", n_labels)
    if len(labels) != n_labels:
        raise DataError(f"Y has {n_labels} columns, but {len(labels)} labels are named.")
    return tuple(str(label) for label in labels)


def _as_weights(weights: Any, n_rows: int) -> Array | None:
    """Return the weights as a read-only float array; None stays None.

    Raise DataError unless they are finite numbers >= 0, one per row.
    """
    if weights is None:
        return None
    try:
        weights = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"Weights must be {n_rows} numbers >= 0 ({error}).") from None
    if weights.shape != (n_rows,) or not np.all(np.isfinite(weights)) or np.any(weights < 0):
        raise DataError(
            f"Weights must be {n_rows} finite numbers >= 0, one per instance. "
            f"Got shape {weights.shape}."
        )
    return _read_only_view(weights)


def _as_parents(parents: Sequence[int] | None, n_labels: int) -> tuple[int, ...] | None:
    """Return the parent of each label, or None if no label has a parent.

    Raise DataError if the parents are not a hierarchy of ``n_labels`` labels.
    """
    if parents is None:
        return None
    parents = check_parents(parents, n_labels)
    return None if set(parents) <= {-1} else parents


def _check_unique(names: Sequence[str], noun: str) -> None:
    """Raise DataError if a name occurs twice; the message calls it a ``noun``."""
    name = first_duplicate(names)
    if name is not None:
        raise DataError(f"Two {noun}s are called {name!r}. Names must be unique.")


def _unify_text_codes(parts: list[MultilabelDataset]) -> list[MultilabelDataset]:
    """Return the data sets with text features recoded: equal texts have equal codes in all of them.

    Columns that are not of kind "text" in every data set are left alone.
    """
    for column in parts[0].text_features:
        is_text_in_all = all(
            column < part.n_features and part.features[column].kind == "text" for part in parts
        )
        if not is_text_in_all:
            continue
        if all(part.features[column] == parts[0].features[column] for part in parts):
            continue
        texts = chain.from_iterable(part.features[column].categories for part in parts)
        code_of = {text: code for code, text in enumerate(dict.fromkeys(texts))}
        parts = [_recode_texts(part, column, code_of) for part in parts]
    return parts


def _recode_texts(
    part: MultilabelDataset, column: int, code_of: dict[str, int]
) -> MultilabelDataset:
    """Return the data set with new codes for the texts of a column.

    ``code_of`` maps each text to its new code; its keys, in order, become the feature's categories.
    """
    features = list(part.features)
    codes = np.array([code_of[text] for text in features[column].categories], np.float64)
    features[column] = replace(features[column], categories=tuple(code_of))
    values = take_by_code(codes, get_column(part.X, column))
    return replace(part, X=with_columns(part.X, {column: values}), features=tuple(features))


def _concat_weights(parts: list[MultilabelDataset]) -> Array | None:
    """Concatenate weights; a data set without weights has weight 1 for every row.

    Return None if no data set has weights.
    """
    if all(part.weights is None for part in parts):
        return None
    weights = (np.ones(len(part)) if part.weights is None else part.weights for part in parts)
    return np.concatenate(list(weights))


def _arrays_equal(a: Array | None, b: Array | None) -> bool:
    """Return whether two arrays are equal, NaN being equal to NaN, or both are None."""
    if a is None or b is None:
        return a is b
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def _matrices_equal(a: Any, b: Any) -> bool:
    """Return whether two matrices of one shape have equal values, NaN being equal to NaN.

    Each may be a dense array or a CSR matrix in canonical form.
    """
    if sparse.issparse(a) != sparse.issparse(b):
        a = sparse.csr_array(a)
        b = sparse.csr_array(b)
    if not sparse.issparse(a):
        return _arrays_equal(a, b)
    return (
        _arrays_equal(a.indptr, b.indptr)
        and _arrays_equal(a.indices, b.indices)
        and _arrays_equal(a.data, b.data)
    )
