"""What the measures of a space say, in plain sentences, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
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
        best = max(gains, key=lambda method: mean(gains[method]))
        said.append(
            f"{judged[0]['encoder']}, layer {layer}, STS, fitted on {_place(fitted_on)}: of the methods {best} "
            f"does best, {mean(gains[best]):+.1f} Spearman points on average, better than no change on "
            f"{sum(g > 0 for g in gains[best])} of {_count(gains[best])}."
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
        best = max(gains, key=lambda method: mean(gains[method]))
        of_mean = mean(gains["mean"]) if "mean" in gains else None
        evidence = (
            f"{mean(gains[best]):+.1f} Spearman points on average over {_count(gains[best])} of pairs, "
            f"fitted on {_place(fitted_on)}.{_flattery(best, len(gains))}"
        )
        name = judged[0]["encoder"]
        if mean(gains[best]) < 1:
            return [f"Advice for layer {layer} of {name}: leave it. The best method, {best}, brings {evidence}"]
        if of_mean is not None and mean(gains[best]) - of_mean < 1:
            return [f"Advice for layer {layer} of {name}: remove the mean ({of_mean:+.1f}); {best} brings {evidence}"]
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
                f"remove the mean at least: it is {percent(plain['mean_offset'])} as long as the vectors are on "
                f"average, and two random vectors have a cosine of {plain['mean_cosine']:.2f}; --sts FILE tells "
                "whether clusters bring more"
            )
        said.append(f"Advice for {where}: {what}.")
    return said


def _gains(judged: Sequence[Row], layer: int, fitted_on: str) -> dict[str, list[float]]:
    """Spearman points over no change, a number a file, by method; files where either has none are left out."""
    plain = {r["dataset"]: r["spearman"] for r in judged if (r["layer"], r["method"]) == (layer, "none")}
    found: dict[str, list[float]] = {}
    for row in judged:
        if (row["layer"], row["fitted_on"]) == (layer, fitted_on) and row["method"] != "none":
            before = plain[row["dataset"]]
            if before is not None and row["spearman"] is not None:
                found.setdefault(row["method"], []).append(row["spearman"] - before)
    return found


def _flattery(best: str, methods: int) -> str:
    """That a method was picked on the files that it is judged on; nothing where there was no choice."""
    if methods == 1:
        return ""
    return f" That {best} is the best of {methods} methods was found on these same files, so its figure flatters it."


def _place(fitted_on: str) -> str:
    return "the evaluated texts themselves" if fitted_on == "evaluated" else fitted_on


def _count(files: Sequence[Any]) -> str:
    return "1 file" if len(files) == 1 else f"{len(files)} files"


def plural(space: str) -> str:
    """Several units of a space, in words."""
    return {"cls": "CLS vectors"}.get(space, f"{space}s")


def small(value: float | None) -> str:
    """A partition as people write it: 0.85, 2.3e-05; a dash where there is none."""
    if value is None:
        return "not defined"
    return f"{value:.2f}" if value >= 0.01 else f"{value:.1e}"
