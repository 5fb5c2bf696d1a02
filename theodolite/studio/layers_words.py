"""Words of a reading of contextuality, found by their beginning, each with its curves; and words measured live."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pyarrow as pa

from theodolite.contextuality import Contextuality
from theodolite.errors import InputError
from theodolite.instrument import Progress
from theodolite.reading import Reading, plain
from theodolite.running import RunOptions, run
from theodolite.studio.jobs import OVER, Job, Jobs
from theodolite.studio.layers_curves import CONTEXTUALITY
from theodolite.studio.layers_models import Counted, Vocabulary, Word, WordSeries
from theodolite.studio.opened import Opened
from theodolite.studio.workspace import Workspace

Row = dict[str, Any]

CURVES = ("self_similarity", "self_similarity_adjusted", "mev", "mev_adjusted")


class Words:
    """The words of one reading, in alphabetical order of their folded form."""

    def __init__(self, reading: Reading) -> None:
        self._table = reading.tables["words"]
        words = self._table["word"].to_pylist()
        occurrences = self._table["occurrences"].to_numpy()
        self._rows: dict[str, list[int]] = {}
        for row, word in enumerate(words):
            self._rows.setdefault(word, []).append(row)
        order = sorted(self._rows, key=lambda word: (word.casefold(), word))
        self._folded = np.array([word.casefold() for word in order])
        self._counted = [
            Counted(word=word, occurrences=int(occurrences[self._rows[word]].sum()), corpora=len(self._rows[word]))
            for word in order
        ]

    def beginning(self, prefix: str, limit: int) -> Vocabulary:
        """Words that begin so, the most frequent first."""
        folded = prefix.casefold().strip()
        low, high = np.searchsorted(self._folded, [folded, folded + "\U0010ffff"])
        found = sorted(self._counted[low:high], key=lambda one: (-one.occurrences, one.word))
        return Vocabulary(total=len(found), words=found[:limit])

    def rows(self, word: str) -> list[Row]:
        """A word's row in every corpus that it was measured in."""
        found: list[Row] = plain(self._table.take(pa.array(self._rows.get(word, ()), pa.int64())).to_pylist())
        return found

    def forms(self, typed: str) -> str:
        """The measured word that was meant: as typed, or in small letters where an encoder knows no others."""
        return next((form for form in (typed, typed.casefold()) if form in self._rows), typed)


class LiveWords:
    """Words by survey: those of the readings, and those measured since."""

    def __init__(self, workspace: Workspace, jobs: Jobs) -> None:
        self._workspace, self._jobs = workspace, jobs
        self._lock = threading.Lock()
        self._words: dict[str, Words] = {}
        self._measured: dict[tuple[str, str], list[Row]] = {}
        self._started: dict[tuple[str, str], Job] = {}

    def of(self, opened: Opened) -> Words | None:
        """The words of a survey's reading; None where it has none."""
        names = opened.named(CONTEXTUALITY)
        with self._lock:
            if names and opened.slug not in self._words:
                self._words[opened.slug] = Words(opened.reading(names[0]))
            return self._words.get(opened.slug)

    def word(self, opened: Opened, beside: list[Opened], typed: str) -> Word:
        """A word's curves in a survey and in those beside it."""
        typed = typed.strip()
        job = self._started.get((opened.slug, typed))
        found = [one for place in (opened, *beside) for one in self._series(place, typed)]
        own = {one.corpus for one in found if one.survey == opened.slug}
        return Word(
            word=typed,
            measured=bool(own),
            series=found,
            missing=[name for name in opened.corpora if name not in own],
            sought=(opened.slug, typed) in self._measured,
            reason=self._hindrance(opened),
            job=job.id if job is not None and job.state not in OVER else None,
        )

    def start(self, opened: Opened, typed: str) -> Job:
        """Measure a word in the background, unless that is under way."""
        typed = typed.strip()
        if not typed:
            raise InputError("a word is wanted")
        why = self._hindrance(opened)
        if why is not None:
            raise InputError(why)
        with self._lock:
            job = self._started.get((opened.slug, typed))
            if job is None or job.state in OVER:
                job = self._jobs.start(f"The word {typed}", lambda progress: self._measure(opened, typed, progress))
                self._started[opened.slug, typed] = job
            return job

    def _measure(self, opened: Opened, typed: str, progress: Progress) -> dict[str, str]:
        """The instrument as the survey ran it, but of this word alone: the means over all words are known."""
        manifest = opened.reading(opened.named(CONTEXTUALITY)[0]).manifest
        kept = {name: manifest["options"][name] for name in ("unit", "min_contexts", "mev_cap", "centered", "seed")}
        instrument = Contextuality(word=(typed,), max_words=1, mev_words=0, **kept)
        encoder = self._workspace.another_encoder(manifest["encoder"])
        plan = RunOptions(shard_size=manifest["plan"]["shard_size"])
        try:
            [reading] = run(
                [instrument], encoder, opened.texts(), store=self._workspace.store, options=plan, progress=progress
            )
        except InputError as fault:
            # A page has no options to name.
            raise InputError(str(fault).removeprefix("--word ")) from None
        meant = encoder.tokenizer.normalised(typed)
        rows: list[Row] = plain([r for r in reading.tables["words"].to_pylist() if r["word"] == meant])
        self._measured[opened.slug, typed] = rows
        return {"word": typed}

    def _series(self, opened: Opened, typed: str) -> list[WordSeries]:
        words = self.of(opened)
        if words is None:
            return []
        live = self._measured.get((opened.slug, typed), [])
        rows = words.rows(words.forms(typed))
        there = {row["corpus"] for row in rows}
        both = [(row, False) for row in rows] + [(row, True) for row in live if row["corpus"] not in there]
        order = {name: i for i, name in enumerate(opened.corpora)}
        return [
            WordSeries(
                survey=opened.slug,
                encoder=row["encoder"],
                corpus=row["corpus"],
                contexts=row["contexts"],
                occurrences=row["occurrences"],
                live=measured_now,
                measures={name: row[name] for name in CURVES if row[name] is not None},
            )
            for row, measured_now in sorted(both, key=lambda one: order.get(one[0]["corpus"], len(order)))
        ]

    def _hindrance(self, opened: Opened) -> str | None:
        """Why no word can be measured live."""
        try:
            names = opened.named(CONTEXTUALITY)
            if not names:
                return f"{opened.slug} has no reading of {CONTEXTUALITY}"
            manifest = opened.reading(names[0]).manifest
            if manifest["options"]["weights"]:
                return "this reading weighs its texts, which a single word is not measured with"
            opened.texts()
            self._workspace.check_live(manifest["encoder"])
        except InputError as fault:
            return str(fault)
        return None
