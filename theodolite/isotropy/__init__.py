"""How round a representation space is, and what making it rounder buys."""

from theodolite.isotropy.instrument import Isotropy
from theodolite.isotropy.measures import Measures, measure, measure_array
from theodolite.isotropy.reading import IsotropyReading
from theodolite.rounding import (
    METHODS,
    AllButTheTop,
    ClusterRemoval,
    MeanRemoval,
    Whitening,
    load,
    rounder,
    save,
)

__all__ = [
    "METHODS",
    "AllButTheTop",
    "ClusterRemoval",
    "Isotropy",
    "IsotropyReading",
    "MeanRemoval",
    "Measures",
    "Whitening",
    "load",
    "measure",
    "measure_array",
    "rounder",
    "save",
]
