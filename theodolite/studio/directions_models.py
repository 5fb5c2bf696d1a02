"""What the directions page is sent."""

from __future__ import annotations

from pydantic import BaseModel, Field


class Rate(BaseModel):
    """How often the patterns of one kind of directions carry to no other corpus."""

    kind: str = Field(description="neuron, random, pca, concept or file")
    directions: int
    with_pattern: int = Field(description="directions with a pattern in at least one corpus")
    rate: float | None = Field(description="of those, the share whose pattern carries to no other corpus")
    low: float | None
    high: float | None = Field(description="the 95% interval of the rate")
    random_sets: float | None = Field(description="share of random sets of sentences in which a pattern is found")
    random_sets_low: float | None
    random_sets_high: float | None


class Verdict(BaseModel):
    """A verdict, what it means, and how many directions got it."""

    verdict: str
    meaning: str
    directions: int


class Overview(BaseModel):
    """What the reading says of all its directions, and what may be picked."""

    corpora: list[str]
    unit: str = Field(description="what a point is: text or token")
    top: int = Field(description="sentences at each end of a direction")
    layer: int
    pooling: str
    seed: int
    dim: int | None = Field(description="neurons go from 0 to this less one")
    kinds: list[str]
    verdicts: list[Verdict]
    rates: list[Rate]
    shown: list[str] = Field(description="directions that the reading's report tells about")


class Named(BaseModel):
    """A pattern by its corpus."""

    corpus: str
    pattern: str
    hits: int


class Listed(BaseModel):
    """A direction in the list."""

    name: str
    kind: str
    verdict: str | None
    patterns: list[Named] = Field(description="the strongest pattern of each corpus that has one")
    different_patterns: int
    locality: float | None
    locality_control: float | None
    p: float | None = Field(description="adjusted p-value of its strongest pattern")


class Listing(BaseModel):
    """A page of the list."""

    total: int
    offset: int
    directions: list[Listed]


class Span(BaseModel):
    """A run of characters of a text; marked where a pattern's word stands."""

    text: str
    marked: bool


class Sentence(BaseModel):
    """A text at one end of a direction."""

    row: int
    score: float = Field(description="its projection on the direction")
    deviations: float = Field(description="the same in standard deviations from the corpus's mean")
    spans: list[Span]
    cut: bool = Field(description="whether the text goes on")
    shows: list[int] = Field(description="which of the corpus's patterns it shows, by their place")


class Pattern(BaseModel):
    """What is over-represented among a corpus's top sentences."""

    pattern: str
    kind: str = Field(description="words, pair, first or form")
    hits: int
    p_adjusted: float


class InCorpus(BaseModel):
    """A direction in one corpus."""

    corpus: str
    patterns: list[Pattern]
    top: list[Sentence]
    bottom: list[Sentence]
    locality: float | None = Field(description="overlap of the distances to nearest neighbours and to each other")
    control: float | None = Field(description="overlap of the distances to each other and to random sentences")


class Separator(BaseModel):
    """How well a typed concept is told apart by its direction."""

    title: str
    texts: list[str]
    others: list[str]
    accuracy: float = Field(description="on held-out texts, the mean of five folds")
    low: float
    high: float = Field(description="the 95% interval of the accuracy for so many texts")
    guessing: float = Field(description="accuracy of always naming the larger list")
    stability: float = Field(description="mean cosine of the directions of two resamples of the texts")
    in_corpora: int = Field(description="how many of the typed texts are also in the corpora, word for word")


class FalsePositives(BaseModel):
    """Share of random sets with a pattern under the threshold that this direction's own sets met."""

    share: float
    low: float
    high: float
    sets: int


class Direction(BaseModel):
    """A direction's page."""

    name: str
    kind: str
    verdict: str | None
    meaning: str | None
    pattern: str | None = Field(description="the pattern that carried over, if any")
    pattern_of: str | None
    carried_to: list[str]
    different_patterns: int
    locality: float | None
    locality_control: float | None
    corpora: list[InCorpus]
    live: bool = Field(description="measured now, and not in the reading")
    separator: Separator | None = None
    false_positives: FalsePositives | None = None
    before: str | None = Field(description="the direction before it in the reading")
    after: str | None


class Curve(BaseModel):
    """Where in the order along the direction a token or a word stands, in one corpus."""

    corpus: str
    label: str
    kind: str = Field(description="token: occurrences of a tokenizer's piece; word: texts with a pattern's word")
    counts: list[int] = Field(description="in the five fifths of the texts, from the lowest projection up")
    change: int = Field(description="1 where the counts strictly rise, -1 where they strictly fall, else 0")


class Histogram(BaseModel):
    """Dot products of a corpus's top sentences, as shares over equal bins."""

    corpus: str
    low: float
    high: float
    nearest: list[float] = Field(description="with their nearest neighbours")
    top: list[float] = Field(description="with each other")
    random: list[float] = Field(description="with random sentences")
    locality: float
    control: float


class Curves(BaseModel):
    """Tokens over fifths and distances of any direction, measured now."""

    name: str
    common_tokens: int = Field(description="tokens frequent enough in every corpus to be followed")
    min_count: int
    curves: list[Curve]
    histograms: list[Histogram]


class LiveState(BaseModel):
    """Whether any direction can be measured at once."""

    ready: bool
    stored: bool = Field(description="the texts' vectors are in the store; else they must be computed")
    texts: int
    reason: str | None = Field(description="why nothing can be measured live")
    job: str | None = Field(description="the job that is preparing it")


class ConceptAsked(BaseModel):
    """A concept as two lists of texts."""

    title: str = Field(default="", max_length=80)
    texts: list[str] = Field(max_length=200, description="texts that have it")
    others: list[str] = Field(max_length=200, description="texts that do not")
