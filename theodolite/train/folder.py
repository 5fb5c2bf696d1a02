"""The folder that a training writes: one training a folder, known again by its key, whole or not there.

And what goes before: whether training is possible here at all.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theodolite.errors import InputError
from theodolite.reading import plain

if TYPE_CHECKING:
    from theodolite.corpus import Corpus
    from theodolite.encoder.resolve import ModelFolder

WORK = ".training"
RECORD = "training.json"
STATE_FILE = "trainer_state.json"
_PLAN = "plan.json"
# Bytes free of a disk that something did not fit on.
FULL = 2**20


@contextmanager
def ready_to_train(out: Path) -> Iterator[None]:
    """Within it transformers' Trainer works and is quiet; refused where a package that it needs is not there.

    A disk that is full where ``out`` is to be is told in one line, however the libraries say it.
    """
    if find_spec("accelerate") is None:
        raise InputError("training needs the package accelerate, which is not installed: pip install accelerate")

    from theodolite.train.quiet import quiet

    try:
        with quiet():
            yield
    except InputError:
        raise
    except Exception as fault:
        if not _is_full(out):
            raise
        raise InputError(f"{out}: the disk is full; make room, and the same command goes on") from fault


def _is_full(out: Path) -> bool:
    there = next(place for place in (out, *out.absolute().parents) if place.exists())
    return shutil.disk_usage(there).free < FULL


def key_of(parts: Mapping[str, Any]) -> str:
    """One training's name: the hash of all that makes the trained weights what they are."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def training_key(kind: str, folder: ModelFolder, corpus: Corpus, training: Any, max_length: int | None) -> str:
    """The name of a training on one corpus, by its kind and its options (a dataclass)."""
    return key_of(
        {
            "training": kind,
            "model": [folder.hash, folder.tokenizer_hash],
            "corpus": corpus.hash,
            "options": dataclasses.asdict(training),
            "max_length": max_length,
        }
    )


def origin(key: str, folder: ModelFolder, corpus: Corpus, validation: Corpus | None = None) -> dict[str, Any]:
    """What every record begins with: which training it is, from what, and with which versions."""
    mine, held = (
        None if texts is None else {"name": texts.name, "source": texts.source, "hash": texts.hash}
        for texts in (corpus, validation)
    )
    return {
        "key": key,
        "model": {"name": folder.name, "hash": folder.hash, "tokenizer_hash": folder.tokenizer_hash},
        "corpus": mine,
        "validation": held,
        "versions": {name: version(name) for name in ("theodolite", "torch", "transformers")},
    }


def finished_record(out: Path, key: str) -> dict[str, Any] | None:
    """The record of a training that ended here, if it is this one; refuses a folder that holds anything else."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: a file; give a folder for the trained model")
    if (out / RECORD).exists():
        record = _read(out / RECORD)
        if record.get("key") != key:
            raise InputError(f"{out}: holds another training (other texts, model or options); give another folder")
        shutil.rmtree(out / WORK, ignore_errors=True)
        return record
    if (out / WORK / _PLAN).exists():
        if _read(out / WORK / _PLAN).get("key") != key:
            raise InputError(
                f"{out}: another training was begun here (other texts, model or options); go on with that one, or give "
                "another folder"
            )
    elif out.exists() and any(path.name != WORK for path in out.iterdir()):
        raise InputError(f"{out}: not empty; give a new folder for the trained model")
    return None


def record_of(out: Path) -> dict[str, Any]:
    """The record of the training that ended here."""
    return _read(out / RECORD)


def begin(out: Path, key: str) -> Path:
    """The folder for checkpoints, marked as this training's."""
    work = out / WORK
    work.mkdir(parents=True, exist_ok=True)
    write_whole(work / _PLAN, json.dumps({"key": key}))
    return work


def last_whole_checkpoint(folder: Path) -> Path | None:
    """The newest checkpoint that was written to its end; what is newer and broken is removed."""
    found = sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]), reverse=True)
    for path in found:
        try:
            # The Trainer writes this file last.
            json.loads((path / STATE_FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            shutil.rmtree(path)
            continue
        return path
    return None


def finish(
    out: Path, model: Any, tokenizer: Any, card: str, record: Mapping[str, Any], more: Mapping[str, Any] | None = None
) -> None:
    """Put the model, its tokenizer and the card into the folder, then the record, then clear the checkpoints away.

    A number that is none, such as the loss of a late evaluation, is null in the record. more: what other files of the
    folder hold, by their path in it: bytes, or what is written as JSON.
    """
    # Before anything is in its place: what cannot be written must not leave half a model behind.
    written = json.dumps(plain(record), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    made = out / WORK / "finished"
    shutil.rmtree(made, ignore_errors=True)
    model.save_pretrained(made)
    tokenizer.save_pretrained(made)
    (made / "README.md").write_text(card, encoding="utf-8")
    for name, content in (more or {}).items():
        (made / name).parent.mkdir(exist_ok=True)
        whole = content if isinstance(content, bytes) else (json.dumps(content, indent=2) + "\n").encode()
        (made / name).write_bytes(whole)
    for path in [found for found in made.rglob("*") if found.is_file()]:
        place = out / path.relative_to(made)
        place.parent.mkdir(exist_ok=True)
        os.replace(path, place)
    write_whole(out / RECORD, written)
    shutil.rmtree(out / WORK)


def write_whole(path: Path, text: str) -> None:
    """Write under a temporary name and rename."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError(f"{path}: cannot be read; remove the folder, or give another") from None
    return found if isinstance(found, dict) else {}


def pooling_files(dim: int, max_length: int, pooling: str) -> dict[str, Any]:
    """The files by which sentence-transformers, and ``pooling='own'``, know how the texts were pooled."""
    kinds = (("", "Transformer"), ("1_Pooling", "Pooling"))
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate(kinds)
    ]
    modes = {f"pooling_mode_{mode}": mode.startswith(pooling) for mode in ("cls_token", "mean_tokens")}
    return {
        "modules.json": modules,
        "1_Pooling/config.json": {"word_embedding_dimension": dim, **modes},
        "sentence_bert_config.json": {"max_seq_length": max_length, "do_lower_case": False},
    }
