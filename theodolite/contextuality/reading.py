"""The reading of contextuality and its figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from theodolite.contextuality.findings import NAMED_FROM, comparison
from theodolite.figures import COLOURS, curve, legend, over_layers, panels, styled, two_ends
from theodolite.reading import Drawing, Overview, Reading, plain, side_by_side

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = dict[str, Any]

# The columns that a terminal has room for, by a heading of its own.
SHORT = {
    "layer": "layer",
    "anisotropy": "random words",
    "self_similarity": "self- sim.",
    "self_similarity_adjusted": "self- adj.",
    "intra_sentence_similarity": "intra- sent.",
    "intra_sentence_similarity_adjusted": "intra- adj.",
    "intra_sentence_shuffled": "shuf. texts",
    "mev": "MEV",
    "mev_adjusted": "MEV adj.",
}


class ContextualityReading(Reading):
    """Tables ``layers``, ``words`` and ``sampling``, each with columns encoder and corpus."""

    instrument: ClassVar[str] = "contextuality"

    @classmethod
    def beside(cls, readings: Sequence[ContextualityReading]) -> ContextualityReading:
        """Several encoders on the same corpora as one reading."""
        if len(readings) == 1:
            return readings[0]
        tables, manifest = side_by_side(readings)
        said = comparison(tables["layers"].to_pylist())
        return cls(tables, [*said, *(f for r in readings for f in r.findings)], manifest)

    def to_json(self) -> dict[str, Any]:
        """Layers and words at top of one encoder and corpus; else in ``encoders[]`` and ``corpora[]``."""
        rows = {name: table.to_pylist() for name, table in self.tables.items()}
        encoders = list(dict.fromkeys(r["encoder"] for r in rows["layers"]))
        corpora = list(dict.fromkeys(r["corpus"] for r in rows["layers"]))

        def of_corpus(encoder: str, corpus: str) -> dict[str, Any]:
            return {
                name: _without_names([r for r in table if r["encoder"] == encoder and r["corpus"] == corpus])
                for name, table in rows.items()
                if name != "importance"
            }

        def of_encoder(encoder: str) -> dict[str, Any]:
            one = len(corpora) == 1
            body = (
                of_corpus(encoder, corpora[0])
                if one
                else {"corpora": [{"corpus": c, **of_corpus(encoder, c)} for c in corpora]}
            )
            if "importance" in rows:
                body["importance"] = _without_names([r for r in rows["importance"] if r["encoder"] == encoder])
            return body

        body = (
            of_encoder(encoders[0])
            if len(encoders) == 1
            else {"encoders": [{"encoder": e, **of_encoder(e)} for e in encoders]}
        )
        found: dict[str, Any] = plain(
            {"instrument": self.instrument, "findings": self.findings, **body, "manifest": self.manifest}
        )
        return found

    def overview(self) -> list[Overview]:
        """A table of layers for each encoder and corpus, and one of what each layer is worth."""
        found = [
            Overview(f"{encoder} on {corpus}", list(SHORT.values()), [[r[c] for c in SHORT] for r in rows])
            for encoder, corpus in self._series()
            for rows in [self._rows(encoder, corpus)]
        ]
        if "importance" in self.tables:
            columns = ["encoder", "layer", "score", "loss", "loss_low", "loss_high"]
            rows = [[r[c] for c in columns] for r in self.tables["importance"].to_pylist()]
            found.append(Overview("A layer skipped", columns, rows))
        return found

    def drawings(self) -> dict[str, Drawing]:
        """Curves raw and adjusted, both ends of the words' ranking, words asked for, the layers' worth."""
        found = {
            "curves": Drawing(
                "Raw similarities by layer",
                "Each line is an encoder on a corpus, with its 95% interval. Dotted, in the same colour: its "
                "baseline, which is the anisotropy for self-similarity, texts of random words of the same "
                "lengths for intra-sentence similarity, and as many random words for MEV (the share of a "
                "word's variation that one vector explains). A raw value means nothing until its baseline is "
                "taken off.",
                self._draw_raw,
            ),
            "curves-adjusted": Drawing(
                "The same with each layer's baseline taken off",
                "What is left when anisotropy (for MEV, the value of random words) is subtracted. Falling "
                "self-similarity and MEV: a word depends more on its context the deeper the layer.",
                self._draw_adjusted,
            ),
        }
        ranked = self._most_ranked()
        if ranked:
            found["words"] = Drawing(
                "The words that context changes most and least",
                f"Adjusted self-similarity in the last layer of {'; '.join(' on '.join(s) for s in ranked)}; "
                f"words in at least {NAMED_FROM} texts; in brackets, in how many. Low: the vector depends on "
                "the text. High: almost a fixed vector.",
                self._draw_words,
            )
        for word in self._followed():
            found[f"word-{word}"] = Drawing(
                f"'{word}' through the layers",
                "Adjusted self-similarity and adjusted MEV of one word, layer by layer." + self._absent(word),
                lambda word=word: self._draw_word(word),  # type: ignore[misc]
            )
        if "importance" in self.tables:
            found["importance"] = Drawing(
                "What is lost when a layer is skipped",
                "Drop of the score when one layer hands its input on unchanged, with the 95% interval of a "
                "paired bootstrap over rows. Below zero: the encoder does better without the layer.",
                self._draw_importance,
            )
        return found

    def _series(self) -> list[tuple[str, str]]:
        rows = self.tables["layers"].select(["encoder", "corpus"]).to_pylist()
        return list(dict.fromkeys((r["encoder"], r["corpus"]) for r in rows))

    def _label(self, encoder: str, corpus: str) -> str:
        series = self._series()
        names = [
            name
            for name, all_of in ((encoder, {e for e, _ in series}), (corpus, {c for _, c in series}))
            if len(all_of) > 1
        ]
        return ", ".join(names) or f"{encoder}, {corpus}"

    def _rows(self, encoder: str, corpus: str, table: str = "layers") -> list[Row]:
        rows = self.tables[table].to_pylist()
        return [r for r in rows if r["encoder"] == encoder and r["corpus"] == corpus]

    def _ranked(self, encoder: str, corpus: str) -> list[Row]:
        words = [w for w in self._rows(encoder, corpus, "words") if w["contexts"] >= NAMED_FROM]
        return sorted(words, key=lambda w: float(w["self_similarity_adjusted"][-1]))

    def _most_ranked(self) -> list[tuple[str, str]]:
        """The first two series with words met often enough: a second view beside the first."""
        return [series for series in self._series() if self._ranked(*series)][:2]

    def _absent(self, word: str) -> str:
        """Where a word could not be followed, as the end of a caption."""
        rows = self.tables["words"].select(["encoder", "corpus", "word"]).to_pylist()
        held = {(r["encoder"], r["corpus"]) for r in rows if r["word"] == word}
        missing = [self._label(*series) for series in self._series() if series not in held]
        return f" Not drawn, for it is in too few texts there: {'; '.join(missing)}." if missing else ""

    def _followed(self) -> list[str]:
        """The words asked for with --word, as the tokenizer writes them."""
        rows = self.tables["words"].to_pylist()
        return list(dict.fromkeys(r["word"] for r in rows if r.get("followed")))[:12]

    def _draw_raw(self) -> Figure:
        return self._draw_curves(
            [
                ("Anisotropy: two random words", "anisotropy", None),
                ("Self-similarity: one word, many texts", "self_similarity", "anisotropy"),
                ("Intra-sentence: one text's words", "intra_sentence_similarity", "intra_sentence_shuffled"),
                ("MEV: one vector for one word", "mev", "mev_baseline"),
            ],
            columns=2,
        )

    def _draw_adjusted(self) -> Figure:
        return self._draw_curves(
            [
                ("Self-similarity", "self_similarity_adjusted", None),
                ("Intra-sentence", "intra_sentence_similarity_adjusted", None),
                ("MEV", "mev_adjusted", None),
            ],
            columns=3,
        )

    def _draw_curves(self, plots: list[tuple[str, str, str | None]], columns: int) -> Figure:
        series = self._series()
        with styled():
            figure, axes = panels(math.ceil(len(plots) / columns), columns)
            for place, (title, name, baseline) in zip(axes, plots, strict=True):
                for number, (encoder, corpus) in enumerate(series):
                    rows = self._rows(encoder, corpus)
                    layers = [r["layer"] for r in rows]
                    low, high = ([r[f"{name}_{end}"] for r in rows] for end in ("low", "high"))
                    label = self._label(encoder, corpus)
                    values = [r[name] for r in rows]
                    curve(place, layers, values, number=number, label=label, low=low, high=high)
                    if baseline:
                        values = [r[baseline] for r in rows]
                        curve(place, layers, values, number=number, label="_baseline", dotted=True)
                over_layers(place, title, _unit(name))
            if len(series) > 1:
                legend(figure, *axes[0].get_legend_handles_labels())
        return figure

    def _draw_words(self) -> Figure:
        shown = {series: self._ranked(*series) for series in self._most_ranked()}
        few = min(12, max(map(len, shown.values())) // 2) or 1
        with styled():
            figure, axes = panels(1, len(shown), width=3.6 * max(1.5, len(shown)), height=0.9 + 0.38 * few)
            for place, (series, ranked) in zip(axes, shown.items(), strict=True):
                bars = [(f"{w['word']} ({w['contexts']})", w["self_similarity_adjusted"][-1]) for w in ranked]
                two_ends(place, bars, few)
                place.set_title(self._label(*series))
                place.set_xlabel(_unit("self_similarity_adjusted"))
        return figure

    def _draw_word(self, word: str) -> Figure:
        with styled():
            figure, axes = panels(1, 2)
            for place, name, title in (
                (axes[0], "self_similarity_adjusted", "Self-similarity"),
                (axes[1], "mev_adjusted", "MEV"),
            ):
                for number, (encoder, corpus) in enumerate(self._series()):
                    for row in self._rows(encoder, corpus, "words"):
                        if row["word"] == word and row[name] is not None:
                            values = row[name]
                            label = f"{self._label(encoder, corpus)} ({row['occurrences']} times)"
                            curve(place, range(len(values)), values, number=number, label=label)
                over_layers(place, title, _unit(name))
            legend(figure, *axes[0].get_legend_handles_labels())
        return figure

    def _draw_importance(self) -> Figure:
        rows = self.tables["importance"].to_pylist()
        encoders = list(dict.fromkeys(r["encoder"] for r in rows))
        with styled():
            figure, axes = panels(1, len(encoders))
            for number, (place, encoder) in enumerate(zip(axes, encoders, strict=True)):
                mine = [r for r in rows if r["encoder"] == encoder]
                loss = [r["loss"] for r in mine]
                below, above = ([abs(r[f"loss_{end}"] - r["loss"]) for r in mine] for end in ("low", "high"))
                colour = COLOURS[number % len(COLOURS)]
                place.bar([r["layer"] for r in mine], loss, yerr=[below, above], color=colour, capsize=3)
                title, unit = f"{encoder} on {mine[0]['judged_on']}", f"loss of {mine[0]['score_name']}"
                over_layers(place, title, unit, x="layer skipped")
        return figure


def _unit(name: str) -> str:
    """What an axis counts, by the name of the measure."""
    mev, adjusted = name.startswith("mev"), name.endswith("adjusted")
    if mev:
        return "share above random words" if adjusted else "share of variance"
    return "cosine above anisotropy" if adjusted else "cosine"


def _without_names(rows: list[Row]) -> list[Row]:
    return [{k: v for k, v in row.items() if k not in ("encoder", "corpus")} for row in rows]
