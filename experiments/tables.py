"""Tables for the guide, in reStructuredText."""


def titled(title, lines):
    """Return the lines of a table with a title above it."""
    return [f"**{title}**", "", *lines, ""]


def rst(head, rows):
    """Return the lines of a table with aligned columns."""
    widths = [max(len(str(row[column])) for row in [head, *rows]) for column in range(len(head))]
    rule = "  ".join("=" * width for width in widths)

    def line(row):
        cells = (str(cell).ljust(width) for cell, width in zip(row, widths, strict=True))
        return "  ".join(cells).rstrip()

    return [rule, line(head), rule, *map(line, rows), rule]
