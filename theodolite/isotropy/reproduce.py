"""Source 004's experiments on STS: its two tables, published beside measured, and which of its claims hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theodolite.claims import Claim, Reproduction
from theodolite.errors import InputError
from theodolite.instrument import Progress
from theodolite.isotropy.instrument import Isotropy
from theodolite.isotropy.reading import IsotropyReading
from theodolite.running import run

if TYPE_CHECKING:
    from theodolite.store import Store

Row = dict[str, Any]

PROPOSED = "kmeans+mean+pca"
# Files of the data folder, and the source's name for each data set where it has one.
FILES = {
    **{"STS12.tsv": "STS2012", "STS13.tsv": "STS2013", "STS14.tsv": "STS2014", "STSB_dev.tsv": "STS-B"},
    **{"SICK_train.txt": "SICK"},
}
# Pearson, Spearman, isotropy of STS-B by method.
BY_METHOD = {
    "none": (56.16, 54.09, 3.36e-5),
    "mean": (60.08, 57.00, 2.16e-6),
    "abtt": (47.40, 46.67, 9.61e-13),
    "kmeans+mean": (68.43, 64.25, 0.2376),
    "gmm+mean+pca": (70.53, 67.32, 0.6380),
    PROPOSED: (70.75, 67.50, 0.6353),
}
# … of each data set before and after.
BY_FILE = {
    "STS2012": ((45.46, 43.53, 2.97e-5), (72.67, 64.73, 0.55)),
    "STS2013": ((62.39, 59.50, 2.6e-4), (69.88, 68.89, 0.46)),
    "STS2014": ((56.71, 53.36, 3.84e-6), (66.11, 62.14, 0.53)),
    "STS-B": ((56.16, 54.09, 3.36e-5), (70.75, 67.50, 0.63)),
    "SICK": ((62.32, 59.38, 2.93e-4), (66.47, 63.07, 0.492)),
}


def reproduce(data: Path, models: list[str], *, limit: int | None, store: Store, progress: Progress) -> Reproduction:
    """Judge each encoder's last layer by STS, as it is and after every method, fitted on the evaluated texts."""
    from theodolite.encoder.encoder import Encoder

    if limit is not None:
        raise InputError("reproduce isotropy: takes whole files; leave --limit out")
    files = [data / "sts" / name for name in FILES]
    missing = next((file for file in files if not file.exists()), None)
    if missing is not None:
        raise InputError(f"--data: no sts/{missing.name} in {data}")
    asked = Isotropy(sts=tuple(map(str, files)), methods=",".join(BY_METHOD))
    claims: list[Claim] = []
    readings: list[IsotropyReading] = []
    for model in models:
        [found] = run([asked], Encoder.load(model), asked.own_corpora(), store=store, progress=progress)
        assert isinstance(found, IsotropyReading)
        readings.append(found)
        claims += _claims(model, found.tables["sts"].to_pylist())
    title = (
        "Isotropy by clusters (source 004): published on BERT-base, measured here, each fitted on the evaluated texts"
    )
    return Reproduction(title, claims, IsotropyReading.beside(readings))


def _claims(model: str, rows: Sequence[Row]) -> Iterator[Claim]:
    of = {(FILES[_file(r["dataset"])], r["method"]): r for r in rows}
    for method, published in BY_METHOD.items():
        yield Claim(model, f"STS-B: {method}", _three(*published), _measured(of["STS-B", method]), None)
    for name, pair in BY_FILE.items():
        for method, published in zip(("none", PROPOSED), pair, strict=True):
            yield Claim(model, f"{name}: {method}", _three(*published), _measured(of[name, method]), None)
    on_b = {method: of["STS-B", method]["spearman"] for method in BY_METHOD}
    theirs = sorted(BY_METHOD, key=lambda method: BY_METHOD[method][1])
    ours = sorted(on_b, key=lambda method: on_b[method])
    yield Claim(model, "order of the methods on STS-B, worst first", ", ".join(theirs), ", ".join(ours), ours == theirs)
    ahead = {name: of[name, PROPOSED]["spearman"] - of[name, "abtt"]["spearman"] for name in BY_FILE}
    yield Claim(
        model,
        "clusters do better than one mean and PCA of all (abtt)",
        f"{BY_METHOD[PROPOSED][1] - BY_METHOD['abtt'][1]:+.1f} on STS-B",
        _points(ahead),
        all(gain > 0 for gain in ahead.values()),
    )
    gains = {name: of[name, PROPOSED]["spearman"] - of[name, "none"]["spearman"] for name in BY_FILE}
    yield Claim(
        model,
        "clusters gain on every data set",
        _points({name: after[1] - before[1] for name, (before, after) in BY_FILE.items()}),
        _points(gains),
        all(gain > 0 for gain in gains.values()),
    )


def _file(dataset: str) -> str:
    return next(name for name in FILES if name.startswith(f"{dataset}."))


def _three(pearson: float, spearman: float, isotropy: float) -> str:
    small = f"{isotropy:.2f}" if isotropy >= 0.01 else f"{isotropy:.1e}"
    return f"{pearson:.1f} / {spearman:.1f} / {small}"


def _measured(row: Row) -> str:
    return _three(row["pearson"], row["spearman"], row["partition"])


def _points(gains: dict[str, float]) -> str:
    return ", ".join(f"{name} {gain:+.1f}" for name, gain in gains.items())
