"""Runs that are killed, interrupted, short of memory, shared, grown or damaged come out the same."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
import torch

from theodolite import Contextuality, Corpus, RunOptions, Store, run
from theodolite.embed import Embed, KeepEmbeddings
from theodolite.engine import LocalEngine
from theodolite.instrument import Instrument, Needs, Observation, Pass, Passes, Subject
from theodolite.options import option
from theodolite.reading import Reading
from theodolite.running import plan as planning

SHARD = 64
ROWS = 3000
KILLS = 20

# Imports once, then forks a child for each command: a restart costs no import of torch, and still is a process
# of its own with the command line's own entry. Nothing may use torch's threads before the fork.
NURSERY = """
import json, os, sys
from functools import partial
from transformers.models.bert import modeling_bert
from transformers import AutoModel, AutoTokenizer
import theodolite.encoder.encoder
from theodolite.cli import jobs
from theodolite.cli.main import main
from theodolite.running import RunOptions
jobs.RunOptions = partial(RunOptions, shard_size=int(sys.argv[1]))
for line in sys.stdin:
    arguments, out, err = json.loads(line)
    child = os.fork()
    if child == 0:
        for number, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        main(arguments)
    sys.stdout.write(f"{child}\\n")
    sys.stdout.flush()
    sys.stdout.write(f"{os.waitpid(child, 0)[1]}\\n")
    sys.stdout.flush()
"""


class Nursery:
    """Starts commands with shards of 64 rows, one at a time."""

    def __init__(self, folder: Path) -> None:
        self.out, self.err = folder / "out", folder / "err"
        self._process = subprocess.Popen(
            [sys.executable, "-c", NURSERY, str(SHARD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},  # Threads that wait for each other spin where cores are few.
            preexec_fn=_hear_interrupts,  # noqa: PLW1509
        )

    def start(self, *arguments: str) -> int:
        self._process.stdin.write(json.dumps([list(arguments), str(self.out), str(self.err)]) + "\n")
        self._process.stdin.flush()
        child = int(self._process.stdout.readline())
        assert child > 1, "a signal to 0 or -1 would go to everybody"
        return child

    def ended(self) -> int:
        """The exit code of the command, or minus the signal that ended it."""
        return os.waitstatus_to_exitcode(int(self._process.stdout.readline()))

    def run(self, *arguments: str) -> str:
        self.start(*arguments)
        assert self.ended() == 0, self.err.read_text()
        return self.out.read_text()

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()


def _hear_interrupts() -> None:
    # A shell's background job ignores SIGINT, and what it starts would too.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    found = Nursery(tmp_path_factory.mktemp("nursery"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def questions(shared: Path) -> Path:
    return shared / "data" / "corpora" / "questions.txt.gz"


@pytest.fixture(scope="module")
def model(shared: Path) -> str:
    return str(shared / "models" / "xtremedistil-l6-h256")


def wait_for(seen: Callable[[], bool], process: int | None = None) -> None:
    ends = time.monotonic() + 120
    while not seen():
        assert time.monotonic() < ends, "nothing came"
        if process is not None:
            os.kill(process, 0)
        time.sleep(0.002)


def arrays(store: Path) -> dict[str, Path]:
    return {p.name: p for p in store.glob("arrays/*/*.arrow")}


def partials(store: Path) -> dict[str, Path]:
    return {p.name: p for p in store.glob("runs/*/*.npz")}


def times(files: dict[str, Path]) -> dict[str, int]:
    return {name: path.stat().st_mtime_ns for name, path in files.items()}


def plan_of(store: Path) -> dict[str, Any]:
    [path] = store.glob("runs/*/plan.json")
    return json.loads(path.read_text())


# Killed and interrupted


def test_an_embedding_run_killed_twenty_times_gives_the_same_bytes(nursery, model, questions, tmp_path) -> None:
    command = ("embed", model, "--corpus", f"q={questions}", "--limit", str(ROWS), "--json", "--store")
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    nursery.run(*command, str(whole))
    shards = -(-ROWS // SHARD)
    assert len(arrays(whole)) == shards

    moments = random.Random(7)
    done: dict[str, int] = {}
    progress = []
    for reached in sorted(moments.randrange(shards - 7) for _ in range(KILLS)):
        child = nursery.start(*command, str(broken))
        wait_for(lambda at=reached: len(arrays(broken)) >= at, child)
        time.sleep(moments.uniform(0, 0.05 if reached else 1.0))
        os.kill(child, signal.SIGKILL)
        assert nursery.ended() == -signal.SIGKILL, "it was over before it was killed"
        now = times(arrays(broken))
        assert {name: now[name] for name in done} == done, "a shard that was done is done again"
        done = now
        progress.append(len(done))
    assert len(set(progress)) > KILLS / 2, "the kills came at too few different moments"
    assert progress[-1] < shards
    nursery.run(*command, str(broken))

    now = times(arrays(broken))
    assert {name: now[name] for name in done} == done
    assert plan_of(broken) == plan_of(whole)
    assert {n: p.read_bytes() for n, p in arrays(broken).items()} == {
        n: p.read_bytes() for n, p in arrays(whole).items()
    }
    found = []
    for place in (whole, broken):
        [entry] = Store(place).entries()
        Store(place).export(entry.key, place / "vectors.npy")
        found.append(np.load(place / "vectors.npy"))
    assert found[0].shape == (ROWS, 256)
    assert found[0].tobytes() == found[1].tobytes()


def test_a_contextuality_run_killed_in_both_passes_reads_the_same(nursery, model, questions, tmp_path) -> None:
    command = ("contextuality", model, "--corpus", f"q={questions}", "--limit", "640", "--json", "--store")
    whole = json.loads(nursery.run(*command, str(tmp_path / "whole")))
    broken = tmp_path / "broken"
    moments = random.Random(3)
    for reached in (0, 2, 6, 11, 14, 18):
        child = nursery.start(*command, str(broken))
        wait_for(lambda at=reached: len(partials(broken)) >= at, child)
        time.sleep(moments.uniform(0, 0.02 if reached else 0.5))
        before = times(partials(broken))
        os.kill(child, signal.SIGKILL)
        assert nursery.ended() == -signal.SIGKILL
        assert times(partials(broken)).items() >= before.items()
    assert {name[0] for name in partials(broken)} == {"0", "1"}, "both passes were under way"
    again = json.loads(nursery.run(*command, str(broken)))
    assert whole["manifest"].pop("made")
    assert again["manifest"].pop("made")
    assert again == whole
    assert partials(broken) == {}


def test_salience_maps_killed_on_the_way_give_the_same_bytes(nursery, classifier, sst2, tmp_path) -> None:
    """Every tenth text is ten of them, and is read in windows."""
    texts = sst2.texts()
    rows = [" ".join(texts[i : i + 10]) if i % 10 == 0 else text for i, text in enumerate(texts)]
    labels = sst2.column("label").to_pylist()
    path = tmp_path / "sst2.tsv"
    path.write_text("text\tlabel\n" + "".join(f"{t}\t{v}\n" for t, v in zip(rows, labels, strict=True)))
    options = ("--max-length", "64", "--clusters", "2", "--faithful", "0", "--map", "none", "--json")
    command = ("salience", str(classifier.folder.path), "--corpus", f"{path}?label=label", *options, "--store")
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    expected = json.loads(nursery.run(*command, str(whole)))
    assert len(arrays(whole)) == 5
    for reached in (0, 1, 3):
        child = nursery.start(*command, str(broken))
        wait_for(lambda at=reached: len(arrays(broken)) >= at, child)
        time.sleep(0.1)
        done = times(arrays(broken))
        os.kill(child, signal.SIGKILL)
        assert nursery.ended() == -signal.SIGKILL
        assert times(arrays(broken)).items() >= done.items()
    found = json.loads(nursery.run(*command, str(broken)))
    assert {n: p.read_bytes() for n, p in arrays(broken).items()} == {
        n: p.read_bytes() for n, p in arrays(whole).items()
    }
    assert expected["manifest"].pop("made")
    assert found["manifest"].pop("made")
    assert found == expected


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_says_so_and_goes_on(nursery, model, questions, tmp_path, number) -> None:
    rows = 1000
    command = ("embed", model, "--corpus", f"q={questions}", "--limit", str(rows), "--store", str(tmp_path))
    child = nursery.start(*command)
    wait_for(lambda: len(arrays(tmp_path)) >= 2, child)
    os.kill(child, number)
    assert nursery.ended() == 130
    assert nursery.out.read_text() == ""
    assert nursery.err.read_text() == "theodolite: interrupted; the same command goes on from here\n"
    done = times(arrays(tmp_path))
    assert 2 <= len(done) < rows // SHARD
    nursery.run(*command)
    now = times(arrays(tmp_path))
    assert {name: now[name] for name in done} == done
    assert len(now) == -(-rows // SHARD)


def test_the_installed_command_is_interrupted_in_the_same_way(model, questions, tmp_path) -> None:
    """The real thing, imports and all, with shards of the usual size."""
    command = [sys.executable, "-m", "theodolite", "embed", model, "--corpus", f"q={questions}", "--limit", "6000"]
    child = subprocess.Popen(
        [*command, "--store", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_hear_interrupts,  # noqa: PLW1509
    )
    wait_for(lambda: len(arrays(tmp_path)) >= 1, child.pid)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate()
    assert (child.returncode, out) == (130, "")
    assert err == "theodolite: interrupted; the same command goes on from here\n"
    assert 1 <= len(arrays(tmp_path)) < 6


# In this process: what goes through the model is counted


class Forward:
    """Notes every row of ids that goes through a model, and may fail instead."""

    def __init__(self, encoder: Any, fault: Callable[[torch.Tensor], None] | None = None) -> None:
        self._plain = encoder._hidden
        self._fault = fault
        self.rows: list[tuple[int, ...]] = []
        self.largest = 0

    def __call__(self, padded: Any, wanted: tuple[int, ...]) -> Any:
        if self._fault is not None:
            self._fault(padded.ids)
        self.largest = max(self.largest, padded.ids.numel())
        for ids, mask in zip(padded.ids.tolist(), padded.mask.tolist(), strict=True):
            self.rows.append(tuple(i for i, m in zip(ids, mask, strict=True) if m))
        return self._plain(padded, wanted)


@pytest.fixture
def forward(xtremedistil, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Forward]:
    plain = xtremedistil._hidden

    def watch(fault: Callable[[torch.Tensor], None] | None = None) -> Forward:
        monkeypatch.setattr(xtremedistil, "_hidden", plain)
        found = Forward(xtremedistil, fault)
        monkeypatch.setattr(xtremedistil, "_hidden", found)
        return found

    return watch


@pytest.fixture(scope="module")
def texts(questions: Path) -> list[str]:
    found = Corpus.read(questions, limit=400).texts()
    return list(dict.fromkeys(found))[:300]


class Seen(Observation):
    """Which rows a pass was shown, and the length of their embeddings."""

    def __init__(self, asked: tuple[int, str] | None) -> None:
        self._asked = asked
        self.rows = np.empty(0, np.int64)
        self.total = 0.0

    def update(self, batch: Any) -> None:
        self.rows = np.append(self.rows, batch.rows)
        if self._asked:
            self.total += float(np.linalg.norm(batch.pooled(*self._asked), axis=1).astype(np.float64).sum())

    def merge(self, other: Seen) -> None:
        self.rows = np.append(self.rows, other.rows)
        self.total += other.total

    def result(self) -> tuple[list[int], float]:
        return sorted(self.rows.tolist()), self.total


class Look(Pass):
    def __init__(self, needs: Needs) -> None:
        self.needs = needs

    def start(self, corpus: Corpus) -> Seen:
        return Seen(self.needs.pooled[0] if self.needs.pooled else None)


@dataclass(frozen=True)
class Rows(Instrument):
    """Lists the rows it is shown."""

    name: ClassVar[str] = "rows"
    question: ClassVar[str] = "Which rows?"
    reading: ClassVar[type[Reading]] = Reading

    model: bool = option(True, "Look at embeddings.")
    distinct: bool = option(True, "Repeated texts count once.")

    def passes(self, subject: Subject) -> Passes:
        pooled = ((-1, "mean"),) if self.model else ()
        found = yield Look(Needs(pooled=pooled, distinct=self.distinct))
        rows = [{"corpus": name, "rows": seen, "total": total} for name, (seen, total) in found.items()]
        return Reading({"rows": pa.Table.from_pylist(rows)}, [])

    @staticmethod
    def of(reading: Reading) -> list[list[int]]:
        return reading.tables["rows"].column("rows").to_pylist()


def vectors_of(store: Store, corpus: Corpus) -> np.ndarray:
    [entry] = [e for e in store.entries() if e.kind == "embedding"]
    store.export(entry.key, Path(store.root) / "out.npy", corpus=corpus.hash)
    return np.load(Path(store.root) / "out.npy")


def test_a_survey_goes_over_the_texts_once(xtremedistil, texts, forward, tmp_path) -> None:
    from theodolite import Survey

    corpora = [
        Corpus.of([*texts[:150], "", *texts[:20]], name="first"),
        Corpus.of([*texts[100:300], texts[100]], name="second"),
    ]
    instruments = [Contextuality(), Rows(), Rows(model=False)]
    watched = forward()
    survey = Survey.run(
        xtremedistil, corpora, instruments=instruments, store=Store(tmp_path), options=RunOptions(shard_size=50)
    )
    # A text in both corpora is measured in both; within one, once, though three instruments look.
    whole = Counter(ids_of(xtremedistil, texts[:150]) + ids_of(xtremedistil, texts[100:300]))
    assert Counter(watched.rows) == whole
    assert list(survey.readings) == ["contextuality", "rows", "rows-2"], "none takes the place of another"
    assert survey.manifest["readings"] == list(survey.readings)

    # And each saw all of it, the same as alone.
    [alone] = run([Contextuality()], xtremedistil, corpora, store=Store(tmp_path), options=RunOptions(shard_size=50))
    assert survey.readings["contextuality"].tables["layers"].equals(alone.tables["layers"])
    for name in ("rows", "rows-2"):
        assert Rows.of(survey.readings[name]) == [list(range(150)), list(range(200))]


def ids_of(encoder, texts: list[str]) -> list[tuple[int, ...]]:
    tokens, template = encoder.tokenise(texts), encoder.tokenizer.single
    assert max(tokens.lengths) < encoder.limit - 2
    bounds = tokens.bounds
    return [
        (*template.before, *tokens.ids[bounds[i] : bounds[i + 1]].tolist(), *template.after) for i in range(len(texts))
    ]


def test_repeated_and_empty_texts(xtremedistil, texts, forward, tmp_path) -> None:
    a, b, c = texts[:3]
    corpus = Corpus.of([a, " ", b, a, "\x7f\u200b", "", b, a, c], name="odd")
    assert xtremedistil.tokenise(["\x7f\u200b"]).lengths.tolist() == [0]
    instruments = [Rows(distinct=True), Rows(distinct=False), Rows(model=False), Rows(model=False, distinct=False)]
    watched = forward()
    readings = run(instruments, xtremedistil, [corpus], store=Store(tmp_path), options=RunOptions(shard_size=4))
    once, all_rows = [0, 2, 8], [0, 2, 3, 6, 7, 8]
    assert [Rows.of(r) for r in readings] == [[once], [all_rows], [once], [all_rows]]
    assert Counter(watched.rows) == Counter(ids_of(xtremedistil, [a, b, a, b, a, c]))
    expected = {"texts": 9, "empty": 2, "duplicate": 3, "without_tokens": 1, "windowed": 0}
    [tally] = readings[0].manifest["corpora"]
    assert {k: tally[k] for k in expected} == expected
    assert tally["tokens"] == int(xtremedistil.tokenise([a, b, a, b, a, c]).lengths.sum())

    watched = forward()
    run([Rows()], xtremedistil, [corpus], store=Store(tmp_path / "b"))
    assert Counter(watched.rows) == Counter(ids_of(xtremedistil, [a, b, c])), "nobody asked for the repeats"


# Memory

FAULTS = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError(
        "[enforce fail at alloc_cpu.cpp:117] . DefaultCPUAllocator: can't allocate memory: you tried to "
        "allocate 2147483648 bytes. Error code 12 (Cannot allocate memory)"
    ),
    MemoryError(),
]


def over(size: int, fault: BaseException) -> Callable[[torch.Tensor], None]:
    def check(ids: torch.Tensor) -> None:
        if ids.numel() > size:
            raise fault

    return check


@pytest.mark.parametrize("fault", FAULTS, ids=["torch", "allocator", "python"])
def test_out_of_memory_starts_the_shard_again_with_half(xtremedistil, texts, forward, tmp_path, fault) -> None:
    # Two shards of short texts fit into 120 tokens; from the third on they do not.
    short = [t for t in texts if len(t) < 40][:16]
    corpus = Corpus.of([*short, *(t for t in texts if t not in short)], name="q")
    options = RunOptions(shard_size=8, token_budget=512)
    instruments = [Embed(), Rows(distinct=False)]
    plain = Store(tmp_path / "plain")
    before = run(instruments, xtremedistil, [corpus], store=plain, options=options)
    assert before[0].manifest["plan"]["halved"] == {}

    watched = forward(over(120, fault))
    scarce = Store(tmp_path / "scarce")
    after = run(instruments, xtremedistil, [corpus], store=scarce, options=options)
    plan = after[0].manifest["plan"]
    assert plan["token_budget"] == 512
    assert plan["halved"] == {"2": 64}, "from 512 by halves, until it fits; then for good"
    assert plan_of(tmp_path / "scarce") == plan
    assert watched.largest <= 120
    assert np.abs(vectors_of(scarce, corpus) - vectors_of(plain, corpus)).max() < 1e-5
    assert after[1].tables["rows"].column("rows").equals(before[1].tables["rows"].column("rows"))
    [a], [b] = (r[1].tables["rows"].column("total").to_pylist() for r in (before, after))
    assert a == pytest.approx(b, rel=1e-6)


def test_a_run_that_halved_its_budget_and_was_interrupted_goes_on_with_it(
    xtremedistil, texts, forward, tmp_path
) -> None:
    corpus, options = Corpus.of(texts[:64], name="q"), RunOptions(shard_size=8, token_budget=512)
    forward(over(100, FAULTS[0]))
    whole = Store(tmp_path / "whole")
    run([Embed()], xtremedistil, [corpus], store=whole, options=options)

    broken = Store(tmp_path / "broken")
    stop_at = ids_of(xtremedistil, texts[40:41])[0]

    def scarce_then_interrupted(ids: torch.Tensor) -> None:
        over(100, FAULTS[0])(ids)
        if any(row[: len(stop_at)] == list(stop_at) for row in ids.tolist()):
            raise KeyboardInterrupt

    forward(scarce_then_interrupted)
    with pytest.raises(KeyboardInterrupt):
        run([Embed()], xtremedistil, [corpus], store=broken, options=options)
    assert 0 < len(arrays(tmp_path / "broken")) < 8
    watched = forward()
    run([Embed()], xtremedistil, [corpus], store=broken, options=options)
    assert watched.largest <= 100, "memory is not short now, but the plan stands"
    assert plan_of(tmp_path / "broken") == plan_of(tmp_path / "whole")
    assert vectors_of(broken, corpus).tobytes() == vectors_of(whole, corpus).tobytes()


def test_other_errors_and_a_text_that_never_fits_are_raised(xtremedistil, texts, forward, tmp_path) -> None:
    corpus = Corpus.of(texts[:4])
    forward(over(0, RuntimeError("the size of tensor a must match")))
    with pytest.raises(RuntimeError, match="size of tensor a"):
        run([Embed()], xtremedistil, [corpus], store=Store(tmp_path / "a"))
    assert plan_of(tmp_path / "a")["halved"] == {}
    forward(over(0, FAULTS[0]))
    with pytest.raises(torch.OutOfMemoryError):
        run([Embed()], xtremedistil, [corpus], store=Store(tmp_path / "b"))
    assert plan_of(tmp_path / "b")["halved"] == {"0": 1}


# The plan


def rates(monkeypatch: pytest.MonkeyPatch, rate: Callable[[int], float]) -> list[int]:
    """Let ``rate`` stand in for the stop-watch; the budgets it was asked about."""
    asked: list[int] = []

    def measured(encoder: Any, tokens: Any, layers: Any, budget: int) -> float:
        asked.append(budget)
        return rate(budget)

    monkeypatch.setattr(planning, "_rate", measured)
    return asked


def test_the_plan_is_stored_before_the_first_shard(xtremedistil, texts, forward, tmp_path) -> None:
    found: list[dict[str, Any]] = []
    forward(lambda ids: found.append(plan_of(tmp_path)))
    options = RunOptions(shard_size=32, token_budget=77)
    [reading] = run([Embed()], xtremedistil, [Corpus.of(texts[:64])], store=Store(tmp_path), options=options)
    assert found[0] == {"shard_size": 32, "token_budget": 77, "compiled": False, "halved": {}}
    assert reading.manifest["plan"] == found[0]


def test_short_runs_are_not_tuned(xtremedistil, texts, monkeypatch, tmp_path) -> None:
    asked = rates(monkeypatch, float)
    [reading] = run([Rows()], xtremedistil, [Corpus.of(texts[:50])], store=Store(tmp_path))
    assert asked == []
    assert reading.manifest["plan"]["token_budget"] == planning.DEFAULT_BUDGET

    tokens = int(xtremedistil.tokenise(texts[:50]).lengths.sum())
    for threshold, tuned in ((tokens + 1, False), (tokens - 1, True)):
        asked.clear()
        monkeypatch.setattr(planning, "TUNE_FROM_TOKENS", threshold)
        [reading] = run([Rows()], xtremedistil, [Corpus.of(texts[:50])], store=Store(tmp_path / str(threshold)))
        assert asked == (list(planning.CANDIDATE_BUDGETS) if tuned else [])
    assert reading.manifest["plan"]["token_budget"] == 4096, "the one with the highest rate"


def test_a_stored_plan_stands_though_tuning_would_now_choose_another(
    xtremedistil, texts, forward, monkeypatch, tmp_path
) -> None:
    monkeypatch.setattr(planning, "TUNE_FROM_TOKENS", 0)
    corpus, options = Corpus.of(texts[:96]), RunOptions(shard_size=32)
    rates(monkeypatch, lambda budget: 1e6 - abs(budget - 2048))
    stop_at = ids_of(xtremedistil, texts[70:71])[0]

    def stop(ids: torch.Tensor) -> None:
        if any(row[: len(stop_at)] == list(stop_at) for row in ids.tolist()):
            raise KeyboardInterrupt

    forward(stop)
    with pytest.raises(KeyboardInterrupt):
        run([Embed()], xtremedistil, [corpus], store=Store(tmp_path), options=options)
    assert plan_of(tmp_path)["token_budget"] == 2048
    asked = rates(monkeypatch, lambda budget: 1e6 - budget)
    watched = forward()
    [reading] = run([Embed()], xtremedistil, [corpus], store=Store(tmp_path), options=options)
    assert asked == []
    assert reading.manifest["plan"]["token_budget"] == 2048
    assert Counter(watched.rows) == Counter(ids_of(xtremedistil, texts[64:96])), "two shards were done"


@pytest.fixture
def compiling(xtremedistil, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """A stand-in for torch.compile that only counts."""
    state: dict[str, Any] = {"can": True, "tried": 0, "calls": 0}

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        state["calls"] += 1
        return xtremedistil.model(*args, **kwargs)

    def compiled() -> bool:
        state["tried"] += 1
        if state["can"]:
            xtremedistil._forward = wrapped
        return state["can"]

    monkeypatch.setattr(xtremedistil, "compiled", compiled)
    monkeypatch.setattr(planning, "TUNE_FROM_TOKENS", 0)
    yield state
    xtremedistil.uncompiled()


def test_compiling_is_for_long_runs_where_it_is_faster(xtremedistil, texts, compiling, monkeypatch, tmp_path) -> None:
    def plan(name: str, gain: float) -> dict[str, Any]:
        compiling.update(tried=0, calls=0)
        faster = lambda budget: 100.0 * (gain if xtremedistil._forward is not xtremedistil.model else 1)  # noqa: E731
        rates(monkeypatch, faster)
        [reading] = run([Rows()], xtremedistil, [Corpus.of(texts[:20])], store=Store(tmp_path / name))
        return reading.manifest["plan"]

    assert plan("short", gain=2.0)["compiled"] is False
    assert compiling["tried"] == 0
    monkeypatch.setattr(planning, "COMPILE_FROM_SECONDS", 0.001)
    assert plan("no gain", gain=1.01)["compiled"] is False
    assert compiling["tried"] == 1
    assert compiling["calls"] == 0, "what was tried and found no faster is put away"
    assert plan("faster", gain=1.5)["compiled"] is True
    assert compiling["calls"] > 0
    compiling["can"] = False
    assert plan("cannot", gain=1.5)["compiled"] is False

    # A finished long run leaves the encoder compiled; a short one after it is plain, as its plan says.
    compiling["can"] = True
    assert plan("faster again", gain=1.5)["compiled"] is True
    monkeypatch.setattr(planning, "COMPILE_FROM_SECONDS", 1e9)
    assert plan("short again", gain=1.5)["compiled"] is False
    assert compiling["calls"] == 0


def test_a_compiled_plan_is_taken_up_compiled(xtremedistil, texts, compiling, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(planning, "COMPILE_FROM_SECONDS", 0.0)
    rates(monkeypatch, lambda budget: 100.0 if xtremedistil._forward is xtremedistil.model else 200.0)
    corpus = Corpus.of(texts[:20])
    run([Rows()], xtremedistil, [corpus], store=Store(tmp_path))
    xtremedistil.uncompiled()
    compiling.update(calls=0)
    [again] = run([Rows()], xtremedistil, [corpus], store=Store(tmp_path))
    assert again.manifest["plan"]["compiled"] is True
    assert compiling["calls"] > 0


# Order, growth, damage


class Backwards(LocalEngine):
    """Works through the shards from the last to the first; gives them back in their order, as an engine must."""

    def map(self, tasks: Any, worker: Any) -> Any:
        done = {task.number: worker.work(worker.prepare(task)) for task in reversed(tasks)}
        yield from ((task, done[task.number]) for task in tasks)


def test_the_order_of_work_does_not_change_a_bit(xtremedistil, texts, tmp_path) -> None:
    corpora = [Corpus.of(texts[:130], name="a"), Corpus.of(texts[130:], name="b")]
    options = RunOptions(shard_size=32)
    found = []
    for name, engine in (("forwards", LocalEngine()), ("backwards", Backwards())):
        found.append(
            run(
                [Contextuality(), Rows()],
                xtremedistil,
                corpora,
                store=Store(tmp_path / name),
                options=options,
                engine=engine,
            )
        )
    for one, other in zip(*found, strict=True):
        assert one.tables.keys() == other.tables.keys()
        for name, table in one.tables.items():
            assert table.equals(other.tables[name]), name


def test_a_corpus_that_grew_is_embedded_only_where_it_grew(xtremedistil, texts, forward, tmp_path) -> None:
    store, options = Store(tmp_path), RunOptions(shard_size=32)
    run([Embed()], xtremedistil, [Corpus.of(texts[:64])], store=store, options=options)
    watched = forward()
    grown = Corpus.of(texts[:80], name="grown")
    [reading] = run([Embed()], xtremedistil, [grown], store=store, options=options)
    assert Counter(watched.rows) == Counter(ids_of(xtremedistil, texts[64:80]))
    assert reading.to_json()["embeddings"][0]["rows"] == 80
    assert reading.manifest["corpora"][0]["texts"] == 80, "what was not encoded again is counted all the same"
    forward()
    np.testing.assert_allclose(vectors_of(store, grown), xtremedistil.embed(texts[:80]), atol=1e-5)


@pytest.mark.parametrize("damage", ["cut", "flipped", "emptied"])
def test_a_damaged_file_is_made_again(xtremedistil, texts, forward, tmp_path, damage: str) -> None:
    store, options, corpus = Store(tmp_path), RunOptions(shard_size=32), Corpus.of(texts[:96])
    run([Embed()], xtremedistil, [corpus], store=store, options=options)
    whole = {name: path.read_bytes() for name, path in arrays(tmp_path).items()}
    path = arrays(tmp_path)[f"{corpus.shards(32)[1].hash}.arrow"]
    body = bytearray(path.read_bytes())
    middle = len(body) // 2
    body[middle] ^= 1
    path.write_bytes({"cut": body[:middle], "flipped": body, "emptied": b""}[damage])
    watched = forward()
    run([Embed()], xtremedistil, [corpus], store=Store(tmp_path), options=options)
    assert Counter(watched.rows) == Counter(ids_of(xtremedistil, texts[32:64]))
    assert {name: path.read_bytes() for name, path in arrays(tmp_path).items()} == whole


def test_a_shard_without_a_text_has_vectors_of_the_right_width(xtremedistil, texts, tmp_path) -> None:
    store, corpus = Store(tmp_path), Corpus.of([*[""] * 4, *texts[:6]])
    [reading] = run([Embed()], xtremedistil, [corpus], store=store, options=RunOptions(shard_size=4))
    assert reading.to_json()["embeddings"][0]["rows"] == 6
    assert reading.to_json()["embeddings"][0]["dim"] == 256
    np.testing.assert_allclose(vectors_of(store, corpus), xtremedistil.embed(texts[:6]), atol=1e-5)
    last = Corpus.of([*texts[:6], *[" "] * 4], name="last")
    [reading] = run([Embed()], xtremedistil, [last], store=store, options=RunOptions(shard_size=4))
    assert reading.to_json()["embeddings"][0]["dim"] == 256


def test_embeddings_of_distinct_texts_do_not_leak_into_a_corpus_where_they_come_first(
    xtremedistil, texts, tmp_path
) -> None:
    """The second shard repeats the first: its vectors are none here, and all of them where it stands alone."""

    @dataclass(frozen=True)
    class Distinct(Rows):
        def passes(self, subject: Subject) -> Passes:
            found = yield KeepEmbeddings(subject, distinct=True)
            [embeddings] = found.values()
            return Reading({"rows": pa.table({"rows": [embeddings.array()[0].tolist()]})}, [])

    store, options = Store(tmp_path), RunOptions(shard_size=4)
    first, other = texts[:4], [texts[0], texts[9], texts[2], texts[8]]
    for corpus, expected in ((Corpus.of([*first, *other]), [0, 1, 2, 3, 5, 7]), (Corpus.of(other), [0, 1, 2, 3])):
        [reading] = run([Distinct()], xtremedistil, [corpus], store=store, options=options)
        assert Rows.of(reading) == [expected]


@pytest.mark.parametrize("layer", [-2, -7, 0, 3])
def test_any_layer_can_be_embedded(xtremedistil, texts, tmp_path, layer: int) -> None:
    store, corpus = Store(tmp_path), Corpus.of(texts[:6])
    run([Embed(layer=layer, pooling="mean")], xtremedistil, [corpus], store=store)
    states = xtremedistil.hidden_states(texts[:6], layers=[layer])
    expected = np.stack([s[0].mean(axis=0) for s in states])
    np.testing.assert_allclose(vectors_of(store, corpus), expected, atol=1e-5)


# Partial results stay until what they were made for is saved


def test_finished_runs_keep_their_partials_until_all_is_saved(xtremedistil, texts, forward, tmp_path) -> None:
    store, corpus = Store(tmp_path), Corpus.of(texts[:40])

    def interrupted() -> None:
        with store.until_saved():
            run([Rows()], xtremedistil, [corpus], store=store)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert partials(tmp_path)
    watched = forward()
    with store.until_saved():
        run([Rows()], xtremedistil, [corpus], store=store)
        assert partials(tmp_path)
    assert watched.rows == [], "the first run's work was lost"
    assert partials(tmp_path) == {}
    # Who calls it by itself has nothing left over either.
    run([Rows()], xtremedistil, [corpus], store=store)
    assert partials(tmp_path) == {}


def test_a_command_interrupted_while_it_saves_goes_on(command, model, texts, monkeypatch, tmp_path) -> None:
    (tmp_path / "t.txt").write_text("\n".join(texts[:40]) + "\n")
    asked = ("contextuality", model, "--corpus", tmp_path / "t.txt", "--store", tmp_path / "store")

    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Reading, "save_figures", stopped)
        code, _, err = command(*asked, "--out", tmp_path / "out")
    assert code == 130, err
    done = times(partials(tmp_path / "store"))
    assert {name[0] for name in done} == {"0", "1"}, "both passes"
    monkeypatch.setattr("theodolite.store.runs.RunFolder.clear_partials", lambda _: None)
    code, _, err = command(*asked, "--out", tmp_path / "out")
    assert code == 0, err
    assert times(partials(tmp_path / "store")) == done, "nothing was measured again"


# People's own vectors


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """The command line in this process: exit code, standard output, standard error."""
    from theodolite.cli.main import main

    monkeypatch.setattr(signal, "signal", lambda *_: None)

    def call(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(a) for a in arguments])
        return (left.value.code, *capfd.readouterr())

    return call


def test_own_vectors_go_in_and_come_back(command, texts, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(planning, "TUNE_FROM_TOKENS", 0)  # There is nothing to tune, however many they are.
    monkeypatch.setattr(planning, "COMPILE_FROM_SECONDS", 0.0)
    (tmp_path / "t.txt").write_text("\n".join(texts) + "\n")
    vectors = {n: np.random.default_rng(i).normal(size=(len(texts), 5)).astype("f4") for i, n in enumerate("ab")}
    for name, array in vectors.items():
        np.save(tmp_path / f"{name}.npy", array)
    corpora = [a for n in "ab" for a in ("--corpus", f"{n}={tmp_path / 't.txt'}?vectors={n}.npy")]
    store = ("--store", tmp_path / "store")
    code, out, _ = command("embed", "vectors", *corpora, *store, "--json")
    assert code == 0
    found = json.loads(out)
    assert [(e["rows"], e["dim"]) for e in found["embeddings"]] == [(len(texts), 5)] * 2
    key = found["embeddings"][0]["key"]
    for name, array in vectors.items():
        code, *_ = command("store", "export", key, "--corpus", name, "--out", tmp_path / "out.npy", *store)
        assert code == 0
        assert np.array_equal(np.load(tmp_path / "out.npy"), array), "the same texts, but each its own vectors"

    code, out, err = command("contextuality", "vectors", *corpora, *store)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "only vectors: give a model" in err
    code, out, err = command("embed", "vectors", "--corpus", f"{tmp_path / 't.txt'}", *store)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "this corpus brings none" in err
