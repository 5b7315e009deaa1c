"""Metadata routing of resamplers: `fit_resample` beside the methods that scikit-learn knows."""

from __future__ import annotations

from typing import Any

from sklearn.utils._metadata_requests import MethodMetadataRequest
from sklearn.utils.metadata_routing import MetadataRequest


class ResamplerMetadataRequest(MetadataRequest):
    """The metadata that the methods of a resampler request.

    scikit-learn's list of methods that metadata is routed to lacks ``fit_resample``.
    imbalanced-learn appends it when it is imported, which may be after a resampler was made; here
    it is always present.
    """

    def __init__(self, owner: Any) -> None:
        super().__init__(owner)
        self.fit_resample = MethodMetadataRequest(
            owner=owner, method="fit_resample", requests={"sample_weight": None}
        )

    def __sklearn_clone__(self) -> ResamplerMetadataRequest:
        """Return a copy for `sklearn.base.clone`."""
        new = ResamplerMetadataRequest(self.owner)
        new.update(self)
        return new

    def update(self, other: MetadataRequest) -> None:
        """Replace the requests of each method by copies of those that ``other`` has for it."""
        for method, request in vars(other).items():
            if isinstance(request, MethodMetadataRequest):
                requests = dict(request.requests)
                copied = MethodMetadataRequest(owner=self.owner, method=method, requests=requests)
                setattr(self, method, copied)
