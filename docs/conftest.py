"""Doctests of the pages run in a folder of their own, away from the data of this machine."""

from importlib.util import find_spec

import pytest

collect_ignore = ["conf.py", "_ext"]
if find_spec("duckdb") is None:
    collect_ignore.append("guide/out_of_core.rst")


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SCUMBLE_DATA", raising=False)
    monkeypatch.setenv("SCUMBLE_CACHE", str(tmp_path / "cache"))
