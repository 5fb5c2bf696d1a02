"""Sums of unit vectors, over everything and by key, and the mean cosines that follow from them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate.base import Accumulator, State

Floats = NDArray[np.float64]


def mean_pair_cosine(sums: NDArray[Any], weight: NDArray[Any], squares: NDArray[Any]) -> Floats:
    """Mean cosine of two different members, all pairs, from Σau (…, d), Σa (…) and Σa² (…).

    Exactly (|Σau|² − Σa²) / ((Σa)² − Σa²); with weights of 1 that is (|Σu|² − n) / (n² − n). NaN where there
    is no pair.

    >>> right_angle = np.array([1.0, 1.0])
    >>> float(mean_pair_cosine(right_angle, np.array(2.0), np.array(2.0)))
    0.0
    """
    weight, squares = np.asarray(weight, np.float64), np.asarray(squares, np.float64)
    pairs = weight**2 - squares
    cosines: Floats = np.einsum("...d,...d->...", sums, sums, dtype=np.float64) - squares
    found: Floats = np.divide(cosines, pairs, out=np.full(np.shape(cosines), np.nan), where=pairs > 0)
    return found


class UnitSums(Accumulator):
    """Σau of unit vectors u with weights a, in an array of any leading shape: replicates, layers."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.sums = np.zeros(shape)
        self.weight = np.zeros(shape[:1] if len(shape) > 2 else ())
        self.squares = np.zeros_like(self.weight)
        self.count = 0

    def add(self, sums: NDArray[Any], weight: NDArray[Any] | float, squares: NDArray[Any] | float, count: int) -> None:
        """Take in the sums of a batch: Σau, Σa, Σa² and how many."""
        self.sums += sums
        self.weight += weight
        self.squares += squares
        self.count += count

    def merge(self, other: Self) -> None:
        self.add(other.sums, other.weight, other.squares, other.count)

    def result(self) -> Floats:
        """Mean cosine of two different occurrences, one for each leading index of the sums."""
        extra = self.sums.ndim - 1 - self.weight.ndim
        grown = (Ellipsis,) + (None,) * extra
        return mean_pair_cosine(self.sums, self.weight[grown], self.squares[grown])


class KeyedSums(Accumulator):
    """Σau, Σa, Σa² and counts by key, kept only for the keys seen. Keys are whole numbers.

    keys: in the order they came; sums: (keys, *shape); weight, squares, count: (keys,). Room is doubled when
    it runs out, so that new keys do not move the old ones each time; ``room`` for as many can be had at once.
    """

    def __init__(self, shape: tuple[int, ...], room: int = 0) -> None:
        self._slot: dict[int, int] = {}
        self._sums = np.zeros((room, *shape))
        self._weight = np.zeros(room)
        self._squares = np.zeros(room)
        self._count = np.zeros(room, np.int64)

    @property
    def keys(self) -> NDArray[np.int64]:
        return np.fromiter(self._slot, np.int64, len(self._slot))

    @property
    def sums(self) -> Floats:
        return self._sums[: len(self._slot)]

    @property
    def weight(self) -> Floats:
        return self._weight[: len(self._slot)]

    @property
    def squares(self) -> Floats:
        return self._squares[: len(self._slot)]

    @property
    def count(self) -> NDArray[np.int64]:
        return self._count[: len(self._slot)]

    def slots(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where each of these distinct keys stands, making room for new ones."""
        found = [self._slot.setdefault(key, len(self._slot)) for key in keys.tolist()]
        if len(self._slot) > len(self._count):
            size = max(2 * len(self._count), len(self._slot))
            for name in ("_sums", "_weight", "_squares", "_count"):
                held = getattr(self, name)
                grown = np.zeros((size, *held.shape[1:]), held.dtype)
                grown[: len(held)] = held
                setattr(self, name, grown)
        return np.array(found, np.int64)

    def add(
        self, slots: NDArray[np.int64], weight: NDArray[Any], squares: NDArray[Any], count: NDArray[np.int64]
    ) -> None:
        """Add Σa, Σa² and counts at distinct slots; the caller adds the sums to ``sums[slots, …]``."""
        self._weight[slots] += weight
        self._squares[slots] += squares
        self._count[slots] += count

    def merge(self, other: Self) -> None:
        slots = self.slots(other.keys)
        self.add(slots, other.weight, other.squares, other.count)
        self._sums[slots] += other.sums

    def state(self) -> State:
        return {name: getattr(self, name) for name in ("keys", "sums", "weight", "squares", "count")}

    def restore(self, state: State) -> Self:
        self._slot = {key: i for i, key in enumerate(state["keys"].tolist())}
        for name in ("sums", "weight", "squares", "count"):
            setattr(self, f"_{name}", np.array(state[name]))
        return self

    def result(self) -> tuple[NDArray[np.int64], Floats]:
        """The keys, and for each the mean cosine of two of its occurrences, (keys, *shape[:-1])."""
        grown = (Ellipsis,) + (None,) * (self._sums.ndim - 2)
        return self.keys, mean_pair_cosine(self.sums, self.weight[grown], self.squares[grown])


def unit_vectors(vectors: NDArray[Any]) -> NDArray[Any]:
    """Vectors (…, d) scaled to length 1, in their own number type; a zero vector stays zero.

    >>> unit_vectors(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=-1, keepdims=True)
    found: NDArray[Any] = (vectors / np.where(lengths > 0, lengths, 1)).astype(vectors.dtype)
    return found
