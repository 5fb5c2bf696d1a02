"""Engines: how shards of work are spread. Instruments never know which one runs them."""

from theodolite.engine.base import Engine, Worker
from theodolite.engine.local import LocalEngine

__all__ = ["Engine", "LocalEngine", "Worker"]
