"""How context-specific is each layer of an encoder, once the layer's own anisotropy is taken off?"""

from theodolite.contextuality.instrument import Contextuality
from theodolite.contextuality.reading import ContextualityReading

__all__ = ["Contextuality", "ContextualityReading"]
