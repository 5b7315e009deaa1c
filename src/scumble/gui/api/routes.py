"""Which function answers which address. ``openapi.json`` describes the same list."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from scumble.gui.answers import Call
from scumble.gui.api import about, datasets, studies, work
from scumble.gui.state import ServerState

Handler = Callable[[ServerState, Call], Any] | Callable[[ServerState, Call], Awaitable[Any]]

ONE = "/datasets/{dataset}"
TABLES = ("labels", "labelsets", "features")

#: Coroutines run in the event loop and are quick; plain functions compute, and get a thread.
ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/about", about.show_about),
    ("GET", "/openapi.json", about.show_openapi),
    ("GET", "/catalogue", about.show_catalogue),
    ("GET", "/datasets", datasets.list_datasets),
    ("POST", "/datasets", datasets.open_dataset),
    ("DELETE", "/uploads/{upload}", datasets.discard_upload),
    ("POST", "/uploads/{upload}/preview", datasets.preview_upload),
    ("POST", "/uploads/{upload}/members", datasets.list_members),
    ("GET", "/shelf", datasets.show_shelf),
    ("POST", "/shelf/{name}", datasets.open_shelf),
    ("POST", "/examples/{example}", datasets.open_example),
    ("GET", ONE, datasets.show_dataset),
    ("DELETE", ONE, datasets.close_dataset),
    *(("GET", f"{ONE}/{table}", datasets.page_of(table)) for table in TABLES),
    *(("GET", f"{ONE}/{table}.csv", datasets.csv_of(table)) for table in TABLES),
    ("GET", f"{ONE}/labels/{{label}}/partners", datasets.page_of("partners")),
    ("GET", f"{ONE}/labels/{{label}}/partners.csv", datasets.csv_of("partners")),
    ("GET", f"{ONE}/features/{{feature}}/distribution", datasets.show_distribution),
    ("GET", f"{ONE}/chord", datasets.show_chord),
    ("GET", f"{ONE}/comparison", datasets.show_comparison),
    ("POST", f"{ONE}/treatments", work.treat),
    ("POST", f"{ONE}/exports", work.export),
    *(
        ("GET", f"{ONE}/{kind}", studies.show_latest(kind))
        for kind in (studies.ADVICE, studies.METHODS, studies.PROOF)
    ),
    ("POST", f"{ONE}/advice", studies.advise),
    ("POST", f"{ONE}/advice/page", studies.export_advice),
    ("POST", f"{ONE}/methods", studies.run_methods),
    ("POST", f"{ONE}/proof", studies.prove),
    ("GET", f"{ONE}/models", studies.list_models),
    ("POST", f"{ONE}/models", studies.train),
    ("POST", "/models/{model}/file", studies.offer_model),
    ("POST", "/models/{model}/predictions", studies.predict),
    ("GET", "/jobs", work.list_jobs),
    ("GET", "/jobs/{job}", work.show_job),
    ("DELETE", "/jobs/{job}", work.cancel_job),
    ("GET", "/files/{file}", work.download),
    ("POST", "/tickets", work.give_ticket),
)
#: Answered by `scumble.gui.web`, which alone sees the stream of a request.
UPLOAD = ("POST", "/uploads")
