"""What the layers page is sent."""

from __future__ import annotations

from pydantic import BaseModel, Field


class Measure(BaseModel):
    """A measure that may be drawn, and how it is read."""

    name: str
    title: str
    unit: str
    baseline: str | None = Field(description="the measure that it is to be held against")
    baseline_title: str | None
    explanation: str


class Band(BaseModel):
    """Values with the ends of their 95% intervals; null where there is none."""

    value: list[float | None]
    low: list[float | None]
    high: list[float | None]


class Series(BaseModel):
    """One encoder on one corpus, layer by layer."""

    survey: str
    title: str = Field(description="the survey's title")
    encoder: str
    corpus: str
    corpus_hash: str | None
    layers: list[int]
    texts: int
    words: int
    occurrences: int
    measures: dict[str, Band]


class Roundness(BaseModel):
    """One measure of isotropy with its interval, of a space as it is or after a method."""

    survey: str
    encoder: str
    corpus: str
    space: str = Field(description="word, token, sentence or cls")
    layer: int
    method: str = Field(description="none: as it is; round cloud: the baseline, a round cloud of that size")
    fitted_on: str | None = Field(description="'evaluated': the method was fitted on these very vectors")
    vectors: int
    dim: int
    reason: str | None = Field(description="why a measure is missing")
    measures: dict[str, tuple[float | None, float | None, float | None]] = Field(description="value, low, high")


class Layers(BaseModel):
    """The curves of a survey, and of those that it is compared with."""

    measures: list[Measure]
    series: list[Series]
    roundness_measures: list[Measure]
    roundness: list[Roundness]
    layers: dict[str, int] = Field(description="by survey, the encoder's layers above the embedding layer")


class Sibling(BaseModel):
    """A survey that is open and has curves to compare."""

    survey: str
    title: str
    encoder: str
    corpora: list[str]
    shared: list[str] = Field(description="corpora that are the same, text for text")


class Counted(BaseModel):
    """A word that was measured."""

    word: str
    occurrences: int = Field(description="in all corpora")
    corpora: int = Field(description="in how many of them it was measured")


class Vocabulary(BaseModel):
    """Words that begin as asked, the most frequent first."""

    total: int
    words: list[Counted]


class WordSeries(BaseModel):
    """A word through the layers, in one corpus."""

    survey: str
    encoder: str
    corpus: str
    contexts: int = Field(description="different texts with the word")
    occurrences: int
    live: bool = Field(description="measured from this page")
    measures: dict[str, list[float | None]]


class Word(BaseModel):
    """A word's own curves."""

    word: str
    measured: bool
    series: list[WordSeries]
    missing: list[str] = Field(description="corpora of this survey in which it was not measured")
    sought: bool = Field(description="it was sought in all of them: where it is missing, it occurs less than twice")
    reason: str | None = Field(description="why it cannot be measured live")
    job: str | None = Field(description="the job that is measuring it")


class WordAsked(BaseModel):
    """A word to measure."""

    word: str = Field(min_length=1, max_length=100)
