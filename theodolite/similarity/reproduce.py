"""Source 002's experiments on fashion and wine: RecoBERT, randomised weights, and its Table 1 by deletion."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from theodolite.accumulate import hash_of, nearest, unit_vectors
from theodolite.claims import Claim, Reproduction
from theodolite.corpus import Corpus
from theodolite.corpus.items import read_items
from theodolite.encoder.resolve import resolve
from theodolite.errors import InputError
from theodolite.instrument import Progress
from theodolite.running import run
from theodolite.similarity.explanation import HARMLESS, WHOLE
from theodolite.similarity.instrument import Similarity
from theodolite.similarity.reading import SimilarityReading
from theodolite.train.recobert import RecobertTraining, train_recobert

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder
    from theodolite.store import Store

Row = dict[str, Any]

# File, and the columns of titles and descriptions.
CATALOGUES = {
    "fashion": ("fashion.csv.gz", "prod_name", "detail_desc"),
    "wine": ("wine.csv.gz", "title", "description"),
}
# Mean opinion scores of five people over 100 samples, source's Table 1.
OPINIONS = {
    "bti": "4.3 ± 0.3", "bti-gradients": "3.9 ± 0.3", "vanilla-gradients": "3.6 ± 0.5",
    "integrated-gradients": "3.5 ± 0.4", "bti-last-layer": "2.6 ± 0.5", "tfidf-w2v": "2.5 ± 0.5",
    "bti-activations": "2.4 ± 0.6",
}  # fmt: skip
# Items to train on: on two cores some minutes a catalogue. Pairs to explain: an item and the one most like it.
ITEMS = 3_000
PAIRS = 300
EXAMPLES = 3


def reproduce(data: Path, models: list[str], *, limit: int | None, store: Store, progress: Progress) -> Reproduction:
    """Train RecoBERT on each catalogue and explain pairs of like items, by the encoder as it was and as trained.

    limit: items of each catalogue (3,000 when not given), a tenth of them held out; a tenth as many pairs, at most 300.
    """
    from theodolite.encoder.encoder import Encoder

    size = ITEMS if limit is None else limit
    pairs = max(2, min(PAIRS, size // 10))
    claims: list[Claim] = []
    readings: list[SimilarityReading] = []
    for model in models:
        for name, (file, title, description) in CATALOGUES.items():
            path = data / "catalogue" / file
            if not path.exists():
                raise InputError(f"--data: no catalogue/{file} in {data}")
            items = read_items(path, title=title, description=description, sample=size)
            known = f"{Path(model).name}-{resolve(model).hash[:8]}-{items.hash[:12]}"
            out = store.folder("models") / f"recobert-{name}-{known}"
            scores = train_recobert(model, items, out, RecobertTraining(validation=0.1), progress=progress)
            claims.append(
                Claim(model, f"{name}: RecoBERT ({len(items):,} items)", "trained, not scored", scores.sentence(), None)
            )
            for label, encoder in (("as it was", Encoder.load(model)), ("RecoBERT", Encoder.load(out))):
                of = f"{name}, {Path(model).name} {label}" if len(models) > 1 else f"{name}, {label}"
                corpus = like_items(encoder, items, of, pairs)
                asked = Similarity(sanity=True, faithfulness=True)
                [found] = run([asked], encoder, [corpus], store=store, progress=progress)
                assert isinstance(found, SimilarityReading)
                readings.append(found)
                claims += _claims(model, corpus.name, found)
    title = "Explaining text similarity (source 002): published on RecoBERT from BERT-base, measured here"
    return Reproduction(title, claims, _joined(readings))


def like_items(encoder: Encoder, items: Corpus, name: str, number: int) -> Corpus:
    """A seeded choice of items, each with the item whose description is most like its own and not the same."""
    texts = list(dict.fromkeys(text for text in items.texts() if text.strip()))
    units = unit_vectors(encoder.embed(texts, pooling="mean"))
    chosen = np.sort(np.argsort(hash_of(0, np.arange(len(texts))), kind="stable")[:number])
    near = nearest(units[chosen], [units], 2)[1]
    first, second = [], []
    for mine, places in zip(chosen.tolist(), near.tolist(), strict=True):
        other = next(place for place in places if place != mine)
        first.append(texts[mine])
        second.append(texts[other])
    return Corpus.of(first, name, texts_b=second)


def _claims(model: str, name: str, found: SimilarityReading) -> Iterator[Claim]:
    drawn = {r["change"]: r for r in found.tables["randomisation"].to_pylist() if r["method"] == "bti"}
    correlation, harmless = drawn[WHOLE]["correlation"], drawn[HARMLESS]["correlation"]
    yield Claim(
        model,
        f"{name}: with weights drawn anew the explanation changes (Figure 4)",
        "another heat map, one example",
        f"rank correlation {_interval(drawn[WHOLE], 'correlation')}, chosen pairs shared {drawn[WHOLE]['overlap']:.2f} "
        f"over {drawn[WHOLE]['n']:,} pairs; after a harmless change {harmless:.3f}",
        correlation < 0.5 < harmless,
    )
    rows = {r["method"]: r for r in found.tables["deletion"].to_pylist()}
    for method, opinion in OPINIONS.items():
        row = rows[method]
        yield Claim(
            model,
            f"{name}: {method}",
            f"{opinion} (people's opinion, 1 to 5)",
            f"deletion lowers the cosine by {_interval(row, 'area')}, {row['over_random']:+.3f} over random order; "
            f"rank {row['rank']} of {len(rows)}",
            None,
        )
    theirs = list(OPINIONS)
    ours = sorted(OPINIONS, key=lambda method: int(rows[method]["rank"]))
    best = ours[0]
    yield Claim(
        model,
        f"{name}: bti is the best of the methods (Table 1)",
        f"yes, by people's opinion; in order {', '.join(theirs)}",
        f"by deletion {', '.join(ours)}",
        best == "bti",
    )
    for row in found.tables["explanations"].slice(0, EXAMPLES).to_pylist():
        shown = found.tables["pairs"].filter(pa.compute.equal(found.tables["pairs"]["row"], row["row"])).to_pylist()
        words = ", ".join(f"{p['a']}–{p['b']}" for p in shown[:6] if p["chosen"])
        yield Claim(model, f"{name}: an example as in Figure 3", "", f"cosine {row['cosine']:.2f}: {words}", None)


def _interval(row: Row, name: str) -> str:
    return f"{row[name]:.3f} ({row[f'{name}_low']:.3f} to {row[f'{name}_high']:.3f})"


def _joined(readings: list[SimilarityReading]) -> SimilarityReading:
    """All the readings' tables one after another, under the first one's manifest."""
    tables = {
        name: pa.concat_tables([r.tables[name] for r in readings], promote_options="permissive")
        for name in readings[0].tables
    }
    findings = [f for r in readings for f in r.findings]
    return SimilarityReading(
        tables, findings, {**readings[0].manifest, "plans": [r.manifest["plan"] for r in readings]}
    )
