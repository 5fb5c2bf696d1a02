"""Run instruments over corpora: each wave of passes goes over the texts once for all of them."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from theodolite.corpus import Corpus
from theodolite.engine import Engine, LocalEngine
from theodolite.errors import InputError
from theodolite.instrument import Instrument, Observation, Pass, Passes, Progress, Silent, Subject
from theodolite.running.plan import Plan, RunOptions, settle
from theodolite.running.tally import Tally
from theodolite.running.work import ShardWork, Task
from theodolite.store import RunFolder, Store

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder
    from theodolite.reading import Reading


def run(
    instruments: Sequence[Instrument],
    encoder: Encoder,
    corpora: Sequence[Corpus],
    *,
    store: Store | None = None,
    options: RunOptions | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> list[Reading]:
    """Measure an encoder over corpora with several instruments at once; one reading each, in their order.

    Passes that need no model go first; those that need it wait for one another and share one forward pass.
    What is found of each shard is in the store at once: the same call after an interruption goes on there.

    >>> from theodolite import Contextuality, Corpus, Encoder
    >>> corpus = Corpus.of(["A bank of sand.", "The bank lent money.", "A river bank.", "My bank.", "His bank."])
    >>> [reading] = run([Contextuality()], Encoder.load(), [corpus])
    >>> reading.to_json()["words"][0]["word"]
    'bank'
    """
    check_corpora(corpora)
    for instrument in instruments:
        reason = instrument.unfit(corpora) or instrument.unfit_encoder(encoder)
        if reason:
            raise InputError(f"{instrument.name}: {reason}")
    session = _Session(
        instruments,
        encoder,
        corpora,
        store or Store(),
        options or RunOptions(),
        engine or LocalEngine(),
        progress or Silent(),
    )
    return session.run()


class _Session:
    def __init__(
        self,
        instruments: Sequence[Instrument],
        encoder: Encoder,
        corpora: Sequence[Corpus],
        store: Store,
        options: RunOptions,
        engine: Engine,
        progress: Progress,
    ) -> None:
        self.instruments, self.encoder, self.corpora = instruments, encoder, corpora
        self.store, self.options, self.engine, self.progress = store, options, engine, progress
        self.folder: RunFolder = store.run(_run_key(instruments, encoder, corpora, options))
        self.plan: Plan | None = None
        self.tallies: dict[str, Tally] = {}

    def run(self) -> list[Reading]:
        e = self.encoder
        subject = Subject(
            encoder=e.name,
            layers=e.layers,
            dim=e.dim,
            identity=(("model", e.hash), ("tokenizer", e.tokenizer_hash), ("window", e.window_rule)),
            model=e,
            corpora=tuple(self.corpora),
            store=self.store,
            progress=self.progress,
            token_budget=self.options.token_budget,
        )
        going: dict[int, Passes] = {i: inst.passes(subject) for i, inst in enumerate(self.instruments)}
        waiting: dict[int, Pass] = {}
        readings: dict[int, Reading] = {}
        for i, passes in going.items():
            self._on(i, passes, None, waiting, readings)
        step = 0
        while waiting:
            light = [i for i, asked in waiting.items() if not asked.needs.model]
            wave = light or list(waiting)
            found = self._traverse(step, [waiting.pop(i) for i in wave])
            for i, result in zip(wave, found, strict=True):
                self._on(i, going[i], result, waiting, readings)
            step += 1
        self.folder.clear_partials()
        for i, reading in readings.items():
            reading.manifest = self._manifest(self.instruments[i])
        return [readings[i] for i in range(len(self.instruments))]

    @staticmethod
    def _on(
        i: int,
        passes: Passes,
        found: Mapping[str, Any] | None,
        waiting: dict[int, Pass],
        readings: dict[int, Reading],
    ) -> None:
        try:
            waiting[i] = next(passes) if found is None else passes.send(found)
        except StopIteration as done:
            readings[i] = done.value

    def _traverse(self, step: int, passes: list[Pass]) -> list[dict[str, Any]]:
        """Go over every shard once for all these passes; what each found, by corpus."""
        model = any(p.needs.model for p in passes)
        plan = self._settled()
        tasks = self._tasks(plan)
        worker = ShardWork(step, passes, self.encoder, self.folder, plan)
        folded: dict[str, list[Observation]] = {}
        self.tallies = {}
        title = "encoding" if model else "reading"
        with closing(worker), self.progress.step(title, sum(len(c) for c in self.corpora)):
            for task, (seen, tally) in self.engine.map(tasks, worker):
                name = task.corpus.name
                if name not in folded:
                    folded[name] = [p.start(task.corpus) for p in passes]
                    self.tallies[name] = Tally()
                for whole, part in zip(folded[name], seen, strict=True):
                    whole.merge(part)
                self.tallies[name].merge(tally)
                self.progress.advance(task.shard.stop - task.shard.start)
        self.plan = worker.plan
        return [{name: seen[i].result() for name, seen in folded.items()} for i in range(len(passes))]

    def _settled(self) -> Plan:
        if self.plan is None:
            texts = sum(len(c) for c in self.corpora)
            head = [t for t in self.corpora[0].texts(0, 1024) if t.strip()]
            sample = self.encoder.tokenise(head) if head else None
            if sample is not None:
                sample = sample.take(sample.lengths.nonzero()[0])
            # An earlier run may have left it compiled, which is no part of this one's plan.
            self.encoder.uncompiled()
            self.plan = settle(self.folder, self.options, self.encoder, sample, texts)
            if self.plan.compiled:
                self.encoder.compiled()
        return self.plan

    def _tasks(self, plan: Plan) -> list[Task]:
        shards = [(c, s) for c in self.corpora for s in c.shards(plan.shard_size)]
        return [Task(number, corpus, shard) for number, (corpus, shard) in enumerate(shards)]

    def _manifest(self, instrument: Instrument) -> dict[str, Any]:
        assert self.plan is not None
        e = self.encoder
        return {
            "theodolite": version("theodolite"),
            "instrument": instrument.name,
            "options": instrument.options,
            "encoder": {
                "name": e.name,
                "hash": e.hash,
                "tokenizer_hash": e.tokenizer_hash,
                "layers": e.layers,
                "dim": e.dim,
                "window": e.window_rule,
                **({"transform": transform.name} if (transform := getattr(e, "transform", None)) else {}),
            },
            "corpora": [
                {"name": c.name, "source": c.source, "hash": c.hash, **self.tallies[c.name].result()}
                for c in self.corpora
            ],
            "plan": self.plan.as_json(),
            "versions": {"python": platform.python_version()}
            | {p: version(p) for p in ("numpy", "torch", "transformers")},
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
        }


def check_corpora(corpora: Sequence[Corpus]) -> None:
    """Refuse corpora that nothing can be measured on, or that cannot be told apart."""
    if not corpora:
        raise InputError("no corpus: give at least one with --corpus NAME=FILE")
    names = [c.name for c in corpora]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise InputError(f"two corpora are called '{twice}': name each differently with --corpus NAME=FILE")
    for corpus in corpora:
        if corpus.empty.all():
            raise InputError(f"{corpus.name}: every text is empty ({corpus.source})")


def _run_key(
    instruments: Sequence[Instrument], encoder: Encoder, corpora: Sequence[Corpus], options: RunOptions
) -> str:
    """One key for everything that changes what a run's partial results are."""
    parts = {
        "theodolite": version("theodolite"),
        "encoder": [encoder.hash, encoder.tokenizer_hash, encoder.window_rule, str(encoder.device)],
        "corpora": [[c.name, c.hash] for c in corpora],
        "instruments": [[i.name, i.options] for i in instruments],
        "options": [options.token_budget, options.shard_size],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
