"""The points of a survey's map: the place of every text, from the reading that made one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from theodolite.studio.faults import NotFound
from theodolite.studio.workspace import Opened

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class MapPoints:
    """n points. corpora: names; corpus (n,): which of them; rows (n,): places in its table; x, y (n,).

    positions (n,): of single tokens, their places in their texts.
    """

    reading: str
    corpora: tuple[str, ...]
    corpus: NDArray[np.uint16]
    rows: Ints
    x: NDArray[np.float32]
    y: NDArray[np.float32]
    positions: Ints | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def body(self) -> bytes:
        """x, then y (float32), then the corpus's number (uint16), all little-endian."""
        return b"".join(
            part.astype(kind).tobytes() for part, kind in ((self.x, "<f4"), (self.y, "<f4"), (self.corpus, "<u2"))
        )

    @cached_property
    def hash(self) -> str:
        """Of the places, for caches."""
        return hashlib.blake2b(self.body, digest_size=16).hexdigest()

    @cached_property
    def by_corpus(self) -> list[Ints]:
        """The points of each corpus."""
        return [np.flatnonzero(self.corpus == number) for number in range(len(self.corpora))]

    def spread(self, by_row: list[NDArray[Any] | None], missing: Any, kind: str) -> NDArray[Any]:
        """(n,) the value of each point, given each corpus's values by row; None where a corpus has none."""
        found = np.full(len(self), missing, kind)
        for mine, values in zip(self.by_corpus, by_row, strict=True):
            if values is not None:
                rows = self.rows[mine]
                inside = rows < len(values)
                found[mine[inside]] = values[rows[inside]]
        return found


def readings_with_map(opened: Opened) -> list[str]:
    """The readings that have a map, those of illusion first: theirs is of the vectors themselves."""
    return [name for name in (*opened.named("illusion"), *opened.named("salience")) if _table(opened, name) is not None]


def points_of(opened: Opened, reading: str) -> MapPoints:
    """The points of a reading's map."""
    table = _table(opened, reading) if reading in opened.readings else None
    if table is None:
        there = ", ".join(readings_with_map(opened)) or "none"
        raise NotFound(f"{opened.slug} has no map called so; readings with one: {there}")
    # A place that is no number cannot be drawn.
    table = table.filter(pc.and_(pc.is_finite(table["x"]), pc.is_finite(table["y"])))
    names = table["corpus"].cast(pa.string())
    corpora = tuple(name for name in opened.corpora if pc.any(pc.equal(names, name)).as_py())
    return MapPoints(
        reading,
        corpora,
        pc.index_in(names, value_set=pa.array(corpora, pa.string())).to_numpy().astype(np.uint16),
        table["row"].to_numpy(),
        table["x"].to_numpy().astype(np.float32),
        table["y"].to_numpy().astype(np.float32),
        table["position"].to_numpy() if "position" in table.column_names else None,
    )


def _table(opened: Opened, reading: str) -> pa.Table | None:
    tables = opened.reading(reading).tables
    if "map" in tables:
        return tables["map"]
    texts = tables.get("texts")
    return texts if texts is not None and {"x", "y"} <= set(texts.column_names) else None
