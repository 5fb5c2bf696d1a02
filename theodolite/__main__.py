"""``python -m theodolite``."""

from theodolite.cli import main

main()
