"""How items are drawn from a reading: a declaration for each kind of study, of which forms and commands are made."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

from theodolite.options import check_options, option
from theodolite.study.kinds import ANNOTATION, RATING, RATIONALE

if TYPE_CHECKING:
    from theodolite.illusion.reading import IllusionReading
    from theodolite.reading import Reading
    from theodolite.salience.reading import SalienceReading
    from theodolite.similarity.reading import SimilarityReading

Row = dict[str, Any]
Drawn = tuple[list[Row], list[Row]]


class Draw(Protocol):
    """The options of a draw. ``instrument``: whose readings it draws from."""

    instrument: ClassVar[str]

    def __call__(self, reading: Reading, seed: int) -> Drawn:
        """Items and their key."""
        ...


@dataclass(frozen=True)
class AnnotationDraw:
    """Sets of sentences from a reading of illusion."""

    instrument: ClassVar[str] = "illusion"

    neurons: int = option(25, "Sets of top sentences of neurons.", minimum=0)
    directions: int = option(25, "Sets of top sentences of random directions.", minimum=0)
    sentences: int = option(25, "Sets of random sentences.", minimum=0)

    def __post_init__(self) -> None:
        check_options(self)

    def __call__(self, reading: Reading, seed: int) -> Drawn:
        from theodolite.illusion.study import draw_study

        return draw_study(cast("IllusionReading", reading), **asdict(self), seed=seed)


@dataclass(frozen=True)
class RatingDraw:
    """Explanations from a reading of similarity."""

    instrument: ClassVar[str] = "similarity"

    pairs: int = option(100, "Pairs of texts, each under every method.", minimum=1)
    method: tuple[str, ...] = option((), "A method to be judged; repeatable; all that the reading has when not given.")

    def __post_init__(self) -> None:
        check_options(self)

    def __call__(self, reading: Reading, seed: int) -> Drawn:
        from theodolite.similarity.study import draw_ratings
        from theodolite.study.explanations import explanations_of

        found, places = explanations_of(cast("SimilarityReading", reading), self.method)
        items, key = draw_ratings(found, count=self.pairs, seed=seed)
        return items, [{**row, **dict(zip(("corpus", "row"), places[row["pair"]], strict=True))} for row in key]


@dataclass(frozen=True)
class RationaleDraw:
    """Misclassified texts with their neighbours from a reading of salience."""

    instrument: ClassVar[str] = "salience"

    texts: int = option(28, "Misclassified texts, each with its neighbours in every representation.", minimum=1)

    def __post_init__(self) -> None:
        check_options(self)

    def __call__(self, reading: Reading, seed: int) -> Drawn:
        from theodolite.salience.study import draw_rationales

        return draw_rationales(cast("SalienceReading", reading), count=self.texts, seed=seed)


DRAWS: dict[str, type[Any]] = {ANNOTATION: AnnotationDraw, RATING: RatingDraw, RATIONALE: RationaleDraw}
