"""The importance of each layer: what a judgement of similarity loses when the layer is skipped."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from theodolite.accumulate import hash_of
from theodolite.errors import InputError

if TYPE_CHECKING:
    from theodolite.corpus import Corpus
    from theodolite.encoder.encoder import Encoder

Floats = NDArray[np.float64]
RESAMPLES = 500
SCORE = "Spearman × 100"


def layer_importance(encoder: Encoder, judged: Corpus, *, budget: int = 1024, seed: int = 0) -> pa.Table:
    """Skip each layer in turn and see how far the encoder's similarities still follow people's scores.

    judged: pairs of texts with a numeric label (STS). Returns a row a layer: score with the layer skipped,
    loss against the whole encoder, and its interval by a bootstrap over pairs, the same pairs for both.
    """
    first, second, scores = _pairs(judged)
    whole = _cosines(encoder, first, second, budget)
    draws = hash_of(seed, np.arange(RESAMPLES)[:, None], np.arange(len(scores))) % np.uint64(len(scores))
    resampled = [(whole[d], scores[d]) for d in draws.astype(np.int64)]
    base, bases = spearman(whole, scores), [spearman(a, b) for a, b in resampled]
    rows = []
    for layer in range(1, encoder.layers + 1):
        skipped = _cosines(encoder, first, second, budget, skip=layer)
        score = spearman(skipped, scores)
        losses = [b - spearman(skipped[d], scores[d]) for b, d in zip(bases, draws.astype(np.int64), strict=True)]
        low, high = np.quantile(losses, [0.025, 0.975])
        rows.append(
            {
                "encoder": encoder.name,
                "judged_on": judged.name,
                "score_name": SCORE,
                "pairs": len(scores),
                "layer": layer,
                "score": score,
                "score_whole": base,
                "loss": base - score,
                "loss_low": float(low),
                "loss_high": float(high),
            }
        )
    return pa.Table.from_pylist(rows)


def spearman(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Rank correlation times 100."""
    from scipy.stats import spearmanr

    return float(100 * spearmanr(a, b).statistic)


def _pairs(judged: Corpus) -> tuple[list[str], list[str], Floats]:
    second = judged.texts_b()
    if second is None:
        raise InputError(
            f"{judged.name}: the importance of layers is judged on scored pairs; name the columns: "
            "?text=sentence1&text_b=sentence2&label=score"
        )
    try:
        scores = np.asarray(judged.column("label").to_pylist(), np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{judged.name}: its label must be a number, the similarity that people gave") from None
    kept = np.flatnonzero(~judged.empty & np.isfinite(scores))
    if len(kept) < 10 or len(np.unique(scores[kept])) < 2:
        raise InputError(f"{judged.name}: needs at least ten pairs with scores that differ, and has {len(kept)}")
    first = judged.texts()
    return [first[i] for i in kept], [second[i] for i in kept], scores[kept]


def _cosines(encoder: Encoder, first: list[str], second: list[str], budget: int, skip: int | None = None) -> Floats:
    with encoder.skipping(skip) if skip is not None else nullcontext():
        a, b = (encoder.embed(texts, budget=budget).astype(np.float64) for texts in (first, second))
    found: Floats = np.einsum("ij,ij->i", a, b) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))
    return found
