"""The reading of similarity: its tables, what a terminal shows, coloured paragraphs, figures."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import pyarrow as pa

from theodolite.reading import Card, Drawing, Overview, Passage, Reading
from theodolite.similarity import drawing
from theodolite.similarity.tables import flat, in_json

Row = dict[str, Any]

CARDS = 8
SHOWN_PAIRS = 12
# Tables of this many rows and more are for a program; a JSON or a page has enough with the other ones.
_LARGE = ("words", "pairs")


class SimilarityReading(Reading):
    """Tables ``explanations`` (a row a pair and method, words and pairs as lists), ``words`` and ``pairs`` (flat), and,
    where asked for, ``randomisation``, ``deletion`` and ``deletion_curves``.
    """

    instrument: ClassVar[str] = "similarity"

    @classmethod
    def of(cls, tables: dict[str, pa.Table], findings: list[str]) -> Self:
        """The reading of explanations as they are kept; the vectors, which only findings need, are left out."""
        explanations = tables["explanations"]
        words, pairs = flat(explanations)
        slim = explanations.drop_columns(["vector_a", "vector_b"])
        rest = {name: table for name, table in tables.items() if name != "explanations"}
        return cls({"explanations": slim, "words": words, "pairs": pairs, **rest}, findings)

    def to_json(self) -> dict[str, Any]:
        """``explanations`` in the form of the instrument's page; those of one pair by one method also at the top."""
        shown = {name: table for name, table in self.tables.items() if name not in ("explanations", *_LARGE)}
        found = {**Reading(shown, self.findings, self.manifest).to_json(), "instrument": self.instrument}
        rows = [
            {"corpus": r["corpus"], "row": r["row"], **in_json(r, r["text_a"], r["text_b"])}
            for r in self.tables["explanations"].to_pylist()
        ]
        alone = rows[0] if len(rows) == 1 else {}
        return {**{k: v for k, v in alone.items() if k not in ("corpus", "row")}, "explanations": rows, **found}

    def overview(self) -> list[Overview]:
        """Of one pair its chosen words; of many their cosines; then the tests of truth."""
        rows = self._explained(CARDS)
        found = []
        if self._alone:
            for row in rows:
                chosen = [p for p in in_json(row, row["text_a"], row["text_b"])["pairs"] if p["chosen"]]
                cells = [[p[name] for name in ("a", "b", "similarity", "score")] for p in chosen[:SHOWN_PAIRS]]
                found.append(Overview(f"By {row['method']}", ["first text", "second text", "cosine", "score"], cells))
        else:
            columns = ["row", "method", "cosine", "cosine_own", "words"]
            cells = [[r["row"] + 1, r["method"], r["cosine"], r["cosine_own"], _named(r)] for r in rows]
            found.append(Overview(f"The first {len(rows)} of {len(self.tables['explanations']):,}", columns, cells))
        for title, name, columns in (
            ("With weights drawn anew", "randomisation", ["method", "change", "layers", "correlation", "overlap", "n"]),
            ("When salient words are deleted", "deletion", ["rank", "method", "area", "over_random", "over_bti"]),
        ):
            if name in self.tables:
                cells = [[r[c] for c in columns] for r in self.tables[name].to_pylist()]
                found.append(Overview(title, columns, cells))
        return found

    def cards(self) -> list[Card]:
        """The first pairs as coloured paragraphs; a number after a word joins it to its fellow in the other text."""
        return [_card(row, self._alone) for row in self._explained(CARDS)]

    def terminal_cards(self) -> list[Card]:
        """The one pair's."""
        return self.cards() if self._alone else []

    def drawings(self) -> dict[str, Drawing]:
        """Of one pair, its words and pairs; of many, their cosines; then the tests of truth."""
        found: dict[str, Drawing] = {}
        first = self._explained(1)[0]
        if self._alone:
            shown = in_json(first, first["text_a"], first["text_b"])
            found["pairs"] = Drawing(
                "The words that carry the likeness",
                f"By {first['method']}: the chosen pairs, the first text's word on the left; the thicker the line, the "
                "higher the score (cosine × both saliencies).",
                lambda: drawing.joined(shown),
            )
            found["words"] = Drawing(
                "Saliency of every word",
                f"By {first['method']}, in the order of the texts. Coloured bars are words of chosen "
                "pairs. Of a long text the most salient words are shown.",
                lambda: drawing.bars(shown),
            )
        if "deletion" in self.tables:
            found["deletion"] = Drawing(
                "Does the similarity fall when salient words are deleted?",
                "Fall of the similarity by the share of words deleted, most salient first, mean over pairs and both "
                "directions. Higher is better; dotted: in random order. Bands: 95% intervals over pairs.",
                lambda: drawing.deletion(self.tables["deletion_curves"].to_pylist()),
            )
        if "randomisation" in self.tables:
            found["randomisation"] = Drawing(
                "Do explanations depend on the weights?",
                "Rank correlation of saliencies with the trained model's as layers are drawn anew from the top, and of "
                "the whole model (right). A sound method falls; dotted: a harmless change. Bands: 95% intervals over "
                "pairs.",
                lambda: drawing.randomisation(self.tables["randomisation"].to_pylist()),
            )
        return found

    @property
    def _alone(self) -> bool:
        table = self.tables["explanations"]
        return len(table) == len(table["method"].unique())

    def _explained(self, number: int) -> list[Row]:
        rows: list[Row] = self.tables["explanations"].slice(0, number).to_pylist()
        return rows


def _named(row: Row, number: int = 3) -> str:
    pairs = in_json(row, row["text_a"], row["text_b"])["pairs"]
    return ", ".join(f"{p['a']}–{p['b']}" for p in pairs[:number] if p["chosen"])


def _card(row: Row, alone: bool) -> Card:
    shown = in_json(row, row["text_a"], row["text_b"])
    chosen = [p for p in shown["pairs"] if p["chosen"]][:SHOWN_PAIRS]
    passages = []
    for side, heading in (("a", "First text"), ("b", "Second text")):
        numbers: dict[int, list[str]] = {}
        for number, pair in enumerate(chosen, 1):
            numbers.setdefault(pair[f"index_{side}"], []).append(str(number))
        passages.append(_passage(heading, row[f"text_{side}"], shown[f"words_{side}"], numbers))
    joined = "; ".join(f"{n} {p['a']}–{p['b']} {p['score']:.2f}" for n, p in enumerate(chosen, 1))
    title = row["method"] if alone else f"{row['corpus']}, row {row['row'] + 1}, {row['method']}"
    return Card(title, f"cosine {row['cosine']:.3f}, under the model's own pooling {row['cosine_own']:.3f}. {joined}",
                passages=passages)  # fmt: skip


def _passage(heading: str, text: str, words: list[Row], numbers: dict[int, list[str]]) -> Passage:
    """The text in spans: words with their saliency, and what is between them."""
    highest = max((w["saliency"] for w in words), default=0.0) or 1.0
    spans: list[tuple[str, float]] = []
    notes: dict[int, str] = {}
    done = 0
    for index, word in enumerate(words):
        if word["start"] > done:
            spans.append((text[done : word["start"]], 0.0))
        spans.append((text[word["start"] : word["end"]], word["saliency"] / highest))
        if index in numbers:
            notes[len(spans) - 1] = ",".join(numbers[index])
        done = word["end"]
    if done < len(text):
        spans.append((text[done:], 0.0))
    return Passage(heading, spans, notes)
