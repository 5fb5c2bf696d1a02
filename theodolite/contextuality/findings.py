"""What the numbers say, in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]

# A word met a few times has a noisy self-similarity; only words met this often are named in a sentence.
NAMED_FROM = 10


def findings(layers: Sequence[Row], words: Sequence[Row]) -> list[str]:
    """Sentences for every encoder and corpus among the rows."""
    found = []
    for encoder, corpus in dict.fromkeys((r["encoder"], r["corpus"]) for r in layers):
        mine = [r for r in layers if (r["encoder"], r["corpus"]) == (encoder, corpus)]
        said = [w for w in words if (w["encoder"], w["corpus"]) == (encoder, corpus)]
        found += [f"{encoder} on {corpus}: {s}" for s in [*_of_layers(mine), *_of_words(said)]]
    return found


def trend(values: Sequence[float]) -> str:
    """'rises', 'falls' or 'stays', from the first to the last by more than a hundredth.

    >>> trend([0.1, 0.3]), trend([0.3, 0.301])
    ('rises', 'stays')
    """
    change = values[-1] - values[0]
    return "stays" if abs(change) <= 0.01 else "rises" if change > 0 else "falls"


def last_turn(rows: Sequence[Row], name: str) -> str | None:
    """'up' or 'down' where the last layer leaves the one before by more than both intervals allow."""
    if len(rows) < 3:
        return None
    before, last = rows[-2], rows[-1]
    if last[f"{name}_low"] > before[f"{name}_high"]:
        return "up"
    return "down" if last[f"{name}_high"] < before[f"{name}_low"] else None


def _of_layers(rows: Sequence[Row]) -> list[str]:
    first, last = rows[0], rows[-1]
    n = last["layer"]
    peak = max(rows, key=lambda r: r["anisotropy"])
    sentences = [
        f"two random words have a cosine of {first['anisotropy']:.2f} in layer 0 and {last['anisotropy']:.2f} "
        f"in layer {n} (95% interval {last['anisotropy_low']:.3f} to {last['anisotropy_high']:.3f}); it is "
        f"highest in layer {peak['layer']}, at {peak['anisotropy']:.2f}."
    ]
    for name, what in (
        ("self_similarity_adjusted", "the likeness of a word to itself in other texts (adjusted self-similarity)"),
        (
            "intra_sentence_similarity_adjusted",
            "the likeness of the words of one text (adjusted intra-sentence similarity)",
        ),
    ):
        way, turn = trend([r[name] for r in rows]), last_turn(rows, name)
        said = f"{what} {way}{' about the same' if way == 'stays' else ' with depth'}"
        if (way, turn) in {("falls", "up"), ("rises", "down")}:
            said += f", but {'rises' if turn == 'up' else 'falls'} again in layer {n}"
        sentences.append(f"{said}: {first[name]:.2f} in layer 0, {last[name]:.2f} in layer {n}.")
    sentences.append(
        f"in layer {n} the words of a text have a cosine of {last['intra_sentence_similarity']:.2f} with their mean; "
        f"random words in texts of the same lengths have {last['intra_sentence_shuffled']:.2f}."
    )
    if last["mev"] is not None and last["mev"] == last["mev"]:
        sentences.append(
            f"one fixed vector would explain {last['mev']:.0%} of a word's variation in layer {n} "
            f"({last['mev_baseline']:.0%} for as many random words, {first['mev']:.0%} in layer 0)."
        )
    return sentences


def _of_words(words: Sequence[Row]) -> list[str]:
    often = [w for w in words if w["contexts"] >= NAMED_FROM]
    if len(often) < 6:
        return []
    ranked = sorted(often, key=lambda w: w["self_similarity_adjusted"][-1])
    few = 5 if len(ranked) >= 10 else 3
    most = ", ".join(f"'{w['word']}'" for w in ranked[:few])
    least = ", ".join(f"'{w['word']}'" for w in reversed(ranked[-few:]))
    return [
        f"most changed by their context in the last layer are {most}; least are {least} "
        f"(of the {len(often)} measured words in at least {NAMED_FROM} texts)."
    ]


def importance_findings(rows: Sequence[Row]) -> list[str]:
    """Which layer matters most, and which could go."""
    worst = max(rows, key=lambda r: r["loss"])
    idle = [str(r["layer"]) for r in rows if r["loss_high"] < 0]
    sentence = (
        f"{worst['encoder']} on {worst['judged_on']}: without layer {worst['layer']} the {worst['score_name']} falls "
        f"most, from {worst['score_whole']:.1f} to {worst['score']:.1f} (loss {worst['loss']:.1f}, 95% interval "
        f"{worst['loss_low']:.1f} to {worst['loss_high']:.1f})"
    )
    return [f"{sentence}; it does better without layer {' or '.join(idle)}." if idle else f"{sentence}."]
