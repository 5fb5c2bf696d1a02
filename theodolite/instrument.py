"""What an instrument is: options, passes over the texts, and a reading made of what they found."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from theodolite.accumulate import Accumulator
from theodolite.corpus import Corpus, Shard
from theodolite.options import check_options
from theodolite.reading import Reading

if TYPE_CHECKING:
    from theodolite.encoder.batch import Batch
    from theodolite.encoder.encoder import Encoder
    from theodolite.encoder.maps import Question
    from theodolite.store import Store


@dataclass(frozen=True)
class Needs:
    """What a pass has to be shown of each text.

    states: hidden states of which layers ('all', or numbers; none for a pass over the texts alone);
    pooled: embeddings, as (layer, pooling); distinct: duplicate texts count once; columns: of the corpus;
    maps: a question to a classifier, answered by a salience map of each text;
    separate: the two texts of a pair will go through the encoder each alone, not as one sequence.
    """

    states: tuple[int, ...] | str = ()
    pooled: tuple[tuple[int, str], ...] = ()
    distinct: bool = True
    columns: tuple[str, ...] = ()
    maps: Question | None = None
    separate: bool = False

    @property
    def model(self) -> bool:
        """Whether the texts must go through the encoder."""
        return bool(self.states or self.pooled or self.maps)

    def layers(self, count: int) -> set[int]:
        """The layers asked for, of an encoder of ``count`` layers above its embedding layer."""
        named = range(count + 1) if self.states == "all" else self.states
        wanted = [*named, *(layer for layer, _ in self.pooled)]
        return {int(layer) if int(layer) >= 0 else count + 1 + int(layer) for layer in wanted}


class Observation(Accumulator):
    """What a pass has seen of some shards: an accumulator of batches."""

    @abstractmethod
    def update(self, batch: Batch) -> None:
        """Look at a batch."""

    def merge(self, other: Self) -> None:
        """Merge part by part: an observation is made of accumulators."""
        theirs = other.parts()
        for name, part in self.parts().items():
            part.merge(theirs[name])

    @abstractmethod
    def result(self) -> Any:
        """What was found."""


class Pass(ABC):
    """One going-over of the texts: what it needs, and a fresh observation for each shard."""

    needs: Needs

    @abstractmethod
    def start(self, corpus: Corpus) -> Observation:
        """An observation that has seen nothing."""

    def targets(self, corpus: Corpus) -> NDArray[np.int64] | None:
        """(rows,) the class that each text's map is to be of, where the pass asks for maps of its own classes."""
        return None

    def recall(self, shard: Shard) -> Observation | None:
        """What an earlier run already has of this shard outside its own folder, if anything."""
        return None

    def keep(self, shard: Shard, seen: Observation) -> bool:
        """Put away what was seen of a shard where ``recall`` finds it; False leaves that to the run."""
        return False


class Progress(Protocol):
    """Told how far a step is: a bar on a terminal, a job in the studio."""

    def step(self, title: str, total: int) -> AbstractContextManager[Any]: ...
    def advance(self, texts: int) -> None: ...


class Silent:
    """Progress that nobody watches."""

    def step(self, title: str, total: int) -> AbstractContextManager[Any]:
        """Nobody sees it."""
        return nullcontext()

    def advance(self, texts: int) -> None:
        """Nobody is told."""


class Stages:
    """Tells a progress that counts steps what a callback of (stage, done, total) says."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._stage, self._done = progress, "", 0
        self._open = ExitStack()

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self._stage or done < self._done:
            self.close()
            self._open.enter_context(self._progress.step(f"map: {stage}", total))
            self._stage, self._done = stage, 0
        self._progress.advance(done - self._done)
        self._done = done

    def close(self) -> None:
        """The stage under way is over."""
        self._open.close()


@dataclass(frozen=True)
class Subject:
    """What is being measured: an encoder's outline and the corpora; the store for what is kept; who is told how far.

    identity: what makes the encoder's numbers what they are (hashes of weights and tokenizer, window rule);
    model: the encoder itself, for what is no pass over the corpora; token_budget: of its batches then, where given.
    """

    encoder: str
    layers: int
    dim: int
    identity: tuple[tuple[str, str | int], ...]
    model: Encoder
    corpora: tuple[Corpus, ...]
    store: Store
    progress: Progress
    token_budget: int | None = None

    def corpus(self, name: str) -> Corpus:
        """A corpus by name."""
        return next(c for c in self.corpora if c.name == name)


Found = Mapping[str, Any]
Passes = Generator[Pass, Found, Reading]


@dataclass(frozen=True)
class Instrument(ABC):
    """A question to an encoder. A frozen dataclass: its fields are its options.

    ``passes`` yields its passes one after another; each ``yield`` gives back what that pass found, by corpus;
    what it returns is the reading. Running it alone and running several at once both follow from that.
    """

    name: ClassVar[str]
    question: ClassVar[str]
    reading: ClassVar[type[Reading]]

    def __post_init__(self) -> None:
        check_options(self)

    @abstractmethod
    def passes(self, subject: Subject) -> Passes:
        """Declare the passes, in order, and make the reading."""

    def unfit(self, corpora: Sequence[Corpus]) -> str | None:
        """Why these corpora cannot be measured with this instrument; None where they can."""
        return None

    def unfit_encoder(self, encoder: Encoder) -> str | None:
        """Why this encoder cannot be measured with this instrument; None where it can."""
        return None

    @staticmethod
    def untouched(encoder: Encoder) -> str | None:
        """Why an encoder's transform would change nothing that is measured of words and tokens; None where it does."""
        transform = encoder.transform
        if transform is None or transform.on == "token":
            return None
        return (
            f"--transform {transform.name} was fitted on texts' vectors and changes no word's; fit with --space token"
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that the corpora must be read with, beyond the usual ones."""
        return ()

    def does_without(self, corpus: str) -> bool:
        """Whether a corpus beside the first may lack these columns."""
        return False

    def own_corpora(self, **how: Any) -> list[Corpus]:
        """What is measured where no corpus is given; without any, one must be.

        how: limit, sample, seed and cache, as ``Corpus.read`` takes them.
        """
        return []

    @property
    def options(self) -> dict[str, Any]:
        """Its options by name, for the manifest."""
        return dataclasses.asdict(self)
