"""Theodolite measures what a text encoder's representations really mean."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from theodolite.contextuality import Contextuality, ContextualityReading
    from theodolite.corpus import Corpus
    from theodolite.encoder.encoder import Encoder
    from theodolite.errors import InputError
    from theodolite.illusion import Illusion, IllusionReading
    from theodolite.instrument import Instrument
    from theodolite.isotropy import Isotropy, IsotropyReading
    from theodolite.reading import Reading
    from theodolite.registry import load
    from theodolite.running import RunOptions, run
    from theodolite.salience import Salience, SalienceReading
    from theodolite.salience.explain import explain
    from theodolite.store import Store
    from theodolite.survey import Survey

# Names are imported when first used, so that the command line answers before torch is loaded.
_HOMES = {
    "Contextuality": "theodolite.contextuality",
    "ContextualityReading": "theodolite.contextuality",
    "Corpus": "theodolite.corpus",
    "Encoder": "theodolite.encoder.encoder",
    "Illusion": "theodolite.illusion",
    "IllusionReading": "theodolite.illusion",
    "InputError": "theodolite.errors",
    "Instrument": "theodolite.instrument",
    "Isotropy": "theodolite.isotropy",
    "IsotropyReading": "theodolite.isotropy",
    "Reading": "theodolite.reading",
    "RunOptions": "theodolite.running",
    "Salience": "theodolite.salience",
    "SalienceReading": "theodolite.salience",
    "Store": "theodolite.store",
    "Survey": "theodolite.survey",
    "explain": "theodolite.salience.explain",
    "load": "theodolite.registry",
    "run": "theodolite.running",
}

__all__ = [
    "Contextuality",
    "ContextualityReading",
    "Corpus",
    "Encoder",
    "Illusion",
    "IllusionReading",
    "InputError",
    "Instrument",
    "Isotropy",
    "IsotropyReading",
    "Reading",
    "RunOptions",
    "Salience",
    "SalienceReading",
    "Store",
    "Survey",
    "explain",
    "load",
    "run",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'theodolite' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
