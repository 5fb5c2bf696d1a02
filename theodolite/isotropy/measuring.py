"""Measuring spaces in the store, as they are and after every method, with some points to draw them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.instrument import Progress
from theodolite.isotropy.cloud import round_cloud
from theodolite.isotropy.intervals import Parts, measure_with_intervals
from theodolite.isotropy.judging import EVALUATED, Fitted
from theodolite.isotropy.reading import CLOUD
from theodolite.isotropy.spaces import KeptSpace
from theodolite.rounding import Rounder
from theodolite.rounding.names import NONE

Row = dict[str, Any]
POINTS = 1_500


def measure_spaces(
    spaces: Mapping[str, KeptSpace],
    layers: Sequence[int],
    methods: Sequence[str],
    make: Callable[[str], Rounder],
    seed: int,
    progress: Progress,
) -> tuple[list[Row], list[Row], Fitted]:
    """Rows of measures and of points to draw, by corpus, layer and method; and what was fitted.

    A round cloud of the same size is measured beside every space as it is.
    """
    measured: list[Row] = []
    points: list[Row] = []
    fitted: dict[tuple[str, int, str], Rounder] = {}
    with progress.step("measuring", len(spaces) * len(layers) * (1 + len(methods))):
        for name, space in spaces.items():
            for layer in layers:
                parts = _parts(space, layer)
                picture = _Picture([vectors for _, vectors in parts()], seed)
                about = {"corpus": name, "layer": layer, "units": space.sampled.units}
                for method in (NONE, *methods):
                    at = about | {"method": method}
                    made = None
                    if method != NONE:
                        made = fitted[name, layer, method] = make(method).fit_blocks(space.blocks(layer))
                    found = measure_with_intervals(_parts(space, layer, made), picture.dim, seed)
                    measured.append(at | found | {"fitted_on": EVALUATED if made else None})
                    points += [at | {"x": x, "y": y} for x, y in picture.places(made)]
                    if made is None:
                        cloud = asdict(round_cloud(found["n"], picture.dim, picture.mean_length, seed))
                        measured.append(at | cloud | {"method": CLOUD, "fitted_on": None, "reason": None})
                    progress.advance(1)
    return measured, points, fitted


def _parts(space: KeptSpace, layer: int, made: Rounder | None = None) -> Parts:
    if made is None:
        return lambda: space.parts(layer)
    return lambda: ((rows, made.transform(vectors)) for rows, vectors in space.parts(layer))


class _Picture:
    """A sample of a space in two dimensions: the two in which it reaches furthest from the origin, not centred."""

    def __init__(self, parts: Sequence[NDArray[Any]], seed: int) -> None:
        starts = np.cumsum([0, *map(len, parts)])
        chosen = np.sort(np.random.default_rng(seed).permutation(starts[-1])[:POINTS])
        ends = np.searchsorted(chosen, starts)
        some = [
            part[chosen[low:high] - start]
            for part, start, low, high in zip(parts, starts, ends, ends[1:], strict=False)
        ]
        self._some = np.concatenate(some).astype(np.float64)
        self.dim = self._some.shape[1]
        self.mean_length = float(np.linalg.norm(self._some, axis=1).mean())

    def places(self, made: Rounder | None) -> list[tuple[float, float]]:
        """(x, y) of the points, after a transform or as they are; the cloud lies to the right of the origin."""
        vectors = self._some if made is None else made.transform(self._some)
        axes = np.linalg.svd(vectors, full_matrices=False)[2][:2]
        # One vector, or one dimension, has one axis only: it lies at 0 on the other.
        axes = np.pad(axes, ((0, 2 - len(axes)), (0, 0)))
        placed = vectors @ axes.T
        return [(float(x), float(y)) for x, y in placed * np.where(placed.sum(axis=0) < 0, -1, 1)]
