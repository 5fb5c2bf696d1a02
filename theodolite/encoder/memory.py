"""Memory that the C library keeps after batches of ever other sizes, given back to the system.

Tensors of many sizes leave holes in glibc's heaps, and more of them the longer a process works: of long texts they came
to twice what was in use. Giving the holes back costs some 35 ms, so that it is done when they are many, not before each
batch; and when all batches are done, so that neither the next shard nor what is made of the results begins with holes.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

# Bytes of holes that may be there before they are given back: about what a batch needs.
SLACK = 128 * 2**20
STATM = Path("/proc/self/statm")


class Holes:
    """Knows how large the process is without holes, and gives them back where it has grown by ``slack``.

    size: tells how large the process is beside what is in use, in bytes; give_back: gives the holes back.
    """

    def __init__(self, size: Callable[[], int], give_back: Callable[[], Any], slack: int = SLACK) -> None:
        self._size, self._give_back, self._slack = size, give_back, slack
        self._without = size()
        self._looking = Lock()

    def settle(self) -> None:
        """No batch is under way: give the holes back unless they are few, and note what is left."""
        with self._looking:
            if self._size() - self._without > self._slack // 4:
                self._give_back()
                self._without = self._size()
            self._without = min(self._without, self._size())

    def look(self) -> None:
        """Give the holes back if there may be many and no other thread is at it."""
        if not self._looking.acquire(blocking=False):
            return
        try:
            if self._size() - self._without > self._slack:
                self._give_back()
                # What does not go is no hole, and not to be asked for again.
                self._without = max(self._without, self._size() - self._slack)
        finally:
            self._looking.release()


def look_after_holes() -> None:
    """Give this process's holes back where they are many: before each of a long text's calls, as before a batch."""
    holes = _of_this_process()
    if holes is not None:
        holes.look()


def without_holes(
    run: Callable[[Callable[[Item], Result], Iterable[Item]], Iterator[Result]],
    work: Callable[[Item], Result],
    items: Iterable[Item],
) -> Iterator[Result]:
    """``run(work, items)``, such as ``map``: before each item and when all are done the process's holes are looked
    after, where its C library can.
    """
    holes = _of_this_process()
    if holes is None:
        yield from run(work, items)
        return

    def after_a_look(item: Item) -> Result:
        holes.look()
        return work(item)

    try:
        yield from run(after_a_look, items)
    finally:
        holes.settle()


@cache
def _of_this_process() -> Holes | None:
    """None where the C library is not glibc, or the system does not tell how large a process is."""
    try:
        library = ctypes.CDLL(None)
        give_back, in_use = library.malloc_trim, _in_use(library)
        return Holes(lambda: _anonymous_bytes() - in_use(), lambda: give_back(0))
    except (AttributeError, OSError, TypeError):
        return None


def _anonymous_bytes() -> int:
    """Resident memory that is no file's: memory-mapped texts and vectors are not ours to give back."""
    _, resident, shared, *_ = STATM.read_text().split()
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


class _Mallinfo2(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


def _in_use(library: ctypes.CDLL) -> Callable[[], int]:
    """Tells the bytes that were asked for and not freed: those of batches under way are no holes.

    Nothing tells them before glibc 2.33; there, what is in use counts as holes until it turns out that it stays.
    """
    ask = getattr(library, "mallinfo2", None)
    if ask is None:
        return lambda: 0
    ask.restype = _Mallinfo2

    def in_use() -> int:
        told = ask()
        return int(told.uordblks + told.hblkhd)

    return in_use
