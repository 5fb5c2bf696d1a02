"""The directions of a reading, looked up by name: its tables are put in order once, and a page takes a few rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from theodolite.illusion.features import LONG, SHORT
from theodolite.illusion.reading import MEANING, VERDICTS
from theodolite.illusion.single_tokens import MARKS
from theodolite.reading import Reading, plain
from theodolite.studio.directions_marks import LONGEST, Marker, features_named, token_spans
from theodolite.studio.directions_models import (
    Direction,
    InCorpus,
    Listed,
    Listing,
    Named,
    Overview,
    Pattern,
    Rate,
    Sentence,
    Verdict,
)
from theodolite.studio.faults import NotFound

Row = dict[str, Any]


class ByDirection:
    """A table whose rows are found by their direction without going over the others."""

    def __init__(self, table: pa.Table) -> None:
        column = table["direction"].combine_chunks().dictionary_encode()
        codes: NDArray[np.int32] = column.indices.to_numpy()
        order = np.argsort(codes, kind="stable")
        names = column.dictionary.to_pylist()
        bounds = np.searchsorted(codes[order], np.arange(len(names) + 1))
        self._table, self._order = table, order
        self._ranges = {name: (int(bounds[i]), int(bounds[i + 1])) for i, name in enumerate(names)}

    def rows(self, direction: str) -> list[Row]:
        """Its rows, in the table's order."""
        low, high = self._ranges.get(direction, (0, 0))
        found: list[Row] = plain(self._table.take(pa.array(self._order[low:high])).to_pylist())
        return found


class Book:
    """All directions of one reading of illusion."""

    def __init__(self, reading: Reading) -> None:
        self._tables, self._manifest = reading.tables, reading.manifest
        self.options: Row = reading.manifest.get("options", {})
        self._verdicts: dict[str, Row] = {r["direction"]: r for r in plain(reading.tables["verdicts"].to_pylist())}
        self.names = list(self._verdicts)
        self._place = {name: i for i, name in enumerate(self.names)}
        self.corpora: list[str] = [str(r["corpus"]) for r in reading.tables["corpora"].to_pylist()]

    def __contains__(self, name: str) -> bool:
        return name in self._verdicts

    @cached_property
    def _parts(self) -> dict[str, ByDirection]:
        wanted = ("top", "bottom", "patterns", "locality")
        return {name: ByDirection(self._tables[name]) for name in wanted if name in self._tables}

    def overview(self) -> Overview:
        """What is said of all directions."""
        found = [r["verdict"] for r in self._verdicts.values()]
        rates = plain(self._tables["illusion_rate"].to_pylist())
        shown = self._tables["shown"]["direction"].to_pylist() if "shown" in self._tables else []
        return Overview(
            corpora=self.corpora,
            unit=self.options.get("unit", "text"),
            top=self.options.get("top", 10),
            layer=self.options.get("layer", -1),
            pooling=self.options.get("pooling", "own"),
            seed=self.options.get("seed", 0),
            dim=self._manifest.get("encoder", {}).get("dim"),
            kinds=list(dict.fromkeys(r["kind"] for r in self._verdicts.values())),
            verdicts=[Verdict(verdict=v, meaning=MEANING[v], directions=found.count(v)) for v in VERDICTS],
            rates=[_rate(row) for row in rates],
            shown=list(dict.fromkeys(shown)),
        )

    def listing(
        self, kind: str, verdict: str, word: str, sort: str, descending: bool, offset: int, limit: int
    ) -> Listing:
        """A page of those that are asked for: of a kind, with a verdict, with a word in a pattern or in the name."""
        sought = word.casefold().strip()
        chosen = [
            one
            for one in self._listed
            if (not kind or one.kind == kind)
            and (not verdict or one.verdict == verdict)
            and (not sought or _mentions(one, self._patterns_of[one.name], sought))
        ]
        if sort != "name":
            # What is missing comes last, whichever way round.
            of = {one.name: _key(one, sort) for one in chosen}
            there = [one for one in chosen if of[one.name] is not None]
            there.sort(key=lambda one: of[one.name] or 0.0, reverse=descending)
            chosen = there + [one for one in chosen if of[one.name] is None]
        elif descending:
            chosen = chosen[::-1]
        return Listing(total=len(chosen), offset=offset, directions=chosen[offset : offset + limit])

    @cached_property
    def _patterns_of(self) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = {name: [] for name in self.names}
        if "patterns" in self._tables:
            for row in plain(self._tables["patterns"].to_pylist()):
                found[row["direction"]].append(row)
        return found

    @cached_property
    def _listed(self) -> list[Listed]:
        found = []
        for name, row in self._verdicts.items():
            patterns = self._patterns_of[name]
            first = {r["corpus"]: r for r in reversed(patterns)}
            found.append(
                Listed(
                    name=name,
                    kind=row["kind"],
                    verdict=row["verdict"],
                    patterns=[
                        Named(corpus=c, pattern=first[c]["pattern"], hits=first[c]["hits"])
                        for c in self.corpora
                        if c in first
                    ],
                    different_patterns=row["different_patterns"],
                    locality=row["locality"],
                    locality_control=row["locality_control"],
                    p=min((r["p_adjusted"] for r in patterns), default=None),
                )
            )
        return sorted(found, key=lambda one: _natural(one.name))

    @cached_property
    def _in_order(self) -> list[str]:
        return [one.name for one in self._listed]

    def direction(self, name: str) -> Direction:
        """The page of a direction."""
        if name not in self._verdicts:
            raise NotFound(f"the reading has no direction '{name}'")
        row = self._verdicts[name]
        parts = {table: part.rows(name) for table, part in self._parts.items()}
        at = self._in_order.index(name)
        return Direction(
            name=name,
            kind=row["kind"],
            verdict=row["verdict"],
            meaning=MEANING.get(row["verdict"]),
            pattern=row["pattern"],
            pattern_of=row["pattern_of"],
            carried_to=row["carried_to"] or [],
            different_patterns=row["different_patterns"],
            locality=row["locality"],
            locality_control=row["locality_control"],
            corpora=[self._in_corpus(corpus, parts) for corpus in self.corpora],
            live=False,
            before=self._in_order[at - 1] if at else None,
            after=self._in_order[at + 1] if at + 1 < len(self._in_order) else None,
        )

    def _in_corpus(self, corpus: str, parts: dict[str, list[Row]]) -> InCorpus:
        mine = {table: [r for r in rows if r["corpus"] == corpus] for table, rows in parts.items()}
        patterns = [
            Pattern(pattern=r["pattern"], kind=r["kind"], hits=r["hits"], p_adjusted=r["p_adjusted"])
            for r in mine.get("patterns", [])
        ]
        near = (mine.get("locality") or [{}])[0]
        return InCorpus(
            corpus=corpus,
            patterns=patterns,
            top=self._sentences(mine["top"], patterns),
            bottom=self._sentences(mine["bottom"], []),
            locality=near.get("locality"),
            control=near.get("control"),
        )

    def _sentences(self, rows: list[Row], patterns: list[Pattern]) -> list[Sentence]:
        if self.options.get("unit") != "token":
            return sentences(rows, patterns)
        # A single token shows a pattern by itself: nothing around it is marked.
        return [_token(row) for row in rows]


def _token(row: Row) -> Sentence:
    spans = token_spans(row["text"])
    cut = sum(len(span.text) for span in spans) + len("".join(MARKS)) < len(row["text"])
    return Sentence(row=row["row"], score=row["score"], deviations=row["deviations"], spans=spans, cut=cut, shows=[])


def sentences(rows: Sequence[Row], patterns: Sequence[Pattern]) -> list[Sentence]:
    """Texts at one end of a direction (row, score, deviations, text), with the words of their patterns marked."""
    named = [features_named(pattern.pattern) for pattern in patterns]
    markers = [Marker(row["text"]) for row in rows]
    shown: list[list[int]] = [[] for _ in rows]
    for number, (pattern, features) in enumerate(zip(patterns, named, strict=True)):
        if features[0].value in (SHORT, LONG):
            # What is short is up to the corpus, but it must be the shortest that are.
            order = sorted(range(len(rows)), key=lambda i: markers[i].length, reverse=features[0].value == LONG)
            showing = set(order[: pattern.hits])
        else:
            showing = {i for i, marker in enumerate(markers) if any(map(marker.shows, features))}
        for i in showing:
            shown[i].append(number)
    every = [feature for features in named for feature in features]
    return [
        Sentence(
            row=row["row"],
            score=row["score"],
            deviations=row["deviations"],
            spans=marker.spans(every),
            cut=len(row["text"]) > LONGEST,
            shows=shows,
        )
        for row, marker, shows in zip(rows, markers, shown, strict=True)
    ]


def _rate(row: Row) -> Rate:
    return Rate(
        kind=row["kind"],
        directions=row["directions"],
        with_pattern=row["with_pattern"],
        rate=row["illusion_rate"],
        low=row["illusion_rate_low"],
        high=row["illusion_rate_high"],
        random_sets=row["random_sets_with_pattern"],
        random_sets_low=row["random_sets_with_pattern_low"],
        random_sets_high=row["random_sets_with_pattern_high"],
    )


def _mentions(one: Listed, patterns: list[Row], sought: str) -> bool:
    return sought in one.name.casefold() or any(sought in str(r["pattern"]).casefold() for r in patterns)


def _key(one: Listed, sort: str) -> float | None:
    return {"pattern": one.p, "locality": one.locality, "patterns": float(one.different_patterns)}[sort]


def _natural(name: str) -> tuple[str, int, str]:
    """Neuron 9 comes before neuron 10."""
    kind, number = re.sub(r"\d+$", "", name), re.search(r"(\d+)$", name)
    return kind, int(number[1]) if number else -1, name
