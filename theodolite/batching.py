"""Windows over long texts, and batches filled to a token budget. Arrays only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Windows:
    """w windows over texts or pairs of texts, ordered by text.

    text: (w,) whose window it is; start, length: (w,) its pieces of the first text, counted from the
    text's first piece; start_b, length_b: (w,) of the second text (length 0 without one).
    """

    text: Ints
    start: Ints
    length: Ints
    start_b: Ints
    length_b: Ints

    def __len__(self) -> int:
        return len(self.text)

    def take(self, which: Ints) -> Windows:
        """The chosen windows."""
        return Windows(*(a[which] for a in (self.text, self.start, self.length, self.start_b, self.length_b)))


def windows(lengths: Ints, split: Ints, limit: int, specials: int) -> Windows:
    """Cut texts of ``lengths`` pieces, of which ``split`` belong to the first text, into windows.

    A window holds ``limit`` tokens with the special ones, and the next begins ``limit // 2`` further. Of a
    pair too long for one window, a text that fits in half the room stays whole and the other slides past
    it; where neither fits, both slide, each in its half.

    >>> w = windows(np.array([3, 10]), np.array([3, 10]), limit=8, specials=2)
    >>> w.text.tolist(), w.start.tolist(), w.length.tolist()
    ([0, 1, 1], [0, 0, 4], [3, 6, 6])
    """
    room = limit - specials
    parts = [_cut(int(n), int(a), room, limit // 2) for n, a in zip(lengths, split, strict=True)]
    counts = [len(p) for p in parts]
    flat = np.array([w for p in parts for w in p], np.int64).reshape(-1, 4)
    return Windows(np.repeat(np.arange(len(parts)), counts), *flat.T)


def _cut(length: int, first: int, room: int, stride: int) -> list[tuple[int, int, int, int]]:
    second = length - first
    if length <= room:
        return [(0, first, first, second)]
    if second == 0:
        return [(a, n, first, 0) for a, n in _slide(first, room, stride)]
    room_a = min(first, max(room // 2, room - second))
    room_b = room - room_a
    a = _slide(first, room_a, max(1, room_a // 2))
    b = _slide(second, room_b, max(1, room_b // 2))
    a += [a[-1]] * (len(b) - len(a))
    b += [b[-1]] * (len(a) - len(b))
    return [(sa, na, first + sb, nb) for (sa, na), (sb, nb) in zip(a, b, strict=True)]


def _slide(length: int, room: int, stride: int) -> list[tuple[int, int]]:
    found = [(0, min(length, room))]
    while sum(found[-1]) < length:
        start = found[-1][0] + stride
        found.append((start, min(room, length - start)))
    return found


def fill(lengths: Ints, budget: int) -> Iterator[Ints]:
    """Batches of indices, shortest first: number × longest stays within the budget (one at least).

    >>> [b.tolist() for b in fill(np.array([5, 2, 3]), budget=6)]
    [[1, 2], [0]]
    """
    order = np.argsort(lengths, kind="stable")
    sizes = lengths[order].tolist()
    begin = 0
    for i, size in enumerate(sizes):
        if i > begin and (i - begin + 1) * size > budget:
            yield order[begin:i]
            begin = i
    if len(sizes) > begin:
        yield order[begin:]


def groups(window_counts: Ints, lengths: Ints, limit: int, budget: int) -> Iterator[Ints]:
    """Texts to be encoded together: those of one window by ``fill``, the long ones whole, by their windows.

    ``lengths`` counts the special tokens. A long text's windows stay in one group, since its token vectors
    are means over them.
    """
    single = np.flatnonzero(window_counts == 1)
    for batch in fill(lengths[single], budget):
        yield single[batch]
    many = np.flatnonzero(window_counts > 1)
    many = many[np.argsort(window_counts[many], kind="stable")]
    taken = 0
    begin = 0
    for i, count in enumerate((window_counts[many] * limit).tolist()):
        if i > begin and taken + count > budget:
            yield many[begin:i]
            begin, taken = i, 0
        taken += count
    if len(many) > begin:
        yield many[begin:]
