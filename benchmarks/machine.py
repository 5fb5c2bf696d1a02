"""Measuring on a noisy machine: two things in turn, and the median of their ratios."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch

MATRIX = 2048
Work = Callable[[], object]


def seconds(work: Work) -> float:
    """How long it takes, once."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def in_turn(a: Work, b: Work, rounds: int) -> list[tuple[float, float]]:
    """Seconds of a and of b in each round, after one round that is thrown away.

    What else the machine does falls on both alike, since each round holds both; every other round begins
    with b, so that a drift favours neither.
    """
    a(), b()
    found = []
    for turn in range(rounds):
        if turn % 2:
            second = seconds(b)
            found.append((seconds(a), second))
        else:
            first = seconds(a)
            found.append((first, seconds(b)))
    return found


def ratio(a: Work, b: Work, rounds: int) -> float:
    """Time of a over time of b: the median over rounds."""
    return median(one / other for one, other in in_turn(a, b, rounds))


def multiplying(times: int) -> Work:
    """Multiply two square fp32 matrices so many times, with torch's own threads."""
    left, right = torch.rand(MATRIX, MATRIX), torch.rand(MATRIX, MATRIX)
    into = torch.empty(MATRIX, MATRIX)

    def work() -> None:
        with torch.inference_mode():
            for _ in range(times):
                torch.mm(left, right, out=into)

    return work


def multiply_operations(times: int) -> float:
    """Floating-point operations of `multiplying(times)`."""
    return 2.0 * MATRIX**3 * times


def multiply_rate(repeats: int = 7) -> float:
    """Operations a second of one multiplication: the median, the first one thrown away."""
    work = multiplying(1)
    work()
    return multiply_operations(1) / median(seconds(work) for _ in range(repeats))


def about() -> dict[str, Any]:
    """The machine, for the head of the table."""
    return {
        "processors": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "multiply_gflops": round(multiply_rate() / 1e9, 1),
    }
