"""The table of the API: which function handles which address. ``openapi.json`` describes it."""

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
        "rare tags mostly occur together with frequent ones.",
    },
    {
        "name": "synthetic",
        "title": "Synthetic data",
        "summary": "With the imbalance and the concurrence that you choose.",
    },
)


async def show_about(state: ServerState, request: ApiRequest) -> dict[str, Any]:
    """Return the version, the limits, the examples, and the jobs of users."""
    return {
        "version": __version__,
        "max_upload": state.settings.max_upload,
        "max_unpacked": state.settings.max_unpacked,
        "max_open": state.settings.max_open,
        "examples": list(EXAMPLES),
        "jobs": [job.to_dict() for job in state.jobs.user_requested],
        "first_job": None if state.first_job is None else state.first_job.to_dict(),
        "waiting": datasets.waiting_file(state),
    }


async def show_catalogue(state: ServerState, request: ApiRequest) -> dict[str, Any]:
    """Return the formats, the methods with their parameters, and the formats of the report."""
    return await state.catalogue()


def show_openapi(state: ServerState, request: ApiRequest) -> dict[str, Any]:
    """Return the OpenAPI description of this API."""
    text = (files("scumble.gui") / "openapi.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


#: Path of one data set.
DATASET = "/datasets/{dataset}"
#: Paths below a data set and the tables there.
TABLE_PATHS = {
    "labels": "labels",
    "labelsets": "labelsets",
    "features": "features",
    "labels/{label}/partners": "partners",
}

#: Method, path and handler. Coroutines run in the event loop and are fast; plain functions compute
#: and run in a thread.
ROUTES: tuple[tuple[str, str, Callable[..., Any]], ...] = (
    ("GET", "/about", show_about),
    ("GET", "/openapi.json", show_openapi),
    ("GET", "/catalogue", show_catalogue),
    ("GET", "/datasets", datasets.list_datasets),
    ("POST", "/datasets", datasets.open_dataset),
    ("DELETE", "/uploads/{upload}", datasets.discard_upload),
    ("POST", "/uploads/{upload}/preview", datasets.preview_upload),
    ("POST", "/uploads/{upload}/members", datasets.list_members),
    ("GET", "/public-datasets", datasets.list_public_datasets),
    ("POST", "/public-datasets/{name}", datasets.open_public_dataset),
    ("POST", "/examples/{example}", datasets.open_example),
    ("GET", DATASET, datasets.show_dataset),
    ("DELETE", DATASET, datasets.close_dataset),
    *(
        ("GET", f"{DATASET}/{path}", partial(datasets.show_page, table=table))
        for path, table in TABLE_PATHS.items()
    ),
    *(
        ("GET", f"{DATASET}/{path}.csv", partial(datasets.show_csv, table=table))
        for path, table in TABLE_PATHS.items()
    ),
    ("GET", f"{DATASET}/features/{{feature}}/distribution", datasets.show_distribution),
    ("GET", f"{DATASET}/chord", datasets.show_chord),
    ("GET", f"{DATASET}/before-and-after", datasets.show_before_and_after),
    ("POST", f"{DATASET}/treatments", work.treat),
    ("POST", f"{DATASET}/exports", work.export),
    *(
        ("GET", f"{DATASET}/{kind}", partial(work.show_latest, kind=kind))
        for kind in (work.ADVICE, work.RESAMPLERS, work.COMPARISON)
    ),
    ("POST", f"{DATASET}/advice", work.advise),
    ("POST", f"{DATASET}/advice/page", work.export_advice),
    ("POST", f"{DATASET}/methods", work.compare_resamplers),
    ("POST", f"{DATASET}/comparison", work.run_comparison),
    ("GET", f"{DATASET}/models", work.list_models),
    ("POST", f"{DATASET}/models", work.train),
    ("POST", "/models/{model}/file", work.offer_model),
    ("POST", "/models/{model}/predictions", work.predict),
    ("GET", "/jobs", work.list_jobs),
    ("GET", "/jobs/{job}", work.show_job),
    ("DELETE", "/jobs/{job}", work.cancel_job),
    ("GET", "/files/{file}", work.download),
    ("POST", "/tickets", work.issue_download_token),
)
#: Method and path of uploads. `scumble.gui.server` handles them, because handlers get a complete
#: body and not a stream.
UPLOAD_ROUTE = ("POST", "/uploads")
