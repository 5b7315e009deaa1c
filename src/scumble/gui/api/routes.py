"""What the server is and knows, and which function answers which address.

``openapi.json`` describes the same list.
"""

import json
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from typing import Any

from scumble._core.version import __version__
from scumble.gui.api import datasets, work
from scumble.gui.http_messages import ApiRequest
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


async def show_about(state: ServerState, request: ApiRequest) -> dict[str, Any]:
    """Tell the version, the limits and the examples."""
    return {
        "version": __version__,
        **{key: getattr(state.settings, key) for key in ("max_upload", "max_unpacked", "max_open")},
        "examples": list(EXAMPLES),
        "jobs": [job.to_dict() for job in state.jobs.shown],
        "first_job": None if state.first_job is None else state.first_job.to_dict(),
        "waiting": datasets.waiting_file(state),
    }


async def show_catalogue(state: ServerState, request: ApiRequest) -> dict[str, Any]:
    """List formats, methods with their parameters, and forms of the report."""
    return await state.catalogue()


def show_openapi(state: ServerState, request: ApiRequest) -> dict[str, Any]:
    """Describe this API."""
    text = (files("scumble.gui") / "openapi.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


ONE = "/datasets/{dataset}"
TABLES = [(table, table) for table in ("labels", "labelsets", "features")]
TABLES += [("labels/{label}/partners", "partners")]

#: Coroutines run in the event loop and are quick; plain functions compute, and get a thread.
ROUTES: tuple[tuple[str, str, Callable[..., Any]], ...] = (
    ("GET", "/about", show_about),
    ("GET", "/openapi.json", show_openapi),
    ("GET", "/catalogue", show_catalogue),
    ("GET", "/datasets", datasets.list_datasets),
    ("POST", "/datasets", datasets.open_dataset),
    ("DELETE", "/uploads/{upload}", datasets.discard_upload),
    ("POST", "/uploads/{upload}/preview", datasets.preview_upload),
    ("POST", "/uploads/{upload}/members", datasets.list_members),
    ("GET", "/shelf", datasets.list_public_datasets),
    ("POST", "/shelf/{name}", datasets.open_public_dataset),
    ("POST", "/examples/{example}", datasets.open_example),
    ("GET", ONE, datasets.show_dataset),
    ("DELETE", ONE, datasets.close_dataset),
    *(("GET", f"{ONE}/{path}", partial(datasets.show_page, table=table)) for path, table in TABLES),
    *(
        ("GET", f"{ONE}/{path}.csv", partial(datasets.show_csv, table=table))
        for path, table in TABLES
    ),
    ("GET", f"{ONE}/features/{{feature}}/distribution", datasets.show_distribution),
    ("GET", f"{ONE}/chord", datasets.show_chord),
    ("GET", f"{ONE}/comparison", datasets.show_before_and_after),
    ("POST", f"{ONE}/treatments", work.treat),
    ("POST", f"{ONE}/exports", work.export),
    *(
        ("GET", f"{ONE}/{kind}", partial(work.show_latest, kind=kind))
        for kind in (work.ADVICE, work.METHODS, work.COMPARISON)
    ),
    ("POST", f"{ONE}/advice", work.advise),
    ("POST", f"{ONE}/advice/page", work.export_advice),
    ("POST", f"{ONE}/methods", work.compare_resamplers),
    ("POST", f"{ONE}/proof", work.run_comparison),
    ("GET", f"{ONE}/models", work.list_models),
    ("POST", f"{ONE}/models", work.train),
    ("POST", "/models/{model}/file", work.offer_model),
    ("POST", "/models/{model}/predictions", work.predict),
    ("GET", "/jobs", work.list_jobs),
    ("GET", "/jobs/{job}", work.show_job),
    ("DELETE", "/jobs/{job}", work.cancel_job),
    ("GET", "/files/{file}", work.download),
    ("POST", "/tickets", work.issue_download_token),
)
#: Answered by `scumble.gui.server`, which alone sees the stream of a request.
UPLOAD_ROUTE = ("POST", "/uploads")
