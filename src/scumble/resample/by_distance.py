"""What the resamplers that take distances between rows share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
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
        self._check_switches("scale")
        is_int = isinstance(self.n_jobs, int | np.integer) and not isinstance(self.n_jobs, bool)
        if self.n_jobs is not None and not (is_int and self.n_jobs != 0):
            raise ParameterError(
                f"The 'n_jobs' parameter of {type(self).__name__} must be a nonzero int or None. "
                f"Got {self.n_jobs!r} instead."
            )

    def _check_switches(self, *names: str) -> None:
        """Refuse switches that are neither True nor False."""
        for name in names:
            value = getattr(self, name)
            if not isinstance(value, bool | np.bool_):
                raise ParameterError(
                    f"The {name!r} parameter of {type(self).__name__} must be True or False. "
                    f"Got {value!r} instead."
                )
