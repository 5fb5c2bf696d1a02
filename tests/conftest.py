"""What the tests share: the real models, the shared data, a store of their own."""

from __future__ import annotations

import gzip
import os
from itertools import islice
from pathlib import Path

import pytest

if "PYTEST_XDIST_WORKER" in os.environ:
    # Two workers with two threads each would spend their time waiting for one another.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

SHARED = Path(__file__).resolve().parents[2] / "shared"


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


def _sst2(shared: Path, corpus, start: int, stop: int):
    with gzip.open(shared / "data" / "sst2" / "train.tsv.gz", "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").rsplit("\t", 1) for line in islice(file, start + 1, stop + 1)]
    return corpus.of([text for text, _ in lines], "sst2", labels=[int(label) for _, label in lines])
