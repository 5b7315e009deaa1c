"""REMEDIAL-HwR: decouple labels, then run another resampler."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from scumble._core.errors import ParameterTypeError
from scumble._core.parameters import ParameterConstraint
from scumble.data import Feature
from scumble.resample.base import BaseResampler, ResampleResult
from scumble.resample.mlsmote import MLSMOTE
from scumble.resample.remedial import REMEDIAL


class ResamplerConstraint(ParameterConstraint):
    """The constraint of a parameter that holds a resampler, or None for MLSMOTE."""

    kind = "method"
    error = ParameterTypeError
    description = "a resampler of scumble.resample or None"
    value_for_none = MLSMOTE.__name__.lower()

    def is_satisfied_by(self, value: Any) -> bool:
        """Return whether the value is a resampler or None."""
        return value is None or isinstance(value, BaseResampler)


class _UncheckedFeatures(NamedTuple):
    """Features as the user passed them.

    They are validated by the second resampler, after REMEDIAL has changed the rows.
    """

    X: Any
    columns: Sequence[Feature] | None  # descriptions of the columns, if X is from a data set


class RemedialHwR(BaseResampler, display_group="Decouple"):
    r"""Run REMEDIAL, then another resampler on the result.

    Resampling a row with rare and frequent labels changes the counts of both. REMEDIAL splits such
    rows first, so that the second resampler works on rows with only rare or only frequent labels.

    Parameters
    ----------
    resampler : BaseResampler or None
        The resampler that runs after REMEDIAL; by default `MLSMOTE`.
    passes : int
        How often REMEDIAL is repeated.
    one_sided : {"clone", "keep"}
        What REMEDIAL does with rows that have only frequent or only rare labels; see `REMEDIAL`.
    random_state : int, Generator, RandomState or None
        Passed to a resampler that has a ``random_state`` and leaves it None. A ``random_state``
        of the resampler itself takes precedence, and `cross_validate`, which sets those that are
        None, does not change it.

    Attributes
    ----------
    sample_indices_ : ndarray of int64
        For every row of the result, the input row that it comes from; for a synthetic row, its
        seed.
    n_added_, n_removed_ : int
        Number of rows that were added, and of input rows that no row of the result comes from.
    remedial_, resampler_ : BaseResampler
        The two resamplers, after use.
    n_halves_, n_halves_removed_ : int
        Number of rows that came from REMEDIAL's splits (two per split), and of those among them
        that the second resampler removed.

    See Also
    --------
    REMEDIAL : The first step.

    Notes
    -----
    The paper [1]_ combines REMEDIAL with ML-ROS, ML-RUS and MLSMOTE; here any resampler of
    `scumble.resample` is accepted. The two halves of a split row lie at distance 0 with disjoint
    labels. A method that cleans by neighbours, such as `MLeNN` or `MLTL`, treats them as noise
    and removes many of them; ``n_halves_removed_`` counts these.

    References
    ----------
    .. [1] Charte, F., Rivera, A. J., del Jesus, M. J., & Herrera, F. (2019). REMEDIAL-HwR:
       tackling multilabel imbalance through label decoupling and data resampling
       hybridization. *Neurocomputing*, 326-327.

    Examples
    --------
    REMEDIAL splits the third row, and ML-ROS then clones the half that has the rare label. (There
    are five rows by then, and 25 % of them is one row.)

    >>> import numpy as np
    >>> from scumble.resample import MLROS, RemedialHwR
    >>> X = np.array([[0], [1], [2], [3]])
    >>> Y = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]])
    >>> sampler = RemedialHwR(MLROS(percent=25), random_state=0)
    >>> X_new, Y_new = sampler.fit_resample(X, Y)
    >>> X_new.ravel(), Y_new[-1]
    (array([0, 1, 2, 3, 2, 2]), array([0, 0, 1]))
    """

    _parameter_constraints = {
        **REMEDIAL._parameter_constraints,
        "resampler": ResamplerConstraint(),
    }

    def __init__(
        self,
        resampler: BaseResampler | None = None,
        *,
        passes: int = 1,
        one_sided: Literal["clone", "keep"] = "clone",
        random_state: Any = None,
    ) -> None:
        self.resampler = resampler
        self.passes = passes
        self.one_sided = one_sided
        self.random_state = random_state

    def _check_parameter_combinations(self) -> None:
        """Raise an error if a parameter of the second resampler is not allowed."""
        self._make_second_resampler().check_parameters()

    def _check_features(self, X: Any) -> None:
        """Raise an error if the second resampler cannot use these features."""
        self._make_second_resampler()._check_features(X)

    def _make_second_resampler(self) -> BaseResampler:
        """Return a copy of the second resampler, which runs after REMEDIAL, or a new MLSMOTE.

        If it has no ``random_state``, the copy gets that of this object.
        """
        resampler = MLSMOTE() if self.resampler is None else clone(self.resampler)
        if "random_state" in resampler.get_params(deep=False):
            # clone copies a generator, and the copy would draw the same numbers in every run.
            random_state = getattr(self.resampler, "random_state", None)
            if random_state is None:
                random_state = self.random_state
            resampler.set_params(random_state=random_state)
        return resampler

    def _read_features(self, X: Any, columns: Sequence[Feature] | None) -> _UncheckedFeatures:
        """Return the features unchanged, with the descriptions of their columns."""
        return _UncheckedFeatures(X, columns)

    def _fit_resample(self, features: _UncheckedFeatures, Y: sparse.csr_array) -> ResampleResult:
        """Run REMEDIAL and then the second resampler; set their counts as attributes.

        A *half* is one of the copies into which REMEDIAL splits an input row.
        """
        self.remedial_ = REMEDIAL(passes=self.passes, one_sided=self.one_sided)
        self.resampler_ = self._make_second_resampler()
        decoupled = self.remedial_._run(features.X, Y)
        sources = decoupled.sample_indices
        # More than one row of the decoupled data comes from an input row that was split.
        is_half = np.bincount(sources, minlength=Y.shape[0])[sources] > 1
        X_decoupled = self.remedial_._assemble_features(features.X, decoupled)
        result = self.resampler_._run(X_decoupled, decoupled.Y, features.columns)
        is_used = np.bincount(result.sample_indices, minlength=len(sources)) > 0
        self.n_halves_ = int(is_half.sum())
        self.n_halves_removed_ = int((is_half & ~is_used).sum())
        return ResampleResult(sources[result.sample_indices], result.Y, result.synthetic)
