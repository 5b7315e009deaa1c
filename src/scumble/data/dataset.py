"""One immutable data set: features, labels, their names, and nothing derived."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array, get_column, take_by_code, with_columns
from scumble._core.errors import DataError, ParameterError
from scumble._core.features import as_float_matrix, split_table_columns
from scumble._core.hierarchy import check_parents, select_parents
from scumble._core.parameters import is_integer
from scumble._core.selection import resolve_label_indices
from scumble._core.text import default_names, pluralize
from scumble._core.validation import check_named_labels
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
        The columns of ``X``; names alone leave their kind to what ``X`` holds. By default as in
        a DataFrame, or x0, x1, ...
    labels : sequence of str, optional
        Names of the labels; by default those ``Y`` brings, or y0, y1, ...
    name : str
        Name of the data set.
    weights : array of shape (n_samples,), optional
        Weight of every instance.
    label_parents : sequence of int, optional
        For hierarchical labels the number of each label's parent, -1 at the top.

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
    #: made of this one do not know it.
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
        Y, names = check_named_labels(Y, caller="MultilabelDataset")
        X, known = _as_features(X)
        if X.shape[0] != Y.shape[0]:
            raise DataError(
                f"X has {X.shape[0]} rows and Y has {Y.shape[0]}. Expected one row per instance "
                "in both."
            )
        self._set("X", _frozen(X))
        self._set("Y", _frozen(Y))
        self._set("features", _as_feature_tuple(features, known, X.shape[1]))
        self._set("labels", _as_label_tuple(names if labels is None else labels, Y.shape[1]))
        self._set("name", str(name))
        self._set("weights", _as_weights(weights, Y.shape[0]))
        self._set("label_parents", _as_parents(label_parents, Y.shape[1]))
        _refuse_repeated(self.feature_names, "feature")
        _refuse_repeated(self.labels, "label")

    def _set(self, field: str, value: Any) -> None:
        object.__setattr__(self, field, value)

    def mark_read_from_lists(self, are_lists: bool) -> MultilabelDataset:
        """Keep in mind whether the labels were read from lists; for readers."""
        self._set("from_lists", are_lists)
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
        """Columns that hold codes, with their number of declared values."""
        return {at: len(f.categories) for at, f in enumerate(self.features) if f.is_categorical}

    @property
    def text_features(self) -> tuple[int, ...]:
        """Columns that hold texts to be read word by word; see `scumble.learn.TextColumns`."""
        return tuple(at for at, feature in enumerate(self.features) if feature.kind == "text")

    def __len__(self) -> int:
        return self.n_instances

    def __repr__(self) -> str:
        sizes = {"instance": self.n_instances, "feature": self.n_features, "label": self.n_labels}
        counts = ", ".join(pluralize(n, noun) for noun, n in sizes.items())
        return f"<MultilabelDataset {self.name!r}: {counts}>"

    def __getitem__(self, key: Any) -> MultilabelDataset:
        """Select rows, and labels behind a comma: ``data[:100]``, ``data[:, ["war", "love"]]``.

        Rows are a slice, a list of row numbers or a boolean mask; labels as in `select_labels`.
        """
        rows, *labels = key if isinstance(key, tuple) else (key,)
        if len(labels) > 1:
            raise DataError(
                f"A data set has rows and labels: data[rows, labels]. Got {len(key)} indices."
            )
        if is_integer(rows):
            raise DataError(
                f"A single row is no data set. Use data[[{int(rows)}]] to get one with one row."
            )
        chosen = self.select_labels(labels[0]) if labels else self
        if isinstance(rows, slice) and rows == slice(None):
            return chosen
        index = self._row_numbers(rows)
        return chosen.with_rows(chosen.X[index], chosen.Y[index], index)

    def _row_numbers(self, rows: Any) -> Array:
        if not isinstance(rows, slice) and (given := np.asarray(rows)).dtype.kind in "US":
            raise DataError(
                f"{given.ravel()[:1].item()!r} is no row. Labels stand behind a comma: "
                "data[:, names]."
            )
        try:
            return np.arange(self.n_instances)[rows]
        except IndexError as error:
            raise DataError(
                f"The rows of {self!r} are chosen by a slice, row numbers, or a mask with "
                f"{self.n_instances} values: {error}."
            ) from None

    def select_labels(self, labels: Any) -> MultilabelDataset:
        """Keep some labels; the features and all rows stay.

        Parameters
        ----------
        labels : names, numbers, a mask or a slice
            Which labels, in the order asked. None may be asked for twice.

        Returns
        -------
        MultilabelDataset
            A label whose parent goes hangs below the next one above that stays. Rows that lose
            all their labels stay.

        Raises
        ------
        ParameterError
            If there is no such label, with names that come close.

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
        chosen = resolve_label_indices(labels, self.n_labels, self.labels, caller="select_labels")
        if (repeated := first_duplicate(chosen.tolist())) is not None:
            raise ParameterError(
                f"select_labels: the label {self.labels[repeated]!r} is asked for twice. Names of "
                "labels must be unique."
            )
        return replace(
            self,
            Y=self.Y[:, chosen],
            labels=tuple(self.labels[at] for at in chosen),
            label_parents=select_parents(self.label_parents, chosen.tolist()),
        )

    def with_rows(self, X: Any, Y: Any, sample_indices: Array | None = None) -> MultilabelDataset:
        """Make a data set with the same columns and other rows.

        Parameters
        ----------
        X, Y : array or sparse matrix
            The new rows.
        sample_indices : array of int, optional
            The row each new one comes from; needed to carry weights over.

        Returns
        -------
        MultilabelDataset
            Features, labels and name as here.

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
        """Put the rows of several data sets with the same columns one after another.

        Text features may hold other texts in each.

        Parameters
        ----------
        parts : iterable of MultilabelDataset
            At least one.

        Returns
        -------
        MultilabelDataset
            Named like the first.

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
        parts = _with_same_texts(parts)
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
        """Compare everything a data set holds; missing values equal each other."""
        if not isinstance(other, MultilabelDataset):
            return NotImplemented
        plain = ("name", "features", "labels", "label_parents")
        return (
            all(getattr(self, part) == getattr(other, part) for part in plain)
            and _same(self.weights, other.weights)
            and self.X.shape == other.X.shape
            and _same_matrix(self.Y, other.Y)
            and _same_matrix(self.X, other.X)
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
            below, a number is the name of a column that pandas has numbered.
        label_separator : str, optional
            What stands between the labels where that column holds texts, such as ``"war;love"``.
            A missing text has no labels.
        name : str
            Name of the data set.
        weight_column : str, optional
            A column with the weights of the instances.
        ignore : sequence of str or str, optional
            Columns to leave out. Those that only name rows are left out as well, with a warning.
        text : sequence of str or str
            Columns of texts whose words are learnt; see `scumble.learn.TextColumns`.
        category : sequence of str or str
            Columns whose values are categories, though they look like numbers or names of rows.
        keep : sequence of str, str or True
            Columns to take as they are, whatever they look like; True takes all of them so.

        Returns
        -------
        MultilabelDataset
            Text and categorical columns become nominal features, columns in `text` text features.

        Warns
        -----
        ScumbleWarning
            If a column is not taken as it looks: near-unique ones, dates and long texts. The rules
            stand in the guide, below "What a column is".

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

        how: dict[str, Any] = {"ignore": ignore, "text": text, "category": category, "keep": keep}
        how["label_separator"] = label_separator
        return cls(**read_frame(frame, label_columns, weight_column, **how), name=name)

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Make a table with one column per feature, then one per label.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Which library's table.

        Returns
        -------
        DataFrame or Table
            Nominal features as categoricals, labels as booleans.
        """
        from scumble.data.frames import make_frame

        return make_frame(self, backend)


def _as_features(X: Any) -> tuple[Any, tuple[Feature, ...] | None]:
    """Read features, and what they tell of their columns."""
    X, names, columns = split_table_columns(X, caller="MultilabelDataset")
    if columns is not None:
        names = default_names("x", len(columns)) if names is None else names
        known, X = features_from_columns(names, columns, X.shape[0])
        return X, known
    values = as_float_matrix(X, caller="MultilabelDataset")
    if X.dtype == bool:
        texts = ("False", "True")
        return values, tuple(
            Feature(name, "nominal", texts) for name in default_names("x", X.shape[1])
        )
    return values, None


def _frozen(matrix: Any) -> Any:
    """Return a view of the matrix whose arrays cannot be written to."""
    if sparse.issparse(matrix):
        view = sparse.csr_array(matrix.shape, dtype=matrix.dtype)
        for part in ("data", "indices", "indptr"):
            setattr(view, part, _frozen(getattr(matrix, part)))
        view.has_canonical_format = view.has_sorted_indices = True
        return view
    view = matrix.view()
    view.flags.writeable = False
    return view


def _as_feature_tuple(
    features: Sequence[Feature | str] | None, known: tuple[Feature, ...] | None, n_features: int
) -> tuple[Feature, ...]:
    """Put together what the caller says of the columns and what they tell themselves."""
    if features is None:
        return known or tuple(map(Feature, default_names("x", n_features)))
    if len(features) != n_features:
        raise DataError(f"X has {n_features} columns, but {len(features)} features are named.")
    if known is None:
        return tuple(f if isinstance(f, Feature) else Feature(str(f)) for f in features)
    return tuple(
        replace(found, name=given) if isinstance(given, str) else _agreeing(given, found)
        for given, found in zip(features, known, strict=True)
    )


def _agreeing(given: Feature, found: Feature) -> Feature:
    """Refuse a description of texts or categories that X does not hold."""
    if found.holds_codes and given.holds_codes and given.categories != found.categories:
        raise DataError(
            f"The feature {given.name!r} declares the categories {given.categories[:5]}, but its "
            f"column of X holds {found.categories[:5]}. Give X as codes of the declared ones, or "
            "the name alone."
        )
    return given


def _as_label_tuple(labels: Sequence[str] | None, n_labels: int) -> tuple[str, ...]:
    if labels is None:
        labels = default_names("y", n_labels)
    if len(labels) != n_labels:
        raise DataError(f"Y has {n_labels} columns, but {len(labels)} labels are named.")
    return tuple(str(label) for label in labels)


def _as_weights(weights: Any, n_rows: int) -> Array | None:
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
    return _frozen(weights)


def _as_parents(parents: Sequence[int] | None, n_labels: int) -> tuple[int, ...] | None:
    if parents is None:
        return None
    parents = check_parents(parents, n_labels)
    return None if set(parents) <= {-1} else parents


def _refuse_repeated(names: Sequence[str], what: str) -> None:
    if (name := first_duplicate(names)) is not None:
        raise DataError(f"Two {what}s are called {name!r}. Names must be unique.")


def _with_same_texts(parts: list[MultilabelDataset]) -> list[MultilabelDataset]:
    """Give the texts of a column the same codes in all parts: each has those of its own rows."""
    for at in parts[0].text_features:
        same = all(at < part.n_features and part.features[at].kind == "text" for part in parts)
        if not same or all(part.features[at] == parts[0].features[at] for part in parts):
            continue
        known = (text for part in parts for text in part.features[at].categories)
        code_of = {text: code for code, text in enumerate(dict.fromkeys(known))}
        parts = [_with_texts(part, at, code_of) for part in parts]
    return parts


def _with_texts(part: MultilabelDataset, at: int, code_of: dict[str, int]) -> MultilabelDataset:
    features = list(part.features)
    codes = np.array([code_of[text] for text in features[at].categories], np.float64)
    features[at] = replace(features[at], categories=tuple(code_of))
    column = {at: take_by_code(codes, get_column(part.X, at))}
    return replace(part, X=with_columns(part.X, column), features=tuple(features))


def _concat_weights(parts: list[MultilabelDataset]) -> Array | None:
    if all(part.weights is None for part in parts):
        return None
    weights = (np.ones(len(part)) if part.weights is None else part.weights for part in parts)
    return np.concatenate(list(weights))


def _same(a: Array | None, b: Array | None) -> bool:
    if a is None or b is None:
        return a is b
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def _same_matrix(a: Any, b: Any) -> bool:
    """Compare by value; a sparse and a dense matrix may be equal."""
    if sparse.issparse(a) != sparse.issparse(b):
        a, b = sparse.csr_array(a), sparse.csr_array(b)
    if not sparse.issparse(a):
        return _same(a, b)
    return all(_same(getattr(a, part), getattr(b, part)) for part in ("indptr", "indices", "data"))
