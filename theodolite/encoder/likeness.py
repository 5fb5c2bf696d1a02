"""How alike texts are to given vectors, as an objective whose gradient can be taken."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from theodolite.encoder.batch import Batch, Floats


@dataclass(frozen=True)
class Likeness:
    """The likeness of each text of a batch, pooled from the last layer, to the vector (rows, d) of its row."""

    others: NDArray[np.float64]
    pooling: str
    similarity: str

    def __call__(self, batch: Batch) -> torch.Tensor:
        """(n,) of the texts of a batch, as ``Encoder.gradients`` wants it."""
        pooled = batch.pooled_tensor(-1, self.pooling)
        return likeness(pooled, torch.from_numpy(self.others[batch.rows]).to(pooled), self.similarity)

    def last_gradient(self, batch: Batch) -> Floats:
        """(t, d) gradient at the last layer's vectors of a batch's pieces; only pooling lies between."""
        assert batch.states is not None
        [(layer, rows)] = batch.states.layers.items()
        with torch.enable_grad():
            leaf = rows.detach().requires_grad_(True)
            states = replace(batch.states, layers={layer: leaf})
            [slope] = torch.autograd.grad(self(replace(batch, states=states)).sum(), leaf)
        found: Floats = slope[batch.states.piece_at].cpu().numpy()
        return found


def likeness(a: torch.Tensor, b: torch.Tensor, similarity: str) -> torch.Tensor:
    """(n,) of vectors (n, d): their cosine, their product, or their Euclidean distance with a minus before it.

    >>> likeness(torch.tensor([[3.0, 4.0]]), torch.tensor([[3.0, 0.0]]), "euclidean").item()
    -4.0
    """
    if similarity == "cosine":
        return torch.nn.functional.cosine_similarity(a, b, dim=1)
    if similarity == "dot":
        return (a * b).sum(dim=1)
    distance: torch.Tensor = torch.linalg.vector_norm(a - b, dim=1)
    return -distance


def likeness_of(a: NDArray[np.float64], b: NDArray[np.float64], similarity: str) -> NDArray[np.float64]:
    """As ``likeness``, of arrays."""
    found: NDArray[np.float64] = likeness(torch.from_numpy(a), torch.from_numpy(b), similarity).numpy()
    return found
