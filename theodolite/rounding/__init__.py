"""Making a representation space rounder: scikit-learn transformers that can be streamed, saved and loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theodolite.lazy import lazily

if TYPE_CHECKING:
    from theodolite.rounding.base import Rounder, VectorsError
    from theodolite.rounding.clusters import ClusterRemoval
    from theodolite.rounding.methods import METHODS, rounder, rounder_of
    from theodolite.rounding.plain import AllButTheTop, MeanRemoval, Unchanged, Whitening
    from theodolite.rounding.saving import load, save

# Imported when first used: scikit-learn takes a second or two, and whoever asks for help does not need it.
_HOMES = {
    "METHODS": ".methods",
    "AllButTheTop": ".plain",
    "ClusterRemoval": ".clusters",
    "MeanRemoval": ".plain",
    "Rounder": ".base",
    "Unchanged": ".plain",
    "VectorsError": ".base",
    "Whitening": ".plain",
    "load": ".saving",
    "rounder": ".methods",
    "rounder_of": ".methods",
    "save": ".saving",
}

__all__ = [
    "METHODS",
    "AllButTheTop",
    "ClusterRemoval",
    "MeanRemoval",
    "Rounder",
    "Unchanged",
    "VectorsError",
    "Whitening",
    "load",
    "rounder",
    "rounder_of",
    "save",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
