"""The model card of a trained model, from its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from theodolite.train.batches import MOST_WINDOWS


def card(record: Mapping[str, Any]) -> str:
    """The record of a classifier's training as a page of Markdown."""
    scores, classes = record["scores"], record["classes"]
    kind = "Classifier" if classes else "Regression"
    parts = [
        f"# {kind} trained from {record['model']['name']}",
        _made(record),
        "## Scores on the validation texts",
        _scores(scores),
        "The weights kept are those with the lowest loss on these same texts, so that the scores are a little better "
        "than they would be on texts never seen.",
        "## Evaluations",
        _table(_columns(scores["history"]), scores["history"]),
    ]
    if classes:
        parts += ["## Classes", _table(["name", "training", "validation", "weight"], classes)]
    parts += ["## Long texts", _windows(record), "## Left out", _left_out(record)]
    parts += ["## Options", _options(record)]
    return "\n\n".join(parts) + "\n"


def simcse_card(record: Mapping[str, Any]) -> str:
    """The record of a training on dropout views as a page of Markdown."""
    scores, limit = record["scores"], record["max_length"]
    moments = ("before", "after")
    rows = [{"held-out texts": name} | {when: scores[when][name] for when in moments} for name in scores["before"]]
    parts = [
        f"# Text encoder trained from {record['model']['name']} with unsupervised SimCSE",
        _made(record),
        "Two dropout views of each text; the loss is that of finding the one, by cosine, among the views of all texts "
        f"of a step, given the other. A text's vector: {record['options']['pooling']} pooling, as `modules.json` says.",
        "## Before and after",
        _table(["held-out texts", *moments], rows),
        f"{scores['validation_texts']} texts held out, {scores['training_texts']} trained on, dropout on. The weights "
        f"kept have the lowest loss on the held-out texts: step {scores['best_step']} of {scores['steps']}. Alignment: "
        "mean squared distance of the two views, as unit vectors. Uniformity: log of the mean of exp(-2 × squared "
        "distance) over two texts of a batch. Mean cosine: of two texts.",
        "## Evaluations",
        _table(_columns(scores["history"]), scores["history"]),
        "## Long texts",
        f"Of a text longer than {limit} tokens one window of {limit} took part, drawn anew each epoch; "
        f"{scores['cut']} training texts were.",
        "## Left out",
        _left_out(record),
        "## Options",
        _options(record),
    ]
    return "\n\n".join(parts) + "\n"


def recobert_card(record: Mapping[str, Any]) -> str:
    """The record of a training on a catalogue as a page of Markdown."""
    scores, limit = record["scores"], record["max_length"]
    new = "The encoder had none: a new one was made, which began with how often each piece occurs, and is not saved."
    head = new if scores["head"] == "new" else "Its own one; not saved."
    figures = [name for name in scores["before"] if not name.endswith(("_low", "_high"))]
    rows = [
        {"held-out items": name, "chance": scores["chance"][name]}
        | {when: _with_interval(scores[when], name) for when in ("before", "after")}
        for name in figures
    ]
    evaluations = [{k: v for k, v in row.items() if not k.endswith(("_low", "_high"))} for row in scores["history"]]
    parts = [
        f"# Text encoder trained from {record['model']['name']} with RecoBERT",
        _made(record),
        "Two losses, summed: of guessing masked pieces of an item's title and description, read as one sequence pair; "
        "and of telling its title from another item's by the cosine with its description, each encoded alone. No "
        "labels. A text's vector is the mean over its tokens without the special ones; sentence-transformers, by "
        "`modules.json`, takes the special ones in.",
        f"Language-model head: {head}",
        "## Before and after",
        _table(["held-out items", "before", "after", "chance"], rows),
        f"{scores['validation_items']} items held out, {scores['training_items']} trained on; no held-out title and no "
        f"held-out description was trained on. mrr: the mean reciprocal rank of a description's own title among all "
        f"{scores['titles']} held-out titles, over {scores['descriptions']} descriptions; it changed by "
        f"{_with_interval(scores['gain'], 'mrr')}. In brackets 95% intervals. The weights kept have the lowest sum of "
        f"losses on the same items: step {scores['best_step']} of {scores['steps']}. Chance: titles in random order, a "
        "cosine of 0 for all, and pieces guessed by how often they occur.",
        "## Evaluations",
        _table(_columns(evaluations), evaluations),
        "## Long texts",
        f"Of an item longer than {limit} tokens one window of {limit} took part, drawn anew each epoch; "
        f"{scores['cut']} training items were. Retrieval is over whole texts.",
        "## Left out",
        _left_out(record),
        "## Options",
        _options(record),
    ]
    return "\n\n".join(parts) + "\n"


def _with_interval(figures: Mapping[str, float], name: str) -> str:
    if f"{name}_low" not in figures:
        return f"{figures[name]:.4f}"
    return f"{figures[name]:.3f} ({figures[f'{name}_low']:.3f} to {figures[f'{name}_high']:.3f})"


def _made(record: Mapping[str, Any]) -> str:
    corpora = [("Training corpus", record["corpus"]), ("Validation corpus", record["validation"])]
    lines = [f"- Model: {record['model']['name']}, sha256 `{record['model']['hash']}`"]
    lines += [f"- {title}: {_one_line(c['name'])}, sha256 `{c['hash']}`" for title, c in corpora if c is not None]
    if record["validation"] is None:
        lines.append(f"- Validation: {record['options']['validation']:g} of the training corpus, held out")
    elif record["shared_texts"]:
        lines.append(f"- {record['shared_texts']} validation texts are in the training corpus too: the scores flatter")
    return "\n".join(lines)


def _scores(scores: Mapping[str, Any]) -> str:
    texts = f"{scores['validation_texts']} texts, {scores['training_texts']} trained on"
    between = "" if scores["low"] is None else f" (95% interval {scores['low']:.3f} to {scores['high']:.3f})"
    if scores["accuracy"] is not None:
        lines = [f"- accuracy {scores['accuracy']:.3f}{between}; always the largest class: {scores['baseline']:.3f}"]
        lines.append(f"- macro F1 {scores['macro_f1']:.3f}")
    else:
        r = "undefined" if scores["pearson"] is None else f"{scores['pearson']:.3f}{between}"
        lines = [f"- Pearson r {r}", f"- mean squared error {scores['mse']:.4g}; the mean: {scores['baseline']:.4g}"]
    lines.append(f"- loss {scores['loss']:.4f}, at step {scores['best_step']} of {scores['steps']}; {texts}")
    return "\n".join(lines)


def _windows(record: Mapping[str, Any]) -> str:
    limit, windowed = record["max_length"], record["windowed"]
    return (
        f"A text longer than {limit} tokens is cut into windows of {limit} that begin {limit // 2} apart, and its "
        f"answer is the mean over them. {windowed['training']} training and {windowed['validation']} validation texts "
        f"were. In training steps at most {MOST_WINDOWS} windows of a text took part, evenly spread; "
        f"{windowed['thinned']} texts had more."
    )


def _left_out(record: Mapping[str, Any]) -> str:
    found = [f"- {why}: {number}" for why, number in record["scores"]["left_out"].items() if number]
    return "\n".join(found) or "Nothing."


def _options(record: Mapping[str, Any]) -> str:
    named = {**record["options"], "max_length": record["max_length"]}
    return _table(["option", "value"], [{"option": name, "value": value} for name, value in named.items()])


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _table(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    lines = [columns, ["---"] * len(columns), *([_cell(row.get(c)) for c in columns] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else _one_line(str(value))


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
