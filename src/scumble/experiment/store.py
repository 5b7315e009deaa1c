"""The store of results: one SQLite file that survives crashes and is used by several processes.

A cell is ``pending``, ``running``, ``done`` or ``failed``. A runner claims a cell in a transaction,
so two runners never compute the same cell. Runners send a heartbeat every few seconds; the cells
that a dead runner has claimed become pending again.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scumble._core.errors import ScumbleError, did_you_mean
from scumble._core.processes import is_alive, machine_id, process_start_time
from scumble._core.version import __version__
from scumble.experiment.cell import (
    LABEL_COUNTS_KEY,
    Cell,
    PlanError,
    Result,
    digest,
    score_name_error,
)

if TYPE_CHECKING:
    from scumble.evaluate.statistics import ScoreTable

#: Marks a SQLite file as a store of scumble ("SCMB").
APPLICATION_ID = 0x53434D42
SCHEMA_VERSION = 1
#: Seconds without a heartbeat after which a runner on another machine counts as dead.
STALE_AFTER = 120.0
#: Seconds to wait for another process that writes to the file.
BUSY_TIMEOUT = 60.0
#: Cells per query for a pending one; single cells would be slow if other runners have done most.
CELLS_PER_QUERY = 500

SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE runners (
    id TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, started REAL,
    heartbeat REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE cells (
    key TEXT PRIMARY KEY,
    dataset TEXT NOT NULL, resampler TEXT NOT NULL, classifier TEXT NOT NULL,
    splitter TEXT NOT NULL, seed INTEGER NOT NULL, fold INTEGER NOT NULL,
    spec TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'running', 'done', 'failed')),
    runner TEXT, attempts INTEGER NOT NULL DEFAULT 0,
    began REAL, ended REAL, seconds REAL, megabytes REAL,
    reason TEXT, error TEXT, details TEXT
) WITHOUT ROWID;
CREATE INDEX cells_by_state ON cells (state);
CREATE TABLE scores (
    key TEXT NOT NULL REFERENCES cells (key), name TEXT NOT NULL, value REAL,
    PRIMARY KEY (key, name)
) WITHOUT ROWID;
CREATE TABLE predictions (key TEXT PRIMARY KEY REFERENCES cells (key), archive BLOB NOT NULL);
"""

STATES = ("pending", "running", "done", "failed")
#: Columns that identify a cell in tables. Cells of other data or code may have the same values.
IDENTIFYING_COLUMNS = ("dataset", "resampler", "classifier", "splitter", "seed", "fold")
_get_row_and_column = itemgetter("dataset", "splitter", "classifier", "resampler")
COLUMNS = (
    "key", *IDENTIFYING_COLUMNS, "state", "attempts",
    "began", "ended", "seconds", "megabytes", "reason", "error", "details",
)  # fmt: skip
#: What users can do about an error, by a word in SQLite's message.
HINTS = {
    "full": "The disk is full: free some space and start again; finished cells are safe.",
    "not a database": "This is not a store of results: choose another file.",
    "malformed": "The file is damaged: use a copy of it, or start with a new file.",
    "locked": "Another process holds it for too long: stop that one, or wait.",
    "unable to open": "Check that the folder exists and may be written to.",
    "readonly": "Check that the folder exists and may be written to.",
    "": "Finished cells are safe if the file can be opened again.",
}


class StoreError(ScumbleError):
    """A store of results cannot be opened, read or written.

    Examples
    --------
    >>> from scumble.experiment import Store
    >>> Store("no-such-folder/results.db", create=False)
    Traceback (most recent call last):
        ...
    scumble.experiment.store.StoreError: ...results.db: there is no such store. Run a plan first.
    """


class Store(AbstractContextManager["Store"]):
    """A file of results.

    Parameters
    ----------
    path : str or Path
        The file, which is created if it does not exist.
    create : bool
        Whether the file may be created.

    Raises
    ------
    StoreError
        If the file is not a store, is from a newer version, or cannot be opened.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from scumble.experiment import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(pathlib.Path(folder) / "results.db") as store:
    ...         store.counts()
    {'pending': 0, 'running': 0, 'done': 0, 'failed': 0}
    """

    def __init__(self, path: str | os.PathLike[str], *, create: bool = True) -> None:
        self.path = Path(path)
        if not self.path.exists() and not create:
            raise StoreError(f"{self.path}: there is no such store. Run a plan first.")
        self.runner = uuid.uuid4().hex
        with self._translate_errors():
            self._connection = sqlite3.connect(
                self.path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False
            )
            try:
                self._open(create)
            except BaseException:
                self._connection.close()
                raise

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release all claims and close the file."""
        with suppress(StoreError):  # other runners release the claims of a dead one
            self.unregister()
        self._connection.close()

    # -- writing ------------------------------------------------------------------------

    def add(self, cells: Iterable[Cell]) -> int:
        """Add cells that are to be computed, and return the number of new ones.

        Cells that are in the store keep their state. Cells of other data or code with the same
        names are renamed, so that no table mixes their results with new ones.
        """
        rows: dict[str, tuple[Any, ...]] = {}
        for cell in cells:
            rows[cell.key] = (
                cell.dataset.label,
                cell.resampler.label,
                cell.classifier.label,
                cell.splitter.label,
                cell.seed,
                cell.fold,
                json.dumps(cell.spec, sort_keys=True),
            )
        new_names = {row[:-1] for row in rows.values()}
        columns = ", ".join(IDENTIFYING_COLUMNS)
        updates = ", ".join(f"{name} = excluded.{name}" for name in IDENTIFYING_COLUMNS[:4])
        with self._transaction() as cursor:
            stored = cursor.execute(f"SELECT key, spec, {columns} FROM cells").fetchall()
            renamed = [
                (f"{names[0]} (earlier {_version_tag(spec)})", key)
                for key, spec, *names in stored
                if key not in rows and tuple(names) in new_names
            ]
            cursor.executemany("UPDATE cells SET dataset = ? WHERE key = ?", renamed)
            cursor.executemany(
                f"INSERT INTO cells (key, {columns}, spec) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                f" ON CONFLICT (key) DO UPDATE SET {updates}",
                [(key, *row) for key, row in rows.items()],
            )
        return len(rows.keys() - {key for key, *_ in stored})

    def requeue_incomplete(self, keys: Sequence[str], *, without_score: str | None = None) -> int:
        """Make finished cells without a score pending again, and return their number.

        Without ``without_score``, these are the cells without stored predictions.
        """
        values = [json.dumps(keys)]
        if without_score is None:
            stored = "SELECT 1 FROM predictions WHERE predictions.key = cells.key"
        else:
            stored = "SELECT 1 FROM scores WHERE scores.key = cells.key AND scores.name = ?"
            values.append(without_score)
        return self._change(
            "UPDATE cells SET state = 'pending' WHERE state = 'done'"
            f" AND key IN (SELECT value FROM json_each(?)) AND NOT EXISTS ({stored})",
            *values,
        )

    def retry_failed(self, keys: Sequence[str]) -> int:
        """Make failed cells pending again, and return their number."""
        return self._change(
            "UPDATE cells SET state = 'pending', runner = NULL, reason = NULL, error = NULL"
            " WHERE state = 'failed' AND key IN (SELECT value FROM json_each(?))",
            json.dumps(keys),
        )

    def set_metadata(self, name: str, value: Any) -> None:
        """Store a plain value under a name."""
        self._change("INSERT OR REPLACE INTO meta VALUES (?, ?)", name, json.dumps(value))

    def register(self) -> None:
        """Add this process to the runners, with the present time as its heartbeat."""
        self._change(
            "INSERT OR REPLACE INTO runners VALUES (?, ?, ?, ?, ?)",
            self.runner, machine_id(), os.getpid(), process_start_time(os.getpid()), time.time(),
        )  # fmt: skip

    def send_heartbeat(self) -> None:
        """Store a heartbeat of this runner, which is added again if others took it for dead."""
        self.register()

    def unregister(self) -> None:
        """Release the claims of this runner and remove it from the runners."""
        with self._transaction() as cursor:
            cursor.execute("DELETE FROM runners WHERE id = ?", (self.runner,))
            _release(cursor)

    def release_stale(self) -> int:
        """Make the cells that dead runners have claimed pending again, and return their number."""
        with self._transaction() as cursor:
            runners = cursor.execute("SELECT id, host, pid, started, heartbeat FROM runners")
            dead = [
                (runner,)
                for runner, host, pid, started, heartbeat in runners.fetchall()
                if _is_dead(host, pid, started, heartbeat)
            ]
            cursor.executemany("DELETE FROM runners WHERE id = ?", dead)
            return _release(cursor)

    def claim(self, keys: Sequence[str]) -> str | None:
        """Claim the first of the cells that is pending, and return its key; None if none is."""
        with self._transaction() as cursor:
            for start in range(0, len(keys), CELLS_PER_QUERY):
                row = cursor.execute(
                    "SELECT candidates.value FROM json_each(?) AS candidates JOIN cells"
                    " ON cells.key = candidates.value WHERE state = 'pending'"
                    " ORDER BY candidates.key",
                    (json.dumps(keys[start : start + CELLS_PER_QUERY]),),
                ).fetchone()
                if row is not None:
                    key = str(row[0])
                    cursor.execute(
                        "UPDATE cells SET state = 'running', runner = ?, began = ?,"
                        " attempts = attempts + 1 WHERE key = ?",
                        (self.runner, time.time(), key),
                    )
                    return key
        return None

    def finish(self, key: str, result: Result, *, seconds: float, megabytes: float | None) -> bool:
        """Store the result of a cell, all of it or nothing.

        Returns False if the claim was lost, which happens only to a runner that others took for
        dead.
        """
        details = json.dumps(_to_plain_values(dict(result.details)), sort_keys=True)
        scores = _to_plain_values({name: float(value) for name, value in result.scores.items()})
        with self._transaction() as cursor:
            is_claimed = self._end_claim(
                cursor, key, "done", seconds=seconds, megabytes=megabytes, details=details
            )
            if not is_claimed:
                return False
            cursor.execute("DELETE FROM scores WHERE key = ?", (key,))
            rows = [(key, name, value) for name, value in scores.items()]
            cursor.executemany("INSERT INTO scores VALUES (?, ?, ?)", rows)
            if result.predictions is not None:
                cursor.execute(
                    "INSERT OR REPLACE INTO predictions VALUES (?, ?)", (key, result.predictions)
                )
        return True

    def fail(
        self, key: str, reason: str, error: str, *, seconds: float, megabytes: float | None = None
    ) -> bool:
        """Store that a cell has failed, with a word as the reason and the error; see `finish`."""
        with self._transaction() as cursor:
            return self._end_claim(
                cursor,
                key,
                "failed",
                seconds=seconds,
                megabytes=megabytes,
                reason=reason,
                error=error,
            )

    def _end_claim(
        self,
        cursor: sqlite3.Cursor,
        key: str,
        state: str,
        *,
        seconds: float,
        megabytes: float | None,
        reason: str | None = None,
        error: str | None = None,
        details: str | None = None,
    ) -> bool:
        """Set the state of a cell that this runner has claimed; return False if it has not.

        A failed cell keeps the details of an earlier success.
        """
        cursor.execute(
            "UPDATE cells SET state = ?, runner = NULL, ended = ?, seconds = ?, megabytes = ?,"
            " reason = ?, error = ?, details = coalesce(?, details)"
            " WHERE key = ? AND state = 'running' AND runner = ?",
            (
                state,
                time.time(),
                seconds,
                megabytes,
                reason,
                error,
                details,
                key,
                self.runner,
            ),
        )
        return cursor.rowcount == 1

    # -- reading ------------------------------------------------------------------------

    def get_metadata(self, name: str) -> Any:
        """Return the value that is stored under a name, or None."""
        rows = self._read("SELECT value FROM meta WHERE name = ?", name)
        return json.loads(rows[0][0]) if rows else None

    def counts(self) -> dict[str, int]:
        """Return the number of cells in each state."""
        counts = dict(self._read("SELECT state, count(*) FROM cells GROUP BY state"))
        return {state: counts.get(state, 0) for state in STATES}

    def states(self) -> dict[str, str]:
        """Return the state of every cell by its key."""
        return dict(self._read("SELECT key, state FROM cells"))

    def mean_seconds(self) -> tuple[dict[tuple[str, ...], float], ...]:
        """Return the mean seconds of finished cells.

        The first dict has the means by (data set, classifier, resampler), the second one by
        (data set, classifier).
        """

        def means_by(columns: str) -> dict[tuple[str, ...], float]:
            rows = self._read(
                f"SELECT {columns}, avg(seconds) FROM cells WHERE state = 'done' GROUP BY {columns}"
            )
            return {tuple(names): seconds for *names, seconds in rows}

        return means_by("dataset, classifier, resampler"), means_by("dataset, classifier")

    def cells(self) -> list[dict[str, Any]]:
        """Return all cells as dicts, in a fixed order.

        Each has ``scores``, a dict from name to value, which is NaN where undefined.
        """
        order = "dataset, classifier, resampler, splitter, seed, fold, key"
        rows = self._read(f"SELECT {', '.join(COLUMNS)} FROM cells ORDER BY {order}")
        cells = {}
        for row in rows:
            cell: dict[str, Any] = dict(zip(COLUMNS, row, strict=True), scores={})
            cell["details"] = json.loads(cell["details"] or "{}")
            cells[cell["key"]] = cell
        for key, name, value in self._read("SELECT key, name, value FROM scores ORDER BY name"):
            cells[key]["scores"][name] = math.nan if value is None else value
        return list(cells.values())

    def __scumble_scores__(self, metric: str | None = None) -> ScoreTable:
        """Return the table of one metric, for the statistics of `scumble.evaluate`."""
        metrics = [metric] if metric is not None else self.get_metadata("metrics") or []
        if len(metrics) != 1:
            hint = f" The plan names {', '.join(metrics)}." if metrics else ""
            raise StoreError(f"{self.path}: say which metric, metric=...{hint}")
        return score_table_from_cells(self.cells(), metrics[0])

    def predictions(self, key: str) -> bytes | None:
        """Return the archive of a cell's predictions; None if they are not stored."""
        rows = self._read("SELECT archive FROM predictions WHERE key = ?", key)
        return rows[0][0] if rows else None

    # -- the file -----------------------------------------------------------------------

    def _open(self, create: bool) -> None:
        """Check the file, and create the tables if it is empty."""
        connection = self._connection
        connection.execute("PRAGMA foreign_keys = ON")
        is_empty = not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not is_empty:
            self._check_identity()
        elif not create:
            raise StoreError(f"{self.path}: this file is empty. Run a plan first.")
        self._enable_write_ahead_log()
        connection.execute("PRAGMA synchronous = NORMAL")
        if is_empty:
            self._create_tables()

    def _enable_write_ahead_log(self) -> None:
        """Allow reading while another process writes; SQLite's timeout has no effect here."""
        deadline = time.monotonic() + BUSY_TIMEOUT
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _create_tables(self) -> None:
        """Create the tables of a new file."""
        with self._transaction() as cursor:
            # Two processes may open a new file at the same time; the first creates the tables.
            if cursor.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                return
            for statement in filter(str.strip, SCHEMA.split(";")):
                cursor.execute(statement)
            cursor.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            cursor.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            cursor.execute("INSERT INTO meta VALUES ('made_by', ?)", (f"scumble {__version__}",))

    def _check_identity(self) -> None:
        """Raise an error if the file is not a store, or one of a newer version."""
        (identity,) = self._connection.execute("PRAGMA application_id").fetchone()
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if identity != APPLICATION_ID:
            raise StoreError(
                f"{self.path}: this is a database of another program. "
                "Expected a store of scumble: choose another file."
            )
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"{self.path}: this store comes from a newer scumble (form {version}; this one "
                f"reads form {SCHEMA_VERSION}). Nothing was changed: upgrade scumble."
            )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Cursor]:
        """Execute statements in a transaction, which no other process can interrupt."""
        with self._translate_errors(), closing(self._connection.cursor()) as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            try:
                yield cursor
                cursor.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    cursor.execute("ROLLBACK")
                raise

    def _change(self, statement: str, *values: Any) -> int:
        """Execute one statement and return the number of rows that it changed."""
        with self._transaction() as cursor:
            return int(cursor.execute(statement, values).rowcount)

    def _read(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Execute one query and return its rows."""
        with self._translate_errors():
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Turn errors of SQLite into a `StoreError` with a hint."""
        try:
            yield
        except sqlite3.Error as error:
            hint = next(hint for word, hint in HINTS.items() if word in str(error))
            raise StoreError(f"{self.path}: {error}. {hint}") from error


def _release(cursor: sqlite3.Cursor) -> int:
    """Make the cells that are claimed by no runner pending again, and return their number."""
    cursor.execute(
        "UPDATE cells SET state = 'pending', runner = NULL WHERE state = 'running'"
        " AND (runner IS NULL OR runner NOT IN (SELECT id FROM runners))"
    )
    return int(cursor.rowcount)


def _version_tag(spec: str) -> str:
    """Return a short checksum of the data and code of a cell."""
    content = json.loads(spec)
    return digest([content["content"], content["versions"]])[:6]


def _is_dead(host: str, pid: int, started: float | None, heartbeat: float) -> bool:
    """Return whether a runner's process has ended or, on other machines, sends no heartbeats."""
    if host == machine_id():
        return not is_alive(pid, started)
    return time.time() - heartbeat > STALE_AFTER


def _to_plain_values(value: Any) -> Any:
    """Replace NaN and infinity, which SQLite and JSON do not have, by None."""
    return json.loads(json.dumps(value), parse_constant=lambda _: None)


def score_table_from_cells(cells: Iterable[dict[str, Any]], metric: str) -> ScoreTable:
    """Return a table of the means of a metric over folds and seeds, or of a pooled metric."""
    from scumble.evaluate.statistics.score_table import build_score_table

    done = [cell for cell in cells if cell["state"] == "done"]
    groups: dict[tuple[str, str, str, str], list[dict[str, Any]]] = {}
    for cell in done:
        groups.setdefault(_get_row_and_column(cell), []).append(cell)
    if metric.startswith("pooled."):
        with_counts = [cell for cell in done if LABEL_COUNTS_KEY in cell["details"]]
        _check_metric(metric, sorted(_pooled_scores(with_counts[:1])))
        values = {
            key: [_pooled_scores(group).get(metric, math.nan)] for key, group in groups.items()
        }
    else:
        names = set[str]().union(*(cell["scores"] for cell in done))
        _check_metric(metric, sorted(names))
        values = {
            key: [cell["scores"].get(metric, math.nan) for cell in group]
            for key, group in groups.items()
        }
    n_cells = {key: len(group) for key, group in groups.items()}
    return build_score_table(metric, values, n_cells)


def _check_metric(metric: str, names: Sequence[str]) -> None:
    """Raise an error if no cell has a metric."""
    if metric in names:
        return
    hint = ""
    if score_name_error(metric) is None:
        hint = " Cells that an earlier version computed lack it: run a plan that names it."
    raise PlanError(
        f"No finished cell has a value {metric!r}.{did_you_mean(metric, names)} "
        f"There are: {', '.join(names) or 'none'}.{hint}"
    )


def _pooled_scores(cells: list[dict[str, Any]]) -> dict[str, float]:
    """Return the pooled metrics of some cells; cells of earlier versions have no label counts."""
    from scumble.evaluate.model_selection.folds import LabelCounts, pooled_metrics

    counts = [
        LabelCounts.from_dict(cell["details"][LABEL_COUNTS_KEY])
        for cell in cells
        if LABEL_COUNTS_KEY in cell["details"]
    ]
    if not counts:
        return {}
    return {f"pooled.{name}": value for name, value in pooled_metrics(counts).items()}
