"""Random numbers that depend on what is drawn, not on when.

A sample made of the rows with the smallest hash is the same whatever the order, the batch size or the
number of workers, and it can be merged: the smallest of two parts are the smallest of the whole.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def hash_of(seed: int, *keys: ArrayLike) -> NDArray[np.uint64]:
    """Hash of (seed, key, key, …), elementwise over broadcast integer arrays (splitmix64 a key).

    Returns an array of uint64 in the broadcast shape of the keys.

    >>> hash_of(0, [1, 2, 3]).shape
    (3,)
    >>> bool(hash_of(0, 5) == hash_of(0, [5])[0])
    True
    """
    state = _mixed(_spread(seed))
    for key in keys:
        state = _mixed(state ^ _spread(key))
    return state


def uniform_of(seed: int, *keys: ArrayLike) -> NDArray[np.float64]:
    """Numbers in [0, 1), one for each hash of (seed, keys)."""
    return (hash_of(seed, *keys) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def occurrence_code(rows: NDArray[np.int64], positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Occurrences (row, position in its text), each as one number."""
    return np.asarray((rows << np.int64(24)) | positions)


def _spread(key: ArrayLike) -> NDArray[np.uint64]:
    numbers = np.asarray(key)
    if numbers.size and numbers.dtype.kind not in "biu":
        # A fraction would be cut off in silence, and beyond 2**53 neighbours would share a hash.
        raise TypeError(f"keys of a hash are whole numbers of 64 bits, not {numbers.dtype}")
    return np.asarray(numbers.astype(np.uint64) + _GOLDEN)


def _mixed(state: NDArray[np.uint64] | np.uint64) -> NDArray[np.uint64]:
    z = np.atleast_1d(np.asarray(state, np.uint64)).copy() if np.ndim(state) else np.array(state, np.uint64)
    with np.errstate(over="ignore"):
        z = z + _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * _MIX_1
        z = (z ^ (z >> np.uint64(27))) * _MIX_2
        return np.asarray(z ^ (z >> np.uint64(31)))
