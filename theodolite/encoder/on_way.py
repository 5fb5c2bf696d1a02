"""Token embeddings on their way from a base to the text they are of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from theodolite.encoder.forward import Padded

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder

PAD, ZERO = "pad", "zero"


class OnWay:
    """One forward call's embeddings, each window at its text's place between the base and the text.

    places: (n,) of the texts, from 0 at the base to 1; base: ``pad`` (padding at the same positions) or ``zero`` (no
    embedding and no position). Special tokens stay as they are.
    """

    def __init__(self, encoder: Encoder, padded: Padded, places: torch.Tensor, base: str = PAD) -> None:
        device = encoder.device
        weight = encoder.model.get_input_embeddings().weight.detach()
        self._base = torch.zeros_like(weight[0]) if base == ZERO else weight[encoder.tokenizer.pad_id]
        self._stays = padded.stays.to(device)[:, :, None]
        share = places[torch.from_numpy(padded.text)].to(device)[:, None, None]
        self._share = torch.where(self._stays, 1.0, share)
        self._away: torch.Tensor = weight[0]

    def embeddings(self, embedded: torch.Tensor) -> torch.Tensor:
        """Token embeddings (B, T, e) on their way."""
        self._away = embedded.detach() - self._base
        return torch.lerp(self._base.expand_as(embedded), embedded, self._share)

    def positions(self, added: torch.Tensor) -> torch.Tensor:
        """Position embeddings on their way from nothing."""
        self._away = self._away + added.detach()
        return added * self._share

    def way(self) -> torch.Tensor:
        """(B, T, e) the whole way of each token; nothing for those that stay."""
        return self._away.masked_fill(self._stays, 0.0)
