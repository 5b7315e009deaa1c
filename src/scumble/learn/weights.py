"""Sample weights and class weights."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.utils.validation import has_fit_parameter

from scumble._core.arrays import Array
from scumble._core.errors import DataError, ParameterError
from scumble._core.parameters import ParameterConstraint, Real
from scumble._validation.provenance import is_resampled, remembered_sample_weight

#: Rules by which class weights are computed.
RULES = ("balanced", "sqrt")


def check_weights(sample_weight: Any, n_rows: int, *, caller: str) -> Array | None:
    """Return one weight per row as float64; None if all are 1."""
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
    """Return the weights of rows; those of resampled rows if a resampler has changed them."""
    weights = remembered_sample_weight(Y, sample_weight)
    if weights is None or not is_resampled(Y):
        return weights
    if np.ndim(weights) == 1 and len(weights) != n_rows:
        raise DataError(
            f"{caller}: there are {len(weights)} weights for {n_rows} rows, which a resampler has "
            "made. It must have the weights as well: in a pipeline with metadata routing, "
            "set_fit_resample_request(sample_weight=True); elsewhere its sample_weight_ holds "
            "those of the new rows."
        )
    return weights


def _check_values(weights: Array, caller: str) -> None:
    """Raise an error for weights that are negative, not finite, or too small in total."""
    is_wrong = ~(np.isfinite(weights) & (weights >= 0))
    if is_wrong.any():
        row = int(is_wrong.argmax())
        raise DataError(
            f"{caller}: the weight of row {row} is {weights[row]:g}. Expected a finite number >= 0."
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
    """A rule for class weights, a mapping from classes to weights, or None."""

    kind = "hidden"
    description = "None, 'balanced', 'sqrt' or a mapping from classes to weights"

    def is_satisfied_by(self, value: Any) -> bool:
        """Return whether the value is None, a rule or a mapping."""
        is_rule = isinstance(value, str) and value in RULES
        return value is None or is_rule or isinstance(value, Mapping)

    def check(self, value: Any, *, name: str, caller: str) -> None:
        """Raise an error for any other value, or if a weight in a mapping is not positive."""
        super().check(value, name=name, caller=caller)
        if not isinstance(value, Mapping):
            return
        for key, weight in value.items():
            if not Real(0, closed="right").is_satisfied_by(weight):
                raise ParameterError(
                    f"The {name!r} parameter of {caller} must map classes to finite numbers "
                    f"above 0. Got {weight!r} for {key!r}."
                )


def compute_class_weight_factors(counts: Array, class_weight: Any) -> Array:
    """Return for each class the factor that the weights of its rows are multiplied by."""
    # With n_c the total weight of class c, n that of all rows and C the number of classes with any
    # rows, "balanced" is n / (C n_c), and "sqrt" its square root, scaled so that the weights of all
    # rows still sum to n.
    counts = np.asarray(counts, np.float64)
    if isinstance(class_weight, Mapping):
        n_classes = counts.shape[-1]
        weights = [float(class_weight.get(code, 1.0)) for code in range(n_classes)]
        return np.broadcast_to(weights, counts.shape)
    has_rows = counts > 0
    total = counts.sum(axis=-1, keepdims=True)
    denominator = np.where(has_rows, counts, 1.0) * has_rows.sum(axis=-1, keepdims=True)
    factors = np.where(has_rows, total / denominator, 1.0)
    if class_weight == "balanced":
        return factors
    factors = np.sqrt(factors)
    new_total = (counts * factors).sum(axis=-1, keepdims=True)
    scale = total / np.where(new_total > 0, new_total, 1.0)
    return np.where(has_rows, factors * scale, 1.0)


def apply_class_weight(y: Array, weights: Array | None, n_classes: int, class_weight: Any) -> Any:
    """Return the weights of rows multiplied by the factors of their classes; None for all 1."""
    if class_weight is None:
        return weights
    factors = compute_class_weight_factors(np.bincount(y, weights, n_classes), class_weight)
    if (factors == 1).all():
        return weights
    return factors[y] if weights is None else weights * factors[y]


def take_weights(weights: Array | None, rows: Array) -> Array | None:
    """Return the weights of some rows."""
    return None if weights is None else weights[rows]


def cell_weights(table: sparse.csr_array, weights: Array | None) -> Array | None:
    """Return for each stored cell the weight of its row."""
    if weights is None:
        return None
    return np.repeat(weights, np.diff(table.indptr))


def supports_sample_weight(estimator: Any) -> bool:
    """Return whether ``fit`` of an estimator uses ``sample_weight``."""
    return find_estimator_without_sample_weight(estimator) is None


def find_estimator_without_sample_weight(estimator: Any) -> str | None:
    """Return the name of an estimator, or of one inside it, that cannot use weights; else None."""
    if estimator is None:
        return None
    steps = getattr(estimator, "steps", None)
    if steps:  # the last step of a pipeline uses the weights
        for _, step in steps[:-1]:
            if hasattr(step, "fit_resample"):  # it changes the rows, but not their weights
                return type(step).__name__
        return find_estimator_without_sample_weight(steps[-1][1])
    if not hasattr(estimator, "fit") or not has_fit_parameter(estimator, "sample_weight"):
        return type(estimator).__name__
    find_inner = getattr(estimator, "_find_estimator_without_sample_weight", None)
    return None if find_inner is None else find_inner()


def sample_weight_fit_params(estimator: Any, weights: Any) -> dict[str, Any]:
    """Return weights as keyword arguments of ``fit``: in a pipeline those of its last step."""
    if weights is None:
        return {}
    if get_config()["enable_metadata_routing"]:  # requests of the steps decide who gets weights
        return {"sample_weight": weights}
    prefix = ""
    while steps := getattr(estimator, "steps", None):
        name, estimator = steps[-1]
        prefix += f"{name}__"
    return {f"{prefix}sample_weight": weights}
