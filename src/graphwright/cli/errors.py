"""Mistakes of the user: one line that says what to do, without a traceback."""

from __future__ import annotations


class UserError(Exception):
    """What is wrong, and what to do about it; `status` is the exit status of the process."""

    def __init__(self, problem: str, way_out: str, status: int = 2) -> None:
        super().__init__(f"{problem}\n  {way_out}")
        self.status = status
