"""Which vectors of the corpora are landmarks, and the vectors of a corpus a tile at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import HashSample, hash_of
from theodolite.corpus.hashing import text_key
from theodolite.errors import InputError

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Blocks = Callable[[], Iterable[NDArray[Any]]]
Progress = Callable[[str, int, int], None]

# Rows at a time: what is made of them, rows × 10 candidates × d in float64, stays within tens of megabytes.
_TILE = 512


def choose(
    names: Sequence[str], blocks_by_corpus: Mapping[str, Blocks], landmarks: int, seed: int, tell: Progress
) -> tuple[list[int], list[Ints]]:
    """Rows of each corpus, and which of them are landmarks, ascending."""
    counts: list[int] = []
    samples: list[Ints] = []
    widths: dict[str, int] = {}
    tell("counting", 0, len(names))
    for name in names:
        rows, width = extent(name, blocks_by_corpus[name])
        sample, key = HashSample(landmarks, 1), text_key([name])
        for first in range(0, rows, 2**20):
            some = np.arange(first, min(first + 2**20, rows))
            sample.update(hash_of(seed, key, some), some[:, None])
        counts.append(rows)
        samples.append(sample.result()[:, 0])
        widths |= {name: width} if rows else {}
        tell("counting", len(counts), len(names))
    if not widths:
        raise InputError("there is nothing to make a map of: no corpus has any rows")
    if len(set(widths.values())) > 1:
        sizes = ", ".join(f"{name}: {width}" for name, width in widths.items())
        raise InputError(f"the corpora's vectors differ in size ({sizes}); embed all with the same encoder and layer")
    shares = _shares(counts, landmarks)
    return counts, [np.sort(sample[:share]) for sample, share in zip(samples, shares, strict=True)]


def _shares(counts: Sequence[int], total: int) -> list[int]:
    """``total`` shared out equally, nobody getting more than they have.

    >>> _shares([100, 2, 50], 60)
    [29, 2, 29]
    """
    shares = [0] * len(counts)
    # The smallest first: what they leave goes to the others.
    for done, i in enumerate(sorted(range(len(counts)), key=lambda i: counts[i])):
        shares[i] = min(counts[i], total // (len(counts) - done))
        total -= shares[i]
    return shares


def gather(
    names: Sequence[str],
    blocks_by_corpus: Mapping[str, Blocks],
    counts: Sequence[int],
    chosen: Sequence[Ints],
    tell: Progress,
) -> tuple[Floats, Ints, Ints]:
    """The landmarks' vectors (L, d), corpora (L,) and rows (L,). Every row is looked at: better now than later."""
    taken: list[Floats] = []
    total, width, before = sum(counts), None, 0
    tell("reading", 0, total)
    for name, count, rows in zip(names, counts, chosen, strict=True):
        for first, tile in tiles(name, blocks_by_corpus[name], count, width):
            width = tile.shape[1]
            begin, end = np.searchsorted(rows, [first, first + len(tile)])
            taken.append(tile[rows[begin:end] - first])
            tell("reading", before + first + len(tile), total)
        before += count
    corpus = np.repeat(np.arange(len(names)), [len(rows) for rows in chosen])
    # −0 and 0 are the same number but not the same bytes, by which vectors are compared.
    return np.concatenate(taken) + np.float32(0), corpus, np.concatenate(chosen)


def extent(name: str, blocks_of: Blocks) -> tuple[int, int]:
    """Rows and columns of the blocks, whose numbers are not looked at."""
    rows, width = 0, 0
    for block in blocks_of():
        if block.ndim != 2 or not block.shape[1] or width not in (0, block.shape[1]):
            raise InputError(f"{name}: vectors (n, {width or 'd'}) wanted, got {block.shape}")
        rows, width = rows + len(block), block.shape[1]
    return rows, width


def tiles(name: str, blocks_of: Blocks, rows: int, width: int | None) -> Iterator[tuple[int, Floats]]:
    """First row and vectors (t, d) of one tile after another, which must come to ``rows`` rows in all."""
    first = 0
    for block in blocks_of():
        if len(block) and width not in (None, block.shape[1]):
            raise InputError(f"{name}: vectors of {block.shape[1]} numbers, the map has {width}; use the same encoder")
        for start in range(0, len(block), _TILE):
            tile = np.asarray(block[start : start + _TILE], np.float32)
            finite = np.isfinite(tile).all(axis=1)
            if not finite.all():
                raise InputError(f"{name}: row {first + int(finite.argmin())} has NaN or infinity in its vector")
            if first + len(tile) > rows:
                raise InputError(f"{name}: there were {rows} rows at first and then more; let nothing write meanwhile")
            yield first, tile
            first += len(tile)
    if first != rows:
        raise InputError(f"{name}: there were {rows} rows at first and then {first}; let nothing write meanwhile")
