"""One map of several corpora in two dimensions."""

from theodolite.projection.map import Map, Method, fit_map

__all__ = ["Map", "Method", "fit_map"]
