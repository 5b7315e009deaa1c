"""The tables all measures come from: distinct labelsets, labels, and their scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ReadError
from scumble.measures.imbalance import mean_of_ratios, ratios_from_counts
from scumble.scale import statements
from scumble.scale.engines.base import Engine
from scumble.scale.layout import find_layout
from scumble.scale.sources import Files
from scumble.scale.workspace import Workspace, column


class LabelsetTables(Workspace):
    """Tables of one input, computed when they are first needed."""

    def __init__(self, engine: Engine, files: Files, **columns: Any) -> None:
        super().__init__(engine)
        self.where = files.paths[0] if len(files.paths) == 1 else f"{files.paths[0]}, ..."
        found = self.open("source", files)
        self.layout = find_layout(found, engine.dialect, where=self.where, **columns)
        self._labels: tuple[list[Any], Array] | None = None
        self._totals: dict[str, int] | None = None
        self.is_regular = True

    def rows(self, *, keep: bool = False) -> None:
        """Make ``rows``: the instances, each with a list of labels."""
        layout = self.layout
        values = {"ids": layout.ids(), "ids_first": layout.ids_first(), "label": layout.label_in()}
        if layout.has_lists:
            self.make("rows", statements.ROWS_FROM_LISTS, **values)
            return
        self._refuse_nameless()
        if keep:
            sql = statements.ROWS_FROM_PAIRS
            self.make("rows_stored", sql, title="Gathering instances", **values)
            self._renamed["rows"] = "rows_stored"
        else:
            self.make("rows", statements.ROWS_FROM_PAIRS, **values)

    def sets(self) -> None:
        """Make ``sets``: the distinct labelsets and how often each occurs."""
        if "sets" in self._done:
            return
        self.rows()
        self.make("raw_sets", statements.RAW_SETS, title="Counting labelsets")
        self.is_regular = not self.number(statements.COUNT_IRREGULAR, title="Checking labelsets")
        if self.is_regular:
            self.make("sets", statements.SETS_AS_SPELLED)
        else:
            self.make("sets", statements.SETS_IN_ONE_SPELLING, title="Comparing labelsets")

    def labels(self) -> tuple[list[Any], Array]:
        """List the labels that occur and how often; make ``ratios`` from the counts."""
        if self._labels is None:
            self.sets()
            self.make("label_counts", statements.LABEL_COUNTS, title="Counting labels")
            sql = "SELECT label, n FROM {label_counts} ORDER BY label"
            found = self.fetch(sql, title="Counting labels")
            counts = column(found, "n").astype(np.int64)
            # The mean is taken here, so that a label on the border falls on the same side as in
            # memory, whatever the order in which an engine adds.
            mean_ir = repr(mean_of_ratios(ratios_from_counts(counts)))
            self.make("ratios", statements.RATIOS, title="Comparing labels", mean_ir=mean_ir)
            self._labels = found.column("label").to_pylist(), counts
        return self._labels

    def scored(self) -> None:
        """Make ``scored``: SCUMBLE of every labelset with labels."""
        self.labels()
        if "scored" in self._done:
            return
        queries = [self.fill(statements.SCORED, sets=part) for part in self.slices("sets")]
        self.table("scored", *queries, title="Scoring labelsets")
        self._done.add("scored")
        if self.is_regular:  # the same labelsets twice would take twice the room
            self.make("sets_scored", statements.SETS_AS_SCORED)
            self._renamed["sets"] = "sets_scored"
            self.drop("raw_sets")

    def slices(self, table: str) -> list[str]:
        """Cut a table with a row for each labelset into pieces, work on which fits into memory."""
        n_sets, name = self.totals()["n_labelsets"], self.name(table)
        n_slices = self.engine.slices(n_sets)
        if n_slices == 1:
            return [name]
        step = -(-n_sets // n_slices)
        within = "(SELECT * FROM {} WHERE set_id > {} AND set_id <= {})"
        return [within.format(name, start, start + step) for start in range(0, n_sets, step)]

    def scored_spellings(self) -> None:
        """Make ``scored_raw``: the scores under every spelling that the data has."""
        self.scored()
        one, several = statements.SCORED_RAW_AS_SPELLED, statements.SCORED_RAW_SPELLINGS
        self.make("scored_raw", one if self.is_regular else several)

    def totals(self) -> dict[str, int]:
        """Add up the labelsets."""
        if self._totals is None:
            self.sets()
            self._totals = self.record(statements.SET_TOTALS, title="Adding up")
        return self._totals

    def _refuse_nameless(self) -> None:
        if "named" in self._done:
            return
        names = [self.layout.dialect.quote(name) for name in self.layout.instances]
        missing = " OR ".join(f"{name} IS NULL" for name in names)
        sql = f"SELECT count(*) AS n FROM {{source}} WHERE {missing}"
        if n_missing := self.number(sql, title="Checking instances"):
            raise ReadError(
                f"{n_missing} rows do not name their instance: {', '.join(self.layout.instances)} "
                "is null. Expected a name in every row; leave these rows out.",
                path=self.where,
            )
        self._done.add("named")
