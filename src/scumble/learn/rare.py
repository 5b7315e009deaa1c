"""The ready-made cure: a classifier under which rare labels are predicted."""

from typing import Any

from scumble._core.parameters import Choice, parameter_constraints
from scumble.learn.blended_ranker import BlendedRanker
from scumble.learn.ridge import RidgeRanker
from scumble.learn.thresholded_classifier import ThresholdedClassifier
from scumble.learn.thresholds import ThresholdRule

QUALITIES = ("fast", "best")
#: Rows that stand for all in a curved ridge regression that shall be fast.
LANDMARKS = 500


class RareLabelClassifier(ThresholdedClassifier, name="rare", display_group="For rare labels"):
    """Predict rare labels as well as the frequent ones.

    Rows are scored by ridge regression, one solution for all labels (``"fast"``), or by a blend
    of ridge regression, straight and curved, and bagged trees (``"best"``). Every training row is
    scored as if it had been left out. Each label is predicted from a threshold of its own on,
    chosen from these scores; labels with few positives follow the mean of all labels.
    Confidences are comparable between labels, so that they also rank the labels of a row.

    Parameters
    ----------
    quality : {"fast", "best"}, default="fast"
        ``"best"`` takes several times as long, and finds more.
    random_state : None, int, Generator or RandomState, default=None
        Seed of the draws of bagged trees, landmarks and inner folds.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_labels,)
        A label is predicted where its score is at least this. Infinite: never; minus infinite:
        always.
    curves_ : list of ThresholdCurve
        What every possible threshold of each label gives on the training rows.
    estimator_ : InnerClassifier
        The fitted ranker.

    See Also
    --------
    ThresholdedClassifier : The same around any other estimator.
    scumble.plots.plot_thresholds : Draw what every threshold gives.

    Notes
    -----
    ``sample_weight`` weighs what the ranker learns. Thresholds are chosen on training rows that
    count once each.

    Examples
    --------
    >>> import scumble
    >>> from scumble.learn import RareLabelClassifier
    >>> data = scumble.make_multilabel(400, 10, mean_ir=10, random_state=0)
    >>> model = RareLabelClassifier().fit(data.X[:300], data.Y[:300])
    >>> model.predict(data.X[300:]).shape
    (100, 10)
    """

    _parameter_constraints = parameter_constraints(quality=Choice(*QUALITIES))

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

    #: What the class above lets its user choose.
    estimator, rule, metric, n_folds = None, "shrunken", "f1", 5

    def _rule(self) -> ThresholdRule:
        return ThresholdRule()

    def _inner_estimator(self) -> Any:
        if self.quality == "fast":
            return RidgeRanker("auto", landmarks=LANDMARKS)
        return BlendedRanker()
