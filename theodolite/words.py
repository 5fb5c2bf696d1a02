"""Units of a text, and which pieces of a tokenizer belong to which unit.

A unit is a whitespace word with its leading and trailing punctuation split off, each split-off character a
unit of its own. Word characters are Unicode letters, marks and numbers.
"""

from __future__ import annotations

import numpy as np
import regex
from numpy.typing import NDArray

_WORD_CHARACTER = r"[\p{L}\p{M}\p{N}]"
_UNIT = regex.compile(rf"{_WORD_CHARACTER}(?:\S*{_WORD_CHARACTER})?|\S")
_MEANINGFUL = regex.compile(r"[\p{L}\p{N}]")

Ints = NDArray[np.int64]


def units(text: str) -> list[tuple[int, int]]:
    """The units of a text in order, as (start, end) in characters; they cover all that is not space.

    >>> [text[a:b] for text in ['"Well-made," he said.'] for a, b in units(text)]
    ['"', 'Well-made', ',', '"', 'he', 'said', '.']
    """
    return [match.span() for match in _UNIT.finditer(text)]


def has_letter_or_number(text: str) -> bool:
    """Whether a unit says something: punctuation, symbols and lone marks do not.

    >>> has_letter_or_number("3.5"), has_letter_or_number("…")
    (True, False)
    """
    return _MEANINGFUL.search(text) is not None


def units_of_pieces(piece_starts: Ints, piece_ends: Ints, unit_starts: Ints, unit_ends: Ints) -> Ints:
    """For each piece, the index of the unit that holds its first non-space character; -1 where it has none.

    All four are character offsets in the same text, ascending within each pair. Since units cover every
    character that is not a space, that unit is the first one to end after the piece starts.

    >>> units_of_pieces(*(np.array(a) for a in ([0, 2], [2, 6], [0, 3], [2, 6])))
    array([0, 1])
    """
    index = np.searchsorted(unit_ends, piece_starts, side="right")
    begins = np.append(unit_starts, np.iinfo(np.int64).max)
    return np.where(np.maximum(begins[index], piece_starts) < piece_ends, index, -1)
