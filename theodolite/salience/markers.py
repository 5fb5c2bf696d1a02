"""Markers: does a text have what is looked for, and which cluster gathers the texts that do?"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theodolite.corpus.strings import shortened
from theodolite.errors import InputError
from theodolite.salience.maps import Ints

# Possessive quantifiers (++, *+) never give back what they took, so that no run of digits or blanks is gone over twice.
# What must not stand before a number is asked after its first digit: a pattern that begins with a digit is looked for
# at digits only, which makes it 20 times as fast.
_NUMBER = r"[0-9](?<![0-9].)(?<![0-9][.,/].){not_before}[0-9]*+(?:[.,][0-9]++)?+\s*+"
_ANY, _NOT_TOP = (_NUMBER.format(not_before=n) for n in ("", r"(?<!\btop.)(?<!\btop[\s-].)"))
# Grades end in halves too: "2 1/2 out of 4".
_PART = r"(?:/\s*+[2-4](?![0-9])\s*+)?+"
_GRADE = re.compile(
    rf"""
    {_ANY}(?:
        {_PART}(?:[()*]\s*+)?+out\s*+of(?![a-z])
        | {_PART}(?:outta|out|on)\s*+[0-9]
        | /\s*+(?:10|5)(?![0-9]|[.,][0-9]|\s?/\s?[0-9])
    )
    | {_NOT_TOP}{_PART}of\s*+[0-9]
    """,
    re.VERBOSE,
)
_VOTE = re.compile(r"""vote(?<!\wvote)d?+\s*+(?:[("“”'‘]\s*+)?+[0-9]""")


@dataclass(frozen=True)
class BestCluster:
    """The cluster that gathers marked texts best: its share of all texts, the share of its texts that are marked
    (precision) and the share of the marked texts that are in it (recall).
    """

    cluster: int
    size: float
    precision: float
    recall: float


def marker(spec: str) -> Callable[[str], bool]:
    """Whether a text has the marker: a regular expression found anywhere in it, or `rating`, a grade given in words.

    Capitals count in a regular expression, as it is written; those of a `rating` do not. To look for the word rating
    itself write `(rating)`.

    >>> [marker("rating")(text) for text in ("I give it 7.5/10", "Vote (3)", "top 10 of 2005")]
    [True, True, False]
    """
    if spec == "rating":
        return _has_rating
    try:
        pattern = re.compile(spec)
    except re.error as error:
        raise InputError(f"the marker {in_one_line(spec)!r} is no regular expression: {error}") from None
    return lambda text: pattern.search(text) is not None


def in_one_line(spec: str) -> str:
    """A marker as it is told: a regular expression may go over many lines.

    >>> in_one_line("(?x) one\\n    | other")
    '(?x) one | other'
    """
    return shortened(" ".join(spec.split()), 80)


def best_cluster(labels: Ints, marked: NDArray[np.bool_]) -> BestCluster:
    """The cluster of highest precision, then recall, then lowest number, of the clusters (n,) of texts marked or not.

    >>> best_cluster(np.array([0, 0, 0, 1, 1]), np.array([True, False, False, True, True]))
    BestCluster(cluster=1, size=0.4, precision=1.0, recall=0.6666666666666666)
    """
    if not marked.any():
        raise InputError("no text has the marker, so no cluster can gather those that do; give another marker")
    sizes, hits = np.bincount(labels), np.bincount(labels[marked], minlength=int(labels.max()) + 1)
    precision = np.divide(hits, sizes, out=np.zeros(len(sizes)), where=sizes > 0)
    best = int(np.lexsort((-hits, -precision))[0])
    return BestCluster(best, float(sizes[best] / len(labels)), float(precision[best]), float(hits[best] / hits.sum()))


def _has_rating(text: str) -> bool:
    lower = text.lower()
    return _GRADE.search(lower) is not None or _VOTE.search(lower) is not None
