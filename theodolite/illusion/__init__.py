"""Does a neuron, or any direction, mean the same thing in every corpus?"""

from theodolite.illusion.instrument import Illusion
from theodolite.illusion.reading import IllusionReading

__all__ = ["Illusion", "IllusionReading"]
