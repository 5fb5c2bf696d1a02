"""Texts of a survey's corpora to pick paragraphs from."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from theodolite.accumulate import hash_of
from theodolite.corpus import Corpus
from theodolite.studio.compare_schemas import LONGEST, Picked, PickedText


def picked(corpus: Corpus, query: str, seed: int, limit: int) -> Picked:
    """Texts that contain the query, capitals aside, in their order; without one, a seeded random choice."""
    texts = corpus.column("text")
    wanted = query.strip()
    if wanted:
        rows = np.flatnonzero(pc.match_substring(texts, wanted, ignore_case=True).to_numpy(zero_copy_only=False))
        chosen = rows[:limit]
    else:
        rows = np.arange(len(corpus))
        chosen = np.argsort(hash_of(seed, rows), kind="stable")[:limit]
    return Picked(texts=[_text(corpus, row) for row in chosen.tolist()], found=len(rows))


def _text(corpus: Corpus, row: int) -> PickedText:
    text = corpus.text(row)
    return PickedText(corpus=corpus.name, row=row, text=text[:LONGEST], cut=len(text) > LONGEST)
