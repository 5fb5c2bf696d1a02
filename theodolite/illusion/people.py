"""The instrument's figures beside people's verdicts: a blind study of its sets of top sentences.

A set is meaningful where all of its annotators found a pattern, and meaningless where one of them found none. Sets of
random sentences belong to no direction and have no locality: they are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theodolite.illusion.locality import compared
from theodolite.illusion.reading import IllusionReading

Row = dict[str, Any]

MEANINGFUL = "yes"


def beside_machine(reading: IllusionReading, sets: Sequence[Row]) -> list[Row]:
    """Each judged set (``item``, ``direction``, ``corpus``, ``verdict``) with its locality and the machine's answer."""
    near = {(r["direction"], r["corpus"]): r for r in reading.tables["locality"].to_pylist()}
    named: dict[tuple[str, str], list[str]] = {}
    for row in reading.tables["patterns"].to_pylist() if "patterns" in reading.tables else []:
        named.setdefault((row["direction"], row["corpus"]), []).append(row["pattern"])
    found = []
    for one in sets:
        place = (one["direction"], one["corpus"])
        if place in near:
            found.append(
                {
                    **{name: one[name] for name in ("item", "condition", "direction", "corpus", "verdict")},
                    "people": one["verdict"] == MEANINGFUL,
                    "people_named": list(one["groups"]),
                    "machine": bool(near[place]["pattern_found"]),
                    "machine_named": named.get(place, []),
                    "sentence_locality": near[place]["sentence_locality"],
                    "sentence_control": near[place]["sentence_control"],
                }
            )
    return found


def locality_by_people(joined: Sequence[Row]) -> list[Row]:
    """Mean locality of the sets that people called meaningful and of the others, over all and by corpus."""
    found = []
    for corpus in ("all", *dict.fromkeys(row["corpus"] for row in joined)):
        mine = [row for row in joined if corpus in ("all", row["corpus"])]
        groups = [np.array([r["sentence_locality"] for r in mine if r["people"] is said]) for said in (True, False)]
        about = {"corpus": corpus, "sets_meaningful": len(groups[0]), "sets_meaningless": len(groups[1])}
        found.append(about | compared(*groups))
    return found


def locality_findings(groups: Sequence[Row]) -> list[str]:
    """Whether what people call meaningful lies closer together; nothing where one of the groups is empty."""
    every = groups[0]
    if np.isnan(every["p"]):
        return []
    return [
        f"the top sentences of the {every['sets_meaningful']} sets that people called meaningful have a mean locality "
        f"of {every['meaningful']:.3f}, those of the {every['sets_meaningless']} others {every['meaningless']:.3f} "
        f"(Mann-Whitney p = {every['p']:.2g})."
    ]
