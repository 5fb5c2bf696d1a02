"""The isotropy instrument: how round is the space, and what does rounding it buy?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from theodolite.corpus import Corpus
from theodolite.errors import InputError
from theodolite.instrument import Instrument, Passes, Progress, Subject
from theodolite.isotropy.findings import findings
from theodolite.isotropy.intervals import Parts, measure_with_intervals, round_cloud
from theodolite.isotropy.judging import EVALUATED, judge
from theodolite.isotropy.reading import IsotropyReading
from theodolite.isotropy.spaces import SPACES, KeepSpace, KeptSpace, Sample, Sampled, layers_of
from theodolite.isotropy.sts_files import StsFile, read_sts
from theodolite.isotropy.sts_scores import distinct_texts
from theodolite.options import option
from theodolite.rounding import METHODS, Rounder, rounder

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder

Row = dict[str, Any]
POINTS = 1_500


@dataclass(frozen=True)
class Isotropy(Instrument):
    """Partition, IsoScore, mean cosine and more of any space and layer, before and after it is made rounder."""

    name: ClassVar[str] = "isotropy"
    question: ClassVar[str] = "How round is the space, and what does rounding it buy?"
    reading: ClassVar[type[IsotropyReading]] = IsotropyReading

    layer: str = option("-1", "Which layers: all, or numbers such as 0,3,-1 (0: embeddings).", metavar="all|N,…")
    space: str = option("token", "Whose vectors.", choices=SPACES)
    methods: str = option(
        "mean,abtt,kmeans+mean+pca",
        f"Ways to make it rounder: none, all, or some of {', '.join(n for n in METHODS if n != 'none')}.",
        metavar="NAME,…",
    )
    sts: tuple[str, ...] = option(
        (), "Judge the token space by a file of scored pairs of texts (STS, SICK); repeatable.", metavar="FILE"
    )
    n_clusters: int = option(27, "Clusters of the cluster methods.", minimum=1)
    n_directions: int = option(12, "Directions removed: from each cluster, or by abtt from all.", minimum=1)
    max_vectors: int = option(200_000, "At most this many vectors of a corpus (a seeded sample).", minimum=2)
    seed: int = option(0, "Seed of every random choice.", minimum=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        for method in self._methods:
            if method not in METHODS:
                raise InputError(f"--methods {method}: not one of {', '.join(METHODS)}, all")

    def unfit_encoder(self, encoder: Encoder) -> str | None:
        if not encoder.layers and (self.space != "sentence" or self.sts):
            return "people's own vectors are a space of texts; ask for --space sentence, without --sts"
        return None

    def own_corpora(self) -> list[Corpus]:
        """Where no corpus is given, the texts of the STS files, each once."""
        return [Corpus.of(distinct_texts([file]), file.name) for file in self._files]

    def passes(self, subject: Subject) -> Passes:
        files = self._files
        own = {file.name for file in files}
        others = [c.name for c in subject.corpora if c.name not in own]
        if files and others and self.space != "token":
            raise InputError(f"--space {self.space}: --sts judges the space of tokens; leave --space out")
        layers = layers_of(self.layer, subject)
        sampled: Mapping[str, Sampled] = yield Sample(self.space, self.max_vectors, self.seed)
        kept: Mapping[str, KeptSpace] = yield KeepSpace(
            subject, sampled, space=self.space, layers=layers, seed=self.seed
        )
        measured: list[Row] = []
        points: list[Row] = []
        fitted: dict[tuple[str, int, str], Rounder] = {}
        with subject.progress.step("measuring", len(kept) * len(layers) * (1 + len(self._methods))):
            for name, space in kept.items():
                for layer in layers:
                    about = {"encoder": subject.encoder, "corpus": name, "layer": layer, "space": self.space}
                    for rows, dots, method, made in self._measured(space, layer, subject.progress):
                        measured += [about | row for row in rows]
                        points += [about | {"method": method, "x": x, "y": y} for x, y in dots]
                        if made is not None and name in others:
                            fitted[name, layer, method] = made
        judged: list[Row] = []
        for file in files:
            methods = ["none", *self._methods]
            judged += judge(subject.model, file, layers, methods, self._rounder, fitted, subject.progress)
        tables = {"measures": pa.Table.from_pylist(measured), "points": pa.Table.from_pylist(points)}
        if judged:
            tables["sts"] = pa.Table.from_pylist(judged)
        notes = [
            f"{corpus}, layer {layer}, {method}: {note}."
            for (corpus, layer, method), made in fitted.items()
            for note in made.notes()
        ]
        return IsotropyReading(tables, [*findings(measured, judged), *notes])

    @property
    def _methods(self) -> list[str]:
        """The methods asked for; no change at all is always measured and is none of them."""
        asked = list(METHODS) if self.methods == "all" else [m.strip() for m in self.methods.split(",") if m.strip()]
        return [method for method in dict.fromkeys(asked) if method != "none"]

    @property
    def _files(self) -> list[StsFile]:
        files = [read_sts(path) for path in self.sts]
        names = [file.name for file in files]
        twice = next((n for n in names if names.count(n) > 1), None)
        if twice is not None:
            raise InputError(f"--sts: two files are called {twice}; rename one")
        return files

    def _rounder(self, method: str) -> Rounder:
        """A transformer with those of the options that its method takes."""
        given = {"n_clusters": self.n_clusters, "n_directions": self.n_directions, "random_state": self.seed}
        takes = signature(METHODS[method]).parameters
        return rounder(method, **{name: value for name, value in given.items() if name in takes})

    def _measured(
        self, space: KeptSpace, layer: int, progress: Progress
    ) -> Iterator[tuple[list[Row], list[tuple[float, float]], str, Rounder | None]]:
        """For the space as it is and for every method: its rows, some points of its picture, the transformer."""
        blocks = space.blocks(layer)
        dim = next(iter(blocks())).shape[1]
        picture = _Picture([v for _, v in space.parts(layer)], self.seed)
        plain = measure_with_intervals(lambda: space.parts(layer), dim, self.seed)
        about = {"units": space.sampled.units, "fitted_on": ""}
        cloud = asdict(round_cloud(plain["n"], dim, picture.mean_length, self.seed))
        rows = [{"method": "none", **plain, **about}, {"method": "round cloud", **cloud, **about}]
        yield rows, picture.places(None), "none", None
        progress.advance(1)
        for method in self._methods:
            made = self._rounder(method).fit_blocks(blocks)
            found = measure_with_intervals(_rounded(space, layer, made), dim, self.seed)
            about = {"units": space.sampled.units, "fitted_on": EVALUATED}
            yield [{"method": method, **found, **about}], picture.places(made), method, made
            progress.advance(1)


def _rounded(space: KeptSpace, layer: int, made: Rounder) -> Parts:
    return lambda: ((rows, made.transform(vectors)) for rows, vectors in space.parts(layer))


class _Picture:
    """A sample of a space in two dimensions: the two in which it reaches furthest from the origin, not centred."""

    def __init__(self, parts: Sequence[NDArray[Any]], seed: int) -> None:
        starts = np.cumsum([0, *map(len, parts)])
        chosen = np.sort(np.random.default_rng(seed).permutation(starts[-1])[:POINTS])
        ends = np.searchsorted(chosen, starts)
        some = [
            part[chosen[low:high] - start]
            for part, start, low, high in zip(parts, starts, ends, ends[1:], strict=False)
        ]
        self._some = np.concatenate(some).astype(np.float64)
        self.mean_length = float(np.linalg.norm(self._some, axis=1).mean())

    def places(self, made: Rounder | None) -> list[tuple[float, float]]:
        """(x, y) of the points, after a transform or as they are; the cloud lies to the right of the origin."""
        vectors = self._some if made is None else made.transform(self._some)
        axes = np.linalg.svd(vectors, full_matrices=False)[2][:2]
        placed = vectors @ axes.T
        return [(float(x), float(y)) for x, y in placed * np.where(placed.sum(axis=0) < 0, -1, 1)]
