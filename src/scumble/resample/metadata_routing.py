"""Metadata routing of resamplers: `fit_resample` in addition to the methods of scikit-learn."""

from __future__ import annotations

from typing import Any

from sklearn.utils.metadata_routing import MetadataRequest


class ResamplerMetadataRequest(MetadataRequest):
    """The metadata that the methods of a resampler request.

    scikit-learn's list of methods that metadata is routed to lacks ``fit_resample``.
    imbalanced-learn appends it when it is imported, which may be after a resampler was made. Here
    it is always present, and scikit-learn's list is not modified.
    """

    def __init__(self, owner: Any) -> None:
        """Add the requests of ``fit_resample``: weights raise an error until they are requested."""
        super().__init__(owner)
        # scikit-learn has no public class for the requests of one method. Those of `fit` in an
        # object of our own serve as requests of `fit_resample`, once they have its name.
        requests = MetadataRequest(owner).fit
        requests.method = "fit_resample"
        requests.add_request(param="sample_weight", alias=None)
        self.fit_resample = requests

    def __sklearn_clone__(self) -> ResamplerMetadataRequest:
        """Return a copy with the same owner; without this method, clone would copy the owner."""
        copy = ResamplerMetadataRequest(self.owner)
        copy.update(self)
        return copy

    def update(self, other: MetadataRequest) -> None:
        """Add the requests of ``other`` to those of this object, method by method."""
        for method, method_requests in vars(other).items():
            if method == "owner":
                continue
            for param, alias in method_requests.requests.items():
                getattr(self, method).add_request(param=param, alias=alias)
