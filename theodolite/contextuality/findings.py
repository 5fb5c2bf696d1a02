"""What the numbers say, in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Row = dict[str, Any]

# A word met a few times has a noisy self-similarity; only words met this often are named in a sentence.
NAMED_FROM = 10
ADJUSTED = {
    "self_similarity_adjusted": "the likeness of a word to itself in other texts (adjusted self-similarity)",
    "intra_sentence_similarity_adjusted": "the likeness of the words of one text (adjusted intra-sentence similarity)",
}


def findings(layers: Sequence[Row], words: Sequence[Row]) -> list[str]:
    """Sentences on each encoder: first what holds over all its corpora, then each corpus."""
    found = []
    for encoder in dict.fromkeys(r["encoder"] for r in layers):
        corpora = {
            corpus: [r for r in layers if (r["encoder"], r["corpus"]) == (encoder, corpus)]
            for corpus in dict.fromkeys(r["corpus"] for r in layers if r["encoder"] == encoder)
        }
        if len(corpora) > 1:
            every = "both corpora" if len(corpora) == 2 else f"all {len(corpora)} corpora"
            found += [f"{encoder} on {every}: {s}" for s in _over_corpora(corpora)]
        for corpus, mine in corpora.items():
            said = [w for w in words if (w["encoder"], w["corpus"]) == (encoder, corpus)]
            found += [f"{encoder} on {corpus}: {s}" for s in [*_of_layers(mine), *_of_words(said)]]
    return found


def comparison(layers: Sequence[Row]) -> list[str]:
    """One sentence a corpus that sets several encoders side by side."""
    encoders = list(dict.fromkeys(r["encoder"] for r in layers))
    found = []
    for corpus in dict.fromkeys(r["corpus"] for r in layers):
        last = {e: [r for r in layers if (r["encoder"], r["corpus"]) == (e, corpus)][-1] for e in encoders}
        parts = [
            f"{e} has {r['anisotropy']:.2f} between random words and, above that, {r['self_similarity_adjusted']:.2f} "
            f"between uses of one word"
            if _known(r, "anisotropy", "self_similarity_adjusted")
            else f"{e} could not be measured"
            for e, r in last.items()
        ]
        found.append(f"In the last layer on {corpus}, {'; '.join(parts)}.")
    return found


def _over_corpora(corpora: Mapping[str, Sequence[Row]]) -> list[str]:
    """What holds in how many of the corpora."""
    every = list(corpora.values())
    n, count = every[0][-1]["layer"], len(every)
    sentences = []
    cosines = sorted((rows[-1]["anisotropy"], name) for name, rows in corpora.items() if _known(rows[-1], "anisotropy"))
    if len(cosines) == count:
        low, high = cosines[0], cosines[-1]
        peaks = {max(rows, key=lambda r: r["anisotropy"])["layer"] for rows in every}
        where = f"layer {peaks.pop()} in each" if len(peaks) == 1 else f"layers {', '.join(map(str, sorted(peaks)))}"
        sentences.append(
            f"two random words have a cosine of {low[0]:.2f} ({low[1]}) to {high[0]:.2f} ({high[1]}) in layer {n}; "
            f"it is highest in {where}."
        )
    for name, what in ADJUSTED.items():
        if not any(trend([r[name] for r in rows]) for rows in every):
            sentences.append(f"{what} could not be measured.")
            continue
        falls = sum(trend([r[name] for r in rows]) == "falls" for rows in every)
        rises = sum(trend([r[name] for r in rows]) == "rises" for rows in every)
        way, many = ("falls", falls) if falls >= rises else ("rises", rises)
        turns = sum(last_turn(rows, name) == ("up" if way == "falls" else "down") for rows in every)
        said = f"{what} {way} with depth in {many} of {count}"
        if turns:
            said += f", and {'rises' if way == 'falls' else 'falls'} again in the last layer in {turns} of {count}"
        sentences.append(f"{said}.")
    shares = [rows[-1]["mev"] for rows in every if _known(rows[-1], "mev")]
    if shares:
        sentences.append(
            f"one fixed vector would explain {min(shares):.0%} to {max(shares):.0%} of a word's variation in layer {n}."
        )
    return sentences


def trend(values: Sequence[float]) -> str | None:
    """'rises', 'falls' or 'stays', from the first to the last by more than a hundredth; None where one is not known.

    >>> trend([0.1, 0.3]), trend([0.3, 0.301]), trend([0.3, math.nan])
    ('rises', 'stays', None)
    """
    change = values[-1] - values[0]
    if not math.isfinite(change):
        return None
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
    sentences = []
    if all(_known(r, "anisotropy") for r in rows):
        peak = max(rows, key=lambda r: r["anisotropy"])
        sentences.append(
            f"two random words have a cosine of {first['anisotropy']:.2f} in layer 0 and {last['anisotropy']:.2f} "
            f"in layer {n} (95% interval {last['anisotropy_low']:.3f} to {last['anisotropy_high']:.3f}); it is "
            f"highest in layer {peak['layer']}, at {peak['anisotropy']:.2f}."
        )
    for name, what in ADJUSTED.items():
        way, turn = trend([r[name] for r in rows]), last_turn(rows, name)
        if way is None:
            sentences.append(f"{what} could not be measured.")
            continue
        said = f"{what} {way}{' about the same' if way == 'stays' else ' with depth'}"
        if (way, turn) in {("falls", "up"), ("rises", "down")}:
            said += f", but {'rises' if turn == 'up' else 'falls'} again in layer {n}"
        sentences.append(f"{said}: {first[name]:.2f} in layer 0, {last[name]:.2f} in layer {n}.")
    if _known(last, "intra_sentence_similarity", "intra_sentence_shuffled"):
        sentences.append(
            f"in layer {n} the words of a text have a cosine of {last['intra_sentence_similarity']:.2f} with their "
            f"mean; random words in texts of the same lengths have {last['intra_sentence_shuffled']:.2f}."
        )
    if _known(last, "mev", "mev_baseline"):
        sentences.append(
            f"one fixed vector would explain {last['mev']:.0%} of a word's variation in layer {n} "
            f"({last['mev_baseline']:.0%} for as many random words, {first['mev']:.0%} in layer 0)."
        )
    return sentences


def _of_words(words: Sequence[Row]) -> list[str]:
    often = [w for w in words if w["contexts"] >= NAMED_FROM and math.isfinite(w["self_similarity_adjusted"][-1])]
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
    rows = [r for r in rows if _known(r, "loss")]
    if not rows:
        return []
    worst = max(rows, key=lambda r: r["loss"])
    idle = [str(r["layer"]) for r in rows if r["loss_high"] < 0]
    sentence = (
        f"{worst['encoder']} on {worst['judged_on']}: without layer {worst['layer']} the {worst['score_name']} falls "
        f"most, from {worst['score_whole']:.1f} to {worst['score']:.1f} (loss {worst['loss']:.1f}, 95% interval "
        f"{worst['loss_low']:.1f} to {worst['loss_high']:.1f})"
    )
    if worst["skipped"]:
        of = worst["rows"] + worst["skipped"]
        sentence += f"; {worst['skipped']} of {of} rows lack a label, or a text with tokens, and are left out"
    return [f"{sentence}; it does better without layer {' or '.join(idle)}." if idle else f"{sentence}."]


def _known(row: Row, *names: str) -> bool:
    """Whether a row has all these numbers; what could not be measured is NaN, or missing."""
    return all(row[name] is not None and math.isfinite(row[name]) for name in names)
