"""Functions that PyTorch has removed, which say what took their place."""

from __future__ import annotations

from typing import Any, NoReturn

_INSTEAD = {
    "eig": "linalg.eig, or linalg.eigvals for values alone",
    "lstsq": "linalg.lstsq, whose arguments are the other way round",
    "matrix_rank": "linalg.matrix_rank",
    "solve": "linalg.solve, whose arguments are the other way round",
    "symeig": "linalg.eigh, or linalg.eigvalsh for values alone",
}

_DOC = """Refused: PyTorch has removed it; use {instead}.

Args:
    args, kwargs: are not read.

Raises:
    RuntimeError: always.

Example:
    >>> gw.{name}(gw.ones(2, 2))
    Traceback (most recent call last):
    RuntimeError: {name}: this function was removed; use {instead}
"""


def _removed(name: str, instead: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"{name}: this function was removed; use {instead}")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = _DOC.format(name=name, instead=instead)
    return function


globals().update({name: _removed(name, instead) for name, instead in _INSTEAD.items()})
