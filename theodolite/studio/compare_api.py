"""The API of the compare page: two texts, or two items of a catalogue, and why they are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query

from theodolite.errors import InputError
from theodolite.similarity.explanation import Asked
from theodolite.studio import compare_catalogue
from theodolite.studio.bounds import Offset, Seed
from theodolite.studio.compare_baseline import SurveyPairs
from theodolite.studio.compare_catalogue import ItemPairs
from theodolite.studio.compare_explaining import DEFAULT, checked, explained, methods_told
from theodolite.studio.compare_picking import picked
from theodolite.studio.compare_schemas import (
    LONGEST,
    MOST_ITEMS,
    CatalogueAsked,
    CatalogueItems,
    CatalogueNeighbours,
    CompareAbout,
    CompareCorpus,
    Compared,
    CompareJob,
    ComparePair,
    CompareReady,
    Picked,
    Standing,
)
from theodolite.studio.compare_truth import PairTruth
from theodolite.studio.jobs import Jobs
from theodolite.studio.workspace import Opened, Workspace

if TYPE_CHECKING:
    from theodolite.encoder.encoder import Encoder

Number = Annotated[int, Query(ge=1, le=MOST_ITEMS)]
Sought = Annotated[str, Query(max_length=200)]


def router(workspace: Workspace, jobs: Jobs) -> APIRouter:
    """Its routes."""
    api = APIRouter(prefix="/surveys/{slug}/compare", tags=["compare"])
    survey_pairs, item_pairs = SurveyPairs(workspace), ItemPairs(workspace)
    truth = PairTruth(workspace, jobs)

    @api.get("", summary="What can be compared, and how")
    def about(slug: str) -> CompareAbout:
        opened = workspace.survey(slug)
        return CompareAbout(
            encoder=opened.manifest["encoder"]["name"],
            why=_unfit(workspace, opened),
            methods=methods_told(),
            default=DEFAULT,
            longest=LONGEST,
            corpora=[_corpus(opened, entry) for entry in opened.manifest["corpora"]],
            catalogues=[
                compare_catalogue.told(name, catalogue, workspace) for name, catalogue in workspace.catalogues.items()
            ],
        )

    @api.get("/ready", summary="Load the encoder, so that the first question need not wait for it")
    def ready(slug: str) -> CompareReady:
        encoder = _encoder(workspace, slug)
        with workspace.busy():
            explained(encoder, "one word", "another word", Asked())
        # Here, and not above, since it brings torch with it.
        from theodolite.encoder.classifier import Classifier

        return CompareReady(classifier=isinstance(encoder, Classifier))

    @api.post("/explain", summary="Why two texts are alike")
    def explain(slug: str, pair: ComparePair) -> Compared:
        asked = _asked(pair)
        encoder = _encoder(workspace, slug)
        with workspace.busy():
            return explained(encoder, pair.a, pair.b, asked)

    @api.get("/standing", summary="Where a cosine stands among those of random pairs of the survey's texts")
    def standing(slug: str, cosine: Annotated[float, Query(ge=-1, le=1)]) -> Standing:
        return survey_pairs.standing(slug, cosine)

    @api.post("/truth", summary="Start the tests of an explanation: weights drawn anew, words deleted")
    def test(slug: str, pair: ComparePair) -> CompareJob:
        asked = _asked(pair)
        opened = workspace.survey(slug)
        if why := _unfit(workspace, opened):
            raise InputError(why)
        return truth.start(opened.manifest["encoder"], pair.a, pair.b, asked)

    @api.get("/texts", summary="Texts of a corpus: those that contain a query, or a random choice")
    def texts(slug: str, corpus: str, q: Sought = "", seed: Seed = 0, limit: Number = 12) -> Picked:
        found = workspace.survey(slug).corpus(corpus)
        if found is None:
            raise InputError(f"the texts of {corpus} are not at hand; open the studio with the survey's own --store")
        return picked(found, q, seed, limit)

    @api.get("/catalogues/{catalogue}/items", summary="Items whose title or id contains a query")
    def items(slug: str, catalogue: str, q: Sought = "", start: Offset = 0, limit: Number = 20) -> CatalogueItems:
        workspace.survey(slug)
        return compare_catalogue.items(workspace.catalogue(catalogue), q, start, limit)

    @api.get("/catalogues/{catalogue}/similar", summary="The items most like one")
    def similar(slug: str, catalogue: str, item: str, k: Number = 10) -> CatalogueNeighbours:
        workspace.survey(slug)
        return compare_catalogue.neighbours(workspace.catalogue(catalogue), item, k)

    @api.post("/catalogues/{catalogue}/explain", summary="Why two items are alike")
    def explain_items(slug: str, catalogue: str, pair: CatalogueAsked) -> Compared:
        workspace.survey(slug)
        return item_pairs.explained(catalogue, pair)

    @api.post("/catalogues/{catalogue}/truth", summary="Start the tests of the explanation of two items")
    def test_items(slug: str, catalogue: str, pair: CatalogueAsked) -> CompareJob:
        workspace.survey(slug)
        asked, first, second, baseline = item_pairs.question(catalogue, pair)
        about = workspace.catalogue(catalogue).manifest["encoder"]
        return truth.start(about, first, second, asked, baseline)

    return api


def _asked(pair: ComparePair) -> Asked:
    """The question, refused before a model is loaded where it cannot be answered."""
    checked(pair.a, "the first text")
    checked(pair.b, "the second text")
    return Asked(tuple(dict.fromkeys(pair.methods)))


def _encoder(workspace: Workspace, slug: str) -> Encoder:
    opened = workspace.survey(slug)
    if why := _unfit(workspace, opened):
        raise InputError(why)
    return workspace.encoder(slug)


def _unfit(workspace: Workspace, opened: Opened) -> str:
    """Why the survey's encoder cannot be asked, and what to do; nothing where it can."""
    about = opened.manifest["encoder"]
    if not about["layers"]:
        return "this survey is of people's own vectors, which have no words to look at; open one of an encoder"
    if workspace.model_of(about) is None:
        return f"the encoder {about['name']} is not at hand: open the studio with --model DIR, its folder"
    return ""


def _corpus(opened: Opened, about: dict[str, Any]) -> CompareCorpus:
    found = opened.corpus(about["name"])
    return CompareCorpus(name=about["name"], rows=about["texts"], readable=found is not None)
