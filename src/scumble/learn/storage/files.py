"""Writing fitted models to files, and reading them."""

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

#: Name of the format, as written in a file.
FORMAT = "scumble model"
#: Version of the format, as written in a file.
FORMAT_VERSION = 1
#: Members of the zip archive: the JSON text, the objects that skops stores, the arrays by dtype.
_JSON_MEMBER = "model.json"
_SKOPS_MEMBER = "foreign.skops"
_ARRAY_FOLDER = "numbers/"
_DAMAGED = "the file is not a model of scumble, or it is damaged"
#: Errors with one of these texts are complete; others are reported as damage of the file.
_COMPLETE_MESSAGES = ("not trusted", "newer version", "earlier version")


@dataclass(frozen=True, eq=False)
class StoredModel:
    """A model from a file, with the columns and labels that it was fitted to.

    Attributes
    ----------
    model : estimator
        The fitted model.
    features : tuple of Feature
        The columns that it was fitted on: names, and the categories of nominal ones.
    has_names : bool
        Whether the columns of the training data had names.
    labels : tuple of str
        The labels, or classes, that it predicts.
    version : str
        The version of scumble that wrote the file.
    notes : dict
        The notes that were passed to `save`.

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
    """Write a fitted model to a file; equal models give equal files.

    Parameters
    ----------
    model : estimator
        A classifier of `scumble.learn`, with any scikit-learn classifier as base learner.
    path : str or Path
        The file; ``"-"`` writes to standard output. If writing fails, no partial file is left.
    data : MultilabelDataset, optional
        The training data, for the names of its columns and labels and for its categories. By
        default those that the model stores itself.
    notes : dict, optional
        Plain values to keep with the model; see `StoredModel`.

    See Also
    --------
    load : Reads the model.

    Notes
    -----
    The file holds parameters, arrays and names, but no code. It does not hold the training data,
    except for nearest-neighbour classifiers, which consist of it. scikit-learn's estimators are
    stored by skops.

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
    document = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "scumble": __version__,
        "features": [_encode_feature(feature) for feature in features],
        "has_names": has_names,
        "labels": list(labels),
        "notes": notes or {},
        "model": encoder.encode(model),
    }
    content = _make_archive(document, encoder)
    with atomic_write(path) as output, output.open() as stream:
        stream.write(content)


def load(path: str | os.PathLike[str], *, trusted: Sequence[str] = ()) -> Any:
    """Read a model from a file.

    Parameters
    ----------
    path : str or Path
        A file that `save` wrote.
    trusted : sequence of str
        Full names of types of other packages that you trust, besides those of NumPy, SciPy and
        scikit-learn that skops trusts.

    Returns
    -------
    estimator
        The fitted model.

    Raises
    ------
    ScumbleError
        If the file is damaged, no model, or holds objects of types that are not trusted. No code
        of the author of the file is run in any case.

    See Also
    --------
    save : Writes a model.

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
    """Read a model, with the columns and labels that it was fitted to.

    Parameters
    ----------
    path : str or Path
        A file that `save` wrote; ``"-"`` reads from standard input.
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
        return _read_source(source, tuple(trusted))


def _read_source(source: InputFile, trusted: tuple[str, ...]) -> StoredModel:
    """Read a model; any error becomes one that names the file."""
    try:
        return _read_archive(source, trusted)
    except ReadError as error:
        if error.path is not None:
            raise
        text = str(error)
        is_complete = any(message in text for message in _COMPLETE_MESSAGES)
        raise source.error(text if is_complete else f"{_DAMAGED}: {error}") from error
    except ScumbleError:
        raise
    except Exception as error:  # a damaged or malicious file may cause any error
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        raise source.error(f"{_DAMAGED} ({reason}). Fetch or write it again.") from error


def _encode_feature(feature: Feature) -> dict[str, Any]:
    """Return the description of a column as JSON values."""
    entry: dict[str, Any] = {"name": feature.name, "kind": feature.kind}
    if feature.categories and feature.kind != "text":  # the categories of texts are the rows
        entry["categories"] = list(feature.categories)
    if feature.date_format is not None:
        entry["date_format"] = feature.date_format
    return entry


def _decode_feature(entry: dict[str, Any]) -> Feature:
    """Return the description of a column."""
    categories = tuple(entry.get("categories", ()))
    return Feature(entry["name"], entry["kind"], categories, date_format=entry.get("date_format"))


def _make_archive(document: dict[str, Any], encoder: Encoder) -> bytes:
    """Return the bytes of a model file."""
    try:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"The notes of a model must be plain values that JSON can hold ({error})."
        ) from None
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        _add_member(archive, _JSON_MEMBER, text.encode("utf-8", "surrogatepass"))
        for dtype, numbers in encoder.arrays_by_dtype().items():
            array_buffer = io.BytesIO()
            np.lib.format.write_array(array_buffer, numbers, allow_pickle=False)
            _add_member(archive, f"{_ARRAY_FOLDER}{dtype}.npy", array_buffer.getvalue())
        if encoder.third_party_objects:
            _add_member(archive, _SKOPS_MEMBER, _dump_with_skops(encoder.third_party_objects))
    return buffer.getvalue()


def _dump_with_skops(third_party_objects: list[Any]) -> bytes:
    """Return objects of other packages as bytes of skops."""
    import skops.io

    try:
        return skops.io.dumps(third_party_objects)
    except Exception as error:  # skops has no error class of its own
        types = ", ".join(sorted({type(item).__name__ for item in third_party_objects}))
        raise ParameterError(
            f"The model cannot be saved: skops cannot store what it holds ({types}): {error}"
        ) from error


def _add_member(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Add a member to a zip archive."""
    entry = zipfile.ZipInfo(name)  # its date is 1980, so that equal models are equal files
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)


def _read_archive(source: InputFile, trusted: tuple[str, ...]) -> StoredModel:
    """Read a model from the archive, and check it."""
    with source.open() as stream:
        content = stream.read()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        _check_expansion(source, archive, len(content))
        document = json.loads(archive.read(_JSON_MEMBER).decode("utf-8", "surrogatepass"))
        if document["format"] != FORMAT:
            raise ReadError(f"it calls itself {document['format']!r}")
        if document["format_version"] > FORMAT_VERSION:
            raise ReadError(
                f"the model was written by the newer version {document['scumble']} of scumble. "
                "Update scumble to read it."
            )
        third_party_objects = _load_with_skops(archive, trusted)
        arrays_by_dtype = {}
        for name in archive.namelist():
            if name.startswith(_ARRAY_FOLDER):
                dtype = name.removeprefix(_ARRAY_FOLDER).removesuffix(".npy")
                arrays_by_dtype[dtype] = _read_array(archive, name)
    model = Decoder(arrays_by_dtype, third_party_objects).decode(document["model"])
    check_model(model)
    return StoredModel(
        model=model,
        features=tuple(_decode_feature(entry) for entry in document["features"]),
        has_names=bool(document["has_names"]),
        labels=tuple(map(str, document["labels"])),
        version=str(document["scumble"]),
        notes=dict(document["notes"]),
    )


def _check_expansion(source: InputFile, archive: zipfile.ZipFile, size: int) -> None:
    """Raise an error for an archive that expands to many times its size (a zip bomb)."""
    allowed = _max_expanded_size(size)
    if _expanded_size(archive) > allowed:
        raise source.error(f"{size} bytes would grow to more than {allowed}: no model does.")


def _expanded_size(archive: zipfile.ZipFile) -> int:
    """Return the total size of the members of an archive in bytes."""
    return sum(entry.file_size for entry in archive.infolist())


def _max_expanded_size(size: int) -> int:
    """Return the number of bytes that an archive of some size may expand to."""
    return max(UNCHECKED_EXPANSION_BYTES, MAX_EXPANSION * size)


def _read_array(archive: zipfile.ZipFile, name: str) -> Array:
    """Return the flat array of numbers in a member of the archive."""
    with archive.open(name) as stream:
        numbers = np.lib.format.read_array(stream, allow_pickle=False)
        if stream.read(1):  # reading to the end also verifies the checksum
            raise ReadError(f"{name} holds more than one array")
    if numbers.dtype.kind not in "biuf" or numbers.ndim != 1:
        raise ReadError(f"{name} holds no flat array of numbers")
    if name != f"{_ARRAY_FOLDER}{numbers.dtype.name}.npy":
        raise ReadError(f"{name} holds numbers of type {numbers.dtype.name}")
    return numbers.astype(numbers.dtype.newbyteorder("="), copy=False)


def _load_with_skops(archive: zipfile.ZipFile, trusted: tuple[str, ...]) -> list[Any]:
    """Return the objects of other packages; skops makes objects of trusted types only."""
    if _SKOPS_MEMBER not in archive.namelist():
        return []
    import skops.io

    content = archive.read(_SKOPS_MEMBER)
    with zipfile.ZipFile(io.BytesIO(content)) as inner_archive:
        if _expanded_size(inner_archive) > _max_expanded_size(len(content)):
            raise ReadError("its scikit-learn part would grow too large")
    untrusted = skops.io.get_untrusted_types(data=content)
    allowed = check_trusted_types(untrusted, trusted)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        third_party_objects = skops.io.loads(content, trusted=allowed)
    if not isinstance(third_party_objects, list):
        raise ReadError("its scikit-learn part is not a list")
    messages = [str(warning.message) for warning in caught]
    version_messages = [message for message in messages if "version" in message]
    if version_messages:
        warnings.warn(
            "The model was saved with another version of scikit-learn, and may answer "
            f"differently: {version_messages[0].splitlines()[0]}",
            ScumbleWarning,
            stacklevel=5,
        )
    return third_party_objects
