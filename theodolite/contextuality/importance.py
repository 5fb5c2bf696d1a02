"""The importance of each layer: what a classifier's accuracy, or STS, loses when the layer is skipped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from theodolite.accumulate import hash_of
from theodolite.corpus.labels import class_numbers
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

    answer: (n,) of the encoder as it stands; score: of answers (m,) against labels (m,), as a number out of 100;
    judged: the corpus, of which only the n rows with a label and tokens in every text are taken.
    """

    judged: Corpus
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
    return skip_each(encoder, judge_of(encoder, judged), seed=seed)


def judge_of(encoder: Encoder, judged: Corpus) -> Judge:
    """The judge for ``layer_importance``; refuses texts that cannot be judged on, and layers that share weights."""
    from theodolite.encoder.classifier import Classifier

    with encoder.skipping(1):
        pass
    return _accuracy(encoder, judged) if isinstance(encoder, Classifier) else _similarity(encoder, judged)


def skip_each(encoder: Encoder, judge: Judge, *, seed: int) -> pa.Table:
    """A row for each layer skipped, as ``layer_importance`` says."""
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
                "judged_on": judge.judged.name,
                "judged_hash": judge.judged.hash,
                "score_name": judge.name,
                "rows": n,
                "skipped": len(judge.judged) - n,
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
    if judged.texts_b(0, 0) is None:
        raise InputError(
            f"{judged.name}: the importance of layers is judged on scored pairs; name the columns: "
            "?text=sentence1&text_b=sentence2&label=score"
        )
    try:
        scores = np.asarray(judged.column("label").to_pylist(), np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{judged.name}: its label must be a number, the similarity that people gave") from None
    kept, sides = _readable(encoder, judged, np.isfinite(scores))
    if len(kept) < 10 or len(np.unique(scores[kept])) < 2:
        raise InputError(f"{judged.name}: needs at least ten pairs with scores that differ, and has {len(kept)}")

    def cosines() -> Floats:
        a, b = (encoder.embed(texts).astype(np.float64) for texts in sides)
        found: Floats = np.einsum("ij,ij->i", a, b) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))
        return found

    return Judge(judged, "Spearman correlation (× 100)", scores[kept], cosines, spearman)


def _accuracy(classifier: Classifier, judged: Corpus) -> Judge:
    labels = judged.column("label").to_pylist()
    classes = class_numbers(labels, classifier.labels, classifier.name, judged.name)
    kept, sides = _readable(classifier, judged, classes >= 0)
    if not len(kept):
        raise InputError(f"{judged.name}: no row has both a text and a label")
    return Judge(judged, "accuracy (%)", classes[kept], lambda: classifier.logits(*sides).argmax(axis=1), accuracy)


def _readable(
    encoder: Encoder, judged: Corpus, labelled: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], list[list[str]]]:
    """The labelled rows with tokens in the text, and in the second one of a pair; those texts, a list a side.

    A text without tokens has no vector, and one answer that is not a number would spoil the score of all.
    """
    kept = np.flatnonzero(~judged.empty & labelled)
    sides = [[texts[i] for i in kept.tolist()] for texts in (judged.texts(), judged.texts_b()) if texts is not None]
    full = np.logical_and.reduce([encoder.tokenise(texts).lengths > 0 for texts in sides])
    return kept[full], [[text for text, has in zip(texts, full, strict=True) if has] for texts in sides]
