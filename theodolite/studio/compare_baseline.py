"""What a cosine is worth: beside it, those of random pairs of texts of the survey's corpora."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import hash_of, mean_interval, unit_vectors
from theodolite.catalogue.baseline import less_similar
from theodolite.errors import InputError
from theodolite.studio.compare_explaining import finite
from theodolite.studio.compare_schemas import Standing

if TYPE_CHECKING:
    from theodolite.corpus import Corpus
    from theodolite.studio.workspace import Workspace

Doubles = NDArray[np.float64]

PAIRS = 200
SEED = 0
# Beyond this, a text is cut: a corpus of books would otherwise take minutes.
LONGEST_DRAWN = 2_000
# Texts embedded before the model is let go for others who wait for it.
AT_ONCE = 16


class SurveyPairs:
    """Cosines of random pairs of a survey's texts, each survey's made once, when first asked for."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._found: dict[str, tuple[Doubles, str]] = {}
        self._making = Lock()

    def standing(self, slug: str, cosine: float) -> Standing:
        """Where a cosine stands among them."""
        with self._making:
            if slug not in self._found:
                self._found[slug] = self._made(slug)
        cosines, texts = self._found[slug]
        return standing_among(cosines, cosine, texts)

    def _made(self, slug: str) -> tuple[Doubles, str]:
        opened = self._workspace.survey(slug)
        corpora = [opened.corpus(name) for name in opened.corpora]
        there = [corpus for corpus in corpora if corpus is not None and len(corpus)]
        if not there:
            raise InputError("the texts of this survey's corpora are not at hand, so there are no random pairs")
        pairs = list(random_pairs(there, PAIRS, SEED))
        encoder = self._workspace.encoder(slug)
        texts = [text for pair in pairs for text in pair]
        vectors = []
        for start in range(0, len(texts), AT_ONCE):
            with self._workspace.busy():
                vectors.append(encoder.embed(texts[start : start + AT_ONCE], pooling="mean"))
        cosines = pair_cosines(np.concatenate(vectors))
        if not len(cosines):
            raise InputError("the survey's corpora hold no two different texts, so there are no random pairs")
        return cosines, f"texts of {', '.join(corpus.name for corpus in there)}"


def random_pairs(corpora: Sequence[Corpus], pairs: int, seed: int) -> Iterator[tuple[str, str]]:
    """Pairs of texts, each text from a corpus drawn first; those with a blank one or of twice the same are left out."""
    for pair in range(pairs):
        drawn = []
        for side in (0, 1):
            corpus = corpora[int(hash_of(seed, pair, side, 0)) % len(corpora)]
            drawn.append(corpus.text(int(hash_of(seed, pair, side, 1)) % len(corpus))[:LONGEST_DRAWN])
        first, second = drawn
        if first.strip() and second.strip() and first != second:
            yield first, second


def pair_cosines(vectors: NDArray[np.float32]) -> Doubles:
    """(n,) sorted cosines of vectors (2n, d), each with the next; those of a text without tokens are left out."""
    unit = unit_vectors(vectors.astype(np.float64)).reshape(-1, 2, vectors.shape[1])
    cosines = (unit[:, 0] * unit[:, 1]).sum(axis=1)
    return np.sort(cosines[np.isfinite(cosines)])


def standing_among(cosines: Doubles, cosine: float, texts: str) -> Standing:
    """The mean of random pairs' cosines (sorted) and the share of them below one, each with its 95% interval."""
    mean, low, high = (finite(float(value)) for value in mean_interval(cosines))
    share, share_low, share_high = (finite(value) for value in less_similar(cosines, cosine))
    return Standing(
        mean=mean,
        low=low,
        high=high,
        pairs=len(cosines),
        share=share,
        share_low=share_low,
        share_high=share_high,
        texts=texts,
    )
