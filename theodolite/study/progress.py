"""How far a study is, for its owner."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from theodolite.study.create import study as study_of
from theodolite.study.database import Database
from theodolite.study.models import Annotator, Assignment, Item


@dataclass(frozen=True)
class AnnotatorProgress:
    """One annotator: how many items were answered, and how many are in hand."""

    id: int
    name: str
    answered: int
    in_hand: int
    seen_at: datetime | None


@dataclass(frozen=True)
class Progress:
    """The whole study: opinions wanted, given and in hand; items that have all of theirs."""

    items: int
    wanted: int
    answered: int
    in_hand: int
    finished_items: int
    annotators: list[AnnotatorProgress]


def progress(database: Database, study_id: int) -> Progress:
    """Counts of the study, and of each annotator in the order of invitation."""
    wanted_each = study_of(database, study_id).annotators_per_item
    with database.reading() as session:
        items = session.scalar(select(func.count()).where(Item.study_id == study_id)) or 0
        people = list(session.scalars(select(Annotator).where(Annotator.study_id == study_id).order_by(Annotator.id)))
        asked = (
            select(Assignment.item_id, Assignment.annotator_id, Assignment.answered)
            .join(Annotator, Assignment.annotator_id == Annotator.id)
            .where(Annotator.study_id == study_id, Assignment.slot.is_not(None))
        )
        answered: dict[int, int] = {}
        in_hand: dict[int, int] = {}
        opinions: dict[int, int] = {}
        for item, who, done in session.execute(asked):
            (answered if done else in_hand).update({who: (answered if done else in_hand).get(who, 0) + 1})
            opinions[item] = opinions.get(item, 0) + done
        rows = [AnnotatorProgress(p.id, p.name, answered.get(p.id, 0), in_hand.get(p.id, 0), p.seen_at) for p in people]
    return Progress(
        items,
        items * wanted_each,
        sum(answered.values()),
        sum(in_hand.values()),
        sum(n >= wanted_each for n in opinions.values()),
        rows,
    )
