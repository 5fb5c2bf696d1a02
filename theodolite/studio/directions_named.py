"""The directions that follow from a name alone: neuron N, random N, pc N."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from theodolite.errors import InputError
from theodolite.illusion.directions import Space, directions
from theodolite.illusion.points import Floats

# So many random directions can be asked for by their number.
MOST_RANDOM = 10_000
_MADE = re.compile(r"(neuron|random|pc) (\d{1,5})")


def can_be_made(name: str) -> bool:
    """Whether a direction follows from its name alone.

    >>> can_be_made("neuron 7"), can_be_made("money")
    (True, False)
    """
    return _MADE.fullmatch(name) is not None


def named_vector(
    name: str, dim: int, seed: int, *, changes: Callable[[int], bool], covariance: Callable[[], Floats]
) -> Floats:
    """(dim,) the direction of a name; seed: of random ones.

    changes: whether a neuron has more than one value in the texts; covariance: (dim, dim) of their vectors. Both are
    asked for only where they are needed, since all vectors may have to be gone over for them.
    """
    made = _MADE.fullmatch(name)
    if made is None:
        raise InputError("neuron N, random N or pc N is wanted, with a number for N")
    kind, number = made[1], int(made[2])
    first, last = {"neuron": (0, dim - 1), "random": (0, MOST_RANDOM - 1), "pc": (1, dim)}[kind]
    if not first <= number <= last:
        raise InputError(f"{kind} {number}: a number from {first} to {last} is wanted")
    if kind == "neuron":
        if not changes(number):
            raise InputError(f"neuron {number} never changes in these texts")
        neuron: Floats = np.eye(1, dim, number)[0]
        return neuron
    space = Space(dim, np.arange(dim), covariance() if kind == "pc" else np.empty((0, 0)), None)
    asked = f"random:{number + 1}" if kind == "random" else f"pca:{number}"
    found: Floats = directions(asked, space, seed).matrix[-1]
    return found
