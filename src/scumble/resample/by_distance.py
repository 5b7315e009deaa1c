"""What the resamplers that take distances between rows share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.errors import DataError
from scumble._core.features import Features, read_features
from scumble._core.parameters import Bool, declare
from scumble.data import Feature
from scumble.resample.base import BaseResampler, Resampled


class _DistanceResampler(BaseResampler):
    """Base of the resamplers that look at features: reads them once, as numbers and codes."""

    domains = declare(scale=Bool())
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
        self._refuse_texts(features or ())
        categorical = self.categorical_features
        if categorical is None and features is not None:
            categorical = {
                at: len(known.categories)
                for at, known in enumerate(features)
                if known.is_categorical
            }
        read = read_features(X, categorical, caller=type(self).__name__)
        if features is None:
            return read
        is_integer = np.array([known.integer for known in features], bool) & (read.n_values == 0)
        return replace(read, is_integer=is_integer)

    def _refuse_texts(self, features: Sequence[Feature]) -> None:
        texts = [feature.name for feature in features if feature.kind == "text"]
        if texts:
            raise DataError(
                f"{type(self).__name__} takes distances between rows, and the texts of column "
                f"{texts[0]!r} have none. Resample where they are numbers already: "
                "fit_dataset(classifier, data, resamplers), cross-validation, experiments and the "
                f"commands train, evaluate and compare see to that. Or leave out the column: "
                f"ignore={texts[0]!r}."
            )
