"""Concept purity: how much of a sentence or a direction belongs to one concept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def purity(scores: NDArray[Any]) -> Floats:
    """(n,): 1 − H(C)/ln K of scores (n, K), C the non-negative scores scaled to sum 1.

    Scores below zero count as zero; where all do, there is no concept to be pure of and the purity is NaN.

    >>> purity(np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]])).round(12).tolist()
    [1.0, 0.0]
    """
    positive = np.maximum(np.asarray(scores, np.float64), 0)
    total = positive.sum(axis=1, keepdims=True)
    share = np.divide(positive, total, out=np.full_like(positive, np.nan), where=total > 0)
    logs = np.log(share, out=np.zeros_like(share), where=share > 0)
    found: Floats = 1 + (share * logs).sum(axis=1) / np.log(share.shape[1])
    return found
