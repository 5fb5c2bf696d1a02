"""What the tests share: the real models, the shared data, a store of their own."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pytest

if "PYTEST_XDIST_WORKER" in os.environ:
    # Two workers with two threads each would spend their time waiting for one another.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

SHARED = Path(__file__).resolve().parents[2] / "shared"

# Files that take minutes each, however few their tests: begun first, so that none of them is left for one worker alone
# at the end. Those in browser share what two workers make, half each.
LONG = (
    *("browser", "test_salience.py", "test_similarity.py", "test_running.py", "test_salience_small.py"),
    *("test_isotropy_training.py", "test_contextuality.py", "test_train_simcse.py", "test_illusion.py"),
    *("test_encoder_families.py", "test_train_recobert.py", "test_train.py", "test_projection.py", "test_survey.py"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long files first, in the order above."""

    def place(item: pytest.Item) -> int:
        names = item.path.parts
        return next((i for i, name in enumerate(LONG) if name in names), len(LONG))

    items.sort(key=place)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Under CI everything a test could want is there: one that skips has failed."""
    report = yield
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
    return report


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data sets and models; absent outside the project's own machines."""
    if not SHARED.exists():
        if os.environ.get("CI"):
            pytest.fail("../shared must be there under CI")
        pytest.skip("needs ../shared, the folder of real data sets and models")
    return SHARED


@pytest.fixture(scope="session", autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Nothing of the tests goes into the user's own store."""
    os.environ["THEODOLITE_HOME"] = str(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def minilm():
    from theodolite import Encoder

    return Encoder.load("all-MiniLM-L6-v2")


@pytest.fixture(scope="session")
def xtremedistil(shared: Path):
    from theodolite import Encoder

    return Encoder.load(shared / "models" / "xtremedistil-l6-h256")


@pytest.fixture(scope="session")
def sst2(shared: Path):
    """300 labelled texts of SST-2 that the classifier was not trained on."""
    from theodolite import Corpus

    return _sst2(shared, Corpus, 1000, 1300)


@pytest.fixture(scope="session")
def classifier(shared: Path, tmp_path_factory: pytest.TempPathFactory):
    """The default model fine-tuned on 600 texts of SST-2: small, but a real classifier."""
    from theodolite import Corpus, Encoder
    from theodolite.train.classifier import Training, train_classifier

    out = tmp_path_factory.mktemp("classifier") / "sst2"
    training = Training(epochs=1, learning_rate=3e-4, batch_size=16, evaluations=1)
    train_classifier("all-MiniLM-L6-v2", _sst2(shared, Corpus, 0, 600), out, training)
    return Encoder.load(out)


@pytest.fixture(scope="session")
def killed():
    """Runs a script, which trains ``argv[1]`` into ``argv[2]``, and kills it as soon as it has a checkpoint.

    Gives the state that the newest whole checkpoint holds.
    """
    return _killed


def _killed(script: str, model: str, out: Path) -> dict:
    import torch

    root = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    # Sums come out the same with the same number of threads only.
    environment["OMP_NUM_THREADS"] = str(torch.get_num_threads())
    running = subprocess.Popen([sys.executable, "-c", script, model, str(out)], env=environment)
    deadline = time.monotonic() + 100
    while _last_state(out) is None and time.monotonic() < deadline and running.poll() is None:
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL, "it was over before it was killed"
    assert not (out / "training.json").exists()
    state = _last_state(out)
    assert state is not None, "it had no checkpoint when it was killed"
    return state


@pytest.fixture(scope="session")
def same_training():
    """Asserts that two folders hold the same weights to the bit and the same scores, times aside; gives the scores."""
    return _same_training


def _same_training(one: Path, other: Path) -> dict:
    import torch
    from safetensors.torch import load_file

    expected, found = (load_file(folder / "model.safetensors") for folder in (one, other))
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)
    records = [json.loads((folder / "training.json").read_text())["scores"] for folder in (one, other)]
    for record in records:
        del record["seconds"]
        for row in record["history"]:
            del row["seconds"]
    assert records[0] == records[1]
    return records[0]


def _last_state(out: Path) -> dict | None:
    states = []
    for path in (out / ".training").glob("checkpoint-*/trainer_state.json"):
        try:
            states.append(json.loads(path.read_text()))
        except (OSError, ValueError):
            continue
    return max(states, key=lambda state: state["global_step"], default=None)


def _sst2(shared: Path, corpus, start: int, stop: int):
    with gzip.open(shared / "data" / "sst2" / "train.tsv.gz", "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").rsplit("\t", 1) for line in islice(file, start + 1, stop + 1)]
    return corpus.of([text for text, _ in lines], "sst2", labels=[int(label) for _, label in lines])
