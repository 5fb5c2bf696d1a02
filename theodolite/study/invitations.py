"""Annotators and their personal links. A link is told once; the database has only its hash."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from theodolite.errors import InputError
from theodolite.study.create import locked_study
from theodolite.study.database import Database
from theodolite.study.faults import NoAnnotator, UnknownLink
from theodolite.study.models import Annotator, now

LONGEST_NAME = 100
_LONGEST_TOKEN = 200


def invite(database: Database, study_id: int, names: Sequence[str]) -> list[tuple[str, str]]:
    """A token for each name, to be handed over now: it cannot be shown again."""
    wanted = [clean_name(name) for name in names]
    with database.writing() as session:
        locked_study(session, study_id)
        there = set(session.scalars(select(Annotator.name).where(Annotator.study_id == study_id)))
        found = []
        for name in wanted:
            if name in there:
                raise InputError(f"'{name}' is invited already; give another name, or make a new link for '{name}'")
            there.add(name)
            token = new_token()
            session.add(Annotator(study_id=study_id, name=name, token_hash=hashed(token), invited_at=now()))
            found.append((name, token))
        return found


def new_link(database: Database, study_id: int, annotator_id: int) -> tuple[str, str]:
    """The name and a new token of an annotator whose link was lost or seen by others; the old one is void."""
    with database.writing() as session:
        annotator = session.get(Annotator, annotator_id)
        if annotator is None or annotator.study_id != study_id:
            raise NoAnnotator(f"study {study_id} has no annotator {annotator_id}")
        token = new_token()
        annotator.token_hash = hashed(token)
        return annotator.name, token


def annotator_of(session: Session, token: str) -> Annotator:
    """Whose link it is."""
    digest = hashed(token) if len(token) <= _LONGEST_TOKEN else ""
    found = session.scalar(select(Annotator).where(Annotator.token_hash == digest))
    if found is None or not hmac.compare_digest(found.token_hash, digest):
        raise UnknownLink
    return found


def clean_name(name: str) -> str:
    """A name as it is kept: one line, neither empty nor long."""
    clean = " ".join(name.replace("\0", "").split())
    if not clean or len(clean) > LONGEST_NAME:
        raise InputError(f"a name has 1 to {LONGEST_NAME} characters, and this one has {len(clean)}")
    return clean


def new_token() -> str:
    """32 random bytes that fit into an address."""
    return secrets.token_urlsafe(32)


def hashed(token: str) -> str:
    """What is kept of a token. It is random and long, so that a plain hash cannot be undone by trying."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
