"""The similarity instrument: which words make two paragraphs similar?"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from theodolite.corpus import Corpus
from theodolite.corpus.source import split_name
from theodolite.errors import InputError
from theodolite.instrument import Instrument, Passes, Subject
from theodolite.options import option, seed_option
from theodolite.similarity.explanation import BASES, POOLINGS, SIMILARITIES, Asked, Ints
from theodolite.similarity.findings import findings
from theodolite.similarity.methods import METHODS, TFIDF
from theodolite.similarity.reading import SimilarityReading
from theodolite.similarity.tfidf import Idf, read_word_vectors
from theodolite.words import units

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder
    from theodolite.similarity.explaining import Baseline

STANDARD_INPUT = "-"
PAIR = "pair"


@dataclass(frozen=True)
class Similarity(Instrument):
    """Saliencies of words, and the pairs of words that carry the likeness, for one pair of texts or a file of them."""

    name: ClassVar[str] = "similarity"
    question: ClassVar[str] = "Which words make these two paragraphs similar?"
    reading: ClassVar[type[SimilarityReading]] = SimilarityReading

    a: str = option("", "The first text.", metavar="TEXT")
    b: str = option("", "The second text.", metavar="TEXT")
    a_file: str = option("", "A file with the first text; - for standard input.", metavar="FILE")
    b_file: str = option("", "A file with the second text; - for standard input.", metavar="FILE")
    pairs: str = option(
        "",
        "A file of pairs: columns text and text_b, or as a query names them: pairs.csv?text=COLUMN&text_b=COLUMN.",
        metavar="SOURCE",
    )
    method: tuple[str, ...] = option(("bti",), f"How; repeatable. all, or some of {', '.join(METHODS)}.")
    pooling: str = option("mean", "How token vectors become a text's.", choices=POOLINGS)
    similarity: str = option("cosine", "What is explained.", choices=SIMILARITIES)
    base: str = option("pad", "Where integrated gradients begin.", choices=BASES)
    top_k: int = option(2, "The explanation is the pairs of this many clusters of scores.", minimum=1)
    vectors: str = option("", "Word vectors (word2vec, GloVe) for tfidf-w2v.", metavar="FILE")
    rarity: str = option(
        "", "The corpus in which tfidf-w2v counts how rare words are; the texts given by default.", metavar="SOURCE"
    )
    sanity: bool = option(False, "Do the explanations change when the model's weights are drawn anew?")
    faithfulness: bool = option(False, "Does the similarity fall when salient words are deleted? Methods compared.")
    seed: int = seed_option()

    def __post_init__(self) -> None:
        super().__post_init__()
        # Said before a model is loaded.
        _ = self.asked
        if self.rarity and not self._by_rarity:
            raise InputError("--rarity: only tfidf-w2v asks how rare words are; add --method tfidf-w2v")
        for side in ("a", "b"):
            if getattr(self, side) and getattr(self, f"{side}_file"):
                raise InputError(f"--{side} and --{side}-file: give the text once")

    @property
    def asked(self) -> Asked:
        """How pairs are compared."""
        methods = METHODS if "all" in self.method else tuple(dict.fromkeys(self.method))
        return Asked(methods, self.pooling, self.similarity, self.base, self.top_k)

    def unfit(self, corpora: Sequence[Corpus]) -> str | None:
        if (self.a or self.b or self.a_file or self.b_file) and [c.name for c in corpora] != [PAIR]:
            return "--a and --b go without --corpus"
        if self.pairs and [c.source for c in corpora] != [split_name(self._named_pairs)[1]]:
            return "--pairs goes without --corpus"
        single = next((c for c in corpora if "text_b" not in c.table.column_names), None)
        return None if single is None else f"{single.name} has no second texts; name their column with ?text_b=COLUMN"

    def unfit_encoder(self, encoder: Encoder) -> str | None:
        return None if encoder.layers else "people's own vectors have no words to look at; give an encoder"

    def own_corpora(self, **how: Any) -> list[Corpus]:
        """The one pair given, or the file of pairs."""
        texts = {side: self._text(side) for side in ("a", "b")}
        if self.pairs:
            if any(text is not None for text in texts.values()):
                raise InputError("--pairs: goes without --a and --b")
            return [Corpus.parse(self._named_pairs, **how)]
        if texts["a"] is None and texts["b"] is None:
            raise InputError("similarity: give two texts with --a and --b, or a file of them with --pairs")
        for side, text in texts.items():
            if not (text or "").strip():
                raise InputError(f"--{side}: {'is missing' if text is None else 'is empty'}; give the text")
        return [Corpus.of([texts["a"] or ""], PAIR, texts_b=[texts["b"] or ""])]

    @property
    def _named_pairs(self) -> str:
        """The file of pairs with its columns named."""
        return self.pairs if "?" in self.pairs else f"{self.pairs}?text=text&text_b=text_b"

    def passes(self, subject: Subject) -> Passes:
        from theodolite.similarity.keeping import LookForWords, explained

        rows: Mapping[str, Ints] = yield LookForWords()
        baseline = self._baseline(subject)
        tables, skipped = [], {}
        for corpus in subject.corpora:
            mine = rows[corpus.name]
            skipped[corpus.name] = len(corpus) - len(mine)
            if not len(mine):
                raise InputError(f"{corpus.name}: no pair has words on both sides, so there is nothing to explain")
            table = explained(subject, corpus, mine, self.asked, baseline)
            tables.append(_with_texts(table, corpus))
        whole = pa.concat_tables(tables)
        found = {"explanations": whole, **self._truth(subject, rows, baseline)}
        return SimilarityReading.of(
            found, findings(found, subject.encoder, skipped, self._said(subject, baseline), self.similarity)
        )

    @property
    def _by_rarity(self) -> bool:
        """Whether ``tfidf-w2v`` is at work; words are deleted by every method."""
        return TFIDF in self.asked.methods or self.faithfulness

    def _baseline(self, subject: Subject) -> Baseline:
        from theodolite.similarity.explaining import Baseline

        if not self._by_rarity:
            return Baseline()
        texts = list(_texts(subject.corpora))
        root = subject.store.root
        # As read, texts stay in a local folder.
        others = [Corpus.parse(self.rarity, cache=None if "://" in root else root)] if self.rarity else []
        # Of one pair there is nothing to count: a word of both would only look common.
        idf = Idf.of(_texts(others) if others else texts if len(texts) > 2 else [])
        if not self.vectors:
            return Baseline(idf)
        words = {text[a:b] for text in texts for a, b in units(text)}
        return Baseline(idf, read_word_vectors(self.vectors, words | {word.lower() for word in words}))

    def _said(self, subject: Subject, baseline: Baseline) -> list[str]:
        """What is to be known about the figures beside those themselves."""
        transform = subject.model.transform
        said = []
        if transform is not None and transform.on == "sentence" and transform.pooling not in (None, "own"):
            said.append(
                f"--transform {transform.name} was fitted on pooling '{transform.pooling}': the cosine under the "
                "model's own pooling is without it."
            )
        if not self._by_rarity:
            return said
        rarity = (
            f"counted in {self.rarity or 'the texts given'} ({baseline.idf.texts:,} texts)"
            if baseline.idf.texts
            else "taken as 1, for one pair tells none (--rarity names a corpus)"
        )
        vectors = baseline.vectors.name if baseline.vectors else "the encoder's own input embeddings"
        return [*said, f"tfidf-w2v: the rarity of words is {rarity}; their vectors are {vectors}."]

    def _truth(self, subject: Subject, rows: Mapping[str, Ints], baseline: Baseline) -> dict[str, pa.Table]:
        if not (self.sanity or self.faithfulness):
            return {}
        from theodolite.similarity.truth import truth_tables

        return truth_tables(
            subject, rows, self.asked, baseline, sanity=self.sanity, faithfulness=self.faithfulness, seed=self.seed
        )

    def _text(self, side: str) -> str | None:
        given: str = getattr(self, side)
        place: str = getattr(self, f"{side}_file")
        if not place:
            return given or None
        try:
            given_bytes = sys.stdin.buffer.read() if place == STANDARD_INPUT else Path(place).read_bytes()
            return given_bytes.decode("utf-8")
        except OSError as fault:
            raise InputError(f"--{side}-file {place}: cannot be read ({fault.strerror})") from None
        except UnicodeDecodeError:
            raise InputError(f"--{side}-file {place}: is not UTF-8") from None


def _texts(corpora: Sequence[Corpus]) -> Iterator[str]:
    """All texts, of pairs both."""
    return (text for c in corpora for text in (*c.texts(), *(c.texts_b() or [])))


def _with_texts(table: pa.Table, corpus: Corpus) -> pa.Table:
    rows = table["row"]
    named: dict[str, Any] = {"corpus": pa.array([corpus.name] * len(table), pa.string())}
    for side, column in (("a", "text"), ("b", "text_b")):
        named[f"text_{side}"] = corpus.column(column).take(rows).cast(pa.string()).combine_chunks()
    for name, values in named.items():
        table = table.append_column(name, values)
    return table
