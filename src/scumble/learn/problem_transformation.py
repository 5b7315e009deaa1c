"""What the classifiers that turn labels into single-label problems share."""

from __future__ import annotations

from typing import Any

from scumble._core.parameters import declare
from scumble.learn.base import BaseMultilabelClassifier
from scumble.learn.inner_classifier import pass_on_tags
from scumble.learn.parameters import SingleLabelClassifier
from scumble.learn.single_label_models import is_tree
from scumble.learn.weights import refuser_of


class TransformingClassifier(BaseMultilabelClassifier):
    """Base of the classifiers that ask a single-label classifier, C4.5 by default."""

    domains = declare(estimator=SingleLabelClassifier())

    estimator: Any

    def _categorical(self) -> Any:
        """Nominal columns may also be told to the tree."""
        if self.categorical_features is None and is_tree(self.estimator):
            return getattr(self.estimator, "categorical_features", None)
        return self.categorical_features

    def _refuses_weights(self) -> str | None:
        return refuser_of(self.estimator)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        return tags if is_tree(self.estimator) else pass_on_tags(tags, self.estimator)
