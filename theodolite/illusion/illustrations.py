"""What the figures of single directions are drawn from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.illusion import monotonic
from theodolite.illusion.locality import BINS, Neighbourhoods
from theodolite.illusion.measuring import Material
from theodolite.illusion.points import Ints
from theodolite.illusion.tops import Ends

Row = dict[str, Any]

TOKENS_SHOWN = 4


def quintile_rows(
    name: str,
    direction: NDArray[Any],
    materials: Mapping[str, Material],
    common: Ints,
    piece: Callable[[int], str],
) -> list[Row]:
    """How often a few tokens occur in each fifth of a corpus along a direction: those that change in most corpora."""
    if not len(common):
        return []
    counted = {}
    for corpus, material in materials.items():
        scores = np.concatenate([block @ direction.astype(block.dtype) for block in material.points.blocks()])
        counts = monotonic.counts_of(material.pieces.ids, material.pieces.bounds, common)
        counted[corpus] = monotonic.group_counts(counts, monotonic.quintiles(scores[:, None]), len(common))[0]
    changes = np.array([monotonic.directions_of_change(c[None])[0] for c in counted.values()])
    swing = sum(np.ptp(c, axis=1) / np.maximum(c.sum(axis=1), 1) for c in counted.values())
    order = np.lexsort((-np.asarray(swing), -np.abs(changes).sum(axis=0)))[:TOKENS_SHOWN]
    return [
        {
            "direction": name,
            "corpus": corpus,
            "token": piece(int(common[token])),
            "fifth": fifth + 1,
            "count": int(counts[token, fifth]),
            "change": int(changes[at, token]),
        }
        for at, (corpus, counts) in enumerate(counted.items())
        for token in order.tolist()
        for fifth in range(5)
    ]


def histogram_rows(
    names: Sequence[str], chosen: Sequence[int], corpus: str, material: Material, found: Ends, seed: int
) -> list[Row]:
    """The three sets of dot products around some directions' top sentences, as histograms of unit mass."""
    tops = found.top[list(chosen)]
    distances = Neighbourhoods(material.points, tops, seed).around(tops)
    pairs = np.triu_indices(tops.shape[1], 1)
    rows = []
    for at, i in enumerate(chosen):
        sets = {
            "nearest": distances.nearest[at].ravel(),
            "top": distances.top[at][pairs],
            "random": distances.random[at].ravel(),
        }
        edges = np.histogram_bin_edges(np.concatenate(list(sets.values())), BINS)
        for kind, values in sets.items():
            mass = np.histogram(values, edges)[0] / len(values)
            rows += [
                {
                    "direction": names[i],
                    "corpus": corpus,
                    "set": kind,
                    "low": float(edges[b]),
                    "high": float(edges[b + 1]),
                    "mass": float(mass[b]),
                }
                for b in range(BINS)
            ]
    return rows
