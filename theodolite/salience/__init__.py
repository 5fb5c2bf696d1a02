"""What does a text classifier look at, over the whole data set?"""

from theodolite.salience.instrument import Salience
from theodolite.salience.reading import SalienceReading

__all__ = ["Salience", "SalienceReading"]
