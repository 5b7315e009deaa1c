"""Plans as TOML files."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scumble._core.errors import ReadError
from scumble._core.suggestions import suggest_parameter
from scumble.experiment.errors import PlanError
from scumble.experiment.plan import Plan

KEYS = (
    "name", "datasets", "resamplers", "classifiers", "splitter", "seeds", "metrics", "limits",
    "keep_predictions",
)  # fmt: skip
LIMITS = ("seconds", "megabytes")


def read_plan(path: str | os.PathLike[str]) -> Plan:
    """Read a plan from a TOML file.

    Parameters
    ----------
    path : str or Path
        The file. Data files in it are named relative to it.

    Returns
    -------
    Plan
        Not checked yet, see `Plan.check`.

    Raises
    ------
    ScumbleError
        If the file cannot be read, is no TOML, or has a key that plans do not have.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from scumble.experiment import read_plan
    >>> text = '''
    ... datasets = ["debtags"]
    ... classifiers = ["br", {name = "homer", n_clusters = 3}]
    ... resamplers = ["none", "remedial"]
    ... splitter = {name = "kfold", n_splits = 2, n_repeats = 1}
    ... limits = {seconds = 600}
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "plan.toml"
    ...     _ = file.write_text(text)
    ...     read_plan(file).n_cells
    8
    """
    file = Path(path)
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReadError(f"the plan cannot be read: {error.strerror}.", path=file) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ReadError(f"this is not TOML: {error}.", path=file) from error
    return plan_from(content, name=file.stem, folder=str(file.parent), where=str(file))


def plan_from(
    content: Mapping[str, Any], *, name: str = "experiment", folder: str = "", where: str = "plan"
) -> Plan:
    """Make a plan from the tables of a file."""
    _refuse_unknown(content, KEYS, where)
    limits = content.get("limits", {})
    if not isinstance(limits, Mapping):
        raise PlanError(f"{where}: 'limits' must be a table with {' and '.join(LIMITS)}.")
    _refuse_unknown(limits, LIMITS, f"{where}, limits")
    for key in ("datasets", "classifiers"):
        if key not in content:
            raise PlanError(f"{where}: a plan needs {key!r}.")
    rest = {key: content[key] for key in KEYS if key in content and key != "limits"}
    return Plan(**{"name": name, **rest, **limits}, folder=folder)


def _refuse_unknown(content: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in content:
        if key not in known:
            hint = suggest_parameter(key, known) or f" Known are: {', '.join(known)}."
            raise PlanError(f"{where}: unknown key {key!r}.{hint}")
