"""The kinds of studies, and what annotators are told when the owner says nothing else."""

from __future__ import annotations

ANNOTATION, RATING, RATIONALE = "annotation", "rating", "rationale"
KINDS = (ANNOTATION, RATING, RATIONALE)
# Until an item that was taken and not answered is free: a year, in minutes.
MOST_MINUTES = 60 * 24 * 365

TITLES = {
    ANNOTATION: "Patterns in sentences",
    RATING: "How well is the likeness explained?",
    RATIONALE: "Why was this text misread?",
}
INSTRUCTIONS = {
    ANNOTATION: "Read the sentences. Is there a pattern that at least three of them share, in what they say or in how "
    "they are written? If so, name it and mark the sentences that show it. You may name several patterns. If you see "
    "none, say so: many sets have none.",
    RATING: "Two texts that a program found alike. The darker a word, the more it counted; the pairs are words it took "
    "to belong together. How well does this explain why the two are alike, from 1 (not at all) to 5 (very well)?",
    RATIONALE: "A text that a program put into the wrong class, and texts that it holds to be like it. Do these "
    "neighbours explain the mistake? If so, say how in a sentence.",
}
