"""The isotropy instrument: how round is the space, and what does rounding it buy?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from theodolite.corpus import Corpus
from theodolite.errors import InputError
from theodolite.instrument import Instrument, Passes, Subject
from theodolite.isotropy import making
from theodolite.isotropy.findings import findings, plural
from theodolite.isotropy.reading import IsotropyReading
from theodolite.isotropy.spaces import SPACES, KeepSpace, KeptSpace, Sample, Sampled, layers_of
from theodolite.isotropy.sts_files import StsFile, read_sts
from theodolite.options import option, seed_option
from theodolite.rounding.names import NAMES, NONE

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder

Row = dict[str, Any]


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
        f"Ways to make it rounder: none, all, or some of {', '.join(n for n in NAMES if n != NONE)}.",
        metavar="NAME,…",
    )
    sts: tuple[str, ...] = option(
        (), "Judge the token space by a file of scored pairs of texts (STS, SICK); repeatable.", metavar="FILE"
    )
    n_clusters: int = option(27, "Clusters of the cluster methods.", minimum=1)
    n_directions: str = option("12", making.HELP, metavar="N|auto")
    max_vectors: int = option(200_000, "At most this many vectors of a corpus (a seeded sample).", minimum=2)
    seed: int = seed_option()

    def __post_init__(self) -> None:
        super().__post_init__()
        making.check_directions(self.n_directions)
        for method in self._methods:
            if method not in NAMES:
                raise InputError(f"--methods {method}: not one of {', '.join(NAMES)}, all")

    def unfit_encoder(self, encoder: Encoder) -> str | None:
        if not encoder.layers and (self.space != "sentence" or self.sts):
            return "people's own vectors are a space of texts; ask for --space sentence, without --sts"
        return self.untouched(encoder) if self.sts or self.space in ("token", "word") else None

    def own_corpora(self, **how: Any) -> list[Corpus]:
        """Where no corpus is given, the texts of the STS files, each once."""
        for name in ("limit", "sample"):
            if self.sts and how.get(name) is not None:
                raise InputError(f"--{name}: is of a --corpus, and pairs of --sts are judged all; leave it out")
        return [Corpus.of(texts, file.name) for file, texts in _texts_of(self._files)]

    def passes(self, subject: Subject) -> Passes:
        files = self._files
        own = {file.name: texts for file, texts in _texts_of(files)}
        others = [c.name for c in subject.corpora if c.name not in own]
        for corpus in subject.corpora:
            texts = own.get(corpus.name)
            if texts is not None and (len(corpus) != len(texts) or corpus.texts() != texts):
                raise InputError(
                    f"--corpus {corpus.name}: a file of --sts has the same name, and other texts; name one differently"
                )
        if files and others and self.space != "token":
            raise InputError(f"--space {self.space}: --sts judges the space of tokens; leave --space out")
        layers = layers_of(self.layer, subject)
        sampled: Mapping[str, Sampled] = yield Sample(self.space, self.max_vectors, self.seed)
        empty = next((name for name, found in sampled.items() if not found.units), None)
        if empty is not None:
            raise InputError(f"{empty}: no {plural(self.space)} to measure")
        kept: Mapping[str, KeptSpace] = yield KeepSpace(
            subject, sampled, space=self.space, layers=layers, seed=self.seed
        )
        # They bring scikit-learn along, for which whoever asks for help need not wait.
        from theodolite.isotropy.judging import Judged, judge
        from theodolite.isotropy.measuring import measure_spaces

        make = making.maker(self.n_clusters, self.n_directions, self.seed)
        measured, points, fitted = measure_spaces(kept, layers, self._methods, make, self.seed, subject.progress)
        about = {"encoder": subject.encoder, "space": self.space}
        measured, points = ([about | row for row in rows] for rows in (measured, points))
        elsewhere = {key: made for key, made in fitted.items() if key[0] in others}
        judged = Judged()
        for file in files:
            of_file = judge(subject.model, file, layers, self._methods, make, elsewhere, self.seed, subject.progress)
            judged.rows += of_file.rows
            judged.notes += of_file.notes
        tables = {"measures": pa.Table.from_pylist(measured), "points": pa.Table.from_pylist(points)}
        if judged.rows:
            tables["sts"] = pa.Table.from_pylist(judged.rows)
        notes = [
            f"{corpus}, layer {layer}, {method}: {note}."
            for (corpus, layer, method), made in fitted.items()
            for note in made.notes()
        ]
        # A file's own texts, measured and judged, are fitted twice over and would be noted twice.
        notes = list(dict.fromkeys([*notes, *judged.notes]))
        return IsotropyReading(tables, [*findings(measured, judged.rows), *notes])

    @property
    def _methods(self) -> list[str]:
        """The methods asked for; no change at all is always measured and is none of them."""
        asked = list(NAMES) if self.methods == "all" else [m.strip() for m in self.methods.split(",") if m.strip()]
        return [method for method in dict.fromkeys(asked) if method != NONE]

    @property
    def _files(self) -> list[StsFile]:
        files = [read_sts(path) for path in self.sts]
        names = [file.name for file in files]
        twice = next((n for n in names if names.count(n) > 1), None)
        if twice is not None:
            raise InputError(f"--sts: two files are called {twice}; rename one")
        return files


def _texts_of(files: Sequence[StsFile]) -> list[tuple[StsFile, list[str]]]:
    from theodolite.isotropy.sts_scores import distinct_texts

    return [(file, distinct_texts([file])) for file in files]
