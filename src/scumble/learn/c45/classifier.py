"""C4.5, the decision tree of Quinlan, grown exactly as WEKA's J48 grows it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from scumble._core.arrays import Array
from scumble._core.errors import LabelError, ParameterError
from scumble._core.parameters import (
    CATEGORICAL_FEATURES,
    Bool,
    Int,
    Real,
    ValidatedParametersMixin,
    default,
)
from scumble.learn.base import parameters
from scumble.learn.c45.growing import Target, grow_trees, predict_trees
from scumble.learn.c45.table import prepare_table
from scumble.learn.c45.tree import TreeSettings
from scumble.learn.features import read_rows, read_training
from scumble.learn.labels import read_classes
from scumble.learn.weights import ClassWeight, check_weights


@parameters()
class C45Classifier(ValidatedParametersMixin, ClassifierMixin, BaseEstimator):
    """A decision tree that asks for the column of largest gain ratio, then prunes itself.

    Numeric columns are cut in two, nominal ones branch once per value. A row whose value is
    missing (NaN) goes down every branch with a part of its weight. After growing, subtrees that
    promise no fewer errors on new data become leaves, or give way to their largest branch.

    Parameters
    ----------
    confidence : float, default=0.25
        Confidence factor of pruning, in (0, 0.5]; smaller prunes more.
    min_objects : int, default=2
        At least two branches of a split must hold this weight of rows.
    prune : bool, default=True
        Whether to prune. An unpruned tree is still collapsed where a subtree saves no training
        error at all.
    subtree_raising : bool, default=True
        Whether pruning may put a node's largest branch in its place.
    mdl : bool, default=True
        Whether cuts of numeric columns pay for their choice among many.
    laplace : bool, default=False
        Whether probabilities are smoothed by one row per class.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns, holding codes 0, 1, ...; a mapping tells their numbers of declared
        values, otherwise it is the largest code seen plus 1. Categories, text and truth values,
        in a frame or an array, are nominal by themselves.
    class_weight : None, {"balanced", "sqrt"} or mapping, default=None
        What the weight of a row is multiplied by, by its class. ``"balanced"`` makes all classes
        weigh the same, ``"sqrt"`` goes half of the way, a mapping tells the factors, 1 for
        classes it does not name. So rare classes are found more often, and more often where they
        are not.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    tree_ : Tree
        The nodes.
    n_leaves_ : int
        Number of leaves, those no row reached included.
    n_nodes_ : int
        Size of the tree: leaves and inner nodes.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each column in the information the splits gain.
    n_features_in_ : int
        Number of columns seen when fitting.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where they have any.

    See Also
    --------
    export_text : Print the tree.
    scumble.plots.plot_tree : Draw it.

    Notes
    -----
    The rules are those of C4.5 release 8 [1]_ in the reading of WEKA's J48: of the columns whose
    gain is at least the average, the one of largest gain ratio is taken; cuts are values of the
    training set; comparisons have a tolerance of 1e-6 and the first of equals wins. The trees
    agree with J48 to the last leaf, with these exceptions: rows of weight zero are left out, and
    the mean of two values is taken without overflow.

    With n the weight of all rows, :math:`n_c` that of class c and C classes, ``"balanced"`` is
    the factor :math:`n / (C n_c)`, as in scikit-learn. ``"sqrt"`` is its square root, scaled so
    that the weights of all rows still sum to n: the confidence limits of pruning, which depend on
    how much evidence there is, stay what they are for as many rows. `min_objects` asks for
    weight, too, so a single row of a rare class may fill a branch.

    A row of weight k is not k rows. Gains, ratios, branches and pruning go by weight, but J48
    counts rows in two places, and so do we. Before it looks for a cut of a numeric column, it asks
    for twice as many rows with a known value as the weight it wants on either side (a tenth of
    the known weight over the number of classes, at most 25, but at least `min_objects`). And it
    leaves nominal columns with at least 0.3 times as many values as the training set has rows out
    of the average gain. So k copies of a row can be cut where one row of weight k cannot.

    References
    ----------
    .. [1] Quinlan, J. R. (1993). *C4.5: Programs for Machine Learning*. Morgan Kaufmann.

    Examples
    --------
    Outlook (sunny, overcast, rainy), temperature and humidity of days on which to play.

    >>> from scumble.learn import C45Classifier, export_text
    >>> X = [[0, 29, 85], [0, 26, 90], [1, 28, 78], [2, 21, 96], [2, 20, 80], [2, 18, 70],
    ...      [1, 17, 65], [0, 22, 95], [0, 20, 70], [2, 23, 80], [0, 23, 70], [1, 22, 90]]
    >>> y = ["no", "no", "yes", "yes", "yes", "no", "yes", "no", "yes", "yes", "yes", "yes"]
    >>> tree = C45Classifier(categorical_features={0: 3}).fit(X, y)
    >>> tree.predict([[0, 25, 70], [0, 25, 90]])
    array(['yes', 'no'], dtype='<U3')
    >>> print(export_text(tree, feature_names=["outlook", "temperature", "humidity"]))
    C4.5 pruned tree
    ------------------
    <BLANKLINE>
    outlook = 0
    |   humidity <= 70: yes (2.0)
    |   humidity > 70: no (3.0)
    outlook = 1: yes (3.0)
    outlook = 2: yes (4.0/1.0)
    <BLANKLINE>
    Number of Leaves  :     4
    <BLANKLINE>
    Size of the tree :      6
    <BLANKLINE>

    Two rows of weight 2 are too few to be cut; the same rows twice each are four.

    >>> C45Classifier().fit([[1], [2]], ["a", "b"], sample_weight=[2, 2]).n_leaves_
    1
    >>> C45Classifier().fit([[1], [1], [2], [2]], ["a", "a", "b", "b"]).n_leaves_
    2
    """

    confidence: float = default(0.25, Real(0, 0.5, closed="right"))
    min_objects: int = default(2, Int(1))
    prune: bool = default(True, Bool())
    subtree_raising: bool = default(True, Bool())
    mdl: bool = default(True, Bool())
    laplace: bool = default(False, Bool())
    categorical_features: Any = default(None, CATEGORICAL_FEATURES)
    class_weight: Any = default(None, ClassWeight())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Numbers and codes; NaN is missing.
        y : array of shape (n_samples,)
            Classes.
        sample_weight : array of shape (n_samples,), optional
            Weight of each row; rows of weight 0 are left out. A row of weight k is not k rows,
            see Notes.

        Returns
        -------
        self
            The fitted tree.
        """
        settings = self.settings()
        X, codes = read_training(X, self, self.categorical_features)
        classes, y = _read_classes(y, X.shape[0])
        weights = check_weights(sample_weight, X.shape[0], caller=type(self).__name__)
        settings = replace(settings, class_weight=self._weights_by_code(classes))
        self.classes_, self._codes = classes, codes
        target = Target(y, n_classes=len(classes), weights=weights)
        self.tree_ = grow_trees(prepare_table(X, codes.n_values), [target], settings)[0]
        return self

    def _weights_by_code(self, classes: Array) -> Any:
        """Tell a mapping by the codes of the classes."""
        if not isinstance(self.class_weight, Mapping):
            return self.class_weight
        unknown = [key for key in self.class_weight if key not in classes.tolist()]
        if unknown:
            raise ParameterError(
                f"The 'class_weight' parameter of {type(self).__name__} must name classes of y. "
                f"Got {unknown[0]!r}, which is none of them."
            )
        codes = enumerate(classes.tolist())
        return {code: self.class_weight[key] for code, key in codes if key in self.class_weight}

    def settings(self) -> TreeSettings:
        """Check the parameters and return them for `scumble.learn.c45.grow_trees`.

        Returns
        -------
        TreeSettings
            The parameters of growing and pruning.
        """
        self.check_parameters()
        prune, raising, mdl = map(bool, (self.prune, self.subtree_raising, self.mdl))
        confidence, least = float(self.confidence), int(self.min_objects)
        return TreeSettings(confidence, least, prune, raising, mdl, self.class_weight)

    @property
    def n_leaves_(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def n_nodes_(self) -> int:
        """Number of nodes."""
        check_is_fitted(self)
        return self.tree_.n_nodes

    @property
    def feature_importances_(self) -> Array:
        """Share of each column in the information the splits gain."""
        check_is_fitted(self)
        gains = self.tree_.information_gains()
        inner = self.tree_.feature >= 0
        sums = np.bincount(self.tree_.feature[inner], gains[inner], self.n_features_in_)
        return sums / sums.sum() if sums.sum() > 0 else sums

    @property
    def n_values_(self) -> Array:
        """Number of values of each nominal column, 0 for numeric ones."""
        check_is_fitted(self)
        return self._codes.n_values

    def predict_proba(self, X: Any) -> Array:
        """Tell how probable each class is.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        X = self._read_rows(X)
        return predict_trees([self.tree_], X, laplace=bool(self.laplace))

    def predict(self, X: Any) -> Array:
        """Tell the most probable class, the first of equals.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes.
        """
        probabilities = self.predict_proba(X)
        return self.classes_[argmax_with_tolerance(probabilities)]

    def decision_path(self, X: Any) -> sparse.csr_array:
        """Tell which nodes each row passes; several branches where its value is missing.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Rows to follow.

        Returns
        -------
        csr_array of bool, shape (n_samples, n_nodes)
            True where a row passes a node of ``tree_``.
        """
        X = self._read_rows(X)
        return self.tree_.decision_path(X)

    def _read_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return read_rows(X, self, self._codes)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what the tree can do."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def argmax_with_tolerance(table: Array, least: float = -1.0) -> Array:
    """Find the first column of each row that no later one exceeds by more than 1e-6."""
    best, most = np.zeros(len(table), np.intp), np.full(len(table), least)
    for column, values in enumerate(table.T):
        larger = values - most > 1e-6
        best[larger], most[larger] = column, values[larger]
    return best


def _read_classes(y: Any, n_rows: int) -> tuple[Array, Array]:
    if y is None:
        raise LabelError(
            "C45Classifier requires y to be passed, but the target y is None: give one class "
            "per row."
        )
    classes, codes = read_classes(y, caller="C45Classifier")
    if len(codes) != n_rows:
        raise LabelError(
            f"C45Classifier: X and y must have equally many rows. Found input variables with "
            f"inconsistent numbers of samples: {n_rows} in X and {len(codes)} in y."
        )
    return classes, codes
