"""Catalogues: items with titles and descriptions, the most similar of each, and why."""

from theodolite.catalogue.build import build_catalogue
from theodolite.catalogue.bulk import Explained, explain_catalogue
from theodolite.catalogue.explaining import explain_similar
from theodolite.catalogue.loading import load_encoder
from theodolite.catalogue.search import Catalogue, Item, Similar

__all__ = [
    "Catalogue",
    "Explained",
    "Item",
    "Similar",
    "build_catalogue",
    "explain_catalogue",
    "explain_similar",
    "load_encoder",
]
