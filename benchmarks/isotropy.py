"""Rounding a space against the direct scikit-learn recipe, and IsoScore against its package, at 100,000 × 768."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.fresh import in_fresh_process
from benchmarks.growth import peak_gb, resident_gb
from benchmarks.row import Row
from benchmarks.settings import Settings

DIM, CLUSTERS, DIRECTIONS = 768, 27, 12
BLOCK = 8192


def run(settings: Settings) -> Iterator[Row]:
    rows, rounds = (10_000, 1) if settings.quick else (100_000, 3)
    ours, peer = (in_fresh_process("benchmarks.isotropy", what, rows, rounds) for what in ("ours", "peer"))
    note = f"{rows:,} × {DIM}: {peer['seconds']:.1f} s and {ours['seconds']:.1f} s, medians of {rounds}"
    yield Row(
        "rounding: k-means + mean + PCA, scikit-learn / ours",
        peer["seconds"] / ours["seconds"],
        at_least=1.5,
        note=note,
    )
    yield Row(
        "rounding: transform, scikit-learn / ours",
        peer["transform_seconds"] / ours["transform_seconds"],
        note=f"{peer['transform_seconds']:.1f} s and {ours['transform_seconds']:.1f} s",
    )
    yield Row("rounding: inertia, ours / scikit-learn", ours["inertia"] / peer["inertia"], at_most=1.01)
    yield Row(
        "rounding: memory above the data",
        ours["above_gb"],
        "GB",
        at_most=1.0,
        note=f"theirs: {peer['above_gb']:.2f} GB",
    )
    score = in_fresh_process("benchmarks.isotropy", "isoscore", rows, rounds)
    for kind in ("float32", "float64"):
        mine, theirs = score[kind]["ours"], score[kind]["peer"]
        yield Row(
            f"IsoScore: its package / ours, {kind}",
            theirs / mine,
            at_least=3.0,
            note=f"{theirs:.2f} s and {mine:.2f} s, values differ by {score[kind]['apart']:.1e}",
        )


def vectors(rows: int) -> NDArray[np.float32]:
    """Something like token vectors: forty groups off the origin, each with a spectrum that falls off."""
    random = np.random.default_rng(0)
    spread = 1 / np.sqrt(1 + np.arange(DIM))
    turned = np.linalg.qr(random.standard_normal((DIM, DIM)))[0].astype(np.float32)
    centres = 3 + 2 * random.standard_normal((40, DIM))
    found = np.empty((rows, DIM), np.float32)
    for start in range(0, rows, BLOCK):
        n = min(BLOCK, rows - start)
        group = random.integers(0, 40, n)
        found[start : start + n] = (random.standard_normal((n, DIM)) * spread * 4).astype(np.float32) @ turned
        found[start : start + n] += centres[group] * spread
    return found


def blocks_of(x: NDArray[Any]) -> Iterator[NDArray[Any]]:
    return (x[start : start + BLOCK] for start in range(0, len(x), BLOCK))


def fit_ours(x: NDArray[Any]) -> Any:
    """Streamed."""
    from theodolite.rounding import ClusterRemoval

    return ClusterRemoval(n_clusters=CLUSTERS, n_directions=DIRECTIONS).fit_blocks(lambda: blocks_of(x))


@dataclass(frozen=True)
class Direct:
    """The direct recipe, fitted: clusters, and the PCA of each."""

    clusters: Any
    parts: list[Any]

    def transform(self, x: NDArray[Any]) -> NDArray[Any]:
        """Each vector less its cluster's mean and top directions."""
        labels, found = self.clusters.predict(x), np.empty_like(x)
        for cluster, part in enumerate(self.parts):
            mine = labels == cluster
            if mine.any():
                found[mine] = x[mine] - part.inverse_transform(part.transform(x[mine]))
        return found


def fit_peer(x: NDArray[Any]) -> Direct:
    """KMeans, then PCA of each cluster."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA

    found = KMeans(CLUSTERS, n_init=1, random_state=0).fit(x)
    parts = [PCA(DIRECTIONS, random_state=0).fit(x[found.labels_ == cluster]) for cluster in range(CLUSTERS)]
    return Direct(found, parts)


def inertia(made: Any, x: NDArray[Any]) -> float:
    """Of the clusters that either found: the squared distances to the nearest centre."""
    if isinstance(made, Direct):
        return float(made.clusters.inertia_)
    parts = (((b.astype(np.float64) - made.centres_[made.assign(b)]) ** 2).sum() for b in blocks_of(x))
    return float(sum(parts))


def timed(work: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """Median seconds, and what came out."""
    spent: list[float] = []
    value = None
    for _ in range(rounds):
        began = time.perf_counter()
        value = work()
        spent.append(time.perf_counter() - began)
    return median(spent), value


def isoscores(rows: int, rounds: int) -> dict[str, Any]:
    """Seconds of both, by number type, and how far their values are apart."""
    from IsoScore.IsoScore import IsoScore

    from theodolite.isotropy.isoscore import isoscore_of

    found = {}
    for kind in ("float32", "float64"):
        x = vectors(rows).astype(kind)
        mine, my_value = timed(lambda x=x: isoscore_of(x), rounds)
        theirs, their_value = timed(lambda x=x: float(IsoScore(x)), rounds)
        found[kind] = {"ours": mine, "peer": theirs, "apart": abs(my_value - their_value)}
    return found


if __name__ == "__main__":
    what, rows, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if what == "isoscore":
        print(json.dumps(isoscores(rows, rounds)))
    else:
        data = vectors(rows)
        work = fit_ours if what == "ours" else fit_peer
        # Imports and the first pages of the libraries are no part of what the fit needs.
        work(data[:2000])
        before = resident_gb()
        seconds, made = timed(lambda: work(data), rounds)
        above = peak_gb() - before
        moved, _ = timed(lambda: made.transform(data), rounds)
        told = {"seconds": seconds, "transform_seconds": moved, "inertia": inertia(made, data), "above_gb": above}
        print(json.dumps(told))
