"""Source 004's fine-tuning: plain, with the transform inside the model, and with the transform applied afterwards."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theodolite.corpus import Corpus
from theodolite.encoder.resolve import resolve
from theodolite.errors import InputError
from theodolite.instrument import Progress
from theodolite.isotropy.wic import read_wic
from theodolite.train.classifier import Training, key_options, train_classifier
from theodolite.train.examples import split_corpus
from theodolite.train.folder import record_of, write_whole

if TYPE_CHECKING:
    from theodolite.train.examples import Split
    from theodolite.train.scores import Scores

Row = dict[str, Any]

PLAIN, ROUNDED = "plain", "rounded"
HEAD, REGRESSION = "head", "logistic regression"
IN_BATCHES = "batch kmeans+mean+pca"
OFFLINE = ("none", "kmeans+mean+pca")
_RESULT = "fine-tuning.json"
# Part of the key: another number, and what was kept is computed again.
_FORMAT = 1


@dataclass(frozen=True)
class FineTuning:
    """What came out.

    rows: dataset, encoder, training (plain, or rounded: the transform inside the model), method (what makes the CLS
    vectors rounder before they are judged), judge (the model's own head, or a logistic regression on the CLS vectors of
    the training texts), accuracy with its 95% interval low, high, baseline (always the class that is largest in
    training), and the measures of the validation texts' CLS vectors in the last layer as the judge is given them.

    epochs: dataset, encoder, training, epoch, layer and measures: those of CLS before any transform, of the weights
    at the end of that epoch (0: before training). The weights kept may be of an earlier evaluation.
    """

    rows: list[Row]
    epochs: list[Row]


def fine_tuning(
    model: str,
    name: str,
    training_corpus: Corpus,
    validation: Corpus,
    folder: Path,
    training: Training,
    *,
    device: str | None = None,
    progress: Progress | None = None,
) -> FineTuning:
    """Fine-tune an encoder on a data set of classes, twice, and judge it on other texts.

    The weights kept are those of the lowest loss on the validation texts, in both trainings, so that accuracies are a
    little better than on texts never seen. The models are kept in a folder of their own in ``folder``, and the result
    with them: a second call reads it, an interrupted one goes on.
    """
    split = split_corpus(training_corpus, validation, training.task, training.validation, training.seed)
    if split.task.regression:
        raise InputError(f"{training_corpus.name}: fine_tuning wants classes, and its labels ask for a regression")
    source = resolve(model)
    parts = [source.hash, source.tokenizer_hash, training_corpus.hash, validation.hash, key_options(training)]
    key = hashlib.sha256(json.dumps([_FORMAT, name, *parts], sort_keys=True).encode()).hexdigest()
    place = Path(folder).absolute() / f"{name}-{Path(source.name).name}-{key[:12]}"
    if (place / _RESULT).exists():
        return FineTuning(**json.loads((place / _RESULT).read_text(encoding="utf-8")))

    from theodolite.isotropy.epochs import ClsByEpoch

    about = {"dataset": name, "encoder": source.name}
    watch = ClsByEpoch(split.validation.texts, split.validation.texts_b)
    rows: list[Row] = []
    epochs: list[Row] = []
    for way, judged in ((PLAIN, _plain), (ROUNDED, _rounded)):
        out = place / way
        scores = train_classifier(
            model, training_corpus, out, training, validation=validation, device=device,
            rounded=way == ROUNDED, watch=watch, progress=progress,
        )  # fmt: skip
        about["training"] = way
        epochs += [about | row for row in record_of(out)["watched"]]
        rows += [about | row for row in judged(out, scores, split, training.seed, device)]
    found = FineTuning(rows, epochs)
    write_whole(place / _RESULT, json.dumps(dataclasses.asdict(found), indent=2, allow_nan=False) + "\n")
    return found


def rte(data: Path, limit: int | None = None) -> tuple[Corpus, Corpus]:
    """RTE of a data folder: what to train on (the first so many pairs), and what to judge by."""
    first, second = (_file(data, "rte", f"{part}.tsv.gz") for part in ("train", "dev"))
    query = "?text=sentence1&text_b=sentence2&label=label"
    return Corpus.read(f"{first}{query}", limit=limit), Corpus.read(f"{second}{query}")


def wic(data: Path, limit: int | None = None) -> tuple[Corpus, Corpus]:
    """WiC of a data folder: what to train on (the first so many pairs), and what to judge by."""
    first, second = (_file(data, "wic", f"{part}.data.txt.gz") for part in ("train", "dev"))
    return read_wic(first, limit), read_wic(second)


def _file(data: Path, folder: str, name: str) -> Path:
    path = data / folder / name
    if not path.exists():
        raise InputError(f"--data: no {folder}/{name} in {data}")
    return path


def _plain(out: Path, scores: Scores, split: Split, seed: int, device: str | None) -> list[Row]:
    """The head's row, and those of a regression on what the head is given, before and after the transform."""
    from theodolite.encoder.encoder import Encoder
    from theodolite.isotropy.epochs import figures
    from theodolite.isotropy.frozen import features_of, frozen_accuracy
    from theodolite.rounding import rounder_of

    given = features_of(Encoder.load(out, device=device), split, "cls")
    make = partial(rounder_of, options={"random_state": seed})
    offline = [{"judge": REGRESSION} | row for row in frozen_accuracy(given, OFFLINE, make)]
    return [_head(scores, "none") | figures(given.test), *offline]


def _rounded(out: Path, scores: Scores, split: Split, seed: int, device: str | None) -> list[Row]:
    """The head's row, with the measures of the rounded vectors that it is given."""
    from theodolite.isotropy.epochs import figures
    from theodolite.isotropy.frozen import vectors_of
    from theodolite.train.rounded import load_rounded, rounded

    classifier = load_rounded(out, device=device)
    vectors, _ = vectors_of(classifier, split.validation, "cls")
    return [_head(scores, IN_BATCHES) | figures(rounded(classifier, vectors))]


def _head(scores: Scores, method: str) -> Row:
    found = {name: getattr(scores, name) for name in ("accuracy", "low", "high", "baseline")}
    return {"judge": HEAD, "method": method} | found | {"dead": None, "note": ""}
