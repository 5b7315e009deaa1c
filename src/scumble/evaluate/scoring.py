"""Metrics as scorers, for scikit-learn's `cross_validate` and `GridSearchCV`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from scumble._core.errors import DataError, ParameterError
from scumble._core.validation import check_labels
from scumble.evaluate.evaluation import evaluate
from scumble.evaluate.metric import Metric
from scumble.evaluate.naming import find_metric
from scumble.learn.predictions import predict_with_scores


class Scorer:
    """Judges a fitted classifier; larger is always better, so that losses come out negative.

    Parameters
    ----------
    metrics : tuple of Metric
        What to compute.
    single : bool
        Whether a number is wanted rather than a mapping.
    options : dict
        Given to `evaluate`.

    Examples
    --------
    >>> import scumble
    >>> from scumble.evaluate import scorer
    >>> from scumble.learn import BinaryRelevance
    >>> data = scumble.make_multilabel(90, 8, mean_ir=5, scumble=None, random_state=0)
    >>> model = BinaryRelevance().fit(data.X, data.Y)
    >>> scorer("hamming_loss")(model, data.X, data.Y) <= 0
    True
    """

    def __init__(self, metrics: tuple[Metric, ...], single: bool, options: dict[str, Any]) -> None:
        self._metrics = metrics
        self._single = single
        self._options = options

    def __call__(self, estimator: Any, X: Any, y: Any, **_: Any) -> Any:
        """Predict the labels of ``X`` and compare them with ``y``."""
        if getattr(y, "ndim", 2) == 1:
            y = np.asarray(y).reshape(-1, 1)
        Y = check_labels(y, caller=repr(self))
        predictions, scores = predict_with_scores(estimator, X, Y.shape[1])
        if scores is None and any(metric.needs != "predictions" for metric in self._metrics):
            raise DataError(
                f"{self!r} judges scores, but {type(estimator).__name__} has neither predict_proba "
                "nor decision_function."
            )
        found = evaluate(Y, predictions, scores, **self._options)
        values = {
            metric.name: found[metric.name] if metric.greater_is_better else -found[metric.name]
            for metric in self._metrics
        }
        return next(iter(values.values())) if self._single else values

    def __repr__(self) -> str:
        names = ", ".join(repr(metric.name) for metric in self._metrics)
        return f"scorer({names if self._single else f'[{names}]'})"

    def __reduce__(self) -> tuple[Any, ...]:
        names = [metric.name for metric in self._metrics]
        return partial(scorer, **self._options), (names[0] if self._single else names,)


def scorer(name: str | Sequence[str], **options: Any) -> Scorer:
    """Make a scorer for scikit-learn from the name of a metric.

    Parameters
    ----------
    name : str or sequence of str
        A metric, such as ``"macro_f1"``; several make a scorer that returns all of them from one
        prediction.
    **options : object
        ``undefined`` and ``ties``, see `evaluate`.

    Returns
    -------
    callable
        ``scorer(estimator, X, Y)``. Larger is always better: the value of a loss is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from scumble.evaluate import scorer
    >>> X = np.arange(12.0).reshape(-1, 1)
    >>> Y = np.column_stack([X < 6, X >= 6]).astype(int)
    >>> cross_val_score(KNeighborsClassifier(1), X, Y, cv=2, scoring=scorer("hamming_loss"))
    array([-1., -1.])
    >>> found = scorer(["macro_f1", "one_error"])(KNeighborsClassifier(1).fit(X, Y), X, Y)
    >>> found["macro_f1"], found["one_error"] == 0
    (1.0, True)
    """
    single = isinstance(name, str)
    names = [name] if isinstance(name, str) else list(name)
    if not names:
        raise ParameterError("scorer: name at least one metric.")
    unknown = set(options) - {"undefined", "ties", "n_jobs"}
    if unknown:
        raise ParameterError(
            f"scorer has no option {', '.join(sorted(unknown))!r}. Expected undefined or ties."
        )
    return Scorer(tuple(find_metric(one) for one in names), single, options)
