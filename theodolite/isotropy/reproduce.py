"""Source 004's experiments: STS, frozen classification, fine-tuning; published beside measured, and what holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from theodolite.claims import Claim, Reproduction
from theodolite.corpus import Corpus
from theodolite.errors import InputError
from theodolite.instrument import Progress
from theodolite.isotropy.findings import small
from theodolite.isotropy.instrument import Isotropy
from theodolite.isotropy.published import BY_FILE, BY_METHOD, FINE_TUNED, METHODS, PROPOSED
from theodolite.isotropy.reading import IsotropyReading
from theodolite.running import run

if TYPE_CHECKING:
    from theodolite.isotropy.finetuning import FineTuning
    from theodolite.store import Store

Row = dict[str, Any]

# The data sets, and the file of each in the data folder.
FILES = {
    "STS2012": "STS12.tsv",
    "STS2013": "STS13.tsv",
    "STS2014": "STS14.tsv",
    "STS2015": "STS15.tsv",
    "STS2016": "STS16.tsv",
    "STS-B": "STSB_dev.tsv",
    "SICK": "SICK_train.txt",
}
FROZEN_TEXTS = 6_000
# Sentences of Wikipedia for contrastive training: some minutes on two cores.
SENTENCES = 5_000


def reproduce(data: Path, models: list[str], *, limit: int | None, store: Store, progress: Progress) -> Reproduction:
    """Judge each encoder's last layer by STS, as it is and after every method, fitted on the evaluated texts; then
    classify SST-2 on frozen vectors, and fine-tune on RTE and WiC with and without the transform.

    limit: texts or pairs to train on; the files of STS that there are, STS-B's among them, are taken whole.
    """
    from theodolite.encoder.encoder import Encoder

    files = [data / "sts" / name for name in FILES.values() if (data / "sts" / name).exists()]
    if not (data / "sts" / FILES["STS-B"]).exists():
        raise InputError(f"--data: no sts/{FILES['STS-B']} in {data}")
    asked = Isotropy(sts=tuple(map(str, files)), methods=",".join(METHODS))
    claims: list[Claim] = []
    readings: list[IsotropyReading] = []
    epochs: list[Row] = []
    for model in models:
        [found] = run([asked], Encoder.load(model), asked.own_corpora(), store=store, progress=progress)
        assert isinstance(found, IsotropyReading)
        readings.append(found)
        claims += _claims(model, found.tables["sts"].to_pylist())
        claims += _frozen(model, data, limit)
        for name in FINE_TUNED:
            tuned, pairs = _tuned(model, name, data, limit, store, progress)
            claims += _fine_tuned(model, name, tuned, pairs)
            epochs += tuned.epochs
        claims += contrastive(model, data, limit, store, progress)
    title = (
        "Isotropy by clusters (source 004): published on BERT-base, measured here, each fitted on the evaluated texts; "
        "Pearson / Spearman / isotropy, which is measured over both signs of every direction; of STS-B the development "
        "set, of SICK the training set"
    )
    whole = IsotropyReading.beside(readings)
    tables = {**whole.tables, "cls_by_epoch": pa.Table.from_pylist(epochs)}
    return Reproduction(title, claims, IsotropyReading(tables, whole.findings, whole.manifest))


def _claims(model: str, rows: Sequence[Row]) -> Iterator[Claim]:
    of = {(_name(r["dataset"]), r["method"]): r for r in rows}
    there = [name for name in BY_FILE if (name, "none") in of]
    for name, published in BY_METHOD.items():
        for method, figures in published.items():
            yield Claim(model, f"{name}: {method}", _three(*figures), _measured(of, name, method), None)
    for name, pair in BY_FILE.items():
        for method, figures in zip(("none", PROPOSED), pair, strict=True):
            if name not in BY_METHOD:
                yield Claim(model, f"{name}: {method}", _three(*figures), _measured(of, name, method), None)
    on_b, published = {method: of["STS-B", method]["spearman"] for method in METHODS}, BY_METHOD["STS-B"]
    theirs = sorted(METHODS, key=lambda method: published[method][1])
    ours = sorted(METHODS, key=lambda method: on_b[method])
    yield Claim(model, "order of the methods on STS-B, worst first", ", ".join(theirs), ", ".join(ours), ours == theirs)
    ahead = {name: of[name, PROPOSED]["spearman"] - of[name, "abtt"]["spearman"] for name in there}
    yield Claim(
        model,
        "clusters do better than one mean and PCA of all (abtt)",
        _points({name: figures[PROPOSED][1] - figures["abtt"][1] for name, figures in BY_METHOD.items()}),
        _points(ahead),
        all(gain > 0 for gain in ahead.values()),
    )
    gains = {name: of[name, PROPOSED] for name in there}
    yield Claim(
        model,
        "clusters gain on every data set",
        _points({name: after[1] - before[1] for name, (before, after) in BY_FILE.items()}),
        ", ".join(
            f"{name} {r['gain']:+.1f} ({r['gain_low']:+.1f} to {r['gain_high']:+.1f})" for name, r in gains.items()
        ),
        all(row["gain_low"] > 0 for row in gains.values()),
    )


def _frozen(model: str, data: Path, limit: int | None) -> Iterator[Claim]:
    """A logistic regression on the CLS vectors of SST-2, before and after."""
    from functools import partial

    from theodolite.encoder.encoder import Encoder
    from theodolite.isotropy.frozen import features, frozen_accuracy
    from theodolite.rounding import rounder_of

    query = "?text=sentence&label=label"
    training = Corpus.read(f"{data / 'sst2' / 'train.tsv.gz'}{query}", limit=min(limit or FROZEN_TEXTS, FROZEN_TEXTS))
    given = features(Encoder.load(model), training, Corpus.read(f"{data / 'sst2' / 'dev.tsv'}{query}"))
    before, after = frozen_accuracy(given, ("none", PROPOSED), partial(rounder_of, options={}))
    yield Claim(
        model,
        f"SST-2 on frozen CLS vectors gains a little ({len(training):,} trained on)",
        "55.67 (8.0e-06) to 56.08",
        f"{_accuracy(before)} to {_accuracy(after)}; always one class: {100 * before['baseline']:.1f}",
        after["accuracy"] > before["accuracy"],
    )


def _tuned(
    model: str, name: str, data: Path, limit: int | None, store: Store, progress: Progress
) -> tuple[FineTuning, int]:
    """RTE or WiC, plain and with the transform on each batch's CLS vectors; and the number of pairs trained on."""
    from theodolite.isotropy.finetuning import fine_tuning, rte, wic
    from theodolite.train.classifier import Training

    training, held = {"RTE": rte, "WiC": wic}[name](data, limit)
    way = Training(epochs=3, evaluations=1)
    return fine_tuning(model, name, training, held, store.folder("models"), way, progress=progress), len(training)


def _fine_tuned(model: str, name: str, found: FineTuning, pairs: int) -> Iterator[Claim]:
    """Does the transform help inside the model, or applied to the plain model's vectors? And CLS, epoch by epoch."""
    from theodolite.isotropy.finetuning import HEAD

    plain, rounded = (r for r in found.rows if r["judge"] == HEAD)
    yield Claim(
        model,
        f"{name}: fine-tuning with the transform inside does not help ({pairs:,} pairs)",
        " to ".join(f"{accuracy:.1f} ({small(isotropy)})" for accuracy, isotropy in FINE_TUNED[name]),
        f"{_accuracy(plain)} to {_accuracy(rounded)}; always one class: {100 * plain['baseline']:.1f}",
        rounded["accuracy"] <= plain["high"],
    )
    before, after = (r for r in found.rows if r["judge"] != HEAD)
    measured = f"{_accuracy(before)} to {_accuracy(after)}"
    yield Claim(model, f"{name}: the transform applied to the plain model's CLS vectors", "", measured, None)
    mine = [r for r in found.epochs if r["training"] == plain["training"]]
    for epoch in sorted({r["epoch"] for r in mine}):
        layers = ", ".join(f"{small(r['partition'])} ({r['mean_offset']:.2f})" for r in mine if r["epoch"] == epoch)
        claim = f"{name}, plain, {epoch} epochs done: isotropy (mean offset) of CLS in layers 0, 1, …"
        yield Claim(model, claim, "", layers, None)
    last = max(mine, key=lambda r: (r["epoch"], r["layer"]))
    yield Claim(
        model,
        f"{name}: after fine-tuning CLS is zero-mean already, which is why it does not help",
        "zero-mean",
        f"mean offset {last['mean_offset']:.2f} in layer {last['layer']} after epoch {last['epoch']}",
        last["mean_offset"] < 0.1,
    )


def contrastive(model: str, data: Path, limit: int | None, store: Store, progress: Progress) -> Iterator[Claim]:
    """Source 001's remedy, unsupervised SimCSE: anisotropy layer by layer, and STS, before and after."""
    from theodolite.encoder.encoder import Encoder
    from theodolite.encoder.resolve import resolve
    from theodolite.train.folder import training_key
    from theodolite.train.simcse import SimcseTraining, train_simcse

    wiki = data / "corpora" / "wiki.txt.gz"
    if not wiki.exists():
        yield Claim(model, "SimCSE makes the space rounder", "", f"not measured: no corpora/{wiki.name}", None)
        return
    corpus, way = Corpus.read(wiki, limit=min(limit or SENTENCES, SENTENCES)), SimcseTraining(learning_rate=1e-4)
    key = training_key("simcse", resolve(model), corpus, way, None)
    trained = store.folder("models") / f"simcse-{Path(model).name}-{key[:12]}"
    train_simcse(model, corpus, trained, way, progress=progress)
    asked = Isotropy(layer="all", methods="none", sts=(str(data / "sts" / "STSB_dev.tsv"),))
    cosines: list[dict[int, float]] = []
    scores: list[Row] = []
    for encoder in (model, trained):
        [found] = run([asked], Encoder.load(encoder), asked.own_corpora(), store=store, progress=progress)
        cosines.append({r["layer"]: r["mean_cosine"] for r in found.tables["measures"].to_pylist() if _as_it_is(r)})
        scores.append(max(found.tables["sts"].to_pylist(), key=lambda row: int(row["layer"])))
    (was, now), last = cosines, max(cosines[0])
    how = f"SimCSE on {len(corpus):,} sentences of Wikipedia"
    yield Claim(
        model,
        f"{how}: anisotropy (mean cosine of STS-B's tokens) falls in the last layer",
        "lower",
        ", ".join(f"layer {layer} {was[layer]:.3f} to {now[layer]:.3f}" for layer in was),
        now[last] < was[last],
    )
    yield Claim(
        model,
        f"{how}: STS-B, Spearman in the last layer, rises",
        "higher",
        " to ".join(f"{r['spearman']:.1f} ({r['spearman_low']:.1f} to {r['spearman_high']:.1f})" for r in scores),
        scores[1]["spearman"] > scores[0]["spearman_high"],
    )


def _as_it_is(row: Row) -> bool:
    return bool(row["method"] == "none")


def _accuracy(row: Row) -> str:
    """Accuracy in percent with its interval, and the isotropy of the vectors."""
    value, low, high = (100 * row[name] for name in ("accuracy", "low", "high"))
    return f"{value:.1f} ({low:.1f} to {high:.1f}; isotropy {small(row['partition'])})"


def _name(dataset: str) -> str:
    """The source's name of a file's data set."""
    return next(name for name, file in FILES.items() if file.startswith(f"{dataset}."))


def _three(pearson: float, spearman: float, isotropy: float) -> str:
    return f"{pearson:.1f} / {spearman:.1f} / {small(isotropy)}"


def _measured(of: dict[tuple[str, str], Row], name: str, method: str) -> str:
    row = of.get((name, method))
    if row is None:
        return f"not measured: no sts/{FILES[name]}"
    interval = f"{row['spearman']:.1f} ({row['spearman_low']:.1f} to {row['spearman_high']:.1f})"
    return f"{row['pearson']:.1f} / {interval} / {small(row['partition'])}"


def _points(gains: dict[str, float]) -> str:
    return ", ".join(f"{name} {gain:+.1f}" for name, gain in gains.items())
