"""MULAN: an ARFF file with the data, an XML file beside it with the labels."""

from codecs import BOM_UTF8
from pathlib import Path

from scumble._core.errors import ParameterError
from scumble._core.files import InputFile, OutputFile
from scumble.data.dataset import MultilabelDataset
from scumble.data.formats.arff.header import Header
from scumble.data.formats.arff.label_xml import (
    MissingXmlError,
    find_label_xml,
    fits_xml,
    format_label_xml,
    read_label_xml,
)
from scumble.data.formats.arff.reader import read_arff, sniff_relation
from scumble.data.formats.arff.writer import label_column_names, write_arff
from scumble.data.formats.base import Format, LabelChoice
from scumble.data.formats.label_choice import FileColumns, LabelColumns


def sniff(source: InputFile, head: bytes) -> float:
    """Tell how likely a file is MULAN's."""
    if sniff_relation(head) is None:
        looks_like_it = head.removeprefix(BOM_UTF8).lstrip().startswith((b"%", b"@"))
        return 0.4 if source.suffix == ".arff" and looks_like_it else 0.0
    path, by_name = find_label_xml(source)
    if path is None:
        return 0.5
    return 0.95 if by_name else 0.8


def read_mulan(
    source: InputFile, *, labels: LabelChoice = None, encoding: str | None = None
) -> MultilabelDataset:
    """Read a MULAN data set."""
    # Rows are read as WEKA reads them, with these decisions where it leaves room:
    #
    # - an attribute omitted from a sparse row has the value 0, its first nominal value, or the
    #   empty text;
    # - a percent sign begins a comment where a value could begin, not inside of a word;
    # - ``nan`` is a missing value, ``inf`` and ``infinity`` are numbers, and a number too large for
    #   a double is refused;
    # - dates are read as UTC;
    # - labels are nominal with the values 0 and 1 (or false and true) in any order, or numeric.

    def declared(header: Header, columns: FileColumns) -> LabelColumns:
        path, _ = find_label_xml(source)
        if path is None:
            place = f"Expected {source.stem}.xml: put it there, or name"
            raise MissingXmlError(
                "no XML file beside it says which attributes are labels. "
                f"{place if source.supports_companion_files else 'Name'} the labels with labels=...",
                path=source.where,
            )
        return columns.labels_from_tree(read_label_xml(path))

    return read_arff(source, declared, labels=labels, encoding=encoding)


def write_mulan(dataset: MultilabelDataset, target: OutputFile) -> None:
    """Write a MULAN data set: the ARFF file and, beside it, the XML file."""
    xml = _written_xml(target)
    if xml == target.path:
        raise ParameterError(
            f"{target.path}: the suffix .xml belongs to the file with the labels. Call the file "
            "with the data .arff."
        )
    names, renamed = label_column_names(dataset, fits_xml)
    notes = {"labels": renamed}
    write_arff(target, dataset, dataset.name, names, labels_first=False, notes=notes)
    with target.open(xml) as stream:
        stream.write(format_label_xml(tuple(names), dataset.label_parents).encode())


def label_xml_of(file: InputFile | OutputFile) -> Path | None:
    """Return the XML file that is read, or would be written, with an ARFF file."""
    if not isinstance(file, InputFile):
        return _written_xml(file)
    found, _ = find_label_xml(file)
    return found if isinstance(found, Path) else None  # in an archive it is no file of its own


def _written_xml(target: OutputFile) -> Path:
    return target.path.parent / f"{target.stem}.xml"


FORMAT = Format(
    name="mulan",
    title="MULAN (ARFF, labels in an XML file)",
    display_group="ARFF and its kin",
    suffixes=(".arff",),
    sniff=sniff,
    read=read_mulan,
    write=write_mulan,
    companion_file=label_xml_of,
)
