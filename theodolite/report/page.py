"""What a page is made of: a reading as HTML, its findings first, then its figures and tables."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

import pyarrow as pa

from theodolite.figures import svg
from theodolite.reading import Drawing, Reading
from theodolite.report.cards import card_html

# A table of up to WHOLE rows is shown; of a longer one the FIRST, and folded away the rest up to LISTED.
WHOLE, FIRST, LISTED = 16, 8, 500
LONGEST = 240
DASH = "–"
NO_SENTENCE = "Nothing was clear enough to put into a sentence."


def reading_section(reading: Reading) -> str:
    """A reading as a fragment that stands by itself in a notebook."""
    # The manifest tells readings apart, so that two in one notebook do not share the ids of their figures.
    told = json.dumps([reading.instrument, reading.findings, reading.manifest], sort_keys=True, default=str)
    anchor = f"td-{hashlib.sha256(told.encode()).hexdigest()[:10]}"
    return f'<div class="td-reading"><style>{stylesheet()}</style>{section(reading, anchor, "", ())}</div>'


def stylesheet() -> str:
    """The one style sheet, of the page and of the fragment."""
    return files(__package__).joinpath("style.css").read_text(encoding="utf-8")


def section(reading: Reading, anchor: str, question: str, said: Sequence[str]) -> str:
    """Findings first (but for those said already), then figures, then tables."""
    rest = [f for f in reading.findings if f not in said]
    drawings = reading.drawings().values()
    parts = [f'<section id="{escape(anchor)}"><h2>{shown_name(reading)}{_link(anchor)}</h2>']
    if question:
        parts.append(f'<p class="td-question">{escape(question)}</p>')
    if rest:
        parts.append(f"<h3>{'Also found' if said else 'Findings'}</h3>{_findings(rest, reading)}")
    elif not said:
        parts.append(f'<p class="td-none">{NO_SENTENCE}</p>')
    cards = reading.cards()
    if cards:
        parts += ['<h3>At a glance</h3><div class="td-cards">', *(card_html(card) for card in cards), "</div>"]
    if drawings:
        parts.append("<h3>Figures</h3>")
        parts += [_figure(drawing, f"{anchor}-figure-{n}") for n, drawing in enumerate(drawings, 1)]
    if reading.tables:
        parts += ["<h3>Tables</h3>", *(_table(name, table) for name, table in reading.tables.items())]
    return "".join([*parts, "</section>\n"])


def shown_name(reading: Reading) -> str:
    """The instrument as a heading has it."""
    return escape(reading.instrument.replace("_", " ").capitalize() or "Reading")


def _link(anchor: str) -> str:
    return f' <a class="td-link" href="#{escape(anchor)}" aria-label="link to this section">#</a>'


def split(finding: str, reading: Reading) -> tuple[str, str]:
    """A finding as ('<encoder> on <corpus>', sentence), by the manifest's names; else as ('', finding)."""
    about = reading.manifest
    encoders = [e["name"] for e in about.get("encoders") or [about.get("encoder") or {}] if "name" in e]
    for encoder in sorted(encoders, key=len, reverse=True):
        for corpus in sorted((c["name"] for c in about.get("corpora", ())), key=len, reverse=True):
            if finding.startswith(f"{encoder} on {corpus}: "):
                return f"{encoder} on {corpus}", finding[len(f"{encoder} on {corpus}: ") :]
        if finding.startswith(f"{encoder} on ") and ": " in finding:
            # What is judged on texts of its own (a file of scored pairs) names a corpus the manifest has not.
            before, _, sentence = finding.partition(": ")
            return before, sentence
    return "", finding


def grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The second of each pair, listed under the first."""
    found: dict[str, list[str]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def _findings(findings: Sequence[str], reading: Reading) -> str:
    return lists(grouped((p, escape(capital(s))) for p, s in (split(f, reading) for f in findings)), "h4")


def lists(groups: Mapping[str, Sequence[str]], heading: str) -> str:
    """Lists of sentences (as HTML), each under what it was measured on."""
    return "".join(
        '<div class="td-group">'
        + (f"<{heading}>{escape(prefix)}</{heading}>" if prefix else "")
        + f'<ul class="td-findings">{"".join(f"<li>{s}</li>" for s in sentences)}</ul></div>'
        for prefix, sentences in groups.items()
    )


def capital(sentence: str) -> str:
    """The sentence with its first letter large."""
    return sentence[:1].upper() + sentence[1:]


def _figure(drawing: Drawing, anchor: str) -> str:
    picture = _own_ids(svg(drawing.draw()), f"{anchor}-")
    named = f'<svg id="{anchor}-svg" role="img" aria-label="{escape(drawing.title)}" '
    return (
        f'<figure class="td-figure" id="{anchor}"><h4>{escape(drawing.title)}</h4>'
        f'<div class="td-card" tabindex="0">{picture.replace("<svg ", named, 1)}</div>'
        f"<figcaption>{escape(drawing.caption)}</figcaption></figure>"
    )


def _own_ids(picture: str, prefix: str) -> str:
    """An SVG whose ids, references and style rules are its own; the ids of two figures are often the same."""

    def in_tag(tag: re.Match[str]) -> str:
        # Within tags only: a label may hold the same characters, and is not ours to change.
        return re.sub(r'(\sid="|href="#|url\(#)', rf"\g<1>{prefix}", tag[0])

    picture = re.sub(r"<metadata>.*?</metadata>", "", picture, flags=re.DOTALL)
    picture = re.sub(r"<[^>]+>", in_tag, picture)
    return re.sub(r"(<style[^>]*>)\*", rf"\g<1>#{prefix}svg *", picture)


def _table(name: str, table: pa.Table) -> str:
    """The first rows, the rest folded; columns that say the same in every row are said once, above.

    Columns that say nothing in any row are left out.
    """
    total = table.num_rows
    heading = f"<h4>{escape(capital(words(name)))} <small>{count(total, 'row')}</small></h4>"
    if not total:
        return f'{heading}<p class="td-none">No rows.</p>'
    rows = table.slice(0, LISTED).to_pylist()
    same = [
        f.name
        for f in table.schema
        if pa.types.is_string(f.type) and total > 1 and len(table.column(f.name).unique()) == 1
    ]
    note = "; ".join(f"{escape(words(c))} {cell(rows[0][c])}" for c in same)
    empty = [f.name for f in table.schema if table.column(f.name).null_count == total]
    kept = [f for f in table.schema if f.name not in (*same, *empty) and not _is_end(f.name, table.column_names)]
    shown = rows if total <= WHOLE else rows[:FIRST]
    parts = [heading, f'<p class="td-note">Every row: {note}.</p>' if note else "", _grid(kept, shown)]
    if len(rows) > len(shown):
        rest = f"The {'next' if total > LISTED else 'other'} {count(len(rows) - FIRST, 'row')}"
        parts.append(f"<details><summary>{rest}</summary>{_grid(kept, rows[FIRST:])}</details>")
    if total > LISTED:
        where = f"tables/{escape(name)}.csv of the saved reading"
        parts.append(f'<p class="td-note">All {total:,} rows are in {where}.</p>')
    return "".join(parts)


def _is_end(column: str, columns: Sequence[str]) -> bool:
    """Whether a column is an end of another's interval, which is shown beside its estimate."""
    stem, _, end = column.rpartition("_")
    return end in ("low", "high") and {stem, f"{stem}_low", f"{stem}_high"} <= set(columns)


def _grid(fields: Sequence[pa.Field], rows: Sequence[Mapping[str, Any]]) -> str:
    columns = [(f.name, _kind(f.type)) for f in fields]
    head = "".join(f'<th scope="col" class="{kind}">{escape(words(name))}</th>' for name, kind in columns)
    lines = ("".join(f'<td class="{kind}">{_with_interval(row, name)}</td>' for name, kind in columns) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    # The box scrolls by itself, by keyboard too, so that the page never does sideways.
    return f'<div class="td-scroll" tabindex="0">{table}</div>'


def _kind(values: pa.DataType) -> str:
    """The class of a column: numbers stand right, lists and texts left."""
    if pa.types.is_list(values) or pa.types.is_large_list(values):
        return "td-l"
    return "td-n" if pa.types.is_integer(values) or pa.types.is_floating(values) else "td-t"


def _with_interval(row: Mapping[str, Any], name: str) -> str:
    low, high = (row.get(f"{name}_{end}") for end in ("low", "high"))
    interval = "" if low is None or high is None else f" <small>{cell(low)} to {cell(high)}</small>"
    return cell(row[name]) + interval


def cell(value: Any) -> str:
    """A value as a person reads it: four digits that count, a dash for what is missing."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return _number(value).replace("-", "−")
    if isinstance(value, Mapping):
        return ", ".join(f"{escape(words(str(k)))} {cell(v)}" for k, v in value.items()) or DASH
    if isinstance(value, (list, tuple)):
        # Numbers stand in columns by their width; words need a comma.
        mark = "," if any(isinstance(v, str) for v in value) else ""
        return f"{mark} ".join(f"<span>{cell(v)}</span>" for v in value) or DASH
    text = str(value)
    return escape(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")


def _number(value: float) -> str:
    """Counts whole, other numbers to four significant digits.

    >>> _number(12345), _number(0.5), _number(123456.7), _number(0.000012345)
    ('12,345', '0.5000', '123,500', '1.234e-05')
    """
    if isinstance(value, int):
        return f"{value:,}"
    if abs(value) >= 1000:
        return f"{float(f'{value:.4g}'):,.0f}"
    return f"{value:.3e}" if 0 < abs(value) < 0.0001 else f"{value:#.4g}"


def words(name: str) -> str:
    """A column or option as words."""
    return name.replace("_", " ")


def count(number: int, what: str) -> str:
    """A number of things.

    >>> count(1, "row"), count(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"
