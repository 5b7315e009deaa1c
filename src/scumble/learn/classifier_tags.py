"""Tags of classifiers, which say what the common tests may expect of a class."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ClassifierTags:
    """What the common tests may expect of a classifier with its default parameters.

    A subclass of `BaseMultilabelClassifier` has them in its attribute ``classifier_tags``. The
    defaults are those of a classifier that passes all checks of scikit-learn. Checks of
    scikit-learn that a tag excuses must fail, so that no tag is wrong.

    Parameters
    ----------
    scores_can_be_0_or_1 : bool
        Whether scores may be exactly 0 or 1, as those of a leaf of a tree.
    scores_rank_rows : bool
        Whether training rows that have a label get higher scores of it on average than those that
        lack it.
    certain_of_constant_labels : bool
        Whether the score of a label that all training rows have, or lack, is about 1, or 0.
    weights_equal_repetitions : bool
        Whether a row of weight 2 has the same effect as two rows of weight 1. It has not if rows
        are drawn, counted as neighbours or left out one at a time, or if thresholds are chosen on
        rows that count once each.
    sparse_equals_dense : bool
        Whether sparse features give the scores of dense ones. They do not if only dense columns are
        centred.
    base_learners_are_equivalent : bool
        Whether a base learner of another package that is C4.5 would give the same scores as
        `C45Classifier`. It does not if the labels of earlier classifiers are features, which are
        truth values for C4.5 and numbers for other base learners.

    Examples
    --------
    >>> from scumble.learn import BinaryRelevance, MLkNN
    >>> BinaryRelevance.classifier_tags.scores_can_be_0_or_1
    True
    >>> MLkNN.classifier_tags.weights_equal_repetitions
    False
    """

    scores_can_be_0_or_1: bool = False
    scores_rank_rows: bool = True
    certain_of_constant_labels: bool = True
    weights_equal_repetitions: bool = True
    sparse_equals_dense: bool = True
    base_learners_are_equivalent: bool = True
