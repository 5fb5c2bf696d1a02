"""What rounding a space buys: STS with the text vectors that come out, for every layer and method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theodolite.errors import InputError
from theodolite.instrument import Progress
from theodolite.isotropy.gains import Gain, spearman_gains
from theodolite.isotropy.measures import measure_array
from theodolite.isotropy.sts_files import NO_SCORE, StsFile
from theodolite.isotropy.sts_scores import Pairs, correlations, pair_cosines, pairs_of, text_vectors
from theodolite.rounding import Rounder
from theodolite.rounding.names import NONE

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder
    from theodolite.encoder.tokens import Tokens

Row = dict[str, Any]
Floats = NDArray[np.float64]
EVALUATED = "evaluated"
NO_TOKENS = "with a text without tokens"
# A fitted transformer by the corpus that it was fitted on, the layer and the method.
Fitted = Mapping[tuple[str, int, str], Rounder]


@dataclass
class Judged:
    """Rows of STS, and what whoever reads them should know."""

    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def judge(
    encoder: Encoder,
    file: StsFile,
    layers: Sequence[int],
    methods: Sequence[str],
    make: Callable[[str], Rounder],
    elsewhere: Fitted,
    seed: int,
    progress: Progress,
) -> Judged:
    """A row a layer, method and place of fitting: on the file's own texts, each once, and on other corpora.

    No change is always among them. make: an unfitted transformer by its method's name; elsewhere: those that were
    fitted on other corpora. A pair with a text without tokens, which has no vector, is left out and counted.
    """
    [every] = pairs_of([file])
    tokens = encoder.tokenise(every.texts)
    if not len(tokens.ids):
        raise InputError(f"{file.path}: no text has tokens, so there is nothing to judge")
    full = tokens.lengths > 0
    there = full[every.first] & full[every.second]
    pairs, scores = Pairs(every.texts, every.first[there], every.second[there]), file.scores[there]
    skipped = {**file.skipped, NO_TOKENS: int((~there).sum())}
    found = Judged(notes=[*_left_out(file, skipped), *_windowed(encoder, file, tokens)])
    # On disk, for of a large model all layers are several times what memory holds; one is looked at at a time.
    with TemporaryDirectory(prefix="theodolite-") as folder:
        with progress.step(f"{file.name}: vectors", 1):
            vectors = _token_vectors(encoder, tokens, layers, Path(folder))
            progress.advance(1)
        with progress.step(f"{file.name}: methods", len(layers) * (1 + len(methods))):
            for layer in layers:
                rows, cosines = [], []
                for method in (NONE, *methods):
                    own = make(method).fit(vectors[layer])
                    found.notes += [f"{file.name}, layer {layer}, {method}: {note}." for note in own.notes()]
                    fitted = {EVALUATED: own}
                    if method != NONE:
                        fitted |= {on: t for (on, at, name), t in elsewhere.items() if (at, name) == (layer, method)}
                    for fitted_on, transformer in fitted.items():
                        rounded = transformer.transform(vectors[layer])
                        cosines.append(pair_cosines(text_vectors(rounded, tokens.lengths), pairs.first, pairs.second))
                        about = {"encoder": encoder.name, "dataset": file.name, "method": method, "layer": layer}
                        scored = asdict(correlations(scores, cosines[-1])) | {"skipped": sum(skipped.values())}
                        rows.append({**about, "fitted_on": fitted_on, **scored, **_roundness(rounded)})
                    progress.advance(1)
                gains = [Gain(), *spearman_gains(scores, cosines[0], cosines[1:], seed)]
                found.rows += [row | asdict(gain) for row, gain in zip(rows, gains, strict=True)]
    return found


def _token_vectors(
    encoder: Encoder, tokens: Tokens, layers: Sequence[int], folder: Path
) -> dict[int, NDArray[np.float32]]:
    """Every piece's vector at each layer, layer -> (t, d), special tokens out, each in a file of its own."""
    shape = (len(tokens.ids), encoder.dim)
    found = {layer: np.memmap(folder / f"{layer}.f32", np.float32, "w+", shape=shape) for layer in layers}
    full = np.flatnonzero(tokens.lengths)
    for batch in encoder.batches(tokens.take(full), layers, rows=full):
        for layer in layers:
            vectors = batch.token_vectors(layer)
            for i, row in enumerate(batch.rows.tolist()):
                own = slice(tokens.bounds[row], tokens.bounds[row + 1])
                found[layer][own] = vectors[batch.tokens.bounds[i] : batch.tokens.bounds[i + 1]]
    return dict(found)


def _roundness(tokens: NDArray[Any]) -> Row:
    found = measure_array(tokens, tokens.shape[1])
    return {name: getattr(found, name) for name in ("partition", "log_partition", "isoscore", "mean_cosine")}


def _left_out(file: StsFile, skipped: Mapping[str, int]) -> list[str]:
    """That pairs of a file are not in its correlations, and why."""
    words = {NO_SCORE: "without a score"}
    why = [f"{count:,} {words.get(reason, reason)}" for reason, count in skipped.items() if count]
    read = len(file) + sum(file.skipped.values())
    left = sum(skipped.values())
    return [f"{file.name}: {left:,} of {read:,} pairs were left out: {', '.join(why)}."] if left else []


def _windowed(encoder: Encoder, file: StsFile, tokens: Tokens) -> list[str]:
    long = int((encoder.window_counts(tokens) > 1).sum())
    if not long:
        return []
    which = f"{long:,} of {len(tokens):,} texts"
    return [f"{file.name}: {which} are longer than the encoder reads at once and were read in overlapping windows."]
