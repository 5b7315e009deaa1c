"""How much rows count: weights of rows, and of the classes they belong to."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.utils.validation import has_fit_parameter

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterError
from scumble._core.parameters import ParameterConstraint, Real
from scumble._core.provenance import is_resampled, remembered_sample_weight

#: Names of rules by which the classes of a problem are weighed.
RULES = ("balanced", "sqrt")


def check_weights(sample_weight: Any, n_rows: int, *, caller: str) -> Array | None:
    """Read one weight per row; None where all weigh 1."""
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{caller}: sample_weight must hold numbers, one per row ({error})."
        ) from None
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.ndim != 1:
        raise DataError(f"{caller}: Sample weights must be 1D array or scalar.")
    if weights.shape != (n_rows,):
        raise DataError(f"{caller}: sample_weight.shape == {weights.shape}, expected ({n_rows},)!")
    _check_values(weights, caller)
    return None if (weights == 1).all() else weights


def resolve_sample_weight(Y: Any, sample_weight: Any, n_rows: int, *, caller: str) -> Any:
    """Return the weights of rows that may come from a resampler, which has changed them."""
    found = remembered_sample_weight(Y, sample_weight)
    if is_resampled(Y) and found is not None and np.ndim(found) == 1 and len(found) != n_rows:
        raise DataError(
            f"{caller}: there are {len(found)} weights for {n_rows} rows, which a resampler has "
            "made. It must have the weights as well: in a pipeline with metadata routing, "
            "set_fit_resample_request(sample_weight=True); elsewhere its sample_weight_ holds "
            "those of the new rows."
        )
    return found


def _check_values(weights: Array, caller: str) -> None:
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        at = int(wrong.argmax())
        raise DataError(
            f"{caller}: the weight of row {at} is {weights[at]:g}. Expected a finite number >= 0."
        )
    if not weights.any():
        raise DataError(
            f"{caller}: all sample weights are zero. Expected a positive weight for at least one "
            "training row."
        )
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not 1e-6 <= total < np.inf:
        raise DataError(
            f"{caller}: the sample weights sum to {total:g}. Expected a finite sum of at least "
            "1e-6, below which weights count as zero: scale them."
        )


class ClassWeight(ParameterConstraint):
    """Rules for the weights of classes."""

    kind = "hidden"
    description = "None, 'balanced', 'sqrt' or a mapping from classes to weights"

    def is_satisfied_by(self, value: Any) -> bool:
        """Tell whether a value is one of them."""
        is_rule = isinstance(value, str) and value in RULES
        return value is None or is_rule or isinstance(value, Mapping)

    def check(self, value: Any, *, name: str, caller: str) -> None:
        """Refuse any other value, and weights that are none."""
        super().check(value, name=name, caller=caller)
        for key, weight in value.items() if isinstance(value, Mapping) else ():
            if not Real(0, closed="right").is_satisfied_by(weight):
                raise ParameterError(
                    f"The {name!r} parameter of {caller} must map classes to finite numbers "
                    f"above 0. Got {weight!r} for {key!r}."
                )


def compute_class_weight_factors(counts: Array, class_weight: Any) -> Array:
    """Tell what the weight of a row is multiplied by, for each class."""
    # With n_c the weight of class c, n that of all rows and C classes that have any, "balanced" is
    # n / (C n_c), and "sqrt" its square root, scaled so that the weights of all rows still sum to
    # n.
    counts = np.asarray(counts, np.float64)
    if isinstance(class_weight, Mapping):
        n_classes = counts.shape[-1]
        chosen = [float(class_weight.get(code, 1.0)) for code in range(n_classes)]
        return np.broadcast_to(chosen, counts.shape)
    seen = counts > 0
    total = counts.sum(axis=-1, keepdims=True)
    share = np.where(seen, counts, 1.0) * seen.sum(axis=-1, keepdims=True)
    factors = np.where(seen, total / share, 1.0)
    if class_weight == "balanced":
        return factors
    factors = np.sqrt(factors)
    after = (counts * factors).sum(axis=-1, keepdims=True)
    return np.where(seen, factors * (total / np.where(after > 0, after, 1.0)), 1.0)


def apply_class_weight(y: Array, weights: Array | None, n_classes: int, class_weight: Any) -> Any:
    """Multiply the weights of rows by the factors of their classes."""
    if class_weight is None:
        return weights
    factors = compute_class_weight_factors(np.bincount(y, weights, n_classes), class_weight)
    if (factors == 1).all():
        return weights
    return factors[y] if weights is None else weights * factors[y]


def take_weights(weights: Array | None, rows: Array) -> Array | None:
    """Take the weights of some rows."""
    return None if weights is None else weights[rows]


def cell_weights(table: sparse.csr_array, weights: Array | None) -> Array | None:
    """Give each stored cell the weight of its row."""
    return None if weights is None else np.repeat(weights, np.diff(table.indptr))


def supports_sample_weight(estimator: Any) -> bool:
    """Tell whether ``fit`` of an estimator learns from ``sample_weight``."""
    return find_estimator_without_sample_weight(estimator) is None


def find_estimator_without_sample_weight(estimator: Any) -> str | None:
    """Name what cannot learn from weights: an estimator, or one inside it."""
    if estimator is None:
        return None
    if steps := getattr(estimator, "steps", None):  # a pipeline: its last step learns
        # A resampler before it would change the rows, and not their weights.
        changing = [step for _, step in steps[:-1] if hasattr(step, "fit_resample")]
        return (
            type(changing[0]).__name__
            if changing
            else find_estimator_without_sample_weight(steps[-1][1])
        )
    if not hasattr(estimator, "fit") or not has_fit_parameter(estimator, "sample_weight"):
        return type(estimator).__name__
    ask_inside = getattr(estimator, "_find_estimator_without_sample_weight", None)
    return None if ask_inside is None else ask_inside()


def sample_weight_fit_params(estimator: Any, weights: Any) -> dict[str, Any]:
    """Tell how weights are given to ``fit``: by their name, or to the last step of a pipeline."""
    if weights is None:
        return {}
    prefix = ""
    if not get_config()["enable_metadata_routing"]:  # where it is, requests decide
        while steps := getattr(estimator, "steps", None):
            step, estimator = steps[-1]
            prefix += f"{step}__"
    return {f"{prefix}sample_weight": weights}
