"""The methods by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature
from typing import Any

from theodolite.rounding.base import Rounder, VectorsError
from theodolite.rounding.clusters import ClusterRemoval
from theodolite.rounding.names import NAMES
from theodolite.rounding.plain import AllButTheTop, MeanRemoval, Unchanged, Whitening

_MAKERS: tuple[Callable[..., Rounder], ...] = (
    Unchanged,
    MeanRemoval,
    AllButTheTop,
    partial(ClusterRemoval, "kmeans", False),
    partial(ClusterRemoval, "kmeans", True),
    partial(ClusterRemoval, "gmm", True),
    Whitening,
)
METHODS: Mapping[str, Callable[..., Rounder]] = dict(zip(NAMES, _MAKERS, strict=True))


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


def rounder_of(method: str, options: Mapping[str, Any]) -> Rounder:
    """As ``rounder``, with those of the options that the method has.

    >>> rounder_of("abtt", {"n_clusters": 5, "n_directions": 3})
    AllButTheTop(n_directions=3)
    """
    known = signature(METHODS[method]).parameters
    return rounder(method, **{name: value for name, value in options.items() if name in known})
