"""Fitting one transform to a space over corpora, to be saved and used elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
from numpy.typing import NDArray

from theodolite.errors import InputError
from theodolite.instrument import Instrument, Passes, Subject
from theodolite.isotropy import making
from theodolite.isotropy.spaces import POOLINGS, SPACES, KeepSpace, KeptSpace, Sample, Sampled, layers_of
from theodolite.options import option, seed_option
from theodolite.reading import Reading
from theodolite.rounding.names import NAMES

if TYPE_CHECKING:
    from theodolite.rounding import Rounder


@dataclass
class FittedReading(Reading):
    """What was fitted, on how many vectors of which corpus; the transformer itself, and what to save with it."""

    instrument: ClassVar[str] = "isotropy fit"

    transformer: Rounder | None = None
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Fitting(Instrument):
    """One of the methods that make a space rounder, fitted to the vectors of corpora at one layer."""

    name: ClassVar[str] = "isotropy fit"
    question: ClassVar[str] = "Fit a transform that makes a space rounder, for --transform of any verb."
    reading: ClassVar[type[FittedReading]] = FittedReading

    method: str = option("kmeans+mean+pca", "How.", choices=NAMES)
    layer: int = option(-1, "The layer: 0 is the embedding layer, -1 the last.")
    space: str = option("token", "Whose vectors.", choices=SPACES)
    n_clusters: int = option(27, "Clusters of the cluster methods.", minimum=1)
    n_directions: str = option("12", making.HELP, metavar="N|auto")
    max_vectors: int = option(200_000, "At most this many vectors of a corpus (a seeded sample).", minimum=2)
    seed: int = seed_option()

    def __post_init__(self) -> None:
        super().__post_init__()
        making.check_directions(self.n_directions)

    def passes(self, subject: Subject) -> Passes:
        if not subject.layers:
            raise InputError(
                "isotropy fit: wants an encoder; for vectors of your own use theodolite.isotropy in Python"
            )
        [layer] = layers_of(str(self.layer), subject)
        sampled: Mapping[str, Sampled] = yield Sample(self.space, self.max_vectors, self.seed)
        kept: Mapping[str, KeptSpace] = yield KeepSpace(
            subject, sampled, space=self.space, layers=(layer,), seed=self.seed
        )

        def blocks() -> Iterator[NDArray[Any]]:
            for space in kept.values():
                yield from space.blocks(layer)()

        make = making.maker(self.n_clusters, self.n_directions, self.seed)
        with subject.progress.step("fitting", 1):
            made = make(self.method).fit_blocks(blocks)
            subject.progress.advance(1)
        rows: list[dict[str, Any]] = [
            {"corpus": name, "vectors": len(space.sampled.codes), "units": space.sampled.units}
            for name, space in kept.items()
        ]
        about = {
            "encoder": subject.encoder,
            "encoder_hash": subject.model.hash,
            "layer": layer,
            "space": self.space,
            "pooling": POOLINGS.get(self.space),
            "seed": self.seed,
            "fitted_on": [{**row, "hash": subject.corpus(row["corpus"]).hash} for row in rows],
        }
        said = ", ".join(
            f"{row['vectors']:,} of {row['units']:,} {self.space} vectors of {row['corpus']}" for row in rows
        )
        findings = [f"{self.method}, layer {layer} of {subject.encoder}: fitted on {said}.", *made.notes()]
        return FittedReading({"fit": pa.Table.from_pylist(rows)}, findings, transformer=made, about=about)
