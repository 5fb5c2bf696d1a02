"""What a run leaves behind, so that an interrupted one goes on from there and comes out the same."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from theodolite.errors import StoreError
from theodolite.store.files import Files, Found, safe_name, to_json

_PARTIAL = re.compile(r"\d+-\d+\.npz")
_NAMES = "names.npy"
_ATTEMPTS = 20


class RunFolder:
    """The plan of a run and the partial result of each shard that is done.

    >>> from theodolite.store import Store
    >>> run = Store("memory://doc-run").run("0123abcd")
    >>> run.save_plan({"budget": 4096})
    {'budget': 4096}
    >>> run.save_plan({"budget": 9})  # The first one stays in force.
    {'budget': 4096}
    >>> run.save_partial(0, 3, {"sum": np.array([1.5, 2.5])})
    >>> run.partial(0, 3)
    {'sum': array([1.5, 2.5])}
    >>> run.partial(0, 4) is None
    True
    """

    def __init__(self, files: Files, key: str) -> None:
        self._files = files
        self._folder = f"runs/{safe_name(key)}"
        self._plan = f"{self._folder}/plan.json"

    def plan(self) -> dict[str, Any] | None:
        """The plan in force, or None. A damaged one is removed, and with it the partials made under it."""
        found = self._files.read_json(self._plan)
        if found is None and self._files.exists(self._plan):
            # Read again: the file may have come after the first look. A second failure is damage.
            found = self._files.read_json(self._plan)
            if found is None:
                # Partials of a plan nobody knows must not be folded with those of the next.
                self.clear_partials()
                self._files.remove(self._plan)
        return found

    def save_plan(self, plan: dict[str, Any], *, replace: bool = False) -> dict[str, Any]:
        """Put a plan in force, unless there is one; the plan that is in force, as JSON gives it back.

        Of two processes that start at once the first one wins, and both get its plan. With `replace` the
        plan in force is overwritten; partials made under it are the caller's to clear.
        """
        content = to_json(plan)
        if replace:
            self._files.write_json(self._plan, plan)
            return dict(json.loads(content))
        for _ in range(_ATTEMPTS):
            self._files.create(self._plan, content)
            in_force = self.plan()
            if in_force is not None:  # None: it was damaged, or removed right after; try again.
                return in_force
        raise StoreError(f"{self._files.place(self._plan)}: cannot be kept; choose another store")

    def partial(self, step: int, shard: int) -> dict[str, NDArray[Any]] | None:
        """The partial result of a shard in a step, or None. A damaged one is removed, to be made again."""
        path = self._partial(step, shard)
        found = self._files.read(path)
        if found is None:
            return None
        try:
            return _read_state(found[0])
        except MemoryError:
            raise
        # The bytes are at hand, so whatever else the zip and NumPy readers say of them, they are damaged.
        except Exception:
            self._files.remove(path)
            return None

    def save_partial(self, step: int, shard: int, state: Mapping[str, NDArray[Any]]) -> None:
        """Keep the partial result of a shard: arrays of numbers, bool or str, of any shape, by name."""
        self._files.write(self._partial(step, shard), lambda file: _write_state(state, file))

    def clear_partials(self) -> None:
        """Remove the partials, and what killed writers left; the plan stays."""
        for file in self._files.walk(self._folder):
            if is_run_file(file) and file.path != self._plan and not file.at_work:
                self._files.remove(file.path)

    def _partial(self, step: int, shard: int) -> str:
        return f"{self._folder}/{int(step)}-{int(shard)}.npz"


def is_run_file(file: Found) -> bool:
    """Is the file one that a RunFolder wrote? There may be other people's below a root."""
    folder, _, name = file.path.rpartition("/")
    own = name == "plan.json" or file.temporary or _PARTIAL.fullmatch(name) is not None
    return own and folder.startswith("runs/") and folder.count("/") == 1


def _write_state(state: Mapping[str, NDArray[Any]], file: IO[bytes]) -> None:
    """An .npz of members 0.npy, 1.npy, … and the list of their names.

    Not np.savez: there a name is a keyword and a file's name, and 'file', 'a/b' or '' go wrong.
    """
    names = np.frombuffer(json.dumps(list(state)).encode(), np.uint8)
    members = {_NAMES: names, **{f"{i}.npy": np.asarray(array) for i, array in enumerate(state.values())}}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in members.items():
            with archive.open(name, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _read_state(buffer: pa.Buffer) -> dict[str, NDArray[Any]]:
    """Arrays by name; an exception of some kind if the bytes are not those that were written."""
    with zipfile.ZipFile(pa.BufferReader(buffer)) as archive:

        def member(name: str) -> NDArray[Any]:
            # Read whole, so that the archive's checksum of it is compared.
            content = io.BytesIO(archive.read(name))
            array: NDArray[Any] = np.lib.format.read_array(content, allow_pickle=False)
            if content.read(1):
                raise ValueError("more bytes than the array has")
            return array

        names = json.loads(member(_NAMES).tobytes())
        if len(archive.namelist()) != len(names) + 1:
            raise ValueError("arrays are missing")
        return {name: member(f"{i}.npy") for i, name in enumerate(names)}
