"""What the measures of a space say, in plain sentences, and what to do about it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from theodolite.reading import percent

Row = dict[str, Any]

# A mean cosine or an offset below this is what centred spaces have.
CENTRED = 0.1


def findings(measured: Sequence[Row], judged: Sequence[Row]) -> list[str]:
    """Advice first, then each space, then each file of pairs."""
    return [*_advice(measured, judged), *_spaces(measured), *_files(judged)]


def _spaces(measured: Sequence[Row]) -> list[str]:
    """The last layer measured of each corpus: as it is, and after each method."""
    said = []
    for corpus in dict.fromkeys(r["corpus"] for r in measured):
        mine = [r for r in measured if r["corpus"] == corpus]
        last = max(r["layer"] for r in mine)
        by_method = {r["method"]: r for r in mine if r["layer"] == last}
        plain, cloud = by_method["none"], by_method["round cloud"]
        if plain["isoscore"] is None or plain["mean_cosine"] is None:
            said.append(f"{plain['encoder']} on {corpus}: not everything can be measured: {plain['reason']}.")
            continue
        sample = "all" if plain["n"] == plain["units"] else f"a sample of {plain['n']:,} of"
        where = f"{plain['encoder']} on {corpus}: in layer {last}"
        said.append(
            f"{where}, over {sample} {plain['units']:,} {plural(plain['space'])}, two random ones have a cosine of "
            f"{plain['mean_cosine']:.2f}, the first direction holds {percent(plain['variance_top1'])} of the variance, "
            f"the IsoScore is {plain['isoscore']:.3f} (a round cloud of that size: {cloud['isoscore']:.3f})."
        )
        after = [
            f"{name} {small(row['partition'])}"
            for name, row in by_method.items()
            if name not in ("none", "round cloud")
        ]
        if after:
            said.append(
                f"{where} isotropy by the partition function is {small(plain['partition'])} as it is; after "
                f"{', '.join(after)}; of a round cloud {small(cloud['partition'])}."
            )
    return said


def _files(judged: Sequence[Row]) -> list[str]:
    """For each layer and place of fitting, what the best method wins on average."""
    said = []
    for layer, fitted_on in dict.fromkeys((r["layer"], r["fitted_on"]) for r in judged):
        gains = _gains(judged, layer, fitted_on)
        if not gains:
            continue
        best = max(gains, key=lambda method: gains[method].mean)
        won = gains[best]
        said.append(
            f"{judged[0]['encoder']}, layer {layer}, STS, fitted on {_place(fitted_on)}: of the methods {best} "
            f"does best, {won} Spearman points on average, better than no change on {won.better} of {won.count}."
        )
    return said


def _advice(measured: Sequence[Row], judged: Sequence[Row]) -> list[str]:
    """Leave it, remove the mean, or use clusters; by STS where there is any, else by where the space lies."""
    if judged:
        layer = max(r["layer"] for r in judged)
        places = dict.fromkeys(r["fitted_on"] for r in judged if r["fitted_on"] != "evaluated")
        # What was fitted on other texts is what a user would have.
        fitted_on = next(iter(places), "evaluated")
        gains = _gains(judged, layer, fitted_on)
        if not gains:
            return []
        best = max(gains, key=lambda method: gains[method].mean)
        won, by_mean = gains[best], gains.get("mean")
        evidence = (
            f"{won} Spearman points on average over {won.count} of pairs, "
            f"fitted on {_place(fitted_on)}.{_flattery(best, len(gains))}"
        )
        name = judged[0]["encoder"]
        if not won.sure or won.mean < 1:
            return [f"Advice for layer {layer} of {name}: leave it. The best method, {best}, brings {evidence}"]
        if by_mean is not None and by_mean.sure and won.mean - by_mean.mean < 1:
            return [f"Advice for layer {layer} of {name}: remove the mean ({by_mean}); {best} brings {evidence}"]
        return [f"Advice for layer {layer} of {name}: use {best}, which brings {evidence}"]
    said = []
    for corpus in dict.fromkeys(r["corpus"] for r in measured):
        mine = [r for r in measured if r["corpus"] == corpus and r["method"] == "none"]
        plain = max(mine, key=lambda r: r["layer"])
        if plain["mean_cosine"] is None or plain["mean_offset"] is None:
            continue
        where = f"layer {plain['layer']} of {plain['encoder']} on {corpus}"
        if plain["mean_cosine"] < CENTRED:
            what = f"leave it: its mean cosine is {plain['mean_cosine']:.2f}"
        else:
            what = (
                f"it is not centred (its mean is {percent(plain['mean_offset'])} as long as the vectors are on "
                f"average, and two random vectors have a cosine of {plain['mean_cosine']:.2f}): try to remove the "
                "mean, and let --sts FILE tell whether that or clusters bring anything"
            )
        said.append(f"Advice for {where}: {what}.")
    return said


@dataclass(frozen=True)
class _Won:
    """What a method wins on some files: (gain, low, high) of each, the ends NaN where they are not known."""

    files: Sequence[tuple[float, float, float]]

    @property
    def mean(self) -> float:
        return mean(gain for gain, _, _ in self.files)

    @property
    def ends(self) -> tuple[float, float]:
        """The 95% interval of the mean; the files' errors are taken for independent."""
        down, up = (math.hypot(*(f[0] - f[end] for f in self.files)) / len(self.files) for end in (1, 2))
        return self.mean - down, self.mean + up

    @property
    def sure(self) -> bool:
        """Whether even the low end of the interval is a gain."""
        return self.ends[0] > 0

    @property
    def better(self) -> int:
        return sum(gain > 0 for gain, _, _ in self.files)

    @property
    def count(self) -> str:
        return "1 file" if len(self.files) == 1 else f"{len(self.files)} files"

    def __str__(self) -> str:
        low, high = self.ends
        return f"{self.mean:+.1f}" + ("" if math.isnan(low) else f" ({low:+.1f} to {high:+.1f})")


def _gains(judged: Sequence[Row], layer: int, fitted_on: str) -> dict[str, _Won]:
    """Spearman points over no change by method; files where either has none are left out."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    for row in judged:
        if (row["layer"], row["fitted_on"]) == (layer, fitted_on) and row["gain"] is not None:
            low, high = (math.nan if row[end] is None else row[end] for end in ("gain_low", "gain_high"))
            found.setdefault(row["method"], []).append((row["gain"], low, high))
    return {method: _Won(files) for method, files in found.items()}


def _flattery(best: str, methods: int) -> str:
    """That a method was picked on the files that it is judged on; nothing where there was no choice."""
    if methods == 1:
        return ""
    return f" That {best} is the best of {methods} methods was found on these same files, so its figure flatters it."


def _place(fitted_on: str) -> str:
    return "the evaluated texts themselves" if fitted_on == "evaluated" else fitted_on


def plural(space: str) -> str:
    """Several units of a space, in words."""
    return {"cls": "CLS vectors"}.get(space, f"{space}s")


def small(value: float | None) -> str:
    """A partition as people write it: 0.85, 2.3e-05; a dash where there is none."""
    if value is None:
        return "not defined"
    return f"{value:.2f}" if value >= 0.01 else f"{value:.1e}"
