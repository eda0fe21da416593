"""Special functions of two operands, and orthogonal polynomials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.pointwise.arithmetic import (
    define_binary,
    float_result,
    restricted,
)
from graphwright.runtime.ops.special.catalogue import FUNCTIONS
from graphwright.runtime.ops.special.numeric import kernel
from graphwright.runtime.ops.special.polynomials import DEFINITIONS, MAX_STEPS
from graphwright.runtime.ops.table import not_differentiable


def _not_implemented(name: str) -> None:
    raise NotImplementedError(
        f"the derivative for '{name}' with respect to 'input' is not implemented"
    )


def _incomplete_vjp(name: str, sign: float) -> Callable[..., Any]:
    """The density x^(a-1) e^-x / gamma(a) with respect to `other`; `input` has none."""

    def vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
        if ctx.needs["input"]:
            _not_implemented(name)
        a, x = ctx.input, ctx.other
        exponent = ops.sub(ops.mul(ops.sub(a, 1), ops.log(x)), ops.add(x, ops.lgamma(a)))
        return None, ops.mul(ops.mul(grad, ops.exp(exponent)), sign)

    return vjp


for _name, _sign, _doc in (
    (
        "igamma",
        1.0,
        """Regularised lower incomplete gamma function `P(input, other)`, broadcast (DLMF 8.2.4).

        It is the integral of `t^(a - 1) e^(-t) / gamma(a)` from 0 to `other`, a being `input`.
        The gradient with respect to `input` raises NotImplementedError.

        >>> gw.igamma(gw.tensor([3.0]), gw.tensor([1.0]))
        tensor([0.0803])
        """,
    ),
    (
        "igammac",
        -1.0,
        """Regularised upper incomplete gamma function `Q(input, other)`, broadcast (DLMF 8.2.4).

        It is `1 - igamma(input, other)`. The gradient with respect to `input` raises
        NotImplementedError.

        >>> gw.igammac(gw.tensor([3.0]), gw.tensor([1.0]))
        tensor([0.9197])
        """,
    ),
):
    define_binary(
        _name,
        kernel(FUNCTIONS[_name]),
        computed=restricted(_name, bool=False, integers=False, complex=False),
        vjp=_incomplete_vjp(_name, _sign),
        saves=("input", "other"),
        numbers="none",
        doc=_doc,
    )


def _zeta_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    if ctx.needs["input"]:
        _not_implemented("zeta")
    x, q = ctx.input, ctx.other
    return None, ops.mul(grad, ops.mul(ops.neg(x), ops.special_zeta(ops.add(x, 1), q)))


define_binary(
    "special_zeta",
    kernel(FUNCTIONS["special_zeta"]),
    computed=restricted("zeta", float_result, complex=False, halves=False),
    vjp=_zeta_vjp,
    saves=("input", "other"),
    doc="""Hurwitz zeta function, the sum of `(other + k)^(-input)` over k from 0 on, broadcast.

    It is inf at `input` 1 and nan below (DLMF 25.11). The gradient with respect to `input`
    raises NotImplementedError.

    >>> gw.special.zeta(gw.tensor([2.0]), gw.tensor([1.0]))
    tensor([1.6449])
    """,
    inplace=False,
    public=False,
    method=False,
)


# -- orthogonal polynomials

for _name, (_definition, _value) in DEFINITIONS.items():
    define_binary(
        f"special_{_name}",
        kernel(FUNCTIONS[f"special_{_name}"]),
        computed=restricted(_name, float_result, complex=False, halves=False),
        vjp=not_differentiable,
        doc=f"""{_definition}.

        Orders up to {MAX_STEPS} are computed by the three-term recurrence (DLMF 18.9). They are
        truncated to integers; negative ones give 0. The result never requires a gradient.

        >>> gw.special.{_name}(gw.tensor([0.75]), 2)
        tensor([{_value}])
        """,
        second="n",
        inplace=False,
        public=False,
        method=False,
    )
