"""Making a representation space rounder: scikit-learn transformers that can be streamed, saved and loaded."""

from theodolite.rounding.base import Rounder, VectorsError
from theodolite.rounding.clusters import ClusterRemoval
from theodolite.rounding.methods import METHODS, rounder
from theodolite.rounding.plain import AllButTheTop, MeanRemoval, Unchanged, Whitening
from theodolite.rounding.saving import load, save

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
    "save",
]
