"""The Bayesian signed-rank test: how probable it is that one method is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scumble._core.errors import ParameterError
from scumble._core.random import as_generator
from scumble._core.shown import Shown
from scumble._core.validation import check_count
from scumble.evaluate.statistics.inputs import check_pairs
from scumble.evaluate.statistics.signed_ranks import paired_differences

#: Weights are drawn in blocks of this many, so that memory stays small.
BLOCK = 1000


@dataclass(frozen=True)
class BayesianResult(Shown):
    """Posterior probabilities, which sum to 1.

    Attributes
    ----------
    lower, equal, higher : float
        That ``y`` is in truth lower than ``x``, practically equal, higher.
    rope : float
        What counted as practically equal.

    Examples
    --------
    >>> from scumble.evaluate.statistics import bayesian_signed_rank
    >>> found = bayesian_signed_rank([0.1, 0.2, 0.3], [0.4, 0.6, 0.5], random_state=0)
    >>> found.higher > 0.9
    True
    """

    lower: float
    equal: float
    higher: float
    rope: float


def bayesian_signed_rank(
    x: Any,
    y: Any,
    *,
    results: Any = None,
    metric: str | None = None,
    rope: float = 0.01,
    prior: float = 0.5,
    n_draws: int = 20_000,
    random_state: Any = 0,
) -> BayesianResult:
    """Tell how probable it is that ``y`` is lower, practically equal or higher than ``x``.

    Parameters
    ----------
    x, y : array-like of shape (n_pairs,)
        Scores of two methods, one pair per data set.
    results : Store, DataFrame, path or mapping, optional
        Where results are, see `score_table`; ``x`` and ``y`` are then names of two methods.
    metric : str, optional
        Which metric of the results.
    rope : float
        Region of practical equivalence: differences up to this do not matter.
    prior : float
        Weight of one imagined pair without a difference.
    n_draws : int
        How many weightings of the pairs are drawn.
    random_state : int, Generator or None
        Where they come from.

    Returns
    -------
    BayesianResult
        Three probabilities.

    Notes
    -----
    Pairs get random weights from a Dirichlet distribution. In every draw the mean of two pairs,
    drawn by these weights, falls below, inside or above the region of practical equivalence with
    some chance; the largest of the three chances wins the draw (ties share it) [1]_.

    References
    ----------
    .. [1] Benavoli, A., Corani, G., Demšar, J., & Zaffalon, M. (2017). Time for a change: a
       tutorial for comparing multiple classifiers through Bayesian analysis. *Journal of Machine
       Learning Research* 18.

    Examples
    --------
    >>> from scumble.evaluate.statistics import bayesian_signed_rank
    >>> found = bayesian_signed_rank([0.5, 0.6, 0.7, 0.4, 0.5], [0.6, 0.7, 0.8, 0.5, 0.7])
    >>> found.higher > 0.95
    True
    >>> results = {"br": [0.5, 0.6, 0.7, 0.4, 0.5], "rare": [0.6, 0.7, 0.8, 0.5, 0.7]}
    >>> bayesian_signed_rank("br", "rare", results=results) == found
    True
    """
    first, second = check_pairs(x, y, caller="bayesian_signed_rank", results=results, metric=metric)
    n_draws = check_count(n_draws, name="n_draws", caller="bayesian_signed_rank")
    for name, value in (("rope", rope), ("prior", prior)):
        if not value >= 0:
            raise ParameterError(
                f"The {name!r} parameter of bayesian_signed_rank must be a float in [0, inf). "
                f"Got {value!r} instead."
            )
    differences = np.append(paired_differences(first, second), 0.0)
    doubled_mean = differences[:, None] + differences[None, :]
    # A hair's breadth above the region is inside it: 0.51 - 0.5 is more than 0.01 in binary.
    edge = 2 * rope * (1 + 1e-9)
    below, above = (doubled_mean < -edge).astype(float), (doubled_mean > edge).astype(float)
    shape = np.append(np.ones(len(first)), max(prior, 1e-12))
    generator = as_generator(random_state, caller="bayesian_signed_rank")

    won = np.zeros(3)
    for start in range(0, n_draws, BLOCK):
        weights = generator.dirichlet(shape, size=min(BLOCK, n_draws - start))
        lower = ((weights @ below) * weights).sum(axis=1)
        higher = ((weights @ above) * weights).sum(axis=1)
        chances = np.stack([lower, 1 - lower - higher, higher])
        best = np.isclose(chances, chances.max(axis=0), rtol=0, atol=1e-12)
        won += (best / best.sum(axis=0)).sum(axis=1)
    lower_share, equal_share, higher_share = (won / n_draws).tolist()
    return BayesianResult(lower_share, equal_share, higher_share, rope)
