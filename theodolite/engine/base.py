"""The contract of an engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, Protocol, TypeVar

Task = TypeVar("Task")
Ready = TypeVar("Ready")
Partial = TypeVar("Partial")
_Task_contra = TypeVar("_Task_contra", contravariant=True)
_Partial_co = TypeVar("_Partial_co", covariant=True)


class Worker(Protocol, Generic[_Task_contra, Ready, _Partial_co]):
    """Work on one shard, in two stages so that the first can run ahead in the background."""

    def prepare(self, task: _Task_contra) -> Ready:
        """What needs no model: read the texts, tokenise them."""

    def work(self, ready: Ready) -> _Partial_co:
        """The rest."""


class Engine(Protocol):
    """Maps a worker over shards of work and gives back each with its partial result, in the order given."""

    def map(self, tasks: Sequence[Task], worker: Worker[Task, Ready, Partial]) -> Iterator[tuple[Task, Partial]]: ...
