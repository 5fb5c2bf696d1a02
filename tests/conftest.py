"""What the tests share: the real models, the shared data, a store of their own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


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
