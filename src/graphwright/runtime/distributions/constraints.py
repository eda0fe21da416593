"""Sets of values: what parameters may be, and where samples lie; after `torch.distributions`.

`constraint.check(value)` is a bool tensor of the value's shape without the constraint's
`event_dim` last dims.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphwright.runtime.dtypes import bool_ as boolean_dtype
from graphwright.runtime.limits import finfo
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


class _Square(Constraint):
    """Square matrices."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        fits = value.shape[-2] == value.shape[-1]
        return ops.full(tuple(value.shape[:-2]), fits, dtype=boolean_dtype, device=value.device)


class _Symmetric(_Square):
    """Symmetric matrices."""

    def check(self, value: Tensor) -> Tensor:
        square = super().check(value)
        if not bool(square.all()):
            return square
        return ops.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        if not bool(symmetric.all()):
            return symmetric
        return ops.linalg_eigvalsh(value).ge(0).all(-1)


class _LowerTriangular(Constraint):
    """Lower triangular matrices."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).flatten(-2).all(-1)


class _CorrCholesky(_LowerCholesky):
    """Lower triangular matrices with a positive diagonal and rows of length 1."""

    def check(self, value: Tensor) -> Tensor:
        tolerance = finfo(value.dtype).eps * value.shape[-1] * 10
        lengths = ops.linalg_vector_norm(value.detach(), dim=-1)
        return super().check(value) & (lengths - 1).abs().lt(tolerance).all(-1)


class cat(Constraint):
    """Members of several sets joined along `dim`, as many of each as `lengths` say."""

    def __init__(
        self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
    ) -> None:
        self.cseq, self.dim = list(cseq), dim
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        self.is_discrete = any(part.is_discrete for part in self.cseq)
        self.event_dim = max(part.event_dim for part in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        found, start = [], 0
        for part, length in zip(self.cseq, self.lengths, strict=True):
            found.append(part.check(value.narrow(self.dim, start, length)))
            start += length
        return ops.cat(found, self.dim)


class stack(Constraint):
    """A member of each of several sets, stacked along `dim`."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        self.cseq, self.dim = list(cseq), dim
        self.is_discrete = any(part.is_discrete for part in self.cseq)
        below = max(part.event_dim for part in self.cseq)
        self.event_dim = below + 1 if dim + below < 0 else below

    def check(self, value: Tensor) -> Tensor:
        members = ops.unbind(value, self.dim)
        checks = [part.check(member) for part, member in zip(self.cseq, members, strict=True)]
        return ops.stack(checks, self.dim)


class MixtureSameFamilyConstraint(Constraint):
    """A set of values of each component of a mixture: a value belongs to all of them."""

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint
        self.is_discrete, self.event_dim = base_constraint.is_discrete, base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        inside = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        return inside.all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


def is_dependent(constraint: Any) -> bool:
    """Whether a set depends on a distribution's parameters."""
    return isinstance(constraint, _Dependent)


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
positive_semidefinite = _PositiveSemidefinite()
square = _Square()
symmetric = _Symmetric()
lower_triangular = _LowerTriangular()
corr_cholesky = _CorrCholesky()
