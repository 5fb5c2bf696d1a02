"""Several batches at once on the processor, each with few threads.

Two passes side by side on one thread each do more than one pass on two: no operation waits for the slower
thread, and what runs on one thread anyway (padding, pooling, the interpreter) no longer holds up the other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import islice
from threading import Barrier
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_LANES = 4


def side_by_side(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """``work`` of each item, in their order, a few of them under way at a time.

    A single item is done here, with all the threads.
    """
    threads = torch.get_num_threads()
    coming = iter(items)
    first = list(islice(coming, 2))
    if len(first) < 2 or threads < 2:
        yield from map(work, first)
        yield from map(work, coming)
        return
    pool, lanes = _pool(threads), _lanes(threads)
    under_way: deque[Future[Result]] = deque(pool.submit(work, item) for item in first)
    try:
        # One more than there are lanes, so that none is idle while the caller looks at a result.
        under_way.extend(pool.submit(work, item) for item in islice(coming, lanes - 1))
        while under_way:
            done = under_way.popleft().result()
            under_way.extend(pool.submit(work, item) for item in islice(coming, 1))
            yield done
    finally:
        for future in under_way:
            future.cancel()


def _lanes(threads: int) -> int:
    return min(threads, MOST_LANES)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that share ``threads`` among them, all started."""
    lanes = _lanes(threads)
    pool = ThreadPoolExecutor(lanes, "lane", _take_threads, (threads // lanes,))
    met = Barrier(lanes + 1)
    for _ in range(lanes):
        pool.submit(met.wait)
    met.wait()
    # The number holds for the thread that sets it, but is also the default of threads not yet begun: put that back.
    torch.set_num_threads(threads)
    return pool


def _take_threads(number: int) -> None:
    # A thread takes the default at its first question or operation, so that must be over before it is set.
    torch.get_num_threads()
    torch.set_num_threads(number)
