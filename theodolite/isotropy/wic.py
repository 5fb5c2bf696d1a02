"""Word in Context: does a word mean the same in two sentences?

`NAME.data.txt` has five tab-separated fields a line: word, part of speech, the word's places in both sentences, and the
sentences. `NAME.gold.txt` beside it has T (the same meaning) or F. Each also .gz.
"""

from __future__ import annotations

import os
from pathlib import Path

from theodolite.corpus.corpus import Corpus
from theodolite.corpus.strings import shortened
from theodolite.errors import InputError
from theodolite.isotropy.sts_files import Row, gold_rows, source_of, tab_rows

_LABELS = {"T": 1, "F": 0}


def read_wic(path: str | os.PathLike[str], limit: int | None = None) -> Corpus:
    """Read a WiC data file, its answers beside it, as a corpus of pairs named `WiC_NAME`.

    A model that sees both sentences in one sequence must also be told the word: the first text is
    "word: sentence1", the second sentence2. label: 1 for the same meaning, 0 for another. word: the word.
    limit: only the first so many pairs.
    """
    file = Path(path).expanduser()
    if ".data." not in file.name:
        raise InputError(f"{file}: WiC's texts are in a file called NAME.data.txt; name that one")
    rows = tab_rows(file)
    gold = gold_rows(file, ".data.", ".gold.", len(rows))
    for row in rows:
        row.of_width(5, 5)
    rows, gold = rows[:limit], gold[:limit]
    words = [row.text(0) for row in rows]
    return Corpus.of(
        [f"{word}: {row.text(3)}" for word, row in zip(words, rows, strict=True)],
        f"WiC_{source_of(file).stem.removesuffix('.data')}",
        texts_b=[row.text(4) for row in rows],
        labels=[_label(row) for row in gold],
        word=words,
    )


def _label(row: Row) -> int:
    if row.fields[0] not in _LABELS:
        raise InputError(f"{row.place}: is {shortened(repr(row.fields[0]), 40)}, neither T nor F; mend the line")
    return _LABELS[row.fields[0]]
