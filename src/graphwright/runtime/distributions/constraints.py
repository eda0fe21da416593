"""Sets of values: what parameters may be, and where samples lie; after `torch.distributions`.

`constraint.check(value)` is a bool tensor of the value's shape without the constraint's
`event_dim` last dims.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime.ops import _face as ops
from graphwright.runtime.tensor import Tensor


class Constraint:
    """A set; `is_discrete` where it holds whole numbers, of `event_dim` dims per member."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Tensor) -> Tensor:
        """Which members of a batch belong to the set."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__.lstrip('_')}()"


class _Dependent(Constraint):
    """A set that depends on a distribution's parameters: it is not checked as such."""

    def __init__(self, is_discrete: bool = False, event_dim: int = 0) -> None:
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def check(self, value: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


class dependent_property(property, _Dependent):
    """The support of a distribution as a property; on the class, a dependent constraint."""

    def __init__(
        self, fn: Callable[..., Any], is_discrete: bool = False, event_dim: int = 0
    ) -> None:
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete, event_dim)


class _Boolean(Constraint):
    """0 and 1."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    """Vectors of zeros and a single one."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


class _Bounded(Constraint):
    """Numbers, or whole numbers, between two bounds; None is no bound."""

    def __init__(
        self,
        name: str,
        low: Any = None,
        high: Any = None,
        *,
        open_low: bool = False,
        open_high: bool = False,
        whole: bool = False,
    ) -> None:
        self.name, self.is_discrete = name, whole
        self.lower_bound, self.upper_bound = low, high
        self.open_low, self.open_high = open_low, open_high

    def check(self, value: Tensor) -> Tensor:
        inside = value % 1 == 0 if self.is_discrete else value == value
        if self.lower_bound is not None:
            low = self.lower_bound
            inside = inside & (value > low if self.open_low else value >= low)
        if self.upper_bound is not None:
            high = self.upper_bound
            inside = inside & (value < high if self.open_high else value <= high)
        return inside

    def __repr__(self) -> str:
        bounds = [
            f"{what}={bound}"
            for what, bound in (("lower_bound", self.lower_bound),
                                ("upper_bound", self.upper_bound))
            if bound is not None
        ]
        return f"{self.name}({', '.join(bounds)})"


def integer_interval(lower_bound: Any, upper_bound: Any) -> _Bounded:
    """Whole numbers from one bound to the other."""
    return _Bounded("IntegerInterval", lower_bound, upper_bound, whole=True)


def greater_than(lower_bound: Any) -> _Bounded:
    """Numbers above the bound."""
    return _Bounded("GreaterThan", lower_bound, open_low=True)


def greater_than_eq(lower_bound: Any) -> _Bounded:
    """Numbers from the bound on."""
    return _Bounded("GreaterThanEq", lower_bound)


def less_than(upper_bound: Any) -> _Bounded:
    """Numbers below the bound."""
    return _Bounded("LessThan", None, upper_bound, open_high=True)


def interval(lower_bound: Any, upper_bound: Any) -> _Bounded:
    """Numbers from one bound to the other."""
    return _Bounded("Interval", lower_bound, upper_bound)


def half_open_interval(lower_bound: Any, upper_bound: Any) -> _Bounded:
    """Numbers from the first bound to below the other."""
    return _Bounded("HalfOpenInterval", lower_bound, upper_bound, open_high=True)


class _Simplex(Constraint):
    """Vectors of nonnegative numbers whose sum is 1."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Vectors of counts whose sum is at most `upper_bound`."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _LowerCholesky(Constraint):
    """Lower triangular matrices with a positive diagonal."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        triangular = (value.tril() == value).flatten(-2).all(-1)
        return triangular & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _PositiveDefinite(Constraint):
    """Symmetric matrices with positive eigenvalues."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        symmetric = ops.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)
        return symmetric & ops.linalg_cholesky_ex(value).info.eq(0)


class independent(Constraint):
    """Members of `base_constraint` whose last dims belong together."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        inside = self.base_constraint.check(value)
        if inside.ndim < self.reinterpreted_batch_ndims:
            raise ValueError(
                f"Expected value.dim() >= {self.event_dim} but got {value.ndim}"
            )
        if not self.reinterpreted_batch_ndims:
            return inside
        return inside.flatten(inside.ndim - self.reinterpreted_batch_ndims).all(-1)

    def __repr__(self) -> str:
        return f"Independent({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


dependent = _Dependent()
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _Bounded("IntegerGreaterThan", 0, whole=True)
positive_integer = _Bounded("IntegerGreaterThan", 1, whole=True)
real = _Bounded("Real")
real_vector = independent(real, 1)
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
simplex = _Simplex()
multinomial = _Multinomial
lower_cholesky = _LowerCholesky()
positive_definite = _PositiveDefinite()
