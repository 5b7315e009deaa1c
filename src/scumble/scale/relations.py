"""Results with one row per instance or labelset: they stay with the engine until asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble.scale import statements
from scumble.scale.labelset_tables import LabelsetTables
from scumble.scale.workspace import column


class InstanceScores:
    r"""SCUMBLE of every instance, computed when it is asked for.

    ``len(scores)`` costs nothing; ``numpy.asarray(scores)`` and `to_arrow` fetch all of them.

    Parameters
    ----------
    tables : LabelsetTables
        The tables of the input.
    n_rows : int
        Number of instances.

    Examples
    --------
    >>> import numpy, pathlib, scumble, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "films.csv"
    >>> _ = path.write_text("instance,label\n1,war\n2,war\n2,love\n")
    >>> with scumble.scan(path) as films:
    ...     scores = scumble.characterize(films).scumble_by_instance
    ...     len(scores), numpy.asarray(scores).round(3)
    (2, array([0.   , 0.057]))
    """

    def __init__(self, tables: LabelsetTables, n_rows: int) -> None:
        self._tables, self._n_rows = tables, n_rows

    def __repr__(self) -> str:
        return f"<InstanceScores: {self._n_rows:,} instances, to_arrow() fetches them>"

    def __len__(self) -> int:
        return self._n_rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Fetch the scores, in the order of the instances' names where they have any."""
        values = column(self.to_arrow(), "score")
        return values if dtype is None else values.astype(dtype)

    def sql(self) -> str:
        """Return the query that computes them.

        Returns
        -------
        str
            A SELECT for the engine of the scan: the instance columns and ``score``.
        """
        tables = self._tables
        tables.rows()
        tables.scored_spellings()
        return tables.fill(statements.INSTANCE_SCORES, ids_first_r=tables.layout.ids_first("r."))

    def to_arrow(self) -> Any:
        """Fetch the scores.

        Returns
        -------
        pyarrow.Table
            The instance columns, if there are any, and ``score``; sorted by instance. Without
            instance columns the order of the rows says nothing.
        """
        layout = self._tables.layout
        order = f" ORDER BY {layout.ids('r.')}" if layout.instances else ""
        return self._tables.engine.query(self.sql() + order, title="Scoring instances")


class LabelsetRelation:
    r"""The distinct labelsets: numbers at once, the sets themselves on demand.

    Parameters
    ----------
    tables : LabelsetTables
        The tables of the input.
    totals : dict of str to int
        From `LabelsetTables.totals`.

    Examples
    --------
    >>> import pathlib, scumble, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "films.csv"
    >>> _ = path.write_text("instance,label\n1,war\n2,war\n2,love\n3,war\n")
    >>> with scumble.scan(path) as films:
    ...     labelsets = scumble.characterize(films).labelsets
    ...     len(labelsets), labelsets.head(1).to_pylist()
    (2, [{'labels': ['war'], 'n': 2}])
    """

    def __init__(self, tables: LabelsetTables, totals: dict[str, int]) -> None:
        self._tables, self._totals = tables, totals

    def __repr__(self) -> str:
        return f"<LabelsetRelation: {len(self):,} labelsets, head() fetches the most frequent>"

    def __len__(self) -> int:
        return self._totals["n_labelsets"]

    @property
    def n_single(self) -> int:
        """Number of labelsets that occur once."""
        return self._totals["n_single_labelsets"]

    @property
    def max_count(self) -> int:
        """Instances of the most frequent labelset."""
        return self._totals["max_labelset_count"]

    @property
    def counts(self) -> Array:
        """How often each labelset occurs, most frequent first; fetched from the engine."""
        return column(self.head(len(self)), "n").astype(np.int64)

    def head(self, n: int = 20) -> Any:
        """Fetch the most frequent labelsets.

        Parameters
        ----------
        n : int
            How many to fetch.

        Returns
        -------
        pyarrow.Table
            Columns ``labels`` and ``n``; ties in the order of the labels.
        """
        sql = statements.FREQUENT_SETS
        return self._tables.fetch(sql, title="Sorting labelsets", limit=int(n))
