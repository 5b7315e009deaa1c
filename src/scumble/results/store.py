"""The store of results: one SQLite file that survives crashes and is used by several processes.

A cell is ``pending``, ``running``, ``done`` or ``failed``. A *runner* is a process that computes
cells. It *claims* a cell in a transaction, so two runners never compute the same cell. Runners send
a *heartbeat*, the present time, every few seconds; the cells that a dead runner has claimed become
pending again.
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
from pathlib import Path
from typing import Any, NamedTuple

from scumble._core.errors import ScumbleError
from scumble._core.processes import is_alive, machine_id, process_start_time
from scumble._core.version import __version__
from scumble.results.cell import (
    Cell,
    Result,
    digest,
)

#: Marks a SQLite file as a store of scumble ("SCMB").
APPLICATION_ID = 0x53434D42
SCHEMA_VERSION = 1
#: Seconds without a heartbeat after which a runner on another machine counts as dead: twelve times
#: the time between two heartbeats, so that some may be late.
STALE_AFTER = 120.0
#: Seconds to wait for another process that writes to the file; writing takes milliseconds.
BUSY_TIMEOUT = 60.0
#: Cells per query for a pending cell; a query per cell would be slow if other runners have done
#: most.
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

#: The states of a cell.
STATES = ("pending", "running", "done", "failed")
#: Columns that identify a cell in tables. Cells of other data or code may have the same values.
IDENTIFYING_COLUMNS = ("dataset", "resampler", "classifier", "splitter", "seed", "fold")
#: Columns of the table of cells that `Store.cells` returns.
COLUMNS = (
    "key", *IDENTIFYING_COLUMNS, "state", "attempts",
    "began", "ended", "seconds", "megabytes", "reason", "error", "details",
)  # fmt: skip
#: Advice to the user by a phrase in SQLite's error message; the empty phrase is in every message.
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
    scumble.results.store.StoreError: ...results.db: there is no such store. Run a plan first.
    """


class MeanSeconds(NamedTuple):
    """Mean seconds of the done cells of a store."""

    by_method: dict[tuple[str, ...], float]  # by (data set, classifier, resampler)
    by_classifier: dict[tuple[str, ...], float]  # by (data set, classifier)


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
        """Close the file at the end of a ``with`` block."""
        self.close()

    def close(self) -> None:
        """Release the claims of this runner and close the file."""
        with suppress(StoreError):  # other runners release the claims of a dead one
            self.unregister()
        self._connection.close()

    # -- writing ------------------------------------------------------------------------

    def add(self, cells: Iterable[Cell]) -> int:
        """Add cells that are to be computed, and return the number of new ones.

        Cells that are in the store keep their state. Cells of other data or code with the same
        names are renamed, so that no table mixes their results with new ones.
        """
        row_by_key: dict[str, tuple[Any, ...]] = {}
        for cell in cells:
            row_by_key[cell.key] = (
                cell.dataset.label,
                cell.resampler.label,
                cell.classifier.label,
                cell.splitter.label,
                cell.seed,
                cell.fold,
                json.dumps(cell.spec, sort_keys=True),
            )
        new_names = {row[:-1] for row in row_by_key.values()}
        columns = ", ".join(IDENTIFYING_COLUMNS)
        updates = ", ".join(f"{name} = excluded.{name}" for name in IDENTIFYING_COLUMNS[:4])
        with self._transaction() as cursor:
            stored = cursor.execute(f"SELECT key, spec, {columns} FROM cells").fetchall()
            renamed = [
                (f"{names[0]} (earlier {_version_tag(spec)})", key)
                for key, spec, *names in stored
                if key not in row_by_key and tuple(names) in new_names
            ]
            cursor.executemany("UPDATE cells SET dataset = ? WHERE key = ?", renamed)
            cursor.executemany(
                f"INSERT INTO cells (key, {columns}, spec) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                f" ON CONFLICT (key) DO UPDATE SET {updates}",
                [(key, *row) for key, row in row_by_key.items()],
            )
        return len(row_by_key.keys() - {key for key, *_ in stored})

    def requeue_incomplete(self, keys: Sequence[str], *, without_score: str | None = None) -> int:
        """Make the done cells that lack a result pending again, and return their number.

        Of the cells with these keys, they are those without the score named ``without_score``; if
        it is None, those without stored predictions.
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
        """Make the failed ones among the cells with these keys pending; return their number."""
        return self._change(
            "UPDATE cells SET state = 'pending', runner = NULL, reason = NULL, error = NULL"
            " WHERE state = 'failed' AND key IN (SELECT value FROM json_each(?))",
            json.dumps(keys),
        )

    def set_metadata(self, name: str, value: Any) -> None:
        """Store a JSON value under a name, in place of an earlier one."""
        self._change("INSERT OR REPLACE INTO meta VALUES (?, ?)", name, json.dumps(value))

    def register(self) -> None:
        """Add this process to the runners, with the present time as its heartbeat."""
        self._change(
            "INSERT OR REPLACE INTO runners VALUES (?, ?, ?, ?, ?)",
            self.runner, machine_id(), os.getpid(), process_start_time(os.getpid()), time.time(),
        )  # fmt: skip

    def send_heartbeat(self) -> None:
        """Store the present time as heartbeat; add this runner again if others took it for dead."""
        self.register()

    def unregister(self) -> None:
        """Remove this process from the runners; the cells it has claimed become pending again."""
        with self._transaction() as cursor:
            cursor.execute("DELETE FROM runners WHERE id = ?", (self.runner,))
            _release(cursor)

    def release_stale(self) -> int:
        """Remove dead runners, make the cells they claimed pending, and return their number."""
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
        """Claim the first pending one of the cells with these keys, and return its key.

        Its state becomes running. Returns None if no cell is pending.
        """
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
        """Store the result and costs of a cell and make it done; return whether this was possible.

        Returns False, and stores nothing, if this runner has lost its claim, which happens only if
        others took it for dead.
        """
        details = json.dumps(_replace_nan_by_none(dict(result.details)), sort_keys=True)
        scores = _replace_nan_by_none({name: float(value) for name, value in result.scores.items()})
        with self._transaction() as cursor:
            is_claimed = self._end_claim(
                cursor, key, "done", seconds=seconds, megabytes=megabytes, details=details
            )
            if not is_claimed:
                return False
            # Scores that only another plan asked for stay: they were computed from the same data,
            # versions and seeds, because these determine the key.
            rows = [(key, name, value) for name, value in scores.items()]
            cursor.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?, ?)", rows)
            if result.predictions is not None:
                cursor.execute(
                    "INSERT OR REPLACE INTO predictions VALUES (?, ?)", (key, result.predictions)
                )
        return True

    def fail(
        self, key: str, reason: str, error: str, *, seconds: float, megabytes: float | None = None
    ) -> bool:
        """Make a cell failed and store the failure; return whether this was possible, as `finish`.

        ``reason`` and ``error`` are those of the `Outcome`.
        """
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
        """Set the state and costs of a cell, if this runner has claimed it; return whether it has.

        If ``details``, a JSON text, are None, those of an earlier success stay.
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
        """Return the JSON value that is stored under a name; None if there is none."""
        rows = self._read("SELECT value FROM meta WHERE name = ?", name)
        return json.loads(rows[0][0]) if rows else None

    def counts(self) -> dict[str, int]:
        """Return the number of cells in each state."""
        counts = dict(self._read("SELECT state, count(*) FROM cells GROUP BY state"))
        return {state: counts.get(state, 0) for state in STATES}

    def states(self) -> dict[str, str]:
        """Return the state of every cell by its key."""
        return dict(self._read("SELECT key, state FROM cells"))

    def mean_seconds(self) -> MeanSeconds:
        """Return the mean seconds of done cells by data set and method, and by classifier."""

        def means_by(columns: str) -> dict[tuple[str, ...], float]:
            """Return the mean seconds by the values of some columns."""
            rows = self._read(
                f"SELECT {columns}, avg(seconds) FROM cells WHERE state = 'done' GROUP BY {columns}"
            )
            return {tuple(names): seconds for *names, seconds in rows}

        return MeanSeconds(
            by_method=means_by("dataset, classifier, resampler"),
            by_classifier=means_by("dataset, classifier"),
        )

    def cells(self) -> list[dict[str, Any]]:
        """Return all cells as dicts, ordered by their names, seeds and folds.

        The keys are `COLUMNS` and ``scores``, a dict from the name of a score to its value, which
        is NaN where undefined. ``details`` is a dict, which is empty unless the cell was done.
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

    def predictions(self, key: str) -> bytes | None:
        """Return the predictions of a cell as a NumPy archive (npz); None if not stored."""
        rows = self._read("SELECT archive FROM predictions WHERE key = ?", key)
        return rows[0][0] if rows else None

    # -- the file -----------------------------------------------------------------------

    def _open(self, create: bool) -> None:
        """Check and configure the open file, and create the tables if it is empty.

        Raises a StoreError if it is not a store, or if it is empty and ``create`` is False.
        """
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
        """Allow reading while another process writes.

        While other processes hold the file, try again for up to `BUSY_TIMEOUT` seconds: SQLite's
        timeout has no effect on this statement.
        """
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
        """Raise a StoreError if the file is not a store, or a store of a newer version."""
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
        """Yield a cursor whose statements are one transaction, undone if the block raises.

        No other process can write to the file meanwhile.
        """
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
    """Make running cells whose runner is not registered pending, and return their number."""
    cursor.execute(
        "UPDATE cells SET state = 'pending', runner = NULL WHERE state = 'running'"
        " AND (runner IS NULL OR runner NOT IN (SELECT id FROM runners))"
    )
    return int(cursor.rowcount)


def _version_tag(spec: str) -> str:
    """Return six hexadecimal digits, a checksum of data and code in the spec (JSON) of a cell."""
    content = json.loads(spec)
    return digest([content["content"], content["versions"]])[:6]


def _is_dead(host: str, pid: int, started: float | None, heartbeat: float) -> bool:
    """Return whether a runner is dead.

    On this machine it is if its process has ended; ``started`` guards against another process with
    the same ``pid``. On other machines it is if its last ``heartbeat`` is old.
    """
    if host == machine_id():
        return not is_alive(pid, started)
    return time.time() - heartbeat > STALE_AFTER


def _replace_nan_by_none(value: Any) -> Any:
    """Return a JSON value with NaN and infinity, which JSON does not have, replaced by None."""
    return json.loads(json.dumps(value), parse_constant=lambda _: None)
