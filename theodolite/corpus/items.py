"""Items of a catalogue: a corpus whose texts are descriptions, with a title and an id each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from urllib.parse import quote

from theodolite.corpus.corpus import Corpus


def read_items(
    source: str | os.PathLike[str],
    *,
    title: str,
    description: str,
    id: str | None = None,
    limit: int | None = None,
    sample: int | None = None,
    seed: int = 0,
    columns: Sequence[str] = (),
    cache: str | os.PathLike[str] | None = None,
) -> Corpus:
    """Read a table of items, naming the columns of their titles and descriptions.

    The corpus has `text` (descriptions), `title` and, where a column is named, `id`.
    """
    roles = {"text": description, "title": title, **({} if id is None else {"id": id})}
    given = os.fspath(source)
    query = "&".join(f"{role}={quote(column)}" for role, column in roles.items())
    whole = f"{given}{'&' if '?' in given else '?'}{query}"
    return Corpus.read(whole, limit=limit, sample=sample, seed=seed, columns=columns, cache=cache)
