"""PyTorch's own operator samples (see `torch_suite`): a few here, all by `make exhaustive`."""

from __future__ import annotations

from typing import Any

import pytest

from . import torch_suite

pytestmark = pytest.mark.oracle

# Operators that differ on purpose, with the reason.
DELIBERATE: dict[str, str] = {
    **{
        f"special.{name}": "PyTorch's float64 values are wrong from the eighth digit on"
        for name in ("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1")
    },
    **{
        f"__{name}__": "called on the class, a reflected operator takes any object as self"
        for name in ("radd", "rdiv", "rmul", "rand", "ror", "rxor")
    },
}


def _names() -> list[str]:
    try:
        _, database = torch_suite.torch_database()
    except ImportError:
        return []
    return sorted(torch_suite.full_name(i) for i in database if torch_suite.ours(i) is not None)


NAMES = _names()


def _report(found: list[Any]) -> str:
    return "\n".join(str(difference) for difference in found[:10])


@pytest.mark.parametrize("name", [n for n in NAMES if n not in DELIBERATE])
def test_agrees_with_torch(name: str) -> None:
    found = torch_suite.check(name, ("float32", "float64", "int64"), limit=6)
    assert not found, _report(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in NAMES if n not in DELIBERATE])
def test_agrees_with_torch_exhaustively(name: str) -> None:
    found = torch_suite.check(name, torch_suite.ALL_DTYPES, limit=400, compiled=True)
    assert not found, _report(found)
