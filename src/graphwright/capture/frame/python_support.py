"""Whether this Python is one whose frames graphwright can intercept."""

from __future__ import annotations

import sys

from graphwright.capture import _eval_frame

SUPPORTED_VERSIONS = ((3, 11), (3, 12), (3, 13))


def hook_problem() -> str | None:
    """Why nothing is captured on this Python; None where capture works."""
    name = sys.implementation.name
    if name != "cpython":
        return f"capture works on CPython, this is {name}"
    if sys.version_info[:2] not in SUPPORTED_VERSIONS:
        known = ", ".join(f"{major}.{minor}" for major, minor in SUPPORTED_VERSIONS)
        return f"capture knows Python {known}, this is {sys.version_info[0]}.{sys.version_info[1]}"
    if "t" in getattr(sys, "abiflags", ""):
        return "capture does not work on free-threaded Python"
    if not _eval_frame.SUPPORTED:
        return "graphwright was built without its frame hook"
    if not _eval_frame.in_main_interpreter():
        return "capture works in the main interpreter only, this is a subinterpreter"
    return None
