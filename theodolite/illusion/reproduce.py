"""Source 000's experiments on four corpora like its own, with the encoders at hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from theodolite.claims import Claim, Reproduction
from theodolite.corpus import Corpus
from theodolite.errors import InputError
from theodolite.illusion.instrument import Illusion
from theodolite.illusion.reading import IllusionReading
from theodolite.instrument import Progress
from theodolite.running import run

if TYPE_CHECKING:
    from theodolite.store import Store

# The source's corpus that each of ours stands for.
CORPORA = {"novels": "Books", "passages": "QNLI", "wiki": "Wiki", "questions": "QQP"}
# Monotonic, increasing, decreasing of its Table 3, in percent, by its corpora.
TABLE_3 = {
    ("Books",): (27.0, 13.4, 13.6),
    ("QNLI",): (22.7, 11.3, 11.4),
    ("Wiki",): (29.6, 14.7, 15.0),
    ("QQP",): (27.8, 13.9, 13.9),
    ("Books", "QNLI"): (7.4, 3.0, 2.9),
    ("Books", "Wiki"): (9.9, 4.3, 4.3),
    ("QNLI", "Wiki"): (10.9, 5.3, 5.4),
    ("Books", "QQP"): (9.2, 3.9, 3.9),
    ("QNLI", "QQP"): (7.7, 3.2, 3.2),
    ("Wiki", "QQP"): (9.8, 4.0, 4.1),
    ("Books", "QNLI", "Wiki"): (4.2, 1.8, 1.8),
    ("Books", "QNLI", "QQP"): (3.0, 1.2, 1.2),
    ("Books", "Wiki", "QQP"): (3.9, 1.7, 1.6),
    ("QNLI", "Wiki", "QQP"): (4.2, 1.8, 1.9),
    ("Books", "QNLI", "Wiki", "QQP"): (1.9, 0.8, 0.8),
}
TABLE_4 = ('"', "can", "is", "are", "was", "that", "if", "were", "to", "would")
# Meaningful, meaningless, p.
TABLE_5 = {
    "all": (0.026, 0.010, 0.0004),
    "QQP": (0.012, 0.003, 0.009),
    "QNLI": (0.014, 0.008, 0.090),
    "Wiki": (0.037, 0.016, 0.064),
    "Books": (0.042, 0.012, 0.014),
}

Rows = dict[str, list[dict[str, Any]]]


def reproduce(data: Path, models: list[str], *, limit: int | None, store: Store, progress: Progress) -> Reproduction:
    """Measure the four corpora and set the source's tables beside what came out."""
    from theodolite.encoder.encoder import Encoder

    corpora = [_corpus(data, name, limit) for name in CORPORA]
    claims: list[Claim] = []
    readings: list[Any] = []
    for model in models:
        encoder = Encoder.load(model)
        instrument = Illusion(pooling="cls", directions="neurons,random:100", map="none")
        [reading] = run([instrument], encoder, corpora, store=store, progress=progress)
        readings.append(reading)
        rows = {n: t.to_pylist() for n, t in reading.tables.items() if n not in ("top", "bottom")}
        claims += _claims(encoder.name, rows)
    title = "An Interpretability Illusion for BERT (source 000): published on BERT-base, measured here"
    return Reproduction(title, claims, readings[0] if len(readings) == 1 else _joined(readings))


def _joined(readings: list[IllusionReading]) -> IllusionReading:
    """The first encoder's reading, with the findings of all."""
    manifest = {**readings[0].manifest, "encoders": [r.manifest["encoder"] for r in readings]}
    return IllusionReading(readings[0].tables, [f for r in readings for f in r.findings], manifest)


def _corpus(data: Path, name: str, limit: int | None) -> Corpus:
    path = data / "corpora" / f"{name}.txt.gz"
    if not path.exists():
        raise InputError(f"--data {data}: no corpora/{name}.txt.gz in it")
    return Corpus.read(path, name, limit=limit)


def _claims(encoder: str, rows: Rows) -> list[Claim]:
    found = [_patterns(encoder, rows), _overlap(encoder, rows), _separable(encoder, rows)]
    found += [_table_3(encoder, row) for row in rows["monotonic"]]
    found += [_falling(encoder, rows), _table_4(encoder, rows)]
    found += [_table_5(encoder, row) for row in rows["locality_groups"]]
    return [*found, _outliers(encoder, rows), _persists(encoder, rows)]


def _patterns(encoder: str, rows: Rows) -> Claim:
    shares = {r["kind"]: r["pattern_share"] for r in rows["illusion_rate"]}
    by_chance = rows["illusion_rate"][0]["random_sets_with_pattern"]
    return Claim(
        encoder,
        f"{encoder}: top sentences of neurons and random directions alike show patterns, random sentences seldom",
        "by people: neurons 80%, random directions 82%, random sentences 14%",
        f"by machine: neurons {shares['neuron']:.0%}, random directions {shares['random']:.0%}, random sentences "
        f"{by_chance:.1%}",
        min(shares.values()) > 3 * by_chance,
    )


def _overlap(encoder: str, rows: Rows) -> Claim:
    value = rows["overlap"][0]["overlap"]
    return Claim(encoder, f"{encoder}: the ranges of the top 10 scores overlap", "38%", f"{value:.0%}", None)


def _separable(encoder: str, rows: Rows) -> Claim:
    told = rows["separability"][0]
    diagonal = {r["corpus"]: r["share"] for r in rows["confusion"] if r["corpus"] == r["answered"]}
    shares = ", ".join(f"{name} {share:.0%}" for name, share in diagonal.items())
    return Claim(
        encoder,
        f"{encoder}: a linear separator tells the corpora apart (Figure 4)",
        "most are easily separable",
        f"accuracy {told['accuracy']:.2f}, guessing {told['chance']:.2f}; right of each: {shares}",
        told["accuracy"] > 2 * told["chance"],
    )


def _table_3(encoder: str, row: dict[str, Any]) -> Claim:
    names = tuple(CORPORA[c] for c in row["corpora"])
    published = TABLE_3[names]
    measured = [100 * row[c] for c in ("monotonic", "increasing", "decreasing")]
    chance = 100 * row["baseline_shuffled"]
    return Claim(
        encoder,
        f"{encoder}: monotonic, rising, falling in {' + '.join(names)} (Table 3)",
        "{:.1f}, {:.1f}, {:.1f}%".format(*published),
        "{:.1f}, {:.1f}, {:.1f}% (shuffled {:.2f}%)".format(*measured, chance),
        measured[0] > 2 * chance,
    )


def _falling(encoder: str, rows: Rows) -> Claim:
    means = []
    for size in range(1, 5):
        mine = [r["monotonic"] for r in rows["monotonic"] if len(r["corpora"]) == size]
        means.append(100 * sum(mine) / len(mine))
    return Claim(
        encoder,
        f"{encoder}: fewer pairs are monotonic in more corpora (mean of one, two, three, four)",
        "26.8, 9.2, 3.8, 1.9%",
        ", ".join(f"{m:.1f}" for m in means) + "%",
        means == sorted(means, reverse=True),
    )


def _table_4(encoder: str, rows: Rows) -> Claim:
    tokens = rows.get("monotonic_tokens", [])
    mine = ", ".join(f"{r['token']} ({r['neurons']})" for r in tokens[:10])
    shared = set(TABLE_4) & {r["token"] for r in tokens[:20]}
    return Claim(
        encoder,
        f"{encoder}: tokens monotonic for most neurons in all corpora (Table 4)",
        ", ".join(TABLE_4),
        f"{mine}; {len(shared)} of its ten are among our twenty",
        None,
    )


def _table_5(encoder: str, row: dict[str, Any]) -> Claim:
    name = CORPORA.get(row["corpus"], "all")
    return Claim(
        encoder,
        f"{encoder}: locality of meaningful and meaningless sets, {name} (Table 5; here the machine says which)",
        "{:.3f} / {:.3f}, p = {:.4f}".format(*TABLE_5[name]),
        f"{row['meaningful']:.3f} / {row['meaningless']:.3f}, p = {row['p']:.1g} ({row['sets_with_pattern']} and "
        f"{row['sets_without']} sets)",
        bool(row["meaningful"] > row["meaningless"]),
    )


def _outliers(encoder: str, rows: Rows) -> Claim:
    row = next(r for r in rows["outliers"] if r["corpus"] == "questions")
    return Claim(
        encoder,
        f"{encoder}: in QQP the farthest 1% of sentences hold much of the top places",
        "48%; 4,551 different sentences among 7,680 places",
        f"{row['held_by_farthest_0.01']:.0%}; {row['different_texts']:,} among {row['places']:,}",
        row["held_by_farthest_0.01"] > 0.1,
    )


def _persists(encoder: str, rows: Rows) -> Claim:
    rates = {r["left_out"]: r["neuron_illusion_rate"] for r in rows["without_farthest"]}
    return Claim(
        encoder,
        f"{encoder}: the illusion persists without the farthest 1% and 10%",
        "it does",
        "illusion rate of the neurons: "
        + ", ".join(f"{rate:.0%} without {share:.0%}" if share else f"{rate:.0%}" for share, rate in rates.items()),
        all(rate > 0.5 * rates[0.0] for rate in rates.values()),
    )
