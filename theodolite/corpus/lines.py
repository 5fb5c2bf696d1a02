"""Files read line by line: unzipped, decoded, every fault named with its line."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from typing import TypeVar

from theodolite.corpus import sizes
from theodolite.corpus.source import Source
from theodolite.errors import InputError

_T = TypeVar("_T")


class Lines:
    """A file's lines, decoded, with their line ends; knows the number of the line and the bytes so far."""

    def __init__(self, source: Source) -> None:
        self.path, self.gzipped = source.path, source.gzipped
        self.number = self.bytes = 0

    def place(self, number: int) -> str:
        """A line in words, for an error."""
        return f"{self.path}: line {number}"

    def __iter__(self) -> Iterator[str]:
        with open_bytes(self.path, self.gzipped) as file:
            raws = iter(file)
            while (raw := reading(self.path, lambda: next(raws, b""))) != b"":
                self.number += 1
                self.bytes += len(raw)
                if self.number == 1:
                    if raw.startswith(b"\x1f\x8b"):
                        raise InputError(f"{self.path}: is gzipped; give it a name that ends in .gz")
                    raw = raw.removeprefix(b"\xef\xbb\xbf")
                    if not raw:
                        break
                yield self._decoded(raw)
        if self.number == 0:
            raise InputError(f"{self.path}: is empty; give a file with at least one row")

    def _decoded(self, raw: bytes) -> str:
        try:
            if b"\0" not in raw:
                return raw.decode()
        except UnicodeDecodeError:
            hint = "convert the file, for example with iconv -f latin1 -t utf-8"
            raise InputError(f"{self.place(self.number)}: is not UTF-8; {hint}") from None
        hint = "remove it, for example with tr -d '\\000' (a UTF-16 file: iconv -f utf-16 -t utf-8)"
        raise InputError(f"{self.place(self.number)}: has a NUL byte; {hint}")


def without_line_end(line: str) -> str:
    """A line without its line end, Windows or other; a lone carriage return is no line end."""
    return line[: -2 if line.endswith("\r\n") else -1] if line.endswith("\n") else line


def chunked(records: Iterator[_T], lines: Lines) -> Iterator[list[_T]]:
    """What is made of the lines, a list at a time."""
    chunk: list[_T] = []
    start = lines.bytes
    for record in records:
        chunk.append(record)
        if len(chunk) >= sizes.CHUNK_ROWS or lines.bytes - start >= sizes.CHUNK_BYTES:
            yield chunk
            chunk, start = [], lines.bytes
    if chunk:
        yield chunk


def open_bytes(path: str, gzipped: bool) -> io.BufferedReader:
    """A file's bytes, unzipped where it is zipped."""
    if gzipped:
        return io.BufferedReader(reading(path, lambda: gzip.GzipFile(path)), 1 << 18)
    return reading(path, lambda: open(path, "rb"))


def reading(path: str, act: Callable[[], _T]) -> _T:
    """Do something with a file; what goes wrong with the file itself becomes one line."""
    try:
        return act()
    except EOFError:
        raise InputError(f"{path}: the gzip file breaks off; fetch or write it again") from None
    except (gzip.BadGzipFile, zlib.error):
        raise InputError(f"{path}: is no gzip file or is damaged; rename it or write it again") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}); check the file") from None
