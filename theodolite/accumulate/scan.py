"""Block scans: what no single pass over the texts gives, from stored arrays seen a block at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate.top import TopK, floating

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TILE_ROWS = 4096
_TILE_QUERIES = 1024
_PAIR_NUMBERS = 2**20


def nearest(queries: NDArray[Any], blocks: Iterable[NDArray[Any]], k: int) -> tuple[Floats, Ints]:
    """The k rows with the largest dot product with each query, exactly; of equal ones the smaller row.

    queries: (q, d); blocks: arrays (b, d), whose rows are numbered on from block to block. Returns scores
    (q, k) and rows (q, k), best first, with NaN and −1 where there are fewer than k rows.

    A matrix product in the arrays' own precision finds who might be among the best, given how far it can be
    off; those are then multiplied again in float64, each pair by itself. So neither scores nor ranks depend
    on how the rows were cut into blocks, and equal vectors have equal scores. Memory beside the block: 4096
    × 1024 products, and q × k results.

    >>> scores, rows = nearest(np.eye(2), [np.array([[1.0, 0.0], [2.0, 3.0]]), np.array([[0.0, 3.0]])], 2)
    >>> scores.tolist(), rows.tolist()
    ([[2.0, 1.0], [3.0, 3.0]], [[1, 0], [1, 2]])
    """
    asked = floating(queries)
    if asked.ndim != 2:
        raise ValueError(f"queries (q, d) wanted, got {asked.shape}")
    tiles = [asked[i : i + _TILE_QUERIES] for i in range(0, len(asked), _TILE_QUERIES)]
    lengths = [_lengths(tile) for tile in tiles]
    best = [TopK(k, len(tile)) for tile in tiles]
    row = 0
    for block in blocks:
        if block.ndim != 2 or block.shape[1] != asked.shape[1]:
            raise ValueError(f"blocks (b, {asked.shape[1]}) wanted, got {block.shape}")
        for start in range(0, len(block), _TILE_ROWS):
            vectors = floating(block[start : start + _TILE_ROWS])
            longest = float(_lengths(vectors).max())
            for tile, length, top in zip(tiles, lengths, best, strict=True):
                _offer(top, tile, vectors, row, length * longest)
            row += len(vectors)
    found = [top.result() for top in best] or [(np.empty((0, k)), np.empty((0, k), np.int64))]
    return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])


def column_quantiles(
    blocks_of: Callable[[], Iterable[NDArray[Any]]], q: Sequence[float], memory: int = 2**28
) -> Floats:
    """Quantiles of every column, exactly as ``np.quantile(all, q, axis=0)`` has them in float64 ('linear').

    ``blocks_of`` is called again and again and gives each time the same blocks (b, d). Returns (len(q), d);
    NaN for a column that has a NaN.

    Columns are taken in groups, so many at once as fit in ``memory`` bytes (256 MB unless told), at least
    one: memory is the larger of ``memory`` and one column (4 bytes a row for float16 and float32, else 8),
    beside one block; the blocks are gone over 1 + (bytes of the whole array / memory) times, the first time
    for their shapes only.

    >>> column_quantiles(lambda: [np.array([[1.0], [2.0]]), np.array([[4.0]])], [0.25, 0.5]).tolist()
    [[1.5], [2.0]]
    """
    levels = np.asarray(q, np.float64)
    if levels.ndim != 1 or not ((levels >= 0) & (levels <= 1)).all():
        raise ValueError(f"quantiles are numbers from 0 to 1, got {q}")
    rows, columns, kind = _extent(blocks_of())
    place = levels * (rows - 1)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, rows - 1)
    step = (place - below)[:, None]
    # The last place is wanted too: NaNs are sorted to the end.
    wanted = np.unique(np.concatenate([below, above, [rows - 1]]))
    width = max(1, memory // (rows * kind.itemsize))
    found = np.empty((len(levels), columns))
    for first in range(0, columns, width):
        group = np.empty((min(width, columns - first), rows), kind)
        _fill(group, blocks_of(), first)
        group.partition(wanted, axis=1)
        low, high = group[:, below].T.astype(np.float64), group[:, above].T.astype(np.float64)
        with np.errstate(invalid="ignore"):  # ∞ − ∞ and 0 · ∞; both are put right below.
            apart = high - low
            # From the nearer end, as NumPy does: the steps are then monotonic and meet both ends.
            between = np.where(step < 0.5, low + apart * step, high - apart * (1 - step))
        between = np.where((low == high) | (step == 0), low, between)
        between[:, np.isnan(group[:, -1])] = np.nan
        found[:, first : first + len(group)] = between
    return found


def _offer(top: TopK, queries: NDArray[Any], vectors: NDArray[Any], row: int, scale: Floats) -> None:
    """Offer vectors (b, d), numbered from ``row``, to queries (q, d); ``scale`` (q,) is at least |q||x|."""
    products = vectors @ queries.T
    number = np.finfo(products.dtype)
    if not (scale < number.max / 4).all():
        raise ValueError("vectors must be finite, and small enough for their products to be")
    # In whatever order d products are summed, they are off by at most about d·ε·|q||x|; twice that is safe.
    width = queries.shape[1] + 2
    slack = 2 * width * (float(number.eps) * scale + float(number.tiny))
    places, columns = top.contenders(products, row, slack)
    exact = np.empty(len(places))
    chunk = max(1, _PAIR_NUMBERS // width)
    for i in range(0, len(places), chunk):
        some = slice(i, i + chunk)
        pairs = vectors[places[some]].astype(np.float64)
        pairs *= queries[columns[some]]
        exact[some] = pairs.sum(axis=1)
    top.enter(columns, exact, row + places)


def _lengths(vectors: NDArray[Any]) -> Floats:
    squares: Floats = np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64)
    return np.sqrt(squares)


def _extent(blocks: Iterable[NDArray[Any]]) -> tuple[int, int, np.dtype[Any]]:
    rows, columns = 0, -1
    kind: np.dtype[Any] = np.dtype(np.float32)
    for block in blocks:
        if block.ndim != 2 or columns not in (-1, block.shape[1]):
            raise ValueError(f"blocks (b, {'d' if columns < 0 else columns}) wanted, got {block.shape}")
        rows, columns = rows + len(block), block.shape[1]
        if block.dtype not in (np.float16, np.float32):
            kind = np.dtype(np.float64)
    if not rows:
        raise ValueError("there are no rows to take quantiles of")
    return rows, columns, kind


def _fill(group: NDArray[Any], blocks: Iterable[NDArray[Any]], first: int) -> None:
    """Copy columns (from ``first`` on) of the blocks into a group (columns, rows)."""
    row = 0
    for block in blocks:
        if row + len(block) <= group.shape[1]:
            group[:, row : row + len(block)] = block[:, first : first + len(group)].T
        row += len(block)
    if row != group.shape[1]:
        raise ValueError(f"the blocks had {group.shape[1]} rows at first and then {row}")
