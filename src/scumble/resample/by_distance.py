"""What the resamplers that take distances between rows share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from scipy import sparse

from scumble._core.errors import ParameterError
from scumble.data import Feature
from scumble.resample.base import BaseResampler, Resampled
from scumble.resample.features import Features, read_features


class _DistanceResampler(BaseResampler):
    """Base of the resamplers that look at features: reads them once, as numbers and codes.

    A subclass has the parameters ``categorical_features``, ``scale`` and ``n_jobs``, and
    implements `_resample_features`.
    """

    categorical_features: Any
    scale: bool
    n_jobs: int | None

    @abstractmethod
    def _resample_features(self, features: Features, Y: sparse.csr_array) -> Resampled:
        """Do the work on features read as numbers and codes."""

    def _resample(self, X: Any, Y: sparse.csr_array) -> Resampled:
        return self._resample_described(X, Y, None)

    def _resample_described(
        self, X: Any, Y: sparse.csr_array, features: Sequence[Feature] | None
    ) -> Resampled:
        return self._resample_features(self._read(X, features), Y)

    def _check_features(self, X: Any) -> None:
        self._read(X, None)

    def _read(self, X: Any, features: Sequence[Feature] | None) -> Features:
        caller = type(self).__name__
        return read_features(X, self.categorical_features, features, caller=caller)

    def _check_parameters(self) -> None:
        if not isinstance(self.scale, bool):
            raise ParameterError(
                f"The 'scale' parameter of {type(self).__name__} must be True or False. "
                f"Got {self.scale!r} instead."
            )
