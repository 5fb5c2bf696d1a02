"""The engine of one process: the next shard is prepared in a thread while this one is worked on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from theodolite.engine.base import Partial, Ready, Task, Worker


class LocalEngine:
    """Works through the shards here, one after another."""

    def map(self, tasks: Sequence[Task], worker: Worker[Task, Ready, Partial]) -> Iterator[tuple[Task, Partial]]:
        if not tasks:
            return
        with ThreadPoolExecutor(1, thread_name_prefix="prepare") as ahead:
            coming = ahead.submit(worker.prepare, tasks[0])
            for i, task in enumerate(tasks):
                ready = coming.result()
                if i + 1 < len(tasks):
                    coming = ahead.submit(worker.prepare, tasks[i + 1])
                yield task, worker.work(ready)
