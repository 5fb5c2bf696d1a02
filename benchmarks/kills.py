"""Salience maps of whole reviews, killed on the way: do they end the same, and does memory grow with their number?"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.growth import peak_in
from benchmarks.row import Row
from benchmarks.salience import trained
from benchmarks.settings import Settings

KILLS = 4
# Between two looks at a process: short beside a shard of maps.
SECONDS = 0.1


@dataclass(frozen=True)
class Ended:
    """What a command left: what it printed (None where it was killed) and its peak memory, in units of 10⁹ bytes."""

    said: dict[str, Any] | None
    peak_gb: float


def run(settings: Settings) -> Iterator[Row]:
    few, many = settings.size(1_000, 20), settings.size(4_000, 40)
    with tempfile.TemporaryDirectory(prefix="theodolite-bench-") as name:
        folder, reviews = Path(name), settings.data / "imdb" / "reviews.parquet"
        model = trained(settings, folder).folder.path
        # How high two threads' batches happen to reach at once differs from run to run: every thousand is measured.
        small = [
            _until(_command(part, model), few, folder / f"small-{i}").peak_gb
            for i, part in enumerate(_parts(reviews, few, many, folder))
        ]
        command = _command(reviews, model)
        began = time.perf_counter()
        whole = _until(command, many, folder / "whole")
        spent = time.perf_counter() - began
        files = len(_arrays(folder / "whole"))
        broken = [_until(command, many, folder / "broken", files * i // KILLS) for i in range(KILLS)]
        again = _until(command, many, folder / "broken")
        off = _differences(folder / "whole", folder / "broken") + (again.said != whole.said)
    about = f"{many:,} reviews, windows and all, {spent:.0f} s; {files} files of maps"
    yield Row(f"maps killed {len(broken)} times: what differs in the end", off, "files", at_most=0, note=about)
    peak = max(ended.peak_gb for ended in (whole, again, *broken))
    # The targets are of the full sizes.
    limits: tuple[float | None, ...] = (None, None) if settings.quick else (3.0, 1.0)
    yield Row(f"maps of {many:,} reviews: peak memory", peak, "GB", at_most=limits[0], note="of all runs")
    each = ", ".join(f"{peak:.2f}" for peak in small)
    ratio = whole.peak_gb / max(small)
    note = f"{each} GB, the {few:,} by themselves, and {whole.peak_gb:.2f} GB"
    yield Row(f"peak memory, {many:,} reviews / the highest of {few:,} of them", ratio, at_most=limits[1], note=note)


def _parts(reviews: Path, few: int, many: int, folder: Path) -> Iterator[Path]:
    """The first ``many`` reviews in files of ``few``."""
    import pyarrow.parquet as pq

    table = pq.read_table(reviews).slice(0, many)
    for start in range(0, many, few):
        path = folder / f"reviews-{start}.parquet"
        pq.write_table(table.slice(start, few), path)
        yield path


def _command(reviews: Path, model: Path) -> list[str]:
    source = f"imdb={reviews}?text=text&label=label"
    # Maps and clusters; what asks the classifier again, and the drawing of a map, would only add to the time.
    options = ("--faithful", "0", "--map", "none", "--json")
    return [sys.executable, "-m", "theodolite", "salience", str(model), "--corpus", source, *options]


def _until(command: list[str], reviews: int, store: Path, files: int | None = None) -> Ended:
    """The command over so many reviews, to its end or killed as soon as the store holds so many files."""
    asked = [*command, "--limit", str(reviews), "--store", str(store)]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        running = subprocess.Popen(asked, stdout=out, stderr=err)
        peak = 0.0
        while running.poll() is None:
            peak = max(peak, peak_in(Path(f"/proc/{running.pid}/status")))
            if files is not None and len(_arrays(store)) >= max(1, files):
                running.kill()
            time.sleep(SECONDS)
        if running.wait() and files is None:
            err.seek(0)
            raise RuntimeError(err.read().decode()[-500:])
        if files is not None:
            if running.returncode != -signal.SIGKILL:
                raise RuntimeError("it was over before it was killed: nothing to compare")
            return Ended(None, peak)
        out.seek(0)
        said = json.load(out)
    # When it was made is the one thing that may differ.
    del said["manifest"]["made"]
    return Ended(said, peak)


def _arrays(store: Path) -> dict[str, Path]:
    return {str(path.relative_to(store)): path for path in store.glob("arrays/*/*.arrow")}


def _differences(one: Path, other: Path) -> int:
    """How many files are in one of them only, or are not the same bytes."""
    mine, theirs = _arrays(one), _arrays(other)
    both = mine.keys() & theirs.keys()
    return len(mine.keys() ^ theirs.keys()) + sum(mine[n].read_bytes() != theirs[n].read_bytes() for n in both)
