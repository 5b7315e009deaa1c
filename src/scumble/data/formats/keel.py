"""The KEEL format: an ARFF dialect that lists inputs and outputs; the outputs are the labels."""

import re
from typing import Any

import numpy as np

from scumble._core.arrays import Array, column_min_max, stored_values
from scumble._core.files import InputFile, OutputFile
from scumble.data.dataset import Feature, MultilabelDataset
from scumble.data.formats.arff.header import Header
from scumble.data.formats.arff.notes import format_notes
from scumble.data.formats.arff.quoting import quote
from scumble.data.formats.arff.reader import read_arff, sniff_relation
from scumble.data.formats.arff.writer import (
    ArffColumn,
    ArffWriter,
    label_column_names,
    nominal_column,
    number_text,
    numeric_column,
)
from scumble.data.formats.base import Format, LabelChoice
from scumble.data.formats.label_choice import FileColumns, LabelColumns

#: A line of the header that lists inputs or outputs.
_ROLES = re.compile(rb"(?im)^[\t ]*@(inputs?|outputs?)\b")


def sniff(source: InputFile, head: bytes) -> float:
    """Return how likely a file has the KEEL format, from 0 to 1; ``head`` are its first bytes."""
    if sniff_relation(head) is None:
        return 0.0
    if _ROLES.search(head):
        return 0.97
    return 0.85 if source.suffix == ".dat" else 0.1


def read_keel(
    source: InputFile, *, labels: LabelChoice = None, encoding: str | None = None
) -> MultilabelDataset:
    """Read a KEEL data set.

    ``labels`` selects the columns that are labels, see `scumble.read`; by default
    ``@inputs`` and ``@outputs`` determine them. ``encoding`` is that of the file; by default UTF-8,
    or Latin-1 with a warning.
    """

    def declared_labels(header: Header, columns: FileColumns) -> LabelColumns:
        """Return the columns in @outputs, else all that are not in @inputs, else the last one."""
        inputs = header.inputs
        if inputs is not None:
            columns.check_names(inputs, origin="@inputs")
        outputs = header.outputs
        if outputs is None:
            if inputs is None:
                outputs = header.names[-1:]
            else:
                input_names = set(inputs)
                outputs = [name for name in header.names if name not in input_names]
        if not outputs and not columns.is_unlabelled:
            raise source.error("no attribute is an output. Expected the labels in @outputs.")
        return columns.labels_by_name(outputs, origin="@outputs")

    return read_arff(
        source, declared_labels, labels=labels, encoding=encoding, null_is_missing=True
    )


def write_keel(dataset: MultilabelDataset, target: OutputFile) -> None:
    """Write a KEEL data set: dense rows, labels last."""
    label_names, original_names = label_column_names(dataset)
    lows, highs = _finite_ranges(dataset.X)
    columns = [
        _keel_column(feature, low, high)
        for feature, low, high in zip(dataset.features, lows.tolist(), highs.tolist(), strict=True)
    ]
    has_columns = bool(columns or label_names)
    writer = ArffWriter(dataset, columns, label_names, sparse_rows=not has_columns)
    notes = writer.notes() | {
        "labels": original_names,
        "parents": dataset.label_parents,
        "weights": None if dataset.weights is None else dataset.weights.tolist(),
        "sparse": dataset.is_sparse,
    }
    inputs = _name_list("@inputs", [column.name for column in columns])
    outputs = _name_list("@outputs", label_names)
    header = (
        f"{format_notes(notes)}@relation {quote(dataset.name)}\n"
        f"{writer.attribute_lines()}{inputs}{outputs}@data\n"
    )
    writer.write(target, header)


def _keel_column(feature: Feature, low: float, high: float) -> ArffColumn:
    """Return how KEEL writes a feature: texts as nominal values, dates as real numbers.

    ``low`` and ``high`` are the smallest and the largest finite value, NaN if there is none.
    """
    if feature.holds_codes:
        return nominal_column(feature, ", ")
    value_range = ""
    if low <= high:  # False if both are NaN: the column has no finite value
        value_range = f" [{number_text(low)}, {number_text(high)}]"
    return numeric_column(feature, "real", value_range)


def _finite_ranges(X: Any) -> tuple[Array, Array]:
    """Return two arrays: the smallest and the largest finite value per column; NaN without any."""
    finite = X.copy()
    values = stored_values(finite)
    values[np.isinf(values)] = np.nan
    return column_min_max(finite)


def _name_list(keyword: str, names: list[str]) -> str:
    """Return a line of the header with a keyword and quoted names, separated by commas."""
    return " ".join([keyword, ", ".join(quote(name) for name in names)]).strip() + "\n"


FORMAT = Format(
    name="keel",
    title="KEEL (attributes listed as inputs and outputs)",
    display_group="ARFF and related formats",
    suffixes=(".dat",),
    sniff=sniff,
    read=read_keel,
    write=write_keel,
)
