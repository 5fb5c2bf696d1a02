"""Source 004's experiments: STS, frozen classification, fine-tuning; published beside measured, and what holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theodolite.claims import Claim, Reproduction
from theodolite.corpus import Corpus
from theodolite.errors import InputError
from theodolite.instrument import Progress
from theodolite.isotropy.findings import small
from theodolite.isotropy.instrument import Isotropy
from theodolite.isotropy.reading import IsotropyReading
from theodolite.running import run

if TYPE_CHECKING:
    from theodolite.store import Store

Row = dict[str, Any]

PROPOSED = "kmeans+mean+pca"
# Files of the data folder, and the source's name for each data set where it has one.
FILES = {
    **{"STS12.tsv": "STS2012", "STS13.tsv": "STS2013", "STS14.tsv": "STS2014", "STSB_dev.tsv": "STS-B"},
    **{"SICK_train.txt": "SICK"},
}
# Pearson, Spearman, isotropy of STS-B by method.
BY_METHOD = {
    "none": (56.16, 54.09, 3.36e-5),
    "mean": (60.08, 57.00, 2.16e-6),
    "abtt": (47.40, 46.67, 9.61e-13),
    "kmeans+mean": (68.43, 64.25, 0.2376),
    "gmm+mean+pca": (70.53, 67.32, 0.6380),
    PROPOSED: (70.75, 67.50, 0.6353),
}
# … of each data set before and after.
BY_FILE = {
    "STS2012": ((45.46, 43.53, 2.97e-5), (72.67, 64.73, 0.55)),
    "STS2013": ((62.39, 59.50, 2.6e-4), (69.88, 68.89, 0.46)),
    "STS2014": ((56.71, 53.36, 3.84e-6), (66.11, 62.14, 0.53)),
    "STS-B": ((56.16, 54.09, 3.36e-5), (70.75, 67.50, 0.63)),
    "SICK": ((62.32, 59.38, 2.93e-4), (66.47, 63.07, 0.492)),
}


# Accuracy and isotropy of fine-tuning, plain and with the transform inside.
FINE_TUNED = {"RTE": ((65.3, 4.86e-5), (62.8, 0.29)), "WiC": ((64.04, 8.26e-4), (62.1, 0.13))}
FROZEN_TEXTS = 6_000
# Sentences of Wikipedia for contrastive training: some minutes on two cores.
SENTENCES = 5_000


def reproduce(data: Path, models: list[str], *, limit: int | None, store: Store, progress: Progress) -> Reproduction:
    """Judge each encoder's last layer by STS, as it is and after every method, fitted on the evaluated texts; then
    classify SST-2 on frozen vectors, and fine-tune on RTE and WiC with and without the transform.

    limit: texts or pairs to train on; the files of STS are taken whole.
    """
    from theodolite.encoder.encoder import Encoder

    files = [data / "sts" / name for name in FILES]
    missing = next((file for file in files if not file.exists()), None)
    if missing is not None:
        raise InputError(f"--data: no sts/{missing.name} in {data}")
    asked = Isotropy(sts=tuple(map(str, files)), methods=",".join(BY_METHOD))
    claims: list[Claim] = []
    readings: list[IsotropyReading] = []
    for model in models:
        [found] = run([asked], Encoder.load(model), asked.own_corpora(), store=store, progress=progress)
        assert isinstance(found, IsotropyReading)
        readings.append(found)
        claims += _claims(model, found.tables["sts"].to_pylist())
        claims += _frozen(model, data, limit)
        claims += _fine_tuned(model, data, limit, store, progress)
        claims += contrastive(model, data, limit, store, progress)
    title = (
        "Isotropy by clusters (source 004): published on BERT-base, measured here, each fitted on the evaluated texts"
    )
    return Reproduction(title, claims, IsotropyReading.beside(readings))


def _claims(model: str, rows: Sequence[Row]) -> Iterator[Claim]:
    of = {(FILES[_file(r["dataset"])], r["method"]): r for r in rows}
    for method, published in BY_METHOD.items():
        yield Claim(model, f"STS-B: {method}", _three(*published), _measured(of["STS-B", method]), None)
    for name, pair in BY_FILE.items():
        for method, published in zip(("none", PROPOSED), pair, strict=True):
            yield Claim(model, f"{name}: {method}", _three(*published), _measured(of[name, method]), None)
    on_b = {method: of["STS-B", method]["spearman"] for method in BY_METHOD}
    theirs = sorted(BY_METHOD, key=lambda method: BY_METHOD[method][1])
    ours = sorted(on_b, key=lambda method: on_b[method])
    yield Claim(model, "order of the methods on STS-B, worst first", ", ".join(theirs), ", ".join(ours), ours == theirs)
    ahead = {name: of[name, PROPOSED]["spearman"] - of[name, "abtt"]["spearman"] for name in BY_FILE}
    yield Claim(
        model,
        "clusters do better than one mean and PCA of all (abtt)",
        f"{BY_METHOD[PROPOSED][1] - BY_METHOD['abtt'][1]:+.1f} on STS-B",
        _points(ahead),
        all(gain > 0 for gain in ahead.values()),
    )
    gains = {name: of[name, PROPOSED]["spearman"] - of[name, "none"]["spearman"] for name in BY_FILE}
    yield Claim(
        model,
        "clusters gain on every data set",
        _points({name: after[1] - before[1] for name, (before, after) in BY_FILE.items()}),
        _points(gains),
        all(gain > 0 for gain in gains.values()),
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


def _fine_tuned(model: str, data: Path, limit: int | None, store: Store, progress: Progress) -> Iterator[Claim]:
    """RTE and WiC: plain, with the transform on each batch's CLS vectors, and with it applied to the plain model's."""
    from theodolite.isotropy.finetuning import HEAD, fine_tuning, rte, wic
    from theodolite.train.classifier import Training

    for name, read in (("RTE", rte), ("WiC", wic)):
        training, held = read(data, limit)
        way = Training(epochs=3, evaluations=1)
        found = fine_tuning(model, name, training, held, store.folder("models"), way, progress=progress)
        plain, rounded = (r for r in found.rows if r["judge"] == HEAD)
        published = " to ".join(f"{accuracy:.1f} ({small(isotropy)})" for accuracy, isotropy in FINE_TUNED[name])
        yield Claim(
            model,
            f"{name}: fine-tuning with the transform inside does not help ({len(training):,} pairs)",
            published,
            f"{_accuracy(plain)} to {_accuracy(rounded)}; always one class: {100 * plain['baseline']:.1f}",
            rounded["accuracy"] <= plain["high"],
        )
        before, after = (r for r in found.rows if r["judge"] != HEAD)
        measured = f"{_accuracy(before)} to {_accuracy(after)}"
        yield Claim(model, f"{name}: the transform applied to the plain model's CLS vectors", "", measured, None)
        last = max(
            (r for r in found.epochs if r["training"] == plain["training"]), key=lambda r: (r["epoch"], r["layer"])
        )
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


def _file(dataset: str) -> str:
    return next(name for name in FILES if name.startswith(f"{dataset}."))


def _three(pearson: float, spearman: float, isotropy: float) -> str:
    return f"{pearson:.1f} / {spearman:.1f} / {small(isotropy)}"


def _measured(row: Row) -> str:
    return _three(row["pearson"], row["spearman"], row["partition"])


def _points(gains: dict[str, float]) -> str:
    return ", ".join(f"{name} {gain:+.1f}" for name, gain in gains.items())
