"""Results on disk: one SQLite file that survives crashes and serves several processes.

A cell is ``pending``, ``running``, ``done`` or ``failed``. Claiming one is a transaction, so two
processes never compute the same cell. A claim names its runner; runners beat every few seconds, and
what a dead one had claimed becomes pending again.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from scumble._core.processes import is_alive, machine, started_at
from scumble._core.version import __version__
from scumble.experiment.cell import Cell, Result, digest
from scumble.experiment.errors import StoreError

#: Marks a SQLite file as ours ("SCMB").
APPLICATION_ID = 0x53434D42
SCHEMA_VERSION = 1
#: A runner on another machine that has not been heard of for so many seconds is taken for dead.
STALE_AFTER = 120.0
BUSY_TIMEOUT = 60.0

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
CREATE TABLE contents (
    place TEXT PRIMARY KEY, stamp TEXT NOT NULL, content TEXT NOT NULL, work REAL NOT NULL
) WITHOUT ROWID;
"""

COLUMNS = (
    "key", "dataset", "resampler", "classifier", "splitter", "seed", "fold", "state", "attempts",
    "began", "ended", "seconds", "megabytes", "reason", "error", "details",
)  # fmt: skip


class Store:
    """A file of results.

    Parameters
    ----------
    path : str or Path
        The file; made if it is not there.
    create : bool
        Whether it may be made.

    Raises
    ------
    StoreError
        If the file is something else, comes from a newer version, or cannot be opened.

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
        try:
            self._connection = sqlite3.connect(
                self.path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise self._failure(error) from error
        try:
            self._open(create)
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up all claims and close the file."""
        try:
            self.retire()
        except StoreError:
            pass  # claims of a runner that has gone are found by others
        self._connection.close()

    # -- writing ---------------------------------------------------------------------------

    def add(self, cells: Iterable[Cell]) -> int:
        """Enter cells that are to be computed; known ones stay as they are.

        Parameters
        ----------
        cells : iterable of Cell
            What a plan asks for.

        Returns
        -------
        int
            How many were new.
        """
        rows = [
            (
                cell.key, cell.dataset.label, cell.resampler.label, cell.classifier.label,
                cell.splitter.label, cell.seed, cell.fold, json.dumps(cell.spec(), sort_keys=True),
            )
            for cell in cells
        ]  # fmt: skip
        with self._transaction() as cursor:
            self._set_aside(cursor, rows)
            before = cursor.execute("SELECT count(*) FROM cells").fetchone()[0]
            cursor.executemany(
                "INSERT INTO cells"
                " (key, dataset, resampler, classifier, splitter, seed, fold, spec)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (key) DO UPDATE SET dataset = excluded.dataset,"
                " resampler = excluded.resampler, classifier = excluded.classifier,"
                " splitter = excluded.splitter",
                rows,
            )
            after = cursor.execute("SELECT count(*) FROM cells").fetchone()[0]
        return int(after - before)

    def _set_aside(self, cursor: sqlite3.Cursor, rows: Sequence[tuple[Any, ...]]) -> None:
        """Rename results of earlier data or code, so that no table mixes them with new ones."""
        wanted = {tuple(row[1:7]): row[0] for row in rows}
        keys = {row[0] for row in rows}
        found = cursor.execute(
            "SELECT key, dataset, resampler, classifier, splitter, seed, fold, spec FROM cells"
        )
        renamed = []
        for key, dataset, *place, spec in found.fetchall():
            if key not in keys and (dataset, *place) in wanted:
                known = json.loads(spec)
                tag = digest([known["content"], known["versions"]])[:6]
                renamed.append((f"{dataset} (earlier {tag})", key))
        cursor.executemany("UPDATE cells SET dataset = ? WHERE key = ?", renamed)

    def want_predictions(self, keys: Sequence[str]) -> int:
        """Make finished cells pending again whose predictions were not kept.

        Parameters
        ----------
        keys : sequence of str
            Which cells.

        Returns
        -------
        int
            How many there were.
        """
        with self._transaction() as cursor:
            cursor.executemany(
                "UPDATE cells SET state = 'pending' WHERE key = ? AND state = 'done'"
                " AND NOT EXISTS (SELECT 1 FROM predictions WHERE predictions.key = cells.key)",
                [(key,) for key in keys],
            )
            return max(0, int(cursor.rowcount))

    def want_scores(self, keys: Sequence[str], name: str) -> int:
        """Make finished cells pending again that have no such score.

        Parameters
        ----------
        keys : sequence of str
            Which cells.
        name : str
            A score that earlier versions did not compute.

        Returns
        -------
        int
            How many there were.
        """
        with self._transaction() as cursor:
            cursor.executemany(
                "UPDATE cells SET state = 'pending' WHERE key = ? AND state = 'done' AND NOT EXISTS"
                " (SELECT 1 FROM scores WHERE scores.key = cells.key AND scores.name = ?)",
                [(key, name) for key in keys],
            )
            return max(0, int(cursor.rowcount))

    def remember_metrics(self, metrics: Sequence[str]) -> None:
        """Keep which metrics tables show first.

        Parameters
        ----------
        metrics : sequence of str
            Those of the plan that was run last.
        """
        with self._transaction() as cursor:
            cursor.execute(
                "INSERT OR REPLACE INTO meta VALUES ('metrics', ?)", (json.dumps(list(metrics)),)
            )

    def register(self) -> None:
        """Enter this process as a runner."""
        with self._transaction() as cursor:
            cursor.execute(
                "INSERT OR REPLACE INTO runners VALUES (?, ?, ?, ?, ?)",
                (self.runner, machine(), os.getpid(), started_at(os.getpid()), time.time()),
            )

    def beat(self) -> None:
        """Tell others that this runner lives."""
        with self._transaction() as cursor:
            cursor.execute(
                "UPDATE runners SET heartbeat = ? WHERE id = ?", (time.time(), self.runner)
            )

    def retire(self) -> None:
        """Give this runner's claims back and forget it."""
        with self._transaction() as cursor:
            cursor.execute(
                "UPDATE cells SET state = 'pending', runner = NULL"
                " WHERE state = 'running' AND runner = ?",
                (self.runner,),
            )
            cursor.execute("DELETE FROM runners WHERE id = ?", (self.runner,))

    def release_stale(self) -> int:
        """Make the claims of dead runners pending again.

        Returns
        -------
        int
            How many cells were set free.
        """
        with self._transaction() as cursor:
            runners = cursor.execute("SELECT id, host, pid, started, heartbeat FROM runners")
            dead = [row[0] for row in runners.fetchall() if _is_dead(*row[1:])]
            for runner in dead:
                cursor.execute("DELETE FROM runners WHERE id = ?", (runner,))
            cursor.execute(
                "UPDATE cells SET state = 'pending', runner = NULL WHERE state = 'running'"
                " AND (runner IS NULL OR runner NOT IN (SELECT id FROM runners))"
            )
            return int(cursor.rowcount)

    def retry_failed(self, keys: Sequence[str]) -> int:
        """Make failed cells pending again.

        Parameters
        ----------
        keys : sequence of str
            Which cells.

        Returns
        -------
        int
            How many had failed.
        """
        with self._transaction() as cursor:
            cursor.executemany(
                "UPDATE cells SET state = 'pending', runner = NULL, reason = NULL, error = NULL"
                " WHERE key = ? AND state = 'failed'",
                [(key,) for key in keys],
            )
            return int(cursor.rowcount)

    def claim(self, keys: Sequence[str]) -> str | None:
        """Take the first pending one of some cells.

        Parameters
        ----------
        keys : sequence of str
            Candidates in order of preference.

        Returns
        -------
        str or None
            The key that is now ours; None if none was free.
        """
        with self._transaction() as cursor:
            for start in range(0, len(keys), 500):
                block = keys[start : start + 500]
                marks = ", ".join("?" * len(block))
                found = cursor.execute(
                    f"SELECT key FROM cells WHERE state = 'pending' AND key IN ({marks})", block
                )
                free = {row[0] for row in found.fetchall()}
                chosen = next((key for key in block if key in free), None)
                if chosen is not None:
                    cursor.execute(
                        "UPDATE cells SET state = 'running', runner = ?, began = ?,"
                        " attempts = attempts + 1 WHERE key = ?",
                        (self.runner, time.time(), chosen),
                    )
                    return str(chosen)
        return None

    def finish(self, key: str, result: Result, *, seconds: float, megabytes: float | None) -> bool:
        """Record what a cell gave, all of it or nothing.

        Parameters
        ----------
        key : str
            Which cell; must be claimed by this runner.
        result : Result
            What it gave.
        seconds, megabytes : float
            What it cost.

        Returns
        -------
        bool
            False if the claim was lost, which only happens to a runner that others took for dead.
        """
        with self._transaction() as cursor:
            cursor.execute(
                "UPDATE cells SET state = 'done', runner = NULL, ended = ?, seconds = ?,"
                " megabytes = ?, reason = NULL, error = NULL, details = ?"
                " WHERE key = ? AND state = 'running' AND runner = ?",
                (
                    time.time(), seconds, megabytes,
                    json.dumps(_plain(dict(result.details)), sort_keys=True), key, self.runner,
                ),
            )  # fmt: skip
            if cursor.rowcount != 1:
                return False
            cursor.execute("DELETE FROM scores WHERE key = ?", (key,))
            cursor.executemany(
                "INSERT INTO scores VALUES (?, ?, ?)",
                [(key, name, _plain(float(value))) for name, value in result.scores.items()],
            )
            if result.predictions is not None:
                cursor.execute(
                    "INSERT OR REPLACE INTO predictions VALUES (?, ?)", (key, result.predictions)
                )
        return True

    def fail(
        self, key: str, reason: str, error: str, *, seconds: float, megabytes: float | None = None
    ) -> bool:
        """Record that a cell could not be computed.

        Parameters
        ----------
        key : str
            Which cell.
        reason : str
            In a word: ``"error"``, ``"time"``, ``"memory"``, ``"crash"``.
        error : str
            What happened.
        seconds, megabytes : float
            What it cost until then.

        Returns
        -------
        bool
            See `finish`.
        """
        with self._transaction() as cursor:
            cursor.execute(
                "UPDATE cells SET state = 'failed', runner = NULL, ended = ?, seconds = ?,"
                " megabytes = ?, reason = ?, error = ?"
                " WHERE key = ? AND state = 'running' AND runner = ?",
                (time.time(), seconds, megabytes, reason, error, key, self.runner),
            )
            return bool(cursor.rowcount == 1)

    def give_back(self, key: str) -> None:
        """Make one of our claims pending again.

        Parameters
        ----------
        key : str
            Which cell.
        """
        with self._transaction() as cursor:
            cursor.execute(
                "UPDATE cells SET state = 'pending', runner = NULL WHERE key = ? AND runner = ?",
                (key, self.runner),
            )

    def remember_content(self, place: str, stamp: str, content: str, work: float) -> None:
        """Keep the checksum of a data set, so that it need not be read to plan.

        Parameters
        ----------
        place : str
            Where it was read, and how.
        stamp : str
            Size and time of the file.
        content : str
            Its checksum.
        work : float
            How much work it makes, for estimates.
        """
        with self._transaction() as cursor:
            cursor.execute(
                "INSERT OR REPLACE INTO contents VALUES (?, ?, ?, ?)", (place, stamp, content, work)
            )

    def remember_facts(self, content: str, facts: Mapping[str, Any]) -> None:
        """Keep what planning needs to know of a data set beside its checksum.

        Parameters
        ----------
        content : str
            Its checksum.
        facts : mapping
            Plain values.
        """
        with self._transaction() as cursor:
            cursor.execute(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)",
                (f"facts of {content}", json.dumps(dict(facts), sort_keys=True)),
            )

    # -- reading ---------------------------------------------------------------------------

    def known_content(self, place: str, stamp: str) -> tuple[str, float] | None:
        """Look up the checksum of a data set whose file has not changed.

        Parameters
        ----------
        place, stamp : str
            See `remember_content`.

        Returns
        -------
        tuple of (str, float), or None
            Checksum and work.
        """
        row = self._read(
            "SELECT content, work FROM contents WHERE place = ? AND stamp = ?", (place, stamp)
        )
        return (str(row[0][0]), float(row[0][1])) if row else None

    def facts(self, content: str) -> dict[str, Any] | None:
        """Look up what was kept of a data set.

        Parameters
        ----------
        content : str
            Its checksum.

        Returns
        -------
        dict or None
            See `remember_facts`.
        """
        row = self._read("SELECT value FROM meta WHERE name = ?", (f"facts of {content}",))
        return dict(json.loads(row[0][0])) if row else None

    def metrics(self) -> tuple[str, ...]:
        """Return the metrics of the plan that was run last.

        Returns
        -------
        tuple of str
            Empty where no plan was run.
        """
        row = self._read("SELECT value FROM meta WHERE name = 'metrics'")
        return tuple(json.loads(row[0][0])) if row else ()

    def counts(self, keys: Iterable[str] | None = None) -> dict[str, int]:
        """Count cells by state.

        Parameters
        ----------
        keys : iterable of str, optional
            Only these; by default all.

        Returns
        -------
        dict
            For ``pending``, ``running``, ``done``, ``failed``.
        """
        counted = dict.fromkeys(("pending", "running", "done", "failed"), 0)
        wanted = None if keys is None else set(keys)
        for key, state in self._read("SELECT key, state FROM cells"):
            if wanted is None or key in wanted:
                counted[state] += 1
        return counted

    def states(self) -> dict[str, str]:
        """Return the state of every cell.

        Returns
        -------
        dict
            From key to state.
        """
        return dict(self._read("SELECT key, state FROM cells"))

    def cells(self) -> list[dict[str, Any]]:
        """Return all cells with what is known of them.

        Returns
        -------
        list of dict
            In a fixed order; ``scores`` is a dict from name to value, NaN where undefined.
        """
        order = "dataset, classifier, resampler, splitter, seed, fold, key"
        rows = self._read(f"SELECT {', '.join(COLUMNS)} FROM cells ORDER BY {order}")
        found = {row[0]: dict(zip(COLUMNS, row, strict=True), scores={}) for row in rows}
        for key, name, value in self._read("SELECT key, name, value FROM scores ORDER BY name"):
            found[key]["scores"][name] = math.nan if value is None else value
        for row in found.values():
            row["details"] = json.loads(row["details"]) if row["details"] else {}
        return list(found.values())

    def predictions(self, key: str) -> bytes | None:
        """Return the archive of a cell's predictions.

        Parameters
        ----------
        key : str
            Which cell.

        Returns
        -------
        bytes or None
            None where they were not kept.
        """
        row = self._read("SELECT archive FROM predictions WHERE key = ?", (key,))
        return row[0][0] if row else None

    # -- the file --------------------------------------------------------------------------

    def _open(self, create: bool) -> None:
        try:
            connection = self._connection
            connection.execute("PRAGMA foreign_keys = ON")
            is_empty = not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if not is_empty:
                self._check_identity()
            elif not create:
                raise StoreError(f"{self.path}: this file is empty. Run a plan first.")
            self._keep_a_log()
            connection.execute("PRAGMA synchronous = NORMAL")
            if is_empty:
                self._create()
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def _keep_a_log(self) -> None:
        """Let readers and a writer work side by side; SQLite itself does not wait here."""
        deadline = time.monotonic() + BUSY_TIMEOUT
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _create(self) -> None:
        with self._transaction() as cursor:
            # Two processes may open a new file at once; the second finds the tables made.
            if cursor.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                return
            for statement in filter(str.strip, SCHEMA.split(";")):
                cursor.execute(statement)
            cursor.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            cursor.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            cursor.execute("INSERT INTO meta VALUES ('made_by', ?)", (f"scumble {__version__}",))

    def _check_identity(self) -> None:
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
                f"knows form {SCHEMA_VERSION}). Nothing was changed: upgrade scumble."
            )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Cursor]:
        """All or nothing, and alone."""
        try:
            with closing(self._connection.cursor()) as cursor:
                cursor.execute("BEGIN IMMEDIATE")
                try:
                    yield cursor
                    cursor.execute("COMMIT")
                except BaseException:
                    if self._connection.in_transaction:
                        cursor.execute("ROLLBACK")
                    raise
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def _read(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def _failure(self, error: sqlite3.Error) -> StoreError:
        text = str(error)
        if "full" in text:
            hint = "The disk is full: free some space and start again; finished cells are safe."
        elif "not a database" in text:
            hint = "This is no store of results: choose another file."
        elif "malformed" in text:
            hint = "The file is damaged: use a copy of it, or start with a new file."
        elif "locked" in text:
            hint = "Another process holds it for too long: stop that one, or wait."
        elif "unable to open" in text or "readonly" in text:
            hint = "Check that the folder exists and may be written to."
        else:
            hint = "Finished cells are safe if the file can be opened again."
        return StoreError(f"{self.path}: {text}. {hint}")


def _is_dead(host: str, pid: int, started: float | None, heartbeat: float) -> bool:
    """Tell whether a runner has gone: surely on this machine, by its silence elsewhere."""
    if host == machine():
        return not is_alive(pid, started)
    return time.time() - heartbeat > STALE_AFTER


def _plain(value: Any) -> Any:
    """Replace NaN, which neither SQLite nor JSON has."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value
