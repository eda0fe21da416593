"""Comparing programs that write to their arguments, compiled and as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graphwright as gw

LAYOUTS: dict[str, Callable[[], Any]] = {
    "contiguous": lambda: gw.randn(5, 6),
    "transposed": lambda: gw.randn(6, 5).t(),
    "strided": lambda: gw.randn(11, 13)[1::2, ::2][:, 1:],
}
WAYS = [*(("llvm", None, layout) for layout in LAYOUTS), ("c", None, "contiguous"),
        ("llvm", True, "contiguous")]
"""Backends, whether sizes are symbolic from the start, and layouts."""


def equal(got: Any, expected: Any) -> None:
    """The values, up to rounding, and their dtypes and strides."""
    if isinstance(expected, tuple):
        for one, two in zip(got, expected, strict=True):
            equal(one, two)
    elif expected is not None:
        assert got.dtype is expected.dtype and got.stride() == expected.stride()
        assert gw.allclose(got, expected, rtol=1e-5, atol=1e-6)


def agree(
    program: Callable[..., Any], backend: str, dynamic: bool | None,
    make: Callable[[], list[Any]], fullgraph: bool = True,
) -> None:
    """Values, versions, and memory around the arguments, which `make` draws anew."""
    compiled = gw.compile(program, backend=backend, dynamic=dynamic, fullgraph=fullgraph)
    for _ in range(2):
        gw.manual_seed(1)
        given = make()
        gw.manual_seed(1)
        own = make()
        before = [x._version for x in own]
        expected, got = program(*given), compiled(*own)
        equal(got, expected)
        for x, y, version in zip(own, given, before, strict=True):
            equal(x, y)
            assert (x._version > version) == (y._version > version)
            if x._base is not None:
                equal(x._base, y._base)
