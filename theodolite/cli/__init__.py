"""The command line: parse, call, print."""

from theodolite.cli.main import main

__all__ = ["main"]
