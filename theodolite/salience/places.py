"""A map of the texts by what the classifier looks at in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from theodolite.instrument import Progress, Stages
from theodolite.projection import fit_map
from theodolite.salience.analysis import Analysis

# Sparse representations are reduced to so many dimensions first: neighbours among 30,000 are slow to find.
DIMENSIONS = 50


def places_of(
    analyses: Mapping[str, Analysis], representation: str, method: Any, seed: int, progress: Progress
) -> dict[str, NDArray[np.float32]]:
    """(n, 2) of each corpus's texts on one map of all, in the space of the first; nothing where none is wanted."""
    if method == "none":
        return {}
    first = next(iter(analyses.values())).space(representation)
    matrices = {
        name: a.space(representation, like=first if i else None).whole.matrix
        for i, (name, a) in enumerate(analyses.items())
    }
    dense = _reduced(matrices, seed)
    bar = Stages(progress)
    blocks: dict[str, Callable[[], Any]] = {name: (lambda m=m: iter([m])) for name, m in dense.items()}  # type: ignore[misc]
    made = fit_map(blocks, method=method, seed=seed, progress=bar)
    found = {name: made.places(blocks[name], name=name, progress=bar) for name in dense}
    bar.close()
    return found


def _reduced(matrices: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Dense (n, d) of all, sparse ones along the principal directions of all together."""
    from sklearn.decomposition import TruncatedSVD

    whole = list(matrices.values())
    if not scipy.sparse.issparse(whole[0]):
        return dict(matrices)
    together = scipy.sparse.vstack(whole)
    width = min(DIMENSIONS, min(together.shape) - 1)
    if width < 1:
        # One text, or nothing that texts have in common: all are at one place.
        return {name: np.zeros((m.shape[0], 1), np.float32) for name, m in matrices.items()}
    fitted = TruncatedSVD(width, random_state=seed).fit(together)
    return {name: fitted.transform(m).astype(np.float32) for name, m in matrices.items()}
