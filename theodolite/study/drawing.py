"""Studies drawn from surveys and readings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from theodolite.errors import InputError
from theodolite.options import options_of
from theodolite.reading import READING_FILE, Reading
from theodolite.registry import load
from theodolite.study.create import create_study
from theodolite.study.database import Database
from theodolite.study.draws import DRAWS, Draw
from theodolite.study.kinds import KINDS
from theodolite.survey import Survey


def draw_of(kind: str, options: Mapping[str, Any]) -> Draw:
    """The draw of a kind of study with the options given, each checked against its declaration."""
    if kind not in DRAWS:
        raise InputError(f"--kind {kind}: not one of {', '.join(KINDS)}")
    names = [declared.name for declared in options_of(DRAWS[kind])]
    unknown = [name for name in options if name not in names]
    if unknown:
        raise InputError(f"--{unknown[0]}: no option of a study of kind {kind}; it has: {', '.join(names)}")
    try:
        # By way of JSON, where a list may stand for a tuple and nothing else is taken for what it is not.
        return cast(Draw, TypeAdapter(DRAWS[kind]).validate_json(json.dumps(dict(options)), strict=True))
    except ValidationError as fault:
        first = fault.errors()[0]
        raise InputError(f"--{first['loc'][0] if first['loc'] else kind}: {first['msg']}") from None


def create_from_reading(
    database: Database,
    reading: Reading,
    kind: str,
    *,
    name: str,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    source: Mapping[str, Any] | None = None,
    **how: Any,
) -> int:
    """A new study drawn from a reading; its number.

    options: of the draw; source: where the reading is, for the owner; how: as ``create_study`` has it.
    """
    draw = draw_of(kind, options or {})
    if reading.instrument != draw.instrument:
        raise InputError(
            f"a study of kind {kind} is drawn from a reading of {draw.instrument}, not of {reading.instrument}"
        )
    items, key = draw(reading, seed)
    about = {part: reading.manifest.get(part) for part in ("encoder", "corpora", "options", "made")}
    told = {**(source or {}), "instrument": reading.instrument, "manifest": about, "draw": asdict(cast(Any, draw))}
    return create_study(database, name=name, kind=kind, items=items, key=key, seed=seed, source=told, **how)


def create_from_survey(
    database: Database,
    survey: Survey | str | Path,
    kind: str,
    *,
    name: str,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    **how: Any,
) -> int:
    """A new study drawn from a survey, from its folder, or from the folder of one reading; its number."""
    draw = draw_of(kind, options or {})
    source: dict[str, Any] = {}
    if not isinstance(survey, Survey):
        place = Path(survey)
        source["folder"] = str(place.resolve())
        if (place / READING_FILE).exists():
            return create_from_reading(
                database, load(place), kind, name=name, options=options, seed=seed, source=source, **how
            )
        survey = Survey.load(place)
    found = next(((n, r) for n, r in survey.readings.items() if r.instrument == draw.instrument), None)
    if found is None:
        raise InputError(
            f"{survey.title}: has no reading of {draw.instrument}, which a study of kind {kind} is drawn from; "
            f"it has: {', '.join(survey.readings)}"
        )
    source |= {"survey": survey.title, "reading": found[0]}
    return create_from_reading(database, found[1], kind, name=name, options=options, seed=seed, source=source, **how)
