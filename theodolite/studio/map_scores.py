"""Scores of a map's points along any direction, from the vectors in the store, a block at a time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import Covariance, unit_vectors
from theodolite.embed import Embeddings
from theodolite.illusion.points import Floats
from theodolite.studio.directions_named import named_vector
from theodolite.studio.directions_prepare import Wanted
from theodolite.studio.map_points import MapPoints

REMEMBERED = 12
# What the vectors are where the map is of a reading that has no options about them.
PLAIN = {"layer": -1, "pooling": "own", "normalize": False, "seed": 0}


class Scores:
    """The scores of points, each direction's worked out once and the latest remembered; safe in several threads."""

    def __init__(self, points: MapPoints, wanted: Wanted, kept: Mapping[str, Embeddings]) -> None:
        self._points, self._kept = points, kept
        self._seed, self._unit = int(wanted.options["seed"]), bool(wanted.options["normalize"])
        self._known: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    def along(self, name: str, vector: Floats | None = None) -> NDArray[np.float32]:
        """(n,) the dot product of each point's vector with a direction; a point without a vector has no number.

        vector: (d,) of a direction that does not follow from its name.
        """
        with self._lock:
            if name not in self._known:
                self._known[name] = self._projected(self.vector(name) if vector is None else vector)
            self._known.move_to_end(name)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
            return self._known[name]

    def vector(self, name: str) -> Floats:
        """(d,) the direction neuron N, random N or pc N."""
        return named_vector(name, self.dim, self._seed, changes=self._changes, covariance=lambda: self._covariance)

    @cached_property
    def dim(self) -> int:
        """Numbers a vector."""
        return int(next(vectors.shape[1] for one in self._kept.values() for _, vectors in one.blocks()))

    @cached_property
    def _covariance(self) -> Floats:
        """(d, d) of the vectors of all points of the map, as the illusion reading has it."""
        together = Covariance(self.dim)
        for vectors in self._shown():
            together.update(vectors.astype(np.float64))
        covariance: Floats = together.result()[2]
        return covariance

    def _changes(self, neuron: int) -> bool:
        values = np.concatenate([vectors[:, neuron] for vectors in self._shown()])
        return bool(values.min() < values.max())

    def _shown(self) -> Iterator[NDArray[Any]]:
        """The vectors of all points of the map that have one, a block at a time."""
        for number, name in enumerate(self._points.corpora):
            shown = self._points.rows[self._points.by_corpus[number]]
            for rows, vectors in self._kept[name].blocks():
                mine = vectors[np.isin(rows, shown)]
                if len(mine):
                    yield unit_vectors(mine) if self._unit else mine

    def _projected(self, vector: Floats) -> NDArray[np.float32]:
        by_row: list[NDArray[Any] | None] = []
        for name in self._points.corpora:
            kept = self._kept[name]
            scores = np.full(len(kept.corpus), np.nan, np.float32)
            for rows, vectors in kept.blocks():
                scores[rows] = (unit_vectors(vectors) if self._unit else vectors) @ vector.astype(vectors.dtype)
            by_row.append(scores)
        return self._points.spread(by_row, np.nan, "float32")


def about_vectors(wanted: Wanted) -> Wanted:
    """The same, with the options that say what the vectors are where the reading has none of its own."""
    options = {name: wanted.options.get(name, usual) for name, usual in PLAIN.items()}
    # Salience has a pooling of no matter here: its vectors are of the maps, and not of the texts.
    return replace(wanted, manifest={**wanted.manifest, "options": options})
