"""What the server is and knows."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from scumble._core.version import __version__
from scumble.gui.answers import Call
from scumble.gui.api.datasets import waiting_file
from scumble.gui.state import ServerState

EXAMPLES = (
    {
        "name": "debtags",
        "title": "Debian's package tags",
        "summary": "5,000 packages, 431 tags, words of their descriptions. Highly imbalanced, and "
        "rare tags mostly travel with frequent ones.",
    },
    {
        "name": "synthetic",
        "title": "Synthetic data",
        "summary": "As imbalanced and as entangled as you ask for.",
    },
)


async def show_about(state: ServerState, call: Call) -> dict[str, Any]:
    """Tell the version, the limits and the examples."""
    settings = state.settings
    return {
        "version": __version__,
        "max_upload": settings.max_upload,
        "max_unpacked": settings.max_unpacked,
        "max_open": settings.max_open,
        "examples": list(EXAMPLES),
        "jobs": [job.to_dict() for job in state.jobs.shown],
        "first_job": None if state.first_job is None else state.first_job.to_dict(),
        "waiting": waiting_file(state),
    }


async def show_catalogue(state: ServerState, call: Call) -> dict[str, Any]:
    """List formats, methods with their parameters, and forms of the report."""
    return await state.catalogue()


def show_openapi(state: ServerState, call: Call) -> dict[str, Any]:
    """Describe this API."""
    text = (files("scumble.gui") / "openapi.json").read_text(encoding="utf-8")
    return dict(json.loads(text))
