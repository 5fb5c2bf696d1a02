"""Instruments run from a page: their forms, made from their own declarations, and the job that runs one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from threading import Lock
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from theodolite.errors import InputError
from theodolite.instrument import Instrument
from theodolite.options import Option, options_of
from theodolite.registry import INSTRUMENTS, instrument
from theodolite.running import run
from theodolite.store import Store
from theodolite.studio.jobs import OVER, Job, JobInfo, JobProgress, Jobs
from theodolite.studio.opened import Opened
from theodolite.studio.workspace import Workspace

# Options whose value is, or may be, a file: no path from a request reaches the disk.
_FILES = ("FILE", "SOURCE", "DIR")
_FILE_WORDS = ("file:", "concept:")


class InstrumentForm(BaseModel):
    """An instrument and the form of its options."""

    name: str
    question: str = Field(description="What it answers.")
    options: dict[str, Any] = Field(description="JSON Schema of an object with its options.")


class Asked(BaseModel):
    """An instrument to run, and those of its options that are not the default."""

    instrument: str
    options: dict[str, Any] = Field(default_factory=dict)


def router(workspace: Workspace, jobs: Jobs) -> APIRouter:
    """The routes of instruments."""
    api = APIRouter(tags=["instruments"])
    started: dict[tuple[str, str], Job] = {}
    starting = Lock()

    @api.get("/instruments", summary="The instruments and the forms of their options")
    def forms() -> list[InstrumentForm]:
        kinds = [instrument(name) for name in INSTRUMENTS]
        return [InstrumentForm(name=kind.name, question=kind.question, options=form(kind)) for kind in kinds]

    @api.post("/surveys/{slug}/run", summary="Run an instrument over a survey's corpora", response_model=JobInfo)
    def start(slug: str, asked: Asked) -> Job:
        """The job's result names the reading that was added to the survey; asked for twice, it is one job."""
        opened = workspace.survey(slug)
        chosen = instrument_of(asked.instrument, asked.options)
        # Told at once, not by a job that fails.
        opened.texts()
        workspace.check_live(opened.manifest["encoder"])
        key = slug, name_of(chosen)
        with starting:
            job = started.get(key)
            if job is None or job.state in OVER or job.cancelled.is_set():
                started[key] = jobs.start(
                    f"{chosen.name} over {opened.title}", lambda progress: _measure(workspace, opened, chosen, progress)
                )
            return started[key]

    return api


def form(kind: type[Instrument]) -> dict[str, Any]:
    """The options of an instrument as the JSON Schema of an object, those that name files left out."""
    offered = [declared for declared in options_of(kind) if not _names_file(declared)]
    return {
        "type": "object",
        "properties": {declared.name: _schema(declared) for declared in offered},
        "additionalProperties": False,
    }


def instrument_of(name: str, given: Mapping[str, Any]) -> Instrument:
    """The instrument with the options that a page sent, each checked against its declaration."""
    kind = instrument(name)
    declared = {option.name: option for option in options_of(kind) if not _names_file(option)}
    unknown = [key for key in given if key not in declared]
    if unknown:
        raise InputError(f"{name}: no option {unknown[0]!r} can be given here; there are: {', '.join(declared)}")
    return kind(**{key: _value(declared[key], value) for key, value in given.items()})


def name_of(chosen: Instrument) -> str:
    """The name of the reading that an instrument with its options makes."""
    key = hashlib.sha256(json.dumps([chosen.name, chosen.options], sort_keys=True).encode()).hexdigest()
    return f"{chosen.name}-{key[:8]}"


def _measure(workspace: Workspace, opened: Opened, chosen: Instrument, progress: JobProgress) -> dict[str, str]:
    name = name_of(chosen)
    if name not in opened.readings:
        with progress.step("loading the encoder", 0):
            encoder = workspace.another_encoder(opened.manifest["encoder"])
        # One of its own: other jobs' runs are saved at other times.
        store = Store(workspace.store.root)
        with store.until_saved():
            [reading] = run([chosen], encoder, opened.texts(), store=store, progress=progress)
            opened.add(name, reading)
    return {"survey": opened.slug, "reading": name}


def _names_file(declared: Option) -> bool:
    return declared.metavar in _FILES


def _schema(declared: Option) -> dict[str, Any]:
    schema = {"title": declared.name.replace("_", " "), **declared.schema}
    words = _words(declared)
    return schema if words is None else {**schema, "items": {"type": "string", "enum": words}}


def _words(declared: Option) -> list[str] | None:
    """What may be given where the command line takes one of some words or a file."""
    offered = declared.metavar.split("|")
    return [word for word in offered if word not in _FILES] if set(offered) & set(_FILES) else None


def _value(declared: Option, value: Any) -> Any:
    where = declared.name.replace("_", " ")
    if value is None and declared.default is None:
        return None
    if declared.many:
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise InputError(f"{where}: a list of texts is wanted")
        words = _words(declared)
        if words is not None and not set(value) <= set(words):
            raise InputError(f"{where}: only {', '.join(words)} can be given here")
        return tuple(value)
    wanted = declared.base
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not wanted:
        raise InputError(f"{where}: {declared.schema['type']} is wanted, not {json.dumps(value)[:40]}")
    if wanted is str and any(part.strip().startswith(_FILE_WORDS) for part in value.split(",")):
        raise InputError(f"{where}: files cannot be named here; use the command line for them")
    return value
