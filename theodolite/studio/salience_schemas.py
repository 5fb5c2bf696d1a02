"""What the salience page is sent, and what it may ask."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

LONGEST_TEXT = 10_000
MOST_TEXTS = 500


class Span(BaseModel):
    """Some characters of a text and the weight of the token they are, −1 to 1."""

    text: str
    weight: float


class HeatMap(BaseModel):
    """A text coloured by one method; the strongest token has the weight 1 or −1."""

    method: str
    spans: list[Span]


class Answer(BaseModel):
    """What the model says of one class; of a regression, its answer."""

    name: str
    probability: float


class Scores(BaseModel):
    """How good the answers are, over all labelled texts of a corpus or over those of one class.

    ``accuracy`` has Wilson's interval and, as its baseline, the share of the commonest class (of one class: its own
    share). A regression has ``correlation`` and ``squared_error`` instead, and the labels' variance as the baseline.
    """

    corpus: str
    name: str = Field(description="The class; 'all' for all texts.")
    texts: int = Field(description="Labelled texts.")
    predicted: int = Field(description="Texts that were answered so.")
    accuracy: float | None = None
    accuracy_low: float | None = None
    accuracy_high: float | None = None
    baseline: float | None = None
    correlation: float | None = None
    correlation_low: float | None = None
    correlation_high: float | None = None
    squared_error: float | None = None


class CorpusInfo(BaseModel):
    """One of the corpora looked at."""

    name: str
    texts: int
    why_no_texts: str | None = Field(description="Why its texts cannot be shown; null where they can.")


class About(BaseModel):
    """What can be looked at: the classifier, its scores, and whether it can be asked live."""

    available: bool
    why: str = Field(description="Why there is nothing to look at; empty where there is.")
    commands: list[str] = Field(description="What to run to have something.")
    readings: list[str] = Field(description="Names of the salience readings; the first is shown unless one is named.")
    model: str
    classes: list[str] = Field(description="Names by number; none of a regression.")
    corpora: list[CorpusInfo]
    scores: list[Scores]
    methods: list[str]
    representations: list[str]
    further_representations: list[str] = Field(description="Those that can be made from the maps in the store.")
    among: str | None = Field(description="The corpus in which neighbours were looked for, where it is another one.")
    marker: str | None
    live: bool
    why_not_live: str
    findings: list[str]


class Gathered(BaseModel):
    """How well a cluster gathers the texts that have the reading's marker: the best of its class does."""

    precision: float
    recall: float
    marked: int


class Term(BaseModel):
    """A term of a cluster and its mean value over the cluster's texts."""

    term: str
    value: float


class ClusterCard(BaseModel):
    """Texts that are looked at in the same way."""

    corpus: str
    method: str
    representation: str
    predicted: str
    id: int
    rank: int = Field(description="Its place by suspicion among the clusters of its class, from 1.")
    size: int
    share: float
    suspicion: float = Field(description="The product of purity, concentration and distinctness.")
    purity: float
    concentration: float
    distinctness: float
    accuracy: float | None
    true: list[str] = Field(description="True labels with their numbers of texts.")
    terms: list[Term]
    marker: Gathered | None


class TextRow(BaseModel):
    """A text as lists show it."""

    corpus: str
    row: int
    label: str | None
    answer: str
    wrong: bool
    probability: float | None = Field(description="Of its answer.")
    text: str | None = Field(description="Its beginning; null where the texts are not at hand.")
    cut: bool = Field(description="Whether the text goes on.")


class Texts(BaseModel):
    """A page of a list of texts."""

    total: int
    offset: int
    rows: list[TextRow]
    note: str = Field(description="Why there are none, or why words cannot be looked for; else empty.")


class Example(TextRow):
    """A text nearest to a cluster's centre, coloured."""

    spans: list[Span]


class ClusterView(BaseModel):
    """A cluster with its examples."""

    card: ClusterCard
    examples: list[Example]


class TextView(BaseModel):
    """One text: what was answered and what the answer rests on."""

    corpus: str
    row: int
    label: str | None
    answer: str
    wrong: bool
    cluster: int | None = Field(description="Its cluster in the first representation.")
    text: str | None
    text_b: str | None
    answers: list[Answer]
    maps: list[HeatMap]
    source: str = Field(description="Where the maps are from: store, model, reading; empty where there are none.")
    note: str


class Neighbour(BaseModel):
    """A text near another one in a representation."""

    corpus: str
    row: int
    rank: int
    cosine: float
    shared_terms: list[str]
    label: str | None
    answer: str
    wrong: bool
    text: str
    spans: list[Span] = Field(description="The text coloured; empty where its map is not at hand.")


class Neighbours(BaseModel):
    """The neighbours of a text in one representation."""

    representation: str
    rows: list[Neighbour]


class NeighbourView(BaseModel):
    """The neighbours of a text by every representation of the reading."""

    method: str
    source: str = Field(description="reading, or store where they were looked for now; empty where there are none.")
    representations: list[Neighbours]
    note: str


class TryRequest(BaseModel):
    """A text of one's own."""

    text: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
    text_b: Annotated[str, Field(max_length=LONGEST_TEXT)] | None = None
    methods: Annotated[list[str], Field(min_length=1, max_length=3)] = ["grad-l2"]
    target: Annotated[str, Field(max_length=200)] = Field("predicted", description="predicted, or a class.")


class Tried(BaseModel):
    """What the model answers to a text and what that rests on."""

    answer: str
    target: str = Field(description="The class whose logit the weights are of.")
    answers: list[Answer]
    maps: list[HeatMap]
    said: list[str]
    seconds: float


class SensitivityRequest(BaseModel):
    """A term that may change the probability of a class by itself."""

    term: Annotated[str, Field(min_length=1, max_length=200)]
    corpus: Annotated[str, Field(max_length=500)]
    toward: Annotated[str, Field(max_length=200)] = Field(description="The class.")
    texts: Annotated[int, Field(ge=2, le=MOST_TEXTS)] = 100


class Change(BaseModel):
    """A mean change of the class's probability with its 95% interval over texts; null where there are no texts."""

    mean: float | None
    low: float | None
    high: float | None
    texts: int


class TermChange(BaseModel):
    """What a term does: put into texts of other classes, and masked in texts of the class that have it."""

    term: str
    insertion: Change
    masking: Change
    count: int = Field(description="Occurrences that were masked.")


class ListChange(TermChange):
    """The same of a list of terms: unweighted means over them; ``term`` is the list's name."""

    terms: list[str]


class TermResult(BaseModel):
    """A term measured now, beside ordinary words of the same corpus."""

    corpus: str
    toward: str
    asked: TermChange
    baseline: ListChange | None = Field(description="The same of words drawn at random from the corpus.")
    searched: int = Field(description="Texts of the class that were looked through for the term.")
    of: int = Field(description="Texts of the class.")


class FaithfulnessRow(BaseModel):
    """What masking by one method does to the probability, mean over n texts with its 95% interval."""

    corpus: str
    method: str
    k: int
    comprehensiveness: float | None
    comprehensiveness_low: float | None
    comprehensiveness_high: float | None
    sufficiency: float | None
    sufficiency_low: float | None
    sufficiency_high: float | None
    n: int


class PositionRow(BaseModel):
    """The share of the salience that falls into one part of the texts, with the share of the tokens that do."""

    corpus: str
    method: str
    part: str
    salience: float | None
    low: float | None
    high: float | None
    tokens: float | None
    texts: int


class Measured(BaseModel):
    """What the reading measured of the maps and of terms."""

    toward: str | None = Field(description="The class of the sensitivity.")
    lists: list[ListChange]
    terms: list[TermChange]
    faithfulness: list[FaithfulnessRow]
    positions: list[PositionRow]
