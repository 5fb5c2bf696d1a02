"""Monotonic tokens: those whose counts strictly rise, or strictly fall, over five groups of texts.

The texts of a corpus are put in order by a score, a neuron's activation or a projection on a direction, and cut
into five groups of equal numbers of texts. Arrays in, arrays out. What costs time is the tally: entries × columns
additions, and twice that with the baseline. It is the one piece compiled by numba; the rest is NumPy.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Changes = NDArray[np.int8]
Groups = NDArray[np.uint8]

GROUPS = 5
# Columns tallied in one walk over the entries. With 900 tokens the sums of eight columns, 288 kB, stay in a core's
# second cache, and the walk itself, the dearer part for one column, is paid once for the eight.
_ABREAST = 8
# Rows turned into columns at a time: a tile's lines stay in the first cache until all of their numbers were taken.
_TILE = 128


@dataclass(frozen=True)
class Counts:
    """How often each text of a corpus holds each of the chosen tokens; zeros are left out.

    The entries of text i are those from bounds[i] to bounds[i + 1]. bounds: (n + 1,); token: (entries,), places among
    the chosen tokens, ascending within a text; count: (entries,), at least 1.
    """

    bounds: Ints
    token: NDArray[np.int32]
    count: NDArray[np.int32]

    @property
    def texts(self) -> int:
        """The number of texts, n."""
        return len(self.bounds) - 1


def common_tokens(ids_by_corpus: Sequence[Ints], min_count: int) -> Ints:
    """The ids, ascending, that occur at least ``min_count`` times in every corpus, from each one's flat ids (t,).

    >>> common_tokens([np.array([7, 7, 9, 9]), np.array([9, 7, 9, 5, 5])], 2).tolist()
    [9]
    """
    if min_count < 1:
        raise ValueError(f"min_count is {min_count}: a token that need not occur has no counts to compare")
    size = max((int(ids.max()) + 1 for ids in ids_by_corpus if len(ids)), default=0)
    common = np.full(size, len(ids_by_corpus) > 0)
    for ids in ids_by_corpus:
        common &= np.bincount(ids, minlength=size) >= min_count
    return np.flatnonzero(common).astype(np.int64)


def counts_of(ids: Ints, bounds: Ints, tokens: Ints) -> Counts:
    """Count the chosen ``tokens`` (k,), different ids, in texts given as flat ids (t,) with their bounds (n + 1,).

    >>> found = counts_of(np.array([9, 4, 9, 4]), np.array([0, 3, 3, 4]), np.array([4, 9]))
    >>> found.bounds.tolist(), found.token.tolist(), found.count.tolist()
    ([0, 2, 2, 3], [0, 1, 0], [1, 2, 1])
    """
    if bounds[0] != 0 or bounds[-1] != len(ids):
        raise ValueError(f"the bounds go from {bounds[0]} to {bounds[-1]}, but there are {len(ids)} tokens")
    place = np.full(max(int(part.max(initial=-1)) for part in (ids, tokens)) + 1, -1, np.int32)
    place[tokens] = np.arange(len(tokens), dtype=np.int32)
    places = place[ids]
    kept = places >= 0
    n, k = len(bounds) - 1, len(tokens)
    texts = np.repeat(np.arange(n, dtype=np.int64), np.diff(bounds))[kept]
    entries, count = np.unique(texts * k + places[kept], return_counts=True)
    found = np.searchsorted(entries, np.arange(n + 1, dtype=np.int64) * k).astype(np.int64)
    return Counts(found, (entries % max(k, 1)).astype(np.int32), count.astype(np.int32))


def quintiles(scores: NDArray[Any]) -> Groups:
    """The group, 0 to 4, of each row for each column of scores (n, m): (n, m), with its columns contiguous.

    The rows in order of score, equal ones in order of row, are numbered from 0; number i is in group floor(5 i / n).

    >>> quintiles(np.array([[3.0], [1.0], [1.0], [2.0], [1.0], [0.0]])).ravel().tolist()
    [4, 0, 1, 3, 2, 0]
    """
    n, m = scores.shape
    found = np.empty((m, n), np.uint8)

    def fill(column: int) -> None:
        found[column] = _groups_of(scores[:, column], column)

    _in_threads(fill, range(m))
    return found.T


def group_counts(counts: Counts, groups: Groups, n_tokens: int) -> Ints:
    """Occurrences of each chosen token in each of the five groups, for groups (n, m): (m, n_tokens, 5)."""
    m = groups.shape[1]
    _check(counts, len(groups), n_tokens)
    if int(groups.max(initial=0)) >= GROUPS:
        raise ValueError(f"a group is numbered {groups.max()}; they go from 0 to {GROUPS - 1}")
    found = np.empty((m, n_tokens, GROUPS), np.int64)

    def fill(low: int) -> None:
        found[low : low + _ABREAST] = _tallied(counts, groups.T[low : low + _ABREAST], n_tokens)

    _in_threads(fill, range(0, m, _ABREAST))
    return found


def directions_of_change(counts: NDArray[Any]) -> Changes:
    """Of counts over the groups (…, 5): +1 where they strictly rise, -1 where they strictly fall, 0 elsewhere.

    >>> directions_of_change(np.array([[1, 2, 4, 5, 9], [9, 4, 3, 2, 0], [1, 2, 2, 3, 4]])).tolist()
    [1, -1, 0]
    """
    before, after = counts[..., :-1], counts[..., 1:]
    return np.asarray((after > before).all(-1).astype(np.int8) - (after < before).all(-1), np.int8)


def change_of_scores(scores: NDArray[Any], counts: Counts, n_tokens: int) -> Changes:
    """The change of each token's counts along each column of scores (n, m): (m, n_tokens)."""
    _check(counts, len(scores), n_tokens)
    return _changes(scores.T, counts, n_tokens)[0]


def change_of_columns(
    blocks_of: Callable[[], Iterable[NDArray[Any]]],
    counts: Counts,
    columns: int,
    n_tokens: int,
    shuffle_seed: int | None = None,
    memory: int = 2**28,
) -> tuple[Changes, Changes | None]:
    """The change of each token's counts along each column of a corpus's embeddings, and that with the rows shuffled.

    ``blocks_of()`` gives the embeddings (n, columns) in row order as blocks (b, columns). It is called once for their
    type, and once for each set of columns whose scores fit in ``memory`` bytes. Returns (columns, n_tokens) twice, the
    second None without a ``shuffle_seed``. Each column has a permutation of its own, made from the seed and its number
    alone: give each corpus another seed, or two of equally many texts are shuffled alike.
    """
    n = counts.texts
    _check(counts, n, n_tokens)
    kind = next((block.dtype for block in blocks_of()), np.dtype(np.float32))
    width = max(1, memory // max(1, n * kind.itemsize))
    if width > _ABREAST:
        width -= width % _ABREAST
    change = np.zeros((columns, n_tokens), np.int8)
    shuffled = None if shuffle_seed is None else np.zeros_like(change)
    held = np.empty((min(width, columns), n), kind)
    for low in range(0, columns, width):
        high = min(low + width, columns)
        scores = held[: high - low]
        _gather(blocks_of(), scores, low, columns)
        change[low:high], part = _changes(scores, counts, n_tokens, shuffle_seed, low)
        if shuffled is not None and part is not None:
            shuffled[low:high] = part
    return change, shuffled


def shares(changes: Sequence[Changes], names: Sequence[str]) -> list[dict[str, Any]]:
    """For every combination of corpora, the shares of (column, token) pairs that are monotonic in all of its members.

    ``changes``: for each corpus (m, tokens). Single corpora first, then pairs, and so on. A pair is monotonic where it
    rises or falls, and may rise in one corpus and fall in another; increasing: it rises in all; decreasing: falls in
    all. ``pairs`` is m × tokens; where there are none the shares are nan.
    """
    found: list[dict[str, Any]] = []
    for size in range(1, len(changes) + 1):
        for members in itertools.combinations(range(len(changes)), size):
            parts = [changes[i] for i in members]
            row: dict[str, Any] = {"corpora": [names[i] for i in members]}
            row["monotonic"] = _share([part != 0 for part in parts])
            row["increasing"] = _share([part > 0 for part in parts])
            row["decreasing"] = _share([part < 0 for part in parts])
            row["pairs"] = parts[0].size
            found.append(row)
    return found


def most_monotonic(changes: Sequence[Changes], tokens: Ints, top: int) -> list[tuple[int, int]]:
    """The ``top`` token ids monotonic in all corpora for most columns, each with the number of those columns.

    ``changes``: for each corpus (m, tokens). Most columns first, the smaller id first of equals; a token that is
    monotonic for no column is left out.
    """
    columns = np.logical_and.reduce([part != 0 for part in changes]).sum(0)
    ranked = sorted(zip(tokens.tolist(), columns.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))
    return [pair for pair in ranked[:top] if pair[1] > 0]


def _share(holds: Sequence[NDArray[np.bool_]]) -> float:
    everywhere = np.logical_and.reduce(holds)
    return float(everywhere.mean()) if everywhere.size else float("nan")


def _check(counts: Counts, n: int, n_tokens: int) -> None:
    # The compiled tally writes where these point, without looking.
    if counts.texts != n:
        raise ValueError(f"{n} rows of scores, but the tokens of {counts.texts} texts")
    if not counts.bounds[-1] == len(counts.token) == len(counts.count):
        raise ValueError(f"bounds to {counts.bounds[-1]} of {len(counts.token)} tokens, {len(counts.count)} counts")
    if counts.token.size and not 0 <= counts.token.min() <= counts.token.max() < n_tokens:
        raise ValueError(f"a token's place is beyond the {n_tokens} chosen tokens")


def _gather(blocks: Iterable[NDArray[Any]], held: NDArray[Any], low: int, columns: int) -> None:
    """Fill ``held`` (k, n) with the columns from ``low`` on of blocks of rows (b, columns)."""
    k, n = held.shape
    at = 0
    for block in blocks:
        if block.shape[1] != columns or at + len(block) > n:
            raise ValueError(f"a block {block.shape} after row {at} of embeddings that should be ({n}, {columns})")
        for start in range(0, len(block), _TILE):
            tile = block[start : start + _TILE, low : low + k]
            held[:, at : at + len(tile)] = tile.T
            at += len(tile)
    if at != n:
        raise ValueError(f"{at} rows of embeddings, but the tokens of {n} texts")


def _changes(
    columns: NDArray[Any], counts: Counts, n_tokens: int, seed: int | None = None, first: int = 0
) -> tuple[Changes, Changes | None]:
    """The change (m, n_tokens) along columns (m, n), of which the first has the number ``first``, and shuffled."""
    m, n = columns.shape
    change = np.zeros((m, n_tokens), np.int8)
    shuffled = None if seed is None else np.zeros_like(change)

    def fill(low: int) -> None:
        part = slice(low, min(low + _ABREAST, m))
        groups = np.empty((part.stop - low, n), np.uint8)
        for i, column in enumerate(columns[part]):
            groups[i] = _groups_of(column, first + low + i)
        change[part] = directions_of_change(_tallied(counts, groups, n_tokens))
        if seed is not None and shuffled is not None:
            for i in range(len(groups)):
                np.random.default_rng([seed, first + low + i]).shuffle(groups[i])
            shuffled[part] = directions_of_change(_tallied(counts, groups, n_tokens))

    _in_threads(fill, range(0, m, _ABREAST))
    return change, shuffled


def _groups_of(column: NDArray[Any], number: int) -> Groups:
    """The groups (n,) of one column of scores (n,), without sorting it."""
    column = np.ascontiguousarray(column)
    n = len(column)
    found = np.zeros(n, np.uint8)
    if n and np.isnan(column.min()):
        row = np.flatnonzero(np.isnan(column))[0]
        raise ValueError(f"column {number}: the score of row {row} is NaN, which has no place in an order")
    values = column.copy()
    settled = 0
    # A row is in the group that says how many of the groups 1 to 4 begin at its place in the order or before it.
    for begin in (-(-group * n // GROUPS) for group in range(1, GROUPS)):
        if begin == n:
            break  # Of fewer than five texts the last groups stay empty.
        if begin >= settled:
            # One place at a time, each in what the last left unsettled: NumPy is far quicker so than with all four.
            values[settled:].partition(begin - settled)
            settled = begin + 1
        edge = values[begin]
        within = column >= edge
        found += within
        # Rows equal to the edge may stand on both sides of the beginning: the first of them go to the group before.
        too_early = begin - (n - np.count_nonzero(within))
        if too_early:
            found[np.flatnonzero(column == edge)[:too_early]] -= 1
    return found


def _tallied(counts: Counts, groups: Groups, n_tokens: int) -> Ints:
    """The tally (k, n_tokens, 5) of up to eight columns of groups (k, n)."""
    k, n = groups.shape
    if k < _ABREAST or not groups.flags.c_contiguous:
        padded = np.zeros((_ABREAST, n), np.uint8)
        padded[:k] = groups
        groups = padded
    tally = np.zeros((n_tokens, _ABREAST * GROUPS), np.int64)
    _compiled_tally()(counts.bounds, counts.token, counts.count, groups, tally)
    return tally.reshape(n_tokens, _ABREAST, GROUPS).swapaxes(0, 1)[:k]


def _tally(bounds: Ints, token: NDArray[np.int32], count: NDArray[np.int32], groups: Groups, tally: Ints) -> None:
    """Add the entries of all texts to ``tally`` (n_tokens, 8 · 5) by the groups (8, n) of eight columns."""
    place = np.empty(_ABREAST, np.uintp)
    for text in range(len(bounds) - 1):
        for column in range(_ABREAST):
            place[column] = column * GROUPS + groups[column, text]
        for entry in range(bounds[text], bounds[text + 1]):
            # Unsigned, so that no time goes into asking whether it counts from the end.
            row, times = np.uintp(token[entry]), count[entry]
            for column in range(_ABREAST):
                tally[row, place[column]] += times


@cache
def _compiled_tally() -> Callable[..., None]:
    """The tally as machine code that lets other threads run.

    numba is imported and compiles at the first call, not with this module: the command line imports it to show help.
    """
    from numba import njit

    try:
        compiled: Callable[..., None] = njit(nogil=True, cache=True)(_tally)
    except RuntimeError:  # There is no folder it may write to: compile anew in each process.
        compiled = njit(nogil=True)(_tally)
    return compiled


def _in_threads(work: Callable[[int], None], items: range) -> None:
    # Threads of our own: NumPy and the tally both let go of the interpreter, and numba's need not be safe in a thread.
    with ThreadPoolExecutor(max(1, min(os.cpu_count() or 1, len(items)))) as pool:
        for _ in pool.map(work, items):
            pass  # Taking the result brings out what was raised.
