"""Seeds for estimators that were left without one, and for those inside them."""

from __future__ import annotations

from typing import Any


def open_seeds(estimator: Any) -> list[str]:
    """List the parameters ``random_state`` that are None, of an estimator and of those inside."""
    parameters = estimator.get_params(deep=True)
    holders = {"": estimator} | {f"{name}__": value for name, value in parameters.items()}
    closed = [prefix for prefix, holder in holders.items() if _seeds_its_parts(holder)]
    return [
        name
        for name, value in parameters.items()
        if value is None
        and name.rpartition("__")[2] == "random_state"
        and not any(name.startswith(p) and name != f"{p}random_state" for p in closed)
    ]


def close_seeds(estimator: Any, seed: int) -> Any:
    """Set every ``random_state`` that was left open, the estimator's own and those inside it."""
    if hasattr(estimator, "get_params"):
        estimator.set_params(**dict.fromkeys(open_seeds(estimator), seed))
    return estimator


def _seeds_its_parts(holder: Any) -> bool:
    is_ours = type(holder).__module__.startswith("scumble.") and hasattr(holder, "get_params")
    return is_ours and "random_state" in holder.get_params(deep=False)
