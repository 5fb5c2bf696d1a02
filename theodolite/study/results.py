"""What a study found: the tables of the sources, agreement with intervals, and the instrument's figures beside them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from theodolite.illusion.people import beside_machine, locality_by_people, locality_findings
from theodolite.illusion.reading import IllusionReading
from theodolite.reading import READING_FILE, Reading, plain
from theodolite.registry import load
from theodolite.similarity.people import beside_deletion, opinion_findings
from theodolite.similarity.reading import SimilarityReading
from theodolite.study.agreement import cohen
from theodolite.study.annotation_results import annotation_findings, annotation_tables
from theodolite.study.create import study as study_of
from theodolite.study.database import Database
from theodolite.study.gathering import decisions, gather
from theodolite.study.judged import Judged, Row, whole
from theodolite.study.kinds import ANNOTATION, RATING
from theodolite.study.merging import contradictions, groups_of, patterns_of
from theodolite.study.models import Study
from theodolite.study.rating_results import rating_findings, rating_tables
from theodolite.study.rationale_results import rationale_findings, rationale_tables
from theodolite.study.reading import StudyReading

Tables = dict[str, list[Row]]


def results(database: Database, study_id: int, *, seed: int = 0, reading: Reading | None = None) -> StudyReading:
    """The study as it stands, finished or not.

    seed: of the resampling; reading: that which the items were drawn from, to set its figures beside people's; looked
    for where the study says it was, when not given.
    """
    about = study_of(database, study_id)
    items = gather(database, study_id)
    wanted = about.annotators_per_item
    said = [_how_far(about, items)]
    if about.kind == ANNOTATION:
        decided = decisions(database, study_id)
        patterns = patterns_of(items)
        groups = groups_of(patterns, decided)
        tables = annotation_tables(items, groups, wanted=wanted, seed=seed)
        said += annotation_findings(tables)
        said += _merged(len(patterns), len(set(groups.values())), len(decided), len(contradictions(groups, decided)))
    elif about.kind == RATING:
        tables = rating_tables(items, wanted=wanted, seed=seed)
        said += rating_findings(tables)
    else:
        tables = rationale_tables(items, wanted=wanted, seed=seed)
        said += rationale_findings(tables)
    drawn_from = reading or reading_of(about.source)
    more, also = _beside(drawn_from, tables, seed)
    if drawn_from is None and about.source.get("instrument") and about.kind in (ANNOTATION, RATING):
        also.append(
            f"the reading of {about.source['instrument']} that it was drawn from was not found, so its own figures "
            "are not set beside these; open it in the studio, or put it back where it was."
        )
    arrow = {name: pa.Table.from_pylist(rows) for name, rows in (tables | more).items() if rows}
    return StudyReading(arrow, [f"{about.name}: {one}" for one in (*said, *also)], _manifest(about, items, seed))


def reading_of(source: Mapping[str, Any]) -> Reading | None:
    """The very reading that a study was drawn from; None where it is no longer there or was made anew."""
    folder = Path(source["folder"]) if "folder" in source else None
    if folder is None:
        return None
    place = folder if (folder / READING_FILE).exists() else folder / str(source.get("reading", ""))
    if not (place / READING_FILE).exists():
        return None
    found = load(place)
    return found if is_source(found, source) else None


def is_source(reading: Reading, source: Mapping[str, Any]) -> bool:
    """Whether a reading is the one that a study says it was drawn from."""
    told = source.get("manifest") or {}
    return bool(told) and all(plain(reading.manifest.get(part)) == value for part, value in told.items())


def _how_far(about: Study, items: Sequence[Judged]) -> str:
    wanted = about.annotators_per_item * len(items)
    given = sum(len(item.answers) for item in items)
    if given >= wanted:
        return f"all {wanted} answers to {len(items)} items are there."
    done = len(whole(items, about.annotators_per_item))
    return (
        f"{wanted - given} of {wanted} answers are still missing; {done} of {len(items)} items have all of theirs. "
        "What follows rests on those given so far."
    )


def _merged(patterns: int, groups: int, decided: int, against: int) -> list[str]:
    if not patterns:
        return []
    said = [
        f"people named {patterns} patterns, {groups} of them different ({decided} pairs were compared by a person)."
    ]
    if against:
        said.append(f"{against} pairs that were said to differ are one group by way of others: look at them again.")
    return said


def _beside(reading: Reading | None, tables: Tables, seed: int) -> tuple[Tables, list[str]]:
    """Further tables and findings where the reading has something to set beside people's answers."""
    if isinstance(reading, IllusionReading) and "sets" in tables:
        joined = beside_machine(reading, tables["sets"])
        if not joined:
            return {}, []
        groups = locality_by_people(joined)
        answers = np.array([[row["people"], row["machine"]] for row in joined], np.float64)
        found = cohen(answers, seed=seed)
        both = int((answers[:, 0] == answers[:, 1]).sum())
        said = f"people and the machine say the same of {both} of the {len(joined)} sets of directions"
        if not found.why:
            said += f" (Cohen's kappa {found.value:.2f}, {found.low:.2f} to {found.high:.2f})"
        return {"locality": groups, "machine": joined}, [*locality_findings(groups), f"{said}."]
    if isinstance(reading, SimilarityReading) and "methods" in tables:
        rows = beside_deletion(reading, tables["methods"])
        return {"deletion": rows}, opinion_findings(rows)
    return {}, []


def _manifest(about: Study, items: Sequence[Judged], seed: int) -> dict[str, Any]:
    return {
        "theodolite": version("theodolite"),
        "instrument": StudyReading.instrument,
        "study": about.id,
        "name": about.name,
        "kind": about.kind,
        "hash": study_hash(about.kind, items),
        "items": len(items),
        "annotators_per_item": about.annotators_per_item,
        "answers": sum(len(item.answers) for item in items),
        "seed": seed,
        "study_seed": about.seed,
        "source": about.source,
        "closed": about.closed_at is not None,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def study_hash(kind: str, items: Sequence[Judged]) -> str:
    """Of what was shown, its key and what was answered: equal for the same study at the same stage only."""
    told: Sequence[Mapping[str, Any]] = [
        {"item": one.item, "shown": one.shown, "key": one.key, "answers": dict(sorted(one.answers.items()))}
        for one in items
    ]
    return hashlib.sha256(json.dumps([kind, told], sort_keys=True, ensure_ascii=False).encode()).hexdigest()
