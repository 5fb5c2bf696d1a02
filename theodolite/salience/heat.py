"""A text cut into spans with the weight of the token in each: what a heat map is drawn from."""

from __future__ import annotations

from typing import Any

from theodolite.salience.maps import FIRST, SECOND

BETWEEN = "\n⁂\n"


def coloured(row: dict[str, Any]) -> list[tuple[str, float]]:
    """Spans (characters, weight from −1 to 1) of a text, or of both texts of a pair one after the other.

    row: text, text_b, and for each token side, start, end and weight. Special tokens have no place and are left out;
    the strongest of the others has the weight 1 or −1.
    """
    sides = zip(row["side"], row["start"], row["end"], row["weight"], strict=True)
    tokens = [token for token in sides if token[0] in (FIRST, SECOND)]
    strongest = max((abs(weight) for *_, weight in tokens), default=0.0) or 1.0
    found: list[tuple[str, float]] = []
    for side, text in ((FIRST, row["text"]), (SECOND, row["text_b"])):
        if text is None:
            continue
        if side == SECOND:
            found.append((BETWEEN, 0.0))
        done = 0
        for _, start, end, weight in (token for token in tokens if token[0] == side):
            if start > done:
                found.append((text[done:start], 0.0))
            if end > max(start, done):
                found.append((text[max(start, done) : end], weight / strongest))
                done = end
        if done < len(text):
            found.append((text[done:], 0.0))
    return found
