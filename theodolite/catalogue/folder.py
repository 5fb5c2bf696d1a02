"""The folder of a catalogue: whole or not there, known again by its key."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from theodolite.errors import InputError
from theodolite.reading import read_json, write_json

MANIFEST = "catalogue.json"
ITEMS = "items.arrow"
VECTORS = "vectors.npy"
RANDOM_PAIRS = "random_pairs.npy"
_WORK = ".building"


def finished(out: Path, key: str) -> bool:
    """Whether the catalogue with this key is here already; refuses a folder that holds anything else."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: a file; give a folder for the catalogue")
    if (out / MANIFEST).exists():
        if read_json(out / MANIFEST).get("key") != key:
            raise InputError(
                f"{out}: holds another catalogue (other items, model, pooling or seed); give another folder"
            )
        return True
    # Files of a catalogue without its manifest: the last step of building it was interrupted.
    ours = {_WORK, ITEMS, VECTORS, RANDOM_PAIRS, f".{MANIFEST}.tmp"}
    if out.exists() and any(path.name not in ours for path in out.iterdir()):
        raise InputError(f"{out}: not empty; give a new folder for the catalogue")
    return False


def begin(out: Path) -> Path:
    """An empty folder to write the files in."""
    work = out / _WORK
    try:
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
    except OSError as fault:
        raise InputError(f"{out}: cannot be written to ({fault.strerror}); give another folder") from None
    return work


def finish(out: Path, manifest: Mapping[str, Any]) -> None:
    """Put the files in their place, and last the manifest, which makes them a catalogue."""
    for path in (out / _WORK).iterdir():
        os.replace(path, out / path.name)
    (out / _WORK).rmdir()
    write_json(out / MANIFEST, manifest)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a finished catalogue."""
    if not (folder / MANIFEST).exists():
        begun = (folder / _WORK).exists()
        why = "its building is not finished: run the same `catalogue build` again" if begun else f"it has no {MANIFEST}"
        raise InputError(f"{folder}: not a catalogue: {why}")
    return read_json(folder / MANIFEST)
