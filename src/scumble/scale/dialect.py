"""What the engines spell differently; everything else is the same SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

# In a statement, NAME!(arguments) stands for what an engine calls NAME.
_MACRO = re.compile(r"([A-Z_]+)!\(")
# What parentheses and commas do not count in: texts and quoted names.
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"[^\"]*\"|`[^`]*`")


@dataclass(frozen=True)
class Dialect:
    """How one engine spells what plain SQL has no common word for."""

    name: str  # the engine
    quote_mark: str  # what stands around a column name
    string_list: str  # the type of a list of texts
    split: str  # takes the text $1 apart at every $2, without empty parts
    # For each name, the engine's expression with $1, $2 for the arguments.
    macros: Mapping[str, str]

    def quote(self, column: str) -> str:
        """Write a column's name so that it is taken as it is."""
        mark = self.quote_mark
        return f"{mark}{column.replace(mark, mark * 2)}{mark}"

    def text(self, value: str) -> str:
        """Write a text as a literal."""
        escaped = value.replace("\\", "\\\\") if self.name == "spark" else value
        quote = "\\'" if self.name == "spark" else "''"
        return "'" + escaped.replace("'", quote) + "'"

    def spell(self, sql: str) -> str:
        """Replace every ``NAME!(arguments)`` by the engine's own words."""
        while (found := _MACRO.search(sql)) is not None:
            arguments, end = _arguments(sql, found.end())
            words = self.macros[found[1]]
            for place, argument in enumerate(arguments, start=1):
                words = words.replace(f"${place}", argument)
            sql = sql[: found.start()] + words + sql[end:]
        return sql


def _arguments(sql: str, start: int) -> tuple[list[str], int]:
    """Read arguments up to the closing parenthesis; return them and the place after it."""
    depth, at, begun = 0, start, start
    arguments = []
    while depth >= 0:
        quoted = _QUOTED.match(sql, at)
        if quoted is not None:
            at = quoted.end()
            continue
        char = sql[at]
        depth += (char in "([") - (char in ")]")
        if (char == "," and depth == 0) or depth < 0:
            arguments.append(sql[begun:at].strip())
            begun = at + 1
        at += 1
    return arguments, at


DUCKDB = Dialect(
    "duckdb",
    '"',
    "VARCHAR[]",
    "list_filter(string_split(CAST($1 AS STRING), $2), lambda x: x <> '')",
    {
        "UNNEST": "unnest($1)",
        # Sorted, without duplicates and nulls; a missing list is an empty one.
        "CANONICAL": "coalesce(list_sort(list_distinct($1)), [])",
        "SIZE": "len($1)",
        "EMPTY_LIKE": "$1[:0]",
        "NULL_LIKE": "[NULL]",
        "EXCEPT": "list_filter($1, lambda x: NOT list_contains($2, x))",
        # A table of DuckDB's is stored once, so the place of a row in it can serve as its key.
        "SET_KEY": "row_number() OVER ()",
        "SET_GROUP": "$1",
        "HEX": "CAST('0x' || $1 AS BIGINT)",
        "UP_TO": "unnest(range($1))",
    },
)

SPARK = Dialect(
    "spark",
    "`",
    "ARRAY<STRING>",
    r"array_remove(split(CAST($1 AS STRING), concat('\\Q', $2, '\\E')), '')",
    {
        "UNNEST": "explode($1)",
        "CANONICAL": "coalesce(array_sort(array_distinct(array_compact($1))), array())",
        "SIZE": "size($1)",
        "EMPTY_LIKE": "slice($1, 1, 0)",
        "NULL_LIKE": "array(NULL)",
        "EXCEPT": "array_except($1, $2)",
        # Spark computes lost partitions again, in another order: the key is the content itself.
        "SET_KEY": "$1",
        # What does not fit into memory is sorted: by a number first, as lists compare slowly.
        "SET_GROUP": "xxhash64($1), $1",
        "HEX": "CAST(conv($1, 16, 10) AS BIGINT)",
        "UP_TO": "explode(sequence(0, $1 - 1))",
    },
)
