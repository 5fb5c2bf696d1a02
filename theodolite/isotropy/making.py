"""Transformers as the options of isotropy, and of its fit, ask for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from theodolite.errors import InputError

if TYPE_CHECKING:
    from theodolite.rounding import Rounder

AUTO = "auto"
HELP = "Directions removed: from each cluster, or by abtt from all. auto: by abtt a hundredth of all, by clusters 12."


def check_directions(given: str) -> None:
    """Refuse a number of directions that is neither one nor auto."""
    if str(given) != AUTO and not (str(given).isdecimal() and int(given) >= 1):
        raise InputError(f"--n-directions {given}: give a number of at least 1, or {AUTO}")


def maker(n_clusters: int, n_directions: str, seed: int) -> Callable[[str], Rounder]:
    """What makes an unfitted transformer of a method's name."""
    given: dict[str, Any] = {"n_clusters": n_clusters, "random_state": seed}
    directions = AUTO if str(n_directions) == AUTO else int(n_directions)

    def make(method: str) -> Rounder:
        # It brings scikit-learn along, for which whoever asks for help need not wait.
        from theodolite.rounding import rounder_of

        # A share of the dimensions is All-but-the-Top's own rule.
        own = {} if directions == AUTO and method != "abtt" else {"n_directions": directions}
        return rounder_of(method, given | own)

    return make
