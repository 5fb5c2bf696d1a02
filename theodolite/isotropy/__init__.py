"""How round a representation space is, and what making it rounder buys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theodolite.isotropy.instrument import Isotropy
from theodolite.isotropy.reading import IsotropyReading
from theodolite.lazy import lazily

if TYPE_CHECKING:
    from theodolite.isotropy.isoscore import isoscore_of
    from theodolite.isotropy.measures import Measures, measure, measure_array
    from theodolite.rounding import AllButTheTop, ClusterRemoval, MeanRemoval, Whitening, load, rounder, save

# Imported when first used: scikit-learn takes a second or two, and whoever asks for help does not need it.
_HOMES = {
    "AllButTheTop": "theodolite.rounding",
    "ClusterRemoval": "theodolite.rounding",
    "MeanRemoval": "theodolite.rounding",
    "Measures": ".measures",
    "Whitening": "theodolite.rounding",
    "isoscore_of": ".isoscore",
    "load": "theodolite.rounding",
    "measure": ".measures",
    "measure_array": ".measures",
    "rounder": "theodolite.rounding",
    "save": "theodolite.rounding",
}

__all__ = [
    "AllButTheTop",
    "ClusterRemoval",
    "Isotropy",
    "IsotropyReading",
    "MeanRemoval",
    "Measures",
    "Whitening",
    "isoscore_of",
    "load",
    "measure",
    "measure_array",
    "rounder",
    "save",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
