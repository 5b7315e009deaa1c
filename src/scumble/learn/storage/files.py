"""Models to files and back."""

import io
import json
import os
import warnings
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, ReadError, ScumbleError, ScumbleWarning
from scumble._core.files import MAX_EXPANSION, UNCHECKED_EXPANSION_BYTES, InputFile, atomic_write
from scumble._core.version import __version__
from scumble.data import Feature, MultilabelDataset
from scumble.data.input_files import open_input_file
from scumble.learn.storage.check import check_model
from scumble.learn.storage.columns import fitted_columns
from scumble.learn.storage.json_encoding import Decoder, Encoder, check_trusted_types

#: What the file says it is, and the version of its form.
FORMAT, FORMAT_VERSION = "scumble model", 1
_TEXT, _FOREIGN, _NUMBERS = "model.json", "foreign.skops", "numbers/"
_DAMAGED = "the file is no model of scumble, or it is damaged"


@dataclass(frozen=True, eq=False)
class StoredModel:
    """A model from a file, with what the file says about its data.

    Attributes
    ----------
    model : estimator
        The fitted model.
    features : tuple of Feature
        The columns it was fitted on: names, and the categories of nominal ones.
    has_names : bool
        Whether these columns have names of their own.
    labels : tuple of str
        The labels, or classes, it predicts.
    version : str
        The version of scumble that wrote the file.
    notes : dict
        Whatever the writer wanted to be kept.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from scumble.learn import MLkNN, read_model, save
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "photos.model"
    >>> model = MLkNN(n_neighbors=1).fit([[0.0], [9.0]], [["sky"], ["soil"]])
    >>> save(model, path, notes={"source": "holiday"})
    >>> stored = read_model(path)
    >>> stored.labels, stored.notes
    (('sky', 'soil'), {'source': 'holiday'})
    """

    model: Any
    features: tuple[Feature, ...]
    has_names: bool
    labels: tuple[str, ...]
    version: str
    notes: dict[str, Any] = field(default_factory=dict)


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    data: MultilabelDataset | None = None,
    notes: dict[str, Any] | None = None,
) -> None:
    """Write a fitted model to a file: whole or not at all, and always the same bytes.

    Parameters
    ----------
    model : estimator
        A classifier of `scumble.learn`, with any scikit-learn classifier inside.
    path : str or Path
        The file; ``"-"`` writes to standard output.
    data : MultilabelDataset, optional
        The training data, for the names of its columns and labels and for its categories. By
        default what the model itself knows.
    notes : dict, optional
        Plain values to keep with the model; see `StoredModel`.

    See Also
    --------
    load : The way back.

    Notes
    -----
    The file holds parameters, arrays and names; neither the training data (but for classifiers
    that ask neighbours, whose model it is) nor code. scikit-learn's estimators are stored by
    skops.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from scumble.learn import MLkNN, load, save
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "photos.model"
    >>> model = MLkNN(n_neighbors=1).fit([[0.0], [1], [8], [9]], [[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> save(model, path)
    >>> load(path).predict([[0.5], [8.5]])
    array([[1, 0],
           [0, 1]])
    """
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError) as error:
        raise ParameterError(f"The model cannot be saved: {error}") from None
    encoder = Encoder()
    features, has_names, labels = fitted_columns(model, data)
    text = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "scumble": __version__,
        "features": [_plain(feature) for feature in features],
        "has_names": has_names,
        "labels": list(labels),
        "notes": notes or {},
        "model": encoder.encode(model),
    }
    content = _packed(text, encoder)
    with atomic_write(path) as target, target.open() as stream:
        stream.write(content)


def load(path: str | os.PathLike[str], *, trusted: Sequence[str] = ()) -> Any:
    """Read a model from a file.

    Parameters
    ----------
    path : str or Path
        What `save` wrote.
    trusted : sequence of str
        Full names of types of other packages that you trust, beyond those of NumPy, SciPy and
        scikit-learn that skops trusts.

    Returns
    -------
    estimator
        The fitted model.

    Raises
    ------
    ScumbleError
        If the file is damaged, no model, or holds objects of types that are not trusted. No code
        of the file's author is run in any case.

    See Also
    --------
    save : The way there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from scumble.learn import MLkNN, load, save
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "photos.model"
    >>> save(MLkNN(n_neighbors=1).fit([[0.0], [9.0]], [[1], [0]]), path)
    >>> load(path)
    MLkNN(n_neighbors=1)
    """
    return read_model(path, trusted=trusted).model


def read_model(path: str | os.PathLike[str], *, trusted: Sequence[str] = ()) -> StoredModel:
    """Read a model and what its file says about the data it was fitted on.

    Parameters
    ----------
    path : str or Path
        What `save` wrote; ``"-"`` reads it from standard input.
    trusted : sequence of str
        See `load`.

    Returns
    -------
    StoredModel
        Model, columns and labels.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from scumble.learn import BinaryRelevance, read_model, save
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "photos.model"
    >>> X = pd.DataFrame({"blue": [0.9, 0.8, 0.1, 0.2]})
    >>> Y = pd.DataFrame({"sky": [1, 1, 0, 0], "soil": [0, 0, 1, 1]})
    >>> save(BinaryRelevance().fit(X, Y), path)
    >>> stored = read_model(path)
    >>> [feature.name for feature in stored.features], stored.labels
    (['blue'], ('sky', 'soil'))
    """
    with open_input_file(path) as source:
        return _read(source, tuple(trusted))


def _read(source: InputFile, trusted: tuple[str, ...]) -> StoredModel:
    try:
        return _unpacked(source, trusted)
    except ReadError as error:
        if error.path is not None:
            raise
        raise source.error(f"{_DAMAGED}: {error}" if _is_small(error) else str(error)) from error
    except ScumbleError:
        raise
    except Exception as error:  # whatever a stranger's bytes may cause
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        raise source.error(f"{_DAMAGED} ({reason}). Fetch or write it again.") from error


def _is_small(error: ReadError) -> bool:
    """Tell a fault of the content from a message that stands for itself."""
    words = ("not trusted", "newer version", "earlier version")
    return not any(word in str(error) for word in words)


def _plain(feature: Feature) -> dict[str, Any]:
    known: dict[str, Any] = {"name": feature.name, "kind": feature.kind}
    if feature.categories and feature.kind != "text":  # those are the training rows themselves
        known["categories"] = list(feature.categories)
    if feature.date_format is not None:
        known["date_format"] = feature.date_format
    return known


def _feature(known: dict[str, Any]) -> Feature:
    categories = tuple(known.get("categories", ()))
    return Feature(known["name"], known["kind"], categories, date_format=known.get("date_format"))


def _packed(text: dict[str, Any], encoder: Encoder) -> bytes:
    try:
        document = json.dumps(text, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"The notes of a model must be plain values that JSON can hold ({error})."
        ) from None
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        _add(archive, _TEXT, document.encode("utf-8", "surrogatepass"))
        for kind, numbers in encoder.arrays_by_dtype().items():
            part = io.BytesIO()
            np.lib.format.write_array(part, numbers, allow_pickle=False)
            _add(archive, f"{_NUMBERS}{kind}.npy", part.getvalue())
        if encoder.third_party_objects:
            _add(archive, _FOREIGN, _dumped(encoder.third_party_objects))
    return buffer.getvalue()


def _dumped(third_party_objects: list[Any]) -> bytes:
    import skops.io

    try:
        return skops.io.dumps(third_party_objects)
    except Exception as error:  # skops has no error of its own
        kinds = ", ".join(sorted({type(part).__name__ for part in third_party_objects}))
        raise ParameterError(
            f"The model cannot be saved: skops cannot store what it holds ({kinds}): {error}"
        ) from error


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name)  # dated 1980, so that equal models are equal files
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)


def _unpacked(source: InputFile, trusted: tuple[str, ...]) -> StoredModel:
    with source.open() as stream:
        content = stream.read()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        _refuse_bomb(source, archive, len(content))
        text = json.loads(archive.read(_TEXT).decode("utf-8", "surrogatepass"))
        if text["format"] != FORMAT:
            raise ReadError(f"it calls itself {text['format']!r}")
        if text["format_version"] > FORMAT_VERSION:
            raise ReadError(
                f"the model was written by the newer version {text['scumble']} of scumble. "
                "Update scumble to read it."
            )
        foreign = _loaded(archive, trusted)
        pools = {
            name.removeprefix(_NUMBERS).removesuffix(".npy"): _numbers(archive, name)
            for name in archive.namelist()
            if name.startswith(_NUMBERS)
        }
    model = Decoder(pools, foreign).decode(text["model"])
    check_model(model)
    features = tuple(_feature(entry) for entry in text["features"])
    labels, notes = tuple(map(str, text["labels"])), dict(text["notes"])
    has_names, version = bool(text["has_names"]), str(text["scumble"])
    return StoredModel(model, features, has_names, labels, version, notes)


def _refuse_bomb(source: InputFile, archive: zipfile.ZipFile, size: int) -> None:
    allowed = max(UNCHECKED_EXPANSION_BYTES, MAX_EXPANSION * size)
    if sum(entry.file_size for entry in archive.infolist()) > allowed:
        raise source.error(f"{size} bytes would grow to more than {allowed}: no model does.")


def _numbers(archive: zipfile.ZipFile, name: str) -> Array:
    with archive.open(name) as stream:
        pool = np.lib.format.read_array(stream, allow_pickle=False)
        if stream.read(1):  # reading to the end checks the sum of the bytes
            raise ReadError(f"{name} holds more than one array")
    if pool.dtype.kind not in "biuf" or pool.ndim != 1:
        raise ReadError(f"{name} holds no flat array of numbers")
    if name != f"{_NUMBERS}{pool.dtype.name}.npy":
        raise ReadError(f"{name} holds numbers of type {pool.dtype.name}")
    return pool.astype(pool.dtype.newbyteorder("="), copy=False)


def _loaded(archive: zipfile.ZipFile, trusted: tuple[str, ...]) -> list[Any]:
    """Load the objects of other packages; skops makes them of trusted types only."""
    if _FOREIGN not in archive.namelist():
        return []
    import skops.io

    content = archive.read(_FOREIGN)
    with zipfile.ZipFile(io.BytesIO(content)) as inner:
        if sum(entry.file_size for entry in inner.infolist()) > max(
            UNCHECKED_EXPANSION_BYTES, MAX_EXPANSION * len(content)
        ):
            raise ReadError("its scikit-learn part would grow too large")
    found = skops.io.get_untrusted_types(data=content)
    allowed = check_trusted_types(found, trusted)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        foreign = skops.io.loads(content, trusted=allowed)
    if not isinstance(foreign, list):
        raise ReadError("its scikit-learn part is no list")
    others = [str(warning.message) for warning in caught if "version" in str(warning.message)]
    if others:
        warnings.warn(
            "The model was saved with another version of scikit-learn, and may answer "
            f"differently: {others[0].splitlines()[0]}",
            ScumbleWarning,
            stacklevel=5,
        )
    return foreign
