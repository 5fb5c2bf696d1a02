"""Making the vectors of a batch rounder by clusters, in training, with running statistics for evaluation."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, one_hot
from torch.utils.hooks import RemovableHandle

from theodolite.errors import InputError

# A cluster of a batch has so many vectors on average.
VECTORS_EACH = 8
# In a cluster of two vectors the first direction is all there is.
_LEAST = 3
_LLOYD_STEPS = 5
# A running cluster to which no vector came in so many batches is begun anew.
_STALE = 20
# A spread this far below the vectors' lengths is rounding, and has no direction.
_NO_SPREAD = 1e-6


def clusters_of(vectors: int) -> int:
    """How many clusters so many vectors are cut into."""
    return max(1, vectors // VECTORS_EACH)


class BatchRounding(nn.Module):
    """Clusters vectors (n, d); subtracts from each its cluster's mean, then removes the cluster's first direction.

    In training by k-means on the batch, into ``clusters`` clusters, fewer where the batch is too small for them; those
    of fewer than three vectors keep the mean step only. The gradient flows through the vectors and through the means
    that are subtracted; which cluster a vector is in, and the directions, count as constants: the first has no
    derivative, and that of a direction is unbounded where two variances are nearly equal.

    In evaluation by running statistics: a vector's result does not depend on the others. Before any training it is
    the vector itself. Buffers, K clusters: ``means`` (K, d); ``directions`` (K, d), unit vectors, or zeros where none
    was found; ``missed`` (K,), for how many batches a cluster has had no vector.

    The running statistics of a cluster must go on from one batch to the next, and clusters have no names. So the
    k-means of a batch begins at the running means and goes a few steps from there: each of its clusters is the running
    one that it began as. Clusters found afresh would have to be matched, and two that are near each other would be
    swapped now and then, which mixes their statistics for good. A batch too small for all clusters takes those that
    most of its vectors are nearest to. A cluster that the space has moved away from would stay empty for ever: it is
    begun anew, as at first, from the vector that is furthest from all the other centres. Nothing here is random.

    A running mean is (1 − momentum) of itself and momentum of the batch's. So is a direction, brought back to length
    1; the sign of a batch's direction is arbitrary, and is first made that of the running one. In fine-tuning the space
    moves with every step, and the statistics must keep up: at a momentum of 0.1 they lagged behind by the width of the
    cloud (WiC, learning rate 2e-4), and the vectors in evaluation were no more centred than before.
    """

    means: Tensor
    directions: Tensor
    missed: Tensor
    hook: RemovableHandle
    """Holds it in a model, once it has been put into one."""

    def __init__(self, dim: int, clusters: int, momentum: float = 0.3) -> None:
        super().__init__()
        if dim < 1 or clusters < 1 or not 0 < momentum <= 1:
            raise InputError(
                f"BatchRounding(dim={dim}, clusters={clusters}, momentum={momentum:g}): give at least one dimension "
                "and one cluster, and a momentum above 0, at most 1"
            )
        self.momentum = momentum
        self.register_buffer("means", torch.zeros(clusters, dim))
        self.register_buffer("directions", torch.zeros(clusters, dim))
        self.register_buffer("missed", torch.full((clusters,), _STALE))

    def forward(self, vectors: Tensor) -> Tensor:
        """Vectors (n, d) made rounder, in the number type they came in."""
        if vectors.ndim != 2 or vectors.shape[1] != self.means.shape[1]:
            raise InputError(f"vectors of shape (n, {self.means.shape[1]}) wanted, got {tuple(vectors.shape)}")
        kind = torch.promote_types(vectors.dtype, torch.float32)
        # Mixed precision would round the products to half the digits.
        with torch.autocast(vectors.device.type, enabled=False):
            found = self._of_batch(vectors.to(kind)) if self.training else self._as_before(vectors.to(kind))
        return found.to(vectors.dtype)

    def _as_before(self, vectors: Tensor) -> Tensor:
        alive = self.missed < _STALE
        if not alive.any():
            return vectors
        means, directions = (b[alive].to(vectors.dtype) for b in (self.means, self.directions))
        return less(vectors, nearest(vectors.detach(), means), means, directions)

    def _of_batch(self, vectors: Tensor) -> Tensor:
        with torch.no_grad():
            numbers, centres = self._start(vectors.detach())
            labels = lloyd(vectors.detach(), centres)
        means = cluster_means(vectors, labels, len(numbers))
        with torch.no_grad():
            directions = cluster_directions(vectors, labels, means)
            met = torch.bincount(labels, minlength=len(numbers)) > 0
            self._remember(numbers[met], means[met], directions[met])
        return less(vectors, labels, means, directions)

    def _start(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Which running clusters (k,) the batch's are to be, and where they begin (k, d)."""
        alive, idle = (torch.nonzero(found)[:, 0] for found in (self.missed < _STALE, self.missed >= _STALE))
        wanted = min(len(self.means), clusters_of(len(vectors)))
        if len(alive) > wanted:
            hits = torch.bincount(nearest(vectors, self.means[alive].to(vectors.dtype)), minlength=len(alive))
            alive = alive[torch.argsort(hits, descending=True, stable=True)[:wanted]]
        centres = self.means[alive].to(vectors.dtype)
        for _ in range(wanted - len(alive)):
            # Running means lag behind a moving space: brought up to the batch first, they keep their vectors.
            centres = moved(vectors, centres) if len(centres) else centres
            others = centres if len(centres) else vectors.mean(dim=0, keepdim=True)
            furthest = distances(vectors, others).amin(dim=1).argmax()
            centres = torch.cat([centres, vectors[furthest : furthest + 1]])
        return torch.cat([alive, idle[: wanted - len(alive)]]), centres

    def _remember(self, numbers: Tensor, means: Tensor, directions: Tensor) -> None:
        weight = torch.where(self.missed[numbers] < _STALE, self.momentum, 1.0)[:, None].to(means.dtype)
        was_mean, was = (b[numbers].to(means.dtype) for b in (self.means, self.directions))
        turned = torch.where((directions * was).sum(dim=1, keepdim=True) < 0, -directions, directions)
        self.means[numbers] = torch.lerp(was_mean, means, weight).to(self.means.dtype)
        # A batch's direction of zeros, which is none, only shortens the running one.
        self.directions[numbers] = normalize(torch.lerp(was, turned, weight), dim=1).to(self.directions.dtype)
        self.missed.add_(1).clamp_(max=_STALE)
        self.missed[numbers] = 0


def less(vectors: Tensor, labels: Tensor, means: Tensor, directions: Tensor) -> Tensor:
    """Vectors (n, d) less the mean, then without the direction, of each one's cluster (n,); both (k, d)."""
    off, along = vectors - means[labels], directions[labels]
    return off - (off * along).sum(dim=1, keepdim=True) * along


def cluster_means(vectors: Tensor, labels: Tensor, clusters: int) -> Tensor:
    """(k, d) the mean of each cluster; zeros where it is empty."""
    members = one_hot(labels, clusters).T.to(vectors.dtype)
    return (members @ vectors) / members.sum(dim=1, keepdim=True).clamp(min=1)


def cluster_directions(vectors: Tensor, labels: Tensor, means: Tensor) -> Tensor:
    """(k, d) the first principal direction of each cluster; zeros where it is too small or does not spread."""
    found = torch.zeros_like(means)
    for cluster, size in enumerate(torch.bincount(labels, minlength=len(means)).tolist()):
        if size >= _LEAST:
            members = vectors[labels == cluster]
            _, lengths, directions = torch.linalg.svd(members - means[cluster], full_matrices=False)
            if lengths[0] > _NO_SPREAD * members.norm():
                found[cluster] = directions[0]
    return found


def lloyd(vectors: Tensor, centres: Tensor) -> Tensor:
    """(n,) the cluster of each vector after a few steps from centres (k, d)."""
    for _ in range(_LLOYD_STEPS):
        centres = moved(vectors, centres)
    return nearest(vectors, centres)


def moved(vectors: Tensor, centres: Tensor) -> Tensor:
    """Centres (k, d) at the means of the vectors nearest to each; one that none is near to stays."""
    labels = nearest(vectors, centres)
    there = torch.bincount(labels, minlength=len(centres)) > 0
    return torch.where(there[:, None], cluster_means(vectors, labels, len(centres)), centres)


def nearest(vectors: Tensor, centres: Tensor) -> Tensor:
    """(n,) the number of the nearest centre."""
    return distances(vectors, centres).argmin(dim=1)


def distances(vectors: Tensor, centres: Tensor) -> Tensor:
    """(n, k), by differences: products would make a vector's answer depend on how many are asked about."""
    return torch.cdist(vectors, centres, compute_mode="donot_use_mm_for_euclid_dist")
