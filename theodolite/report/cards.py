"""Cards: words sized by their weight, and texts coloured by the weight of each piece."""

from __future__ import annotations

from html import escape

from theodolite.reading import Card, Passage

# Characters of a text that are shown; the rest can be unfolded.
SHOWN = 700
# Weights under this are left uncoloured: a page of pale tints says nothing.
FAINT = 0.04


def card_html(card: Card) -> str:
    """A card as an article with its words as a cloud."""
    cloud = "".join(
        f'<span style="font-size:{0.8 + 1.1 * min(max(weight, 0.0), 1.0):.2f}em">{escape(word)}</span> '
        for word, weight in card.words
    )
    return "".join(
        [
            f'<article class="td-box"><h4>{escape(card.title)}</h4>',
            f'<p class="td-note">{escape(card.facts)}</p>' if card.facts else "",
            f'<p class="td-cloud">{cloud}</p>' if cloud else "",
            *(passage_html(passage) for passage in card.passages),
            "</article>",
        ]
    )


def passage_html(passage: Passage) -> str:
    """A text with its pieces coloured, orange for and blue against, the stronger the deeper."""
    head: list[str] = []
    rest: list[str] = []
    length = 0
    for number, (text, weight) in enumerate(passage.spans):
        note = f"<sup>{escape(passage.notes[number])}</sup>" if number in passage.notes else ""
        (head if length < SHOWN else rest).append(_span(text, weight) + note)
        length += len(text)
    more = f"<details><summary>The rest of it</summary>{''.join(rest)}</details>" if rest else ""
    heading = f'<span class="td-note">{escape(passage.heading)}</span>' if passage.heading else ""
    return f'<div class="td-passage">{heading}<p>{"".join(head)}</p>{more}</div>'


def _span(text: str, weight: float) -> str:
    strength = min(abs(weight), 1.0)
    if strength < FAINT:
        return escape(text)
    kind = "td-for" if weight > 0 else "td-against"
    return f'<mark class="{kind}" style="--w:{100 * strength:.0f}%" title="{weight:.2f}">{escape(text)}</mark>'
