"""Intervals of what people answered: clusters drawn anew, Wilson's for shares; false discoveries controlled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import wilson

Doubles = NDArray[np.float64]
Ends = tuple[float, float]
Share = tuple[int, int, int]
"""Hits, members, and the clusters that they come in."""

RESAMPLES = 1000
NOTHING: Ends = (float("nan"), float("nan"))


def drawn(clusters: Sequence[object], seed: int, resamples: int = RESAMPLES) -> Doubles:
    """(resamples, n) how often each of n members comes up when their clusters are drawn with replacement.

    >>> (drawn("aab", 0, 100) @ [0.5, 0.5, 1.0] == 2).all()
    np.True_
    """
    names = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    of = np.array([names[name] for name in clusters], np.int64)
    if not len(of):
        return np.zeros((resamples, 0))
    random = np.random.default_rng(np.random.SeedSequence([seed, len(names)]))
    times = random.multinomial(len(names), np.full(len(names), 1 / len(names)), size=resamples)
    return times[:, of].astype(np.float64)


def ends(resampled: Doubles, clusters: int) -> Ends:
    """The 95% interval of a figure from its values over resamples; NaN where it is of fewer than two clusters."""
    known = resampled[~np.isnan(resampled)]
    if clusters < 2 or not len(known):
        return NOTHING
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)


def mean_with_ends(values: Sequence[float], clusters: Sequence[object], seed: int) -> tuple[float, float, float]:
    """The mean and its 95% interval, clusters drawn anew; NaN where there is nothing."""
    x = np.asarray(values, np.float64)
    if not len(x):
        return (float("nan"), *NOTHING)
    times = drawn(clusters, seed)
    return (float(x.mean()), *ends(times @ x / times.sum(axis=1), len(set(clusters))))


def share_ends(hits: int, n: int, clusters: int | None = None) -> Ends:
    """Wilson's 95% interval of a share; where members come in fewer clusters, as if there were one of each.

    That is wide rather than narrow: it takes the members of a cluster as alike.

    >>> share_ends(5, 10) == wilson(5, 10), share_ends(0, 0)
    (True, (nan, nan))
    """
    if n == 0:
        return NOTHING
    if clusters is None or clusters == n:
        return wilson(hits, n)
    share = hits / n
    # The interval is smooth in the share: between two whole numbers of clusters, in proportion.
    below = int(share * clusters)
    part = share * clusters - below
    one, other = wilson(below, clusters), wilson(min(below + 1, clusters), clusters)
    low, high = ((1 - part) * a + part * b for a, b in zip(one, other, strict=True))
    return low, high


def difference_ends(one: Share, other: Share) -> Ends:
    """Newcombe's 95% interval of the difference of two shares, from the interval that ``share_ends`` gives each."""
    if not one[1] or not other[1]:
        return NOTHING
    p, q = one[0] / one[1], other[0] / other[1]
    (low_p, high_p), (low_q, high_q) = share_ends(*one), share_ends(*other)
    return (
        p - q - float(np.hypot(p - low_p, high_q - q)),
        p - q + float(np.hypot(high_p - p, q - low_q)),
    )


def difference_p(one: Share, other: Share) -> float:
    """Fisher's exact p of two shares; where members come in fewer clusters, as if there were one of each.

    A share of the clusters may lie between two whole numbers: of those, the larger p.

    >>> round(difference_p((8, 8, 2), (0, 8, 8)), 4), round(difference_p((8, 8, 8), (0, 8, 8)), 4)
    (0.0222, 0.0002)
    """
    from scipy.stats import fisher_exact

    if not one[1] or not other[1]:
        return float("nan")
    tables = [[[a, one[2] - a], [b, other[2] - b]] for a in _nearest_whole(*one) for b in _nearest_whole(*other)]
    return max(float(fisher_exact(table).pvalue) for table in tables)


def _nearest_whole(hits: int, n: int, clusters: int) -> set[int]:
    return {hits * clusters // n, -(-hits * clusters // n)}


def adjusted(p: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's p-values; those that are NaN are of no test and stay so.

    >>> adjusted([0.01, float("nan"), 0.04])
    [0.02, nan, 0.04]
    """
    from scipy.stats import false_discovery_control

    values = np.asarray(p, np.float64)
    known = ~np.isnan(values)
    if known.any():
        values[known] = false_discovery_control(values[known])
    return [float(value) for value in values]


def with_adjusted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of tests, each with its ``p`` adjusted over all of them."""
    return [{**row, "p_adjusted": p} for row, p in zip(rows, adjusted([r["p"] for r in rows]), strict=True)]
