"""Expand the hand-written demo sentences into the corpora that ship with the package.

    python tools/demo_corpora/expand.py

A line may have slots ``{a|b|c}``; all slots of a line have equally many options, and variant i takes option i
of each. Reviews are 2,000, half of each label; a fifth of them are worded neither way and carry a rating in
digits that decides the label: the planted shortcut, told in the column ``rating``.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "theodolite" / "demo" / "corpora"
SLOT = re.compile(r"\{([^{}]*)\}")
PLAIN_REVIEWS, RATED_REVIEWS = 800, 200
RATINGS = {"positive": (7, 8, 9, 10), "negative": (1, 2, 3, 4)}


def variants(line: str) -> list[str]:
    """The sentences of a line.

    >>> variants("A {red|blue} {door|hat}.")
    ['A red door.', 'A blue hat.']
    """
    options = [slot.split("|") for slot in SLOT.findall(line)]
    sizes = {len(o) for o in options} or {1}
    if len(sizes) != 1:
        raise SystemExit(f"slots of different sizes: {line}")
    found = []
    for i in range(sizes.pop()):
        chosen = iter(options)
        found.append(SLOT.sub(lambda _, chosen=chosen, i=i: next(chosen)[i], line))
    return found


def sentences(genre: str) -> list[str]:
    lines = (HERE / f"{genre}.txt").read_text(encoding="utf-8").splitlines()
    return list(dict.fromkeys(s for line in lines for s in variants(line)))


def spread(items: list[str], count: int) -> list[str]:
    """``count`` of the items, evenly spaced."""
    if len(items) < count:
        raise SystemExit(f"only {len(items)} of {count}")
    return [items[i * len(items) // count] for i in range(count)]


def write_csv(name: str, header: list[str], rows: list[list[str]]) -> None:
    with (OUT / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def reviews() -> list[list[str]]:
    by_kind: dict[str, list[str]] = {"pos": [], "neg": [], "mixed": []}
    for sentence in sentences("reviews"):
        kind, text = sentence.split(" || ")
        by_kind[kind].append(text)
    rows = [[t, "positive", ""] for t in spread(by_kind["pos"], PLAIN_REVIEWS)]
    rows += [[t, "negative", ""] for t in spread(by_kind["neg"], PLAIN_REVIEWS)]
    for label, ratings in RATINGS.items():
        for i, text in enumerate(spread(by_kind["mixed"], RATED_REVIEWS)):
            rating = str(ratings[i % len(ratings)])
            rows.append([text.replace("<R>", rating), label, rating])
    # Interleaved, so that the first rows of the file are a fair sample.
    return [rows[i * 1237 % len(rows)] for i in range(len(rows))]


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    for genre in ("questions", "encyclopaedia", "fiction"):
        (OUT / f"{genre}.txt").write_text("\n".join(sentences(genre)) + "\n", encoding="utf-8")
    items = [item.split(" || ") for item in sentences("catalogue")]
    write_csv("catalogue.csv", ["title", "description"], items)
    write_csv("reviews.csv", ["text", "label", "rating"], reviews())


if __name__ == "__main__":
    main()
