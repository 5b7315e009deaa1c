"""The task that lists what the forms of the page offer."""

from importlib.util import find_spec

from scumble._core.files import COMPRESSIONS
from scumble.gui.worker import Payload


def describe_catalogue() -> Payload:
    """Return the names of all choices in forms: formats, resamplers, classifiers and so on.

    These are also compressions, suffixes of files, candidates of the advice and report formats, of
    which PDF needs Typst.

    This is a task because importing them all takes seconds.
    """
    from scumble.advice import CANDIDATES
    from scumble.catalogue import entries
    from scumble.gui.methods import classifiers, methods

    formats = entries("format").values()
    suffixes = {".xml"}
    for file_format in formats:
        suffixes.update(file_format.suffixes)
    report_formats = ["html"]
    if find_spec("typst") is not None:  # it makes the PDF files
        report_formats.append("pdf")
    report_formats.append("json")
    return {
        "formats": [
            {
                "name": file_format.name,
                "title": file_format.title,
                "suffixes": list(file_format.suffixes),
            }
            for file_format in formats
        ],
        "compressions": ["", *COMPRESSIONS],
        "suffixes": sorted(suffixes),
        "methods": methods(),
        "classifiers": classifiers(),
        "candidates": [candidate.name for candidate in CANDIDATES],
        "reports": report_formats,
    }
