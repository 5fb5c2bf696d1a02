"""What a cosine is worth: beside it, those of random pairs of the same catalogue."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import hash_of, mean_interval, wilson

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]

PAIRS = 20_000
_BLOCK = 2048


def random_pair_cosines(vectors: NDArray[np.float32], places: Ints, seed: int, pairs: int = PAIRS) -> Doubles:
    """(m,) cosines of pairs of items drawn at random, sorted; pairs of one description are not counted.

    vectors: (descriptions, d), of unit length; places: (items,) the row of each item's vector. m: ``pairs`` less those
    of one description; 0 where there are no two descriptions.

    >>> random_pair_cosines(np.eye(2, dtype=np.float32), np.array([0, 1]), seed=0, pairs=3).tolist()
    [0.0, 0.0, 0.0]
    """
    count = len(places)
    if count < 2:
        return np.empty(0)
    drawn = np.arange(pairs)
    first = (hash_of(seed, drawn, 0) % np.uint64(count)).astype(np.int64)
    # A step of 1 to count − 1 further on: never the item itself, every other as likely.
    step = 1 + (hash_of(seed, drawn, 1) % np.uint64(count - 1)).astype(np.int64)
    a, b = places[first], places[(first + step) % count]
    a, b = a[a != b], b[a != b]
    cosines = np.empty(len(a))
    for start in range(0, len(a), _BLOCK):
        some = slice(start, start + _BLOCK)
        cosines[some] = np.einsum("nd,nd->n", vectors[a[some]], vectors[b[some]], dtype=np.float64)
    return np.sort(np.clip(cosines, -1, 1))


def baseline(cosines: Doubles, seed: int) -> dict[str, Any]:
    """The mean of random pairs' cosines with its 95% interval, for the manifest."""
    mean, low, high = (float(value) for value in mean_interval(cosines))
    return {"mean_cosine": mean, "low": low, "high": high, "pairs": len(cosines), "seed": seed}


def less_similar(cosines: Doubles, cosine: float) -> tuple[float, float, float]:
    """The share of random pairs (sorted, as above) whose cosine is lower, with its 95% interval.

    >>> less_similar(np.array([0.1, 0.2, 0.3, 0.4]), 0.3)[0]
    0.5
    """
    below = int(np.searchsorted(cosines, cosine, side="left"))
    share = below / len(cosines) if len(cosines) else float("nan")
    return share, *wilson(below, len(cosines))
