"""Who has which item: taking a free slot, giving it back. All of it with the study locked.

Every item has as many slots as it needs opinions. An assignment holds one from when the item is taken until it is
released; with an answer it holds it for good.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Select, func, select, true, update
from sqlalchemy.orm import Session

from theodolite.study.models import Annotator, Assignment, Item, Study


def held(session: Session, annotator: Annotator) -> list[Assignment]:
    """What an annotator has and has not answered, in the order it was taken."""
    mine = _mine(annotator).where(Assignment.slot.is_not(None), Assignment.answered.is_(False))
    return list(session.scalars(mine.order_by(Assignment.place)))


def free_items(session: Session, study: Study, annotator: Annotator) -> list[int]:
    """The items that want an opinion and that the annotator does not have, in the order that is the annotator's own."""
    taken = (
        select(Assignment.item_id)
        .join(Item)
        .where(Item.study_id == study.id, Assignment.slot.is_not(None))
        .group_by(Assignment.item_id)
        .having(func.count() >= study.annotators_per_item)
    )
    mine = select(Assignment.item_id).where(Assignment.annotator_id == annotator.id, Assignment.slot.is_not(None))
    free = select(Item.id).where(Item.study_id == study.id, Item.id.not_in(taken), Item.id.not_in(mine))
    return sorted(session.scalars(free), key=lambda item: _shuffled(study, annotator, item))


def in_others_hands(session: Session, study: Study, annotator: Annotator) -> int:
    """How many items that the annotator does not have are taken by others and not answered."""
    mine = select(Assignment.item_id).where(Assignment.annotator_id == annotator.id, Assignment.slot.is_not(None))
    asked = (
        select(func.count(Assignment.item_id.distinct()))
        .join(Item)
        .where(Item.study_id == study.id, Assignment.slot.is_not(None), Assignment.answered.is_(False))
        .where(Assignment.item_id.not_in(mine))
    )
    return session.scalar(asked) or 0


def take(session: Session, study: Study, annotator: Annotator, item_id: int, moment: datetime) -> Assignment | None:
    """The item for the annotator, or nothing when enough others have it."""
    used = set(session.scalars(select(Assignment.slot).where(Assignment.item_id == item_id)))
    slot = next((n for n in range(1, study.annotators_per_item + 1) if n not in used), None)
    if slot is None:
        return None
    last = session.scalar(select(func.max(Assignment.place)).where(Assignment.annotator_id == annotator.id))
    mine = session.scalar(_mine(annotator).where(Assignment.item_id == item_id))
    if mine is None:
        mine = Assignment(
            item_id=item_id, annotator_id=annotator.id, public_id=secrets.token_urlsafe(12), answered=False
        )
        session.add(mine)
    mine.slot, mine.place = slot, (last or 0) + 1
    mine.taken_at = mine.seen_at = moment
    session.flush()
    return mine


def release_held(session: Session, study: Study, *, annotator_id: int | None = None) -> int:
    """Give back what was taken and not answered, by one annotator or by all; how many."""
    return _release(session, study, true() if annotator_id is None else Assignment.annotator_id == annotator_id)


def release_abandoned(session: Session, study: Study, moment: datetime) -> int:
    """Give back what nobody has looked at for too long; how many."""
    return _release(session, study, Assignment.seen_at < moment - timedelta(seconds=study.release_after))


def _release(session: Session, study: Study, which: ColumnElement[bool]) -> int:
    whose = select(Annotator.id).where(Annotator.study_id == study.id)
    open_ones = (Assignment.slot.is_not(None), Assignment.answered.is_(False), Assignment.annotator_id.in_(whose))
    numbers = list(session.scalars(select(Assignment.id).where(*open_ones, which)))
    for number in numbers:
        session.execute(update(Assignment).where(Assignment.id == number).values(slot=None))
    return len(numbers)


def _mine(annotator: Annotator) -> Select[Assignment]:
    return select(Assignment).where(Assignment.annotator_id == annotator.id)


def _shuffled(study: Study, annotator: Annotator, item_id: int) -> bytes:
    return hashlib.blake2b(f"{study.seed} {annotator.id} {item_id}".encode(), digest_size=8).digest()
