"""One map of several corpora in two dimensions: a few landmarks are projected, all others placed by them.

UMAP and t-SNE want all points at once, so they see a sample of bounded size, chosen by hash. Any other
vector, of the corpora or of a new text, then lies among the landmarks it is nearest to. Distances are
Euclidean, between the vectors as they are.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import nearest
from theodolite.errors import InputError
from theodolite.projection.landmarks import Blocks, Floats, Ints, Progress, choose, extent, gather, tiles
from theodolite.projection.methods import by_tsne, by_umap, principal

Method = Literal["umap", "tsne"]

PLACING_NEIGHBOURS = 5
_FORMAT = "theodolite map 1"
# With fewer landmarks than this no neighbourhood means anything, and the libraries fail in ways of their own.
_FEWEST = 4
_STEPS = 50


@dataclass(frozen=True, eq=False)
class Map:
    """A finished map: L landmarks, no two the same vector, ordered by corpus and row.

    landmarks: (L, d) vectors; landmark_places: (L, 2); landmark_corpus: (L,) places in ``corpora``;
    landmark_row: (L,) rows in that corpus. ``method`` is 'umap', 'tsne', or 'plain' (the two principal axes)
    where there was too little to project: fewer than four different vectors, or d = 1.
    """

    landmarks: Floats
    landmark_places: Floats
    landmark_corpus: Ints
    landmark_row: Ints
    corpora: tuple[str, ...]
    method: str
    neighbours: int
    seed: int

    def place(self, vectors: NDArray[Any]) -> Floats:
        """The places (n, 2) of vectors (n, d) from the same encoder.

        Each is the geometric median of its five nearest landmarks' places, weighted by 1 / distance: unlike
        their mean, it does not lie in the void between two regions. A vector that coincides with a landmark
        lands on it. A vector's place does not depend on the others beside it.
        """
        return self.places(lambda: [np.asarray(vectors)], name="the vectors")

    def places(self, blocks_of: Blocks, *, name: str = "the corpus", progress: Progress | None = None) -> Floats:
        """The places (n, 2) of all rows of the blocks (b, d), a few hundred rows at a time.

        The blocks are gone over twice, first for their shapes only. ``name`` is for messages.
        """
        rows, _ = extent(name, blocks_of)
        found = np.empty((rows, 2), np.float32)
        for first, tile in tiles(name, blocks_of, rows, self.landmarks.shape[1]):
            found[first : first + len(tile)] = self._placed(tile)
            if progress:
                progress("placing", first + len(tile), rows)
        return found

    def save(self, path: str | Path) -> None:
        """Write the map to a file (.npz, without pickle)."""
        numbers = {"neighbours": self.neighbours, "seed": self.seed}
        about = json.dumps({"format": _FORMAT, "corpora": self.corpora, "method": self.method, **numbers})
        try:
            # A file of our own: given a path, NumPy may add an ending to it.
            with Path(path).open("wb") as file:
                np.savez(
                    file,
                    about=np.frombuffer(about.encode(), np.uint8),
                    landmarks=self.landmarks,
                    landmark_places=self.landmark_places,
                    landmark_corpus=self.landmark_corpus,
                    landmark_row=self.landmark_row,
                )
        except OSError as error:
            raise InputError(f"{path}: the map cannot be written there ({error.strerror})") from error

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a map that ``save`` wrote."""
        try:
            with Path(path).open("rb") as file, zipfile.ZipFile(file) as archive:
                held = {name.removesuffix(".npy"): _member(archive, name) for name in archive.namelist()}
            about = json.loads(held["about"].tobytes())
            if about["format"] != _FORMAT:
                raise ValueError(about["format"])
            count, width = held["landmarks"].shape
            return cls(
                _fitting(held["landmarks"], np.float32, (count, width)),
                _fitting(held["landmark_places"], np.float32, (count, 2)),
                _fitting(held["landmark_corpus"], np.int64, (count,)),
                _fitting(held["landmark_row"], np.int64, (count,)),
                tuple(about["corpora"]),
                about["method"],
                about["neighbours"],
                about["seed"],
            )
        except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
            raise InputError(f"{path}: no map can be read there ({error.strerror})") from error
        except (OSError, EOFError, ValueError, LookupError, TypeError, zipfile.BadZipFile, zlib.error) as error:
            raise InputError(f"{path}: not a map of theodolite's, or a damaged one; make the map again") from error

    @cached_property
    def _search(self) -> tuple[Floats, np.float32, Floats]:
        """Centre (d,), scale, and the landmarks (L, d + 1) as rows whose dot product ranks by distance.

        |x − l|² is |x|² − 2 (x·l − |l|²/2): of one x, the nearest l has the largest (x, 1)·(l, −|l|²/2).
        Centred and of length 1 at most, little is lost to rounding: encoders' vectors share a large mean.
        """
        centre = self.landmarks.mean(axis=0, dtype=np.float64).astype(np.float32)
        centred = self.landmarks - centre
        scale = np.float32(np.linalg.norm(centred, axis=1).max()) or np.float32(1)
        centred /= scale
        halves = np.einsum("ld,ld->l", centred, centred) / 2
        return centre, scale, np.hstack([centred, -halves[:, None]])

    def _placed(self, vectors: Floats) -> Floats:
        """Places (t, 2) of vectors (t, d), few enough to be held next to their candidates."""
        centre, scale, rows = self._search
        few = min(PLACING_NEIGHBOURS, len(rows))
        queries = np.ones((len(vectors), rows.shape[1]), np.float32)
        queries[:, :-1] = (vectors - centre) / scale
        # Twice as many as needed, since the rows are rounded; the true distances then decide.
        near = nearest(queries, [rows], min(2 * few, len(rows)))[1]
        apart = self.landmarks[near].astype(np.float64)
        apart -= vectors[:, None]
        distances = np.sqrt(np.einsum("tkd,tkd->tk", apart, apart))
        order = np.lexsort((near, distances), axis=-1)[:, :few]
        near, distances = np.take_along_axis(near, order, 1), np.take_along_axis(distances, order, 1)
        # 1 / distance, times the smallest: whatever the scale of the vectors, nothing overflows.
        smallest, there = distances[:, :1], distances == 0
        weights = np.where(smallest == 0, there, smallest / np.where(there, 1, distances))
        weights /= weights.sum(axis=1, keepdims=True)
        return _median(self.landmark_places[near], weights)


def fit_map(
    blocks_by_corpus: Mapping[str, Blocks],
    *,
    method: Method,
    landmarks: int = 20_000,
    neighbours: int = 15,
    seed: int = 0,
    progress: Progress | None = None,
) -> Map:
    """A map of all corpora together, made from at most ``landmarks`` of their vectors.

    Each value of ``blocks_by_corpus`` gives, as often as it is called, the same blocks (b, d) in row order.
    Corpora have equal shares in the landmarks, but a small one gives all it has; the choice is by hash of
    seed, name and row. Of equal vectors the first is a landmark and the others count for nothing.

    ``neighbours`` is how many UMAP joins each point to; t-SNE's perplexity is twice that, so that 15 is the
    usual setting of either. ``progress`` hears of 'counting' (corpora), 'reading' (rows) and 'fitting' (UMAP's
    epochs; t-SNE cannot say how far it is, and counts as one).

    Memory: landmarks × d numbers and what the method makes of them, beside a block.
    """
    if method not in get_args(Method):
        raise InputError(f"method {method!r}: the map is made by {' or '.join(get_args(Method))}")
    if landmarks < 1 or neighbours < 2:
        raise InputError(f"landmarks={landmarks}, neighbours={neighbours}: give 1 or more, and 2 or more")
    tell = progress or _silent
    names = sorted(blocks_by_corpus)
    counts, chosen = choose(names, blocks_by_corpus, landmarks, seed, tell)
    vectors, corpus, row = gather(names, blocks_by_corpus, counts, chosen, tell)
    # Copies of one text would be a cluster of their own: all of a point's neighbours are then itself.
    whole = np.dtype((np.void, vectors.dtype.itemsize * vectors.shape[1]))
    distinct = np.sort(np.unique(vectors.view(whole).ravel(), return_index=True)[1])
    vectors, corpus, row = vectors[distinct], corpus[distinct], row[distinct]
    if len(vectors) < _FEWEST or vectors.shape[1] < 2:
        tell("fitting", 0, 1)
        made, places = "plain", principal(vectors, 2)
        tell("fitting", 1, 1)
    else:
        # The libraries' generators take 32 bits.
        fit = by_umap if method == "umap" else by_tsne
        made, places = str(method), fit(vectors, neighbours, seed % 2**32, tell)
    return Map(vectors, places, corpus, row, tuple(names), made, neighbours, seed)


def _median(places: Floats, weights: NDArray[np.float64]) -> Floats:
    """Points (t, 2) whose summed distances to places (t, k, 2), times weights (t, k), are least (Weiszfeld)."""
    found = np.einsum("tk,tkp->tp", weights, places)
    for _ in range(_STEPS):
        apart = np.linalg.norm(places - found[:, None], axis=2)
        # On a landmark the distance is 0; it is then held fast by a weight that is large but finite.
        pull = weights / np.maximum(apart, 1e-9 * apart.max(axis=1, keepdims=True) + 1e-30)
        found = np.einsum("tk,tkp->tp", pull / pull.sum(axis=1, keepdims=True), places)
    return np.asarray(found, np.float32)


def _member(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(name) as member:
        return np.asarray(np.lib.format.read_array(member, allow_pickle=False))


def _fitting(array: NDArray[Any], kind: type[np.generic], shape: tuple[int, ...]) -> NDArray[Any]:
    if array.dtype != kind or array.shape != shape or not array.size or not np.isfinite(array).all():
        raise ValueError(f"{kind} {shape} wanted")
    return array


def _silent(stage: str, done: int, total: int) -> None:
    """Progress that nobody follows."""
