"""What every accumulator can do, and how its state goes to disk and back."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

State = dict[str, NDArray[Any]]


class Accumulator(ABC):
    """A statistic that is updated a batch at a time and merged with another of its kind.

    Merging in shard order gives the same floating-point sums however the work was spread. Attributes that
    are arrays, numbers, accumulators, or lists of strings or of accumulators are its state; those whose name
    begins with an underscore are how it was made, and must be given again before ``restore``.
    """

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Take in what another accumulator has seen."""

    def parts(self) -> dict[str, Accumulator]:
        """The accumulators that this one is made of, by name."""
        found: dict[str, Accumulator] = {}
        for name, value in _state_of(self):
            if isinstance(value, Accumulator):
                found[name] = value
            elif _are_accumulators(value):
                found |= {f"{name}.{i}": part for i, part in enumerate(value)}
        return found

    def state(self) -> State:
        """Everything seen so far, as named arrays: the live ones, so write or copy them before going on."""
        found: State = {}
        for name, part in self.parts().items():
            found |= {f"{name}/{key}": array for key, array in part.state().items()}
        for name, value in _state_of(self):
            if isinstance(value, np.ndarray):
                found[name] = value
            elif isinstance(value, list) and not _are_accumulators(value):
                found[name] = packed(value)
            elif isinstance(value, (int, float, np.generic)):
                found[name] = np.asarray(value)
        return found

    def restore(self, state: State) -> Self:
        """Take the state of another accumulator that was made alike."""
        for name, part in self.parts().items():
            under = f"{name}/"
            part.restore({k.removeprefix(under): v for k, v in state.items() if k.startswith(under)})
        for name, value in _state_of(self):
            if isinstance(value, np.ndarray):
                # A copy: the given one may be read-only (a memory map), or another accumulator's own.
                setattr(self, name, np.array(state[name], value.dtype))
            elif isinstance(value, list) and not _are_accumulators(value):
                setattr(self, name, unpacked(state[name]))
            elif isinstance(value, (int, float, np.generic)):
                setattr(self, name, type(value)(state[name].item()))
        return self


def _state_of(accumulator: Accumulator) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in vars(accumulator).items() if not name.startswith("_")]


def _are_accumulators(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Accumulator)


def packed(strings: Sequence[str]) -> NDArray[np.uint8]:
    """Strings as one array of bytes, (n,), that needs no pickle.

    Not an array of str: there every string takes the room of the longest one, and NULs at its end are lost.

    >>> unpacked(packed(["a", "", "é", "end\\0"]))
    ['a', '', 'é', 'end\\x00']
    """
    return np.frombuffer(json.dumps(list(strings)).encode(), np.uint8)


def unpacked(array: NDArray[Any]) -> list[str]:
    """The strings that ``packed`` was given."""
    return list(json.loads(array.tobytes()))
