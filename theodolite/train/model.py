"""The model to be trained: an encoder's weights under a new head, some of them frozen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from tokenizers import AddedToken

from theodolite.encoder.classifier import Classifier
from theodolite.encoder.loading import load_tokenizer
from theodolite.encoder.resolve import ModelFolder
from theodolite.encoder.tokens import Tokenizer
from theodolite.errors import InputError
from theodolite.train.labels import Task, frozen_layers

# What configurations call the dropout of attention weights.
ATTENTION_DROPOUT = ("attention_probs_dropout_prob", "attention_dropout")

# Weights outside the layers that frozen ones use: what widens the embeddings, and positions that all layers share.
BELOW = ("embeddings_project", "embedding_hidden_mapping_in")
SHARED = ("relative_attention_bias", "rel_embeddings", "encoder.LayerNorm")


def new_classifier(
    folder: ModelFolder,
    task: Task,
    max_length: int | None,
    seed: int,
    attention_dropout: float | None = None,
    words: Sequence[str] = (),
) -> tuple[Classifier, Any]:
    """A classifier whose head is new, made under the seed, and its tokenizer as transformers knows it.

    words: become vocabulary items of their own.
    """
    from transformers import AutoModelForSequenceClassification, set_seed

    set_seed(seed)
    names = task.names or ("value",)
    changed = {} if attention_dropout is None else {_attention_dropout(folder): attention_dropout}
    try:
        loaded, found = AutoModelForSequenceClassification.from_pretrained(
            folder.path,
            use_safetensors=True,
            trust_remote_code=False,
            dtype=torch.float32,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            id2label=dict(enumerate(names)),
            label2id={name: i for i, name in enumerate(names)},
            problem_type="regression" if task.regression else "single_label_classification",
            **changed,
        )
        fast = load_tokenizer(folder)
    except Exception as fault:  # transformers raises many classes for a folder that is not a model
        reason = str(fault).strip().splitlines()[0][:160] if str(fault).strip() else type(fault).__name__
        raise InputError(f"{folder.name}: cannot be trained as a classifier: {reason}") from fault
    prefix = f"{loaded.base_model_prefix}."
    missing = sorted(k for k in found["missing_keys"] if k.startswith(prefix) and "pooler" not in k.split("."))
    if missing:
        raise InputError(f"{folder.name}: {len(missing)} of its weights are not in the file, such as {missing[0]}")
    # Only the head's may be of another shape: a folder that is a classifier already has other classes.
    misfits = {key if isinstance(key, str) else key[0] for key in found["mismatched_keys"]}
    wrong = sorted(key for key in misfits if key.startswith(prefix) and "pooler" not in key.split("."))
    if wrong:
        raise InputError(f"{folder.name}: {len(wrong)} weights have not the shape that config.json says: {wrong[0]}, …")
    _renew_head(loaded)
    add_words(loaded, fast, Tokenizer(fast, folder.name), words)
    classifier = Classifier(folder, loaded, Tokenizer(fast, folder.name), max_length)
    loaded.loaded_keys = frozenset(loaded.state_dict()) - frozenset(found["missing_keys"]) - misfits
    return classifier, fast


def add_words(model: Any, fast: Any, tokenizer: Tokenizer, words: Sequence[str]) -> None:
    """Make each word one item of the vocabulary; its embedding begins as the mean of those of its pieces.

    tokenizer: as it is before.
    """
    if not words:
        return
    pieces = tokenizer.pieces_of(words)
    for word, ids in zip(words, pieces, strict=True):
        if len(word.split()) != 1 or not ids:
            raise InputError(f"--add-word {word!r}: not a single word")
        if len(ids) == 1 and ids[0] != fast.unk_token_id:
            raise InputError(f"--add-word {word}: is one item of the vocabulary already; leave it out")
        if words.count(word) > 1:
            raise InputError(f"--add-word {word}: given twice; once is enough")
        # Where items are marked that begin a word, the blank before this one would be an item of its own.
        fast.add_tokens([AddedToken(word, single_word=True, normalized=True, lstrip=bool(tokenizer.word_mark))])
    # New rows as they come would need covariances of the whole table, and are written over anyway.
    table = model.resize_token_embeddings(max(len(fast), model.config.vocab_size), mean_resizing=False).weight
    with torch.no_grad():
        for word, ids in zip(words, pieces, strict=True):
            table[fast.convert_tokens_to_ids(word)] = table[ids].mean(dim=0)


def _attention_dropout(folder: ModelFolder) -> str:
    """What the model's own configuration calls it."""
    name = next((name for name in ATTENTION_DROPOUT if name in folder.config), None)
    if name is None:
        raise InputError(f"--attention-dropout: {folder.name}'s config.json has none of {', '.join(ATTENTION_DROPOUT)}")
    return name


def _renew_head(model: Any) -> None:
    """The head of a folder that is a classifier already is not kept: its classes are others."""
    spread = float(getattr(model.config, "initializer_range", 0.02))
    for layer in head_layers(model):
        torch.nn.init.normal_(layer.weight, std=spread)
        if layer.bias is not None:
            torch.nn.init.zeros_(layer.bias)


def head_layers(model: Any) -> list[torch.nn.Linear]:
    """The linear layers above the encoder, the one that gives the answer last."""
    below = {id(m) for m in model.base_model.modules()}
    return [m for m in model.modules() if isinstance(m, torch.nn.Linear) and id(m) not in below]


def freeze(classifier: Classifier, what: str) -> None:
    """Freeze nothing ('none'), 'all' of the encoder, or some of its layers, such as 'embeddings,2-4' (0: embeddings).

    Weights of the encoder that were not in the folder (a pooler) are as new as the head and stay free.
    """
    if what == "none":
        return
    base = classifier.model
    if what == "all":
        base.requires_grad_(False)
        loaded = classifier._head.loaded_keys
        for name, weight in classifier._head.named_parameters():
            if name not in loaded:
                weight.requires_grad_(True)
        return
    layers = frozen_layers(what)
    if max(layers) > classifier.layers:
        raise InputError(f"--freeze {what}: {classifier.name} has layers 0 (embeddings) to {classifier.layers}")
    if 0 in layers:
        words = base.get_input_embeddings()
        embeddings = next(child for child in base.children() if any(m is words for m in child.modules()))
        embeddings.requires_grad_(False)
    for layer in layers - {0}:
        classifier._blocks()[layer - 1].requires_grad_(False)
    used = SHARED + (BELOW if 0 in layers else ())
    for name, weight in base.named_parameters():
        if any(f".{part}." in f".{name}" for part in used):
            weight.requires_grad_(False)


def answer_in_units(model: Any, mean: float, deviation: float) -> None:
    """Change the last layer so that a regression trained on standard scores answers in the labels' own units."""
    last = head_layers(model)[-1]
    with torch.no_grad():
        last.weight.mul_(deviation)
        last.bias.mul_(deviation).add_(mean)
