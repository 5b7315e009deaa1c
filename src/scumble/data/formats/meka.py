"""The MEKA format: an ARFF file whose relation says how many attributes are labels."""

import re
from typing import Any

from scumble._core.files import InputFile, OutputFile
from scumble.data.dataset import MultilabelDataset
from scumble.data.formats import mulan  # noqa: F401  (must be registered first: the suffix .arff means MULAN)
from scumble.data.formats.arff.header import Header
from scumble.data.formats.arff.reader import read_arff, sniff_relation
from scumble.data.formats.arff.writer import label_column_names, write_arff
from scumble.data.formats.base import Format, LabelChoice
from scumble.data.formats.label_choice import FileColumns, LabelColumns

#: The option ``-C`` in the name of a relation, with the number of labels.
_COUNT = re.compile(r"(?:^|[\s:'\"])-[Cc]\s+(-?\d{1,9})(?=\s|$|['\"])")
#: The beginning of the options in the name of a relation, such as ``-C 5 -split-number 100``.
_OPTION = re.compile(r"(?:^|(?<=[\s:]))-[A-Za-z]")


def split_relation(relation: str) -> tuple[str, int | None]:
    """Return the name of the data set and the number of labels in ``relation``.

    MEKA writes ``name: -C 5``. The number is negative if the labels are the last attributes, and
    None if the relation has no ``-C``; the name is the complete relation then.
    """
    count = _COUNT.search(relation)
    if count is None:
        return relation, None
    name = _OPTION.split(relation, maxsplit=1)[0]
    return name.rstrip().removesuffix(":").rstrip(), int(count[1])


def _name_from_relation(relation: str) -> str:
    """Return the name of the data set in a relation, without the options of MEKA."""
    return split_relation(relation)[0]


def sniff(source: InputFile, head: bytes) -> float:
    """Return how likely a file has the MEKA format, from 0 to 1; ``head`` are its first bytes."""
    relation = sniff_relation(head)
    if relation is not None and _COUNT.search(relation):
        return 0.9
    return 0.0


def read_meka(
    source: InputFile, *, labels: LabelChoice = None, encoding: str | None = None
) -> MultilabelDataset:
    """Read a MEKA data set.

    ``labels`` selects the columns that are labels, see `scumble.read`; by default
    the relation says how many they are. ``encoding`` is that of the file; by default UTF-8, or
    Latin-1 with a warning.
    """

    def declared_labels(header: Header, columns: FileColumns) -> LabelColumns:
        """Return as many columns as the ``-C`` in the relation says; raise ReadError without it."""
        count = split_relation(header.relation)[1]
        if count is None:
            raise source.error(
                "the relation does not say how many attributes are labels. Expected -C and a "
                "number in it: name the labels with labels=..."
            )
        if count == 0 and not columns.is_unlabelled:
            raise source.error("the relation says -C 0, no labels. Expected at least one.")
        return columns.labels_by_count(count)

    return read_arff(
        source,
        declared_labels,
        labels=labels,
        encoding=encoding,
        name_from_relation=_name_from_relation,
    )


def write_meka(dataset: MultilabelDataset, target: OutputFile) -> None:
    """Write a MEKA data set: one ARFF file, labels first."""
    relation = f"{dataset.name}: -C {dataset.n_labels}"
    names, original_names = label_column_names(dataset)
    notes: dict[str, Any] = {"labels": original_names, "parents": dataset.label_parents}
    if split_relation(relation) != (dataset.name, dataset.n_labels):
        relation = f"data: -C {dataset.n_labels}"
        notes["name"] = dataset.name
    write_arff(target, dataset, relation, names, labels_first=True, notes=notes)


FORMAT = Format(
    name="meka",
    title="MEKA (ARFF with the number of labels in its relation)",
    display_group="ARFF and related formats",
    suffixes=(".arff",),
    sniff=sniff,
    read=read_meka,
    write=write_meka,
)
