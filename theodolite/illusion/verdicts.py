"""What becomes of a direction's patterns in other corpora, and how often the answer is: nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

PatternT = TypeVar("PatternT")

GLOBAL, DATASET, LOCAL, UNEXPLAINED, NONE = "global", "dataset", "local", "unexplained", "none"
CARRIED = (GLOBAL, DATASET)


@dataclass(frozen=True)
class Verdict(Generic[PatternT]):
    """verdict: None where one corpus alone cannot tell; pattern: the one that carried farthest, found in ``source``
    and met again in ``carried_to``.
    """

    verdict: str | None
    pattern: PatternT | None = None
    source: str | None = None
    carried_to: tuple[str, ...] = ()


def judge(
    patterns: Mapping[str, Sequence[PatternT]],
    same: Callable[[PatternT, PatternT], bool],
    change: Callable[[PatternT, str], int],
    *,
    local: bool,
) -> Verdict[PatternT]:
    """The verdict on a direction.

    patterns: by corpus, for every corpus. change: whether all of a pattern's words rise (1) or all fall (−1) along
    the direction in a corpus, else 0. local: whether its locality lies above its control.

    A pattern is carried to another corpus where it is found too or its words rise; or to all those, at once, in
    which its words fall.
    """
    if not any(patterns.values()):
        return Verdict(NONE)
    if len(patterns) < 2:
        return Verdict(None)
    best: Verdict[PatternT] = Verdict(LOCAL if local else UNEXPLAINED)
    for source, found in patterns.items():
        others = [name for name in patterns if name != source]
        for pattern in found:
            moves = {name: change(pattern, name) for name in others}
            again = {name for name in others if any(same(pattern, p) for p in patterns[name])}
            up = tuple(name for name in others if name in again or moves[name] > 0)
            down = tuple(name for name in others if moves[name] < 0)
            carried = max(up, down, key=len)
            if len(carried) > len(best.carried_to):
                best = Verdict(GLOBAL if len(carried) == len(others) else DATASET, pattern, source, carried)
    return best


def different(patterns: Mapping[str, Sequence[PatternT]], same: Callable[[PatternT, PatternT], bool]) -> int:
    """How many different patterns a direction has over all corpora."""
    kept: list[PatternT] = []
    for found in patterns.values():
        kept += [p for p in found if not any(same(p, k) for k in kept)]
    return len(kept)


def illusion_rate(verdicts: Sequence[str | None]) -> tuple[int, int]:
    """Of the directions with a pattern, how many carry to no other corpus, and how many there are."""
    with_pattern = [v for v in verdicts if v not in (NONE, None)]
    return sum(v not in CARRIED for v in with_pattern), len(with_pattern)
