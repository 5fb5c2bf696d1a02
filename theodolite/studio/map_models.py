"""What the API of the map page answers and takes."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from theodolite.studio.bounds import Place

# Texts in one answer, and characters of each where no more are asked for.
PAGE = 200
SHORT = 1000


class Bounds(BaseModel):
    """The rectangle that all points are in."""

    left: float
    right: float
    bottom: float
    top: float


class Category(BaseModel):
    """A value that points may have."""

    name: str
    count: int


class Colouring(BaseModel):
    """One way to colour the points: by categories, or by a number."""

    id: str = Field(description="what `colours/{id}` takes")
    title: str
    kind: Literal["categories", "numbers"]
    categories: list[Category] = Field(default=[], description="by code; a point with none of them has the code 65535")
    low: float | None = Field(default=None, description="of numbers: what 1% of the points are below")
    high: float | None = Field(default=None, description="of numbers: what 1% of the points are above")


class Vectors(BaseModel):
    """Whether directions can be scored."""

    possible: bool
    reason: str | None = Field(description="why not")
    dim: int | None = Field(description="neurons are numbered from 0 to one less")
    seed: int = Field(description="of random directions")


class AboutMap(BaseModel):
    """A map: its points and how they may be coloured."""

    reading: str = Field(description="the reading that has the map")
    readings: list[str] = Field(description="all readings of the survey that have one")
    unit: Literal["text", "token"] = Field(description="what a point is")
    count: int
    bounds: Bounds
    colourings: list[Colouring]
    vectors: Vectors
    without_texts: list[str] = Field(description="corpora whose texts are no longer at hand")


class ScoresAbout(BaseModel):
    """How the points' scores along a direction are spread."""

    name: str
    title: str
    low: float = Field(description="1% of the points are below")
    median: float
    high: float = Field(description="1% of the points are above")
    scored: int = Field(description="points that have a vector")


class VectorsState(BaseModel):
    """Whether the store has the texts' vectors."""

    stored: bool
    texts: int
    reason: str | None = Field(description="why they could not be computed either")
    job: str | None = Field(description="the job that computes them")


class PointsAsked(BaseModel):
    """Which texts are wanted."""

    points: list[Place] = Field(max_length=PAGE, description="places among the map's points")
    longest: int = Field(default=SHORT, ge=1, le=1_000_000, description="characters of a text, at most")


class PointText(BaseModel):
    """A point with its text."""

    point: int
    corpus: str
    row: int = Field(description="the place in the corpus, from 0")
    position: int | None = Field(description="of a token: its place in the text")
    x: float
    y: float
    text: str | None = Field(description="null where the corpus is no longer at hand")
    length: int = Field(description="characters of the whole text")
    values: dict[str, str] = Field(description="its category in every colouring by categories")


class ConceptTyped(BaseModel):
    """A direction typed as two lists of texts."""

    texts: list[str] = Field(max_length=200, description="texts that have it")
    others: list[str] = Field(max_length=200, description="texts that do not")
