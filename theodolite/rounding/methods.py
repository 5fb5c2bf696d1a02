"""The methods by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature
from typing import Any

from theodolite.rounding.base import Rounder, VectorsError
from theodolite.rounding.clusters import ClusterRemoval
from theodolite.rounding.plain import AllButTheTop, MeanRemoval, Unchanged, Whitening

METHODS: Mapping[str, Callable[..., Rounder]] = {
    "none": Unchanged,
    "mean": MeanRemoval,
    "abtt": AllButTheTop,
    "kmeans+mean": partial(ClusterRemoval, "kmeans", False),
    "kmeans+mean+pca": partial(ClusterRemoval, "kmeans", True),
    "gmm+mean+pca": partial(ClusterRemoval, "gmm", True),
    "whitening": Whitening,
}


def rounder(method: str, **parameters: Any) -> Rounder:
    """An unfitted transformer by the method's name, with its parameters.

    >>> rounder("kmeans+mean+pca", n_clusters=5)
    ClusterRemoval(n_clusters=5)
    """
    if method not in METHODS:
        raise VectorsError(f"no method {method!r}; there are: {', '.join(METHODS)}")
    make = METHODS[method]
    known = list(signature(make).parameters)
    unknown = [name for name in parameters if name not in known]
    if unknown:
        raise VectorsError(f"{method} has no parameter {unknown[0]!r} (it has: {', '.join(known) or 'none'})")
    return make(**parameters)
