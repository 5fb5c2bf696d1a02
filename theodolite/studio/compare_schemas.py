"""What the compare page is sent and sends."""

from __future__ import annotations

from pydantic import BaseModel, Field

# A paragraph, and a page of them: longer ones would keep the model, and everyone else, waiting for many seconds.
LONGEST = 10_000
MOST_ITEMS = 100


class CompareMethod(BaseModel):
    """A way of finding the words that carry a likeness."""

    name: str
    about: str = Field(description="What a word's saliency is by this method, in one line.")
    slow: bool = Field(description="Whether it takes many passes through the model.")


class CompareCorpus(BaseModel):
    """A corpus to pick texts from."""

    name: str
    rows: int
    readable: bool = Field(description="Whether its texts are at hand.")


class RandomPairs(BaseModel):
    """What a cosine is worth: the cosines of random pairs of texts."""

    mean: float | None = Field(description="Their mean cosine.")
    low: float | None = Field(description="Lower end of its 95% interval.")
    high: float | None = Field(description="Upper end of its 95% interval.")
    pairs: int = Field(description="How many pairs were drawn.")


class Standing(RandomPairs):
    """Random pairs, and where a cosine stands among them."""

    share: float | None = Field(description="The share of random pairs that are less alike.")
    share_low: float | None = Field(description="Lower end of its 95% interval.")
    share_high: float | None = Field(description="Upper end of its 95% interval.")
    texts: str = Field(description="What the pairs were drawn from.")


class CompareCatalogue(BaseModel):
    """A catalogue whose items can be looked at."""

    slug: str
    name: str
    items: int
    descriptions: int = Field(description="Different descriptions, each with one vector.")
    encoder: str
    why: str = Field(description="Why its encoder cannot be asked to explain, and what to do; empty where it can.")
    random_pairs: RandomPairs


class CompareAbout(BaseModel):
    """What can be compared here, and how."""

    encoder: str
    why: str = Field(description="Why the encoder cannot be asked, and what to do; empty where it can.")
    methods: list[CompareMethod]
    default: str = Field(description="The method to begin with.")
    longest: int = Field(description="Characters that a text may have.")
    corpora: list[CompareCorpus]
    catalogues: list[CompareCatalogue]


class CompareReady(BaseModel):
    """The encoder is loaded."""

    classifier: bool = Field(description="Whether it has a head; then what is compared is the encoder below it.")


class ComparePair(BaseModel):
    """Two texts and the methods to explain their likeness by."""

    a: str
    b: str
    methods: list[str] = Field(default=["bti"], min_length=1, max_length=20)


class CatalogueAsked(BaseModel):
    """Two items of a catalogue and the methods to explain their likeness by."""

    item: str
    other: str
    methods: list[str] = Field(default=["bti"], min_length=1, max_length=20)


class CompareText(BaseModel):
    """A text and its words: characters (Unicode code points) from start to end of each."""

    text: str
    starts: list[int]
    ends: list[int]


class MatchedWords(BaseModel):
    """A word of the first text and one of the second, by their numbers."""

    a: int
    b: int
    cosine: float = Field(description="Of the two words' vectors.")
    score: float = Field(description="The cosine times both saliencies.")
    cluster: int = Field(description="Of the scores; 0 is the highest.")
    chosen: bool = Field(description="Whether the pair is part of the explanation.")


class ByMethod(BaseModel):
    """An explanation by one method."""

    a: list[float] = Field(description="The saliency of each word of the first text.")
    b: list[float] = Field(description="The saliency of each word of the second text.")
    pairs: list[MatchedWords] = Field(description="Pairs of words, highest score first; of many the first ones.")
    matched: int = Field(description="How many pairs there are.")
    chosen: int = Field(description="How many of them are the explanation.")


class CompareNote(BaseModel):
    """What else is to be known of an explanation."""

    methods: list[str] = Field(description="The methods it is about.")
    text: str


class Compared(BaseModel):
    """Why two texts are alike."""

    a: CompareText
    b: CompareText
    cosine: float = Field(description="Of the vectors that were explained.")
    cosine_own: float = Field(description="Under the model's own pooling, as an index holds them.")
    pooling: str = Field(description="How tokens became the vector that was explained.")
    same: bool = Field(description="Whether the two are one text to the tokenizer.")
    completeness_error: float | None = Field(description="By how much integrated gradients miss the change.")
    methods: dict[str, ByMethod]
    notes: list[CompareNote]
    standing: Standing | None = Field(default=None, description="Of two items, among random pairs of the catalogue.")


class PickedText(BaseModel):
    """A text of a corpus."""

    corpus: str
    row: int
    text: str
    cut: bool = Field(description="Whether it is longer than a text to compare may be, and was cut.")


class Picked(BaseModel):
    """Texts to choose from."""

    texts: list[PickedText]
    found: int = Field(description="How many texts match; of a random choice, how many texts there are.")


class CatalogueItem(BaseModel):
    """An item of a catalogue."""

    id: str
    title: str
    description: str
    empty: bool = Field(description="Whether it has no description, and so no vector.")


class CatalogueItems(BaseModel):
    """Some of the items that match."""

    items: list[CatalogueItem]
    found: int = Field(description="How many match.")


class CatalogueNeighbour(BaseModel):
    """An item like another; the share of random pairs of the catalogue that are less alike, with its 95% interval."""

    id: str
    title: str
    description: str
    cosine: float
    same: bool = Field(description="Whether its description is the very same text.")
    share: float | None
    share_low: float | None
    share_high: float | None


class CatalogueNeighbours(BaseModel):
    """An item and those most like it."""

    item: CatalogueItem
    neighbours: list[CatalogueNeighbour]
    random_pairs: RandomPairs


class CompareJob(BaseModel):
    """The job that was started; see /api/jobs."""

    id: str


class RandomisedRow(BaseModel):
    """What one change of the weights does to one method's explanation of the pair."""

    method: str
    change: str = Field(description="other batches (harmless), top layers, or whole model.")
    layers: int = Field(description="How many were drawn anew, from the top.")
    correlation: float | None = Field(description="Rank correlation of saliencies before and after; mean over seeds.")
    correlation_low: float | None
    correlation_high: float | None
    overlap: float | None = Field(description="Of the chosen pairs before and after (Jaccard); mean over seeds.")
    overlap_low: float | None
    overlap_high: float | None


class DeletedRow(BaseModel):
    """How far the cosine of the pair falls when its words go in one order."""

    method: str
    rank: int
    area: float = Field(description="Mean fall over all steps and both texts.")
    area_low: float | None = Field(description="Of random order, over the orders drawn; of a method it is exact.")
    area_high: float | None
    over_random: float | None = Field(description="By how much more than in random order.")
    over_random_low: float | None
    over_random_high: float | None


class DeletedPoint(BaseModel):
    """The fall when a share of the words is gone."""

    method: str
    fraction: float
    fall: float
    low: float | None
    high: float | None


class CompareTruth(BaseModel):
    """Is the explanation of this pair true?"""

    seeds: int = Field(description="How often the weights were drawn.")
    orders: int = Field(description="How many random orders words were deleted in.")
    whole: float = Field(description="The similarity of the whole texts.")
    randomisation: list[RandomisedRow]
    deletion: list[DeletedRow]
    curves: list[DeletedPoint]
    findings: list[str]
