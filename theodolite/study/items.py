"""What annotators are shown, by kind of study. Nothing but these fields ever reaches them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from theodolite.errors import InputError


class _Shown(BaseModel):
    # A field that the kind does not have is refused: that is how a key would slip in.
    model_config = ConfigDict(extra="forbid")


class AnnotationContent(_Shown):
    """A set of sentences of one corpus, which annotators may know."""

    kind: Literal["annotation"] = "annotation"
    corpus: str
    sentences: list[str] = Field(min_length=3, max_length=100)


class WeighedWord(_Shown):
    """A word by its characters in its text, and how much it counted, from 0 to 1."""

    word: str
    start: int
    end: int
    weight: float


class WordPair(_Shown):
    """Two words that belong together, by their places in the two word lists."""

    index_a: int
    index_b: int


class RatingContent(_Shown):
    """Two texts and why they are alike."""

    kind: Literal["rating"] = "rating"
    text_a: str
    text_b: str
    words_a: list[WeighedWord]
    words_b: list[WeighedWord]
    pairs: list[WordPair]


class Neighbour(_Shown):
    """A text that is held to be like another, its class and the answer it got."""

    text: str
    label: str | None
    answer: str | None


class RationaleContent(_Shown):
    """A misclassified text, its class, the wrong answer, and its neighbours."""

    kind: Literal["rationale"] = "rationale"
    text: str
    label: str
    answer: str
    neighbours: list[Neighbour] = Field(min_length=1)


Content = Annotated[AnnotationContent | RatingContent | RationaleContent, Field(discriminator="kind")]
_CONTENT: TypeAdapter[Content] = TypeAdapter(Content)


def content_of(kind: str, item: Mapping[str, Any]) -> AnnotationContent | RatingContent | RationaleContent:
    """An item of a draw as it will be shown: without its id, and with no field that its kind does not have."""
    shown = {name: value for name, value in item.items() if name != "id"}
    try:
        return _CONTENT.validate_python({**shown, "kind": kind})
    except ValidationError as fault:
        first = fault.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        raise InputError(f"item {item.get('id')}: {where}: {first['msg']}") from None


def stored_content(content: Mapping[str, Any]) -> AnnotationContent | RatingContent | RationaleContent:
    """What is in the database, typed."""
    return _CONTENT.validate_python(content)


def paired(
    items: Sequence[Mapping[str, Any]], key: Sequence[Mapping[str, Any]]
) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Each item with its key, by their ids."""
    known = {str(row["id"]): row for row in key}
    names = [str(item["id"]) for item in items]
    if not names:
        raise InputError("a study needs at least one item")
    if len(set(names)) < len(names) or set(names) != set(known) or len(key) != len(names):
        raise InputError("items and key: every item needs an id of its own, and a row of the key with the same id")
    return [(item, known[name]) for item, name in zip(items, names, strict=True)]
