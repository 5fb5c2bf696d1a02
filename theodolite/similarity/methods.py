"""The methods by name: what each makes of a text's signals, one saliency a piece."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Signals:
    """Of t pieces: input embeddings and the gradient of the similarity there (t, e); the last layer's vectors and the
    gradient there (t, d).
    """

    embedding: Floats
    gradient: Floats
    last: Floats
    last_gradient: Floats


def _products(vectors: Floats, gradient: Floats) -> Doubles:
    found: Doubles = np.maximum(vectors * gradient, 0).sum(axis=1, dtype=np.float64)
    return found


def bti(signals: Signals) -> Doubles:
    """Σ ReLU(E · g): embedding times gradient, what is against the similarity left out."""
    return _products(signals.embedding, signals.gradient)


def bti_last_layer(signals: Signals) -> Doubles:
    """The same at the last layer, vectors and gradient both."""
    return _products(signals.last, signals.last_gradient)


def bti_activations(signals: Signals) -> Doubles:
    """Σ ReLU(E)."""
    found: Doubles = np.maximum(signals.embedding, 0).sum(axis=1, dtype=np.float64)
    return found


def bti_gradients(signals: Signals) -> Doubles:
    """Σ ReLU(g)."""
    found: Doubles = np.maximum(signals.gradient, 0).sum(axis=1, dtype=np.float64)
    return found


def vanilla_gradients(signals: Signals) -> Doubles:
    """The length of g."""
    found: Doubles = np.linalg.norm(signals.gradient.astype(np.float64), axis=1)
    return found


INTEGRATED = "integrated-gradients"
TFIDF = "tfidf-w2v"
# Methods that one gradient serves; a new one adds a function and a line.
BY_SIGNALS: dict[str, Callable[[Signals], Doubles]] = {
    "bti": bti,
    "bti-last-layer": bti_last_layer,
    "bti-activations": bti_activations,
    "bti-gradients": bti_gradients,
    "vanilla-gradients": vanilla_gradients,
}
METHODS = (*BY_SIGNALS, INTEGRATED, TFIDF)
# Those that have nothing to say where the gradient at the text is zero.
BY_GRADIENT = ("bti", "bti-last-layer", "bti-gradients", "vanilla-gradients")
