"""The files under a root, on this machine or in object storage: each is whole or absent.

Many processes may write at once without a lock. A file is written under a temporary name of its own, with
the process's number and a random part, and renamed: readers see the old file, the new one, or none.
Paths are relative to the root, with forward slashes.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import IO, Any, TypeVar
from urllib.parse import quote

import pyarrow as pa

from theodolite.errors import StoreError

Fill = Callable[[IO[bytes]], None]
_T = TypeVar("_T")
_TEMPORARY = re.compile(r"\..+\.(\d+)-[0-9a-f]{8}\.tmp")
_SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_ATTEMPTS = 20
# File systems take 255 bytes; an ending, and a number where two names are the same, must fit in too.
_LONGEST_NAME = 200
_ABANDONED = timedelta(hours=1)


@dataclass(frozen=True)
class Found:
    """A file's path below the root, its size, and when it was last written (UTC)."""

    path: str
    bytes: int
    modified: datetime

    @property
    def temporary(self) -> bool:
        """Is it the unfinished file of a writer, at work or killed?"""
        return self._writer is not None

    @property
    def at_work(self) -> bool:
        """Is somebody still writing it, as far as one can tell? Then it is to be let alone.

        No, if the process is gone or the file has not grown for an hour (the number may be another's by now).
        The process of another machine seems gone: should its file be removed, it writes it again.
        """
        recent = datetime.now(UTC) - self.modified < _ABANDONED
        return self._writer is not None and recent and _alive(int(self._writer))

    @property
    def _writer(self) -> str | None:
        match = _TEMPORARY.fullmatch(self.path.rpartition("/")[2])
        return match[1] if match else None


class Files(ABC):
    """A tree of files."""

    @abstractmethod
    def place(self, path: str) -> str:
        """The full address, for messages."""

    @abstractmethod
    def read(self, path: str) -> tuple[pa.Buffer, Hashable] | None:
        """The content and a stamp that changes with the file (None where that costs); None if absent."""

    @abstractmethod
    def head(self, path: str, length: int) -> pa.Buffer | None:
        """At least the first `length` bytes, or all if there are fewer; None if absent."""

    @abstractmethod
    def exists(self, path: str) -> bool:
        """Is there a file?"""

    @abstractmethod
    def walk(self, folder: str) -> list[Found]:
        """All files below the folder, sorted by path, temporary ones among them."""

    @abstractmethod
    def remove(self, path: str) -> None:
        """Remove the file, and the folders this leaves empty; no matter if it is gone already."""

    @abstractmethod
    def _write(self, path: str, fill: Fill) -> None:
        """One attempt at `write`."""

    @abstractmethod
    def _create(self, path: str, content: bytes) -> bool:
        """One attempt at `create`."""

    def write(self, path: str, fill: Fill) -> None:
        """Let `fill` write a file under a temporary name, then put it in the place of what was there.

        `fill` may be called again if somebody removed the folder meanwhile.
        """
        self._attempt(path, lambda: self._write(path, fill))

    def create(self, path: str, content: bytes) -> bool:
        """Make a file that is not there yet; False if it is. Of many at once, one gets True."""
        return self._attempt(path, lambda: self._create(path, content))

    def read_json(self, path: str) -> dict[str, Any] | None:
        """The JSON object in a small file; None if absent or damaged."""
        found = self.read(path)
        try:
            value = json.loads(found[0].to_pybytes()) if found else None
        except ValueError:
            return None
        return value if isinstance(value, dict) else None

    def write_json(self, path: str, value: dict[str, Any]) -> None:
        """Write a small JSON object."""
        self.write(path, fill_with(to_json(value)))

    def _attempt(self, path: str, action: Callable[[], _T]) -> _T:
        reason: OSError | None = None
        for _ in range(_ATTEMPTS):
            try:
                return action()
            except (FileNotFoundError, FileExistsError) as error:
                # A `remove` elsewhere took the folder, while or after it was made, or the temporary file.
                reason = error
            except OSError as error:
                reason = error
                break
        why = (reason and reason.strerror) or str(reason) or type(reason).__name__
        raise StoreError(f"{self.place(path)}: cannot be written ({why}); make room or choose another folder")


def _alive(process: int) -> bool:
    if os.name != "posix":
        return True  # Elsewhere signal 0 is no question but an order.
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # Another user's.
    return True


def to_json(value: dict[str, Any]) -> bytes:
    """The object as JSON that people can read too."""
    return json.dumps(value, indent=1).encode()


def fill_with(content: bytes) -> Fill:
    """A `Fill` that writes these bytes."""

    def fill(file: IO[bytes]) -> None:
        file.write(content)

    return fill


def temporary_name(path: str) -> str:
    """A name in the same folder that no other writer has and no reader looks at.

    >>> temporary_name("runs/ab/plan.json")  # doctest: +SKIP
    'runs/ab/.plan.json.4711-9f86d081.tmp'
    """
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")


def safe_name(name: str) -> str:
    """The name itself if it may be a file's; ValueError if it could lead out of its folder."""
    if not _SAFE.fullmatch(name):
        raise ValueError(f"a key is made of letters, digits, '_', '.' and '-', not {name!r}")
    return name


def is_file_name(name: str) -> bool:
    """Whether a name stays in its folder."""
    return name not in ("", ".", "..") and not set(name) & {"/", "\\", "\0"}


def file_names(names: Iterable[str]) -> list[str]:
    """Names as files can have them on every system, without an ending; no two the same, whatever the case.

    >>> file_names(["word-and/or", "word-café", "Curves", "curves"])
    ['word-and%2For', 'word-café', 'Curves', 'curves-2']
    """
    found: list[str] = []
    taken: set[str] = set()
    for name in names:
        letters = unicodedata.normalize("NFC", name)
        safe = "".join(c if c.isalnum() or c in "-_. " else quote(c, safe="") for c in letters)
        safe = safe.encode()[:_LONGEST_NAME].decode(errors="ignore")
        if safe.startswith("."):
            safe = f"%2E{safe[1:]}"
        free, number = safe, 1
        while free.casefold() in taken:
            number += 1
            free = f"{safe}-{number}"
        taken.add(free.casefold())
        found.append(free)
    return found
