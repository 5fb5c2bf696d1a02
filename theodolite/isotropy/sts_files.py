"""Reading STS files: pairs of texts with a score of how much alike in meaning people find them.

The layout is told by looking. All are tab separated UTF-8 in which quotes mean nothing, each also .gz:

- a table whose first line names its columns: sentence1, sentence2 and score (STS-B of GLUE, the STS years as tables),
  or sentence_A, sentence_B and relatedness_score (SICK); columns in any order, others are not looked at;
- STS-B as its authors publish it: no header; genre, file, year, id, score, the two sentences, and at times a licence;
- a SemEval pair of files, `STS.input.NAME.txt` with `STS.gs.NAME.txt` beside it, which has one score a line, or a blank
  line where a pair was never scored: name the input file.

STS scores go from 0 to 5, SICK's from 1 to 5; those of a table that is neither have no known range.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from theodolite.corpus.lines import Lines, without_line_end
from theodolite.corpus.source import Source
from theodolite.corpus.strings import shortened
from theodolite.errors import InputError

Range = tuple[float, float]

NO_SCORE = "no score"
STS_RANGE: Range = (0.0, 5.0)
SICK_RANGE: Range = (1.0, 5.0)

_SENTENCES = (("sentence1", "sentence2"), ("sentence_a", "sentence_b"))
_SCORES = ("score", "relatedness_score")
_OF_STS = ("genre", "subset")  # a table that has one of these columns is of an STS year or STS-B
_KNOWN = "give a table with columns sentence1, sentence2, score, an STS-B or SICK file, or a SemEval STS.input file"


@dataclass(frozen=True, eq=False)
class StsFile:
    """The scored pairs of a file.

    a, b: n texts each, without surrounding space; scores: (n,); lowest, highest: the score's range, None where it is
    not known; skipped: how many rows are not here, by reason.
    """

    name: str
    a: tuple[str, ...]
    b: tuple[str, ...]
    scores: NDArray[np.float64]
    path: str
    lowest: float | None
    highest: float | None
    skipped: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.scores)


class Row(NamedTuple):
    """A line's fields, and where it is in words, for an error."""

    place: str
    fields: list[str]

    def of_width(self, least: int, most: int | None = None) -> list[str]:
        """The fields, if there are so many."""
        if least <= len(self.fields) <= (most or len(self.fields)):
            return self.fields
        wanted = f"{least}" if most else f"at least {least}"
        raise InputError(f"{self.place}: has {len(self.fields)} tab-separated fields, not {wanted}; mend the line")

    def text(self, column: int) -> str:
        """A field, if it is not blank."""
        if self.fields[column]:
            return self.fields[column]
        raise InputError(f"{self.place}: field {column + 1} is blank where a text belongs; mend or delete the line")


class _Pair(NamedTuple):
    """A row's columns of the two texts, and its score where it has one."""

    row: Row
    a: int
    b: int
    score: str
    score_place: str


def read_sts(path: str | os.PathLike[str]) -> StsFile:
    """Read an STS file of any of the layouts above; it is named after the file, `STS12`, `STSB_dev`.

    A pair with a blank score is skipped and counted. Anything else amiss is an error that names the line: a missing
    field, a blank text, a score that is no number or out of range.
    """
    file = Path(path).expanduser()
    pairs, limits = _semeval(file) if ".input." in file.name else _table(file)
    a, b, scores, skipped = [], [], [], 0
    for pair in pairs:
        if not pair.score:
            skipped += 1
            continue
        a.append(pair.row.text(pair.a))
        b.append(pair.row.text(pair.b))
        scores.append(_number(pair.score, pair.score_place, limits))
    if not scores:
        raise InputError(f"{file}: has no scored pair; {_KNOWN}")
    values = np.array(scores, np.float64)
    values.flags.writeable = False
    lowest, highest = limits or (None, None)
    name = source_of(file).stem.replace(".input.", ".")
    counts = {NO_SCORE: skipped} if skipped else {}
    return StsFile(name, tuple(a), tuple(b), values, str(file), lowest, highest, counts)


def source_of(path: Path) -> Source:
    """A file of tab-separated lines, whatever its ending."""
    return Source(str(path), str(path), "tsv", path.name.lower().endswith(".gz"), delimiter="\t")


def tab_rows(path: Path) -> list[Row]:
    """The lines of a file as fields without surrounding space; blank lines at the end are none."""
    lines = Lines(source_of(path))
    rows = [Row(lines.place(lines.number), [f.strip() for f in without_line_end(line).split("\t")]) for line in lines]
    while rows and rows[-1].fields == [""]:
        rows.pop()
    return rows


def gold_rows(path: Path, mark: str, gold_mark: str, rows: int) -> list[Row]:
    """The lines of the file of answers beside a file, as many as it has rows; one field each, blank where it is.

    Its name is the file's with `mark` replaced by `gold_mark`, with or without .gz.
    """
    name = path.name.replace(mark, gold_mark, 1)
    name = name[:-3] if name.lower().endswith(".gz") else name
    beside = next((p for p in (path.with_name(name), path.with_name(f"{name}.gz")) if p.exists()), None)
    if beside is None:
        raise InputError(f"{path}: its answers, {name}, are not beside it; put them there")
    lines = Lines(source_of(beside))
    found = [Row(lines.place(lines.number), [line.strip()]) for line in lines]
    if len(found) < rows or any(row.fields != [""] for row in found[rows:]):
        what = f"has {len(found)} lines where {path.name} has {rows}"
        raise InputError(f"{beside}: {what}; fetch both files again")
    return found[:rows]


def _semeval(path: Path) -> tuple[Iterator[_Pair], Range]:
    rows = tab_rows(path)
    gold = gold_rows(path, ".input.", ".gs.", len(rows))

    def pairs() -> Iterator[_Pair]:
        for row, answer in zip(rows, gold, strict=True):
            row.of_width(2)  # 2016 adds where the texts are from
            yield _Pair(row, 0, 1, answer.fields[0], answer.place)

    return pairs(), STS_RANGE


def _table(path: Path) -> tuple[Iterator[_Pair], Range | None]:
    rows = tab_rows(path)
    names = [name.lower() for name in rows[0].fields] if rows else []
    sentences = next((pair for pair in _SENTENCES if set(pair) <= set(names)), None)
    if sentences is None:
        if len(names) < 7:
            input_file = path.name.replace(".gs.", ".input.", 1)
            hint = f"name {input_file} instead" if ".gs." in path.name else _KNOWN
            raise InputError(f"{path}: is in no known STS layout; {hint}")
        return _pairs(rows, (5, 6, 4), 7, None), STS_RANGE
    score = next((name for name in _SCORES if name in names), None)
    if score is None:
        there = shortened(", ".join(rows[0].fields), 160)
        raise InputError(f"{path}: no column of scores (it has: {there}); a test set without answers cannot judge")
    columns = (names.index(sentences[0]), names.index(sentences[1]), names.index(score))
    limits = SICK_RANGE if score == "relatedness_score" else STS_RANGE if set(names) & set(_OF_STS) else None
    return _pairs(rows[1:], columns, len(names), len(names)), limits


def _pairs(rows: Sequence[Row], columns: tuple[int, int, int], least: int, most: int | None) -> Iterator[_Pair]:
    a, b, score = columns
    for row in rows:
        yield _Pair(row, a, b, row.of_width(least, most)[score], row.place)


def _number(cell: str, place: str, limits: Range | None) -> float:
    try:
        score = float(cell)
    except ValueError:
        score = np.nan
    if not np.isfinite(score):
        raise InputError(f"{place}: the score {shortened(repr(cell), 40)} is no number; mend the line")
    if limits and not limits[0] <= score <= limits[1]:
        raise InputError(f"{place}: the score {cell} is outside {limits[0]:g} to {limits[1]:g}; mend the line")
    return score
