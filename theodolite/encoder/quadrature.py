"""Integrated gradients' integral: how many steps on the way, where they lie, and when they are enough."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from theodolite.encoder.maps import TOLERANCE, Floats, Ints

Doubles = NDArray[np.float64]
Along = Callable[[Ints, Floats], tuple[Floats, Sequence[Floats]]]
"""Of texts (m,), each at a place (m,) on its way: the answer there (m,), and of each its tokens' gradients times their
whole ways. A text may come several times."""

# Names the rule and its numbers below in the keys of what is kept: others give other weights, within the same error.
RULE = "spline"
MOST_STEPS = 200
# The change that the error is a share of, where it is smaller than this.
LEAST_CHANGE = 0.01
# The places that a way begins with: closest around one and over a width where answers change most. Tried on 184 texts
# of mixed length, four answers of two classifiers and similarities from two bases.
PLACES, CENTRE, WIDTH = 11, 0.4, 0.2
LOWEST, HIGHEST = np.arcsinh(-CENTRE / WIDTH), np.arcsinh((1 - CENTRE) / WIDTH)
# Where at least this share of the most is missed there are new places at once.
AS_BAD = 0.5
# What is missed between places, signs aside, may be so many times what the whole may: not all may cancel by chance.
ASIDE = 4
# Places closer than this, in heights, are one in single precision.
FINEST = 1e-5


def integrated(n: int, along: Along, steps: int | None) -> tuple[Floats, Ints, Floats]:
    """Weights (t,) of the tokens of n texts, one text after another; steps taken and error (n,) of texts.

    With steps given, Gauss-Legendre. Else ``_Spline``: more steps where a text's weights do not add up yet.
    """
    ways: list[_Way] = [_Spline() if steps is None else _Fixed(steps) for _ in range(n)]
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


class _Spline(_Way):
    """A cubic spline through all of the way, with new places where it misses most, until the whole adds up.

    The answer is known wherever a gradient was taken, so that what is missed between any two places is known too.
    Places are told by their heights: even heights are close around CENTRE and wide apart at the ends.
    """

    def __init__(self) -> None:
        super().__init__()
        self.heights = np.linspace(LOWEST, HIGHEST, PLACES)

    def wanted(self) -> list[float]:
        if self.found:
            self._halve()
        return [place for place in _places(self.heights) if place not in self.found]

    def weights(self) -> Doubles:
        found: Doubles = self._shares().sum(axis=0) @ self._products()
        return found

    def steps(self) -> int:
        return len(self.found) - 1

    def _halve(self) -> None:
        """New places in the middle where most is missed, unless the weights add up or there have been steps enough."""
        least = max(abs(self.answer(1.0) - self.answer(0.0)), LEAST_CHANGE)
        answers = np.array([self.answer(place) for place in _places(self.heights)])
        missed = self._shares() @ self._products().sum(axis=1) - np.diff(answers)
        if abs(missed.sum()) < TOLERANCE * least and np.abs(missed).sum() < ASIDE * TOLERANCE * least:
            return
        could = np.where(np.diff(self.heights) > FINEST, np.abs(missed), 0.0)
        worst_first = np.argsort(-could, kind="stable")[: MOST_STEPS - self.steps()]
        bad = [i for i in worst_first if could[i] > 0 and could[i] >= AS_BAD * could.max()]
        middles = (self.heights[:-1] + self.heights[1:])[bad] / 2
        self.heights = np.sort(np.append(self.heights, middles))

    def _products(self) -> Doubles:
        """(places, t)."""
        return np.stack([self.products(place) for place in _places(self.heights)])

    def _shares(self) -> Doubles:
        """(places - 1, places) what each place's products count for between each two."""
        each = np.diag(WIDTH * np.cosh(self.heights))
        shares: Doubles = np.diff(
            scipy.interpolate.CubicSpline(self.heights, each).antiderivative()(self.heights), axis=0
        )
        return shares


def _places(heights: Doubles) -> list[float]:
    """The places of some heights, the ends exactly.

    >>> [round(place, 2) for place in _places(np.linspace(LOWEST, HIGHEST, 7))]
    [0.0, 0.17, 0.29, 0.38, 0.48, 0.66, 1.0]
    """
    return [0.0, *(CENTRE + WIDTH * np.sinh(heights[1:-1])).tolist(), 1.0]
