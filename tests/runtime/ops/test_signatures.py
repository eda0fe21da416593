"""Names, order, defaults and keyword-only-ness of every op's parameters, as PyTorch has them."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import pytest

import graphwright as gw
from graphwright.runtime.ops.table import TABLE

OURS_ONLY = frozenset({"older", "out", "requires_grad"})
NOT_OURS = frozenset(
    {"layout", "pin_memory", "memory_format", "names", "implicit", "cudnn_enable"}
)

DELIBERATE = {
    "cholesky_inverse": "named as documented, L",
    "cholesky_solve": "named as documented, B and L",
    "dsplit": "one argument for sections and indices, as documented",
    "einsum": "named as documented; no path argument",
    "embedding_renorm_": "named as in torch.embedding_renorm_'s documentation",
    "hsplit": "one argument for sections and indices, as documented",
    "matrix_exp": "named as documented, A",
    "rrelu": "no generator",
    "rrelu_": "no generator",
    "std": "unbiased=None stands for True, so that correction can be given",
    "std_mean": "unbiased=None stands for True, so that correction can be given",
    "tensor_split": "one argument for sections and indices, as documented",
    "tensordot": "named as documented, a, b and dims",
    "uniform_": "low and high, since from is no name in Python",
    "var": "unbiased=None stands for True, so that correction can be given",
    "var_mean": "unbiased=None stands for True, so that correction can be given",
    "vsplit": "one argument for sections and indices, as documented",
}


class Parameter(NamedTuple):
    """`default` is `...` where one must be given."""

    name: str
    kwonly: bool
    default: Any


def _plain(value: Any) -> Any:
    """Defaults that mean the same as one value: None for [], 1 for [1, 1]."""
    if isinstance(value, list | tuple):
        values = list(value)
        if not values:
            return None
        return values[0] if all(v == values[0] for v in values) else tuple(values)
    return value


def _ours(function: Any) -> list[Parameter]:
    found = []
    parameters = inspect.signature(function).parameters.values()
    spread = any(
        p.kind is p.VAR_POSITIONAL and p.name not in OURS_ONLY for p in parameters
    )
    for p in parameters:
        if p.name in OURS_ONLY:
            continue
        default = None if p.kind is p.VAR_POSITIONAL else p.default
        if default is p.empty:
            default = ...
        found.append(Parameter(p.name, p.kind is p.KEYWORD_ONLY and not spread, default))
    return found


def _theirs(schema: Any, method: bool) -> list[Parameter]:
    found = []
    for a in schema.arguments:
        if a.name in NOT_OURS or a.is_out:
            continue
        name = a.name if a.name != "self" or method else "input"
        default = a.default_value if a.has_default_value() else ...
        if a.name == "dtype" and isinstance(default, int):
            default = None
        found.append(Parameter(name, a.kwarg_only, default))
    return found


def _difference(ours: list[Parameter], theirs: list[Parameter]) -> str | None:
    """What keeps a call written for `theirs` from working; extra parameters do not."""
    names = {p.name for p in theirs}
    common = [p.name for p in ours if p.name in names]
    if common != [p.name for p in theirs]:
        return f"{[p.name for p in ours]} is not {[p.name for p in theirs]}"
    by_name = {p.name: p for p in ours}
    for want in theirs:
        have = by_name[want.name]
        if have.kwonly and not want.kwonly:
            return f"{want.name} is keyword-only"
        if want.default is not ... and have.default is ...:
            return f"{want.name} has no default"
        if want.default not in (..., None) and _plain(have.default) != _plain(want.default):
            return f"{want.name}={have.default} is not {want.default}"
    return None


def _schemas() -> dict[str, list[Any]]:
    torch = pytest.importorskip("torch")
    found: dict[str, list[Any]] = {}
    for schema in torch._C._jit_get_all_schemas():
        if schema.name.startswith("aten::") and not any(a.is_out for a in schema.arguments):
            found.setdefault(schema.name.removeprefix("aten::"), []).append(schema)
    return found


def _mismatches(namespace: Any, method: bool) -> dict[str, list[str]]:
    """By PyTorch's names: those that are made when they are first read are in no listing yet."""
    schemas, wrong = _schemas(), {}
    for name in schemas:
        op = getattr(getattr(namespace, name, None), "__gw_op__", None)
        if op is None or op.name not in TABLE:
            continue
        parameters = _ours(getattr(namespace, name))
        found = [_difference(parameters, _theirs(s, method)) for s in schemas[name]]
        if all(found):
            wrong[name] = [str(f) for f in found]
    return wrong


@pytest.mark.oracle
def test_functions() -> None:
    wrong = _mismatches(gw, False)
    assert set(wrong) - set(DELIBERATE) == set(), wrong


@pytest.mark.oracle
def test_methods() -> None:
    wrong = _mismatches(gw.Tensor, True)
    assert set(wrong) - set(DELIBERATE) == set(), wrong


@pytest.mark.oracle
def test_no_difference_is_listed_for_nothing() -> None:
    differing = set(_mismatches(gw, False)) | set(_mismatches(gw.Tensor, True))
    assert set(DELIBERATE) - differing == set()
