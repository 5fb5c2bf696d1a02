"""One text or two, explained: what a classifier's answer rests on, or why an encoder finds two texts alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theodolite.errors import InputError

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder
    from theodolite.reading import Reading


def explain(model: Encoder | str, text: str, text_b: str | None = None, **options: Any) -> Reading:
    """Explain a classifier's answer to a text (or a pair), or the similarity of two texts to any other encoder.

    options: of a classifier, see ``theodolite.salience.explain``; of an encoder, those of ``Similarity``.

    >>> found = explain("all-MiniLM-L6-v2", "A dry red wine.", "This red is very dry.")
    >>> found.to_json()["pairs"][0]["a"]
    'dry'
    """
    from theodolite.encoder.classifier import Classifier
    from theodolite.encoder.encoder import Encoder

    loaded = Encoder.load(model) if isinstance(model, str) else model
    if isinstance(loaded, Classifier):
        from theodolite.salience.explain import explain as explain_answer

        return explain_answer(loaded, text, text_b, **options)
    if text_b is None:
        raise InputError(
            f"{loaded.name} has no classification head; give two texts to compare, or train a head with "
            "theodolite train classifier"
        )
    from theodolite.similarity.explain import explain_similarity

    return explain_similarity(loaded, text, text_b, **options)
