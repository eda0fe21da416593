"""Whether the results of two runs of a function agree, leaf by leaf of nested containers."""

from __future__ import annotations

from ast import literal_eval
from collections import Counter
from typing import Any

import numpy as np

import graphwright as gw
from graphwright.cli.errors import FAILED, UserError
from graphwright.utils._pytree import tree_flatten

RTOL, ATOL = 1e-3, 1e-5
"""How far compiled numbers may be from eager ones; of half types also by 4 of their epsilons."""


def compare(expected: Any, got: Any) -> str:
    """One sentence that counts what was compared, and names the types that could not be.

    Tensors, arrays and floats are compared within `RTOL` and `ATOL`, their shapes and dtypes
    exactly; other leaves by `==`, where their class defines it.

    Raises:
        UserError: the results differ in structure, type, shape, dtype or value.
    """
    eagerly, structure = tree_flatten(expected)
    compiled, compiled_structure = tree_flatten(got)
    if structure != compiled_structure:
        raise differ(f"eager results are {shown(eagerly)}, compiled {shown(compiled)}, or their "
                     "containers differ")
    agreed: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for number, (a, b) in enumerate(zip(eagerly, compiled, strict=True)):
        kind = type(a).__name__
        problem = "their types differ" if type(a) is not type(b) else difference(a, b)
        if problem is not None:
            raise differ(f"compiled and eager results differ in leaf {number} ({kind}): {problem}")
        (agreed if is_comparable(a, b) else unknown)[kind] += 1
    sentence = f"results agree: {counted(agreed)}"
    return f"{sentence}; not compared: {counted(unknown)}" if unknown else sentence


def differ(problem: str) -> UserError:
    """The error that says so, with what the user can look at."""
    return UserError(problem, "is the function random, or does it change its own state from call "
                              "to call? Otherwise please report this as a bug", FAILED)


def is_comparable(a: Any, b: Any) -> bool:
    """Whether equality says something: the class defines it, or both are one object."""
    return a is b or type(a).__eq__ is not object.__eq__


def difference(a: Any, b: Any) -> str | None:
    """What differs between two leaves of one type; None if nothing that can be compared."""
    if isinstance(a, gw.Tensor | np.ndarray) and (a.shape != b.shape or a.dtype != b.dtype):
        return f"{a.dtype} {list(a.shape)} and {b.dtype} {list(b.shape)}"
    if isinstance(a, np.ndarray) and a.dtype.kind not in "biufc":
        return None if np.array_equal(a, b) else f"{a!r:.60} and {b!r:.60}"
    if isinstance(a, gw.Tensor | np.ndarray):
        return values_differ(gw.as_tensor(a).detach(), gw.as_tensor(b).detach())
    if isinstance(a, float | complex | np.inexact):
        wide = gw.complex128 if np.iscomplexobj(a) else gw.float64
        return values_differ(gw.tensor(a, dtype=wide), gw.tensor(b, dtype=wide))
    if is_comparable(a, b) and a is not b and a != b:
        return f"{a!r:.60} and {b!r:.60}"
    return None


def values_differ(a: gw.Tensor, b: gw.Tensor) -> str | None:
    """The largest difference, if it is beyond the tolerance."""
    if not (a.is_floating_point() or a.is_complex()):
        return None if gw.equal(a, b) else f"{(a != b).sum().item()} of {a.numel()} elements"
    rtol = max(RTOL, 4 * gw.finfo(a.dtype).eps)
    wide = gw.complex128 if a.is_complex() else gw.float64
    x, y = a.to(wide), b.to(wide)
    if gw.allclose(x, y, rtol=rtol, atol=ATOL, equal_nan=True):
        return None
    return f"by {(x - y).abs().max().item():.2e}"


def leaf_difference(a: dict[str, Any], b: dict[str, Any], ours: Any, theirs: Any) -> str | None:
    """What differs between two leaves that crossed processes, whose numbers are in two archives.

    A leaf that is no tensor, array or plain value is its type alone. A number may be an array
    without dimensions there: `jax.jit` returns all numbers so.
    """
    kind = next(iter(a))
    if kind == "literal" and "tensor" in b and theirs[b["tensor"]].ndim == 0:
        number = theirs[b["tensor"]].item()
        return None if literal_eval(a[kind]) == number else f"{a[kind]} and {number}"
    if kind not in ("tensor", "array"):
        return None if a == b else f"{next(iter(a.values()))} and {next(iter(b.values()))}"
    if kind not in b or a["dtype"] != b["dtype"]:
        return f"{a['dtype']} and {b.get('dtype', next(iter(b.values())))}"
    x, y = ours[a[kind]], theirs[b[kind]]
    if x.shape != y.shape:
        return f"{a['dtype']} {list(x.shape)} and {list(y.shape)}"
    dtype = getattr(gw, a["dtype"])
    return values_differ(gw.as_tensor(x).to(dtype), gw.as_tensor(y).to(dtype))


def shown(leaves: list[Any]) -> str:
    """Their number, and the shape or type of each."""
    texts = [str(list(leaf.shape)) if isinstance(leaf, gw.Tensor) else type(leaf).__name__
             for leaf in leaves]
    return f"{len(leaves)} values ({', '.join(texts)})"


def counted(kinds: Counter[str]) -> str:
    """'3 Tensor, 1 int', most frequent first."""
    return ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()) or "nothing"
