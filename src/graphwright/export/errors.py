"""What export refuses."""

from __future__ import annotations


class ExportError(RuntimeError):
    """A function that is no single graph, or whose graph does not hold for the sizes asked for.

    The message names the user's line where there is one, and says what to do.
    """


class InvalidProgram(ValueError):
    """A file of an exported program that is cut short, damaged, too new or not well-formed."""
