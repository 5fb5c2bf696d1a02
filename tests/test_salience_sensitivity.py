"""Lists of terms, and sensitivity to terms, against their definitions written out, on SST-2."""

from __future__ import annotations

import math
from dataclasses import astuple
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from theodolite.encoder.tokens import Tokenizer, Tokens
from theodolite.errors import InputError
from theodolite.salience.maps import TextMaps
from theodolite.salience.occurrences import occurrences
from theodolite.salience.sensitivity import (
    Probe,
    insertion_changes,
    masked_words,
    masking_changes,
    sensitivity,
)
from theodolite.salience.statistics import resampled_means
from theodolite.salience.terms import (
    IDENTITY_TERMS,
    aggregated_salience_terms,
    boundaries,
    by_themselves,
    inserted,
    pmi_terms,
    read_terms,
    whole_words,
    word_salience,
)
from theodolite.salience.vocabulary import Vocabulary
from theodolite.words import units

MASK, CLS, SEP, SIZE = 103, 101, 102, 30_522
SIZE_OF_BYTES = 290
TABLE = np.random.default_rng(5).normal(size=(SIZE, 3))


def answers(tokens: Tokens) -> np.ndarray:
    """(n, 3) logits that depend on which pieces there are and on where they stand."""
    found = np.zeros((len(tokens), 3))
    for text in range(len(tokens)):
        ids = tokens.ids[tokens.bounds[text] : tokens.bounds[text + 1]]
        found[text] = (TABLE[ids] / (1 + 0.2 * np.arange(len(ids)))[:, None]).sum(axis=0)
    return found


def chance(tokens: Tokens, cls: int) -> list[float]:
    powers = [[math.exp(x) for x in row] for row in answers(tokens)]
    return [row[cls] / sum(row) for row in powers]


@pytest.fixture(scope="module")
def texts(shared: Path) -> list[str]:
    lines = (shared / "data" / "sst2" / "dev.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return [line.split("\t")[0] for line in lines]


@pytest.fixture(scope="module")
def tokenizer(minilm) -> Tokenizer:
    return minilm.tokenizer


@pytest.fixture(scope="module")
def probe(tokenizer: Tokenizer) -> Probe:
    return Probe(tokenizer, answers, MASK)


@pytest.fixture(scope="module")
def predicted(texts: list[str], tokenizer: Tokenizer) -> np.ndarray:
    return answers(tokenizer(texts)).argmax(axis=1)


# Lists of terms


@pytest.fixture(scope="module")
def words(tokenizer: Tokenizer) -> list[str]:
    return whole_words(tokenizer, SIZE)


@pytest.fixture(scope="module")
def maps(texts: list[str], tokenizer: Tokenizer) -> TextMaps:
    """Maps with random weights, of real texts with CLS and SEP around them."""
    tokens = tokenizer(texts)
    rows = [[CLS, *tokens.ids[a:b], SEP] for a, b in zip(tokens.bounds[:-1], tokens.bounds[1:], strict=True)]
    ids = np.array([i for row in rows for i in row], np.int32)
    side = np.array([s for row in rows for s in (0, *[1] * (len(row) - 2), 0)], np.int8)
    start, end = (
        np.concatenate([[-1, *at[a:b], -1] for a, b in pairwise(tokens.bounds)]).astype(np.int32)
        for at in (tokens.start, tokens.end)
    )
    weights = np.random.default_rng(1).random(len(ids)).astype(np.float32)
    every = np.arange(len(rows))
    bounds = np.append(0, np.cumsum([len(row) for row in rows]))
    return TextMaps(every, bounds, ids, start, end, side, weights, answers(tokens).astype(np.float32), every, every)


@pytest.fixture(scope="module")
def alone(maps: TextMaps, texts: list[str]) -> np.ndarray:
    return by_themselves(maps, texts)


@pytest.fixture(scope="module")
def matrix(maps: TextMaps) -> sparse.csr_matrix:
    cells = sparse.coo_matrix((maps.weights, (maps.text_of, maps.ids)), shape=(len(maps), SIZE))
    return cells.tocsr()


def test_whole_words_of_a_wordpiece_vocabulary(words: list[str], tokenizer: Tokenizer) -> None:
    by_item = {tokenizer.piece(item): word for item, word in enumerate(words)}
    for word in ("good", "a", "1990s", "zeppelin"):
        assert by_item[word] == word
    for none in ("[CLS]", "[MASK]", "[unused7]", "##able", ".", "!", "1990"):
        assert by_item[none] == "", none
    assert sum(map(bool, words)) > 18_000
    for item, word in enumerate(words):
        if word:
            assert word == tokenizer.piece(item)
    some = [word for word in words if word][::50]
    assert all(len(tokenizer([word]).ids) == 1 for word in some)


@pytest.fixture(scope="module")
def of_bytes() -> Tokenizer:
    from tokenizers import Tokenizer as Backend
    from tokenizers import models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    backend = Backend(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    specials = ["<s>", "<mask>"]
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE_OF_BYTES, special_tokens=specials, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    backend.train_from_iterator(["a good café is a good café, no 7 7 7 goodness", "a né nè nê"] * 50, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", mask_token="<mask>", pad_token="<s>")
    return Tokenizer(fast, "made up")


def test_whole_words_of_a_byte_level_vocabulary(of_bytes: Tokenizer) -> None:
    found = {word for word in whole_words(of_bytes, SIZE_OF_BYTES) if word}
    assert {"good", "café", "is", "a", "no"} <= found
    assert not found & {"<mask>", "<s>", "7", ",", "ood", "fé"}


def test_terms_of_a_byte_level_vocabulary_are_read_as_letters(of_bytes: Tokenizer) -> None:
    model = SimpleNamespace(tokenizer=of_bytes, input_embeddings=np.zeros((SIZE_OF_BYTES, 2)))
    vocabulary = Vocabulary(model)
    name = partial(vocabulary.name, going_on=vocabulary.unmarked)
    names = {name(item) for item in np.flatnonzero(vocabulary.terms).tolist()}
    assert {"good", "café", "7", "##a", "##7"} <= names
    assert not any(set(name) & set("Ġ,Ã©\ufffd") - {"é"} for name in names)
    assert {name(item) for item in range(2)} == {"<s>", "<mask>"} and not vocabulary.terms[:2].any()
    every = {of_bytes.piece(item): item for item in range(SIZE_OF_BYTES)}
    # The last is a letter and the first half of another.
    for none in ("Ġ", ",", "Ã", "©", "ĠnÃ"):
        assert not vocabulary.terms[every[none]], none


def test_a_piece_goes_on_with_a_word_where_it_mostly_stands_so(of_bytes: Tokenizer) -> None:
    texts = ["good goodness", "a café", "7 a7", "née", '"good"', "good", "good7"]
    tokens = of_bytes(texts)
    every, ids = np.arange(len(texts)), tokens.ids.astype(np.int32)
    side, weights = np.ones(len(ids), np.int8), np.ones(len(ids), np.float32)
    start, end = tokens.start.astype(np.int32), tokens.end.astype(np.int32)
    logits = np.zeros((len(texts), 2), np.float32)
    maps = TextMaps(every, tokens.bounds, ids, start, end, side, weights, logits, every, every)
    vocabulary = Vocabulary(SimpleNamespace(tokenizer=of_bytes, input_embeddings=np.zeros((SIZE_OF_BYTES, 2))))
    going_on = vocabulary.going_on(maps)
    joined = dict.fromkeys(range(SIZE_OF_BYTES), 0)
    there = dict.fromkeys(range(SIZE_OF_BYTES), 0)
    for text, (begin, stop) in zip(texts, pairwise(tokens.bounds.tolist()), strict=True):
        for at in range(begin, stop):
            there[int(ids[at])] += 1
            before = text[start[at] - 1 : start[at]]
            joined[int(ids[at])] += start[at] > 0 and before.isalnum() and not text[start[at]].isspace()
    assert going_on.tolist() == [2 * joined[i] > there[i] for i in range(SIZE_OF_BYTES)]
    pieces = {of_bytes.piece(item): vocabulary.name(item, going_on) for item in set(ids.tolist())}
    # At the beginning of a text, or of a quotation, a word has no mark of a blank, and goes on with none all the same.
    assert (pieces["go"], pieces["od"], pieces["Ġa"], pieces["7"]) == ("go", "##od", "a", "##7")


def test_an_added_word_is_a_word_of_a_byte_level_vocabulary() -> None:
    from tokenizers import AddedToken, models, pre_tokenizers
    from tokenizers import Tokenizer as Backend
    from transformers import PreTrainedTokenizerFast

    items = ["<s>", *sorted(pre_tokenizers.ByteLevel.alphabet()), "Ġa"]
    for lstrip in (False, True):
        backend = Backend(models.BPE(vocab={item: i for i, item in enumerate(items)}, merges=[("Ġ", "a")]))
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        fast = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", mask_token="<s>", pad_token="<s>")
        fast.add_tokens([AddedToken(word, single_word=True, lstrip=lstrip) for word in ("zorblax", "señal")])
        tokenizer, size = Tokenizer(fast, "made up"), len(fast)
        new = [fast.convert_tokens_to_ids(word) for word in ("zorblax", "señal")]
        words = whole_words(tokenizer, size)
        assert [words[item] for item in new] == ["zorblax", "señal"]
        plain = tokenizer(["a is"]).ids[1:].tolist()
        assert tokenizer.pieces_of(["zorblax", "is", "señal"]) == [new[:1], plain, new[1:]]
        vocabulary = Vocabulary(SimpleNamespace(tokenizer=tokenizer, input_embeddings=np.zeros((size, 2))))
        assert [vocabulary.name(item, vocabulary.unmarked) for item in new] == ["zorblax", "señal"]
        assert vocabulary.terms[new].all()


def naive_terms(
    maps: TextMaps, texts: list[str], words: list[str], cls: int
) -> tuple[dict[int, int], dict[int, int], dict[int, float]]:
    """Occurrences in the class, in all texts, and the PMI of each word."""
    in_class: dict[int, int] = {}
    in_all: dict[int, int] = {}
    having: dict[int, list[bool]] = {}
    ours = [int(row.argmax()) == cls for row in maps.logits]
    known = set(words) - {""}
    for text in range(len(maps)):
        ids = [words.index(word) for a, b in units(texts[text]) if (word := texts[text][a:b].lower()) in known]
        for item in ids:
            in_all[item] = in_all.get(item, 0) + 1
            if ours[text]:
                in_class[item] = in_class.get(item, 0) + 1
        for item in set(ids):
            having.setdefault(item, []).append(ours[text])
    n = len(maps)
    pmi = {
        item: math.log((sum(each) / n) / ((len(each) / n) * (sum(ours) / n)))
        for item, each in having.items()
        if words[item] and sum(each)
    }
    return in_class, in_all, pmi


@pytest.mark.parametrize("cls", [0, 1])
def test_aggregated_salience_is_that_of_the_definition(
    maps: TextMaps, matrix: sparse.csr_matrix, words: list[str], texts: list[str], alone: np.ndarray, cls: int
) -> None:
    is_word = np.array([bool(word) for word in words])
    ours = [row for row in range(len(maps)) if int(maps.logits[row].argmax()) == cls]
    in_class, _, _ = naive_terms(maps, texts, words, cls)
    dense = matrix[ours].toarray()
    means = {i: sum(dense[:, i].tolist()) / len(ours) for i, c in in_class.items() if words[i] and c >= 20}
    expected = sorted(means, key=lambda i: -means[i])[:10]
    found = aggregated_salience_terms(matrix, maps, is_word, alone, cls)
    assert found.items.tolist() == expected
    np.testing.assert_allclose(found.scores, [means[i] for i in expected], rtol=1e-6)
    assert found.counts.tolist() == [in_class[i] for i in expected]
    edge = int(found.counts.min())
    often = aggregated_salience_terms(matrix, maps, is_word, alone, cls, 10**6, min_count=edge)
    assert set(often.items.tolist()) == {i for i in means if in_class[i] >= edge}
    column = word_salience(matrix, maps, is_word, cls)
    assert column.shape == (SIZE,) and column[CLS] == column[1012] == 0
    assert len(aggregated_salience_terms(matrix, maps, is_word, alone, cls, 3, 50).items) == 3
    assert len(aggregated_salience_terms(matrix, maps, is_word, alone, 7).items) == 0


@pytest.mark.parametrize("cls", [0, 2])
def test_pmi_is_that_of_the_definition(
    maps: TextMaps, words: list[str], texts: list[str], alone: np.ndarray, cls: int
) -> None:
    is_word = np.array([bool(word) for word in words])
    _, in_all, pmi = naive_terms(maps, texts, words, cls)
    enough = [i for i in sorted(pmi) if in_all[i] >= 20]
    expected = sorted(enough, key=lambda i: -round(pmi[i], 12))
    found = pmi_terms(maps, SIZE, is_word, alone, cls)
    np.testing.assert_allclose(found.scores, [pmi[i] for i in expected[:10]])
    assert found.items.tolist() == expected[:10]
    assert found.counts.tolist() == [in_all[i] for i in expected[:10]]
    often = pmi_terms(maps, SIZE, is_word, alone, cls, count=10**6)
    assert set(often.items.tolist()) == set(enough) and 20 in often.counts
    everything = pmi_terms(maps, SIZE, is_word, alone, cls, count=10**6, min_count=1)
    assert set(everything.items.tolist()) == set(pmi)


def test_what_stands_by_itself(tokenizer: Tokenizer) -> None:
    """Pieces of longer words are no words, whatever they are elsewhere; punctuation around a word leaves it one."""
    first, second = "\"Play\", he didn't say: a playish child's play.", "well-behaved child"
    tokens = tokenizer([first, "", first], [second, "a", "b"])
    side = np.concatenate([[1] * s + [2] * (n - s) for n, s in zip(tokens.lengths, tokens.split, strict=True)])
    none = np.zeros(3, np.int64)
    flat = (tokens.ids.astype(np.int32), tokens.start.astype(np.int32), tokens.end.astype(np.int32))
    maps = TextMaps(none, tokens.bounds, *flat, side.astype(np.int8), tokens.ids, np.zeros((3, 2)), none, none)
    found = by_themselves(maps, tokens.texts, tokens.texts_b)
    spelled = [tokenizer.piece(int(item)) for item in tokens.ids]
    marks = {'"', ",", ":", "."}
    words = ["play", "he", "say", "a", "play"]
    assert [spelled[i] for i in np.flatnonzero(found) if spelled[i] not in marks] == [*words, "child", "a", *words, "b"]


def test_terms_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "terms.txt"
    path.write_bytes("\ufeffgood\r\n\n  new   york \nGood\n".encode())
    assert read_terms(path) == ("good", "new york", "Good")
    assert len(IDENTITY_TERMS) == len(set(IDENTITY_TERMS)) == 13


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"", "no terms"), (b" \n\n", "no terms"), (b"caf\xe9", "UTF-8"), (b"a\0b", "NUL"), (b"a\nb\na\n", "line 3")],
)
def test_a_bad_file_of_terms_is_named(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "terms.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=why) as error:
        read_terms(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


def test_a_file_of_terms_that_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "none.txt", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            read_terms(path)


# Putting terms into texts


def naive_boundaries(text: str) -> list[int]:
    found = []
    for i in range(len(text)):
        if not text[i].isspace() and (i == 0 or text[i - 1].isspace()):
            chunk = text[i:].split(maxsplit=1)[0]
            if any(c.isalnum() for c in chunk):
                found.append(i)
    return [*found, len(text)]


@given(st.text("ab1 .\"'\n-", max_size=20), st.data())
def test_terms_stand_by_themselves_and_leave_the_words_as_they_were(text: str, data: st.DataObject) -> None:
    places = boundaries(text)
    assert places == naive_boundaries(text)
    at = data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=3))
    terms = [f"X{i}" for i in range(len(at))]
    chunks = inserted(text, list(zip(at, terms, strict=True))).split()
    assert [chunk for chunk in chunks if not chunk.startswith("X")] == text.split()
    order = sorted(terms, key=lambda term: (at[int(term[1:])], terms.index(term)))
    assert [chunk for chunk in chunks if chunk.startswith("X")] == order
    for place, term in zip(at, terms, strict=True):
        before = [c for c in chunks[: chunks.index(term)] if not c.startswith("X")]
        assert before == text[:place].split()


def test_insertion_is_that_of_the_definition(
    texts: list[str], predicted: np.ndarray, probe: Probe, tokenizer: Tokenizer
) -> None:
    terms = ["dreadful", "New York", "good"]
    texts = texts[:200]
    found = insertion_changes(terms, texts, None, predicted[:200], 1, probe, insertions=40, seed=3)
    assert found.shape == (3, 40)
    # Which text and which place are not known from outside: each column must fit some one of them, for all terms.
    others = [i for i in range(len(texts)) if predicted[i] != 1]
    possible: dict[tuple[float, ...], list[tuple[int, int]]] = {}
    for row in others:
        places = boundaries(texts[row])
        before = chance(tokenizer([texts[row]]), 1)[0]
        new = [f"{texts[row][:at]} {term} {texts[row][at:]}" for at in places for term in terms]
        after = chance(tokenizer(new), 1)
        for i, at in enumerate(places):
            key = tuple(round(x - before, 9) for x in after[3 * i : 3 * i + 3])
            possible.setdefault(key, []).append((row, at))
    fits = [possible[tuple(round(float(x), 9) for x in column)] for column in found.T]
    assert len({fit[0][0] for fit in fits}) == 40
    shares = [boundaries(texts[row]).index(at) / (len(boundaries(texts[row])) - 1) for ((row, at), *_) in fits]
    assert 0.3 < np.mean(shares) < 0.7 and min(shares) < 0.15 and max(shares) > 0.85


def test_insertion_follows_from_the_seed_and_takes_all_there_are(
    texts: list[str], predicted: np.ndarray, probe: Probe
) -> None:
    some, of_some = texts[:60], predicted[:60]
    one = insertion_changes(["good"], some, None, of_some, 1, probe, seed=1)
    assert one.shape == (1, int((of_some != 1).sum()))
    np.testing.assert_array_equal(one, insertion_changes(["bad", "good"], some, None, of_some, 1, probe, seed=1)[1:])
    assert not np.array_equal(one, insertion_changes(["good"], some, None, of_some, 1, probe, seed=2))
    assert insertion_changes(["good"], some, None, np.ones(60, np.int64), 1, probe).shape == (1, 0)


def test_of_a_pair_the_first_text_gets_the_term(tokenizer: Tokenizer) -> None:
    asked: list[Tokens] = []

    def watching(tokens: Tokens) -> np.ndarray:
        asked.append(tokens)
        return answers(tokens)

    insertion_changes(["good"], ["one two"], ["three"], np.array([0]), 1, Probe(tokenizer, watching, MASK))
    assert asked[1].texts_b == ["three"] and sorted(asked[1].texts[0].split()) == ["good", "one", "two"]


# Masking


def naive_masked(text: str, keys: list[str], tokenizer: Tokenizer) -> tuple[list[int], int]:
    """The pieces of a text with the words of a term masked, one unit after another, and how often it occurs."""
    spans = units(text)
    seen = [text[a:b].lower() for a, b in spans]
    hit = set()
    count = 0
    for i in range(len(seen) - len(keys) + 1):
        if keys and seen[i : i + len(keys)] == keys:
            hit |= set(range(i, i + len(keys)))
            count += 1
    ids: list[int] = []
    for i, (a, b) in enumerate(spans):
        ids += [MASK] if i in hit else tokenizer([text[a:b]]).ids.tolist()
    return ids, count


def chance_of(ids: list[int], cls: int) -> float:
    n = len(ids)
    none = np.zeros(n, np.int64)
    return chance(Tokens([""], None, np.array(ids, np.int64), none, none, np.array([0, n]), np.array([n])), cls)[0]


TERMS = ["the", "Film", "of the", "it", "unfunny", "zeppelin", "!"]


def test_masking_is_that_of_the_definition(
    texts: list[str], predicted: np.ndarray, probe: Probe, tokenizer: Tokenizer
) -> None:
    found, counts = masking_changes(TERMS, texts, None, predicted, 2, probe)
    ours = [texts[i] for i in range(len(texts)) if predicted[i] == 2]
    expected: list[dict[int, float]] = []
    for term, total in zip(TERMS, counts.tolist(), strict=True):
        of_term, times = {}, 0
        for row, text in enumerate(ours):
            ids, count = naive_masked(text, [w for w in term.lower().split() if w != "!"], tokenizer)
            times += count
            if count:
                of_term[row] = chance_of(ids, 2) - chance(tokenizer([text]), 2)[0]
        assert times == total
        expected.append(of_term)
    have = sorted({row for of_term in expected for row in of_term})
    assert found.shape == (len(TERMS), len(have))
    whole = [[of_term.get(row, math.nan) for row in have] for of_term in expected]
    np.testing.assert_allclose(found, whole, atol=1e-12)
    assert counts[:4].min() > 10 and counts[5:].tolist() == [0, 0]


def test_a_word_of_several_pieces_becomes_one_mask(tokenizer: Tokenizer) -> None:
    tokens = tokenizer(["so unfunny , so .", "unfunny"], ["b unfunny c", "d"])
    words = tokenizer.words(tokens)
    which = np.array([key == "unfunny" for key in words.key])
    masked = masked_words(tokens, words.start[which], words.stop[which], MASK)
    so, comma, stop, b, c, d = (tokenizer([x]).ids[0] for x in ("so", ",", ".", "b", "c", "d"))
    second = tokenizer(["unfunny"]).ids.tolist()
    assert len(second) > 1
    first = [so, MASK, comma, so, stop, b, *second, c]
    assert masked.ids.tolist() == [*first, MASK, d]
    assert masked.bounds.tolist() == [0, len(first), len(first) + 2] and masked.split.tolist() == [5, 1]
    assert (masked.start[1], masked.end[1]) == (3, 10)
    assert len(tokens.ids) == len(masked.ids) + 2 * (len(second) - 1)


def test_occurrences_are_in_both_texts_of_a_pair(tokenizer: Tokenizer, monkeypatch) -> None:
    monkeypatch.setattr("theodolite.salience.occurrences._TEXTS", 2)
    first = ["Unfunny York", "none", "new york, New York"]
    second = ["new, york", "it is NEW YORK", "new"]
    (found,) = occurrences(["new york"], first, second, tokenizer)
    assert found.count == 3
    tokens = tokenizer(first, second)
    flat = tokens.bounds[found.text]
    spelled = [tokenizer.piece(int(tokens.ids[i])) for i in flat + found.start]
    assert found.text.tolist() == [1, 1, 2, 2, 2, 2] and spelled == ["new", "york"] * 3
    assert (found.stop - found.start == 1).all()


def test_runs_that_overlap_are_masked_once(tokenizer: Tokenizer) -> None:
    (found,) = occurrences(["no no"], ["no no no"], None, tokenizer)
    assert found.count == 2 and found.start.tolist() == [0, 1, 2]
    (none,) = occurrences(["no yes"], ["no", ". yes"], None, tokenizer)
    assert none.count == 0


def test_terms_with_punctuation_of_their_own(tokenizer: Tokenizer) -> None:
    texts = [
        "The U.S. army plays rock & roll; Dr. Who, well-behaved, came.",
        "rock / roll, rock roll, u.s army, dr who",
    ]
    terms = ["u.s. army", "rock & roll", "rock&roll", "dr. who", "well-behaved", "who came", "rock roll"]
    found = occurrences(terms, texts, None, tokenizer)
    assert [each.count for each in found] == [1, 1, 0, 1, 1, 0, 1]
    assert found[0].text.tolist() == [0, 0] and found[-1].text.tolist() == [1, 1]


# Rows


def test_rows_are_those_of_the_definition(texts: list[str], predicted: np.ndarray, probe: Probe) -> None:
    lists = {"some": ["the", "zeppelin", "film"], "other": ["film", "of the"], "none": ["zeppelin"]}
    rows, of_terms = sensitivity(lists, texts, None, predicted, 0, probe, insertions=50, seed=4)
    terms = ["the", "zeppelin", "film", "of the"]
    put_in = insertion_changes(terms, texts, None, predicted, 0, probe, 50, 4).tolist()
    masked, counts = masking_changes(terms, texts, None, predicted, 0, probe)
    known = [[x for x in row if not math.isnan(x)] for row in masked.tolist()]
    assert [row.term for row in of_terms] == terms
    for i, row in enumerate(of_terms):
        assert row.insertion == pytest.approx(sum(put_in[i]) / 50) and row.inserted == 50
        assert row.insertion_low < row.insertion < row.insertion_high
        assert row.count == counts[i] and row.masked == len(known[i])
        if known[i]:
            assert row.masking == pytest.approx(sum(known[i]) / len(known[i]))
            assert row.masking_low < row.masking < row.masking_high
        else:
            assert row.count == 0 and np.isnan([row.masking, row.masking_low, row.masking_high]).all()
    for row in rows:
        at = [terms.index(term) for term in lists[row.list]]
        means = [sum(put_in[i]) / 50 for i in at]
        of_masking = [sum(known[i]) / len(known[i]) for i in at if known[i]]
        assert row.terms == tuple(lists[row.list]) and row.inserted == 50
        assert row.insertion == pytest.approx(sum(means) / len(means))
        assert row.insertion_low < row.insertion < row.insertion_high
        assert row.count == sum(counts[at])
        assert row.absent == tuple(terms[i] for i in at if not known[i])
        columns = [t for t in range(masked.shape[1]) if any(not math.isnan(masked[i, t]) for i in at)]
        assert row.masked == len(columns)
        if len(means) > 1:
            squares = sum((x - sum(means) / len(means)) ** 2 for x in means)
            assert row.insertion_sd == pytest.approx(math.sqrt(squares / (len(means) - 1)))
        else:
            assert math.isnan(row.insertion_sd)
        if of_masking:
            middle = sum(of_masking) / len(of_masking)
            squares = sum((x - middle) ** 2 for x in of_masking)
            assert row.masking == pytest.approx(middle)
            assert row.masking_sd == pytest.approx(math.sqrt(squares / (len(of_masking) - 1)))
            assert row.masking_low < row.masking < row.masking_high
            again = resampled_means(masked[at][:, columns], 4)
            each = [np.mean([x for x in drawn if not math.isnan(x)]) for drawn in again]
            expected = np.percentile(each, [2.5, 97.5])
            np.testing.assert_allclose((row.masking_low, row.masking_high), expected)
        else:
            assert np.isnan([row.masking, row.masking_low, row.masking_high, row.masking_sd]).all()
    assert rows[2].absent == ("zeppelin",) and rows[2].count == rows[2].masked == 0


def test_a_class_without_texts_and_no_other_class(probe: Probe) -> None:
    texts = ["the film", "a film"]
    rows, (term,) = sensitivity({"a": ["film"]}, texts, None, np.zeros(2, np.int64), 0, probe)
    assert math.isnan(term.insertion) and term.inserted == 0 and term.masked == term.count == 2
    rows, (term,) = sensitivity({"a": ["film"]}, texts, None, np.zeros(2, np.int64), 1, probe)
    assert math.isnan(term.masking) and term.inserted == 2 and rows[0].absent == ("film",)


def test_a_list_without_terms_has_no_figures(probe: Probe) -> None:
    for lists in ({"a": [], "b": ["film"]}, {"a": []}):
        row = sensitivity(lists, ["the film", "a film"], None, np.array([0, 1]), 0, probe)[0][0]
        assert np.isnan([row.insertion, row.insertion_low, row.insertion_sd, row.masking, row.masking_high]).all()
        assert (row.terms, row.absent, row.count, row.masked) == ((), (), 0, 0)


def test_rows_are_the_same_again(texts: list[str], predicted: np.ndarray, probe: Probe) -> None:
    def once() -> str:
        return repr(sensitivity({"a": ["film", "movie"]}, texts[:200], None, predicted[:200], 1, probe, seed=1))

    assert once() == once()


def test_a_planted_decision_is_found(texts: list[str], tokenizer: Tokenizer) -> None:
    film = tokenizer(["film"]).ids[0]

    def decides(tokens: Tokens) -> np.ndarray:
        has = [film in tokens.ids[a:b] for a, b in zip(tokens.bounds[:-1], tokens.bounds[1:], strict=True)]
        return np.stack([np.zeros(len(tokens)), np.where(has, 900.0, -900.0)], axis=1)

    predicted = decides(tokenizer(texts)).argmax(axis=1)
    lists = {"a": ["film", "movie"]}
    (row,), (one, other) = sensitivity(lists, texts, None, predicted, 1, Probe(tokenizer, decides, MASK))
    assert astuple(one)[1:5] == (1.0, 1.0, 1.0, 500) and other.insertion == 0
    assert one.masking <= -0.9 and other.masking == 0
    assert row.insertion == 0.5 and row.insertion_sd == pytest.approx(math.sqrt(0.5))
    assert row.insertion_low == row.insertion_high == 0.5
