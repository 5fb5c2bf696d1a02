"""Clusters of every corpus, method, representation and predicted class, and what could not be clustered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from theodolite.errors import InputError
from theodolite.instrument import Progress
from theodolite.salience.analysis import Analysis, Grouping
from theodolite.salience.clusters import TooAlike

Row = dict[str, Any]


def groupings(
    analyses: Iterable[Analysis], representations: Sequence[str], within: str, k: int, seed: int, progress: Progress
) -> tuple[list[tuple[Analysis, Grouping]], list[Row]]:
    """The clusters, and a row for each part that has too few texts for k, or too few different ones.

    A class that is seldom answered must not stop the others; where none can be clustered, that is said.
    """
    parts = [(a, name, part, texts) for a in analyses for name in representations for part, texts in a.within(within)]
    found: list[tuple[Analysis, Grouping]] = []
    skipped: list[Row] = []
    with progress.step("clusters", len(parts)):
        for analysis, name, part, texts in parts:
            reason = f"fewer texts than the {k} clusters" if len(texts) < k else None
            if reason is None:
                try:
                    found.append((analysis, analysis.grouping(analysis.space(name), part, texts, k, seed)))
                except TooAlike as fault:
                    reason = f"only {fault.different} different ones for {k} clusters"
            if reason is not None:
                where = analysis.corpus.name, part, len(texts), reason
                skipped.append(skipped_row(*where, method=analysis.method, representation=name))
            progress.advance(1)
    if not found:
        raise _none(skipped, k)
    return found, skipped


def skipped_row(
    corpus: str,
    cls: str,
    texts: int,
    reason: str,
    *,
    method: str | None = None,
    representation: str | None = None,
    list: str | None = None,
    row: int | None = None,
) -> Row:
    """Clusters, a list of terms, or neighbours of a row's text, that there is nothing to make of."""
    where = {"corpus": corpus, "method": method, "representation": representation, "list": list, "row": row}
    return {**where, "class": cls, "texts": texts, "reason": reason}


def _none(skipped: Sequence[Row], k: int) -> InputError:
    most = max(skipped, key=lambda row: row["texts"])
    if most["texts"] < k:
        return InputError(f"--clusters {k}: the largest predicted class has {most['texts']} texts; ask for fewer")
    return InputError(
        f"--clusters {k}: no predicted class has so many different texts: {most['class']} has {most['texts']}, "
        f"{most['reason']} by {most['representation']}; ask for fewer"
    )
