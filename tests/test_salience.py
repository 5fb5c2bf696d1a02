"""The salience instrument on a real trained classifier: against captum, against naive loops, killed, misused."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
import torch
from captum.attr import InputXGradient, IntegratedGradients, Saliency

from theodolite import Corpus, InputError, Salience, SalienceReading, Store, explain, load, run
from theodolite.cli.main import main
from theodolite.encoder.encoder import Encoder
from theodolite.encoder.maps import METHODS, Question
from theodolite.instrument import Silent, Subject
from theodolite.registry import instrument
from theodolite.salience.answering import KeptAnswers
from theodolite.salience.keeping import KeepMaps
from theodolite.salience.study import draw_rationales

STEPS = 4


class Reference:
    """One text at a time through transformers, from the sum of token and position embeddings."""

    def __init__(self, classifier) -> None:
        self.model, self.tokenizer = classifier._head, classifier.tokenizer
        self.words = classifier.model.get_input_embeddings()
        self.positions = classifier.model.embeddings.position_embeddings.weight

    def inputs(self, ids: list[int]) -> torch.Tensor:
        return (self.words(torch.tensor([ids])) + self.positions[: len(ids)]).detach()

    def logits(self, summed: torch.Tensor) -> torch.Tensor:
        # The model adds the positions by itself.
        return self.model(inputs_embeds=summed - self.positions[: summed.shape[1]]).logits

    def base(self, ids: list[int]) -> torch.Tensor:
        special = [self.tokenizer.is_special(i) for i in ids]
        return self.inputs([i if s else self.tokenizer.pad_id for i, s in zip(ids, special, strict=True)])

    def weights(self, ids: list[int], target: int) -> dict[str, np.ndarray]:
        x = self.inputs(ids).requires_grad_(True)
        gradient = Saliency(self.logits).attribute(x, target=target, abs=False)
        product = InputXGradient(self.logits).attribute(x, target=target)
        integrated = IntegratedGradients(self.logits).attribute(
            x, baselines=self.base(ids), target=target, n_steps=STEPS, method="gausslegendre"
        )
        found = (gradient.norm(dim=-1), product.sum(dim=-1), integrated.sum(dim=-1))
        return {name: value[0].detach().numpy() for name, value in zip(METHODS, found, strict=True)}


@pytest.fixture(scope="module")
def mixed(shared, sst2) -> list[str]:
    """200 texts of very different lengths, none longer than the model reads at once."""
    import gzip

    with gzip.open(shared / "data" / "corpora" / "passages.txt.gz", "rt", encoding="utf-8") as file:
        passages = [next(file).strip() for _ in range(100)]
    return [text for pair in zip(sst2.texts(0, 100), passages, strict=True) for text in pair]


@pytest.mark.parametrize("budget", [64, 1024, 4096])
def test_maps_equal_captums(classifier, mixed, budget):
    """Every token of every text by every method, whatever the batches."""
    texts = mixed if budget == 1024 else mixed[:20]
    reference = Reference(classifier)
    question = Question(METHODS, steps=STEPS)
    seen = 0
    for batch in classifier.map_batches(classifier.tokenise(texts), question, budget=budget):
        maps = batch.maps
        for i in range(len(maps)):
            span = slice(maps.layout.bounds[i], maps.layout.bounds[i + 1])
            ids = maps.layout.ids[span].tolist()
            assert ids == [101, *classifier.tokenise([texts[batch.rows[i]]]).ids.tolist(), 102]
            target = int(maps.target[i])
            assert target == int(reference.logits(reference.inputs(ids))[0].argmax())
            for method, expected in reference.weights(ids, target).items():
                # Single precision: 1e-5, of the text's largest weight where that is over 1.
                largest = max(1.0, float(np.abs(expected).max()))
                np.testing.assert_allclose(maps.weights[method][span], expected, atol=1e-5 * largest, rtol=0)
            seen += 1
    assert seen == len(texts)


def test_integrated_gradients_add_up_or_are_flagged(classifier, mixed):
    """The error told is the error there is, and under 1% wherever steps were left."""
    reference = Reference(classifier)
    few = mixed[:40]
    for batch in classifier.map_batches(classifier.tokenise(few), Question(("integrated-gradients",))):
        maps = batch.maps
        for i in range(len(maps)):
            span = slice(maps.layout.bounds[i], maps.layout.bounds[i + 1])
            ids, target = maps.layout.ids[span].tolist(), int(maps.target[i])
            with torch.no_grad():
                change = float(
                    reference.logits(reference.inputs(ids))[0, target]
                    - reference.logits(reference.base(ids))[0, target]
                )
            error = abs(float(maps.weights["integrated-gradients"][span].sum()) - change) / max(abs(change), 0.01)
            assert maps.error[i] == pytest.approx(error, abs=2e-3)
            assert maps.error[i] < 0.01 or maps.steps[i] == 200


def test_a_text_of_several_windows(classifier, sst2):
    """Its answer is the mean over windows, a token's gradient the sum over those it is in; specials too."""
    small = Encoder.load(classifier.folder.path, max_length=16)
    text = " ".join(sst2.texts(0, 6))
    reference = Reference(small)
    pieces = small.tokenise([text]).ids.tolist()
    starts = range(0, len(pieces), 8)
    parts = [pieces[a : a + 14] for a in starts]
    # The last window is the first that reaches the end.
    parts = parts[: next(i for i, a in enumerate(starts) if a + 14 >= len(pieces)) + 1]
    assert len(parts) > 3
    for of in ("logit", "probability"):
        logits = torch.stack([reference.logits(reference.inputs([101, *p, 102]))[0] for p in parts]).mean(dim=0)
        target = int(logits.argmax())
        leaves = [reference.inputs([101, *p, 102]).requires_grad_(True) for p in parts]
        mean = torch.stack([reference.logits(x)[0] for x in leaves]).mean(dim=0)
        value = mean[target] if of == "logit" else mean.softmax(dim=0)[target]
        gradients = torch.autograd.grad(value, leaves)
        sums = torch.zeros(len(pieces) + 2, gradients[0].shape[-1])
        products = torch.zeros(len(pieces) + 2)
        for number, (gradient, x) in enumerate(zip(gradients, leaves, strict=True)):
            places = [0, *range(1 + 8 * number, 1 + 8 * number + len(parts[number])), len(pieces) + 1]
            for place, g, e in zip(places, gradient[0], x[0], strict=True):
                sums[place] += g
                products[place] += (g * e).sum()
        for budget in (16, 1024):
            # Integrated gradients of a probability ask all windows at every step: once is enough.
            methods = METHODS if of == "logit" or budget == 1024 else METHODS[:2]
            question = Question(methods, of=of)
            [batch] = small.map_batches(small.tokenise([text]), question, budget=budget)
            np.testing.assert_allclose(batch.maps.logits[0], mean.detach().numpy(), atol=1e-5)
            np.testing.assert_allclose(batch.maps.weights["grad-l2"], sums.norm(dim=1).numpy(), atol=3e-5)
            np.testing.assert_allclose(batch.maps.weights["grad-x-input"], products.detach().numpy(), atol=3e-5)
            assert batch.maps.error[0] < 0.01


@pytest.fixture(scope="module")
def reading(classifier, sst2, tmp_path_factory) -> SalienceReading:
    asked = Salience(
        method=("grad-l2", "grad-x-input"),
        representation=("salience-vocab", "salience-embedding", "pmi", "average-embedding", "cls", "salience-bigrams"),
        clusters=3,
        marker="(?i)film|movie",
        neighbours=("0", "errors"),
        sensitivity=("auto",),
        insertions=20,
        faithful=30,
    )
    [found] = run([asked], classifier, [sst2], store=Store(tmp_path_factory.mktemp("store")))
    return found


def test_the_reading(reading, classifier, sst2):
    found = reading.to_json()
    labels, texts = sst2.column("label").to_pylist(), sst2.texts()
    answered = classifier.logits(texts).argmax(axis=1).tolist()
    right = [a == int(b) for a, b in zip(answered, labels, strict=True)]
    assert found["predictions"]["accuracy"] == pytest.approx(sum(right) / len(right))
    assert [r["class"] for r in found["predictions"]["by_class"]] == ["0", "1"]
    for name in ("0", "1"):
        for representation in ("salience-vocab", "cls", "salience-bigrams"):
            mine = [
                r for r in found["clusters"]
                if r["predicted"] == name and r["representation"] == representation and r["method"] == "grad-l2"
            ]  # fmt: skip
            assert len(mine) == 3
            assert sum(r["size"] for r in mine) == answered.count(int(name))
            assert sum(r["share"] for r in mine) == pytest.approx(1)
            assert [r["suspicion"] for r in mine] == sorted((r["suspicion"] for r in mine), reverse=True)
    assert {r["method"] for r in found["faithfulness"]} == {"grad-l2", "grad-x-input", "random"}
    assert {r["list"] for r in found["sensitivity"]} >= {"identity terms"}
    wrong = {i for i, good in enumerate(right) if not good}
    assert {r["row"] for r in found["neighbours"]} <= wrong | {0}
    assert all(r["neighbour_row"] != r["row"] for r in found["neighbours"])
    assert {r["representation"] for r in found["marker"]} == {r["representation"] for r in found["clusters"]}
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("wanted", ["label=1", "predicted=0"])
def test_neighbours_of_one_label_or_prediction(wanted, reading, classifier, sst2, tmp_path):
    """They are the nearest of those alone: each is at most as near as the nearest of all."""
    asked = Salience(clusters=0, neighbours=("0", "5"), neighbours_with=wanted, faithful=0, map="none")
    [found] = run([asked], classifier, [sst2], store=Store(tmp_path))
    what, cls = wanted.split("=")
    rows = found.tables["neighbours"].to_pylist()
    assert {r["row"] for r in rows} == {0, 5} and {r[what] for r in rows} == {cls}
    free = [r for r in reading.tables["neighbours"].to_pylist() if (r["row"], r["method"]) == (0, "grad-l2")]
    nearest = [r for r in free if r["representation"] == "salience-vocab"]
    expected = [r["neighbour_row"] for r in nearest if r[what] == cls]
    assert [r["neighbour_row"] for r in rows if r["row"] == 0][: len(expected)] == expected


def test_the_marked_cluster_is_counted_rightly(reading, sst2):
    """Precision and recall of the cluster named, counted again from the texts' table."""
    rows = [r for r in reading.tables["marker"].to_pylist() if r["representation"] == "salience-vocab"]
    texts = reading.tables["texts"].to_pylist()
    for row in (r for r in rows if r["method"] == "grad-l2"):
        mine = [t for t in texts if t["answer"] == row["predicted"]]
        has = {
            t["row"] for t in mine if "film" in sst2.text(t["row"]).lower() or "movie" in sst2.text(t["row"]).lower()
        }
        members = {t["row"] for t in mine if t["cluster"] == row["cluster"]}
        assert row["precision"] == pytest.approx(len(has & members) / len(members))
        assert row["recall"] == pytest.approx(len(has & members) / len(has))
        assert row["size"] == pytest.approx(len(members) / len(mine))


def test_it_is_saved_shown_and_drawn(reading, tmp_path):
    reading.save(tmp_path)
    again = load(tmp_path)
    assert isinstance(again, SalienceReading)
    assert again.to_json() == json.loads(json.dumps(reading.to_json()))
    page = again._repr_html_()
    assert "td-for" in page
    assert "td-cloud" in page
    assert {p.stem for p in (tmp_path / "figures").glob("*.svg")} == {
        "map", "map-labels", "map-clusters", "map-marked", "clusters", "sensitivity", "faithfulness", "positions"
    }  # fmt: skip
    cards = again.cards()
    scores = [float(c.facts.split("suspicion ")[1].split(";")[0]) for c in cards]
    assert scores == sorted(scores, reverse=True)
    for card in cards:
        for passage in card.passages:
            assert max(abs(weight) for _, weight in passage.spans) == pytest.approx(1)


def test_slices_and_one_class(classifier, sst2, tmp_path):
    asked = Salience(where="the", within="1", clusters=2, faithful=0, map="none")
    [found] = run([asked], classifier, [sst2], store=Store(tmp_path))
    mentioned = [i for i, t in enumerate(sst2.texts()) if "the" in t.lower().split()]
    assert found.tables["texts"]["row"].to_pylist() == mentioned
    assert {r["predicted"] for r in found.tables["clusters"].to_pylist()} == {"1"}


def test_targets(classifier, sst2, tmp_path):
    """The label's class, a class by number, and several answers from one store."""
    few = Corpus.of(sst2.texts(0, 20), "few", labels=sst2.column("label").to_pylist()[:20])
    for target in ("label", "0"):
        subject = _subject(classifier, few, Store(tmp_path))
        classes = {"few": np.array([int(v) for v in few.column("label").to_pylist()])}
        asked = KeepMaps(subject, Question(target=target), classes)
        expected = classes["few"] if target == "label" else np.zeros(20, int)
        tokens = classifier.tokenise(few.texts())
        for batch in classifier.map_batches(tokens, Question(target=target), targets=asked.targets(few)):
            assert batch.maps.target.tolist() == expected[batch.rows].tolist()


def test_several_targets_are_one_run_and_each_as_alone(classifier, sst2, tmp_path):
    few = Corpus.of(sst2.texts(0, 20), "few", labels=sst2.column("label").to_pylist()[:20])
    asked = Salience(method=("grad-l2", "grad-x-input"), clusters=2, faithful=4, map="none", keep_maps=True)
    targets = ("label", "0")
    [whole] = run([replace(asked, target=targets)], classifier, [few], store=Store(tmp_path / "whole"))
    assert whole.tables["texts"].num_rows == 20
    for target in targets:
        [alone] = run([replace(asked, target=(target,))], classifier, [few], store=Store(tmp_path / target))
        for name in ("maps", "clusters", "positions", "faithfulness"):
            expected = alone.tables[name].to_pylist()
            mine = [r for r in whole.tables[name].to_pylist() if r["method"].endswith(f" of {target}")]
            assert mine == [{**r, "method": f"{r['method']} of {target}"} for r in expected]
            assert expected


def test_maps_are_kept_as_a_table_of_tokens(classifier, tmp_path):
    texts = ["A dull film.", "", "Marvellous from start to finish!"]
    asked = Salience(clusters=0, faithful=0, map="none", keep_maps=True)
    [found] = run([asked], classifier, [Corpus.of(texts, "few")], store=Store(tmp_path / "store"))
    found.save(tmp_path / "reading")
    rows = load(tmp_path / "reading").tables["maps"].to_pylist()
    kept = [0, 2]
    tokens = classifier.tokenise([texts[i] for i in kept])
    batches = classifier.map_batches(tokens, Question(("grad-l2",)), rows=np.array(kept))
    weights = {
        (int(row), at): weight
        for batch in batches
        for i, row in enumerate(batch.rows)
        for at, weight in enumerate(np.split(batch.maps.weights["grad-l2"], batch.maps.layout.bounds[1:-1])[i])
    }
    assert {(r["row"], r["position"]): r["salience"] for r in rows} == pytest.approx(weights, rel=1e-5)
    pieces = [r for r in rows if r["side"] == 1]
    assert all(texts[r["row"]][r["start"] : r["end"]].lower() == r["token"].removeprefix("##") for r in pieces)
    assert [(r["token"], r["start"]) for r in rows if r["row"] == 0 and r["side"] == 0] == [
        ("[CLS]", -1),
        ("[SEP]", -1),
    ]
    assert "maps" not in found.to_json()


def _subject(classifier, corpus, store):
    from theodolite.instrument import Silent, Subject

    return Subject("it", 6, 384, (("model", "x"),), classifier, (corpus,), store, Silent())


def test_maps_are_made_once_and_read_back(classifier, sst2, tmp_path, monkeypatch):
    few = Corpus.of([*sst2.texts(0, 40), ""], "few", labels=[*sst2.column("label").to_pylist()[:40], None])
    asked = Salience(clusters=2, faithful=0, map="none")
    [first] = run([asked], classifier, [few], store=Store(tmp_path))
    calls = []
    made = classifier.map_batches
    monkeypatch.setattr(classifier, "map_batches", lambda *a, **k: calls.append(1) or made(*a, **k))
    [again] = run([replace(asked, clusters=3)], classifier, [few], store=Store(tmp_path))
    assert not calls
    assert first.tables["predictions"] == again.tables["predictions"]
    [entry] = Store(tmp_path).entries()
    assert Store(tmp_path).export(entry.key, tmp_path / "maps.parquet") == 40
    import pyarrow.parquet as pq

    table = pq.read_table(tmp_path / "maps.parquet")
    assert len(table["id"][0]) == len(table["grad-l2"][0]) == len(classifier.tokenise([few.text(0)]).ids) + 2


def test_pairs_and_regression(minilm, shared, tmp_path):
    """A regression on pairs, from training to the reading."""
    from theodolite.train.classifier import Training, train_classifier

    path = shared / "data" / "sts" / "STSB_train.tsv"
    corpus = _sts(path, 100)
    scores = train_classifier(
        "all-MiniLM-L6-v2", corpus, tmp_path / "model", Training(epochs=1, learning_rate=2e-4, evaluations=1)
    )
    assert scores.pearson is not None
    model = Encoder.load(tmp_path / "model")
    asked = Salience(clusters=2, faithful=10, map="none")
    [found] = run([asked], model, [corpus], store=Store(tmp_path / "store"))
    [row] = found.tables["predictions"].to_pylist()
    answers = model.logits(corpus.texts(), corpus.texts_b())[:, 0]
    assert row["correlation"] == pytest.approx(np.corrcoef(answers, corpus.column("label").to_pylist())[0, 1], abs=1e-4)
    assert {r["predicted"] for r in found.tables["clusters"].to_pylist()} == {"all"}
    assert all("⁂" in "".join(text for text, _ in p.spans) for c in found.cards() for p in c.passages)


def _sts(path, count: int) -> Corpus:
    lines = [line.rstrip("\n").split("\t") for line in path.read_text(encoding="utf-8").splitlines()[: count + 1]]
    score = next(i for i, cell in enumerate(lines[1]) if cell.replace(".", "", 1).isdigit() and float(cell) <= 5)
    return Corpus.of(
        [line[-2] for line in lines[1:]],
        "sts",
        texts_b=[line[-1] for line in lines[1:]],
        labels=[float(line[score]) + 1e-3 for line in lines[1:]],
    )


def test_explain(classifier):
    text = "A   wonderful, wonderful film — not boring 😀 at all"
    found = explain(classifier, text, methods=METHODS)
    tokens = found.tables["tokens"].to_pylist()
    assert tokens[0]["token"] == "[CLS]"
    assert all(t["text"] == text[t["start"] : t["end"]] for t in tokens if t["side"])
    assert len(found.cards()) == 3
    assert "".join(span for span, _ in found.cards()[0].passages[0].spans) == text
    expected = classifier.logits([text])[0]
    answers = [r["probability"] for r in found.tables["answers"].to_pylist()]
    assert answers == pytest.approx((np.exp(expected) / np.exp(expected).sum()).tolist(), abs=1e-6)
    assert "td-for" in found._repr_html_()
    assert explain(classifier, text, target="0").manifest["options"]["target"] == "0"


def test_a_rationale_study(reading):
    items, key = draw_rationales(reading, count=2, seed=3)
    assert len(items) == len(key)
    assert all({"id", "text", "neighbours"} <= set(item) for item in items)
    assert not any("representation" in item for item in items)
    rows = reading.tables["neighbours"].to_pylist()
    assert {k["representation"] for k in key} <= {r["representation"] for r in rows}
    # A second method's neighbours of the same texts are no part of the items.
    again = pa.Table.from_pylist(rows + [{**row, "method": "another", "text": "another"} for row in rows])
    both = replace(reading, tables={**reading.tables, "neighbours": again})
    assert draw_rationales(both, count=2, seed=3) == (items, key)


BAD = {
    "no head": (["all-MiniLM-L6-v2", "--corpus", "{sst}"], "has no classification head"),
    "labels of another head": (["{model}", "--corpus", "{other}"], "the label 'spam' is none of"),
    "fewer texts than clusters": (["{model}", "--corpus", "{sst}", "--limit", "3"], "--clusters 5"),
    "an unknown method": (["{model}", "--corpus", "{sst}", "--method", "magic"], "--method magic"),
    "an unknown representation": (["{model}", "--corpus", "{sst}", "--representation", "x"], "--representation x"),
    "a marker that no text has": (
        ["{model}", "--corpus", "{sst}", "--clusters", "2", "--marker", "zqzq"],
        "no text has",
    ),
    "a marker that is no pattern": (["{model}", "--corpus", "{sst}", "--clusters", "2", "--marker", "("], "("),
    "a row that is not there": (
        ["{model}", "--corpus", "{sst}", "--clusters", "2", "--neighbours", "999999"],
        "999999",
    ),
    "neighbours with something unknown": (
        ["{model}", "--corpus", "{sst}", "--neighbours", "0", "--neighbours-with", "colour=red"],
        "--neighbours-with colour=red",
    ),
    "neighbours of a class that is not there": (
        ["{model}", "--corpus", "{sst}", "--neighbours", "0", "--neighbours-with", "label=red"],
        "--neighbours-with",
    ),
    "a slice without texts": (["{model}", "--corpus", "{sst}", "--where", "zqzq"], "--where zqzq"),
    "a class that is not there": (["{model}", "--corpus", "{sst}", "--toward", "spam"], "--toward"),
    "a corpus that is not there": (["{model}", "--corpus", "{sst}", "--among", "train"], "--among train"),
    "a list that is not there": (
        ["{model}", "--corpus", "{sst}", "--clusters", "2", "--faithful", "0", "--sensitivity", "nofile"],
        "nofile",
    ),
    "label asked for, none given": (["{model}", "--corpus", "{bare}", "--target", "label"], "--target label"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case, classifier, sst2, tmp_path, capsys):
    arguments, said = BAD[case]
    rows = list(zip(sst2.texts(0, 30), sst2.column("label").to_pylist(), strict=False))
    (tmp_path / "sst.tsv").write_text("text\tlabel\n" + "".join(f"{t}\t{v}\n" for t, v in rows), encoding="utf-8")
    (tmp_path / "other.tsv").write_text("text\tlabel\n" + "".join(f"{t}\tspam\n" for t, _ in rows), encoding="utf-8")
    (tmp_path / "bare.txt").write_text("".join(f"{t}\n" for t, _ in rows), encoding="utf-8")
    names = {
        "model": str(classifier.folder.path),
        "sst": f"{tmp_path}/sst.tsv?label=label",
        "other": f"{tmp_path}/other.tsv?label=label",
        "bare": f"{tmp_path}/bare.txt",
    }
    filled = [a.format(**names) if "{" in a else a for a in arguments]
    with pytest.raises(SystemExit) as left:
        main(["salience", *filled, "--store", str(tmp_path / "store")])
    assert left.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err.splitlines()[-1]
    assert "Traceback" not in err


def test_the_map_is_coloured_by_what_is_known_of_the_texts(reading, sst2):
    """Every colouring's legend counts the texts of each group; a point of the group has its colour."""
    texts = reading.tables["texts"].to_pylist()
    marked = [t["row"] for t in texts if re.search("(?i)film|movie", sst2.text(t["row"]))]
    clusters = {
        f"{r['predicted']}, cluster {r['id']}: {', '.join(r['terms'][:3])} ({r['size']:,})"
        for r in reading.tables["clusters"].to_pylist()
        if (r["representation"], r["method"]) == ("salience-vocab", "grad-l2")
    }
    counts = {name: Counter(t[name] for t in texts) for name in ("answer", "label")}
    expected = {
        "map": {f"answered {name} ({n:,})" for name, n in counts["answer"].items()},
        "map-labels": {f"label {name} ({n:,})" for name, n in counts["label"].items()},
        "map-clusters": clusters,
        "map-marked": {f"marked ({len(marked):,})", f"all others ({len(texts) - len(marked):,})"},
    }
    for name, legend in expected.items():
        figure = reading.plot(name)
        assert {text.get_text() for text in figure.legends[0].get_texts()} == legend
        points = figure.axes[0].collections[0]
        shown = Counter(tuple(colour) for colour in points.get_facecolors().round(3).tolist())
        assert sorted(shown.values()) == sorted(int(t.rsplit("(", 1)[1][:-1].replace(",", "")) for t in legend)


def test_terms_and_masks_go_on_where_they_were_interrupted(classifier, sst2, tmp_path, monkeypatch):
    """What the classifier was asked before an interruption it is not asked again, and the figures are the same."""
    few = Corpus.of(sst2.texts(0, 20), "few", labels=sst2.column("label").to_pylist()[:20])
    asked = Salience(clusters=0, sensitivity=("auto",), insertions=3, faithful=5, map="none")
    answers, calls = classifier.answers, []

    def counted(tokens, **how):
        calls.append(1)
        return answers(tokens, **how)

    monkeypatch.setattr(classifier, "answers", counted)
    [expected] = run([asked], classifier, [few], store=Store(tmp_path / "whole"))
    every = len(calls)
    assert every > 20

    def interrupted(tokens, **how):
        if len(calls) == every + 12:
            raise KeyboardInterrupt
        return counted(tokens, **how)

    monkeypatch.setattr(classifier, "answers", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run([asked], classifier, [few], store=Store(tmp_path / "broken"))
    monkeypatch.setattr(classifier, "answers", counted)
    [found] = run([asked], classifier, [few], store=Store(tmp_path / "broken"))
    assert len(calls) == 2 * every
    for table in ("sensitivity", "sensitivity_terms", "faithfulness"):
        assert found.to_json()[table] == expected.to_json()[table]


def test_a_text_and_a_pair_of_the_same_tokens_are_not_taken_for_each_other(classifier, tmp_path):
    """The second text may be empty: the tokens are the same, the answer is another."""
    subject = Subject(
        "it", 6, 384, (("model", "it"),), classifier, (), Store(tmp_path), Silent()
    )  # fmt: skip
    ask = KeptAnswers(subject)
    alone, paired = classifier.tokenise(["a fine film"]), classifier.tokenise(["a fine film"], [""])
    for tokens in (alone, paired, alone, paired):
        np.testing.assert_array_equal(ask(tokens), classifier.answers(tokens))
    assert not np.allclose(ask(alone), ask(paired))
    assert ask(classifier.tokenise([])).shape == (0, 2)


def test_a_term_that_never_occurs(classifier, sst2, tmp_path):
    terms = tmp_path / "terms.txt"
    terms.write_text("zqzq\nfilm\n", encoding="utf-8")
    few = Corpus.of(sst2.texts(0, 60), "few", labels=sst2.column("label").to_pylist()[:60])
    asked = Salience(clusters=0, sensitivity=(str(terms),), insertions=5, faithful=0, map="none")
    [found] = run([asked], classifier, [few], store=Store(tmp_path / "store"))
    [row] = found.tables["sensitivity"].to_pylist()
    assert row["absent"] == ["zqzq"]
    never = next(r for r in found.tables["sensitivity_terms"].to_pylist() if r["term"] == "zqzq")
    assert never["masking"] is None or np.isnan(never["masking"])
    assert never["count"] == 0
    assert never["insertion"] is not None


def test_it_is_registered():
    assert instrument("salience") is Salience
    with pytest.raises(InputError, match="--top-k"):
        Salience(top_k="0")
