"""Holes in the C library's heaps are given back, and looking for them changes nothing."""

from __future__ import annotations

from threading import Event, Thread
from types import SimpleNamespace

import numpy as np
import pytest

from theodolite.encoder import memory
from theodolite.encoder.memory import Holes, without_holes

MB = 2**20


class Process:
    """A process of some size in use, with holes beside it."""

    def __init__(self, used: int) -> None:
        self.used, self.holes, self.given_back = used, 0, 0

    def size(self) -> int:
        return self.used + self.holes

    def give_back(self) -> None:
        self.holes, self.given_back = 0, self.given_back + 1


def test_holes_are_given_back_only_where_there_are_many() -> None:
    process = Process(500)
    holes = Holes(process.size, process.give_back, slack=100)
    sizes = []
    for _ in range(50):
        process.holes += 30
        holes.look()
        sizes.append(process.size())
    assert max(sizes) <= 600
    assert process.given_back == 50 // 4


def test_what_comes_into_use_and_stays_is_not_asked_for_again_and_again() -> None:
    process = Process(500)
    holes = Holes(process.size, process.give_back, slack=100)
    process.used = 900
    for _ in range(50):
        holes.look()
    assert process.given_back == 1
    process.holes = 101
    holes.look()
    assert process.size() == 900


def test_a_batch_under_way_does_not_raise_the_limit() -> None:
    process = Process(500)
    holes = Holes(process.size, process.give_back, slack=100)
    process.used, process.holes = 560, 50
    holes.look()
    process.used, process.holes = 500, 101
    holes.look()
    assert process.size() == 500


def test_in_the_end_holes_are_given_back_unless_they_are_few() -> None:
    process = Process(500)
    holes = Holes(process.size, process.give_back, slack=100)
    process.holes = 25
    holes.settle()
    assert process.given_back == 0
    process.used, process.holes = 550, 40
    holes.settle()
    assert (process.given_back, process.holes) == (1, 0)
    process.used = 520
    holes.settle()
    process.used = 550
    holes.look()
    assert process.given_back == 1
    # The limit stands above what was in use when it began, not above what was before.
    process.holes = 70
    holes.look()
    assert process.given_back == 1
    process.holes = 71
    holes.look()
    assert process.given_back == 2


def test_this_process_gives_its_holes_back() -> None:
    mine = memory._of_this_process()
    if mine is None:
        pytest.skip("malloc_trim is glibc's, /proc is Linux's")
    # Every other block goes: between those that stay, nothing can be given back but by asking for it.
    blocks = [np.ones(100_000, np.uint8) for _ in range(4_000)]
    del blocks[::2]
    before = memory._anonymous_bytes()
    holes = Holes(memory._anonymous_bytes, mine._give_back, slack=-1)
    holes.look()
    assert before - memory._anonymous_bytes() > 100 * MB
    assert len(blocks) == 2_000


def test_what_is_in_use_is_no_hole() -> None:
    mine = memory._of_this_process()
    if mine is None:
        pytest.skip("malloc_trim is glibc's, /proc is Linux's")
    mine._give_back()
    before, resident = mine._size(), memory._anonymous_bytes()
    # Small blocks come from the heaps, the large one is mapped.
    blocks = [np.ones(100_000, np.uint8) for _ in range(1_000)] + [np.ones(100 * MB, np.uint8)]
    assert memory._anonymous_bytes() - resident > 150 * MB
    assert abs(mine._size() - before) < 20 * MB
    del blocks[:1_000:2]
    assert mine._size() - before > 40 * MB


def test_holes_count_with_what_is_in_use_where_the_library_does_not_tell_them_apart() -> None:
    assert memory._in_use(SimpleNamespace())() == 0


def test_one_thread_looks_at_a_time() -> None:
    process = Process(500)
    process.holes = 200
    began, go_on = Event(), Event()

    def give_back() -> None:
        began.set()
        assert go_on.wait(10)
        process.give_back()

    holes = Holes(process.size, give_back, slack=-1)
    first = Thread(target=holes.look)
    first.start()
    assert began.wait(10)
    holes.look()
    assert process.given_back == 0
    go_on.set()
    first.join()
    assert process.given_back == 1
    process.holes = 201
    holes.look()
    assert process.given_back == 2


def _worked(process: Process, items: list[int]) -> tuple[list[int], list[int]]:
    """The results, and the holes that each item began with; every item leaves 60."""
    seen = []

    def work(item: int) -> int:
        seen.append(process.holes)
        process.holes += 60
        return 2 * item

    return list(without_holes(map, work, items)), seen


def test_holes_are_looked_after_before_each_item_and_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    process = Process(500)
    holes = Holes(process.size, process.give_back, slack=100)
    monkeypatch.setattr(memory, "_of_this_process", lambda: holes)
    assert _worked(process, [1, 2, 3]) == ([2, 4, 6], [0, 60, 0])
    assert process.holes == 0


def test_holes_are_given_back_where_the_rest_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    process = Process(500)
    holes = Holes(process.size, process.give_back, slack=100)
    monkeypatch.setattr(memory, "_of_this_process", lambda: holes)
    coming = without_holes(map, str, [1, 2, 3])
    assert next(coming) == "1"
    process.holes = 60
    coming.close()
    assert process.holes == 0


def test_work_goes_on_where_nothing_can_be_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    process = Process(500)
    monkeypatch.setattr(memory, "_of_this_process", lambda: None)
    assert _worked(process, [1, 2, 3]) == ([2, 4, 6], [0, 60, 120])
