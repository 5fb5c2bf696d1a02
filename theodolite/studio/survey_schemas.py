"""What the API of the survey page answers."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class EncoderFacts(BaseModel):
    """The encoder that was surveyed."""

    name: str
    hash: str = Field(description="Of its configuration and weights.")
    tokenizer_hash: str
    layers: int
    dim: int
    window: str = Field(description="Tokens a window, and by how many the next begins later.")
    transform: str | None = Field(None, description="What made its space rounder, if anything.")


class CorpusFacts(BaseModel):
    """A corpus, and what became of its texts."""

    name: str
    source: str | None = None
    hash: str | None = None
    texts: int | None = None
    tokens: int | None = None
    empty: int | None = Field(None, description="Empty ones, skipped.")
    duplicate: int | None = Field(None, description="Those that repeat an earlier one.")
    without_tokens: int | None = Field(None, description="Those in which the tokenizer finds nothing, skipped.")
    windowed: int | None = Field(None, description="Those longer than the encoder reads at once.")


class SurveyOutline(BaseModel):
    """What every survey has."""

    slug: str = Field(description="Its name in addresses.")
    title: str
    encoder: EncoderFacts
    corpora: list[CorpusFacts]
    made: str | None = Field(description="When it was made.")
    live: bool = Field(description="Whether the encoder can be asked live.")
    model: str | None = Field(description="The model that is then asked.")


class SurveyInfo(SurveyOutline):
    """A survey in the list."""

    readings: list[str] = Field(description="Names of the readings, the survey's own first.")
    instruments: list[str] = Field(description="The instrument of each reading.")


class TableInfo(BaseModel):
    """A table of a reading."""

    name: str
    rows: int
    columns: list[str]


class FigureInfo(BaseModel):
    """A figure of a reading."""

    name: str
    title: str
    caption: str


class Finding(BaseModel):
    """A sentence."""

    about: str = Field(description="Encoder and corpora that it is about; empty where it says so itself.")
    sentence: str


class ReadingInfo(BaseModel):
    """What one instrument found."""

    name: str
    instrument: str
    question: str
    findings: list[Finding] = Field(description="The most telling first.")
    options: dict[str, Any]
    seed: int | None
    made: str | None
    added: bool = Field(description="Whether it was made in the studio.")
    tables: list[TableInfo]
    figures: list[FigureInfo]


class SurveyPage(SurveyOutline):
    """A survey in whole."""

    readings: list[ReadingInfo]
    without_texts: list[str] = Field(description="Corpora whose texts are no longer at hand, so cannot be shown.")
    left_out: dict[str, str] = Field(description="Instruments that were not run, and why.")
    versions: dict[str, str]
    theodolite: str | None
    command: str
    plan: dict[str, Any]


class StudioInfo(BaseModel):
    """What the studio has open."""

    version: str
    surveys: list[str] = Field(description="Slugs of the surveys.")
    catalogues: list[str] = Field(description="Slugs of the catalogues.")
    models: list[str] = Field(description="Names of the models that can be asked live.")


class TableRows(BaseModel):
    """Some rows of a table."""

    name: str
    columns: list[str]
    total: int
    offset: int
    rows: list[dict[str, Any]]
