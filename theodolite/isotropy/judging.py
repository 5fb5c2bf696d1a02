"""What rounding a space buys: STS with the text vectors that come out, for every layer and method."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theodolite.instrument import Progress
from theodolite.isotropy.measures import measure_array
from theodolite.isotropy.sts_files import StsFile
from theodolite.isotropy.sts_scores import Pairs, correlations, pair_cosines, pairs_of, text_vectors
from theodolite.rounding import Rounder

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder

Row = dict[str, Any]
EVALUATED = "evaluated"
# A fitted transformer by the corpus that it was fitted on, the layer and the method.
Fitted = Mapping[tuple[str, int, str], Rounder]


def token_vectors(
    encoder: Encoder, texts: Sequence[str], layers: Sequence[int]
) -> tuple[dict[int, NDArray[np.float32]], NDArray[np.int64]]:
    """Every piece's vector at each layer, layer -> (t, d), special tokens out; and the pieces of each text (n,)."""
    tokens = encoder.tokenise(texts)
    found = {layer: np.empty((len(tokens.ids), encoder.dim), np.float32) for layer in layers}
    full = np.flatnonzero(tokens.lengths)
    for batch in encoder.batches(tokens.take(full), layers, rows=full):
        for layer in layers:
            vectors = batch.token_vectors(layer)
            for i, row in enumerate(batch.rows.tolist()):
                own = slice(tokens.bounds[row], tokens.bounds[row + 1])
                found[layer][own] = vectors[batch.tokens.bounds[i] : batch.tokens.bounds[i + 1]]
    return found, tokens.lengths


def judge(
    encoder: Encoder,
    file: StsFile,
    layers: Sequence[int],
    methods: Sequence[str],
    make: Callable[[str], Rounder],
    elsewhere: Fitted,
    progress: Progress,
) -> Iterator[Row]:
    """A row a layer, method and place of fitting: on the file's own texts, each once, and on other corpora.

    make: an unfitted transformer by its method's name; elsewhere: those that were fitted on other corpora.
    """
    [pairs] = pairs_of([file])
    with progress.step(f"{file.name}: vectors", 1):
        vectors, lengths = token_vectors(encoder, pairs.texts, layers)
        progress.advance(1)
    every = [(layer, method) for layer in layers for method in methods]
    with progress.step(f"{file.name}: methods", len(every)):
        for layer, method in every:
            fitted = {EVALUATED: make(method).fit(vectors[layer])}
            if method != "none":
                fitted |= {corpus: t for (corpus, at, name), t in elsewhere.items() if (at, name) == (layer, method)}
            for fitted_on, transformer in fitted.items():
                about = {"encoder": encoder.name, "dataset": file.name, "method": method, "layer": layer}
                found = _score(file, pairs, transformer.transform(vectors[layer]), lengths)
                yield {**about, "fitted_on": fitted_on, **found}
            progress.advance(1)


def _score(file: StsFile, pairs: Pairs, tokens: NDArray[Any], lengths: NDArray[np.int64]) -> Row:
    texts = text_vectors(tokens, lengths)
    found = correlations(file.scores, pair_cosines(texts, pairs.first, pairs.second))
    round_now = measure_array(tokens, tokens.shape[1])
    return {
        **asdict(found),
        "partition": round_now.partition,
        "log_partition": round_now.log_partition,
        "isoscore": round_now.isoscore,
        "mean_cosine": round_now.mean_cosine,
    }
