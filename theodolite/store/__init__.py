"""The store: arrays on disk keyed by what made them, and what a run leaves behind to go on from.

>>> import numpy as np, pyarrow as pa
>>> from theodolite.store import Recipe, Store, table_vectors, vectors_table
>>> store = Store("memory://doc-example")
>>> recipe = Recipe("embedding", "all-MiniLM-L6-v2", (("model", "53aa51"), ("layer", 6), ("pooling", "mean")))
>>> store.put(recipe, "shard0", vectors_table(np.arange(2), np.ones((2, 3), np.float32)))
>>> rows, vectors = table_vectors(store.get(recipe, "shard0"))
>>> vectors.shape
(2, 3)
"""

from theodolite.store.recipe import Entry, Recipe
from theodolite.store.runs import RunFolder
from theodolite.store.store import Store
from theodolite.store.tables import table_vectors, vectors_table

__all__ = ["Entry", "Recipe", "RunFolder", "Store", "table_vectors", "vectors_table"]
