"""Is the explanation of one pair true? Weights drawn anew several times, and words deleted in several orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from theodolite.accumulate import mean_interval
from theodolite.similarity.explanation import HARMLESS, WHOLE, Asked
from theodolite.studio.compare_explaining import finite
from theodolite.studio.compare_schemas import CompareJob, CompareTruth, DeletedPoint, DeletedRow, RandomisedRow

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder
    from theodolite.similarity.deletion import Deletion
    from theodolite.similarity.explaining import Baseline
    from theodolite.similarity.randomisation import Randomised
    from theodolite.studio.jobs import JobProgress, Jobs
    from theodolite.studio.workspace import Workspace

SEEDS = 5
ORDERS = 20


class PairTruth:
    """Starts the tests as jobs, one at a time: weights are drawn from the process's one random state."""

    def __init__(self, workspace: Workspace, jobs: Jobs) -> None:
        self._workspace, self._jobs = workspace, jobs
        self._testing = Lock()

    def start(
        self, about: Mapping[str, Any], a: str, b: str, asked: Asked, baseline: Baseline | None = None
    ) -> CompareJob:
        """Test the explanation of a pair; about: a manifest's entry of the encoder."""

        def work(progress: JobProgress) -> dict[str, Any]:
            with self._testing:
                # A model of its own, so that questions go on being answered.
                encoder = self._workspace.another_encoder(about)
                return truth(encoder, a, b, asked, baseline, progress).model_dump()

        return CompareJob(id=self._jobs.start("Is the explanation true?", work).id)


class Whole:
    """Tells a progress of one step how far all the little ones inside are."""

    def __init__(self, progress: JobProgress) -> None:
        self.advance = progress.advance

    def step(self, title: str, total: int) -> AbstractContextManager[Any]:
        """The one step goes on."""
        return nullcontext()


def truth(
    encoder: Encoder, a: str, b: str, asked: Asked, baseline: Baseline | None, progress: JobProgress
) -> CompareTruth:
    """Both tests on one pair."""
    from theodolite.encoder.randomised import separate_layers
    from theodolite.similarity.deletion import deletion
    from theodolite.similarity.explaining import Baseline, explain_pairs
    from theodolite.similarity.randomisation import randomisation

    known = baseline or Baseline()
    drawn: list[list[Randomised]] = []
    # The trained model, other batches, the layers one after another, the whole.
    changes = separate_layers(encoder) + 3
    with progress.step("weights drawn anew", SEEDS * changes):
        for seed in range(SEEDS):
            told = Whole(progress)
            drawn.append(randomisation(encoder, [a], [b], asked, seed=seed, baseline=known, progress=told))
    with progress.step("words deleted", 0):
        [explanation] = explain_pairs(encoder, [a], [b], asked, baseline=known)
        progress.check()
        # The same pair many times: what a method deletes is the same each time, the random orders are not.
        fallen = deletion(encoder, [explanation] * ORDERS, asked)
    rows = randomised_rows(drawn)
    deleted = deleted_rows(fallen)
    return CompareTruth(
        seeds=SEEDS,
        orders=ORDERS,
        whole=round(fallen.whole, 5),
        randomisation=rows,
        deletion=deleted,
        curves=_curves(fallen),
        findings=_findings(rows, deleted),
    )


def randomised_rows(drawn: Sequence[Sequence[Randomised]]) -> list[RandomisedRow]:
    """Rows of several seeds, one list a seed, made into means with 95% intervals over the seeds."""
    found = []
    for same in zip(*drawn, strict=True):
        first = same[0]
        correlation, low, high = _mean([row.correlation for row in same])
        overlap, overlap_low, overlap_high = _mean([row.overlap for row in same])
        found.append(
            RandomisedRow(
                method=first.method,
                change=first.change,
                layers=first.layers,
                correlation=correlation,
                correlation_low=low,
                correlation_high=high,
                overlap=overlap,
                overlap_low=overlap_low,
                overlap_high=overlap_high,
            )
        )
    return found


def _mean(values: Sequence[float]) -> tuple[float | None, ...]:
    return tuple(finite(float(value)) for value in mean_interval(np.array(values)))


def deleted_rows(fallen: Deletion) -> list[DeletedRow]:
    """A row a method and last random order, whose interval alone is over many orders."""
    random = fallen.rows[-1]
    found = []
    for row in fallen.rows:
        is_random = row is random
        found.append(
            DeletedRow(
                method=row.method,
                rank=row.rank,
                area=round(row.area, 5),
                area_low=finite(row.area_low) if is_random else None,
                area_high=finite(row.area_high) if is_random else None,
                over_random=None if is_random else finite(row.over_random),
                over_random_low=None if is_random else finite(row.over_random_low),
                over_random_high=None if is_random else finite(row.over_random_high),
            )
        )
    return found


def _curves(fallen: Deletion) -> list[DeletedPoint]:
    random = fallen.rows[-1].method
    return [
        DeletedPoint(
            method=point.method,
            fraction=point.fraction,
            fall=round(point.fall, 5),
            low=finite(point.low) if point.method == random else None,
            high=finite(point.high) if point.method == random else None,
        )
        for point in fallen.curves
    ]


def _findings(rows: Sequence[RandomisedRow], deleted: Sequence[DeletedRow]) -> list[str]:
    said = []
    by_change: Mapping[tuple[str, str], RandomisedRow] = {(row.method, row.change): row for row in rows}
    for method in dict.fromkeys(row.method for row in rows):
        whole, harmless = by_change[method, WHOLE], by_change[method, HARMLESS]
        if whole.correlation is None:
            said.append(f"By {method} all words of a text have one saliency, so there is no order to compare.")
            continue
        after = "" if harmless.correlation is None else f"; after a harmless change at {harmless.correlation:.2f}"
        said.append(
            f"With all weights drawn anew, saliencies by {method} correlate with the model's at "
            f"{_said(whole.correlation, whole.correlation_low, whole.correlation_high)}{after}."
        )
    best = min(deleted, key=lambda row: row.rank)
    random = deleted[-1]
    said.append(
        f"Deleting words lowers the cosine most by {best.method} ({best.area:.2f} on the average of all steps; in "
        f"random order {_said(random.area, random.area_low, random.area_high)})."
    )
    return said


def _said(value: float, low: float | None, high: float | None) -> str:
    shown = [f"{number:.2f}".replace("-", "−") for number in (value, low, high) if number is not None]
    return shown[0] if len(shown) < 3 else f"{shown[0]} ({shown[1]} to {shown[2]})"
