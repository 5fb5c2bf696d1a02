"""The instruments by name. A new one adds a line here and nothing else outside its own folder."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from theodolite.claims import Reproduction
from theodolite.embed import Embed
from theodolite.errors import InputError
from theodolite.instrument import Instrument
from theodolite.reading import Reading, read_about

INSTRUMENTS = {
    "contextuality": "theodolite.contextuality:Contextuality",
    "illusion": "theodolite.illusion:Illusion",
    "salience": "theodolite.salience:Salience",
    "isotropy": "theodolite.isotropy:Isotropy",
    "similarity": "theodolite.similarity:Similarity",
}


def instrument(name: str) -> type[Instrument]:
    """The class of an instrument.

    >>> instrument("contextuality").question
    'How context-specific is each layer, once its anisotropy is taken off?'
    """
    if name not in INSTRUMENTS:
        raise InputError(f"no instrument '{name}'; there are: {', '.join(INSTRUMENTS)}")
    module, class_name = INSTRUMENTS[name].split(":")
    found: type[Instrument] = getattr(import_module(module), class_name)
    return found


def load(folder: str | Path) -> Reading:
    """A saved reading, of whatever instrument."""
    name = read_about(Path(folder))["instrument"]
    kind = Embed if name == Embed.name else instrument(name)
    return kind.reading.load(folder)


def reproduction(name: str) -> Callable[..., Reproduction]:
    """The function that repeats the source's experiment of an instrument."""
    instrument(name)
    module = f"{INSTRUMENTS[name].split(':')[0]}.reproduce"
    if find_spec(module) is None:
        raise InputError(f"reproduce {name}: there is no experiment of its source to repeat")
    found: Callable[..., Reproduction] = import_module(module).reproduce
    return found
