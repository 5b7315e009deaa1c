"""C4.5, the decision tree of Quinlan, grown exactly as WEKA's J48 grows it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

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
    ParameterConstraint,
    Real,
    ValidatedParametersMixin,
)
from scumble.learn.features import validate_features, validate_training_features
from scumble.learn.labels import encode_classes
from scumble.learn.trees.c45.growing import Target, grow_trees, predict_trees
from scumble.learn.trees.c45.table import prepare_table
from scumble.learn.trees.c45.tree import TreeSettings
from scumble.learn.weights import ClassWeight, check_weights


class C45Classifier(ValidatedParametersMixin, ClassifierMixin, BaseEstimator):
    """A C4.5 decision tree: splits by gain ratio, pruned by estimated errors.

    A numeric column is split in two at a cut, a nominal column has one branch per value. A row
    whose value is missing (NaN) goes down every branch with a part of its weight. After growing,
    a subtree is replaced by a leaf, or by its largest branch, where this is not expected to
    increase the errors on new data.

    Parameters
    ----------
    confidence : float, default=0.25
        Confidence factor of pruning, in (0, 0.5]; smaller values prune more.
    min_objects : int, default=2
        Minimum weight of the rows in at least two branches of a split.
    prune : bool, default=True
        Whether to prune the tree. In an unpruned tree, subtrees that do not reduce the training
        errors are still replaced by leaves.
    subtree_raising : bool, default=True
        Whether pruning may replace a node by its largest branch.
    mdl : bool, default=True
        Whether the gain of a numeric column is reduced by the cost of choosing among its cuts
        (minimum description length).
    laplace : bool, default=False
        Whether probabilities are smoothed by adding one row per class.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns, which hold codes 0, 1, ... A mapping gives their numbers of declared
        values; otherwise the number is the largest code in the training data plus 1. Categories,
        text and Booleans, in a frame or an array, are nominal in any case.
    class_weight : None, {"balanced", "sqrt"} or mapping, default=None
        Factor by which the weight of a row is multiplied, depending on its class.
        ``"balanced"`` gives all classes the same weight, ``"sqrt"`` is halfway to it. A mapping
        gives the factors; classes that it does not name have factor 1. With ``"balanced"`` and
        ``"sqrt"`` rare classes are predicted more often, which increases recall and lowers
        precision.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    tree_ : Tree
        The nodes of the fitted tree.
    n_leaves_ : int
        Number of leaves, including leaves without training rows.
    n_nodes_ : int
        Number of nodes: leaves and inner nodes.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each column in the information gain of all splits.
    n_values_ : ndarray of shape (n_features,)
        Number of values of each nominal column; 0 for numeric columns.
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if they have names.

    See Also
    --------
    export_text : Print the tree.
    scumble.plots.plot_tree : Draw the tree.

    Notes
    -----
    The rules are those of C4.5 release 8 [1]_ as implemented in WEKA's J48: among the columns
    whose gain is at least the average gain, the column with the largest gain ratio is selected;
    cuts are values of the training set; comparisons have a tolerance of 1e-6, and the first of
    equal candidates is selected. The trees are identical to those of J48, with two exceptions:
    rows of weight zero are left out, and the mean of two values is computed without overflow.

    With n the weight of all rows, :math:`n_c` the weight of class c and C classes,
    ``"balanced"`` is the factor :math:`n / (C n_c)`, as in scikit-learn. ``"sqrt"`` is its
    square root, scaled so that the weights of all rows still sum to n: the confidence limits of
    pruning depend on the total weight and stay the same. `min_objects` is a weight, too, so a
    single row of a rare class can be sufficient for a branch.

    A row of weight k is not equivalent to k rows. Gains, ratios, branches and pruning use
    weights, but J48 counts rows in two places, and so does this class. First, a numeric column is
    only considered for a cut if the number of its rows with a known value is at least twice the
    minimum weight on either side (a tenth of the known weight divided by the number of classes,
    at most 25, but at least `min_objects`). Second, nominal columns whose number of values is at
    least 0.3 times the number of training rows are left out of the average gain. Therefore k
    copies of a row can be cut where one row of weight k cannot.

    References
    ----------
    .. [1] Quinlan, J. R. (1993). *C4.5: Programs for Machine Learning*. Morgan Kaufmann.

    Examples
    --------
    Outlook (sunny, overcast, rainy), temperature and humidity of 12 days, and whether people
    played golf.

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

    Two rows of weight 2 are too few for a cut; the same rows, twice each, are four.

    >>> C45Classifier().fit([[1], [2]], ["a", "b"], sample_weight=[2, 2]).n_leaves_
    1
    >>> C45Classifier().fit([[1], [1], [2], [2]], ["a", "a", "b", "b"]).n_leaves_
    2
    """

    _parameter_constraints: ClassVar[dict[str, ParameterConstraint]] = {
        "confidence": Real(0, 0.5, closed="right"),
        "min_objects": Int(1),
        "prune": Bool(),
        "subtree_raising": Bool(),
        "mdl": Bool(),
        "laplace": Bool(),
        "categorical_features": CATEGORICAL_FEATURES,
        "class_weight": ClassWeight(),
    }

    def __init__(
        self,
        confidence: float = 0.25,
        min_objects: int = 2,
        prune: bool = True,
        subtree_raising: bool = True,
        mdl: bool = True,
        laplace: bool = False,
        categorical_features: Any = None,
        class_weight: Any = None,
    ) -> None:
        self.confidence = confidence
        self.min_objects = min_objects
        self.prune = prune
        self.subtree_raising = subtree_raising
        self.mdl = mdl
        self.laplace = laplace
        self.categorical_features = categorical_features
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow and prune the tree.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Numbers and codes of nominal values; NaN is missing.
        y : array of shape (n_samples,)
            Class of each row.
        sample_weight : array of shape (n_samples,), optional
            Weight of each row; rows of weight 0 are left out. A row of weight k is not
            equivalent to k rows, see Notes.

        Returns
        -------
        self
            The fitted tree.
        """
        settings = self.settings()
        X, feature_codes = validate_training_features(X, self, self.categorical_features)
        classes, y = _read_classes(y, X.shape[0])
        weights = check_weights(sample_weight, X.shape[0], caller=type(self).__name__)
        settings = replace(settings, class_weight=self._class_weight_by_code(classes))
        self.classes_ = classes
        self._codes = feature_codes
        target = Target(y, n_classes=len(classes), weights=weights)
        table = prepare_table(X, feature_codes.n_values)
        self.tree_ = grow_trees(table, [target], settings)[0]
        return self

    def _class_weight_by_code(self, classes: Array) -> Any:
        """Return the parameter ``class_weight``; if it is a mapping, keyed by class code.

        ``classes`` are the sorted classes of y; a class's code is its index. Raises a
        ParameterError for a key that is none of the classes.
        """
        if not isinstance(self.class_weight, Mapping):
            return self.class_weight
        class_list = classes.tolist()
        unknown = [key for key in self.class_weight if key not in class_list]
        if unknown:
            raise ParameterError(
                f"The 'class_weight' parameter of {type(self).__name__} must name classes of y. "
                f"Got {unknown[0]!r}, which is none of them."
            )
        return {
            code: self.class_weight[name]
            for code, name in enumerate(class_list)
            if name in self.class_weight
        }

    def settings(self) -> TreeSettings:
        """Check the parameters and return those of growing and pruning as a record.

        Returns
        -------
        TreeSettings
            The settings that `scumble.learn.trees.c45.grow_trees` takes.
        """
        self.check_parameters()
        return TreeSettings(
            confidence=float(self.confidence),
            min_objects=int(self.min_objects),
            prune=bool(self.prune),
            subtree_raising=bool(self.subtree_raising),
            mdl=bool(self.mdl),
            class_weight=self.class_weight,
        )

    @property
    def n_leaves_(self) -> int:
        """Number of leaves, including leaves without training rows."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def n_nodes_(self) -> int:
        """Number of nodes: leaves and inner nodes."""
        check_is_fitted(self)
        return self.tree_.n_nodes

    @property
    def feature_importances_(self) -> Array:
        """Information gain of each column's splits divided by that of all splits."""
        check_is_fitted(self)
        gains = self.tree_.information_gains()
        is_inner = self.tree_.feature >= 0
        sums = np.bincount(
            self.tree_.feature[is_inner], weights=gains[is_inner], minlength=self.n_features_in_
        )
        total = sums.sum()
        return sums / total if total > 0 else sums

    @property
    def n_values_(self) -> Array:
        """Number of values of each nominal column; 0 for numeric columns."""
        check_is_fitted(self)
        return self._codes.n_values

    def predict_proba(self, X: Any) -> Array:
        """Predict the probability of each class.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        X = self._validate_rows(X)
        return predict_trees([self.tree_], X, laplace=bool(self.laplace))

    def predict(self, X: Any) -> Array:
        """Predict the most probable class of each row; the first one in case of a tie.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,)
            The predicted class of each row.
        """
        probabilities = self.predict_proba(X)
        return self.classes_[argmax_with_tolerance(probabilities)]

    def decision_path(self, X: Any) -> sparse.csr_array:
        """Return the nodes that each row passes.

        A row passes several branches of a node where its value is missing.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Rows to send down the tree.

        Returns
        -------
        csr_array of bool, shape (n_samples, n_nodes)
            True where a row passes a node of ``tree_``.
        """
        X = self._validate_rows(X)
        return self.tree_.decision_path(X)

    def _validate_rows(self, X: Any) -> Any:
        """Return rows to predict as a float64 array or CSR matrix with the codes of training.

        Raises an error if the classifier is not fitted or X does not have its columns.
        """
        check_is_fitted(self)
        return validate_features(X, self, self._codes)

    def __sklearn_tags__(self) -> Any:
        """Return the scikit-learn tags, by which sparse matrices and NaN are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def argmax_with_tolerance(scores: Array, minimum: float = -1.0) -> Array:
    """Return, for each row of a matrix, the index of the column with the maximum, as J48 does.

    A later column replaces an earlier one only if its value is larger by more than 1e-6. Values
    that do not exceed ``minimum`` are ignored; the index is 0 if there are no others.
    """
    best_columns = np.zeros(len(scores), np.intp)
    best_values = np.full(len(scores), minimum)
    for column, values in enumerate(scores.T):
        is_larger = values - best_values > 1e-6
        best_columns[is_larger] = column
        best_values[is_larger] = values[is_larger]
    return best_columns


def _read_classes(y: Any, n_rows: int) -> tuple[Array, Array]:
    """Return the sorted classes, and the code of each row's class: its index among them.

    Raises a LabelError if ``y`` is None or does not have ``n_rows`` elements.
    """
    if y is None:
        raise LabelError(
            "C45Classifier requires y to be passed, but the target y is None: give one class "
            "per row."
        )
    classes, codes = encode_classes(y, caller="C45Classifier")
    if len(codes) != n_rows:
        raise LabelError(
            f"C45Classifier: X and y must have equally many rows. Found input variables with "
            f"inconsistent numbers of samples: {n_rows} in X and {len(codes)} in y."
        )
    return classes, codes
