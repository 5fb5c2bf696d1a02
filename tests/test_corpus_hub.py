"""Hugging Face data sets, in folders and out of reach."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from test_corpus_helpers import LABELS, TEXTS, fault, write

from theodolite.corpus import Corpus


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_hf_folders(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hf")
    plain = tmp_path / "plain"
    plain.mkdir()
    write(plain / "train.jsonl", TEXTS, LABELS)
    corpus = Corpus.read(f"hf://{plain}?text=text&label=label", cache=cache)
    assert corpus.texts() == TEXTS
    assert corpus.name == "plain"
    assert corpus.hash == Corpus.of(TEXTS, labels=LABELS).hash
    assert Corpus.read(f"hf://{plain}", cache=cache, limit=3).texts() == TEXTS[:3]
    monkeypatch.chdir(tmp_path)
    assert Corpus.parse("mine=hf://./plain", cache=cache).texts() == TEXTS
    assert "Available splits: ['train']" in fault("hf://./plain?split=test", tmp_path / "c2")
    assert "no column 'x' (it has: 'text', 'label')" in fault("hf://./plain?label=x", tmp_path / "c2")
    assert "no such folder" in fault("hf://./nothing", tmp_path / "c2")
    saved = datasets.Dataset.from_dict({"sentence": TEXTS, "label": LABELS})
    datasets.DatasetDict({"train": saved, "dev": saved.select(range(3))}).save_to_disk(tmp_path / "saved")
    assert Corpus.read("hf://./saved?split=dev", cache=cache).texts() == TEXTS[:3]
    assert "no split 'x' (it has: train, dev)" in fault("hf://./saved?split=x", tmp_path / "c2")


def test_hub_faults_are_said_at_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("datasets")
    import huggingface_hub
    from huggingface_hub.errors import HFValidationError

    def unreachable(self: object, name: str, **options: object) -> None:
        raise ConnectionError("[Errno -2] Name or service not known")

    def unknown(self: object, name: str, **options: object) -> None:
        raise HFValidationError(name)

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", unreachable)
    start = time.monotonic()
    assert "hub cannot be reached ([Errno -2]" in fault("hf://glue/sst2?text=sentence", cache)
    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", unknown)
    assert "no such data set" in fault("hf://glue/sst2?text=sentence", cache)
    assert time.monotonic() - start < 10
    monkeypatch.setitem(sys.modules, "datasets", None)
    assert "pip install datasets" in fault("hf://glue/sst2", cache)
    assert "no data set named" in fault("hf://", cache)
