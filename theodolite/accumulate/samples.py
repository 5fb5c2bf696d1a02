"""Samples by hash: the members with the smallest hash, the same whatever the order they came in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate.base import Accumulator

Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]


class HashSample(Accumulator):
    """The ``size`` members with the smallest hash; each member is a row of ``width`` whole numbers."""

    def __init__(self, size: int, width: int) -> None:
        self._size = size
        self.hashes = np.empty(0, np.uint64)
        self.members = np.empty((0, width), np.int64)

    def update(self, hashes: Hashes, members: Ints) -> None:
        """Offer members (n, width) with their hashes (n,)."""
        if 0 < len(self.hashes) == self._size:
            good = hashes <= self.hashes[-1]  # Equal ones too: the members decide.
            hashes, members = hashes[good], members[good]
        hashes = np.concatenate([self.hashes, hashes])
        members = np.concatenate([self.members, members])
        # Equal hashes are ordered by the members themselves, so that order of arrival never matters.
        kept = np.lexsort((*members.T[::-1], hashes))[: self._size]
        self.hashes, self.members = hashes[kept], members[kept]

    def merge(self, other: Self) -> None:
        self.update(other.hashes, other.members)

    def result(self) -> Ints:
        """(n, width), smallest hash first."""
        return self.members


class DistinctSample(Accumulator):
    """The ``size`` distinct keys whose smallest hash is smallest, each with the member that has it.

    This is what one gets by walking the members in hash order and keeping the first of each key; its first n
    are such a walk of n.
    """

    def __init__(self, size: int, width: int) -> None:
        self._size = size
        self.hashes = np.empty(0, np.uint64)
        self.members = np.empty((0, width), np.int64)
        self.keys: list[str] = []

    def update(self, hashes: Hashes, members: Ints, keys: Sequence[str]) -> None:
        """Offer members (n, width) with their hashes and keys."""
        good = np.arange(len(hashes))
        if 0 < len(self.hashes) == self._size:
            good = np.flatnonzero(hashes <= self.hashes[-1])  # Equal ones too: the members decide.
        all_hashes = np.concatenate([self.hashes, hashes[good]])
        all_members = np.concatenate([self.members, members[good]])
        first: dict[str, int] = {}
        for i in self._by_hash(all_hashes, all_members):
            if len(first) == self._size:
                break
            held = len(self.keys)
            first.setdefault(self.keys[i] if i < held else keys[good[i - held]], i)
        kept = np.array(list(first.values()), np.int64)
        self.hashes, self.members, self.keys = all_hashes[kept], all_members[kept], list(first)

    def _by_hash(self, hashes: Hashes, members: Ints) -> Iterator[int]:
        """Indices in hash order, sorting a few of the smallest first: the walk seldom gets further."""
        few = 8 * self._size
        edge = np.partition(hashes, few)[few] if len(hashes) > few else np.uint64(0)
        for part in (np.flatnonzero(hashes < edge), np.flatnonzero(hashes >= edge)):
            yield from part[np.lexsort((*members[part].T[::-1], hashes[part]))].tolist()

    def merge(self, other: Self) -> None:
        self.update(other.hashes, other.members, other.keys)

    def result(self) -> tuple[Ints, list[str]]:
        """(n, width) members and their keys, smallest hash first."""
        return self.members, self.keys


class Gathered(Accumulator):
    """Vectors of chosen members, each under a whole number: (n, *shape), float32 as they came."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.codes = np.empty(0, np.int64)
        self.vectors = np.empty((0, *shape), np.float32)
        self._waiting: list[tuple[Ints, NDArray[np.float32]]] = []

    def update(self, codes: Ints, vectors: NDArray[np.float32]) -> None:
        """Take vectors (n, *shape) under their codes (n,)."""
        if len(codes):
            # Copies: a slice would hold on to its whole batch, and a buffer may be filled again.
            self._waiting.append((np.array(codes, np.int64), np.array(vectors, np.float32)))

    def merge(self, other: Self) -> None:
        self._waiting.append(other.result())

    def state(self) -> dict[str, NDArray[np.generic]]:
        codes, vectors = self.result()
        return {"codes": codes, "vectors": vectors}

    def restore(self, state: dict[str, NDArray[np.generic]]) -> Self:
        self.codes = np.array(state["codes"], np.int64)
        self.vectors = np.array(state["vectors"], np.float32)
        self._waiting = []
        return self

    def result(self) -> tuple[Ints, NDArray[np.float32]]:
        """Codes ascending, and their vectors."""
        if self._waiting:
            parts = [(self.codes, self.vectors), *self._waiting]
            codes = np.concatenate([p[0] for p in parts])
            order = np.argsort(codes, kind="stable")
            place = np.empty_like(order)
            place[order] = np.arange(len(order))
            # Straight to their places: joining first and sorting then would move everything twice.
            vectors = np.empty((len(codes), *self.vectors.shape[1:]), np.float32)
            begin = 0
            for _, part in parts:
                vectors[place[begin : begin + len(part)]] = part
                begin += len(part)
            self.codes, self.vectors, self._waiting = codes[order], vectors, []
        return self.codes, self.vectors
