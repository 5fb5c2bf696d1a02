"""UMAP, t-SNE and principal axes of vectors that fit in memory, with progress and a seed."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

Floats = NDArray[np.float32]
Progress = Callable[[str, int, int], None]

# UMAP's spectral start asks for eigenvectors that a small graph may not have.
_SPECTRAL = 16
# Barnes-Hut t-SNE slows down with the dimension; its authors reduce to 50 too.
_TSNE_DIMENSIONS = 50
_TSNE_ALONE = 5000


def by_umap(vectors: Floats, neighbours: int, seed: int, tell: Progress) -> Floats:
    """(n, 2) places of vectors (n, d)."""
    import umap
    from umap import layouts

    _keep_compiled()
    # As UMAP would have it; but then the number is known.
    epochs = 500 if len(vectors) <= 10_000 else 200
    tell("fitting", 0, epochs)
    # In a notebook tqdm draws a widget and writes nothing: then the epochs pass in silence.
    widget = any("notebook" in kind.__module__ for kind in layouts.tqdm.__mro__)
    fitter = umap.UMAP(
        n_neighbors=min(neighbours, len(vectors) - 1),
        n_epochs=epochs,
        init="spectral" if len(vectors) >= _SPECTRAL else "pca",
        random_state=seed,
        n_jobs=1,  # A seed allows no more, and UMAP would warn of it.
        tqdm_kwds={"file": _Epochs(tell), "bar_format": "{n_fmt}/{total_fmt}", "disable": widget},
    )
    # Numba, which UMAP is written in, would leave OpenMP with all threads for whatever comes next, torch among it.
    with threadpool_limits(1, user_api="openmp"):
        places = np.asarray(fitter.fit_transform(vectors), np.float32)
    tell("fitting", epochs, epochs)
    return places


@cache
def _keep_compiled() -> None:
    """Let Numba keep what it compiles of UMAP for the next process: it takes some 20 seconds, a small map 2."""
    from numba.core.dispatcher import Dispatcher
    from umap import layouts, umap_, utils

    for module in (layouts, umap_, utils):
        for function in vars(module).values():
            # Where neither UMAP's folder nor the user's cache can be written, it is compiled each time.
            with suppress(RuntimeError):
                if isinstance(function, Dispatcher):
                    function.enable_caching()


class _Epochs:
    """The file that UMAP's progress bar is drawn on; UMAP has no other way to say how far it is."""

    def __init__(self, tell: Progress) -> None:
        self._tell = tell

    def write(self, text: str) -> None:
        if (found := re.search(r"(\d+)/(\d+)", text)) and 0 < int(found[1]) < int(found[2]):
            self._tell("fitting", int(found[1]), int(found[2]))

    def flush(self) -> None:
        """Nothing is held back."""


def by_tsne(vectors: Floats, neighbours: int, seed: int, tell: Progress) -> Floats:
    """(n, 2) places of vectors (n, d)."""
    from sklearn.manifold import TSNE

    tell("fitting", 0, 1)
    perplexity = min(2.0 * neighbours, (len(vectors) - 1) / 3)
    reduced = principal(vectors, min(_TSNE_DIMENSIONS, *vectors.shape))
    # Two sums have but one order; those of more threads would be added as they come, and the map differ.
    # Among few points the threads would mostly wait for each other.
    with threadpool_limits(1 if len(vectors) < _TSNE_ALONE else 2, user_api="openmp"):
        places = TSNE(perplexity=perplexity, random_state=seed).fit_transform(reduced)
    tell("fitting", 1, 1)
    return np.asarray(places, np.float32)


def principal(vectors: Floats, axes: int) -> Floats:
    """Coordinates (n, axes) of vectors (n, d) along their principal axes; zeros for axes there are not."""
    centred = vectors - vectors.mean(axis=0, dtype=np.float64)
    directions = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :axes]
    # An axis has no direction by itself: let its largest part be positive.
    directions *= np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])])
    found = np.zeros((len(vectors), axes), np.float32)
    found[:, : directions.shape[1]] = centred @ directions
    return found
