"""The importance of each layer: what a classifier's accuracy, or STS, loses when the layer is skipped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from theodolite.accumulate import hash_of
from theodolite.errors import InputError

if TYPE_CHECKING:
    from theodolite.corpus import Corpus
    from theodolite.encoder.classifier import Classifier
    from theodolite.encoder.encoder import Encoder

Floats = NDArray[np.float64]
RESAMPLES = 500


@dataclass(frozen=True)
class Judge:
    """How well an encoder does on labelled texts: what it answers, and the score of answers against labels.

    answer: (n,) of the encoder as it stands; score: of answers (m,) against labels (m,), as a number out of 100.
    """

    name: str
    labels: NDArray[Any]
    answer: Callable[[], NDArray[Any]]
    score: Callable[[NDArray[Any], NDArray[Any]], float]


def layer_importance(encoder: Encoder, judged: Corpus, *, seed: int = 0) -> pa.Table:
    """Skip each layer in turn and see what is lost.

    judged: for a classifier, labelled texts or pairs, scored by accuracy; for any other encoder, pairs of texts
    with a number, people's similarity (STS), scored by Spearman. Returns a row a layer: score with the layer
    skipped, loss against the whole encoder, and its interval by a bootstrap over rows, the same for both.
    """
    from theodolite.encoder.classifier import Classifier

    judge = _accuracy(encoder, judged) if isinstance(encoder, Classifier) else _similarity(encoder, judged)
    labels, n = judge.labels, len(judge.labels)
    whole = judge.answer()
    draws = (hash_of(seed, np.arange(RESAMPLES)[:, None], np.arange(n)) % np.uint64(n)).astype(np.int64)
    base, bases = judge.score(whole, labels), [judge.score(whole[d], labels[d]) for d in draws]
    rows = []
    for layer in range(1, encoder.layers + 1):
        with encoder.skipping(layer):
            skipped = judge.answer()
        score = judge.score(skipped, labels)
        losses = [b - judge.score(skipped[d], labels[d]) for b, d in zip(bases, draws, strict=True)]
        low, high = np.nanquantile(losses, [0.025, 0.975])
        rows.append(
            {
                "encoder": encoder.name,
                "judged_on": judged.name,
                "judged_hash": judged.hash,
                "score_name": judge.name,
                "rows": n,
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
    """Rank correlation times 100; NaN where either is constant."""
    from scipy.stats import spearmanr

    if len(np.unique(a)) < 2 or len(np.unique(b)) < 2:
        return float("nan")
    return float(100 * spearmanr(a, b).statistic)


def accuracy(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Share of equal answers, in percent."""
    return float(100 * np.mean(a == b))


def _similarity(encoder: Encoder, judged: Corpus) -> Judge:
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
    sides = [[texts[i] for i in kept] for texts in (first, second)]

    def cosines() -> Floats:
        a, b = (encoder.embed(texts).astype(np.float64) for texts in sides)
        found: Floats = np.einsum("ij,ij->i", a, b) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))
        return found

    return Judge("Spearman correlation (× 100)", scores[kept], cosines, spearman)


def _accuracy(classifier: Classifier, judged: Corpus) -> Judge:
    labels = judged.column("label").to_pylist()
    kept = [i for i in np.flatnonzero(~judged.empty).tolist() if labels[i] is not None]
    if not kept:
        raise InputError(f"{judged.name}: no row has both a text and a label")
    classes = [classifier.class_of(labels[i], f"{judged.name}, row {i + 1}") for i in kept]
    first, second = judged.texts(), judged.texts_b()
    texts = [first[i] for i in kept]
    texts_b = None if second is None else [second[i] for i in kept]
    return Judge("accuracy (%)", np.array(classes), lambda: classifier.logits(texts, texts_b).argmax(axis=1), accuracy)
