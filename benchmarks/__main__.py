"""``python -m benchmarks [WORD ...]``: run all benchmarks, or those whose name holds a word.

Each benchmark is a function in a module's ``ALL`` that returns one record or several:
``name``, ``ours_s`` and ``peer_s`` (or ``value``), ``ratio``, ``target``, ``ok``, ``note``; or
``name`` and ``skipped`` with the reason. The table is printed, and kept in
``benchmarks/results/`` as JSON.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent


def modules():
    names = sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))
    return [
        module for name in names if hasattr(module := import_module(f"benchmarks.{name}"), "ALL")
    ]


def main(words: list[str]) -> int:
    records = []
    for module in modules():
        for function in module.ALL:
            title = f"{module.__name__.rpartition('.')[2]}.{function.__name__}"
            if words and not any(word in title for word in words):
                continue
            print(f"... {title}", file=sys.stderr, flush=True)
            result = function()
            for record in [result] if isinstance(result, dict) else result:
                records.append(record)
                print(line(record), flush=True)
    store(records)
    # Not "is False": a comparison of numpy's numbers is another kind of no.
    missed = [record["name"] for record in records if not record.get("ok", True)]
    print(
        f"{len(records)} figures, {len(missed)} missed{': ' if missed else ''}{', '.join(missed)}"
    )
    return 1 if missed else 0


def line(record) -> str:
    if "skipped" in record:
        return f"skipped  {record['name']}: {record['skipped']}"
    mark = "ok      " if record["ok"] else "MISSED  "
    times = ""
    if record.get("ours_s") is not None:
        times = f"  ours {record['ours_s']:.4f} s"
    if record.get("peer_s") is not None:
        times += f"  peer {record['peer_s']:.4f} s"
    note = f"  ({record['note']})" if record.get("note") else ""
    return f"{mark} {record['name']}: {record['ratio']:.2f}, target {record['target']}{times}{note}"


def store(records) -> None:
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    facts = {"python": platform.python_version(), "machine": platform.machine()}
    path = folder / f"{stamp}.json"
    path.write_text(json.dumps({"facts": facts, "records": records}, indent=1, default=str))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
