"""Getting ready to measure any direction of a survey: its vectors from the store, or computed; pieces and features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from theodolite.corpus import Corpus
from theodolite.embed import Embeddings, KeepEmbeddings
from theodolite.illusion.features import features_of
from theodolite.illusion.measuring import Material
from theodolite.illusion.outliers import mean_distances
from theodolite.illusion.pieces import Pieces
from theodolite.illusion.points import Points
from theodolite.instrument import Instrument, Passes, Progress, Silent, Subject
from theodolite.kept import KeptTables
from theodolite.reading import Reading
from theodolite.running import RunOptions, run
from theodolite.store import Store
from theodolite.studio.directions_live import Live

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder

AT_ONCE = 2048


class VectorsReading(Reading):
    """Nothing to read: the vectors are in the store."""

    instrument: ClassVar[str] = "vectors"


@dataclass(frozen=True)
class Vectors(Instrument):
    """The vectors of all texts, as illusion keeps them."""

    name: ClassVar[str] = "vectors"
    question: ClassVar[str] = "What is the vector of each text?"
    reading: ClassVar[type[Reading]] = VectorsReading

    layer: int = -1
    pooling: str = "own"

    def passes(self, subject: Subject) -> Passes:
        yield KeepEmbeddings(subject, layer=self.layer, pooling=self.pooling)
        return VectorsReading({}, [])


@dataclass(frozen=True)
class Wanted:
    """What the vectors of an illusion reading are: its manifest, the corpora, and the store they may be in."""

    manifest: Mapping[str, Any]
    corpora: tuple[Corpus, ...]
    store: Store

    @property
    def options(self) -> Mapping[str, Any]:
        """The reading's own."""
        found: Mapping[str, Any] = self.manifest["options"]
        return found

    def stored(self) -> dict[str, Embeddings] | None:
        """The vectors, where the store has them all."""
        about = self.manifest["encoder"]
        subject = Subject(
            encoder=about["name"],
            layers=about["layers"],
            dim=about["dim"],
            identity=(("model", about["hash"]), ("tokenizer", about["tokenizer_hash"]), ("window", about["window"])),
            # To look for what is there, nobody asks the model anything.
            model=cast("Encoder", None),
            corpora=self.corpora,
            store=self.store,
            progress=Silent(),
        )
        kept = KeepEmbeddings(subject, layer=self.options["layer"], pooling=self.options["pooling"])
        found = {}
        for corpus in self.corpora:
            shards = [kept.recall(shard) for shard in corpus.shards(self.manifest["plan"]["shard_size"])]
            there = [shard for shard in shards if isinstance(shard, KeptTables)]
            if len(there) < len(shards):
                return None
            found[corpus.name] = kept.found(corpus, tuple(shard for one in there for shard in one.shards))
        return found

    def compute(self, encoder: Encoder, progress: Progress) -> None:
        """Put the vectors in the store; a run that was cancelled goes on where it was."""
        wanted = Vectors(layer=self.options["layer"], pooling=self.options["pooling"])
        plan = RunOptions(shard_size=self.manifest["plan"]["shard_size"])
        run([wanted], encoder, self.corpora, store=self.store, options=plan, progress=progress)


def get_ready(wanted: Wanted, kept: Mapping[str, Embeddings], encoder: Encoder, progress: Progress) -> Live:
    """Read everything that measuring a direction needs."""
    materials = {}
    with progress.step("reading the texts", sum(len(c) for c in wanted.corpora)):
        for corpus in wanted.corpora:
            materials[corpus.name] = _material(wanted, corpus, kept[corpus.name], encoder)
            progress.advance(len(corpus))
    live = Live(materials, wanted.options, encoder.tokenizer.piece, progress)
    # The first one waits for what is compiled.
    live.found(f"neuron {live.space.alive[0]}")
    return live


def _material(wanted: Wanted, corpus: Corpus, kept: Embeddings, encoder: Encoder) -> Material:
    """As the reading had it."""
    blocks = list(kept.blocks())
    rows = np.concatenate([rows for rows, _ in blocks])
    # They lie in memory maps of the store's files.
    vectors = [vectors for _, vectors in blocks]
    points = Points(corpus.name, rows, lambda: iter(vectors))
    if wanted.options["normalize"]:
        points = points.unit()
    texts = [corpus.text(row) for row in rows.tolist()]

    def show(at: Any) -> list[str]:
        return [corpus.text(row) for row in rows[at].tolist()]

    material = Material(points, _pieces(corpus, rows, encoder), features_of(texts), show)
    share = wanted.options["without_farthest"]
    return material.without(mean_distances(points, wanted.options["seed"]).farthest(share)) if share else material


def _pieces(corpus: Corpus, rows: np.ndarray[Any, np.dtype[np.int64]], encoder: Encoder) -> Pieces:
    lengths, ids = [], []
    for start in range(0, len(corpus), AT_ONCE):
        stop = min(start + AT_ONCE, len(corpus))
        tokens = encoder.tokenise(corpus.texts(start, stop), corpus.texts_b(start, stop))
        here = rows[(rows >= start) & (rows < stop)] - start
        chosen = tokens.take(here)
        lengths.append(chosen.lengths)
        ids.append(chosen.ids)
    bounds = np.append(0, np.cumsum(np.concatenate(lengths)))
    return Pieces(rows, bounds, np.concatenate(ids))
