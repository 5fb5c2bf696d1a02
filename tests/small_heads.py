"""Small classifiers with random weights, for what does not depend on them, and texts for them."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

from theodolite import Encoder
from theodolite.encoder.resolve import resolve

TEXTS = [f"{a} {b} film" for a in ("good", "bad", "long", "odd") for b in ("old", "new", "red", "dry", "sweet")]


def small_head(out: Path, *names: str):
    """A classifier with the classes named, saved in a folder; one name makes a regression."""
    tokenizer = AutoTokenizer.from_pretrained(resolve("all-MiniLM-L6-v2").path)
    torch.manual_seed(len(names))
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
    config = BertConfig(**sizes, vocab_size=len(tokenizer), initializer_range=0.3, num_labels=len(names))
    config.id2label = dict(enumerate(names))
    model = BertForSequenceClassification(config).eval()
    with torch.no_grad():
        # So that no class has all the texts.
        model.classifier.bias -= model(**tokenizer(TEXTS, padding=True, return_tensors="pt")).logits.mean(dim=0)
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    return Encoder.load(out)
