"""Classifiers as parameters of other classifiers."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_regressor

from scumble._core.errors import ParameterTypeError
from scumble._core.parameters import Declared, Domain


class Inner(Domain):
    """A classifier inside another, or None; its own parameters are checked as well."""

    kind = "hidden"
    error = ParameterTypeError
    methods: tuple[str, ...]

    def accepts(self, value: Any) -> bool:
        """Tell whether a value is one of them, and not their class."""
        can = not isinstance(value, type) and all(hasattr(value, name) for name in self.methods)
        return value is None or can

    def advice(self, value: Any) -> str:
        """Say what may have been meant."""
        return f" Did you mean {value.__name__}()?" if isinstance(value, type) else ""

    def check(self, value: Any, *, name: str, caller: str) -> None:
        """Refuse any other value."""
        super().check(value, name=name, caller=caller)
        if isinstance(value, Declared):
            value.check_parameters()


class SingleLabelClassifier(Inner):
    """What learns one label or class."""

    methods = ("fit", "predict", "get_params")
    words = "None or a scikit-learn classifier with fit and predict"

    def accepts(self, value: Any) -> bool:
        """Refuse regressors, too: the numbers they predict would be taken for classes."""
        is_tagged = super().accepts(value) and hasattr(value, "__sklearn_tags__")
        return super().accepts(value) and not (is_tagged and is_regressor(value))


class MultilabelClassifier(Inner):
    """What learns several labels."""

    methods = ("fit", "predict")
    words = "None or a multilabel classifier with fit and predict"
