"""The ways in which a run weights tokens: each method, of each target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Way:
    """One method of one target, and what the tables call it."""

    method: str
    target: str
    name: str


def way_name(method: str, target: str, targets: Sequence[str]) -> str:
    """The method alone where there is one target; else both.

    >>> way_name("grad-l2", "label", ["label"]), way_name("grad-l2", "label", ["predicted", "label"])
    ('grad-l2', 'grad-l2 of label')
    """
    return method if len(targets) == 1 else f"{method} of {target}"


def ways(methods: Sequence[str], targets: Sequence[str]) -> tuple[Way, ...]:
    """All of them, the first target's methods first."""
    return tuple(Way(method, target, way_name(method, target, targets)) for target in targets for method in methods)


def ways_of(options: Mapping[str, Any]) -> tuple[Way, ...]:
    """Those of a reading, by its manifest's options; none of one that has no options."""
    return ways(options.get("method", ()), options.get("target", ()))
