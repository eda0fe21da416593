"""Work during which the collector of cycles rests."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MANY = 100_000
"""To look through so many objects takes some tens of milliseconds."""

_OF_CPYTHON = 1_000
"""CPython 3.12 freezes some hundred objects of its own when it starts. A program freezes all that
there are, which are several thousands."""


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """For what makes many objects, all of which stay: looking through them for garbage again and
    again as they grow finds none. A collector that was off stays off."""
    rests = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if rests:
            settle(gc.get_count()[0])
            gc.enable()


def settle(count: int) -> None:
    """Let new objects, if there are so many, join the oldest generation without a collection.

    Freezing and thawing moves them there. Where the program has frozen objects, thawing would
    move those as well: nothing is done.
    """
    if count > _MANY and gc.get_freeze_count() < _OF_CPYTHON:
        gc.freeze()
        gc.unfreeze()
