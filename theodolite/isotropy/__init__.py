"""How round a representation space is, and what making it rounder buys."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from theodolite.isotropy.instrument import Isotropy
from theodolite.isotropy.reading import IsotropyReading

if TYPE_CHECKING:
    from theodolite.isotropy.isoscore import isoscore_of
    from theodolite.isotropy.measures import Measures, measure, measure_array
    from theodolite.rounding import AllButTheTop, ClusterRemoval, MeanRemoval, Whitening, load, rounder, save

_MEASURES = ("Measures", "measure", "measure_array")
_ROUNDING = ("AllButTheTop", "ClusterRemoval", "MeanRemoval", "Whitening", "load", "rounder", "save")

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


def __getattr__(name: str) -> Any:
    homes = {
        "theodolite.isotropy.isoscore": ("isoscore_of",),
        "theodolite.isotropy.measures": _MEASURES,
        "theodolite.rounding": _ROUNDING,
    }
    home = next((home for home, names in homes.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'theodolite.isotropy' has no attribute {name!r}")
    return getattr(import_module(home), name)
