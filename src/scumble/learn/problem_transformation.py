"""What the classifiers that turn labels into single-label problems share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scumble._core.arrays import Array
from scumble._core.parallel import slices
from scumble._core.parameters import declare
from scumble.learn.base import BaseMultilabelClassifier
from scumble.learn.c45 import Target
from scumble.learn.parameters import SingleLabelClassifier
from scumble.learn.single_label_models import Models, ask_second, fit_many, is_tree


class TransformingClassifier(BaseMultilabelClassifier):
    """Base of the classifiers that ask a single-label classifier, C4.5 by default."""

    domains = declare(estimator=SingleLabelClassifier())

    estimator: Any
    models_: Models

    def _inside(self) -> Any:
        return self.estimator

    def _categorical(self) -> Any:
        """Nominal columns may also be told to the tree."""
        if self.categorical_features is None and is_tree(self.estimator):
            return getattr(self.estimator, "categorical_features", None)
        return self.categorical_features

    def _fit_many(self, X: Any, targets: Sequence[Target], **settings: Any) -> Models:
        """Fit a copy of the estimator for each target."""
        n_values = self._codes.n_values
        return fit_many(self.estimator, X, n_values, targets, n_jobs=self.n_jobs, **settings)

    def _probabilities(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """Ask all models for class probabilities, some rows at a time."""
        for rows in slices(X.shape[0], int(self.models_.n_classes.sum())):
            yield rows, self.models_.ask(X[rows], n_jobs=self.n_jobs)

    def _second_answers(self, models: Models, X: Any) -> Iterator[tuple[slice, Array]]:
        """Ask models for the probability of class 1, some rows at a time."""
        for rows in slices(X.shape[0], len(models)):
            yield rows, ask_second(models, X[rows], n_jobs=self.n_jobs)
