"""Trained models that a server keeps, to be asked about further files."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scumble.gui.answers import RefusedError

#: Models that are kept, and the bytes they may take together; more push out the oldest.
KEPT, KEPT_BYTES = 24, 2 << 30


@dataclass(frozen=True)
class Model:
    """A model in a file of ours."""

    id: str
    path: Path
    dataset: str
    facts: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return what the API tells about it."""
        return {"model": self.id, "trained_on": self.dataset, **self.facts}


class Models:
    """The models of a server."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._models: dict[str, Model] = {}

    def new_folder(self, number: str) -> Path:
        """Make the folder for a model that is being trained."""
        folder = self._folder / number
        folder.mkdir()
        return folder

    def forget_folder(self, number: str) -> None:
        """Remove the folder of a model that was not trained after all."""
        if number not in self._models:
            shutil.rmtree(self._folder / number, ignore_errors=True)

    def add(self, number: str, name: str, dataset: str, facts: dict[str, Any]) -> Model:
        """Keep a model that was trained; of too many, or too large ones, the oldest go."""
        path = self._folder / number / name
        model = self._models[number] = Model(number, path, dataset, facts)
        for old in list(self._models)[:-1]:
            if len(self._models) > KEPT or self._n_bytes > KEPT_BYTES:
                self._remove(old)
        return model

    @property
    def _n_bytes(self) -> int:
        return sum(model.facts["size"] for model in self._models.values())

    def forget(self, dataset: str) -> None:
        """Remove the models of a data set: another one may come to have its name."""
        for model in self.of(dataset):
            self._remove(model.id)

    def get(self, number: str) -> Model:
        """Find a model."""
        if number not in self._models:
            raise RefusedError(404, "This model is gone. Train it again.")
        return self._models[number]

    def of(self, dataset: str) -> list[Model]:
        """List the models trained on a data set, the newest first."""
        return [one for one in reversed(self._models.values()) if one.dataset == dataset]

    def _remove(self, number: str) -> None:
        del self._models[number]
        self.forget_folder(number)
