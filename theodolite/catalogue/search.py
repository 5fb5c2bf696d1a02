"""A finished catalogue: the items most like one of them, or like any text."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from theodolite.accumulate import nearest, unit_vectors
from theodolite.catalogue.baseline import less_similar
from theodolite.catalogue.folder import ITEMS, RANDOM_PAIRS, VECTORS, read_manifest
from theodolite.corpus.arrow_file import mapped_table
from theodolite.errors import InputError

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]

# Ids that are looked through for ones like an unknown one: about a second's worth.
_LOOKED_THROUGH = 20_000


@dataclass(frozen=True)
class Item:
    """A row of the catalogue; place: of its vector, None where its description is empty."""

    row: int
    id: str
    title: str
    description: str
    place: int | None


@dataclass(frozen=True)
class Similar:
    """An item that is like what was asked for.

    same: its description is the very same text; less_similar: the share of random pairs of the catalogue that are less
    alike, with its 95% interval.
    """

    id: str
    title: str
    description: str
    cosine: float
    same: bool
    less_similar: float
    less_similar_low: float
    less_similar_high: float


@dataclass(frozen=True, eq=False, repr=False)
class Catalogue:
    """Items with titles and descriptions, and one vector for each different description.

    items: id, title, description, place (the row of the vector, null where the description is empty); vectors:
    (descriptions, d), of unit length, memory-mapped, in the order of their first items; random_pairs: (m,) sorted
    cosines of random pairs of items. Search is exact: one product with every vector.
    """

    folder: Path
    manifest: dict[str, Any]
    items: pa.Table
    vectors: NDArray[np.float32]
    random_pairs: Doubles

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Catalogue:
        """A catalogue that ``build_catalogue`` wrote."""
        place = Path(folder)
        manifest = read_manifest(place)
        try:
            vectors = np.load(place / VECTORS, mmap_mode="r")
            found = cls(place, manifest, mapped_table(place / ITEMS), vectors, np.load(place / RANDOM_PAIRS))
        except (OSError, ValueError) as fault:
            why = " ".join(str(fault).split())
            raise InputError(f"{place}: damaged ({why}); remove the folder and build it again") from None
        # Sorted now, and not while the first to ask is waiting.
        _ = found.items_of
        return found

    def __len__(self) -> int:
        return int(self.items.num_rows)

    def __repr__(self) -> str:
        model = self.manifest["encoder"]["name"]
        return f"Catalogue({str(self.folder)!r}, {len(self):,} items, {len(self.vectors):,} descriptions, {model})"

    @property
    def pooling(self) -> str:
        """How tokens became one vector."""
        return str(self.manifest["pooling"])

    def item(self, id: str) -> Item:
        """The item with this id."""
        row = int(pc.index(self.items["id"], pa.scalar(str(id), pa.large_string())).as_py())
        if row < 0:
            raise InputError(f"{self.folder}: no item {str(id)!r}{self._like(str(id))}")
        return self.at([row])[0]

    def at(self, rows: list[int]) -> list[Item]:
        """The items at these rows."""
        # Slices and not `take`, which may copy a whole column of descriptions to get at a few.
        return [Item(row, **self.items.slice(row, 1).to_pylist()[0]) for row in rows]

    def similar(self, id: str, k: int = 10) -> list[Similar]:
        """The k items whose descriptions are most like that of an item, itself left out; of equal ones the first."""
        item = self.item(id)
        if item.place is None:
            raise InputError(f"{self.folder}: item {item.id!r} has an empty description, and so is like no other")
        return self._most_similar(self.vectors[item.place], item.description, k, item.row)

    def similar_to(self, text: str, encoder: Encoder, k: int = 10) -> list[Similar]:
        """The k items whose descriptions are most like a text; the encoder must be the catalogue's."""
        self.check_encoder(encoder)
        [vector] = encoder.embed([text], pooling=self.pooling)
        if not np.isfinite(vector).all():
            raise InputError("the text is empty, or the tokenizer finds nothing in it; give some words")
        return self._most_similar(unit_vectors(vector), text, k, None)

    def check_encoder(self, encoder: Encoder) -> None:
        """Refuse an encoder whose vectors are not those of the catalogue."""
        mine = self.manifest["encoder"]
        if (encoder.hash, encoder.tokenizer_hash) != (mine["hash"], mine["tokenizer_hash"]):
            wanted = " with ".join(mine[name] for name in ("name", "transform") if name in mine)
            given = " with ".join([encoder.name, *([encoder.transform.name] if encoder.transform else [])])
            raise InputError(
                f"{self.folder}: built with {wanted} ({mine['hash'][:12]}), not with {given} ({encoder.hash[:12]}); "
                "name that model with --model, and its transform with --transform"
            )
        if encoder.window_rule != mine["window"]:
            raise InputError(
                f"{self.folder}: built with windows of {mine['max_length']} tokens, not {encoder.limit}; load the "
                f"encoder with max_length={mine['max_length']}"
            )

    def neighbours(self, places: Ints, k: int) -> tuple[Doubles, Ints]:
        """Cosines and places, (n, k) both, of the descriptions most like those at some places (n,), best first.

        Each description's own place is left out; where there are fewer than k others, all of them are given.
        """
        k = min(k, len(self.vectors) - 1)
        cosines, found = nearest(self.vectors[places], [self.vectors], k + 1)
        # Its own place goes to the end, and is cut off there; so is the last, where equals stood before it.
        order = np.argsort(found == places[:, None], axis=1, kind="stable")[:, :k]
        return np.take_along_axis(cosines, order, 1), np.take_along_axis(found, order, 1)

    @cached_property
    def items_of(self) -> tuple[Ints, Ints]:
        """Rows (items,) by place, ascending; and bounds (descriptions + 1,): those of place p are bounds[p:p + 2]."""
        places = self.items["place"].fill_null(len(self.vectors)).to_numpy()
        order = np.argsort(places, kind="stable")
        return order, np.searchsorted(places[order], np.arange(len(self.vectors) + 1))

    def _most_similar(self, vector: NDArray[np.float32], text: str, k: int, left_out: int | None) -> list[Similar]:
        if k < 1:
            raise InputError(f"-k {k}: must be at least 1")
        # One more than k, as one of them may be of the item alone that is left out.
        cosines, places = _best(self.vectors, vector, min(k + 1, len(self.vectors)))
        rows, bounds = self.items_of
        ranked = [
            (-cosine, row)
            for cosine, place in zip(cosines.tolist(), places.tolist(), strict=True)
            for row in rows[bounds[place] : bounds[place + 1]].tolist()
            if row != left_out
        ]
        best = sorted(ranked)[:k]
        found = self.at([row for _, row in best])
        return [self._similar(item, -minus, text) for (minus, _), item in zip(best, found, strict=True)]

    def _similar(self, item: Item, cosine: float, text: str) -> Similar:
        cosine = min(max(cosine, -1.0), 1.0)
        beyond = less_similar(self.random_pairs, cosine)
        return Similar(item.id, item.title, item.description, cosine, item.description == text, *beyond)

    def _like(self, id: str) -> str:
        ids = self.items["id"].slice(0, _LOOKED_THROUGH).to_pylist()
        close = difflib.get_close_matches(id, ids, n=3, cutoff=0.5)
        return f"; the nearest ids are {', '.join(close)}" if close else f"; ids look like {', '.join(ids[:3])}"


def _best(vectors: NDArray[np.float32], vector: NDArray[np.float32], k: int) -> tuple[Doubles, Ints]:
    """Cosines (k,) and rows (k,) of the unit vectors (n, d) nearest to one, exactly; of equal ones the smaller row.

    As ``accumulate.nearest``, which measures every vector's length first: for a single query that is most of the time.
    """
    products = vectors @ vector
    # In single precision each is off by at most about d·ε; those that might be among the best are multiplied again.
    slack = 2 * (len(vector) + 2) * float(np.finfo(np.float32).eps)
    bar = np.partition(products, len(products) - k)[-k] - 2 * slack
    rows = np.flatnonzero(products >= bar)
    cosines: Doubles = (vectors[rows].astype(np.float64) * vector).sum(axis=1)
    best = np.lexsort((rows, -cosines))[:k]
    return cosines[best], rows[best]
