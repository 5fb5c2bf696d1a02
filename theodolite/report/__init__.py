"""The report's room: every line of HTML that is not the studio's is written here.

A survey is one page that needs nothing but itself; what the page is made of is in ``page``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import zip_longest
from typing import Any

from theodolite.reading import Reading
from theodolite.report.page import (
    NO_SENTENCE,
    capital,
    cell,
    count,
    grouped,
    lists,
    reading_section,
    section,
    shown_name,
    split,
    stylesheet,
    words,
)

__all__ = ["reading_section", "survey_page"]

HEADLINES = 6
# Figures carry their style in attributes, so inline style is all the page may use: no script, no request.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
# What a tally counts, as (its name, for one text, for several).
FATES = (
    ("empty", "is empty and was skipped", "are empty and were skipped"),
    ("without_tokens", "has no tokens and was skipped", "have no tokens and were skipped"),
    ("duplicate", "repeats an earlier one", "repeat an earlier one"),
    ("windowed", "is longer than the encoder reads at once and was read in overlapping windows",
     "are longer than the encoder reads at once and were read in overlapping windows"),
)  # fmt: skip


def survey_page(title: str, readings: Sequence[Reading], manifest: Mapping[str, Any]) -> str:
    """Readings of one survey as one self-contained page, the main findings first."""
    anchors = _anchors(readings)
    top = _headlines(readings)
    # A lone section would repeat the sentences right above it; one of several must be whole by itself.
    said = [finding for _, finding in top] if len(readings) == 1 else []
    questions = manifest.get("questions", {})
    sections = "".join(
        section(r, a, questions.get(r.instrument, ""), said) for r, a in zip(readings, anchors, strict=True)
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>{stylesheet()}</style>
</head>
<body class="td-page">
<main class="td-reading">
<header><h1>{escape(title)}</h1>{_summary(manifest)}</header>
{_contents(readings, anchors)}
{_top(readings, anchors, top)}
{sections}
{_texts(manifest)}
{_repeat(readings, manifest)}
</main>
</body>
</html>
"""


def _anchors(readings: Sequence[Reading]) -> list[str]:
    """An id a reading: its instrument, with a number from the second of the same instrument on."""
    names = [r.instrument for r in readings]
    return [f"{n}-{before + 1}" if (before := names[:i].count(n)) else n for i, n in enumerate(names)]


def _summary(manifest: Mapping[str, Any]) -> str:
    """One line: which encoder was read over which corpora."""
    encoder, corpora = manifest.get("encoder") or {}, manifest.get("corpora") or []
    over = ", ".join(f"<strong>{escape(str(c['name']))}</strong> ({count(c.get('texts', 0), 'text')})" for c in corpora)
    sized = {"layers", "dim"} <= set(encoder)
    size = f" ({count(encoder['layers'], 'layer')}, {count(encoder['dim'], 'dimension')})" if sized else ""
    read = f"The encoder <strong>{escape(str(encoder.get('name', 'without a name')))}</strong>{size}"
    made = " · ".join(
        said
        for said in (
            f"Theodolite {escape(str(manifest['theodolite']))}" if "theodolite" in manifest else "",
            escape(str(manifest.get("made", ""))[:10]),
        )
        if said
    )
    line = f'<p class="td-summary">{read}, measured over {over or "no corpus"}.</p>'
    return line + (f'<p class="td-made">{made}</p>' if made else "")


def _contents(readings: Sequence[Reading], anchors: Sequence[str]) -> str:
    if len(readings) < 2:
        return ""
    links = [
        ("found", "What was found"),
        *((a, shown_name(r)) for a, r in zip(anchors, readings, strict=True)),
        ("texts", "The texts"),
        ("repeat", "How to repeat it"),
    ]
    items = "".join(f'<li><a href="#{escape(a)}">{said}</a></li>' for a, said in links)
    return f'<nav class="td-contents" aria-label="Contents"><ul>{items}</ul></nav>'


def _headlines(readings: Sequence[Reading]) -> list[tuple[int, str]]:
    """The first findings as (number of the reading, finding), of each reading in turn; each leads with its best."""
    in_turn = [[(number, f) for f in reading.findings] for number, reading in enumerate(readings)]
    return [said for row in zip_longest(*in_turn) for said in row if said is not None][:HEADLINES]


def _top(readings: Sequence[Reading], anchors: Sequence[str], top: Sequence[tuple[int, str]]) -> str:
    """The headlines by what they were measured on; of several instruments, each links to its section."""

    def items() -> Iterator[tuple[str, str]]:
        for number, finding in top:
            prefix, sentence = split(finding, readings[number])
            link = f' <a href="#{escape(anchors[number])}">{shown_name(readings[number])}</a>'
            yield prefix, escape(capital(sentence)) + (link if len(readings) > 1 else "")

    found = lists(grouped(items()), "h3") if top else f'<p class="td-none">{NO_SENTENCE}</p>'
    return f'<section id="found" class="td-top"><h2>What was found</h2>{found}</section>'


def _texts(manifest: Mapping[str, Any]) -> str:
    """What became of the texts, and which instruments did not fit them."""
    items = []
    for corpus in manifest.get("corpora") or []:
        fates = [
            f"{number:,} {one if number == 1 else several}"
            for name, one, several in FATES
            if (number := corpus.get(name, 0))
        ]
        items.append(
            f"<li><strong>{escape(str(corpus['name']))}</strong>: {count(corpus.get('texts', 0), 'text')}, "
            f"{count(corpus.get('tokens', 0), 'token')}. "
            f"{'; '.join(fates) or 'None was empty, repeated or too long: all were read whole'}.</li>"
        )
    items += [
        f"<li><strong>{escape(words(str(name)).capitalize())}</strong> was not run: {escape(str(why))}.</li>"
        for name, why in (manifest.get("left_out") or {}).items()
    ]
    return f'<section id="texts"><h2>The texts, and what was skipped</h2><ul>{"".join(items)}</ul></section>'


def _repeat(readings: Sequence[Reading], manifest: Mapping[str, Any]) -> str:
    """Command, options, seeds, hashes and versions, folded away: said once what all readings share."""
    command = str(manifest.get("command") or "")
    shared = {k: manifest[k] for k in ("encoder", "plan", "versions", "theodolite", "made") if k in manifest}
    shared["corpora"] = {
        c["name"]: {k: c[k] for k in ("source", "hash") if k in c} for c in manifest.get("corpora") or []
    }
    parts = [f"<pre><code>{escape(command)}</code></pre>" if command else "<p>Run from Python.</p>"]
    parts.append(f"<h3>The survey</h3>{_record(shared)}")
    for reading in readings:
        own = {k: v for k, v in reading.manifest.items() if k != "instrument" and manifest.get(k) != v}
        parts.append(f"<h3>{shown_name(reading)}</h3>{_record(own)}")
    return (
        '<section id="repeat"><h2>How to repeat it</h2><details class="td-repeat">'
        f"<summary>Command, options, seeds, hashes and versions</summary>{''.join(parts)}</details></section>"
    )


def _record(about: Mapping[str, Any]) -> str:
    rows = "".join(f'<tr><th scope="row">{escape(k)}</th><td>{v}</td></tr>' for k, v in _flat(about))
    return f'<table class="td-record"><tbody>{rows}</tbody></table>'


def _flat(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """A nested record as (path, value) lines, the values exact: they are to be typed again."""
    if isinstance(value, Mapping) and value:
        for key, below in value.items():
            yield from _flat(below, (*path, words(str(key))))
    elif isinstance(value, list) and any(isinstance(v, Mapping) for v in value):
        for number, below in enumerate(value, 1):
            yield from _flat(below, (*path, str(number)))
    else:
        plain = isinstance(value, (str, int, float)) and not isinstance(value, bool)
        yield " · ".join(path), escape(str(value)) if plain else cell(value)
