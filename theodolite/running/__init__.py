"""Running instruments: passes shared between them, shards, plans, resuming."""

from theodolite.running.plan import RunOptions
from theodolite.running.run import run

__all__ = ["RunOptions", "run"]
