"""The API of the survey page: what a survey found, of what it was made, and everything to take home."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Query
from fastapi.responses import Response, StreamingResponse

from theodolite.reading import Reading, plain
from theodolite.registry import INSTRUMENTS, instrument
from theodolite.report.page import capital, split
from theodolite.studio.bounds import Offset
from theodolite.studio.downloads import (
    SVG_POLICY,
    Figures,
    attachment,
    csv_bytes,
    file_answers,
    parquet_bytes,
    report_of,
    zipped,
)
from theodolite.studio.faults import NotFound
from theodolite.studio.jobs import Jobs
from theodolite.studio.opened import Opened
from theodolite.studio.survey_schemas import (
    FigureInfo,
    Finding,
    ReadingInfo,
    StudioInfo,
    SurveyInfo,
    SurveyPage,
    TableInfo,
    TableRows,
)
from theodolite.studio.workspace import Workspace

MOST_ROWS = 1000


def router(workspace: Workspace, jobs: Jobs) -> APIRouter:
    """The routes of surveys."""
    api = APIRouter(tags=["surveys"])
    figures = Figures()
    # Readings never change, and listing the figures of a large one takes its time.
    known: dict[tuple[str, str], ReadingInfo] = {}

    def told(opened: Opened, name: str) -> ReadingInfo:
        if (opened.slug, name) not in known:
            known[opened.slug, name] = _reading(opened, name)
        return known[opened.slug, name]

    @api.get("/studio", summary="What the studio has open")
    def studio() -> StudioInfo:
        return StudioInfo(
            version=version("theodolite"),
            surveys=list(workspace.surveys),
            catalogues=list(workspace.catalogues),
            models=workspace.live_models(),
        )

    @api.get("/surveys", summary="The surveys that are open")
    def surveys() -> list[SurveyInfo]:
        return [
            SurveyInfo(
                **_outline(workspace, opened),
                readings=opened.readings,
                instruments=[_instrument_of(name) for name in opened.readings],
            )
            for opened in workspace.surveys.values()
        ]

    @api.get("/surveys/{slug}", summary="A survey: findings, encoder, corpora, what was skipped")
    def survey(slug: str) -> SurveyPage:
        opened = workspace.survey(slug)
        return _page(workspace, opened, [told(opened, name) for name in opened.readings])

    @api.get(
        "/surveys/{slug}/report",
        summary="The report, one page of HTML",
        response_class=Response,
        responses=file_answers("text/html"),
    )
    def report(slug: str) -> Response:
        opened = workspace.survey(slug)
        return attachment(report_of(opened).encode(), "text/html; charset=utf-8", f"{opened.slug}-report.html")

    @api.get(
        "/surveys/{slug}/download.zip",
        summary="The whole survey: report, tables, figures, manifests",
        response_class=StreamingResponse,
        responses=file_answers("application/zip"),
    )
    def everything(slug: str) -> Response:
        opened = workspace.survey(slug)
        headers = {"content-disposition": f'attachment; filename="{opened.slug}.zip"'}
        return StreamingResponse(zipped(opened), media_type="application/zip", headers=headers)

    @api.get(
        "/surveys/{slug}/readings/{name}/tables/{table}.csv",
        summary="A table as CSV",
        response_class=Response,
        responses=file_answers("text/csv"),
    )
    def csv(slug: str, name: str, table: str) -> Response:
        _, found = _table(workspace.survey(slug), name, table)
        return attachment(csv_bytes(found), "text/csv; charset=utf-8", f"{slug}-{name}-{table}.csv")

    @api.get(
        "/surveys/{slug}/readings/{name}/tables/{table}.parquet",
        summary="A table as Parquet",
        response_class=Response,
        responses=file_answers("application/vnd.apache.parquet"),
    )
    def parquet(slug: str, name: str, table: str) -> Response:
        _, found = _table(workspace.survey(slug), name, table)
        return attachment(parquet_bytes(found), "application/vnd.apache.parquet", f"{slug}-{name}-{table}.parquet")

    @api.get("/surveys/{slug}/readings/{name}/tables/{table}", summary="Some rows of a table")
    def rows(
        slug: str,
        name: str,
        table: str,
        offset: Offset = 0,
        limit: int = Query(100, ge=1, le=MOST_ROWS),
    ) -> TableRows:
        _, found = _table(workspace.survey(slug), name, table)
        some = plain(found.slice(offset, limit).to_pylist())
        return TableRows(name=table, columns=found.column_names, total=found.num_rows, offset=offset, rows=some)

    @api.get(
        "/surveys/{slug}/readings/{name}/figures/{figure}.svg",
        summary="A figure, drawn when asked for",
        response_class=Response,
        responses=file_answers("image/svg+xml"),
    )
    def figure(slug: str, name: str, figure: str) -> Response:
        opened = workspace.survey(slug)
        names = [one.name for one in told(opened, name).figures]
        if figure not in names:
            raise NotFound(f"{name} has no figure of that name; it has: {', '.join(names)}")
        text = figures.svg(opened, name, figure)
        answer = attachment(text, "image/svg+xml", f"{slug}-{name}-{figure}.svg")
        answer.headers["content-security-policy"] = SVG_POLICY
        return answer

    return api


def _outline(workspace: Workspace, opened: Opened) -> dict[str, Any]:
    manifest = plain(opened.manifest)
    model = workspace.model_of(manifest["encoder"])
    return {
        "slug": opened.slug,
        "title": opened.title,
        "encoder": manifest["encoder"],
        "corpora": manifest["corpora"],
        "made": manifest.get("made"),
        "live": model is not None,
        "model": model.name if model is not None else None,
    }


def _page(workspace: Workspace, opened: Opened, readings: list[ReadingInfo]) -> SurveyPage:
    manifest = plain(opened.manifest)
    return SurveyPage(
        **_outline(workspace, opened),
        readings=readings,
        without_texts=[name for name in opened.corpora if opened.corpus(name) is None],
        left_out=manifest.get("left_out", {}),
        versions=manifest.get("versions", {}),
        theodolite=manifest.get("theodolite"),
        command=manifest.get("command", ""),
        plan=manifest.get("plan", {}),
    )


def _reading(opened: Opened, name: str) -> ReadingInfo:
    reading = opened.reading(name)
    options = plain(reading.manifest.get("options", {}))
    known = reading.instrument in INSTRUMENTS
    parts = [split(finding, reading) for finding in reading.findings]
    return ReadingInfo(
        name=name,
        instrument=reading.instrument,
        question=instrument(reading.instrument).question if known else "",
        findings=[Finding(about=about, sentence=capital(sentence)) for about, sentence in parts],
        options=options,
        seed=options.get("seed"),
        made=reading.manifest.get("made"),
        added=name not in opened.manifest["readings"],
        tables=[
            TableInfo(name=key, rows=table.num_rows, columns=table.column_names)
            for key, table in reading.tables.items()
        ],
        figures=[
            FigureInfo(name=key, title=drawing.title, caption=drawing.caption)
            for key, drawing in reading.drawings().items()
        ],
    )


def _table(opened: Opened, name: str, table: str) -> tuple[Reading, Any]:
    reading = opened.reading(name)
    if table not in reading.tables:
        raise NotFound(f"{name} has no table of that name; it has: {', '.join(reading.tables)}")
    return reading, reading.tables[table]


def _instrument_of(name: str) -> str:
    return name if name in INSTRUMENTS else name.rpartition("-")[0]
