"""Catalogues on the compare page: items looked up, their neighbours, and two of them explained."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from theodolite.catalogue.explaining import asked_of, baseline_of
from theodolite.catalogue.search import Catalogue, Item, Similar
from theodolite.errors import InputError
from theodolite.similarity.methods import TFIDF
from theodolite.studio.compare_baseline import standing_among
from theodolite.studio.compare_explaining import checked, explained, finite
from theodolite.studio.compare_schemas import (
    CatalogueAsked,
    CatalogueItem,
    CatalogueItems,
    CatalogueNeighbour,
    CatalogueNeighbours,
    CompareCatalogue,
    Compared,
    RandomPairs,
)
from theodolite.studio.faults import NotFound

if TYPE_CHECKING:
    from theodolite.similarity.explaining import Baseline
    from theodolite.similarity.explanation import Asked
    from theodolite.studio.workspace import Workspace


def told(slug: str, catalogue: Catalogue, workspace: Workspace) -> CompareCatalogue:
    """A catalogue in a few figures."""
    about = catalogue.manifest
    return CompareCatalogue(
        slug=slug,
        name=about["items"]["name"],
        items=len(catalogue),
        descriptions=len(catalogue.vectors),
        encoder=about["encoder"]["name"],
        why=""
        if workspace.model_of(about["encoder"])
        else f"its encoder, {about['encoder']['name']}, is not at hand: open the studio with --model DIR",
        random_pairs=_random_pairs(catalogue),
    )


def items(catalogue: Catalogue, query: str, start: int, limit: int) -> CatalogueItems:
    """Items whose title or id contains the query, capitals aside, the one with that very id first."""
    wanted = query.strip()
    rows = np.arange(len(catalogue))
    if wanted:
        ids, titles = catalogue.items["id"], catalogue.items["title"]
        held = [pc.match_substring(column, wanted, ignore_case=True) for column in (ids, titles)]
        exact, of_id, of_title = (
            np.asarray(pc.fill_null(mask, False).to_numpy()) for mask in (pc.equal(ids, wanted), *held)
        )
        rows = np.flatnonzero(of_id | of_title)
        rows = np.concatenate([rows[exact[rows]], rows[~exact[rows]]])
    return CatalogueItems(
        items=[_item(item) for item in catalogue.at(rows[start : start + limit].tolist())], found=len(rows)
    )


def neighbours(catalogue: Catalogue, id: str, k: int) -> CatalogueNeighbours:
    """The k items most like one."""
    item = _held(catalogue, id)
    if item.place is None:
        raise InputError(f"item {item.id} has an empty description, and so is like no other")
    found = catalogue.similar(id, k)
    return CatalogueNeighbours(
        item=_item(item),
        neighbours=[_neighbour(one) for one in found],
        random_pairs=_random_pairs(catalogue),
    )


class ItemPairs:
    """Explains pairs of items; how rare words are in a catalogue is counted once."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._counted: dict[str, Baseline] = {}
        self._counting = Lock()

    def explained(self, slug: str, pair: CatalogueAsked) -> Compared:
        """Why two items are alike, and where their cosine stands among those of random pairs."""
        asked, first, second, baseline = self.question(slug, pair)
        catalogue = self._workspace.catalogue(slug)
        encoder = self._workspace.encoder_of(catalogue.manifest["encoder"])
        catalogue.check_encoder(encoder)
        with self._workspace.busy():
            found = explained(encoder, first, second, asked, baseline)
        texts = f"items of {catalogue.manifest['items']['name']}"
        return found.model_copy(update={"standing": standing_among(catalogue.random_pairs, found.cosine, texts)})

    def question(self, slug: str, pair: CatalogueAsked) -> tuple[Asked, str, str, Baseline | None]:
        """How the catalogue's cosines are explained, two descriptions, and how rare words are where that matters."""
        catalogue = self._workspace.catalogue(slug)
        items = [_held(catalogue, id) for id in (pair.item, pair.other)]
        for item in items:
            if item.place is None:
                raise InputError(f"item {item.id} has an empty description, so there is nothing to explain")
        asked = asked_of(catalogue, pair.methods)
        first, second = (checked(item.description, f"the description of {item.id}") for item in items)
        return asked, first, second, self._baseline(slug, catalogue) if TFIDF in asked.methods else None

    def _baseline(self, slug: str, catalogue: Catalogue) -> Baseline:
        with self._counting:
            if slug not in self._counted:
                self._counted[slug] = baseline_of(catalogue, asked_of(catalogue, (TFIDF,)))
            return self._counted[slug]


def _held(catalogue: Catalogue, id: str) -> Item:
    try:
        return catalogue.item(id)
    except InputError:
        # Its own words would tell whoever asks where the folder is.
        raise NotFound("the catalogue has no item of that id") from None


def _random_pairs(catalogue: Catalogue) -> RandomPairs:
    about = catalogue.manifest["baseline"]
    mean, low, high = (None if about[name] is None else finite(about[name]) for name in ("mean_cosine", "low", "high"))
    return RandomPairs(mean=mean, low=low, high=high, pairs=about["pairs"])


def _item(item: Item) -> CatalogueItem:
    return CatalogueItem(id=item.id, title=item.title, description=item.description, empty=item.place is None)


def _neighbour(found: Similar) -> CatalogueNeighbour:
    return CatalogueNeighbour(
        id=found.id,
        title=found.title,
        description=found.description,
        cosine=round(found.cosine, 5),
        same=found.same,
        share=finite(found.less_similar),
        share_low=finite(found.less_similar_low),
        share_high=finite(found.less_similar_high),
    )
