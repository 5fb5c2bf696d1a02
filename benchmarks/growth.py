"""How time and peak memory grow with the corpus; each size in a process of its own."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.fresh import in_fresh_process
from benchmarks.row import Row
from benchmarks.settings import Settings

FULL = (5_000, 20_000, 60_000)
QUICK = (1_000, 2_000, 4_000)


@dataclass(frozen=True)
class Spent:
    """What measuring so many texts took."""

    texts: int
    seconds: float
    peak_gb: float


def run(settings: Settings) -> Iterator[Row]:
    sizes = QUICK if settings.quick else FULL
    small, middle, large = (Spent(**in_fresh_process("benchmarks.growth", settings.data, size)) for size in sizes)
    yield Row(
        f"time a text, {large.texts:,} / {small.texts:,} texts",
        (large.seconds / large.texts) / (small.seconds / small.texts),
        note=", ".join(f"{s.texts:,}: {1000 * s.seconds / s.texts:.1f} ms" for s in (small, middle, large)),
    )
    # The targets are of the full sizes: below them the vocabulary itself is still growing.
    yield Row(
        f"peak memory, {large.texts:,} / {middle.texts:,} texts",
        large.peak_gb / middle.peak_gb,
        at_most=None if settings.quick else 1.1,
        note=", ".join(f"{s.texts:,}: {s.peak_gb:.2f} GB" for s in (small, middle, large)),
    )
    yield Row(f"peak memory, {large.texts:,} texts", large.peak_gb, "GB", at_most=None if settings.quick else 2.5)


def measure(data: Path, texts: int) -> Spent:
    """Contextuality on the first sentences of wiki, from the file on; the model's loading is not timed."""
    from theodolite import Contextuality, Corpus, Encoder, Store, run

    encoder = Encoder.load(device="cpu")
    with tempfile.TemporaryDirectory(prefix="theodolite-bench-") as folder:
        began = time.perf_counter()
        corpus = Corpus.read(data / "corpora" / "wiki.txt.gz", "wiki", limit=texts, cache=folder)
        run([Contextuality()], encoder, [corpus], store=Store(folder))
        spent = time.perf_counter() - began
    return Spent(len(corpus), spent, peak_gb())


def peak_in(status: Path) -> float:
    """The largest resident size that a process's `status` tells, in units of 10⁹ bytes; 0 where it has just ended."""
    lines = status.read_text().splitlines()
    return next((int(line.split()[1]) * 1024 / 1e9 for line in lines if line.startswith("VmHWM:")), 0.0)


def peak_gb() -> float:
    """This process's largest resident size so far, in units of 10⁹ bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        return peak_in(status)
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e9


def resident_gb() -> float:
    """This process's resident size now."""
    import psutil

    return float(psutil.Process().memory_info().rss) / 1e9


if __name__ == "__main__":
    print(json.dumps(asdict(measure(Path(sys.argv[1]), int(sys.argv[2])))))
