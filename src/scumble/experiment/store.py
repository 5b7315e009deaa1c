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

#: Marks a SQLite file as ours ("SCMB").
APPLICATION_ID = 0x53434D42
SCHEMA_VERSION = 1
#: A runner on another machine that has not been heard of for so many seconds is taken for dead.
STALE_AFTER = 120.0
BUSY_TIMEOUT = 60.0
#: Cells asked about at once; one by one, claims take long where other runners have done most.
LOOKED_AT = 500

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
#: What a cell is called in tables; the same place may hold cells of earlier data or code.
IDENTIFYING_COLUMNS = ("dataset", "resampler", "classifier", "splitter", "seed", "fold")
_place_of = itemgetter("dataset", "splitter", "classifier", "resampler")
COLUMNS = (
    "key", *IDENTIFYING_COLUMNS, "state", "attempts",
    "began", "ended", "seconds", "megabytes", "reason", "error", "details",
)  # fmt: skip
#: What to do about a fault, by a word in SQLite's message.
HINTS = {
    "full": "The disk is full: free some space and start again; finished cells are safe.",
    "not a database": "This is no store of results: choose another file.",
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
        with self._explained():
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
        """Give up all claims and close the file."""
        with suppress(StoreError):  # claims of a runner that has gone are found by others
            self.unregister()
        self._connection.close()

    # -- writing ---------------------------------------------------------------------------

    def add(self, cells: Iterable[Cell]) -> int:
        """Enter cells that are to be computed and count the new ones; known ones keep their state.

        Cells of earlier data or code that stand in the same place are renamed, so that no table
        mixes their results with new ones.
        """
        rows: dict[str, tuple[Any, ...]] = {}
        for cell in cells:
            labels = (getattr(cell, kind).label for kind in IDENTIFYING_COLUMNS[:4])
            rows[cell.key] = (*labels, cell.seed, cell.fold, json.dumps(cell.spec, sort_keys=True))
        places = {row[:-1] for row in rows.values()}
        with self._transaction() as cursor:
            known = cursor.execute(
                f"SELECT key, spec, {', '.join(IDENTIFYING_COLUMNS)} FROM cells"
            ).fetchall()
            renamed = [
                (f"{place[0]} (earlier {_tag(spec)})", key)
                for key, spec, *place in known
                if key not in rows and tuple(place) in places
            ]
            cursor.executemany("UPDATE cells SET dataset = ? WHERE key = ?", renamed)
            newer = ", ".join(f"{name} = excluded.{name}" for name in IDENTIFYING_COLUMNS[:4])
            cursor.executemany(
                f"INSERT INTO cells (key, {', '.join(IDENTIFYING_COLUMNS)}, spec) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                f" ON CONFLICT (key) DO UPDATE SET {newer}",
                [(key, *row) for key, row in rows.items()],
            )
        return len(rows.keys() - {key for key, *_ in known})

    def requeue_incomplete(self, keys: Sequence[str], *, without_score: str | None = None) -> int:
        """Make finished cells pending again that lack a score, or their predictions; count them."""
        lacking = "SELECT 1 FROM predictions WHERE predictions.key = cells.key"
        if without_score is not None:
            lacking = "SELECT 1 FROM scores WHERE scores.key = cells.key AND scores.name = ?"
        return self._change(
            "UPDATE cells SET state = 'pending' WHERE state = 'done'"
            f" AND key IN (SELECT value FROM json_each(?)) AND NOT EXISTS ({lacking})",
            json.dumps(keys),
            *([] if without_score is None else [without_score]),
        )

    def retry_failed(self, keys: Sequence[str]) -> int:
        """Make failed cells pending again, and count them."""
        return self._change(
            "UPDATE cells SET state = 'pending', runner = NULL, reason = NULL, error = NULL"
            " WHERE state = 'failed' AND key IN (SELECT value FROM json_each(?))",
            json.dumps(keys),
        )

    def set_metadata(self, name: str, value: Any) -> None:
        """Keep a plain value under a name."""
        self._change("INSERT OR REPLACE INTO meta VALUES (?, ?)", name, json.dumps(value))

    def register(self) -> None:
        """Enter this process as a runner."""
        self._change(
            "INSERT OR REPLACE INTO runners VALUES (?, ?, ?, ?, ?)",
            self.runner, machine_id(), os.getpid(), process_start_time(os.getpid()), time.time(),
        )  # fmt: skip

    def send_heartbeat(self) -> None:
        """Tell others that this runner lives, also those that took it for dead."""
        self.register()

    def unregister(self) -> None:
        """Give this runner's claims back and forget it."""
        with self._transaction() as cursor:
            cursor.execute("DELETE FROM runners WHERE id = ?", (self.runner,))
            _release(cursor)

    def release_stale(self) -> int:
        """Make the claims of dead runners pending again, and count them."""
        with self._transaction() as cursor:
            runners = cursor.execute("SELECT id, host, pid, started, heartbeat FROM runners")
            dead = [row[:1] for row in runners.fetchall() if _is_dead(*row[1:])]
            cursor.executemany("DELETE FROM runners WHERE id = ?", dead)
            return _release(cursor)

    def claim(self, keys: Sequence[str]) -> str | None:
        """Take the first cell that is pending, in the order given; None if none is free."""
        with self._transaction() as cursor:
            for start in range(0, len(keys), LOOKED_AT):
                found = cursor.execute(
                    "SELECT wanted.value FROM json_each(?) AS wanted JOIN cells"
                    " ON cells.key = wanted.value WHERE state = 'pending' ORDER BY wanted.key",
                    (json.dumps(keys[start : start + LOOKED_AT]),),
                ).fetchone()
                if found is not None:
                    cursor.execute(
                        "UPDATE cells SET state = 'running', runner = ?, began = ?,"
                        " attempts = attempts + 1 WHERE key = ?",
                        (self.runner, time.time(), *found),
                    )
                    return str(found[0])
        return None

    def finish(self, key: str, result: Result, *, seconds: float, megabytes: float | None) -> bool:
        """Record what a cell gave, all of it or nothing.

        Returns False if the claim was lost, which only happens to a runner that others took for
        dead.
        """
        details = json.dumps(_plain(dict(result.details)), sort_keys=True)
        scores = _plain({name: float(value) for name, value in result.scores.items()})
        with self._transaction() as cursor:
            if not self._end(cursor, key, "done", (seconds, megabytes, None, None, details)):
                return False
            cursor.execute("DELETE FROM scores WHERE key = ?", (key,))
            rows = [(key, *score) for score in scores.items()]
            cursor.executemany("INSERT INTO scores VALUES (?, ?, ?)", rows)
            if result.predictions is not None:
                archive = (key, result.predictions)
                cursor.execute("INSERT OR REPLACE INTO predictions VALUES (?, ?)", archive)
        return True

    def fail(
        self, key: str, reason: str, error: str, *, seconds: float, megabytes: float | None = None
    ) -> bool:
        """Record why a cell could not be computed, in a word and in full; see `finish`."""
        with self._transaction() as cursor:
            return self._end(cursor, key, "failed", (seconds, megabytes, reason, error, None))

    def _end(self, cursor: sqlite3.Cursor, key: str, state: str, values: Sequence[Any]) -> bool:
        """End one of our claims; a failure keeps the details of an earlier success."""
        cursor.execute(
            "UPDATE cells SET state = ?, runner = NULL, ended = ?, seconds = ?, megabytes = ?,"
            " reason = ?, error = ?, details = coalesce(?, details)"
            " WHERE key = ? AND state = 'running' AND runner = ?",
            (state, time.time(), *values, key, self.runner),
        )
        return cursor.rowcount == 1

    # -- reading ---------------------------------------------------------------------------

    def get_metadata(self, name: str) -> Any:
        """Return what is kept under a name, or None."""
        row = self._read("SELECT value FROM meta WHERE name = ?", name)
        return json.loads(row[0][0]) if row else None

    def counts(self) -> dict[str, int]:
        """Count cells by state."""
        counted = dict(self._read("SELECT state, count(*) FROM cells GROUP BY state"))
        return {state: counted.get(state, 0) for state in STATES}

    def states(self) -> dict[str, str]:
        """Return the state of every cell by its key."""
        return dict(self._read("SELECT key, state FROM cells"))

    def mean_seconds(self) -> tuple[dict[tuple[str, ...], float], ...]:
        """Average the time of finished cells by data set, classifier and resampler, and without it.

        Returns a dict from (data set, classifier, resampler) and one from (data set, classifier).
        """

        def means(by: str) -> dict[tuple[str, ...], float]:
            query = f"SELECT {by}, avg(seconds) FROM cells WHERE state = 'done' GROUP BY {by}"
            return {tuple(place): seconds for *place, seconds in self._read(query)}

        return means("dataset, classifier, resampler"), means("dataset, classifier")

    def cells(self) -> list[dict[str, Any]]:
        """Return all cells with what is known of them, in a fixed order.

        Each is a dict; its ``scores`` is a dict from name to value, NaN where undefined.
        """
        order = "dataset, classifier, resampler, splitter, seed, fold, key"
        rows = self._read(f"SELECT {', '.join(COLUMNS)} FROM cells ORDER BY {order}")
        found = {row[0]: dict(zip(COLUMNS, row, strict=True), scores={}) for row in rows}
        for key, name, value in self._read("SELECT key, name, value FROM scores ORDER BY name"):
            found[key]["scores"][name] = math.nan if value is None else value
        for row in found.values():
            row["details"] = json.loads(row["details"] or "{}")
        return list(found.values())

    def __scumble_scores__(self, metric: str | None = None) -> ScoreTable:
        """Give the statistics of `scumble.evaluate` a table of one metric."""
        asked = [metric] if metric is not None else self.get_metadata("metrics") or []
        if len(asked) != 1:
            planned = f" The plan names {', '.join(asked)}." if asked else ""
            raise StoreError(f"{self.path}: say which metric, metric=...{planned}")
        return score_table_from_cells(self.cells(), asked[0])

    def predictions(self, key: str) -> bytes | None:
        """Return the archive of a cell's predictions; None where they were not kept."""
        row = self._read("SELECT archive FROM predictions WHERE key = ?", key)
        return row[0][0] if row else None

    # -- the file --------------------------------------------------------------------------

    def _open(self, create: bool) -> None:
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
        with self._explained(), closing(self._connection.cursor()) as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            try:
                yield cursor
                cursor.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    cursor.execute("ROLLBACK")
                raise

    def _change(self, statement: str, *values: Any) -> int:
        """Execute one statement and count the rows it changed."""
        with self._transaction() as cursor:
            return int(cursor.execute(statement, values).rowcount)

    def _read(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._explained():
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say what to do about a fault of SQLite's."""
        try:
            yield
        except sqlite3.Error as error:
            hint = next(hint for word, hint in HINTS.items() if word in str(error))
            raise StoreError(f"{self.path}: {error}. {hint}") from error


def _release(cursor: sqlite3.Cursor) -> int:
    """Make the claims of runners that are not known pending again, and count them."""
    cursor.execute(
        "UPDATE cells SET state = 'pending', runner = NULL WHERE state = 'running'"
        " AND (runner IS NULL OR runner NOT IN (SELECT id FROM runners))"
    )
    return int(cursor.rowcount)


def _tag(spec: str) -> str:
    """Tell results of other data or code apart in a few letters."""
    known = json.loads(spec)
    return digest([known["content"], known["versions"]])[:6]


def _is_dead(host: str, pid: int, started: float | None, heartbeat: float) -> bool:
    """Tell whether a runner has gone: surely on this machine, by its silence elsewhere."""
    if host == machine_id():
        return not is_alive(pid, started)
    return time.time() - heartbeat > STALE_AFTER


def _plain(value: Any) -> Any:
    """Replace NaN and infinity, which neither SQLite nor JSON has."""
    return json.loads(json.dumps(value), parse_constant=lambda _: None)


def score_table_from_cells(cells: Iterable[dict[str, Any]], metric: str) -> ScoreTable:
    """Average a metric over folds and seeds, or pool it."""
    from scumble.evaluate.statistics.score_table import build_score_table

    done = [cell for cell in cells if cell["state"] == "done"]
    names = {name for cell in done for name in cell["scores"]}
    if metric.startswith("pooled."):
        names = set(_pooled([cell for cell in done if LABEL_COUNTS_KEY in cell["details"]][:1]))
    _refuse_absent(metric, sorted(names))
    places: dict[tuple[str, str, str, str], list[dict[str, Any]]] = {}
    for cell in done:
        places.setdefault(_place_of(cell), []).append(cell)
    values = {place: _values(found, metric) for place, found in places.items()}
    return build_score_table(metric, values, {place: len(found) for place, found in places.items()})


def _values(cells: list[dict[str, Any]], metric: str) -> list[float]:
    """Return the value of every cell, or the one of all of them where it is pooled."""
    pooled = metric.startswith("pooled.")
    scores = [_pooled(cells)] if pooled else [cell["scores"] for cell in cells]
    return [one.get(metric, math.nan) for one in scores]


def _refuse_absent(metric: str, names: Sequence[str]) -> None:
    if metric in names:
        return
    hint = ""
    if score_name_error(metric) is None:
        hint = " Cells that an earlier version computed lack it: run a plan that names it."
    raise PlanError(
        f"No finished cell has a value {metric!r}.{did_you_mean(metric, names)} "
        f"There are: {', '.join(names) or 'none'}.{hint}"
    )


def _pooled(cells: list[dict[str, Any]]) -> dict[str, float]:
    """Add up what the folds and seeds of one place counted; cells of earlier versions have none."""
    from scumble.evaluate.folds import LabelCounts, pooled_metrics

    counts = [
        cell["details"][LABEL_COUNTS_KEY] for cell in cells if LABEL_COUNTS_KEY in cell["details"]
    ]
    if not counts:
        return {}
    found = pooled_metrics(LabelCounts.from_dict(plain) for plain in counts)
    return {f"pooled.{name}": value for name, value in found.items()}
