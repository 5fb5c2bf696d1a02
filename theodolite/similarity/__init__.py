"""Which words make two paragraphs similar? After source 002 (BTI)."""

from theodolite.similarity.instrument import Similarity
from theodolite.similarity.reading import SimilarityReading

__all__ = ["Similarity", "SimilarityReading"]
