"""Files in object storage, or wherever else fsspec reaches: 's3://…', 'gs://…', 'memory://…'."""

from __future__ import annotations

import io
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

import fsspec
import pyarrow as pa
from fsspec.implementations.local import LocalFileSystem

from theodolite.errors import StoreError
from theodolite.store.files import Files, Fill, Found, temporary_name
from theodolite.store.local import LocalFiles

# What the file systems call the time a file was written, in the order to be preferred.
_TIMES = ("mtime", "LastModified", "last_modified", "updated", "created")


class RemoteFiles(Files):
    """The files below an fsspec path."""

    def __init__(self, system: Any, root: str, url: str) -> None:
        self._system = system
        self._root = root.rstrip("/")
        self.root = url.rstrip("/")

    def place(self, path: str) -> str:
        """The full URL."""
        return f"{self.root}/{path}"

    def read(self, path: str) -> tuple[pa.Buffer, Hashable] | None:
        """The whole content, fetched; no stamp."""
        try:
            with _reached(self.place(path)):
                return pa.py_buffer(self._system.cat_file(self._at(path))), None
        except FileNotFoundError:
            return None

    def head(self, path: str, length: int) -> pa.Buffer | None:
        """The first `length` bytes, fetched."""
        try:
            with _reached(self.place(path)):
                return pa.py_buffer(self._system.cat_file(self._at(path), start=0, end=length))
        except FileNotFoundError:
            return None

    def exists(self, path: str) -> bool:
        """Is there a file? Asked, and not looked up in a remembered listing: other processes write too."""
        with _reached(self.place(path)):
            self._system.invalidate_cache()
            return bool(self._system.isfile(self._at(path)))

    def walk(self, folder: str) -> list[Found]:
        """All files below the folder, sorted by path."""
        try:
            with _reached(self.place(folder)):
                self._system.invalidate_cache()
                found = sorted(self._system.find(self._at(folder), detail=True).items())
        except FileNotFoundError:
            return []
        skip = len(self._root) + 1
        return [Found(name[skip:], int(info["size"] or 0), _time(info)) for name, info in found]

    def remove(self, path: str) -> None:
        """Remove the file; object storage has no folders to tidy."""
        with suppress(FileNotFoundError), _reached(self.place(path)):
            self._system.rm_file(self._at(path))

    def _write(self, path: str, fill: Fill) -> None:
        # Apart from the upload: what is at fault here is not the storage.
        content = io.BytesIO()
        fill(content)
        self._make_folder(path)
        temporary = temporary_name(self._at(path))
        try:
            with _reached(self.place(path)):
                with self._system.open(temporary, "wb") as file:
                    file.write(content.getbuffer())
                self._system.mv(temporary, self._at(path))
        except BaseException:
            # Whatever a storage that has gone raises here, the first fault is the one to tell.
            with suppress(Exception):
                self._system.rm_file(temporary)
            raise

    def _create(self, path: str, content: bytes) -> bool:
        self._make_folder(path)
        try:
            with _reached(self.place(path)):
                self._system.invalidate_cache()
                # S3 and Google decide between two at once; where fsspec cannot ask for that, it looks first.
                self._system.pipe_file(self._at(path), content, mode="create")
        except FileExistsError:
            return False
        return True

    def _make_folder(self, path: str) -> None:
        with _reached(self.place(path)):
            self._system.makedirs(self._at(path).rpartition("/")[0], exist_ok=True)

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}"


def open_files(root: str) -> Files:
    """The files below a folder, or below a URL that fsspec knows.

    >>> type(open_files("memory://x")).__name__, type(open_files("/tmp/x")).__name__
    ('RemoteFiles', 'LocalFiles')
    """
    if "://" not in root:
        return LocalFiles(root)
    try:
        with _reached(root):  # Some, such as FTP, connect at once.
            system, path = fsspec.url_to_fs(root)
    except FileNotFoundError as fault:
        raise StoreError(f"store {root}: {_line(fault)}") from fault
    # The system's own files are mapped and linked, whichever way they are named.
    return LocalFiles(path) if isinstance(system, LocalFileSystem) else RemoteFiles(system, path, root)


@contextmanager
def _reached(place: str) -> Iterator[None]:
    """Within it, whatever keeps a storage from answering is the user's to mend; that a file is not there is an answer.

    Each storage has classes of its own for a host that is down, missing credentials or a refusal.
    """
    try:
        yield
    except (FileNotFoundError, FileExistsError, MemoryError, StoreError):
        raise
    except (ValueError, ImportError) as fault:
        raise StoreError(f"store {place}: {_line(fault)}") from fault
    except Exception as fault:
        raise StoreError(f"store {place}: cannot be reached ({type(fault).__name__}: {_line(fault)})") from fault


def _line(fault: Exception) -> str:
    return (str(fault).strip().splitlines() or [type(fault).__name__])[0]


def _time(info: dict[str, Any]) -> datetime:
    value = next((info[name] for name in _TIMES if info.get(name) is not None), 0.0)
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    return datetime.fromtimestamp(float(value), UTC)
