"""Making a study, closing it, and finding it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from theodolite.errors import InputError
from theodolite.reading import plain
from theodolite.study.database import Database
from theodolite.study.items import content_of, paired
from theodolite.study.kinds import INSTRUCTIONS, KINDS, MOST_MINUTES, TITLES
from theodolite.study.models import Item, ItemKey, Study, now

RELEASE_AFTER = 3600
_LONGEST = {"name": 200, "title": 200, "instructions": 10_000}


def create_study(
    database: Database,
    *,
    name: str,
    kind: str,
    items: Sequence[Mapping[str, Any]],
    key: Sequence[Mapping[str, Any]],
    annotators_per_item: int = 2,
    seed: int = 0,
    release_after: int = RELEASE_AFTER,
    title: str = "",
    instructions: str = "",
    source: Mapping[str, Any] | None = None,
) -> int:
    """A new study of items as the draws give them, with their key; its number.

    name, source: for the owner; title, instructions: what annotators read, those of the kind when empty;
    release_after: seconds after which an item taken and not answered may go to someone else.
    """
    if kind not in KINDS:
        raise InputError(f"--kind {kind}: not one of {', '.join(KINDS)}")
    if annotators_per_item < 1:
        raise InputError(f"--annotators {annotators_per_item}: must be at least 1")
    if not 1 <= release_after <= 60 * MOST_MINUTES:
        raise InputError(f"--release-after: from 1 to {MOST_MINUTES} minutes, a year")
    told = {"name": name.strip(), "title": title.strip() or TITLES[kind]}
    told["instructions"] = instructions.strip() or INSTRUCTIONS[kind]
    if not told["name"]:
        raise InputError("--name: a study needs a name")
    for field, most in _LONGEST.items():
        if len(told[field]) > most or "\0" in told[field]:
            raise InputError(f"--{field}: at most {most} characters, none of them NUL")
    pairs = [(content_of(kind, item), row) for item, row in paired(items, key)]
    with database.writing() as session:
        study = Study(
            **told,
            kind=kind,
            annotators_per_item=annotators_per_item,
            release_after=release_after,
            seed=seed,
            source=plain(source or {}),
            created_at=now(),
        )
        session.add(study)
        session.flush()
        shown = [Item(study_id=study.id, content=content.model_dump()) for content, _ in pairs]
        session.add_all(shown)
        session.flush()
        for item, (_, row) in zip(shown, pairs, strict=True):
            hidden = plain({name: value for name, value in row.items() if name != "id"})
            session.add(ItemKey(item_id=item.id, name=str(row["id"]), key=hidden))
        return study.id


def studies(database: Database) -> list[Study]:
    """Every study, the newest first."""
    with database.reading() as session:
        return list(session.scalars(select(Study).order_by(Study.id.desc())))


def study(database: Database, study_id: int) -> Study:
    """One of them."""
    with database.reading() as session:
        return _there(session.get(Study, study_id), study_id)


def close(database: Database, study_id: int) -> None:
    """No more answers."""
    with database.writing() as session:
        found = locked_study(session, study_id)
        found.closed_at = found.closed_at or now()


def reopen(database: Database, study_id: int) -> None:
    """Answers again."""
    with database.writing() as session:
        locked_study(session, study_id).closed_at = None


def locked_study(session: Session, study_id: int) -> Study:
    """The study, with everyone else who would change it waiting until this session ends."""
    return _there(session.get(Study, study_id, with_for_update=True, populate_existing=True), study_id)


def _there(found: Study | None, study_id: int) -> Study:
    if found is None:
        raise NoStudy(f"there is no study {study_id}")
    return found


class NoStudy(InputError):
    """No study has this number."""
