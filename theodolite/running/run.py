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
from theodolite.errors import InputError, StoreError
from theodolite.instrument import Instrument, Observation, Pass, Passes, Progress, Silent, Subject
from theodolite.running.plan import Plan, RunOptions, map_rows, settle
from theodolite.running.tally import Tally
from theodolite.running.work import ShardWork, Task
from theodolite.store import RunFolder, Store

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder
    from theodolite.reading import Reading

# One more whenever a pass's partial results change in form or meaning: a run begun before is then begun anew.
PARTIALS = 3


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

    Passes that need no model go first; those that need it wait for one another and share one forward pass; those that
    want salience maps, which cost more than that, come last.
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
    session = _Session(instruments, encoder, corpora, store, options, engine, progress)
    return [found for found in session.run(strict=True) if not isinstance(found, InputError)]


def attempt(
    instruments: Sequence[Instrument],
    encoder: Encoder,
    corpora: Sequence[Corpus],
    *,
    store: Store | None = None,
    options: RunOptions | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> list[Reading | InputError]:
    """As ``run``, but an instrument that finds on its way that it cannot measure this gives its error for a reading,
    and the others go on.
    """
    check_corpora(corpora)
    return _Session(instruments, encoder, corpora, store, options, engine, progress).run(strict=False)


class _Session:
    def __init__(
        self,
        instruments: Sequence[Instrument],
        encoder: Encoder,
        corpora: Sequence[Corpus],
        store: Store | None,
        options: RunOptions | None,
        engine: Engine | None,
        progress: Progress | None,
    ) -> None:
        self.instruments, self.encoder, self.corpora = instruments, encoder, corpora
        self.store, self.options = store or Store(), options or RunOptions()
        self.engine, self.progress = engine or LocalEngine(), progress or Silent()
        self.folder: RunFolder = self.store.run(_run_key(instruments, encoder, corpora, self.options))
        self.plan: Plan | None = None
        self.tallies: dict[str, Tally] = {}

    def run(self, *, strict: bool) -> list[Reading | InputError]:
        """What became of each instrument; strict: the first that is at fault ends the run."""
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
        outcomes: dict[int, Reading | InputError] = {}

        def go_on(i: int, found: Mapping[str, Any] | None) -> None:
            try:
                waiting[i] = next(going[i]) if found is None else going[i].send(found)
            except StopIteration as done:
                outcomes[i] = done.value
            except InputError as fault:
                # What cannot be kept is no fault of this instrument's: the next try goes on from what there is.
                if strict or isinstance(fault, StoreError):
                    raise
                outcomes[i] = fault

        for i in going:
            go_on(i, None)
        step = 0
        while waiting:
            turns = {i: (asked.needs.model, asked.needs.maps is not None) for i, asked in waiting.items()}
            wave = [i for i, turn in turns.items() if turn == min(turns.values())]
            found = self._traverse(step, [waiting.pop(i) for i in wave])
            for i, result in zip(wave, found, strict=True):
                go_on(i, result)
            step += 1
        self.store.finished(self.folder)
        for i, outcome in outcomes.items():
            if not isinstance(outcome, InputError):
                outcome.manifest = self._manifest(self.instruments[i])
        return [outcomes[i] for i in range(len(self.instruments))]

    def _traverse(self, step: int, passes: list[Pass]) -> list[dict[str, Any]]:
        """Go over every shard once for all these passes; what each found, by corpus."""
        model = any(p.needs.model for p in passes)
        plan = self._settled()
        tasks = self._tasks(plan, maps=any(p.needs.maps is not None for p in passes))
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

    def _tasks(self, plan: Plan, maps: bool) -> list[Task]:
        sizes = {c: map_rows(c, plan.shard_size) if maps else plan.shard_size for c in self.corpora}
        shards = [(c, s) for c, size in sizes.items() for s in c.shards(size)]
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
        "partials": PARTIALS,
        "encoder": [encoder.hash, encoder.tokenizer_hash, encoder.window_rule, str(encoder.device)],
        "corpora": [[c.name, c.hash] for c in corpora],
        "instruments": [[i.name, i.options] for i in instruments],
        "options": [options.token_budget, options.shard_size],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
