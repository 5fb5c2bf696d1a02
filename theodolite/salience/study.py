"""A blind study drawn from a reading: does a person find in a text's neighbours why it was misclassified?"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from theodolite.errors import InputError
from theodolite.salience.reading import SalienceReading

Row = dict[str, Any]


def draw_rationales(reading: SalienceReading, *, count: int = 28, seed: int = 0) -> tuple[list[Row], list[Row]]:
    """Items and their key: a misclassified text with its neighbours in one representation each, in random order.

    The reading must have neighbours of errors. An item has an id that says nothing, the text, its label and answer, and
    its neighbours with labels; the key says of each id the row, the representation and the method. Of a reading by
    several methods the first one's neighbours are taken: one representation, one set of neighbours. A text that has
    none in one of the representations is left out, so that all are judged by the same texts; ``skipped`` names it.
    """
    near = reading.tables["neighbours"].to_pylist() if "neighbours" in reading.tables else []
    near = [row for row in near if row["method"] == near[0]["method"]]
    about = {(r["corpus"], r["row"]): r for r in reading.tables["texts"].to_pylist()}
    groups: dict[tuple[str, int, str], list[Row]] = {}
    for row in near:
        asked = about[row["corpus"], row["row"]]
        if asked["label"] is not None and asked["label"] != asked["answer"]:
            groups.setdefault((row["corpus"], row["row"], row["representation"]), []).append(row)
    spaces = {representation for *_, representation in groups}
    asked_of = dict.fromkeys((corpus, row) for corpus, row, _ in groups)
    texts = [text for text in asked_of if all((*text, space) in groups for space in spaces)]
    if not texts:
        raise InputError("no misclassified text with neighbours is in the reading; make it with --neighbours errors")
    random = np.random.default_rng(seed)
    some = {texts[i] for i in random.permutation(len(texts))[:count].tolist()}
    chosen = [(key, rows) for key, rows in groups.items() if key[:2] in some]
    items, key = [], []
    for place in random.permutation(len(chosen)).tolist():
        (corpus, number, representation), rows = chosen[place]
        name = hashlib.blake2b(f"{seed} {place}".encode(), digest_size=6).hexdigest()
        asked = about[corpus, number]
        shown = [{"text": r["text"], "label": r["label"], "answer": r["predicted"]} for r in rows]
        text = rows[0]["asked"]
        items.append(
            {"id": name, "text": text, "label": asked["label"], "answer": asked["answer"], "neighbours": shown}
        )
        method = rows[0]["method"]
        key.append({"id": name, "corpus": corpus, "row": number, "representation": representation, "method": method})
    return items, key
