"""Tokenised texts as flat arrays, with their windows and their words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theodolite.errors import InputError
from theodolite.words import has_letter_or_number, units, units_of_pieces

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Words:
    """Occurrences of units (words, or single tokens) in a run of texts, one entry each, in text order.

    text: (w,) index of the text; position: (w,) place of the unit in its text; key: w strings that compare
    equal where the tokenizer cannot tell two words apart; start, stop: (w,) the flat range of its pieces.
    """

    text: Ints
    position: Ints
    key: list[str]
    start: Ints
    stop: Ints

    def __len__(self) -> int:
        return len(self.key)

    @cached_property
    def by_text(self) -> Ints:
        """(texts with words,) where each text's words begin; see ``texts``."""
        return np.flatnonzero(np.diff(self.text, prepend=-1))

    @cached_property
    def texts(self) -> Ints:
        """The indices of the texts that have words, ascending."""
        return self.text[self.by_text]


@dataclass(frozen=True)
class Tokens:
    """A run of n texts (or pairs) as flat arrays of t pieces, special tokens out.

    ids: (t,) vocabulary ids; start, end: (t,) character offsets in the text (in text_b for the second of a
    pair); bounds: (n + 1,) each text's pieces; split: (n,) where the second text of a pair begins, counted
    from the text's first piece (its length where there is no second).
    """

    texts: list[str]
    texts_b: list[str] | None
    ids: Ints
    start: Ints
    end: Ints
    bounds: Ints
    split: Ints

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def lengths(self) -> Ints:
        """(n,) number of pieces of each text."""
        return np.diff(self.bounds)

    def take(self, which: Ints) -> Tokens:
        """The chosen texts, in the order given."""
        pieces = flat_ranges(self.bounds[which], self.lengths[which])
        return Tokens(
            texts=[self.texts[i] for i in which],
            texts_b=None if self.texts_b is None else [self.texts_b[i] for i in which],
            ids=self.ids[pieces],
            start=self.start[pieces],
            end=self.end[pieces],
            bounds=np.concatenate([[0], np.cumsum(self.lengths[which])]),
            split=self.split[which],
        )


def flat_ranges(starts: Ints, lengths: Ints) -> Ints:
    """The concatenation of ``range(start, start + length)`` over pairs of them.

    >>> flat_ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    ends = np.cumsum(lengths)
    found: Ints = np.arange(int(lengths.sum())) + np.repeat(starts - (ends - lengths), lengths)
    return found


class Tokenizer:
    """A fast tokenizer, the special tokens it puts around a text, and its own normalisation.

    ``template(pair)`` gives the special ids before, between and after, and the type ids of the parts.
    """

    def __init__(self, fast: Any, name: str) -> None:
        backend = getattr(fast, "backend_tokenizer", None)
        if backend is None:
            raise InputError(f"{name}: its tokenizer has no fast version (tokenizer.json), which offsets need")
        # Length limits are ours (windows), so the truncation and padding that a folder may declare are off.
        backend.no_truncation()
        backend.no_padding()
        self._backend = backend
        self._special = {*fast.all_special_ids} - {fast.unk_token_id}
        special, added = fast.all_special_ids, backend.get_added_tokens_decoder()
        self._added: dict[int, str] = {i: token.content for i, token in added.items() if i not in special}
        self.pad_id = int(fast.pad_token_id if fast.pad_token_id is not None else 0)
        self.unknown_id: int | None = fast.unk_token_id
        self.mask_id = None if fast.mask_token_id is None else int(fast.mask_token_id)
        self.max_length = int(min(fast.model_max_length, 10**9))
        self.single = self._template(pair=False)
        self.pair = self._template(pair=True)
        self._keys: dict[str, str | None] = {}

    def __call__(self, texts: Sequence[str], texts_b: Sequence[str] | None = None) -> Tokens:
        """Tokenise texts, or pairs of them, without special tokens and without a limit."""
        texts = list(texts)
        first = self._backend.encode_batch(texts, add_special_tokens=False)
        if texts_b is None:
            groups: list[tuple[Any, ...]] = [(e,) for e in first]
        else:
            second = self._backend.encode_batch(list(texts_b), add_special_tokens=False)
            groups = list(zip(first, second, strict=True))
        lengths = np.array([sum(len(e.ids) for e in group) for group in groups], np.int64)
        flat = [e for group in groups for e in group]
        offsets = np.array([pair for e in flat for pair in e.offsets], np.int64).reshape(-1, 2)
        return Tokens(
            texts=texts,
            texts_b=None if texts_b is None else list(texts_b),
            ids=np.array([i for e in flat for i in e.ids], np.int64),
            start=offsets[:, 0],
            end=offsets[:, 1],
            bounds=np.concatenate([[0], np.cumsum(lengths)]),
            split=np.array([len(group[0].ids) for group in groups], np.int64),
        )

    def words(self, tokens: Tokens) -> Words:
        """The words of the first text of each row: units with a letter or number and at least one piece."""
        starts, ends, counts = _unit_spans(tokens.texts)
        base, piece_base = _bases(tokens, counts)
        first = flat_ranges(tokens.bounds[:-1], tokens.split)
        unit = units_of_pieces(tokens.start[first] + piece_base, tokens.end[first] + piece_base, starts, ends)
        return self._occurrences(tokens, first, unit, starts - base, ends - base, counts, self._key_of_word)

    def pieces(self, tokens: Tokens) -> Words:
        """The pieces themselves as units, where they hold a letter or number."""
        counts = tokens.split
        first = flat_ranges(tokens.bounds[:-1], counts)
        each = np.arange(len(first))
        ids = tokens.ids[first].tolist()
        strings = [None if i in self._special else self._backend.id_to_token(i) for i in ids]
        # The key of a piece is its vocabulary entry, not its letters: '##able' and 'able' are two.
        keys = iter(strings)
        return self._occurrences(
            tokens,
            first,
            each,
            tokens.start[first],
            tokens.end[first],
            counts,
            lambda text: _piece_key(text, next(keys)),
        )

    def _occurrences(
        self,
        tokens: Tokens,
        pieces: Ints,
        unit: Ints,
        starts: Ints,
        ends: Ints,
        counts: Ints,
        key_of: Callable[[str], str | None],
    ) -> Words:
        text_of_unit = np.repeat(np.arange(len(tokens)), counts)
        place = np.arange(len(text_of_unit)) - np.repeat(np.cumsum(counts) - counts, counts)
        keys = [
            key_of(tokens.texts[t][a:b])
            for t, a, b in zip(text_of_unit.tolist(), starts.tolist(), ends.tolist(), strict=True)
        ]
        held = unit >= 0
        unit, pieces = unit[held], pieces[held]
        begins = np.flatnonzero(np.diff(unit, prepend=-1))
        stops = np.append(begins[1:], len(unit))
        found = unit[begins]
        kept = np.array([keys[u] is not None for u in found.tolist()], bool)
        found, begins, stops = found[kept], begins[kept], stops[kept]
        return Words(
            text=text_of_unit[found],
            position=place[found],
            key=[keys[u] or "" for u in found.tolist()],
            start=pieces[begins] if len(found) else np.empty(0, np.int64),
            stop=pieces[stops - 1] + 1 if len(found) else np.empty(0, np.int64),
        )

    def _key_of_word(self, word: str) -> str | None:
        if word not in self._keys:
            if len(self._keys) > 500_000:
                self._keys.clear()
            self._keys[word] = self.normalised(word) if has_letter_or_number(word) else None
        return self._keys[word]

    def piece(self, number: int) -> str:
        """The vocabulary's entry of a piece."""
        return str(self._backend.id_to_token(number))

    def pieces_of(self, words: Sequence[str]) -> list[list[int]]:
        """Each word's pieces where it follows another one: a vocabulary of bytes has others where a text begins.

        A mark of the blank by itself, as it stands before words that were added to the vocabulary, is none of them.
        """
        tokens = self([f"a {word}" for word in words])
        kept = tokens.end > 1
        for at in np.flatnonzero(np.isin(tokens.ids, list(self._added))).tolist():
            row = int(np.searchsorted(tokens.bounds, at, side="right")) - 1
            before = at - 1
            if before >= tokens.bounds[row]:
                kept[before] &= bool(tokens.texts[row][tokens.start[before] : tokens.end[before]].strip())
        ends = np.append(0, np.cumsum(kept))[tokens.bounds].tolist()
        ids = tokens.ids[kept].tolist()
        return [ids[begin:end] for begin, end in pairwise(ends)]

    def is_added(self, number: int) -> bool:
        """Whether an entry is a word that was added to the vocabulary: it has no marks and goes on with none."""
        return number in self._added

    @cached_property
    def word_mark(self) -> str:
        """What an entry begins with where it begins a word after a space; nothing where the others are marked."""
        return self.piece(int(self(["a a"]).ids[-1])).removesuffix("a")

    def letters(self, number: int) -> str:
        """The characters that an entry stands for, without the mark that it begins a word."""
        if number in self._added:
            return self._added[number]
        plain = self.piece(number).removeprefix(self.word_mark)
        return plain if self.word_mark != "Ġ" else from_bytes(plain)

    def is_special(self, number: int) -> bool:
        """Whether a piece is a special token (one for unknown words is not)."""
        return number in self._special

    def normalised(self, word: str) -> str:
        """A word as the tokenizer sees it (an uncased one folds case).

        Words that compare equal under it are the same word to the model.
        """
        normalizer = self._backend.normalizer
        plain = word if normalizer is None else normalizer.normalize_str(word).strip(" ▁")
        return plain or word

    def _template(self, pair: bool) -> Template:
        probe = self._backend.encode("a", add_special_tokens=False).ids
        whole = self._backend.encode(*(["a"] * (2 if pair else 1)))
        ids, types = list(whole.ids), list(whole.type_ids)
        at = _find(ids, probe, 0)
        again = _find(ids, probe, at + len(probe)) if pair else at
        return Template(
            before=ids[:at],
            between=ids[at + len(probe) : again],
            after=ids[again + len(probe) :],
            type_b=types[again],
        )


@dataclass(frozen=True)
class Template:
    """Special ids around one text or two, and the type id of the second text."""

    before: list[int]
    between: list[int]
    after: list[int]
    type_b: int

    def __len__(self) -> int:
        return len(self.before) + len(self.between) + len(self.after)


def from_bytes(piece: str) -> str:
    """The characters of an entry of a vocabulary of bytes (RoBERTa's and its kin), which writes them as letters.

    >>> from_bytes("cafÃ©")
    'café'
    """
    from tokenizers.decoders import ByteLevel

    return str(ByteLevel().decode([piece]))


def _find(ids: list[int], part: list[int], start: int) -> int:
    for at in range(start, len(ids) - len(part) + 1):
        if ids[at : at + len(part)] == part:
            return at
    raise InputError("this tokenizer changes a text when it adds its special tokens, which is not supported")


def _unit_spans(texts: list[str]) -> tuple[Ints, Ints, Ints]:
    """Units of all texts in one coordinate: text i's characters begin where text i - 1's end, plus one."""
    starts: list[int] = []
    ends: list[int] = []
    counts: list[int] = []
    base = 0
    for text in texts:
        found = units(text)
        starts += [base + start for start, _ in found]
        ends += [base + end for _, end in found]
        counts.append(len(found))
        base += len(text) + 1
    return np.array(starts, np.int64), np.array(ends, np.int64), np.array(counts, np.int64)


def _bases(tokens: Tokens, counts: Ints) -> tuple[Ints, Ints]:
    sizes = np.array([len(t) + 1 for t in tokens.texts], np.int64)
    begin = np.cumsum(sizes) - sizes
    return np.repeat(begin, counts), np.repeat(begin, tokens.split)


def _piece_key(text: str, token: str | None) -> str | None:
    return token if has_letter_or_number(text) else None
