"""The encoder of a catalogue, loaded again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from theodolite.catalogue.search import Catalogue
from theodolite.encoder.resolve import resolve

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder


def load_encoder(
    catalogue: Catalogue,
    model: str | os.PathLike[str] | None = None,
    *,
    transform: str | os.PathLike[str] | None = None,
    device: str | None = None,
) -> Encoder:
    """The encoder that a catalogue was built with, from where it was then or from another place; no other is taken."""
    about = catalogue.manifest["encoder"]
    if model is None:
        model = about["path"] if Path(about["path"]).is_dir() else about["name"]
    resolve(model)  # A wrong one is told before torch is loaded, which takes seconds.
    from theodolite.encoder.encoder import Encoder

    encoder = Encoder.load(model, device=device, max_length=about["max_length"], transform=transform)
    catalogue.check_encoder(encoder)
    return encoder
