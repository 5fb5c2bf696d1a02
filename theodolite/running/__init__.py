"""Running instruments: passes shared between them, shards, plans, resuming."""

from theodolite.running.plan import RunOptions
from theodolite.running.run import attempt, run

__all__ = ["RunOptions", "attempt", "run"]
