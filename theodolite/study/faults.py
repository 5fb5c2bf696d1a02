"""What can be wrong with what an annotator asks for, or is asked about one."""

from __future__ import annotations

from theodolite.errors import InputError


class UnknownLink(Exception):
    """The token is nobody's. It says nothing else, so that guessing teaches nothing."""


class NoAnnotator(InputError):
    """The study has no annotator of this number."""


class Refused(InputError):
    """A valid request that comes too late or twice: the study is closed, the item is someone else's by now."""
