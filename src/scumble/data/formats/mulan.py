"""The MULAN format: an ARFF file with the data, and an XML file with the labels beside it."""

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
    """Return how likely a file has the MULAN format, from 0 to 1; ``head`` are its first bytes.

    ARFF files with an XML file score higher, most of all if the two have the same name.
    """
    if sniff_relation(head) is None:
        looks_like_arff = head.removeprefix(BOM_UTF8).lstrip().startswith((b"%", b"@"))
        if source.suffix == ".arff" and looks_like_arff:
            return 0.4
        return 0.0
    companion = find_label_xml(source)
    if companion.file is None:
        return 0.5
    return 0.95 if companion.has_same_name else 0.8


def read_mulan(
    source: InputFile, *, labels: LabelChoice = None, encoding: str | None = None
) -> MultilabelDataset:
    """Read a MULAN data set.

    ``labels`` selects the columns that are labels, see `scumble.read`; by default
    the XML file names them. ``encoding`` is that of the file; by default UTF-8, or Latin-1 with a
    warning.
    """
    # Rows are read as WEKA reads them. Where the format is ambiguous:
    #
    # - an attribute omitted from a sparse row has the value 0, its first nominal value, or the
    #   empty text;
    # - a percent sign begins a comment where a value could begin, not inside a word;
    # - ``nan`` is a missing value, ``inf`` and ``infinity`` are numbers, and a number too large for
    #   a double is an error;
    # - dates are read as UTC;
    # - labels are nominal with the values 0 and 1 (or false and true) in any order, or numeric.

    def declared_labels(header: Header, columns: FileColumns) -> LabelColumns:
        """Return the columns that the XML file names; raise MissingXmlError without this file."""
        xml_file = find_label_xml(source).file
        if xml_file is None:
            advice = "Name"
            if source.supports_companion_files:
                advice = f"Expected {source.stem}.xml: put it there, or name"
            raise MissingXmlError(
                "no XML file beside it says which attributes are labels. "
                f"{advice} the labels with labels=...",
                path=source.display_name,
            )
        return columns.labels_from_hierarchy(read_label_xml(xml_file))

    return read_arff(source, declared_labels, labels=labels, encoding=encoding)


def write_mulan(dataset: MultilabelDataset, target: OutputFile) -> None:
    """Write a MULAN data set: the ARFF file, and the XML file in the same folder."""
    xml_path = _xml_path_for(target)
    if xml_path == target.path:
        raise ParameterError(
            f"{target.path}: the suffix .xml belongs to the file with the labels. Call the file "
            "with the data .arff."
        )
    names, original_names = label_column_names(dataset, fits_xml)
    notes = {"labels": original_names}
    write_arff(target, dataset, dataset.name, names, labels_first=False, notes=notes)
    with target.open(xml_path) as stream:
        stream.write(format_label_xml(tuple(names), dataset.label_parents).encode())


def label_xml_of(file: InputFile | OutputFile) -> Path | None:
    """Return the path of the XML file that is read, or would be written, with an ARFF file.

    Return None if there is none to read, or if it is in an archive.
    """
    if not isinstance(file, InputFile):
        return _xml_path_for(file)
    xml_file = find_label_xml(file).file
    return xml_file if isinstance(xml_file, Path) else None


def _xml_path_for(target: OutputFile) -> Path:
    """Return the path of the XML file that is written with an ARFF file."""
    return target.path.parent / f"{target.stem}.xml"


FORMAT = Format(
    name="mulan",
    title="MULAN (ARFF, labels in an XML file)",
    display_group="ARFF and related formats",
    suffixes=(".arff",),
    sniff=sniff,
    read=read_mulan,
    write=write_mulan,
    companion_file=label_xml_of,
)
