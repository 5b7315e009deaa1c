"""The table of the API: which function handles which address, and what it takes and returns."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from scumble._core.version import __version__
from scumble.gui.api import bodies, datasets, queries, responses, work
from scumble.gui.api.openapi import make_openapi
from scumble.gui.api.route import Route
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


def job_route(path: str, handler: Callable[..., Any], summary: str, **options: Any) -> Route:
    """Return a route that submits a job."""
    return Route(
        "POST",
        path,
        handler,
        summary,
        response=responses.JobDescription,
        status=202,
        **options,
    )


def table_routes(
    path: str, query: type, page: type, summary: str, show_page: Any, show_csv: Any
) -> list[Route]:
    """Return the routes of a table: a page of it as JSON, and the complete table as CSV."""
    return [
        Route("GET", path, show_page, f"A page of {summary}", response=page, query=query),
        Route(
            "GET",
            f"{path}.csv",
            show_csv,
            f"All {summary.removeprefix('the ')} as CSV",
            query=query,
            media_type="text/csv",
        ),
    ]


async def show_about(state: ServerState) -> dict[str, Any]:
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


async def show_catalogue(state: ServerState) -> dict[str, Any]:
    """Return the formats, the methods with their parameters, and the formats of the report."""
    return await state.catalogue()


@cache
def openapi_document() -> dict[str, Any]:
    """Return the OpenAPI document of this API."""
    return make_openapi(ROUTES)


def show_openapi(state: ServerState) -> dict[str, Any]:
    """Return the OpenAPI document of this API."""
    return openapi_document()


#: Path of one data set.
DATASET = "/datasets/{dataset}"

#: All addresses of the API.
ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/about",
        show_about,
        "Version, limits, examples and unfinished jobs",
        response=responses.About,
    ),
    Route("GET", "/openapi.json", show_openapi, "This document", response=dict[str, Any]),
    Route(
        "GET",
        "/catalogue",
        show_catalogue,
        "Formats, methods and classifiers with their parameters, formats of reports",
        response=responses.Catalogue,
        further_errors=(503,),
    ),
    # Files
    Route(
        "POST",
        "/uploads",
        None,
        "Send a file",
        description="The body is the file itself.",
        response=responses.UploadDescription,
        body=bytes,
        query=queries.UploadQuery,
        status=201,
        further_errors=(408, 503, 507),
    ),
    Route("DELETE", "/uploads/{upload}", datasets.discard_upload, "Remove an upload", status=204),
    job_route(
        "/uploads/{upload}/preview",
        datasets.preview_upload,
        "Read the first rows of an upload",
        description="Only the beginning is read. Options that are set are not inferred.",
        body=bodies.PreviewBody,
        result=responses.Preview,
    ),
    job_route(
        "/uploads/{upload}/members",
        datasets.list_members,
        "List the files of an archive that may contain the data",
        result=responses.Members,
    ),
    Route(
        "GET",
        "/files/{file}",
        work.download,
        "Download a file that a job has written",
        media_type="application/octet-stream",
    ),
    Route(
        "POST",
        "/tickets",
        work.issue_download_token,
        "Make an address that can be fetched once without the token, within a minute",
        response=responses.DownloadAddress,
        body=bodies.DownloadTokenBody,
    ),
    # Data sets
    Route(
        "GET",
        "/datasets",
        datasets.list_datasets,
        "List the open data sets",
        response=responses.DatasetList,
    ),
    job_route(
        "/datasets",
        datasets.open_dataset,
        "Open uploaded files",
        body=bodies.OpenBody,
        result=responses.OpenedDataset,
        further_errors=(404, 409),
    ),
    Route(
        "GET",
        "/public-datasets",
        datasets.list_public_datasets,
        "List the public data sets",
        response=responses.PublicDatasets,
        further_errors=(422,),
    ),
    job_route(
        "/public-datasets/{name}",
        datasets.open_public_dataset,
        "Open a public data set, which is downloaded if necessary",
        result=responses.OpenedDataset,
        further_errors=(409,),
    ),
    job_route(
        "/examples/{example}",
        datasets.open_example,
        "Open a built-in example",
        body=bodies.SyntheticBody,
        result=responses.OpenedDataset,
        further_errors=(409,),
    ),
    Route(
        "GET",
        DATASET,
        datasets.show_dataset,
        "All measures of a data set, and the content of its overview",
        response=responses.Overview,
    ),
    Route(
        "DELETE",
        DATASET,
        datasets.close_dataset,
        "Close a data set",
        description="Its unfinished advice and comparisons are cancelled, and the models trained "
        "on it are removed.",
        status=204,
    ),
    *table_routes(
        f"{DATASET}/labels",
        queries.LabelsQuery,
        responses.LabelsPage,
        "the labels",
        partial(datasets.show_page, table="labels"),
        partial(datasets.show_csv, table="labels"),
    ),
    *table_routes(
        f"{DATASET}/labelsets",
        queries.LabelsetsQuery,
        responses.LabelsetsPage,
        "the labelsets",
        partial(datasets.show_page, table="labelsets"),
        partial(datasets.show_csv, table="labelsets"),
    ),
    *table_routes(
        f"{DATASET}/features",
        queries.FeaturesQuery,
        responses.FeaturesPage,
        "the features",
        partial(datasets.show_page, table="features"),
        partial(datasets.show_csv, table="features"),
    ),
    *table_routes(
        f"{DATASET}/labels/{{label}}/partners",
        queries.PartnersQuery,
        responses.PartnersPage,
        "the labels that co-occur with a label",
        datasets.show_partners,
        datasets.show_partners_csv,
    ),
    Route(
        "GET",
        f"{DATASET}/features/{{feature}}/distribution",
        datasets.show_distribution,
        "How often a feature has which values",
        response=responses.Distribution,
    ),
    Route(
        "GET",
        f"{DATASET}/chord",
        datasets.show_chord,
        "The layout of a chord diagram",
        response=responses.Chord,
        query=queries.ChordQuery,
    ),
    Route(
        "GET",
        f"{DATASET}/before-and-after",
        datasets.show_before_and_after,
        "A resampled data set compared with its original",
        response=responses.BeforeAndAfter,
        further_errors=(409,),
    ),
    # Jobs on a data set
    job_route(
        f"{DATASET}/treatments",
        work.treat,
        "Apply resamplers one after another; the result is a new data set",
        body=bodies.TreatmentBody,
        result=responses.OpenedDataset,
        further_errors=(409,),
    ),
    job_route(
        f"{DATASET}/exports",
        work.export,
        "Write the data, or its report, to a file",
        body=bodies.ExportBody,
        result=responses.Download,
        further_errors=(507,),
    ),
    Route(
        "GET",
        f"{DATASET}/advice",
        partial(work.show_latest, kind=work.ADVICE),
        "The unfinished advice, or the last one that was done",
        response=responses.LatestJob,
    ),
    job_route(
        f"{DATASET}/advice",
        work.advise,
        "Evaluate methods out of sample, and recommend one",
        body=bodies.AdviceBody,
        result=responses.Advice,
        further_errors=(409,),
    ),
    job_route(
        f"{DATASET}/advice/page",
        work.export_advice,
        "Write the last advice as a page",
        result=responses.Download,
        further_errors=(409,),
    ),
    Route(
        "GET",
        f"{DATASET}/methods",
        partial(work.show_latest, kind=work.RESAMPLERS),
        "The unfinished comparison of resamplers, or the last one that was done",
        response=responses.LatestJob,
    ),
    job_route(
        f"{DATASET}/methods",
        work.compare_resamplers,
        "Apply each of several resamplers, and compare their changes",
        body=bodies.ResamplersBody,
        result=responses.ResamplerComparison,
        further_errors=(409,),
    ),
    Route(
        "GET",
        f"{DATASET}/comparison",
        partial(work.show_latest, kind=work.COMPARISON),
        "The unfinished comparison of classifiers, or the last one that was done",
        response=responses.LatestJob,
    ),
    job_route(
        f"{DATASET}/comparison",
        work.run_comparison,
        "Compare classifiers with and without treatments of the training rows, on the same folds",
        description="Folds that were evaluated before are not evaluated again.",
        body=bodies.ComparisonBody,
        result=responses.Comparison,
        further_errors=(409,),
    ),
    # Models
    Route(
        "GET",
        f"{DATASET}/models",
        work.list_models,
        "The models that were trained on a data set",
        response=responses.Models,
    ),
    job_route(
        f"{DATASET}/models",
        work.train,
        "Train a model on all rows",
        body=bodies.ModelBody,
        result=responses.ModelDescription,
    ),
    Route(
        "POST",
        "/models/{model}/file",
        work.offer_model,
        "Make a model available for download",
        response=responses.Download,
        status=201,
        further_errors=(507,),
    ),
    job_route(
        "/models/{model}/predictions",
        work.predict,
        "Predict the labels of an uploaded file",
        body=bodies.PredictionBody,
        result=dict[str, Any],
        further_errors=(409, 507),
    ),
    # Jobs
    Route(
        "GET",
        "/jobs",
        work.list_jobs,
        "The jobs of users that have not finished",
        response=responses.JobList,
    ),
    Route(
        "GET",
        "/jobs/{job}",
        work.show_job,
        "The state of a job",
        response=responses.JobDescription,
        query=queries.WaitQuery,
    ),
    Route(
        "DELETE",
        "/jobs/{job}",
        work.cancel_job,
        "Stop a job",
        description="A job that has finished does not change. An advice that has evaluated at "
        "least one method has a few seconds to return its partial result, and is then done; a "
        "second request cancels it at once.",
        response=responses.JobDescription,
    ),
)
