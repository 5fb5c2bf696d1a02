"""What one term does to the answer, measured while a person waits: fewer texts, an ordinary-word baseline, progress."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from theodolite.accumulate import hash_of
from theodolite.corpus import Corpus
from theodolite.encoder.tokens import Tokens
from theodolite.errors import InputError
from theodolite.salience.asking import probe_of
from theodolite.salience.maps import Ints
from theodolite.salience.occurrences import occurrences
from theodolite.salience.sensitivity import (
    Changes,
    Probe,
    insertion_changes,
    list_row,
    masking_changes,
    term_rows,
)
from theodolite.salience.statistics import Answers
from theodolite.studio.jobs import JobProgress
from theodolite.studio.salience_schemas import ListChange, TermChange, TermResult
from theodolite.studio.salience_view import changes_of
from theodolite.words import has_letter_or_number, units

if TYPE_CHECKING:
    from theodolite.encoder.classifier import Classifier

Busy = Callable[[], AbstractContextManager[None]]

ORDINARY = 4
# Texts that the model is asked about between two looks at whether the job was cancelled.
_AT_ONCE = 32
_LOOKED_THROUGH = 1000
_SEED = 0


@dataclass(frozen=True)
class Ground:
    """Where a term is tried: the texts of a corpus that have answers, by row, and the class it may change."""

    corpus: Corpus
    rows: Ints
    predicted: Ints
    toward: int
    most: int

    @property
    def key(self) -> tuple[str, int, int]:
        """Tells grounds of one reading apart."""
        return self.corpus.name, self.toward, self.most


class Lazy(Sequence[str]):
    """One column of some of a corpus's texts, each read when asked for."""

    def __init__(self, corpus: Corpus, rows: Ints, column: str = "text") -> None:
        self._column, self._rows = corpus.table[column], rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            found: list[str] = self._column.take(self._rows[at]).to_pylist()
            return found
        return str(self._column[int(self._rows[at])].as_py())


class TermTrials:
    """Tries terms on a classifier; ordinary words, the baseline, once for each ground."""

    def __init__(self, model: Classifier, busy: Busy) -> None:
        self._model, self._busy = model, busy
        self._baselines: dict[tuple[str, int, int], ListChange | None] = {}
        self._lock = threading.Lock()

    def run(self, term: str, ground: Ground, progress: JobProgress) -> TermResult:
        """Insertion and masking of a term, and of ordinary words beside it."""
        term = " ".join(term.split())
        if not has_letter_or_number(term):
            raise InputError(f"{term!r} is no word: give one with a letter or a number")
        changes, searched, own = self._changes([term], ground, progress, term)
        [row] = term_rows(changes, _SEED)
        return TermResult(
            corpus=ground.corpus.name,
            toward=self._model.labels[ground.toward],
            asked=TermChange(term=term, **changes_of(asdict(row))),
            baseline=self._baseline(ground, progress),
            searched=searched,
            of=own,
        )

    def _baseline(self, ground: Ground, progress: JobProgress) -> ListChange | None:
        with self._lock:
            if ground.key in self._baselines:
                return self._baselines[ground.key]
        found = None
        if words := ordinary_words(ground.corpus, ground.rows):
            changes, *_ = self._changes(words, ground, progress, "ordinary words")
            row = list_row("ordinary words", words, changes, _SEED)
            found = ListChange(term=row.list, terms=words, **changes_of(asdict(row)))
        with self._lock:
            self._baselines[ground.key] = found
        return found

    def _changes(
        self, terms: Sequence[str], ground: Ground, progress: JobProgress, title: str
    ) -> tuple[Changes, int, int]:
        """The changes, how many texts of the class were looked through, and how many there are."""
        model, corpus, others = self._model, ground.corpus, int((ground.predicted != ground.toward).sum())
        probe = probe_of(model)
        own = ground.rows[ground.predicted == ground.toward]
        own = own[np.argsort(hash_of(_SEED, own), kind="stable")]
        with progress.step(f"looking for {title}", len(own)):
            having, searched = self._having(terms, corpus, own, ground.most, probe, progress)
        first, second = _texts(corpus, ground.rows)
        inserted = min(ground.most, others)
        with progress.step(f"putting in {title}", inserted * (1 + len(terms))):
            asked = replace(probe, answers=_watched(probe.answers, progress, self._busy))
            insertion = insertion_changes(
                terms, first, second, ground.predicted, ground.toward, asked, ground.most, _SEED
            )
        with progress.step(f"masking {title}", (1 + len(terms)) * len(having)):
            some, some_b = _texts(corpus, having)
            everywhere = np.full(len(having), ground.toward)
            masking, count = masking_changes(terms, some, some_b, everywhere, ground.toward, asked)
        return Changes(tuple(terms), insertion, masking, count), searched, len(own)

    @staticmethod
    def _having(
        terms: Sequence[str], corpus: Corpus, rows: Ints, most: int, probe: Probe, progress: JobProgress
    ) -> tuple[Ints, int]:
        """The first ``most`` rows, in the order given, that have one of the terms, and how many were looked through."""
        found: list[int] = []
        searched = 0
        for start in range(0, len(rows), _LOOKED_THROUGH):
            part = rows[start : start + _LOOKED_THROUGH]
            first, second = _texts(corpus, part)
            hits = occurrences(terms, first, second, probe.tokenizer)
            found.extend(part[np.unique(np.concatenate([each.text for each in hits]))].tolist())
            searched += len(part)
            progress.advance(len(part))
            if len(found) >= most:
                break
        return np.array(found[:most], np.int64), searched


def ordinary_words(corpus: Corpus, rows: Ints, count: int = ORDINARY) -> list[str]:
    """Different words drawn at random from a corpus: each from a random place of a random text."""
    random = np.random.default_rng(_SEED)
    found: dict[str, None] = {}
    for row in rows[random.permutation(len(rows))[: 20 * count]].tolist():
        text = corpus.text(row)
        words = [text[start:end].lower() for start, end in units(text) if text[start:end].isalpha()]
        if words:
            found.setdefault(words[int(random.integers(len(words)))])
        if len(found) == count:
            break
    return list(found)


def _texts(corpus: Corpus, rows: Ints) -> tuple[Lazy, Lazy | None]:
    paired = "text_b" in corpus.table.column_names
    return Lazy(corpus, rows), Lazy(corpus, rows, "text_b") if paired else None


def _watched(answers: Answers, progress: JobProgress, busy: Busy) -> Answers:
    """The model's answers a few texts at a time: the job can be watched and cancelled, and others get a turn."""

    def asked(tokens: Tokens) -> Any:
        parts = []
        for start in range(0, len(tokens), _AT_ONCE):
            some = np.arange(start, min(start + _AT_ONCE, len(tokens)))
            with busy():
                parts.append(answers(tokens.take(some)))
            progress.advance(len(some))
        return np.concatenate(parts) if parts else answers(tokens)

    return asked
