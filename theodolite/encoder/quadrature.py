"""Integrated gradients' integral: how many steps on the way, where they lie, and when they are enough."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from theodolite.encoder.maps import TOLERANCE, Floats, Ints

Doubles = NDArray[np.float64]
Along = Callable[[Ints, torch.Tensor], torch.Tensor]
"""Of some texts at k places on their way: (k, t) each token's gradient times its whole way."""

# Steps, one number after another until the weights add up to the change of the answer.
MOST_STEPS = 200
DOUBLED = (16, 32, 64, 128, MOST_STEPS)
# Where steps are closest, and over what width: of 21 choices the fewest steps for two objectives on the default model's
# classifier and the similarity of two encoders, 24 texts each (18.2 on the average, 21.8 without).
CENTRE, WIDTH = 0.4, 0.2
# The change that the error is a share of, where it is smaller than this.
LEAST_CHANGE = 0.01


def integrated(change: torch.Tensor, text: Ints, along: Along, steps: int | None) -> tuple[Floats, Ints, Floats]:
    """Weights (t,) of tokens, steps taken and error (n,) of texts; change: (n,) of the answer; text: (t,) of each.

    With steps given, Gauss-Legendre. Else ``steps_on_the_way``, which are kept when they are doubled, for the texts
    whose weights do not add up yet; Gauss-Legendre again for those that never do.
    """
    n, whose = len(change), torch.from_numpy(text)
    least = change.abs().clamp(min=LEAST_CHANGE)
    weights = torch.zeros(len(text))
    taken, error = np.zeros(n, np.int64), torch.full((n,), torch.inf)
    known: torch.Tensor | None = None
    for number in DOUBLED if steps is None else (steps,):
        left = np.flatnonzero(error.numpy() >= TOLERANCE)
        if not len(left):
            break
        if steps is None and number < MOST_STEPS:
            places, shares = steps_on_the_way(number)
            if known is None:
                known = along(left, torch.from_numpy(places).float())
            else:
                known = _woven(known, along(left, torch.from_numpy(places[1::2].copy()).float()))
        else:
            nodes, shares = np.polynomial.legendre.leggauss(number)
            shares, known = shares / 2, along(left, torch.from_numpy((nodes + 1) / 2).float())
        found = (torch.from_numpy(shares).float()[:, None] * known).sum(dim=0)
        mine = torch.isin(whose, torch.from_numpy(left))
        weights[mine] = found[mine]
        sums = torch.zeros(n).index_add_(0, whose, weights)
        error[left] = ((sums - change).abs() / least)[left]
        taken[left] = number
    return weights.numpy(), taken, error.numpy()


def steps_on_the_way(n: int) -> tuple[Doubles, Doubles]:
    """n + 1 places from 0 to 1 and their weights, doubled like ``clenshaw_curtis``, closest where the answer changes.

    Clenshaw and Curtis's places lie closest at both ends; on the way from padding to a text the answer changes most
    at a third to a half of it. Substituting CENTRE + WIDTH × sinh(z), z even over its range, puts them there.

    >>> places, weights = steps_on_the_way(32)
    >>> round(float(weights @ places**5), 9) == round(1 / 6, 9)
    True
    """
    even, weights = clenshaw_curtis(n)
    low, high = np.arcsinh(-CENTRE / WIDTH), np.arcsinh((1 - CENTRE) / WIDTH)
    z = low + (high - low) * even
    places = np.clip(CENTRE + WIDTH * np.sinh(z), 0, 1)
    return places, weights * WIDTH * np.cosh(z) * (high - low)


def clenshaw_curtis(n: int) -> tuple[Doubles, Doubles]:
    """n + 1 places from 0 to 1 (n even) and their weights; every second place is one of those for n / 2.

    >>> places, weights = clenshaw_curtis(8)
    >>> round(float(weights @ places**5), 12) == round(1 / 6, 12)
    True
    """
    angles = np.pi * np.arange(n + 1) / n
    k = np.arange(1, n // 2 + 1)
    factors = np.where(k == n // 2, 1.0, 2.0) / (4.0 * k**2 - 1)
    weights = (1 - np.cos(2 * angles[:, None] * k) @ factors) * np.where(np.arange(n + 1) % n == 0, 1.0, 2.0) / n
    return (1 - np.cos(angles)) / 2, weights / 2


def _woven(known: torch.Tensor, between: torch.Tensor) -> torch.Tensor:
    """(2k + 1, t) rows of (k + 1, t) with those of (k, t) between them."""
    found = known.new_empty((len(known) + len(between), known.shape[1]))
    found[::2], found[1::2] = known, between
    return found
