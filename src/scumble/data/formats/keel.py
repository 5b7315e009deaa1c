"""KEEL: an ARFF dialect that lists inputs and outputs; the outputs are the labels."""

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
    number_column,
    number_text,
)
from scumble.data.formats.base import Format, LabelChoice
from scumble.data.formats.label_choice import FileColumns, LabelColumns

_ROLES = re.compile(rb"(?im)^[\t ]*@(inputs?|outputs?)\b")


def sniff(source: InputFile, head: bytes) -> float:
    """Tell how likely a file is KEEL's."""
    if sniff_relation(head) is None:
        return 0.0
    if _ROLES.search(head):
        return 0.97
    return 0.85 if source.suffix == ".dat" else 0.1


def read_keel(
    source: InputFile, *, labels: LabelChoice = None, encoding: str | None = None
) -> MultilabelDataset:
    """Read a KEEL data set."""

    def declared(header: Header, columns: FileColumns) -> LabelColumns:
        inputs = header.inputs
        if inputs is not None:
            columns.labels_by_name(inputs, where="@inputs")
        outputs = header.outputs
        if outputs is None:
            named = set(inputs or ())
            others = [name for name in header.names if name not in named]
            outputs = others[-1:] if inputs is None else others
        if not outputs and not columns.unlabelled:
            raise source.error("no attribute is an output. Expected the labels in @outputs.")
        return columns.labels_by_name(outputs, where="@outputs")

    return read_arff(source, declared, labels=labels, encoding=encoding, null_is_missing=True)


def write_keel(dataset: MultilabelDataset, target: OutputFile) -> None:
    """Write a KEEL data set: dense rows, labels last."""
    names, renamed = label_column_names(dataset)
    ends = np.column_stack(_ranges(dataset.X)).tolist()
    columns = [
        _column(feature, *low_high)
        for feature, low_high in zip(dataset.features, ends, strict=True)
    ]
    writer = ArffWriter(dataset, columns, names, sparse_rows=not (columns or names))
    notes = writer.notes() | {
        "labels": renamed,
        "parents": dataset.label_parents,
        "weights": None if dataset.weights is None else dataset.weights.tolist(),
        "sparse": dataset.is_sparse,
    }
    header = (
        f"{format_notes(notes)}@relation {quote(dataset.name)}\n"
        f"{writer.attribute_lines()}"
        f"{_list('@inputs', [column.name for column in columns])}{_list('@outputs', names)}@data\n"
    )
    writer.write(target, header)


def _column(feature: Feature, low: float, high: float) -> ArffColumn:
    """Declare a feature; KEEL has neither texts nor dates, so they become nominal and real."""
    if feature.holds_codes:
        return nominal_column(feature, ", ")
    limits = f" [{number_text(low)}, {number_text(high)}]" if low <= high else ""
    return number_column(feature, "real", limits)


def _ranges(X: Any) -> tuple[Array, Array]:
    """Find the smallest and largest finite value of each feature; NaN if it has none."""
    finite = X.copy()
    values = stored_values(finite)
    values[np.isinf(values)] = np.nan
    return column_min_max(finite)


def _list(keyword: str, names: list[str]) -> str:
    return " ".join([keyword, ", ".join(quote(name) for name in names)]).strip() + "\n"


FORMAT = Format(
    name="keel",
    title="KEEL (attributes listed as inputs and outputs)",
    display_group="ARFF and its kin",
    suffixes=(".dat",),
    sniff=sniff,
    read=read_keel,
    write=write_keel,
)
