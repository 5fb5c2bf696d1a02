"""Theodolite measures what a text encoder's representations really mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theodolite.lazy import lazily

if TYPE_CHECKING:
    from theodolite.contextuality import Contextuality, ContextualityReading
    from theodolite.corpus import Corpus
    from theodolite.encoder.encoder import Encoder
    from theodolite.errors import InputError
    from theodolite.explaining import explain
    from theodolite.illusion import Illusion, IllusionReading
    from theodolite.instrument import Instrument
    from theodolite.isotropy import Isotropy, IsotropyReading
    from theodolite.reading import Reading
    from theodolite.registry import load
    from theodolite.running import RunOptions, run
    from theodolite.salience import Salience, SalienceReading
    from theodolite.similarity import Similarity, SimilarityReading
    from theodolite.store import Store
    from theodolite.studio.app import make_studio
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
    "Similarity": "theodolite.similarity",
    "SimilarityReading": "theodolite.similarity",
    "Store": "theodolite.store",
    "Survey": "theodolite.survey",
    "explain": "theodolite.explaining",
    "load": "theodolite.registry",
    "make_studio": "theodolite.studio.app",
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
    "Similarity",
    "SimilarityReading",
    "Store",
    "Survey",
    "explain",
    "load",
    "make_studio",
    "run",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
