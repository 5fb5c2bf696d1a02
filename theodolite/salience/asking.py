"""What is found by asking the classifier again: whether its maps are true, and what single words do to its answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from theodolite.accumulate import hash_of
from theodolite.corpus import Corpus
from theodolite.errors import InputError
from theodolite.instrument import Progress
from theodolite.salience.faithfulness import faithfulness
from theodolite.salience.maps import SPECIAL, TextMaps
from theodolite.salience.representations import salience_vocab
from theodolite.salience.sensitivity import Probe, sensitivity, terms_of
from theodolite.salience.statistics import Answers
from theodolite.salience.terms import IDENTITY_TERMS, aggregated_salience_terms, by_themselves, pmi_terms
from theodolite.salience.vocabulary import Vocabulary
from theodolite.salience.ways import Way, way_name

if TYPE_CHECKING:
    from theodolite.encoder.classifier import Classifier

Row = dict[str, Any]
AUTO = "auto"
# The lists that are made of what a corpus's maps and answers show; those of files and the identity terms are given.
BY_SALIENCE, BY_PMI = "aggregated salience", "pmi"
IDENTITY = "identity terms"
AUTOMATIC = (IDENTITY, BY_PMI, BY_SALIENCE)
GIVEN = "given"


def probe_of(model: Classifier, answers: Answers | None = None) -> Probe:
    """The classifier as the measurements ask it; answers: what asks it, where its answers are kept."""
    if model.tokenizer.mask_id is None:
        raise InputError(f"{model.name}: its tokenizer has no mask token, so nothing can be masked")
    return Probe(model.tokenizer, answers or model.answers, model.tokenizer.mask_id)


def faithfulness_rows(
    corpus: Corpus, maps: Mapping[Way, TextMaps], model: Classifier, answers: Answers, texts: int, seed: int
) -> Iterator[Row]:
    """Comprehensiveness and sufficiency of every way, and of a random order for every target, over a seeded sample."""
    first = next(iter(maps.values()))
    chosen = np.sort(np.argsort(hash_of(seed, first.rows), kind="stable")[:texts])
    rows = first.rows[chosen].tolist()
    tokens = model.tokenise([corpus.text(row) for row in rows], _second(corpus, rows))
    probe = probe_of(model, answers)
    targets = list(dict.fromkeys(way.target for way in maps))
    for target in targets:
        some = {way.method: m.take(chosen) for way, m in maps.items() if way.target == target}
        weights = {method: m.weights[m.side != SPECIAL] for method, m in some.items()}
        asked = next(iter(some.values())).target
        for found in faithfulness(tokens, weights, asked, probe.answers, probe.mask_id, seed=seed):
            yield {"corpus": corpus.name, **asdict(found), "method": way_name(found.method, target, targets)}


def term_lists(
    asked: Sequence[str],
    given: Mapping[str, tuple[str, ...]],
    corpus: Corpus,
    maps: TextMaps,
    vocabulary: Vocabulary,
    cls: int,
    top_k: int | None,
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """The lists of terms asked for: the three of the source under `auto`, and those given, of files.

    And the names of the lists that no word is in, since none occurs often enough. corpus: what the maps are of.
    """
    lists: dict[str, tuple[str, ...]] = {}
    empty = []
    for name in asked:
        if name != AUTO:
            lists[name] = given[name]
            continue
        words = vocabulary.words
        whole = np.array([bool(word) for word in words])
        lists[IDENTITY] = IDENTITY_TERMS
        matrix = salience_vocab(maps, vocabulary.size, top_k)
        rows = maps.rows.tolist()
        alone = by_themselves(maps, [corpus.text(row) for row in rows], _second(corpus, rows))
        by_salience = aggregated_salience_terms(matrix, maps, whole, alone, cls)
        by_pmi = pmi_terms(maps, vocabulary.size, whole, alone, cls)
        for title, found in ((BY_PMI, by_pmi), (BY_SALIENCE, by_salience)):
            if len(found.items):
                lists[title] = tuple(words[item] for item in found.items.tolist())
            else:
                empty.append(title)
    return lists, empty


def sensitivity_rows(
    corpus: Corpus,
    maps: TextMaps,
    lists: Mapping[str, Sequence[str]],
    model: Classifier,
    answers: Answers,
    cls: int,
    insertions: int,
    seed: int,
    terms_from: str,
    progress: Progress,
) -> tuple[list[Row], list[Row]]:
    """Rows of the lists and of their terms; terms_from: the corpus that lists were made of, where none is given."""
    rows = maps.rows.tolist()
    with progress.step("sensitivity", 2 * len(terms_of(lists))):
        by_list, by_term = sensitivity(
            lists,
            [corpus.text(row) for row in rows],
            _second(corpus, rows),
            maps.predicted,
            cls,
            probe_of(model, answers),
            insertions,
            seed,
            told=lambda: progress.advance(1),
        )
    about = {"corpus": corpus.name, "class": model.labels[cls]}
    made = dict.fromkeys((BY_SALIENCE, BY_PMI), terms_from)
    listed = [about | asdict(r) | {"terms_from": made.get(r.list, GIVEN)} for r in by_list]
    return listed, [about | asdict(r) for r in by_term]


def _second(corpus: Corpus, rows: Sequence[int]) -> list[str] | None:
    texts = corpus.texts_b()
    return None if texts is None else [texts[row] for row in rows]
