"""`assert` where pytest does not rewrite it."""

from __future__ import annotations


def assertions(x):
    log = []
    assert x.shape[0] == 2, "never"
    try:
        assert x.ndim == 5, f"ndim {x.ndim}"
    except AssertionError as error:
        log.append(str(error))
    return x + 1, log
