"""REMEDIAL-HwR: decouple first, then resample."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.base import clone

from scumble._core.errors import ParameterTypeError
from scumble._core.parameters import ParameterConstraint, default, get_parameter_constraints
from scumble.data import Feature
from scumble.resample.base import BaseResampler, ResampleResult
from scumble.resample.mlsmote import MLSMOTE
from scumble.resample.remedial import REMEDIAL


class ResamplerConstraint(ParameterConstraint):
    """Resamplers, and None."""

    kind = "method"
    error = ParameterTypeError
    description = "a resampler of scumble.resample or None"
    value_for_none = MLSMOTE.__name__.lower()

    def is_satisfied_by(self, value: Any) -> bool:
        """Tell whether a value is one of them."""
        return value is None or isinstance(value, BaseResampler)


@dataclass(eq=False, repr=False)
class RemedialHwR(BaseResampler, display_group="Decouple"):
    r"""Run REMEDIAL, then another resampler on the result.

    Resampling a row with rare and frequent labels changes both. REMEDIAL takes such rows apart
    first, so that the resampler after it works on rows that are one or the other.

    Parameters
    ----------
    resampler : BaseResampler or None
        What runs after REMEDIAL; by default `MLSMOTE`.
    passes : int
        How often REMEDIAL is repeated.
    one_sided : {"clone", "keep"}
        What REMEDIAL does with rows that have only frequent or only rare labels.
    random_state : int, Generator, RandomState or None
        Given to a resampler that draws and has no ``random_state`` of its own. What the resampler
        was made with comes first, so that `cross_validate`, which seeds what was left open,
        leaves it alone.

    Attributes
    ----------
    sample_indices_ : ndarray of int64
        The input row each output row comes from; synthetic rows name their seed.
    n_added_, n_removed_ : int
        Rows more, and input rows of which nothing is left.
    remedial_, resampler_ : BaseResampler
        The two steps, after use.
    n_halves_, n_halves_removed_ : int
        Rows that REMEDIAL's splits left behind (two a split), and how many of them the resampler
        removed.

    See Also
    --------
    REMEDIAL : The first step.

    Notes
    -----
    The paper [1]_ combines REMEDIAL with ML-ROS, ML-RUS and MLSMOTE; any resampler of
    `scumble.resample` will do here. The two halves of a split row lie at distance 0 with
    disjoint labels. A method that cleans by neighbours, such as `MLeNN` or `MLTL`, takes them
    for noise and removes many of them: `n_halves_removed_` tells.

    References
    ----------
    .. [1] Charte, F., Rivera, A. J., del Jesus, M. J., & Herrera, F. (2019). REMEDIAL-HwR:
       tackling multilabel imbalance through label decoupling and data resampling
       hybridization. *Neurocomputing*, 326-327.

    Examples
    --------
    REMEDIAL splits the third row, and ML-ROS then clones the half that has the rare label. (The
    rows are five by then, so that 25 % of them is one.)

    >>> import numpy as np
    >>> from scumble.resample import MLROS, RemedialHwR
    >>> X = np.array([[0], [1], [2], [3]])
    >>> Y = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]])
    >>> sampler = RemedialHwR(MLROS(percent=25), random_state=0)
    >>> X_new, Y_new = sampler.fit_resample(X, Y)
    >>> X_new.ravel(), Y_new[-1]
    (array([0, 1, 2, 3, 2, 2]), array([0, 0, 1]))
    """

    _parameter_constraints = get_parameter_constraints(REMEDIAL)

    resampler: BaseResampler | None = default(None, ResamplerConstraint())
    _: KW_ONLY
    passes: int = 1
    one_sided: Literal["clone", "keep"] = "clone"
    random_state: Any = None

    def _check_parameter_combinations(self) -> None:
        self._second().check_parameters()

    def _check_features(self, X: Any) -> None:
        self._second()._check_features(X)

    def _second(self) -> BaseResampler:
        """Make the resampler that runs after REMEDIAL."""
        second = MLSMOTE() if self.resampler is None else clone(self.resampler)
        if "random_state" in second.get_params(deep=False):
            # Cloning copies a generator, which would then give the same draws each time.
            own = getattr(self.resampler, "random_state", None)
            second.set_params(random_state=self.random_state if own is None else own)
        return second

    def _read_features(self, X: Any, features: Sequence[Feature] | None) -> Any:
        return X, features

    def _fit_resample(self, X: Any, Y: sparse.csr_array) -> ResampleResult:
        X, features = X
        self.remedial_ = REMEDIAL(passes=self.passes, one_sided=self.one_sided)
        self.resampler_ = self._second()
        decoupled = self.remedial_._run(X, Y)
        sources = decoupled.sample_indices
        halves = np.bincount(sources, minlength=Y.shape[0])[sources] > 1  # of rows that were split
        between = self.remedial_._assemble_features(X, decoupled)
        result = self.resampler_._run(between, decoupled.Y, features)
        is_left = np.bincount(result.sample_indices, minlength=len(sources)) > 0
        self.n_halves_ = int(halves.sum())
        self.n_halves_removed_ = int((halves & ~is_left).sum())
        return ResampleResult(sources[result.sample_indices], result.Y, result.synthetic)
