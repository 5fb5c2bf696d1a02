"""Top sentences, their ranges and monotonic tokens at the source's own size, from stored embeddings."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.fresh import in_fresh_process
from benchmarks.growth import peak_gb
from benchmarks.row import Row
from benchmarks.settings import Settings

# Texts of the source's four corpora.
SIZES = (164_246, 58_645, 203_736, 198_085)
DIM = 768
TOKENS_A_TEXT = 24
VOCABULARY = 20_000
DIRECTIONS = 768
BLOCK = 8192


@dataclass(frozen=True)
class Spent:
    """What so many texts took: seconds of the top sentences and their overlap, and of the monotonic tokens."""

    texts: int
    tops: float
    monotonic: float
    tokens: int
    peak_gb: float

    @property
    def seconds(self) -> float:
        return self.tops + self.monotonic


def run(settings: Settings) -> Iterator[Row]:
    small, large = (0.016, 0.032) if settings.quick else (0.16, 1.0)
    less, more = (Spent(**in_fresh_process("benchmarks.illusion", share)) for share in (small, large))
    note = f"{more.texts:,} × {DIM}: {more.tops:.0f} s and {more.monotonic:.0f} s, {more.tokens} tokens"
    limit = None if settings.quick else 120.0
    yield Row("illusion: top sentences and monotonic tokens", more.seconds, "s", at_most=limit, note=note)
    yield Row("illusion: peak memory", more.peak_gb, "GB", at_most=None if settings.quick else 4.0)
    yield Row(
        f"illusion: time a text, {more.texts:,} / {less.texts:,}",
        (more.seconds / more.texts) / (less.seconds / less.texts),
        note=f"{less.texts:,}: {less.seconds:.1f} s",
    )


def measure(share: float) -> Spent:
    """Generate embeddings on disk and tokens by Zipf's law, then measure; only the measuring is timed."""
    from theodolite.illusion import monotonic
    from theodolite.illusion.points import Points
    from theodolite.illusion.tops import ends, ranges_overlap

    sizes = [int(n * share) for n in SIZES]
    random = np.random.default_rng(0)
    matrix = np.concatenate([np.eye(DIM), random.standard_normal((DIRECTIONS, DIM)) / DIM**0.5]).astype(np.float32)
    with tempfile.TemporaryDirectory(prefix="theodolite-bench-") as folder:
        points, pieces = [], []
        for i, n in enumerate(sizes):
            path = Path(folder) / f"{i}.npy"
            _write_vectors(path, n, random)
            points.append(Points(str(i), np.arange(n), _blocks(path)))
            pieces.append(_zipf(n, random))
        began = time.perf_counter()
        ranges_overlap({p.name: ends(p, matrix, 10) for p in points})
        tops = time.perf_counter() - began
        began = time.perf_counter()
        common = monotonic.common_tokens([ids for ids, _ in pieces], 100)
        changes = []
        for i, (p, (ids, bounds)) in enumerate(zip(points, pieces, strict=True)):
            counts = monotonic.counts_of(ids, bounds, common)
            changes.append(monotonic.change_of_columns(p.blocks, counts, DIM, len(common), shuffle_seed=i)[0])
        monotonic.shares(changes, [p.name for p in points])
        spent = time.perf_counter() - began
    return Spent(sum(sizes), tops, spent, len(common), peak_gb())


def _write_vectors(path: Path, n: int, random: np.random.Generator) -> None:
    file = np.lib.format.open_memmap(path, "w+", np.float32, (n, DIM))
    for start in range(0, n, BLOCK):
        file[start : start + BLOCK] = random.standard_normal((min(BLOCK, n - start), DIM), np.float32)
    file.flush()


def _blocks(path: Path) -> Callable[[], Iterator[NDArray[Any]]]:
    def blocks() -> Iterator[NDArray[Any]]:
        # Opened anew each time: pages of a map that is gone no longer count as this process's.
        held = np.load(path, mmap_mode="r")
        for start in range(0, len(held), BLOCK):
            yield held[start : start + BLOCK]

    return blocks


def _zipf(n: int, random: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Token ids by Zipf's law and the bounds of each text."""
    weights = 1 / np.arange(1, VOCABULARY + 1)
    edges = np.cumsum(weights) / weights.sum()
    bounds = np.append(0, np.cumsum(random.poisson(TOKENS_A_TEXT, n)))
    ids = np.searchsorted(edges, random.random(int(bounds[-1])))
    return np.minimum(ids, VOCABULARY - 1).astype(np.int64), bounds.astype(np.int64)


if __name__ == "__main__":
    print(json.dumps(asdict(measure(float(sys.argv[1])))))
