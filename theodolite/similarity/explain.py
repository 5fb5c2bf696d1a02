"""One pair of texts, and why the encoder finds them alike."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from theodolite.running import run
from theodolite.similarity.instrument import Similarity
from theodolite.similarity.reading import SimilarityReading
from theodolite.store import Store

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder


def explain_similarity(encoder: Encoder, a: str, b: str, **options: Any) -> SimilarityReading:
    """The reading of one pair; options: those of ``Similarity`` (method, pooling, sanity, …).

    It shows itself as coloured paragraphs in a notebook. A classifier is asked as the encoder that it stands on.
    """
    given = options.get("method", ("bti",))
    asked = Similarity(a=a, b=b, **{**options, "method": (given,) if isinstance(given, str) else tuple(given)})
    # One pair is not worth a place in the user's store.
    with TemporaryDirectory(prefix="theodolite-") as folder:
        [found] = run([asked], encoder, asked.own_corpora(), store=Store(folder))
    assert isinstance(found, SimilarityReading)
    return found
