"""The base classes of all resamplers, and the result that an algorithm returns to them."""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, Self

import numpy as np
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNCHANGED

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterError, ScumbleError
from scumble._core.neighbours import nearest_neighbours
from scumble._core.parameters import (
    CATEGORICAL_FEATURES,
    Bool,
    NJobsConstraint,
    RandomStateConstraint,
    ValidatedParametersMixin,
    as_generator,
)
from scumble._core.registry import register
from scumble._validation.features import Features, read_features
from scumble._validation.labels import check_consistent_length, check_labels, label_lists
from scumble._validation.provenance import (
    mark_resampled,
    remember_sample_weight,
    remembered_sample_weight,
)
from scumble.data import Feature, MultilabelDataset, write
from scumble.measures.summary import characterize
from scumble.resample.containers import append_rows, as_container, labels_like, take_rows
from scumble.resample.metadata_routing import ResamplerMetadataRequest

#: The largest number of rows that a percentage may stand for; no machine has memory for as many.
MAX_ROWS = 2**40
#: The headings under which resamplers are listed, in order.
DISPLAY_GROUPS = ("Decouple", "Add rows", "Remove rows")
#: The measures that `BaseResampler.summary` compares.
SUMMARY_MEASURES = ("n_instances", "mean_ir", "max_ir", "cvir", "scumble")


@dataclass(frozen=True, eq=False)
class ResampleResult:
    """The rows of a resampled data set, as a resampling algorithm returns them to the base class.

    A *synthetic row* is interpolated between an input row, its *seed*, and a neighbour.

    Attributes
    ----------
    sample_indices : ndarray of int64
        For every output row, the input row that it comes from; for a synthetic row, its seed.
    Y : csr_array of bool
        Labels of the output rows.
    synthetic : same type as X, or None
        Features of the synthetic rows, which come last; None if all rows are copies of input rows.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from scumble.resample import ResampleResult
    >>> Y = sparse.csr_array(np.array([[True, False], [True, True]]))
    >>> result = ResampleResult(np.array([0, 1, 1]), Y[[0, 1, 1]])
    >>> result.Y.shape, result.synthetic
    ((3, 2), None)
    """

    sample_indices: Array
    Y: sparse.csr_array
    synthetic: Any = None


class _CheckedInput(NamedTuple):
    """The arguments of `fit_resample` after the checks."""

    X: Any  # an array, sparse matrix or frame; nested lists have become an array
    y: Any  # the labels as the user passed them; lists have become an array
    Y: sparse.csr_array  # the labels in canonical form


class BaseResampler(ValidatedParametersMixin, BaseEstimator, ABC):
    """Base class of all resamplers.

    A subclass implements `_fit_resample`, which receives canonical labels and returns a
    `ResampleResult`. The base class checks the input, assembles the rows, and returns the types
    that it was given: arrays, sparse matrices or data frames, with their dtypes, columns and index.

    ``_parameter_constraints`` lists the allowed values of the parameters. A class of this package
    that names its display group registers itself under its name in lower case: ``class
    MLROS(BaseResampler, display_group="Add rows")``. Other packages register theirs with
    `scumble.catalogue.register`.

    Attributes
    ----------
    sample_indices_ : ndarray of int64
        For every row of the result, the input row that it comes from; for a synthetic row, its
        seed.
    n_added_, n_removed_ : int
        Number of rows that were added, and of input rows that no row of the result comes from.
    sample_weight_ : ndarray or None
        Weights of the rows of the result, if `fit_resample` was given weights.
    n_features_in_, n_labels_in_ : int
        Number of columns of the last ``X`` and ``y``.
    feature_names_in_ : ndarray of str
        Names of the columns of the last ``X``, if it was a data frame and all names are strings.

    See Also
    --------
    BaseDistanceResampler : Base class of the resamplers that compute distances between rows.

    Examples
    --------
    >>> import numpy as np
    >>> from scumble.resample import BaseResampler, ResampleResult
    >>> class Twice(BaseResampler):
    ...     def _fit_resample(self, X, Y):
    ...         rows = np.tile(np.arange(Y.shape[0]), 2)
    ...         return ResampleResult(rows, Y[rows])
    >>> X_new, Y_new = Twice().fit_resample([[0.0], [1.0]], [[1, 0], [1, 1]])
    >>> X_new.ravel(), Y_new.tolist()
    (array([0., 1., 0., 1.]), [[1, 0], [1, 1], [1, 0], [1, 1]])
    """

    _parameter_constraints = {
        "categorical_features": CATEGORICAL_FEATURES,
        "random_state": RandomStateConstraint(),
        "n_jobs": NJobsConstraint(),
    }

    def __init_subclass__(cls, display_group: str | None = None, **options: Any) -> None:
        """Register a subclass of this package that has a display group in the catalogue."""
        super().__init_subclass__(**options)
        if display_group is not None and cls.__module__.startswith("scumble."):
            register("resampler", cls.__name__.lower(), cls, display_group=display_group)

    @abstractmethod
    def _fit_resample(self, X: Any, Y: sparse.csr_array) -> ResampleResult:
        """Resample checked input.

        Parameters
        ----------
        X : object
            The features as `_read_features` returned them; by default as the user passed them.
        Y : csr_array of bool of shape (n_samples, n_labels)
            The labels, with sorted indices and no stored zeros. Must not be changed.

        Returns
        -------
        ResampleResult
            The rows of the result.
        """

    def _read_features(self, X: Any, columns: Sequence[Feature] | None) -> Any:
        """Return the features in the form that `_fit_resample` expects; by default ``X`` itself.

        ``columns`` describes the columns of ``X`` if it comes from a `MultilabelDataset`, else it
        is None. Resamplers that use the features override this method.
        """
        return X

    def _check_features(self, X: Any) -> None:
        """Raise an error if the resampler cannot use these features."""
        self._read_features(X, None)

    def fit(self, X: Any, y: Any) -> Self:
        """Check the input and the parameters; a resampler learns nothing else.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features.
        y : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
            Labels, 0/1 or True/False.

        Returns
        -------
        self
            The resampler.
        """
        checked = self._check_input(X, y)
        self._check_features(checked.X)
        return self

    def fit_resample(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Resample a data set.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features. They are not changed.
        y : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
            Labels, 0/1 or True/False. They are not changed.
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows. ``sample_weight_`` holds those of the rows of the result.

        Returns
        -------
        X : same type as X
            Features of the rows of the result.
        y : same type as y
            Labels of the rows of the result.
        """
        checked = self._check_input(X, y)
        weights = self._check_weights(remembered_sample_weight(y, sample_weight), checked.Y)
        result = self._run(checked.X, checked.Y)
        # An algorithm may return the caller's own matrix, which the result must not share.
        Y_new = result.Y.copy() if result.Y is checked.Y else result.Y
        X_new = self._assemble_features(checked.X, result)
        y_new = labels_like(Y_new, checked.y, result.sample_indices)
        self._mark_as_resampled(X_new, y_new)
        self.sample_weight_ = None if weights is None else weights[result.sample_indices]
        if weights is not None:
            remember_sample_weight(y_new, sample_weight, self.sample_weight_)
        return X_new, y_new

    def set_fit_resample_request(self, *, sample_weight: bool | str | None = UNCHANGED) -> Self:
        """Choose whether a meta-estimator passes sample weights to `fit_resample`.

        This has an effect in a meta-estimator with metadata routing, such as a pipeline of
        imbalanced-learn.

        Parameters
        ----------
        sample_weight : bool, str or None
            True passes the weights, False does not, None raises an error if there are any, and a
            str passes the metadata of this name. By default an earlier choice is kept.

        Returns
        -------
        self
            The resampler.
        """
        if not sklearn.get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "This method is only available when metadata routing is enabled. You can enable it "
                "using sklearn.set_config(enable_metadata_routing=True)."
            )
        requests = self.get_metadata_routing()
        if sample_weight != UNCHANGED:
            requests.fit_resample.add_request(param="sample_weight", alias=sample_weight)
        self._metadata_request = requests  # the attribute that scikit-learn's clone copies
        return self

    def get_metadata_routing(self) -> Any:
        """Return the metadata that each method requests; scikit-learn's routing calls this.

        Returns
        -------
        MetadataRequest
            The requests of scikit-learn's methods and of ``fit_resample``.
        """
        requests = super().get_metadata_routing()
        if isinstance(requests, ResamplerMetadataRequest):
            return requests
        requests_with_fit_resample = ResamplerMetadataRequest(self)
        requests_with_fit_resample.update(requests)
        return requests_with_fit_resample

    def resample(self, data: Any, out: str | os.PathLike[str] | None = None) -> Any:
        """Resample a data set object, or one that does not fit in memory.

        Parameters
        ----------
        data : MultilabelDataset or OutOfCoreDataset
            The data. An object of any other class can implement the method
            ``__scumble_resample__(resampler, out)``, as the data set of `scumble.scan` does: it
            resamples its data by the parameters of ``resampler``, sets its fitted attributes,
            writes the result to ``out`` and returns it.
        out : str or Path, optional
            File or folder to write the result to. Required for a scan; by default the result of a
            MultilabelDataset is returned only.

        Returns
        -------
        MultilabelDataset or OutOfCoreDataset
            The resampled data, of the same class as ``data``.
        """
        out_of_core = getattr(data, "__scumble_resample__", None)
        if out_of_core is None and not isinstance(data, MultilabelDataset):
            raise ScumbleError(
                f"{type(self).__name__}.resample takes a MultilabelDataset. "
                f"Got {type(data).__name__} instead: use fit_resample(X, y) for arrays."
            )
        self.check_parameters()
        if out_of_core is not None:
            return out_of_core(self, out)
        result = self._run(data.X, data.Y, data.features)
        X = self._assemble_features(data.X, result)
        resampled = data.with_rows(X, result.Y, self.sample_indices_)
        self._mark_as_resampled(resampled)
        if out is not None:
            write(resampled, out)
        return resampled

    def summary(self) -> dict[str, dict[str, float]]:
        """Compare imbalance and concurrence before and after the last resampling.

        Returns
        -------
        dict
            ``{"before": {...}, "after": {...}}`` with the number of instances, MeanIR, MaxIR,
            CVIR and SCUMBLE.
        """
        if not hasattr(self, "_labels_before_and_after"):
            raise ScumbleError(
                f"This {type(self).__name__} has not resampled anything yet: call fit_resample."
            )
        Y_before, Y_after = self._labels_before_and_after
        comparison = {}
        for when, Y in (("before", Y_before), ("after", Y_after)):
            measures = characterize(Y)
            comparison[when] = {name: getattr(measures, name) for name in SUMMARY_MEASURES}
        return comparison

    def _check_input(self, X: Any, y: Any) -> _CheckedInput:
        """Check the parameters, the features and the labels; raise an error if one is invalid.

        Set ``n_features_in_``, ``n_labels_in_`` and, for a frame, ``feature_names_in_``.
        """
        caller = type(self).__name__
        self.check_parameters()
        X = as_container(X, caller=caller)
        Y = check_labels(y, caller=caller)
        check_consistent_length(X, Y, caller=caller)
        self.n_features_in_ = int(X.shape[1])
        self.n_labels_in_ = int(Y.shape[1])
        names = getattr(X, "columns", None)
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if isinstance(y, list | tuple):
            y = np.asarray(y) if label_lists(y) is None else Y.toarray()
        return _CheckedInput(X, y, Y)

    def _check_weights(self, sample_weight: Any, Y: sparse.csr_array) -> Array | None:
        """Return the weights as an array with a number per row of ``Y``; None if there are none."""
        if sample_weight is None:
            return None
        weights = np.asarray(sample_weight)
        if weights.shape != (Y.shape[0],):
            raise DataError(
                f"{type(self).__name__}: sample_weight must hold one number per row of X, shape "
                f"({Y.shape[0]},). Got shape {weights.shape} instead."
            )
        return weights

    def _run(
        self, X: Any, Y: sparse.csr_array, columns: Sequence[Feature] | None = None
    ) -> ResampleResult:
        """Return the result of the algorithm for checked input, and set the fitted attributes.

        ``columns`` describes the columns of ``X``, see `_read_features`.
        """
        result = self._fit_resample(self._read_features(X, columns), Y)
        rows = result.sample_indices
        n_rows = Y.shape[0]
        self.sample_indices_ = rows
        self.n_removed_ = n_rows - int(np.count_nonzero(np.bincount(rows, minlength=n_rows)))
        self.n_added_ = len(rows) - (n_rows - self.n_removed_)
        self._labels_before_and_after = (Y, result.Y)
        return result

    def _assemble_features(self, X: Any, result: ResampleResult) -> Any:
        """Return the features of the result: rows of ``X``, then the synthetic rows."""
        rows = result.sample_indices
        if result.synthetic is None:
            return take_rows(X, rows)
        n_copied = len(rows) - result.synthetic.shape[0]
        return append_rows(take_rows(X, rows[:n_copied]), result.synthetic)

    def _mark_as_resampled(self, *objects: Any) -> None:
        """Mark objects as resampled if rows were added or removed; splitters warn about them."""
        if self.n_added_ or self.n_removed_:
            mark_resampled(*objects)

    def _generator(self) -> np.random.Generator:
        """Return a NumPy generator seeded by the ``random_state`` parameter, for one run."""
        random_state = getattr(self, "random_state", None)
        return as_generator(random_state, caller=type(self).__name__)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a pickle, without the labels of the last run."""
        # Pickles do not contain the data.
        return {
            key: value
            for key, value in super().__getstate__().items()
            if key != "_labels_before_and_after"
        }

    def __sklearn_tags__(self) -> Any:
        """Return the tags of scikit-learn: a sampler of multilabel, also sparse, data."""
        tags = super().__sklearn_tags__()
        tags.estimator_type = "sampler"
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags


class BaseDistanceResampler(BaseResampler):
    """Base class of the resamplers that compute distances between rows.

    ``_fit_resample(features, Y)`` receives the features as numbers and category codes:
    ``features.values`` (a float64 array, or a ``csr_array`` for sparse input),
    ``features.n_values`` (for every column, the number of values of a nominal column, 0 for a
    numeric one) and ``features.is_integer``. `_find_neighbours` returns nearest rows;
    ``features.space(scale=self.scale)`` holds the rows in the form that distances are computed
    from.

    Parameters
    ----------
    scale : bool
        Whether numeric columns are scaled to [0, 1] before distances are computed.
    categorical_features : None, indices, names, mask or mapping
        The columns of ``X`` that hold codes of nominal values; see `MLSMOTE`.
    n_jobs : int or None
        Number of threads; they change the time, never the result.

    See Also
    --------
    BaseResampler : Base class of all resamplers, with the attributes they have.

    Examples
    --------
    Remove the rows whose nearest row has other labels.

    >>> import numpy as np
    >>> from scumble.resample import BaseDistanceResampler, ResampleResult
    >>> class DropContradictions(BaseDistanceResampler):
    ...     def _fit_resample(self, features, Y):
    ...         nearest = self._find_neighbours(features, n_neighbors=1)[:, 0]
    ...         n_different = (Y != Y[nearest]).sum(axis=1)
    ...         rows = np.flatnonzero(n_different == 0)
    ...         return ResampleResult(rows, Y[rows])
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> X_new, Y_new = DropContradictions().fit_resample(X, [[1, 0], [1, 0], [1, 0], [0, 1]])
    >>> X_new.ravel()
    array([0. , 0.1])
    """

    _parameter_constraints = {**BaseResampler._parameter_constraints, "scale": Bool()}

    def __init__(
        self, *, scale: bool = True, categorical_features: Any = None, n_jobs: int | None = None
    ) -> None:
        self.scale = scale
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _read_features(self, X: Any, columns: Sequence[Feature] | None) -> Features:
        """Return the features as numbers and category codes; raise an error if one is text.

        If ``categorical_features`` is None, ``columns`` says which columns are categorical.
        """
        self._check_no_texts(columns or ())
        categorical = self.categorical_features
        if categorical is None and columns is not None:
            categorical = {
                index: len(column.categories)
                for index, column in enumerate(columns)
                if column.is_categorical
            }
        features = read_features(X, categorical, caller=type(self).__name__)
        if columns is None:
            return features
        holds_integers = np.array([column.integer for column in columns], bool)
        return replace(features, is_integer=holds_integers & (features.n_values == 0))

    def _check_no_texts(self, columns: Sequence[Feature]) -> None:
        """Raise DataError if a column holds texts, between which there are no distances."""
        texts = [column.name for column in columns if column.kind == "text"]
        if texts:
            raise DataError(
                f"{type(self).__name__} takes distances between rows, and the texts of column "
                f"{texts[0]!r} have none. Resample where they are numbers already: "
                "fit_dataset(classifier, data, resamplers), cross-validation, experiments and the "
                f"commands train, evaluate and compare see to that. Or leave out the column: "
                f"ignore={texts[0]!r}."
            )

    def _find_neighbours(
        self, features: Features, n_neighbors: int, rows: Array | None = None
    ) -> Array:
        """Return the indices of the nearest other rows of each row, nearest first.

        ``rows`` are the indices of the rows whose neighbours are searched, by default all. The
        result has shape (n_rows, k); k is ``n_neighbors``, or less if there are fewer other rows.
        """
        space = features.space(scale=self.scale)
        return nearest_neighbours(space, n_neighbors, rows=rows, n_jobs=self.n_jobs).rows


def n_rows_from_percent(percent: float, n_rows: int) -> int:
    """Return ``percent`` percent of ``n_rows``, rounded down: 33.3 % of 1000 rows are 333.

    Raise ParameterError if the result is more than `MAX_ROWS`.
    """
    # The decimal number as the user wrote it counts; the nearest binary number may be smaller.
    exact = percent if isinstance(percent, int) else Fraction(str(percent))
    n_requested = n_rows * exact // 100
    if n_requested > MAX_ROWS:
        raise ParameterError(
            f"{percent:g} percent of {n_rows} rows are more rows than any machine holds. Choose a "
            "smaller 'percent'."
        )
    return n_requested
