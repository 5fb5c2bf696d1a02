"""The mergeable statistics: NumPy in, NumPy out, float64 inside, no model in sight."""

from theodolite.accumulate.base import Accumulator
from theodolite.accumulate.counts import KeyCounts
from theodolite.accumulate.covariance import Covariance
from theodolite.accumulate.hashing import hash_of, occurrence_code, uniform_of
from theodolite.accumulate.moments import WeightedMean, mean_interval, wilson
from theodolite.accumulate.samples import DistinctSample, Gathered, HashSample
from theodolite.accumulate.scan import column_quantiles, nearest
from theodolite.accumulate.sums import KeyedSums, UnitSums, mean_pair_cosine, unit_vectors
from theodolite.accumulate.top import TopK

__all__ = [
    "Accumulator",
    "Covariance",
    "DistinctSample",
    "Gathered",
    "HashSample",
    "KeyCounts",
    "KeyedSums",
    "TopK",
    "UnitSums",
    "WeightedMean",
    "column_quantiles",
    "hash_of",
    "mean_interval",
    "mean_pair_cosine",
    "nearest",
    "occurrence_code",
    "uniform_of",
    "unit_vectors",
    "wilson",
]
