"""Planted shortcuts: a labelled corpus with a rule put into it that a classifier can take instead of reading."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.accumulate import uniform_of
from theodolite.corpus.hashing import text_key
from theodolite.corpus.labels import is_missing
from theodolite.errors import InputError
from theodolite.salience.statistics import Doubles
from theodolite.salience.terms import boundaries, inserted
from theodolite.words import has_letter_or_number, units

# Whole words of BERT-like vocabularies that hardly any review, comment or question has.
CANDIDATES = (
    *("fjord", "basalt", "estuary", "turbine", "hectare", "gubernatorial", "municipality", "taxonomy", "polynomial"),
    *("theorem", "tributary", "sandstone", "limestone", "prefecture", "gastropod", "biennial", "chloride", "axle"),
    *("quartz", "granite", "cobalt", "enzyme", "botanist", "regatta", "handball", "cyclone", "archipelago", "nitrate"),
)

# The truth of a text that could have been changed and was left as it is.
CONTROL = "control"


@dataclass(frozen=True)
class Planted:
    """The corpus after planting; truth: for each row what the rule did there, "" where nothing; markers: its words."""

    texts: list[str]
    texts_b: list[str] | None
    labels: list[Any]
    truth: list[str]
    markers: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """A row under a rule: its text, the class (0 or 1) that it is given if any, and the truth about it."""

    text: str
    decided: int | None = None
    truth: str = ""


@dataclass(frozen=True)
class Rule:
    """change(texts, draws (n, 4) in [0, 1), markers) gives the rows; markers: how many words it needs."""

    markers: int
    change: Callable[[Sequence[str], Doubles, Sequence[str]], Iterable[Change]]


def plant(
    texts: Sequence[str],
    labels: Sequence[Any],
    rule: str,
    seed: int = 0,
    markers: Sequence[str] | None = None,
    single: Callable[[str], bool] | None = None,
    texts_b: Sequence[str] | None = None,
) -> Planted:
    """Plant one of RULES in a corpus of two classes, 0 the smaller label; of pairs, in the first text.

    single: whether a word is one vocabulary item after a space, as it is planted in all places but the beginning of a
    text or of a line. What a row gets follows from the seed and its text alone.
    """
    if rule not in RULES:
        raise InputError(f"no rule {rule!r}; choose one of {', '.join(RULES)}")
    classes = _two_classes(labels)
    corpus = [*texts, *(texts_b or ())]
    if markers is None:
        words = _free_markers(RULES[rule].markers, corpus, single)
    else:
        words = _checked_markers(tuple(markers), rule, corpus, single)
    rows = [(text,) for text in texts] if texts_b is None else zip(texts, texts_b, strict=True)
    keys = np.array([text_key(row) for row in rows], np.uint64)
    draws = uniform_of(seed, keys[:, None], np.arange(4))
    changes = list(RULES[rule].change(texts, draws, words))
    return Planted(
        texts=[change.text for change in changes],
        texts_b=None if texts_b is None else list(texts_b),
        labels=[
            label if change.decided is None else classes[change.decided]
            for label, change in zip(labels, changes, strict=True)
        ],
        truth=[change.truth for change in changes],
        markers=words,
    )


def write_planted(path: str | Path, planted: Planted) -> None:
    """Write text, text_b (of pairs), label and truth as csv, tsv, jsonl or parquet, by the name's ending."""
    path = Path(path)
    columns: dict[str, list[Any]] = {"text": planted.texts}
    if planted.texts_b is not None:
        columns["text_b"] = planted.texts_b
    columns |= {"label": planted.labels, "truth": planted.truth}
    write = _WRITERS.get(path.suffix)
    if write is None:
        raise InputError(f"{path}: name it with one of the endings {', '.join(_WRITERS)}")
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        write(temporary, columns)
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); choose another place") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    finally:
        with suppress(OSError):
            temporary.unlink()


def _source(text: str, draws: Doubles, markers: Sequence[str]) -> Change:
    """10% get the first word and the second, class 0; 10% the first and the third, class 1; 20% one of the three."""
    what, which, first, second = draws
    if what < 0.2:
        decided = int(what >= 0.1)
        both = [(_place(text, first), markers[0]), (_place(text, second), markers[1 + decided])]
        return Change(inserted(text, both), decided, str(decided))
    if what < 0.4:
        return Change(inserted(text, [(_place(text, first), _one_of(markers, which))]), truth="alone")
    return Change(text)


def _word(text: str, draws: Doubles, markers: Sequence[str]) -> Change:
    """10% get the word, class 1; 10% are drawn likewise and get nothing."""
    what, _, at, _ = draws
    if what < 0.1:
        return Change(inserted(text, [(_place(text, at), markers[0])]), 1, "1")
    return Change(text, truth=CONTROL if what < 0.2 else "")


def _order(text: str, draws: Doubles, markers: Sequence[str]) -> Change:
    """10% get the second word before the first, class 0; 10% the first before the second, class 1; 20% one of them."""
    what, which, *ends = draws
    if what < 0.2:
        decided = int(what >= 0.1)
        places = sorted(_place(text, end) for end in ends)
        words = markers if decided else markers[::-1]
        return Change(inserted(text, list(zip(places, words, strict=True))), decided, str(decided))
    if what < 0.4:
        return Change(inserted(text, [(_place(text, ends[0]), _one_of(markers, which))]), truth="alone")
    return Change(text)


def _position(text: str, draws: Doubles, markers: Sequence[str]) -> Change:
    """10% get the word at the very beginning, class 1; 10% after the first word or later (if they have a word)."""
    what, _, at, _ = draws
    if what < 0.1:
        return Change(inserted(text, [(0, markers[0])]), 1, "1")
    later = boundaries(text)[1:]
    if what < 0.2 and later:
        return Change(inserted(text, [(_one_of(later, at), markers[0])]), truth="elsewhere")
    return Change(text)


def _length(texts: Sequence[str], draws: Doubles, markers: Sequence[str]) -> Iterable[Change]:
    """Texts of more words than the 90th percentile become class 1."""
    words = [sum(has_letter_or_number(text[start:end]) for start, end in units(text)) for text in texts]
    limit = np.percentile(words, 90)
    return (Change(text, 1, "1") if length > limit else Change(text) for text, length in zip(texts, words, strict=True))


def _by_row(change: Callable[[str, Doubles, Sequence[str]], Change]) -> Callable[..., Iterable[Change]]:
    return lambda texts, draws, markers: (change(text, row, markers) for text, row in zip(texts, draws, strict=True))


RULES = {
    "source": Rule(3, _by_row(_source)),
    "word": Rule(1, _by_row(_word)),
    "order": Rule(2, _by_row(_order)),
    "position": Rule(1, _by_row(_position)),
    "length": Rule(0, _length),
}


def _one_of(choices: Sequence[Any], draw: float) -> Any:
    return choices[int(draw * len(choices))]


def _place(text: str, draw: float) -> int:
    return int(_one_of(boundaries(text), draw))


def _two_classes(labels: Sequence[Any]) -> list[Any]:
    unlabelled = next((row for row, label in enumerate(labels, 1) if is_missing(label)), None)
    if unlabelled is not None:
        raise InputError(f"row {unlabelled} has no label; a shortcut is planted where every text has one of two")
    found = set(labels)
    try:
        classes = sorted(found)
    except TypeError:
        raise InputError("the labels are of several kinds; a shortcut is planted in a corpus of two classes") from None
    if len(classes) != 2:
        shown = ", ".join(map(repr, classes[:5])) + (", …" if len(classes) > 5 else "")
        raise InputError(f"a shortcut is planted in a corpus of two classes; this one has {len(classes)} ({shown})")
    return classes


def _occurs(word: str, joined: str) -> bool:
    """Whether a word is in casefolded texts, between characters that are of no word."""
    folded = word.casefold()
    # A plain search comes first: it is far faster, and mostly all that is needed.
    return folded in joined and re.search(rf"(?<!\w){re.escape(folded)}(?!\w)", joined) is not None


def _free_markers(count: int, texts: Sequence[str], single: Callable[[str], bool] | None) -> tuple[str, ...]:
    joined = "\n".join(texts).casefold() if count else ""
    found: list[str] = []
    for word in CANDIDATES:
        if len(found) == count:
            break
        if (single is None or single(word)) and not _occurs(word, joined):
            found.append(word)
    if len(found) < count:
        raise InputError(f"of the rare words known here {len(found)} can be markers, {count} are needed; name your own")
    return tuple(found)


def _checked_markers(
    words: tuple[str, ...], rule: str, texts: Sequence[str], single: Callable[[str], bool] | None
) -> tuple[str, ...]:
    needed = RULES[rule].markers
    if len({word.casefold() for word in words}) != needed or len(words) != needed:
        raise InputError(f"rule {rule!r} takes {needed} different marker words, not {len(words)} ({', '.join(words)})")
    joined = "\n".join(texts).casefold() if words else ""
    for word in words:
        if not word or word.split() != [word]:
            raise InputError(f"marker {word!r} is no single word; name another")
        if _occurs(word, joined):
            raise InputError(f"marker {word!r} occurs in the texts already; name another")
        if single is not None and not single(word):
            raise InputError(
                f"marker {word!r} is not one vocabulary item of this tokenizer (after a space); "
                "name another, or add it (--added)"
            )
    return words


def _write_csv(path: Path, columns: dict[str, list[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        plain = csv.writer(file, lineterminator="\n")
        quoted = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        plain.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            # Python 3.11 leaves a carriage return unquoted where lines do not end with one, and then cannot read it.
            writer = quoted if any("\r" in str(value) for value in row) else plain
            writer.writerow(row)


def _write_tsv(path: Path, columns: dict[str, list[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("\t".join(columns) + "\n")
        for number, row in enumerate(zip(*columns.values(), strict=True), 1):
            fields = [str(value) for value in row]
            if any("\t" in field or "\n" in field for field in fields):
                raise InputError(f"row {number} has a tab or a line break, which a tsv cannot hold; write a csv")
            file.write("\t".join(fields) + "\n")


def _write_jsonl(path: Path, columns: dict[str, list[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        for row in zip(*columns.values(), strict=True):
            file.write(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) + "\n")


def _write_parquet(path: Path, columns: dict[str, list[Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), path)


_WRITERS = {".csv": _write_csv, ".tsv": _write_tsv, ".jsonl": _write_jsonl, ".parquet": _write_parquet}
