"""The isotropy of CLS in every layer of a classifier, epoch by epoch, while it is trained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theodolite.isotropy.measures import measure_array

if TYPE_CHECKING:
    from theodolite.encoder.classifier import Classifier

Row = dict[str, Any]

FIGURES = ("partition", "log_partition", "isoscore", "mean_cosine", "mean_offset", "n", "reason")


def figures(vectors: NDArray[Any]) -> Row:
    """The measures of vectors (n, d) that go into the tables of training, by name; see ``Measures``."""
    found = measure_array(vectors, vectors.shape[1])
    return {name: getattr(found, name) for name in FIGURES}


class ClsByEpoch:
    """Measures the CLS vectors of held-out texts, or pairs, at layers 0 to L; for ``watch`` of ``train_classifier``.

    Rows: epoch (how many are done), layer, and ``FIGURES``; mean_offset tells whether CLS is zero-mean. The vectors of
    an epoch are gone when its rows are made. Texts without tokens do not count.
    """

    def __init__(self, texts: Sequence[str], texts_b: Sequence[str] | None = None) -> None:
        self.texts, self.texts_b = texts, texts_b

    def __call__(self, classifier: Classifier, epoch: int) -> list[Row]:
        tokens = classifier.tokenise(self.texts, self.texts_b)
        tokens = tokens.take(np.flatnonzero(tokens.lengths))
        layers = range(classifier.layers + 1)
        vectors = np.empty((len(layers), len(tokens), classifier.dim), np.float32)
        for batch in classifier.batches(tokens, layers):
            for layer in layers:
                vectors[layer, batch.rows] = batch.pooled(layer, "cls")
        return [{"epoch": epoch, "layer": layer} | figures(vectors[layer]) for layer in layers]
