"""Tasks that train models, and predict the labels of uploaded files."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scumble._core.errors import ScumbleError, ScumbleWarning
from scumble._core.progress import progress_bar
from scumble.gui.methods import make_model, make_resamplers
from scumble.gui.packed_dataset import PackedDataset
from scumble.gui.recipes import format_recipe
from scumble.gui.worker import Payload, WrittenFile

if TYPE_CHECKING:  # the first data set is opened sooner without asyncio
    from scumble.gui.folders import Upload, UploadedDataset

#: Options of readers that describe how a file is written; files of the same origin usually share
#: them.
FILE_STYLE_OPTIONS = ("delimiter", "encoding", "decimal", "header")


def train(
    packed: PackedDataset, recipe: Payload, random_state: int, folder: Path, stem: str
) -> Payload:
    """Train a model on all rows and save it; return its description.

    Parameters
    ----------
    packed : PackedDataset
        The data set.
    recipe : dict
        Either ``candidate``, the name of a method of the advice, or ``classifier`` and
        ``treatment``, the resamplers that are applied to the rows first.
    random_state : int
        The seed.
    folder : Path
        The folder for the model.
    stem : str
        Name of the file without its extension.
    """
    from scumble.learn import save

    data = packed.data
    title = format_recipe(recipe)
    with progress_bar(f"Training {title}"):
        model = _fit_recipe(data, recipe, random_state)
        path = folder / f"{stem}.model"
        save(model, path, data=data, notes={"method": title, "random_state": random_state})
    return {"name": path.name, "title": title, "n_labels": data.n_labels}


def _fit_recipe(data: Any, recipe: Payload, random_state: int) -> Any:
    """Return the fitted model of a recipe."""
    from scumble.advice import CANDIDATES
    from scumble.learn import fit_dataset
    from scumble.learn.inner_classifier import set_random_states

    if "candidate" in recipe:
        [candidate] = [
            candidate for candidate in CANDIDATES if candidate.name == recipe["candidate"]
        ]
        return candidate.fit(data, random_state=random_state)
    resamplers = make_resamplers(recipe["treatment"])
    resamplers = [set_random_states(resampler, random_state) for resampler in resamplers]
    classifier = make_model(**recipe["classifier"])
    return fit_dataset(classifier, data, resamplers, random_state=random_state)


def predict(
    model: Path,
    uploaded: UploadedDataset,
    training_options: Payload,
    folder: Path,
    name: str,
    confidences: bool,
) -> WrittenFile:
    """Predict the labels of an uploaded file with a saved model, and write the predictions.

    Parameters
    ----------
    model : Path
        The file of the model.
    uploaded : UploadedDataset
        The file with the rows.
    training_options : dict
        Options with which the training data was read. They are tried for options of the file that
        are not specified.
    folder : Path
        The folder for the predictions.
    name : str
        Name of the file of predictions.
    confidences : bool
        Whether to write the scores as well.
    """
    from scumble import learn
    from scumble.gui.tasks.uploads import read_upload
    from scumble.learn.storage.model_predictions import read_with_optional_labels

    def read_rows(path: Path, **options: Any) -> Any:
        """Read a file of rows with all its columns, with or without labels."""
        from scumble.data import read

        return read_with_optional_labels(partial(read, path, keep=True), **options)

    def read_with_options(options: Payload) -> Any:
        """Read the uploaded file with ``options`` and those of the upload, which have priority."""
        all_options = {**options, **uploaded.options}
        return read_upload(read_rows, replace(uploaded, options=all_options))

    with progress_bar("Predicting"):
        predictions = _predict_with_first_fitting_options(
            predict_rows=partial(learn.predict_dataset, learn.read_model(model)),
            read_with_options=read_with_options,
            candidates=_candidate_options(training_options, uploaded),
        )
        predictions.write(folder / name, confidences=confidences)
    return name, predictions.to_dict()


def _candidate_options(training_options: Payload, uploaded: UploadedDataset) -> Iterator[Payload]:
    """Yield options that may fit a file similar to the training data, the likeliest first.

    Reading a file of another encoding as UTF-8 fails. Reading UTF-8 in another encoding does not
    fail but gives wrong texts, so UTF-8 comes first.
    """
    style = {key: training_options[key] for key in FILE_STYLE_OPTIONS if key in training_options}
    utf8_style = {key: value for key, value in style.items() if key != "encoding"}
    candidates: list[Payload] = []
    for options in (utf8_style, style, {}):
        if options not in candidates:
            candidates.append(options)
    yield from candidates
    if "encoding" in uploaded.options:
        return
    encoding = _likely_encoding(uploaded.file, utf8_style)
    if encoding not in (None, "utf-8", "utf-16", style.get("encoding")):
        warnings.warn(
            f"{uploaded.file.display_name} is not UTF-8. It is read as {encoding}.",
            ScumbleWarning,
            stacklevel=2,
        )
        yield {**utf8_style, "encoding": encoding}


def _likely_encoding(file: Upload, options: Payload) -> str | None:
    """Return the encoding that a preview would show, or None if the file has no preview."""
    from scumble.data.preview import preview

    with suppress(ScumbleError):
        return preview(file.path, **options).encoding
    return None


def _predict_with_first_fitting_options(
    predict_rows: Callable[[Any], Any],
    read_with_options: Callable[[Payload], Any],
    candidates: Iterator[Payload],
) -> Any:
    """Return the predictions for the rows read with the first options that fit the model.

    If none fit, the error of a file that was read but has, for example, other columns is raised;
    if no options could read the file, the error of the reader.
    """
    read_error = prediction_error = None
    for options in candidates:
        try:
            rows = read_with_options(options)
        except ScumbleError as error:
            read_error = error
            continue
        try:
            return predict_rows(rows)
        except ScumbleError as error:
            prediction_error = error
    raise prediction_error or read_error or ScumbleError("There is no way to read the file.")
