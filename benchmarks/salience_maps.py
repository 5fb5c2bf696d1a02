"""Salience maps by the hundred thousand: their representation, k-means and neighbours, in a process of their own."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.fresh import in_fresh_process
from benchmarks.growth import peak_gb
from benchmarks.machine import seconds
from benchmarks.row import Row
from benchmarks.settings import Settings

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from theodolite.salience.maps import TextMaps

TOKENS_A_TEXT = 30
VOCABULARY = 30_522
# Where BERT's vocabulary has them: every text has both, and so every pair of texts may share them.
CLS, SEP = 101, 102
CLUSTERS = 5
NEIGHBOURS = 5
QUERIES = 20


@dataclass(frozen=True)
class Spent:
    """What so many maps took: seconds of the vectors and of the clusters, milliseconds of a question for neighbours."""

    maps: int
    represented: float
    clustered: float
    neighbours_ms: float
    peak_gb: float


def run(settings: Settings) -> Iterator[Row]:
    spent = Spent(**in_fresh_process("benchmarks.salience_maps", settings.size(100_000, 2_000)))
    # The targets are of the full size.
    limits: tuple[float | None, ...] = (None, None, None) if settings.quick else (60.0, 100.0, 2.0)
    shape = f"{spent.maps:,} generated maps of {TOKENS_A_TEXT} tokens, {VOCABULARY:,} items by Zipf's law"
    yield Row(
        f"salience: vectors and {CLUSTERS} clusters, {spent.maps:,} maps",
        spent.represented + spent.clustered,
        "s",
        at_most=limits[0],
        note=f"{shape}: {spent.represented:.1f} s and {spent.clustered:.1f} s",
    )
    yield Row(
        f"salience: neighbours of a text among {spent.maps:,}",
        spent.neighbours_ms,
        "ms",
        at_most=limits[1],
        note=f"{NEIGHBOURS} of them, with the terms they share; median of {QUERIES} questions",
    )
    yield Row("salience: peak memory", spent.peak_gb, "GB", at_most=limits[2], note="the maps included")


def measure(n: int) -> Spent:
    """Generate maps, then measure; only the measuring is timed."""
    from theodolite.salience.clusters import cluster
    from theodolite.salience.neighbours import nearest, shared_terms
    from theodolite.salience.representations import salience_vocab

    random = np.random.default_rng(0)
    maps = _generated(n, random)
    found: list[csr_array] = []
    represented = seconds(lambda: found.append(salience_vocab(maps, VOCABULARY)))
    matrix = found[0]
    clustered = seconds(lambda: cluster(matrix, CLUSTERS, seed=0))

    def neighbours(row: int) -> None:
        # Made from its map, as where it is of another corpus.
        asked = salience_vocab(maps.take(np.array([row])), VOCABULARY)
        # One more than is wanted: the text itself is found too.
        rows, _ = nearest(matrix, asked, NEIGHBOURS + 1)
        for other in rows[0].tolist():
            shared_terms(asked, matrix[[other]], 5)

    asked = random.integers(0, n, QUERIES + 1).tolist()
    _check_nearest(matrix, asked[0])
    neighbours(asked[0])
    spent = [seconds(partial(neighbours, row)) for row in asked[1:]]
    return Spent(n, represented, clustered, 1000 * median(spent), peak_gb())


def _check_nearest(matrix: csr_array, row: int) -> None:
    """The cosines with every row written out: the answer that is timed must be the right one."""
    from theodolite.salience.neighbours import nearest

    every = matrix @ matrix[[row]].toarray()[0].astype(np.float64)
    _, cosines = nearest(matrix, matrix[[row]], NEIGHBOURS + 1)
    if not np.allclose(cosines[0], np.sort(every)[::-1][: NEIGHBOURS + 1], atol=1e-6):
        raise RuntimeError("the neighbours found are not the nearest: nothing to time")


def _generated(n: int, random: np.random.Generator) -> TextMaps:
    """Maps of n texts of two classes: items by Zipf's law between CLS and SEP, saliences by a long-tailed one."""
    from theodolite.salience.maps import FIRST, SPECIAL, TextMaps

    edges = np.cumsum(1 / np.arange(1, VOCABULARY + 1))
    ids = np.searchsorted(edges / edges[-1], random.random((n, TOKENS_A_TEXT))).astype(np.int32)
    ids = random.permutation(VOCABULARY).astype(np.int32)[np.minimum(ids, VOCABULARY - 1)]
    ids[:, 0], ids[:, -1] = CLS, SEP
    side = np.full(ids.shape, FIRST, np.int8)
    side[:, [0, -1]] = SPECIAL
    start = np.where(side == FIRST, 2 * np.arange(TOKENS_A_TEXT, dtype=np.int32), np.int32(-1))
    end = np.where(side == FIRST, start + 1, np.int32(-1))
    weights = random.lognormal(size=ids.shape).astype(np.float32)
    logits = random.standard_normal((n, 2), np.float32)
    predicted = logits.argmax(axis=1).astype(np.int64)
    flat = (ids.ravel(), start.ravel(), end.ravel(), side.ravel(), weights.ravel())
    bounds = np.arange(n + 1, dtype=np.int64) * TOKENS_A_TEXT
    return TextMaps(np.arange(n), bounds, *flat, logits, predicted, random.integers(0, 2, n))


if __name__ == "__main__":
    print(json.dumps(asdict(measure(int(sys.argv[1])))))
