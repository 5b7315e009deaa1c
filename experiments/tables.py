"""Tables for the guide, in reStructuredText."""


def titled(title, lines):
    """Put a title above a table."""
    return [f"**{title}**", "", *lines, ""]


def rst(head, rows):
    """Lay out a table."""
    widths = [max(len(str(row[at])) for row in [head, *rows]) for at in range(len(head))]
    rule = "  ".join("=" * width for width in widths)

    def line(row):
        return "  ".join(str(v).ljust(w) for v, w in zip(row, widths, strict=True)).rstrip()

    return [rule, line(head), rule, *map(line, rows), rule]
