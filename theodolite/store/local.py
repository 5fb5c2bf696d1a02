"""Files on this machine: memory-mapped when read, renamed into place when written."""

from __future__ import annotations

import mmap
import os
from collections.abc import Hashable
from contextlib import suppress
from datetime import UTC, datetime

import pyarrow as pa

from theodolite.errors import StoreError
from theodolite.store.files import Files, Fill, Found, fill_with, temporary_name


class LocalFiles(Files):
    """The files below a folder, which is made when the first is written."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        # Absolute, so that a change of the working folder, or a worker with another, does not matter.
        self.root = os.path.abspath(os.path.expanduser(root))

    def place(self, path: str) -> str:
        """The full path."""
        return os.path.join(self.root, path)

    def read(self, path: str) -> tuple[pa.Buffer, Hashable] | None:
        """The file's memory map, and its time, size and inode."""
        try:
            with open(self.place(path), "rb") as file:
                # Of the open file and not of the path, which may be another file by now.
                status = os.fstat(file.fileno())
                # A map of nothing is an error of the system's.
                content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if status.st_size else b""
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StoreError(f"{self.place(path)}: cannot be read ({error.strerror})") from error
        return pa.py_buffer(content), (status.st_mtime_ns, status.st_size, status.st_ino)

    def head(self, path: str, length: int) -> pa.Buffer | None:
        """The map of the whole file: only the pages that are looked at are read."""
        found = self.read(path)
        return found[0] if found else None

    def exists(self, path: str) -> bool:
        """Is there a file?"""
        return os.path.isfile(self.place(path))

    def walk(self, folder: str) -> list[Found]:
        """All files below the folder, sorted by path."""
        found = []
        for parent, _, names in os.walk(self.place(folder), onerror=_unless_gone):
            for name in names:
                path = os.path.join(parent, name)
                try:
                    status = os.stat(path, follow_symlinks=False)
                except OSError as fault:
                    _unless_gone(fault)
                    continue
                relative = os.path.relpath(path, self.root).replace(os.sep, "/")
                modified = datetime.fromtimestamp(status.st_mtime, UTC)
                found.append(Found(relative, status.st_size, modified))
        return sorted(found, key=lambda file: file.path)

    def remove(self, path: str) -> None:
        """Remove the file, and the folders this leaves empty."""
        place = self.place(path)
        try:
            os.unlink(place)
        except FileNotFoundError:
            pass
        except OSError as fault:
            raise StoreError(f"{place}: cannot be removed ({fault.strerror}); whose is the store?") from None
        parent = os.path.dirname(place)
        with suppress(OSError):  # Not empty: done.
            while parent != self.root:
                os.rmdir(parent)
                parent = os.path.dirname(parent)

    def _write(self, path: str, fill: Fill) -> None:
        temporary = self._filled(path, fill)
        try:
            os.replace(temporary, self.place(path))
        except BaseException:
            _unlink(temporary)
            raise

    def _create(self, path: str, content: bytes) -> bool:
        temporary = self._filled(path, fill_with(content))
        try:
            # A link, unlike a rename, fails if the name is taken; and the content is there before the name.
            os.link(temporary, self.place(path))
            return True
        except FileExistsError:
            return False
        except FileNotFoundError:
            raise
        except OSError:
            # A file system without links (exFAT, some network shares): the first one wins but for a tiny gap.
            if os.path.exists(self.place(path)):
                return False
            os.replace(temporary, self.place(path))
            return True
        finally:
            _unlink(temporary)

    def _filled(self, path: str, fill: Fill) -> str:
        place = self.place(path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        temporary = temporary_name(place)
        try:
            with open(temporary, "xb") as file:
                fill(file)
        except BaseException:
            _unlink(temporary)
            raise
        return temporary


def _unless_gone(fault: OSError) -> None:
    """Tell that something cannot be read, but for what is not there: other processes rename and remove."""
    if not isinstance(fault, (FileNotFoundError, NotADirectoryError)):
        raise StoreError(f"{fault.filename}: cannot be read ({fault.strerror}); choose another --store") from fault


def _unlink(place: str) -> None:
    with suppress(OSError):
        os.unlink(place)
