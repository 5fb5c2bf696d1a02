"""The application: the API under /api, and the built pages at every other address."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.types import ASGIApp

from theodolite.store import Store
from theodolite.studio import (
    annotate_api,
    compare_api,
    directions_api,
    forms,
    jobs,
    layers_api,
    map_api,
    pages,
    results_api,
    salience_api,
    studies_api,
    survey_api,
)
from theodolite.studio.faults import Detail, answer_faults
from theodolite.studio.guard import Guard
from theodolite.studio.jobs import Jobs
from theodolite.studio.settings import Settings
from theodolite.studio.workspace import Workspace
from theodolite.study.database import default_database
from theodolite.survey import Survey

PAGES = (
    survey_api,
    forms,
    map_api,
    directions_api,
    layers_api,
    compare_api,
    salience_api,
    studies_api,
    results_api,
    annotate_api,
)
_FAULTS: dict[int | str, dict[str, Any]] = {
    404: {"model": Detail, "description": "What was asked for is not there."},
    422: {"model": Detail, "description": "What was asked for cannot be done, and why."},
}


class Studio(FastAPI):
    """A FastAPI application behind a guard."""

    settings: Settings

    def build_middleware_stack(self) -> ASGIApp:
        """The guard around everything, the answers to failures too."""
        return Guard(super().build_middleware_stack(), self.settings)


def make_studio(
    surveys: Sequence[Survey | str | Path] = (),
    *,
    models: Sequence[str | Path] = (),
    catalogues: Sequence[str | Path] = (),
    database: str | None = None,
    store: Store | None = None,
    settings: Settings | None = None,
) -> FastAPI:
    """The web application over surveys and live encoders, to be served by uvicorn or tested with a client.

    surveys: in memory, or their folders; models: further encoders that may be asked live (the bundled one always may);
    catalogues: folders that `theodolite catalogue build` wrote; database: of studies, a path or an address.
    """
    workspace = Workspace(
        surveys, models=models, catalogues=catalogues, database=database or default_database(), store=store
    )
    if database is not None:
        # One that cannot be opened is told now, and not on the page of studies.
        workspace.open_database()
    running = Jobs()

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        running.close()
        workspace.close()

    app = Studio(
        title="Theodolite studio",
        version=version("theodolite"),
        description="Surveys of text encoders, live questions to them, and blind studies.",
        openapi_url="/api/openapi.json",
        # Their pages come from elsewhere on the web.
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.settings = settings or Settings()
    app.state.workspace, app.state.jobs = workspace, running
    answer_faults(app)
    api = APIRouter(prefix="/api", responses=_FAULTS)
    api.include_router(jobs.router(running))
    for page in PAGES:
        api.include_router(page.router(workspace, running))
    app.include_router(api)
    app.include_router(pages.router(pages.Pages()))
    return app
