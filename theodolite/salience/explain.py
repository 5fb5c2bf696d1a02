"""One text, or one pair of texts, and what the classifier's answer to it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from theodolite.encoder.maps import INTEGRATED, Question
from theodolite.errors import InputError
from theodolite.reading import Card, Overview, Passage, Reading
from theodolite.salience.heat import coloured
from theodolite.salience.maps import FIRST, SECOND, softmax

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder

SHOWN = 12


class Explanation(Reading):
    """Tables ``tokens`` (a row for each: its characters and its weight by every method) and ``answers`` (by class)."""

    instrument: ClassVar[str] = "explanation"

    @property
    def methods(self) -> list[str]:
        """The methods it was made by."""
        fixed = ("token", "text", "side", "start", "end")
        return [name for name in self.tables["tokens"].column_names if name not in fixed]

    def overview(self) -> list[Overview]:
        """The heaviest tokens by the first method."""
        method = self.methods[0]
        rows = sorted(self.tables["tokens"].to_pylist(), key=lambda r: -abs(r[method]))[:SHOWN]
        answers = [[r["class"], r["probability"]] for r in self.tables["answers"].to_pylist()]
        return [
            Overview("The answer", ["class", "probability"], answers),
            Overview(f"Heaviest tokens by {method}", ["token", "weight"], [[r["token"], r[method]] for r in rows]),
        ]

    def cards(self) -> list[Card]:
        """The text as a heat map, one a method."""
        columns = self.tables["tokens"].to_pydict()
        about = {key: columns[key] for key in ("side", "start", "end")}
        texts = self.manifest["texts"]
        whole = {**about, "text": texts[0], "text_b": texts[1] if len(texts) > 1 else None}
        return [Card(m, passages=[Passage("", coloured({**whole, "weight": columns[m]}))]) for m in self.methods]


def explain(
    model: Encoder | str,
    text: str,
    text_b: str | None = None,
    *,
    methods: tuple[str, ...] | str = ("grad-l2",),
    target: int | str = "predicted",
    of: str = "logit",
) -> Explanation:
    """What a classifier's answer to a text (or a pair) rests on; it shows itself as a heat map in a notebook.

    target: ``predicted``, or the name or number of a class.
    """
    from theodolite.encoder.classifier import Classifier
    from theodolite.encoder.encoder import Encoder

    classifier = Encoder.load(model) if isinstance(model, str) else model
    if not isinstance(classifier, Classifier):
        raise InputError(f"{classifier.name} has no classification head; train one with theodolite train classifier")
    asked = (methods,) if isinstance(methods, str) else tuple(methods)
    if not asked:
        raise InputError("methods: none is named, so there is nothing to explain by; leave it out, or name one")
    targets = None
    if target != "predicted":
        if classifier.regression:
            raise InputError(f"target {target}: {classifier.name} is a regression, which has no classes; leave it out")
        targets = np.array([classifier.class_of(target, "target")])
    tokens = classifier.tokenise([text], None if text_b is None else [text_b])
    if not tokens.lengths[0]:
        raise InputError("the text has no tokens, so there is nothing to explain")
    # A number here would be looked for among the names once more: classes may be named by other numbers than theirs.
    question = Question(asked, "predicted" if targets is None else "label", of)
    [batch] = classifier.map_batches(tokens, question, targets=targets)
    assert batch.maps is not None
    maps, layout = batch.maps, batch.maps.layout
    whole = {FIRST: text, SECOND: text_b or ""}
    strings = [classifier.tokenizer.piece(int(i)) for i in layout.ids]
    places = zip(layout.side.tolist(), layout.start.tolist(), layout.end.tolist(), strict=True)
    columns: dict[str, Any] = {
        "token": strings,
        "text": [whole[side][start:end] if side in whole else None for side, start, end in places],
        "side": layout.side,
        "start": layout.start,
        "end": layout.end,
        **maps.weights,
    }
    regression = maps.logits.shape[1] == 1
    scores = maps.logits[0].astype(np.float64) if regression else softmax(maps.logits)[0]
    answers = [{"class": name, "probability": float(s)} for name, s in zip(classifier.labels, scores, strict=True)]
    asked_about = classifier.labels[int(maps.target[0])]
    said = [f"{classifier.name} answers {scores[0]:.3g}." if regression else
            f"{classifier.name} answers {classifier.labels[int(scores.argmax())]} (p {scores.max():.2f}); "
            f"the weights are of {asked_about}."]  # fmt: skip
    if INTEGRATED in asked:
        said.append(f"the integrated gradients miss the change of the answer by {maps.error[0]:.2%} "
                    f"after {maps.steps[0]} steps.")  # fmt: skip
    manifest = {
        "texts": [text] if text_b is None else [text, text_b],
        "encoder": {"name": classifier.name, "hash": classifier.hash},
        "options": {"methods": list(asked), "target": asked_about, "of": of},
    }
    return Explanation({"tokens": pa.table(columns), "answers": pa.Table.from_pylist(answers)}, said, manifest)
