"""Which clusters look like shortcuts: a few terms of their own that go with one prediction.

A cluster's suspicion is the product of three parts, each from 0 to 1.

- purity: how far its predictions go beyond those of all texts: the largest over classes of (share in the cluster −
  share overall) / (1 − share overall). 1 where all texts have one prediction, as in clusters within a class.
- concentration: the share of its salience that is on its three top terms. An ordinary cluster ("boring, bad, worst")
  has its one word and many others; a marker takes nearly all. The terms are chosen on one half of the texts and
  judged on the other, then the other way round: a lone odd text, which any three terms of its own would explain, has 0.
- distinctness: of all salience that a term has in the clusters of the same class, the share that is in this cluster (or
  in one with the same first term: k-means may cut a shortcut in two); the mean over its three top terms, weighted by
  their mean values. An ordinary word is looked at in many texts that a stronger word has drawn elsewhere; a marker is
  the strongest wherever it stands.

What the texts of one class cannot tell: a topic that is looked at most of all, in texts of every prediction, is like a
shortcut there. Over all texts its purity gives it away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from theodolite.salience.clusters import Mask, column_means
from theodolite.salience.maps import Ints

Floats = NDArray[np.float64]

TERMS = 3


@dataclass(frozen=True)
class Suspicion:
    """How suspicious a cluster is, from 0 to 1, why, the class it goes with, and its top columns."""

    cluster: int
    score: float
    purity: float
    concentration: float
    distinctness: float
    predicted: int
    terms: tuple[int, ...]


def suspicion(vocab: scipy.sparse.csr_array, labels: Ints, predicted: Ints, keep: Mask) -> list[Suspicion]:
    """Every cluster, the most suspicious first; of equal ones the lower number.

    vocab: (n, columns) with terms as columns; labels, predicted: (n,) cluster and predicted class of each text; keep:
    (columns,) the columns that may be terms. Values below 0 count as 0.
    """
    purity, classes = _purity(labels, predicted)
    of_class = {int(c): _sums(vocab, np.flatnonzero(classes[labels] == c), keep) for c in np.unique(classes)}
    tops = {c: _top(_sums(vocab, np.flatnonzero(labels == c), keep)) for c in np.unique(labels).tolist()}
    found = []
    for number, terms in tops.items():
        members = np.flatnonzero(labels == number)
        alike = [c for c in tops if classes[c] == classes[number] and tops[c][:1].tolist() == terms[:1].tolist()]
        here = _sums(vocab, np.flatnonzero(np.isin(labels, alike)), keep)[terms]
        own, there = _sums(vocab, members, keep)[terms], of_class[int(classes[number])][terms]
        distinct = float(min(np.average(here / there, weights=own), 1)) if len(terms) else 0.0
        halves = [_sums(vocab, members[part::2], keep) for part in (0, 1)]
        concentrated = (_explained(*halves) + _explained(*halves[::-1])) / 2
        parts = (float(purity[number]), concentrated, distinct)
        named = tuple(int(term) for term in terms)
        found.append(Suspicion(number, float(np.prod(parts)), *parts, int(classes[number]), named))
    return sorted(found, key=lambda one: (-one.score, one.cluster))


def _purity(labels: Ints, predicted: Ints) -> tuple[Floats, Ints]:
    """(clusters,) twice: purity, and the class whose share is furthest beyond that among all texts."""
    width = int(predicted.max(initial=0)) + 1
    counts = np.bincount(labels * width + predicted, minlength=(int(labels.max(initial=-1)) + 1) * width)
    counts = counts.reshape(-1, width)
    overall = counts.sum(axis=0) / max(len(labels), 1)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    # Where one class is all there is, nothing can go beyond it and every cluster is pure.
    beyond = np.divide(shares - overall, 1 - overall, out=shares.copy(), where=overall < 1)
    return np.maximum(beyond.max(axis=1), 0), beyond.argmax(axis=1)


def _sums(vocab: scipy.sparse.csr_array, members: Ints, keep: Mask) -> Floats:
    """(columns,) what the kept columns have in some rows, values below 0 as 0."""
    rows: Any = vocab[members]
    rows.data = np.maximum(rows.data, 0)
    return np.where(keep, column_means(rows) * len(members), 0)


def _top(sums: Floats) -> Ints:
    """The top columns, at most three; those of nothing are none."""
    best = np.argsort(-sums, kind="stable")[:TERMS]
    return np.asarray(best[sums[best] > 0])


def _explained(chosen_on: Floats, judged_on: Floats) -> float:
    """The share of one half's salience that is on the other half's top terms."""
    whole = judged_on.sum()
    return float(judged_on[_top(chosen_on)].sum() / whole) if whole > 0 else 0.0
