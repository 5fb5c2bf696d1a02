"""A complete small instrument: how long are the word vectors of each layer?

Run it by itself:  python examples/norms.py
To make it a command, give it a folder theodolite/norms/ and add one line to theodolite/registry.py:
"norms": "theodolite.norms:Norms"
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from theodolite.accumulate import WeightedMean
from theodolite.figures import curve, over_layers, panels, styled
from theodolite.instrument import Instrument, Needs, Observation, Pass, Passes, Subject
from theodolite.options import option
from theodolite.reading import Drawing, Reading

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from theodolite.corpus import Corpus
    from theodolite.encoder.batch import Batch


class NormsReading(Reading):
    """A table ``layers`` with the mean length of a vector and its interval."""

    instrument: ClassVar[str] = "norms"

    def drawings(self) -> dict[str, Drawing]:
        """One figure: the curve of each corpus."""
        return {"norms": Drawing("Length by layer", "Mean length of a vector, with its 95% interval.", self._draw)}

    def _draw(self) -> Figure:
        rows = self.tables["layers"].to_pylist()
        with styled():
            figure, [axes] = panels(1, 1)
            for number, corpus in enumerate(dict.fromkeys(r["corpus"] for r in rows)):
                mine = [r for r in rows if r["corpus"] == corpus]
                y, low, high = ([r[name] for r in mine] for name in ("length", "length_low", "length_high"))
                curve(axes, range(len(mine)), y, number=number, label=corpus, low=low, high=high)
            over_layers(axes, "Length of a vector", "length")
            axes.legend()
        return figure


class Lengths(Observation):
    """What was seen of some shards. Public attributes are its state: saved, restored and merged by themselves."""

    def __init__(self, unit: str, layers: int) -> None:
        self._unit, self._layers = unit, layers
        self.mean = WeightedMean((layers,))

    def update(self, batch: Batch) -> None:
        units = batch.words if self._unit == "word" else batch.pieces
        by_layer = [np.linalg.norm(batch.unit_vectors(layer, units), axis=1) for layer in range(self._layers)]
        self.mean.update(np.stack(by_layer, axis=1), np.ones(len(units)))

    def result(self) -> tuple[np.ndarray, np.ndarray]:
        return self.mean.result()


class MeasureLengths(Pass):
    """One pass over the texts that needs the hidden states of all layers."""

    needs = Needs(states="all")

    def __init__(self, unit: str, layers: int) -> None:
        self._unit, self._layers = unit, layers

    def start(self, corpus: Corpus) -> Lengths:
        return Lengths(self._unit, self._layers)


@dataclass(frozen=True)
class Norms(Instrument):
    """The mean length of a vector in every layer."""

    name: ClassVar[str] = "norms"
    question: ClassVar[str] = "How long are the vectors of each layer?"
    reading: ClassVar[type[Reading]] = NormsReading

    unit: str = option("word", "What is measured: whole words, or the tokenizer's pieces.", choices=("word", "token"))

    def passes(self, subject: Subject) -> Passes:
        found = yield MeasureLengths(self.unit, subject.layers + 1)
        rows = []
        for corpus, (mean, half) in found.items():
            for layer, (m, h) in enumerate(zip(mean.tolist(), half.tolist(), strict=True)):
                rows.append({"corpus": corpus, "layer": layer, "length": m, "length_low": m - h, "length_high": m + h})
        longest = max(rows, key=lambda r: r["length"])
        said = f"{subject.encoder}: vectors are longest in layer {longest['layer']} on {longest['corpus']}"
        return NormsReading({"layers": pa.Table.from_pylist(rows)}, [f"{said}, {longest['length']:.1f} on average."])


def main() -> None:
    """Measure 200 sentences of two demo corpora with the bundled model."""
    from theodolite import Corpus, Encoder, run
    from theodolite.demo import demo_corpus

    corpora = [Corpus.of(demo_corpus(name).texts(0, 200), name) for name in ("questions", "fiction")]
    [reading] = run([Norms()], Encoder.load(), corpora)
    print("\n".join(reading.findings))


if __name__ == "__main__":
    main()
