"""Results of studies against plain counting over the answers, on studies drawn from real readings."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from contextlib import closing
from itertools import combinations, count

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats
from starlette.testclient import TestClient

from theodolite import Corpus, Store
from theodolite.accumulate import wilson
from theodolite.demo import demo_corpora
from theodolite.errors import InputError
from theodolite.illusion import Illusion
from theodolite.illusion.reading import IllusionReading
from theodolite.illusion.study import draw_study
from theodolite.reading import csv_text
from theodolite.running import run
from theodolite.similarity import Similarity
from theodolite.study.agreement import krippendorff
from theodolite.study.annotation_results import annotation_tables
from theodolite.study.answers import answers, with_key
from theodolite.study.assignment import next_item, submit, undo
from theodolite.study.create import create_study
from theodolite.study.database import Database
from theodolite.study.drawing import create_from_reading
from theodolite.study.exports import answers_table
from theodolite.study.gathering import decide, decisions, gather
from theodolite.study.invitations import invite
from theodolite.study.judged import Judged
from theodolite.study.merging import contradictions, groups_of, patterns_of, proposals
from theodolite.study.reading import StudyReading
from theodolite.study.resampling import difference_ends
from theodolite.study.results import is_source, reading_of, results

PEOPLE = ("Ada", "Ben", "Cleo")


@pytest.fixture(scope="module")
def illusion(minilm, tmp_path_factory):
    """The default model on 600 sentences of the demo's genres."""
    corpora = [Corpus.of(corpus.texts()[:150], corpus.name) for corpus in demo_corpora()]
    store = Store(tmp_path_factory.mktemp("store"))
    [found] = run([Illusion(directions="neurons,random:30", map="none", svm_texts=100)], minilm, corpora, store=store)
    return found


@pytest.fixture(scope="module")
def similarity(minilm, tmp_path_factory):
    """Four methods on four pairs of the demo's catalogue, with the test by deletion."""
    texts = next(c for c in demo_corpora() if c.name == "catalogue").texts()
    pairs = Corpus.of(texts[:4], "catalogue", texts_b=texts[4:8])
    chosen = ("bti", "bti-gradients", "vanilla-gradients", "bti-activations")
    instrument = Similarity(method=chosen, faithfulness=True)
    [found] = run([instrument], minilm, [pairs], store=Store(tmp_path_factory.mktemp("store")))
    return found


@pytest.fixture
def database(tmp_path):
    opened = Database.open(tmp_path / "studies.db")
    yield opened
    opened.close()


def answer(database, study, judge, people=PEOPLE, most=10_000):
    """Everybody in turn takes an item and answers what ``judge(name, content)`` says, until nothing is left."""
    tokens = dict(invite(database, study, people))
    given = 0
    while given < most:
        before = given
        for name, token in tokens.items():
            shown = next_item(database, token)
            if shown is not None and given < most:
                said = judge(name, shown.content.model_dump())
                submit(database, token, shown.assignment_id, said, f"{name} {given}")
                given += 1
        if given == before:
            return tokens
    return tokens


def patterned(name, content):
    """A person who sees a pattern by the lengths of the sentences: the same for all, but for the odd disagreement."""
    lengths = [len(sentence) for sentence in content["sentences"]]
    long = [i for i, length in enumerate(lengths) if length > 90]
    odd = sum(lengths) % 7 == len(name) % 7
    if (len(long) >= 3) == odd:
        return {"pattern": False, "patterns": []}
    named = "Long sentences" if name != "Ben" else "long  sentences."
    found = [{"name": named, "sentences": long if len(long) >= 3 else [0, 1, 2]}]
    if lengths[0] % 3 == 0:
        found.append({"name": "about the first one", "sentences": [0, 4, 5, 7]})
    return {"pattern": True, "patterns": found}


@pytest.fixture(scope="module")
def annotated(illusion, tmp_path_factory):
    """A finished study: its database and its number."""
    database = Database.open(tmp_path_factory.mktemp("annotated") / "studies.db")
    study = create_from_reading(
        database,
        illusion,
        "annotation",
        name="sets",
        options={"neurons": 12, "directions": 12, "sentences": 12},
        seed=4,
    )
    answer(database, study, patterned)
    yield database, study
    database.close()


# Annotation


def test_conditions_count_what_annotators_said(annotated, illusion):
    found = results(*annotated, reading=illusion)
    said: dict[str, list[bool]] = {}
    where = {}
    for given, key in with_key(*annotated):
        said.setdefault(key["id"], []).append(given.answer["pattern"])
        where[key["id"]] = key["condition"]
    assert {len(v) for v in said.values()} == {2}
    for row in rows(found, "conditions"):
        if row["corpus"] == "all":
            mine = [v for item, v in said.items() if where[item] == row["condition"]]
            assert (row["sets"], row["yes"], row["no"], row["conflicting"]) == (
                12,
                sum(all(v) for v in mine),
                sum(not any(v) for v in mine),
                sum(any(v) and not all(v) for v in mine),
            )
            assert (row["yes_low"], row["yes_high"]) == pytest.approx(wilson(row["yes"], 12))
    corpora = [r for r in rows(found, "conditions") if r["corpus"] != "all"]
    assert sum(r["sets"] for r in corpora) == 36 and len({r["corpus"] for r in corpora}) == 4
    assert 0 < sum(r["yes"] for r in corpora) < 36


def test_differences_are_fisher_s_with_false_discoveries_controlled(annotated):
    found = results(*annotated)
    shares = {(r["condition"], r["corpus"]): (r["yes"], r["sets"]) for r in rows(found, "conditions")}
    tested = rows(found, "differences")
    assert len(tested) == 10
    for row in tested:
        (a, n), (b, m) = shares[row["condition"], row["corpus"]], shares["random sentences", row["corpus"]]
        assert row["difference"] == pytest.approx(a / n - b / m)
        assert row["p"] == pytest.approx(stats.fisher_exact([[a, n - a], [b, m - b]]).pvalue)
        assert row["low"] <= row["difference"] <= row["high"]
    adjusted = stats.false_discovery_control([r["p"] for r in tested])
    assert [r["p_adjusted"] for r in tested] == pytest.approx(adjusted.tolist())


def judged_set(direction, corpus, *names, finished=True):
    """A set of a direction (None: random sentences), and what two people call the pattern they see in it."""
    people = ("Ada", "Ben") if finished else ("Ada",)
    said = {"pattern": bool(names), "patterns": [{"name": name, "sentences": [0, 1, 2]} for name in names]}
    key = {"condition": "random sentences" if direction is None else "neuron", "direction": direction}
    item = f"{direction} {corpus} {names}"
    numbers = {name: next(NUMBERS) for name in people}
    shown = {"corpus": corpus, "sentences": ["one", "two", "three"]}
    return Judged(item, shown, key, dict.fromkeys(people, said), numbers)


NUMBERS = count(1)


def tables_of(items):
    return annotation_tables(items, groups_of(patterns_of(items), {}), wanted=2, seed=0)


def test_sets_of_one_direction_are_not_tested_as_if_they_were_many():
    yes = [judged_set(f"neuron {n}", corpus, "dates") for n in (1, 2) for corpus in "abcd"]
    no = [judged_set(None, f"{corpus}") for corpus in "abcdefgh"]
    rows = {(r["condition"], r["corpus"]): r for r in tables_of([*yes, *no])["differences"]}
    assert rows["neuron", "all"]["p"] == pytest.approx(stats.fisher_exact([[2, 0], [0, 8]]).pvalue)
    assert rows["neuron", "all"]["low"] < difference_ends((8, 8, 8), (0, 8, 8))[0]
    assert rows["neuron", "a"]["p"] == pytest.approx(stats.fisher_exact([[2, 0], [0, 1]]).pvalue)


def test_patterns_of_unfinished_sets_are_not_counted():
    done, waiting = judged_set("neuron 1", "a", "dates"), judged_set("neuron 1", "b", "names", finished=False)
    [row] = tables_of([done, waiting])["patterns_per_direction"]
    assert (row["directions"], row["mean"], row["most"]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("sets", "directions", "corpora"), [(12, 25, 4), (30, 8, 4), (25, 7, 4), (18, 6, 3), (40, 10, 4)]
)
def test_directions_and_corpora_take_turns_in_a_draw(sets, directions, corpora):
    reading, names, places = reading_of_sets(directions, corpora)
    items, key = draw_study(reading, neurons=sets, directions=0, sentences=0)
    where = {item["id"]: item["corpus"] for item in items}
    pairs = [(row["direction"], where[row["id"]]) for row in key]
    assert len(set(pairs)) == len(pairs) == sets
    for side, of in enumerate((names, places)):
        counts = [Counter(pair[side] for pair in pairs)[name] for name in of]
        assert max(counts) - min(counts) <= 1


def reading_of_sets(directions, corpora):
    """A reading of illusion with no more than what a study is drawn from; its directions and its corpora."""
    names, places = [f"neuron {n}" for n in range(directions)], [f"corpus {n}" for n in range(corpora)]
    texts = [f"Sentence {n}." for n in range(10)]
    top = [
        {"direction": d, "corpus": c, "row": row, "text": text}
        for d in names
        for c in places
        for row, text in enumerate(texts)
    ]
    drawn = [{"set": 0, "corpus": c, "row": row, "text": text} for c in places for row, text in enumerate(texts)]
    verdicts = [{"direction": d, "kind": "neuron"} for d in names]
    tables = {"verdicts": verdicts, "top": top, "random_sets": drawn}
    manifest = {
        "instrument": "illusion",
        "encoder": {"name": "an encoder"},
        "corpora": [],
        "options": {},
        "made": "now",
    }
    arrow = {name: pa.Table.from_pylist(rows) for name, rows in tables.items()}
    return IllusionReading(arrow, [], manifest), names, places


def test_positives_annotators_and_patterns_per_direction_are_plain_counts(annotated):
    found = results(*annotated)
    given = with_key(*annotated)
    for row in rows(found, "positives"):
        sizes = [
            len(p["sentences"])
            for one, key in given
            if key["condition"] == row["condition"]
            for p in one.answer["patterns"]
        ]
        assert (row["patterns"], row["mean"]) == (len(sizes), pytest.approx(np.mean(sizes)))
        assert row["deviation"] == pytest.approx(np.std(sizes, ddof=1))
        assert row["low"] <= row["mean"] <= row["high"]
    for row in rows(found, "annotators"):
        mine = [one.answer for one, _ in given if one.annotator == row["annotator"]]
        assert row["sets"] == len(mine)
        assert row["patterns"] == sum(len(a["patterns"]) for a in mine)
        assert row["with_pattern"] == pytest.approx(np.mean([a["pattern"] for a in mine]))
    names: dict[tuple[str, str], set[str]] = {(k["condition"], k["direction"] or k["id"]): set() for _, k in given}
    for one, key in given:
        # "Long sentences" and "long  sentences." are one.
        names[key["condition"], key["direction"] or key["id"]] |= {
            p["name"].lower()[:4] for p in one.answer["patterns"]
        }
    for row in rows(found, "patterns_per_direction"):
        counts = [len(v) for (condition, _), v in names.items() if condition == row["condition"]]
        assert (row["directions"], row["mean"]) == (len(counts), pytest.approx(np.mean(counts)))


def test_agreement_is_of_the_answers_and_cohen_s_of_every_two(annotated):
    found = rows(results(*annotated), "agreement")
    ratings = np.full((36, 3), np.nan)
    for one, _ in with_key(*annotated):
        items = {number: i for i, number in enumerate(sorted({g.item_id for g in answers(*annotated)}))}
        ratings[items[one.item_id], PEOPLE.index(one.annotator)] = one.answer["pattern"]
    assert found[0]["value"] == pytest.approx(krippendorff(ratings).value)
    assert [r["measure"][:6] for r in found] == ["Krippe", "Fleiss", "Cohen'", "Cohen'", "Cohen'"]
    assert sum(r["items"] for r in found[2:]) == 36
    assert [r["among"] for r in found[2:]] == [f"{a} and {b}" for a, b in combinations(PEOPLE, 2)]


def test_locality_is_compared_by_people_s_verdicts(annotated, illusion):
    found = results(*annotated, reading=illusion)
    near = {(r["direction"], r["corpus"]): r["sentence_locality"] for r in illusion.tables["locality"].to_pylist()}
    sets = [r for r in rows(found, "sets") if r["direction"] is not None]
    groups = [
        [near[r["direction"], r["corpus"]] for r in sets if (r["verdict"] == "yes") is said] for said in (True, False)
    ]
    every = rows(found, "locality")[0]
    assert (every["sets_meaningful"], every["sets_meaningless"]) == (len(groups[0]), len(groups[1]))
    assert (every["meaningful"], every["meaningless"]) == pytest.approx(tuple(map(np.mean, groups)))
    assert every["p"] == pytest.approx(stats.mannwhitneyu(*groups).pvalue)
    assert len(rows(found, "machine")) == 24
    assert any("mean locality" in sentence for sentence in found.findings)
    assert "locality" not in results(*annotated).tables


def test_a_saved_reading_is_found_again_where_the_study_says_and_only_if_it_is_that_one(database, illusion, tmp_path):
    illusion.save(tmp_path / "illusion", figures=False)
    study = create_from_reading(
        database,
        illusion,
        "annotation",
        name="sets",
        options={"neurons": 4, "directions": 4, "sentences": 4},
        source={"folder": str(tmp_path / "illusion")},
    )
    answer(database, study, patterned)
    assert "locality" in results(database, study).tables
    about = json.loads((tmp_path / "illusion" / "reading.json").read_text())
    about["manifest"]["made"] = "another time"
    (tmp_path / "illusion" / "reading.json").write_text(json.dumps(about))
    gone = results(database, study)
    assert "locality" not in gone.tables
    assert any("the reading of illusion that it was drawn from was not found" in f for f in gone.findings)
    assert not is_source(illusion, {})


@pytest.mark.parametrize("given", [0, 1, 7, 23])
def test_an_unfinished_study_says_what_is_missing(database, illusion, given):
    study = create_from_reading(
        database, illusion, "annotation", name="half", options={"neurons": 4, "directions": 4, "sentences": 4}
    )
    answer(database, study, patterned, most=given)
    found = results(database, study, reading=illusion)
    assert found.findings[0].startswith(f"half: {24 - given} of 24 answers are still missing")
    done = sum(r["sets"] for r in rows(found, "conditions") if r["corpus"] == "all")
    waiting = sum(r["waiting"] for r in rows(found, "conditions") if r["corpus"] == "all")
    assert done + waiting == 12
    assert done == sum(n == 2 for n in Counter(one.item_id for one in answers(database, study)).values())
    assert found.overview()


def test_the_reading_is_saved_loaded_and_drawn_like_every_other(annotated, tmp_path):
    found = results(*annotated, seed=3)
    again = StudyReading.load(found.save(tmp_path / "out"))
    assert again.tables.keys() == found.tables.keys() and again.findings == found.findings
    assert again.manifest["seed"] == 3 and again.manifest["kind"] == "annotation"
    assert {path.name for path in (tmp_path / "out" / "figures").glob("*.svg")} == {"conditions.svg", "agreement.svg"}
    assert "<svg" in found._repr_html_()
    assert results(*annotated, seed=3).tables == found.tables
    assert results(*annotated, seed=4).manifest["hash"] == found.manifest["hash"]


def test_the_hash_is_of_the_answers_too(database, illusion):
    study = create_from_reading(
        database, illusion, "annotation", name="s", options={"neurons": 2, "directions": 2, "sentences": 2}
    )
    before = results(database, study).manifest["hash"]
    tokens = answer(database, study, patterned)
    after = results(database, study).manifest["hash"]
    undo(database, tokens["Ada"])
    assert len({before, after, results(database, study).manifest["hash"]}) == 3


# Merging


def named_study(database, *names):
    """One annotator who names a pattern of each name, in items of one corpus."""
    items = [{"id": str(i), "corpus": "c", "sentences": [f"{i} {j}" for j in range(5)]} for i in range(len(names))]
    key = [{"id": str(i), "condition": "neuron", "direction": f"neuron {i % 2}", "rows": []} for i in range(len(names))]
    study = create_study(database, name="n", kind="annotation", items=items, key=key, annotators_per_item=1)

    def judge(_, content):
        number = int(content["sentences"][0].split()[0])
        return {"pattern": True, "patterns": [{"name": names[number], "sentences": [0, 1, 2]}]}

    answer(database, study, judge, people=("Ada",))
    patterns = patterns_of(gather(database, study))
    return study, {pattern.name: pattern.key for pattern in patterns}


def test_equal_names_are_one_and_a_person_s_decisions_join_groups(database):
    study, keys = named_study(database, "Mathematics", "mathematics.", "Maths", "Numbers", "Colours")

    def groups():
        patterns = patterns_of(gather(database, study))
        found = groups_of(patterns, decisions(database, study))
        return sorted(sorted(p.name for p in patterns if found[p.key] == name) for name in set(found.values()))

    assert groups() == [["Colours"], ["Mathematics", "mathematics."], ["Maths"], ["Numbers"]]
    decide(database, study, keys["Maths"], keys["mathematics."], True)
    decide(database, study, keys["Numbers"], keys["Maths"], True)
    decide(database, study, keys["Colours"], keys["Maths"], False)
    assert groups() == [["Colours"], ["Mathematics", "Maths", "Numbers", "mathematics."]]
    per = rows(results(database, study), "patterns_per_direction")[0]
    # Items 0, 2 and 4 are of one direction, 1 and 3 of the other.
    assert per["mean"] == pytest.approx((2 + 1) / 2)
    decide(database, study, keys["Numbers"], keys["Maths"], None)
    assert groups() == [["Colours"], ["Mathematics", "Maths", "mathematics."], ["Numbers"]]


def test_proposals_go_from_the_likeliest_down_and_not_twice(database):
    study, keys = named_study(database, "quoted speech", "speech in quotes", "Speech, quoted", "rivers of Asia", "zoo")

    def proposed():
        found = proposals(patterns_of(gather(database, study)), decisions(database, study))
        return [{one.a.name, one.b.name} for one in found]

    assert proposed()[0] == {"quoted speech", "Speech, quoted"}
    assert {"quoted speech", "speech in quotes"} in proposed()
    assert not any("zoo" in pair for pair in proposed())
    decide(database, study, keys["quoted speech"], keys["Speech, quoted"], False)
    assert {"quoted speech", "Speech, quoted"} not in proposed()
    before = len(proposed())
    decide(database, study, keys["quoted speech"], keys["speech in quotes"], True)
    assert len(proposed()) < before


def test_what_two_people_marked_in_one_set_is_proposed_whatever_they_call_it(database):
    items = [{"id": "a", "corpus": "c", "sentences": [f"s{j}" for j in range(6)]}]
    key = [{"id": "a", "condition": "neuron", "direction": "neuron 1", "rows": []}]
    study = create_study(database, name="n", kind="annotation", items=items, key=key)
    said = {"Ada": ("kings", [0, 1, 2, 3]), "Ben": ("monarchy", [1, 2, 3, 4])}

    def judge(name, _):
        return {"pattern": True, "patterns": [{"name": said[name][0], "sentences": said[name][1]}]}

    answer(database, study, judge, people=("Ada", "Ben"))
    [one] = proposals(patterns_of(gather(database, study)), {})
    assert (one.shared, one.likeness) == (pytest.approx(3 / 5), pytest.approx(3 / 5))
    assert np.isnan(one.cosine)


def test_an_encoder_s_cosine_brings_synonyms_together(database, minilm):
    study, _ = named_study(database, "medicine", "illness and doctors", "sport", "football matches", "zz")
    found = proposals(patterns_of(gather(database, study)), {}, minilm.embed)
    pairs = [{one.a.name, one.b.name} for one in found]
    assert {"medicine", "illness and doctors"} in pairs[:2] and {"sport", "football matches"} in pairs[:2]
    assert found[0].cosine == pytest.approx(found[0].likeness)


def test_contradictions_and_foreign_patterns(database):
    study, keys = named_study(database, "a one", "b two", "c three")
    a, b, c = keys.values()
    decide(database, study, a, b, True)
    decide(database, study, c, b, True)
    decide(database, study, c, a, False)
    found = groups_of(patterns_of(gather(database, study)), decisions(database, study))
    assert contradictions(found, decisions(database, study)) == [(a, c)]
    assert any("look at them again" in sentence for sentence in results(database, study).findings)
    other, others = named_study(database, "x", "y")
    for wrong in ((a, others["x"]), (a, (a[0], 1)), (a, (a[0], -1)), (a, a)):
        with pytest.raises(InputError):
            decide(database, study, *wrong, True)
    assert decisions(database, other) == {}


# Rating


def rated(name, content):
    """A person who likes few, strong words, and each a little differently."""
    weights = [w["weight"] for side in ("words_a", "words_b") for w in content[side]]
    return {"rating": int(np.clip(5 - 8 * np.mean(weights) + len(name) % 2, 1, 5))}


def test_opinions_by_method_and_paired_differences(database, similarity):
    study = create_from_reading(database, similarity, "rating", name="r", options={"pairs": 4}, annotators_per_item=3)
    answer(database, study, rated)
    found = results(database, study, reading=similarity)
    scores: dict[str, dict[int, list[int]]] = {}
    for one, key in with_key(database, study):
        scores.setdefault(key["method"], {}).setdefault(key["pair"], []).append(one.answer["rating"])
    by_pair = {m: [np.mean(of[p]) for p in range(4)] for m, of in scores.items()}
    table = rows(found, "methods")
    assert [r["mean"] for r in table] == sorted((r["mean"] for r in table), reverse=True)
    for row in table:
        assert row["mean"] == pytest.approx(np.mean(by_pair[row["method"]]))
        assert (row["pairs"], row["ratings"]) == (4, 12)
        assert row["low"] <= row["mean"] <= row["high"]
    for row in rows(found, "differences"):
        apart = np.subtract(by_pair[row["method"]], by_pair["bti"])
        assert (row["against"], row["difference"]) == ("bti", pytest.approx(apart.mean()))
        expected = stats.wilcoxon(apart, zero_method="pratt").pvalue if apart.any() else 1
        assert row["p"] == pytest.approx(expected)
        assert row["p_adjusted"] >= row["p"]
    assert sum(r["count"] for r in rows(found, "scores")) == 48
    assert [r["level"] for r in rows(found, "agreement")[:3]] == ["ordinal", "interval", "nominal"]
    beside = rows(found, "deletion")
    areas = {r["method"]: r["area"] for r in similarity.tables["deletion"].to_pylist()}
    assert {r["method"] for r in beside} == set(by_pair)
    for row in beside:
        assert row["deletion_area"] == areas[row["method"]]
        assert row["deletion_rank"] == sum(areas[m] >= areas[row["method"]] for m in by_pair)
    assert any("rank correlation" in sentence for sentence in found.findings)


def test_paired_intervals_are_over_pairs_and_not_over_answers(database):
    """Two methods a constant apart: whatever pairs are drawn, the difference is the same."""
    items, key = rating_items({"bti": [5, 3, 4, 2], "other": [4, 2, 3, 1]})
    study = create_study(database, name="r", kind="rating", items=items, key=key)
    answer(database, study, lambda _, content: {"rating": int(content["text_a"])})
    [row] = rows(results(database, study), "differences")
    assert (row["difference"], row["low"], row["high"]) == (-1, -1, -1)
    wide = {r["method"]: r["high"] - r["low"] for r in rows(results(database, study), "methods")}
    assert wide["bti"] > 1


def rating_items(scores):
    """Whoever rates reads the score from the text."""
    items, key = [], []
    for method, of in scores.items():
        for pair, score in enumerate(of):
            name = f"{method} {pair}"
            rest = {"text_b": "b", "words_a": [], "words_b": [], "pairs": []}
            items.append({"id": name, "text_a": str(score), **rest})
            key.append({"id": name, "pair": pair, "method": method})
    return items, key


# Rationale


def test_rationales_by_representation(database):
    items, key = [], []
    helps = {
        "salience-vocab": (1, 1, 1, 1, 1, 1, 1, 0),
        "cls": (0, 0, 0, 1, 0, 0, 0, 0),
        "pmi": (1, 1, 1, 1, 1, 1, 1, 1),
    }
    for name, of in helps.items():
        for row, good in enumerate(of):
            items.append({"id": f"{name} {row}", "text": str(good), "label": "0", "answer": "1",
                          "neighbours": [{"text": "n", "label": "1", "answer": "1"}]})  # fmt: skip
            key.append({"id": f"{name} {row}", "corpus": "c", "row": row, "representation": name})
    study = create_study(database, name="why", kind="rationale", items=items, key=key)

    def judge(name, content):
        good = content["text"] == "1"
        return {"explains": good, "rationale": "Both say  not" if good and name == "Ada" else "both say not" * good}

    answer(database, study, judge)
    found = results(database, study)
    table = {r["representation"]: r for r in rows(found, "representations")}
    assert list(table) == ["pmi", "salience-vocab", "cls"]
    for name, of in helps.items():
        assert table[name]["share"] == pytest.approx(np.mean(of))
        assert table[name]["explained_by_all"] == sum(of) and table[name]["conflicting"] == 0
        assert 0 <= table[name]["low"] <= table[name]["share"] <= table[name]["high"] <= 1
    assert table["pmi"]["low"] == pytest.approx(wilson(8, 8)[0])
    differences = {r["representation"]: r for r in rows(found, "differences")}
    assert (differences["cls"]["more"], differences["cls"]["less"]) == (0, 6)
    assert differences["cls"]["p"] == pytest.approx(stats.binomtest(0, 6).pvalue)
    assert differences["cls"]["against"] == "salience-vocab"
    ways = [(r["representation"], r["way"], r["count"]) for r in rows(found, "ways")]
    assert ways == [("cls", "both say not", 2), ("pmi", "both say not", 16), ("salience-vocab", "both say not", 14)]
    assert {r["value"] for r in rows(found, "agreement")} == {1.0}


# Exports, and over HTTP


def test_answers_leave_with_their_key_and_no_formula_runs(database):
    study, _ = named_study(database, '=HYPERLINK("http://x")', "plain, with a comma", '<script>alert("x")</script>')
    table = answers_table(database, study)
    written = list(csv.DictReader(io.StringIO(csv_text(table))))
    names = {row["name"] for row in written}
    assert names == {'\'=HYPERLINK("http://x")', "plain, with a comma", '<script>alert("x")</script>'}
    assert {row["key_condition"] for row in written} == {"neuron"}
    assert written[0]["sentences"] == "[0, 1, 2]"
    assert set(table["name"].to_pylist()) == {
        '=HYPERLINK("http://x")',
        "plain, with a comma",
        '<script>alert("x")</script>',
    }


def test_no_table_of_a_saved_reading_has_a_formula_and_numbers_stay_numbers(database, tmp_path):
    study, _ = named_study(database, "=1+1", "@here", "plain")
    results(database, study).save(tmp_path / "out", figures=False)
    for path in (tmp_path / "out" / "tables").glob("*.csv"):
        cells = [cell for row in csv.reader(io.StringIO(path.read_text())) for cell in row]
        assert not [cell for cell in cells if cell.startswith(("=", "@", "+"))], path.name
    named = list(csv.DictReader(io.StringIO((tmp_path / "out" / "tables" / "patterns.csv").read_text())))
    assert {row["pattern"] for row in named} == {"'=1+1", "'@here", "plain"}
    table = pa.table({"-x": [-0.5, None], "text": ["-", "a"], "list": [["=1"], ["é"]]})
    assert csv_text(table) == '\'-x,text,list\n-0.5,\'-,"[""=1""]"\n,a,"[""é""]"\n'
    assert csv_text(table, heading=False) == csv_text(table).partition("\n")[2]


@pytest.fixture
def client(tmp_path):
    from theodolite.studio.app import make_studio

    app = make_studio([], database=str(tmp_path / "studies.db"))
    with TestClient(app, base_url="http://127.0.0.1:8400") as found:
        yield found


def test_results_exports_and_merges_over_http(client, database, illusion):
    study = create_from_reading(
        database, illusion, "annotation", name="sets", options={"neurons": 4, "directions": 4, "sentences": 4}
    )
    answer(
        database, study, lambda name, _: {"pattern": True, "patterns": [{"name": NAMES[name], "sentences": [1, 3, 5]}]}
    )
    told = client.get(f"/api/studies/{study}/results").json()
    assert told["kind"] == "annotation"
    assert told["tables"]["conditions"][0]["yes_share"] == 1
    assert told["tables"]["agreement"][0]["value"] is None and told["tables"]["agreement"][0]["why"]
    assert told["manifest"]["seed"] == 0
    written = client.get(f"/api/studies/{study}/export.csv")
    assert written.headers["content-disposition"].startswith("attachment") and written.text.count("\n") == 25
    parquet = pq.read_table(io.BytesIO(client.get(f"/api/studies/{study}/export.parquet").content))
    assert parquet.num_rows == 24 and "key_condition" in parquet.column_names
    assert client.get(f"/api/studies/{study}/export.exe").status_code == 422
    merges = client.get(f"/api/studies/{study}/merges").json()
    assert merges["patterns"] == 24 and len(merges["groups"]) == 3 and merges["live"]
    first = merges["proposals"][0]
    assert first["likeness"] == max(first["letters"], first["shared"], first["cosine"])
    keys = [{"answer": first[side]["answer"], "place": first[side]["place"]} for side in "ab"]
    after = client.post(f"/api/studies/{study}/merges", json={"a": keys[0], "b": keys[1], "same": True}).json()
    assert len(after["groups"]) == 2 and after["decided"][0]["same"]
    back = client.post(f"/api/studies/{study}/merges", json={"a": keys[0], "b": keys[1], "same": None}).json()
    assert len(back["groups"]) == 3 and back["decided"] == []


NAMES = {"Ada": "rivers and lakes", "Ben": "lakes or rivers", "Cleo": "seven"}


@pytest.mark.parametrize("path", ["results", "export.csv", "merges"])
def test_a_study_that_is_not_there_is_not_found(client, path):
    assert client.get(f"/api/studies/999/{path}").status_code == 404
    # One that no database can have is refused, and not looked for.
    assert client.get(f"/api/studies/{10**30}/{path}").status_code == 422


def test_a_link_for_nobody_is_not_found(client, database):
    study, _ = named_study(database, "dates")
    for path in ("77/annotators/1", f"{study}/annotators/77"):
        assert client.post(f"/api/studies/{path}/link").status_code == 404, path


def test_a_study_made_on_the_page_knows_where_its_reading_is(tmp_path):
    from theodolite.studio.app import make_studio

    reading, *_ = reading_of_sets(4, 2)
    reading.save(tmp_path / "illusion", figures=False)
    app = make_studio([tmp_path / "illusion"], database=str(tmp_path / "studies.db"))
    asked = {"kind": "annotation", "name": "mine", "survey": "illusion"}
    asked["options"] = {"neurons": 4, "directions": 0, "sentences": 2}
    with TestClient(app, base_url="http://127.0.0.1:8400") as client:
        made = client.post("/api/studies", json=asked).json()
        found = reading_of(made["source"])
        assert found is not None and found.manifest == reading.manifest
        (tmp_path / "illusion" / "reading.json").unlink()
        assert reading_of(made["source"]) is None
    # Where it is gone, the results say so.
    with closing(Database.open(tmp_path / "studies.db")) as database:
        said = results(database, made["id"]).findings
    assert any("the reading of illusion that it was drawn from was not found" in sentence for sentence in said)


def test_a_pattern_s_number_that_no_database_can_have_is_refused(client, database):
    study, _ = named_study(database, "dates")
    for key in ({"answer": 10**30, "place": 0}, {"answer": 1, "place": 10**30}):
        body = {"a": key, "b": {"answer": 1, "place": 0}, "same": True}
        assert client.post(f"/api/studies/{study}/merges", json=body).status_code == 422, key


def rows(reading, table):
    return reading.tables[table].to_pylist()
