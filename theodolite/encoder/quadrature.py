"""Integrated gradients' integral: how many steps on the way, where they lie, and when they are enough."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from theodolite.encoder.maps import TOLERANCE, Floats, Ints

Doubles = NDArray[np.float64]
Along = Callable[[Ints, Floats], tuple[Floats, Sequence[Floats]]]
"""Of texts (m,), each at a place (m,) on its way: the answer there (m,), and of each its tokens' gradients times their
whole ways. A text may come several times."""

# Names the rule and its numbers below in the keys of what is kept: others give other weights, within the same error.
RULE = "halving"
MOST_STEPS = 200
# The change that the error is a share of, where it is smaller than this.
LEAST_CHANGE = 0.01
# The stretches that a way begins with: closest around a place and over a width where answers change most. Tried on 36
# texts of mixed length and two objectives: 18 steps on the average until the weights add up, 24 where all of the way
# was measured by one rule with twice the steps each time.
STRETCHES, CENTRE, WIDTH = 6, 0.4, 0.2
# Stretches that miss at least this share of what the worst one does are halved together.
AS_BAD = 0.5
# What all stretches miss, signs aside, may be so many times what the whole may: not all of it can cancel by chance.
ASIDE = 2


def integrated(n: int, along: Along, steps: int | None) -> tuple[Floats, Ints, Floats]:
    """Weights (t,) of the tokens of n texts, one text after another; steps taken and error (n,) of texts.

    With steps given, Gauss-Legendre. Else ``_Halving``: more steps where a text's weights do not add up yet.
    """
    ways: list[_Way] = [_Halving() if steps is None else _Fixed(steps) for _ in range(n)]
    asked = [(text, place) for text, way in enumerate(ways) for place in way.wanted()]
    while asked:
        texts, places = (np.array(column) for column in zip(*asked, strict=True))
        for (text, place), answer, product in zip(asked, *along(texts, places.astype(np.float32)), strict=True):
            ways[text].found[place] = float(answer), product
        asked = [(text, place) for text in np.unique(texts).tolist() for place in ways[text].wanted()]
    weights = np.concatenate([way.weights() for way in ways]).astype(np.float32)
    errors = np.array([way.error() for way in ways], np.float32)
    return weights, np.array([way.steps() for way in ways], np.int64), errors


class _Way(ABC):
    """One text's way from 0 to 1; found: the answer and the tokens' products at each place asked for so far."""

    def __init__(self) -> None:
        self.found: dict[float, tuple[float, Floats]] = {}

    @abstractmethod
    def wanted(self) -> list[float]:
        """Places that must be known next; none when it is at its end."""

    @abstractmethod
    def weights(self) -> Doubles:
        """(t,) each token's share in the change of the answer."""

    @abstractmethod
    def steps(self) -> int:
        """How many steps it took, as rules of their kind count them."""

    def error(self) -> float:
        """By how much the weights miss the change of the answer, as a share of it."""
        change = self.answer(1.0) - self.answer(0.0)
        return abs(float(self.weights().sum()) - change) / max(abs(change), LEAST_CHANGE)

    def answer(self, place: float) -> float:
        """What the model answers there."""
        return self.found[place][0]

    def products(self, place: float) -> Doubles:
        """(t,) of each token there."""
        return self.found[place][1].astype(np.float64)


class _Fixed(_Way):
    """So many steps by Gauss and Legendre's rule; the ends are asked for their answers."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        nodes, shares = np.polynomial.legendre.leggauss(steps)
        self.places, self.shares = ((nodes + 1) / 2).tolist(), shares / 2

    def wanted(self) -> list[float]:
        return [] if self.found else [0.0, *self.places, 1.0]

    def weights(self) -> Doubles:
        found: Doubles = self.shares @ np.stack([self.products(place) for place in self.places])
        return found

    def steps(self) -> int:
        return len(self.places)


class _Halving(_Way):
    """Stretches by Simpson's rule, the worst of them halved until the whole adds up.

    The answer is known wherever a gradient was taken, so that what each stretch misses of its own change is known too.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stretches = list(pairwise(first_edges()))

    def wanted(self) -> list[float]:
        if self.found:
            self._halve()
        needed = dict.fromkeys(place for a, b in self.stretches for place in (a, (a + b) / 2, b))
        return [place for place in needed if place not in self.found]

    def weights(self) -> Doubles:
        found: Doubles = np.sum([self._simpson(a, b) for a, b in self.stretches], axis=0)
        return found

    def steps(self) -> int:
        return len(self.found) - 1

    def _halve(self) -> None:
        """Halve the worst stretches, unless the weights add up or there have been steps enough."""
        least = max(abs(self.answer(1.0) - self.answer(0.0)), LEAST_CHANGE)
        missed = np.array([self._simpson(a, b).sum() - self.answer(b) + self.answer(a) for a, b in self.stretches])
        if abs(missed.sum()) < TOLERANCE * least and np.abs(missed).sum() < ASIDE * TOLERANCE * least:
            return
        worst_first = np.argsort(-np.abs(missed), kind="stable")
        # Each half needs its middle.
        room = (MOST_STEPS - self.steps()) // 2
        bad = {int(i) for i in worst_first[:room] if abs(missed[i]) >= AS_BAD * np.abs(missed).max()}
        self.stretches = [
            part
            for i, (a, b) in enumerate(self.stretches)
            for part in ([(a, (a + b) / 2), ((a + b) / 2, b)] if i in bad else [(a, b)])
        ]

    def _simpson(self, a: float, b: float) -> Doubles:
        found: Doubles = (self.products(a) + 4 * self.products((a + b) / 2) + self.products(b)) * ((b - a) / 6)
        return found


def first_edges() -> list[float]:
    """Where the stretches of a way begin and end at first.

    >>> [round(edge, 2) for edge in first_edges()]
    [0.0, 0.17, 0.29, 0.38, 0.48, 0.66, 1.0]
    """
    low, high = np.arcsinh(-CENTRE / WIDTH), np.arcsinh((1 - CENTRE) / WIDTH)
    inner = CENTRE + WIDTH * np.sinh(np.linspace(low, high, STRETCHES + 1)[1:-1])
    return [0.0, *inner.tolist(), 1.0]
