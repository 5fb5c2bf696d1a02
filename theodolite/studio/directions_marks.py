"""Where in a sentence a pattern shows, so that a reader can check it by eye."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from functools import cached_property

from theodolite.illusion.features import FORMS, Feature
from theodolite.illusion.single_tokens import MARKS
from theodolite.studio.directions_models import Span
from theodolite.words import has_letter_or_number, units

# A text is shown up to so many characters.
LONGEST = 4000

Places = list[tuple[int, int]]

_KINDS = {
    "word: ": "word",
    "words: ": "word",
    "word pair: ": "pair",
    "word pairs: ": "pair",
    "first word: ": "first",
}


def features_named(label: str) -> tuple[Feature, ...]:
    """The features in a pattern's label; of many, those that the label shows.

    >>> [f.value for f in features_named("words: song, album, …")]
    ['song', 'album']
    >>> features_named("is a question")
    (Feature(kind='form', value='is a question'),)
    """
    for before, kind in _KINDS.items():
        if label.startswith(before):
            values = label.removeprefix(before).split(", ")
            return tuple(Feature(kind, value) for value in values if value != "…")
    return (Feature("form", label),)


class Marker:
    """The words of one text, looked up in several patterns."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _units(self) -> list[tuple[int, int, str]]:
        return [(a, b, _folded(self._text[a:b])) for a, b in units(self._text)]

    @cached_property
    def _words(self) -> list[int]:
        """Which of the units say something."""
        return [i for i, (_, _, word) in enumerate(self._units) if has_letter_or_number(word)]

    def places(self, feature: Feature) -> Places:
        """Where a word, a pair of words or the first word stands; nothing for a form."""
        found = [self._units[i] for i in self._words]
        if feature.kind == "word":
            return [(a, b) for a, b, word in found if word == feature.value]
        if feature.kind == "first":
            return [(a, b) for a, b, word in found[:1] if word == feature.value]
        if feature.kind == "pair":
            near = [(i, j) for i, j in zip(self._words, self._words[1:], strict=False) if j == i + 1]
            both = [(self._units[i], self._units[j]) for i, j in near]
            return [(one[0], other[1]) for one, other in both if f"{one[2]} {other[2]}" == feature.value]
        return []

    @property
    def length(self) -> int:
        """The number of its words."""
        return len(self._words)

    def shows(self, feature: Feature) -> bool:
        """Whether the text shows a feature; what is short or long cannot be told from the text alone."""
        if feature.kind == "form":
            shown = FORMS.get(feature.value)
            return shown is not None and shown(unicodedata.normalize("NFC", self._text))
        return bool(self.places(feature))

    def spans(self, features: Sequence[Feature]) -> list[Span]:
        """The text in runs, those marked in which a feature stands."""
        shown = self._text[:LONGEST]
        spans, at = [], 0
        for start, end in _merged(place for feature in features for place in self.places(feature)):
            spans += [Span(text=shown[at:start], marked=False), Span(text=shown[start:end], marked=True)]
            at = end
        return [span for span in [*spans, Span(text=shown[at:], marked=False)] if span.text]


def token_spans(text: str) -> list[Span]:
    """A text whose token stands in brackets, with the token marked in their place.

    >>> [(span.text, span.marked) for span in token_spans("a ⟦b⟧ c")]
    [('a ', False), ('b', True), (' c', False)]
    """
    before, _, rest = text.partition(MARKS[0])
    token, _, after = rest.partition(MARKS[1])
    # The token may be far into its text.
    around = before[-LONGEST // 2 :], token[:LONGEST], after[: LONGEST // 2]
    spans = [Span(text=part, marked=i == 1) for i, part in enumerate(around)]
    return [span for span in spans if span.text]


def _merged(places: Iterable[tuple[int, int]]) -> Places:
    """Places in order, those that overlap made one."""
    found: Places = []
    for start, end in sorted(places):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _folded(unit: str) -> str:
    # As the features of a text are made.
    return unicodedata.normalize("NFC", unit).casefold().replace("’", "'")
