"""The work on one shard: read, tokenise, encode, and let every pass look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from theodolite.accumulate.base import State
from theodolite.corpus import Corpus, Shard
from theodolite.errors import InputError
from theodolite.instrument import Observation, Pass
from theodolite.running.plan import Plan
from theodolite.running.tally import Tally

if TYPE_CHECKING:
    from theodolite.encoder.batch import Batch
    from theodolite.encoder.encoder import Encoder
    from theodolite.encoder.tokens import Tokens
    from theodolite.store import RunFolder

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Task:
    """A shard of a corpus in one step of a run; ``number`` counts shards over all corpora."""

    number: int
    corpus: Corpus
    shard: Shard


@dataclass(frozen=True)
class Ready:
    """A shard prepared: what earlier runs have of it, and the rest of its texts tokenised."""

    task: Task
    known: list[Observation | None]
    tally: Tally | None
    distinct: tuple[Ints, Tokens] | None
    repeated: tuple[Ints, Tokens] | None


class ShardWork:
    """Shows a shard's texts to the passes of one step; what they saw goes to the run's folder."""

    def __init__(self, step: int, passes: Sequence[Pass], encoder: Encoder, folder: RunFolder, plan: Plan) -> None:
        self._step, self._passes, self._encoder, self._folder = step, passes, encoder, folder
        self.plan = plan
        needs = [p.needs for p in passes]
        self._model = any(n.model for n in needs)
        self._layers = sorted({layer for n in needs for layer in n.layers(encoder.layers)})
        self._columns = sorted({c for n in needs for c in n.columns})
        self._repeats = any(not n.distinct for n in needs)
        self._separate = all(n.separate for n in needs)
        self._values: dict[str, Mapping[str, NDArray[Any]]] = {}
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="save")
        self._written: Future[None] | None = None

    def close(self) -> None:
        """Wait until everything seen is saved."""
        self._writer.shutdown()
        if self._written is not None:
            self._written.result()

    def prepare(self, task: Task) -> Ready:
        """Look for what is known already; tokenise where anything is missing."""
        state = self._folder.partial(self._step, task.number)
        known = [self._known(i, p, task, state) for i, p in enumerate(self._passes)]
        tally = Tally().restore(_under("tally", state)) if state is not None else None
        if tally is not None and all(k is not None for k in known):
            return Ready(task, known, tally, None, None)
        corpus, shard = task.corpus, task.shard
        rows = np.arange(shard.start, shard.stop)
        kept = rows[~corpus.empty[rows]]
        texts, texts_b = corpus.texts(shard.start, shard.stop), corpus.texts_b(shard.start, shard.stop)
        at = (kept - shard.start).tolist()
        first_texts, second_texts = [texts[i] for i in at], None if texts_b is None else [texts_b[i] for i in at]
        tokens = self._encoder.tokenise(first_texts, second_texts)
        windows = self._encoder.window_counts(tokens)
        if self._separate and second_texts is not None:
            windows = self._windows_apart(windows, (first_texts, second_texts))
        full = tokens.lengths > 0
        repeated = corpus.duplicate[kept]
        first, again = np.flatnonzero(full & ~repeated), np.flatnonzero(full & repeated)
        tally = Tally()
        tally.count(corpus.empty[rows], repeated, full, tokens, windows)
        return Ready(
            task,
            known,
            tally,
            (kept[first], tokens.take(first)),
            (kept[again], tokens.take(again)) if self._repeats else None,
        )

    def _windows_apart(self, windows: Ints, sides: tuple[list[str], list[str]]) -> Ints:
        """(n,) the windows of pairs whose texts are encoded each alone: of the text that has more of them."""
        # Whoever needs one window together needs no more alone.
        long = np.flatnonzero(windows > 1)
        if len(long):
            alone = (self._encoder.tokenise([texts[i] for i in long.tolist()]) for texts in sides)
            windows[long] = np.maximum(*(self._encoder.window_counts(tokens) for tokens in alone))
        return windows

    def work(self, ready: Ready) -> tuple[list[Observation], Tally]:
        """Encode and observe, halving the budget where memory runs out; save what was seen."""
        assert ready.tally is not None
        if ready.distinct is None:
            return [k for k in ready.known if k is not None], ready.tally
        while True:
            try:
                seen = self._observe(ready)
                break
            except (RuntimeError, MemoryError) as fault:
                if not _out_of_memory(fault) or self.plan.budget(ready.task.number) <= 1:
                    raise
                self.plan = self.plan.with_halved(ready.task.number)
                self._folder.save_plan(self.plan.as_json(), replace=True)
        self._save(ready, seen)
        return seen, ready.tally

    def _observe(self, ready: Ready) -> list[Observation]:
        corpus = ready.task.corpus
        seen = [p.start(corpus) if k is None else k for k, p in zip(ready.known, self._passes, strict=True)]
        asking = [(p, s) for p, s, k in zip(self._passes, seen, ready.known, strict=True) if k is None]
        assert ready.distinct is not None
        self._show(ready.task, *ready.distinct, asking)
        if ready.repeated is not None:
            self._show(ready.task, *ready.repeated, [(p, s) for p, s in asking if not p.needs.distinct])
        return seen

    def _show(self, task: Task, rows: Ints, tokens: Tokens, asking: list[tuple[Pass, Observation]]) -> None:
        """One going-over for all passes but those that ask for salience maps, which have one each."""
        looking = [seen for asked, seen in asking if asked.needs.maps is None]
        if looking:
            for batch in self._batches(task, rows, tokens):
                for observation in looking:
                    observation.update(batch)
        for asked, observation in asking:
            if asked.needs.maps is not None:
                for batch in self._maps(asked, task, rows, tokens):
                    observation.update(batch)

    def _maps(self, asked: Pass, task: Task, rows: Ints, tokens: Tokens) -> Iterator[Batch]:
        from theodolite.encoder.classifier import Classifier

        assert isinstance(self._encoder, Classifier)
        assert asked.needs.maps is not None
        targets = asked.targets(task.corpus)
        return self._encoder.map_batches(
            tokens,
            asked.needs.maps,
            targets=None if targets is None else targets[rows],
            budget=self.plan.budget(task.number),
            corpus=task.corpus.name,
            rows=rows,
        )

    def _batches(self, task: Task, rows: Ints, tokens: Tokens) -> Any:
        columns = self._column_values(task.corpus)
        budget = self.plan.budget(task.number)
        if self._model:
            found = self._encoder.batches(tokens, self._layers, budget=budget, corpus=task.corpus.name, rows=rows)
        else:
            found = self._encoder.text_batch(tokens, corpus=task.corpus.name, rows=rows)
        for batch in found:
            yield _with_columns(batch, columns)

    def _column_values(self, corpus: Corpus) -> Mapping[str, NDArray[Any]]:
        if corpus.name not in self._values:
            self._values[corpus.name] = {name: _numbers(corpus, name) for name in self._columns}
        return self._values[corpus.name]

    def _known(self, number: int, asked: Pass, task: Task, state: State | None) -> Observation | None:
        recalled = asked.recall(task.shard)
        if recalled is not None:
            return recalled
        mine = _under(f"pass{number}", state) if state is not None else {}
        return asked.start(task.corpus).restore(mine) if mine else None

    def _save(self, ready: Ready, seen: list[Observation]) -> None:
        assert ready.tally is not None
        state = {f"tally/{k}": v for k, v in ready.tally.state().items()}
        for number, (asked, observation) in enumerate(zip(self._passes, seen, strict=True)):
            if not asked.keep(ready.task.shard, observation):
                state |= {f"pass{number}/{k}": v for k, v in observation.state().items()}
        # Written while the next shard is worked on; one at a time, and a failure is told at the next.
        if self._written is not None:
            self._written.result()
        self._written = self._writer.submit(self._folder.save_partial, self._step, ready.task.number, state)


def _with_columns(batch: Batch, columns: Mapping[str, NDArray[Any]]) -> Batch:
    if not columns:
        return batch
    return replace(batch, columns={name: values[batch.rows] for name, values in columns.items()})


def _numbers(corpus: Corpus, name: str) -> NDArray[np.float64]:
    """A column of the corpus as finite numbers that are not negative: weights."""
    column = corpus.column(name)
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise InputError(f"{corpus.name}: column '{name}' holds {column.type}, and a weight must be a number")
    values: NDArray[np.float64] = column.to_numpy().astype(np.float64)  # a missing one becomes NaN
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(bad):
        raise InputError(f"{corpus.name}: column '{name}', row {bad[0] + 1}: a weight must be a number, 0 or more")
    return values


def _under(name: str, state: State) -> State:
    return {k.removeprefix(f"{name}/"): v for k, v in state.items() if k.startswith(f"{name}/")}


def _out_of_memory(fault: BaseException) -> bool:
    if isinstance(fault, MemoryError) or type(fault).__name__ == "OutOfMemoryError":
        return True
    said = str(fault).lower()
    return "out of memory" in said or "can't allocate memory" in said
