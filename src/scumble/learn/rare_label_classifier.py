"""A classifier for rare labels that works without configuration."""

from typing import Any

from scumble._core.parameters import Choice
from scumble.learn.base import BaseMultilabelClassifier
from scumble.learn.rankers.blended_ranker import BlendedRanker
from scumble.learn.rankers.ridge import RidgeRanker
from scumble.learn.thresholded_classifier import ThresholdedClassifier

#: Allowed values of the parameter ``quality``.
QUALITIES = ("fast", "best")
#: Number of landmark rows of the kernel regression of quality "fast". It is small, because the cost
#: grows with its third power.
FAST_N_LANDMARKS = 500


class RareLabelClassifier(ThresholdedClassifier, name="rare", display_group="For rare labels"):
    """Classifier for rare labels: a ranker with a decision threshold per label.

    Rows are scored by ridge regression, with one solution for all labels (``"fast"``), or by a
    blend of ridge regressions with different kernels and bagged trees (``"best"``). Every training
    row is scored out of sample. A decision threshold per label is chosen from these scores; labels
    with few positives follow the mean of all labels. Scores are comparable between labels, so that
    they also rank the labels of a row.

    Parameters
    ----------
    quality : {"fast", "best"}, default="fast"
        ``"best"`` takes several times as long, and usually has a higher macro F1.
    categorical_features : None, indices, names, mask or mapping, default=None
        The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.
    random_state : None, int, Generator or RandomState, default=None
        Seed of bagged trees, landmarks and inner folds.
    n_jobs : int, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_labels,)
        A label is predicted at scores of at least its threshold. Infinity: never predicted; minus
        infinity: always predicted.
    curves_ : list of ThresholdCurve
        The results of all candidate thresholds of each label on the training rows.
    estimator_ : InnerClassifier
        The fitted ranker.
    classes_ : list of ndarray, or ndarray
        The two values of each label; the classes if ``y`` held one class per row.
    n_labels_ : int
        Number of labels, or of classes.
    label_names_ : tuple of str or None
        Names of the labels; None if they have none.
    n_features_in_ : int
        Number of columns of X in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X; only if they have names.

    See Also
    --------
    ThresholdedClassifier : The same with any other estimator.
    scumble.plots.plot_thresholds : Plots the results of all candidate thresholds.

    Notes
    -----
    ``sample_weight`` is used to fit the ranker. In the choice of thresholds every training row
    counts once.

    Examples
    --------
    >>> import scumble
    >>> from scumble.learn import RareLabelClassifier
    >>> data = scumble.make_multilabel(400, 10, mean_ir=10, random_state=0)
    >>> model = RareLabelClassifier().fit(data.X[:300], data.Y[:300])
    >>> model.predict(data.X[300:]).shape
    (100, 10)
    """

    _parameter_constraints = {
        **BaseMultilabelClassifier._parameter_constraints,
        "quality": Choice(*QUALITIES),
    }

    # Parameters of `ThresholdedClassifier` that this class does not have, at their defaults.
    estimator = None
    rule = "shrunken"
    metric = "f1"
    strength = 20.0
    threshold = 0.5
    n_folds = 5

    def __init__(
        self,
        quality: str = "fast",
        *,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.quality = quality
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _inner_estimator(self) -> Any:
        """Return the unfitted ranker: ridge regression if quality is "fast", else a blend."""
        if self.quality == "fast":
            return RidgeRanker("auto", landmarks=FAST_N_LANDMARKS)
        return BlendedRanker()
