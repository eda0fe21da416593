"""Sets of values: what parameters may be, and where samples lie; after `torch.distributions`.

`constraint.check(value)` is a bool tensor of the value's shape without the constraint's
`event_dim` last dims.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.dtypes import bool_ as boolean_dtype
from graphwright.runtime.tensor.finfo import finfo
from graphwright.runtime.tensor.tensor import Tensor

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent",
    "dependent_property", "greater_than", "greater_than_eq", "half_open_interval",
    "independent", "integer_interval", "interval", "is_dependent", "less_than",
    "lower_cholesky", "lower_triangular", "multinomial", "nonnegative", "nonnegative_integer",
    "one_hot", "positive", "positive_definite", "positive_integer", "positive_semidefinite",
    "real", "real_vector", "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip


class Constraint:
    """A set; `is_discrete` where it holds whole numbers, of `event_dim` dims per member."""

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Tensor) -> Tensor:
        """Which members of a batch belong to the set."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__.lstrip('_')}()"


class _Dependent(Constraint):
    """A set that depends on a distribution's parameters: it is not checked as such.

    What is not said of it (NotImplemented) raises NotImplementedError where it is asked for.
    """

    def __init__(
        self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self) -> bool:
        """The constructor's argument."""
        return _stated(".is_discrete", self._is_discrete)

    @property
    def event_dim(self) -> int:
        """The constructor's argument."""
        return _stated(".event_dim", self._event_dim)

    def __call__(
        self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> _Dependent:
        """Such a set of which more is said."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


def _stated(what: str, value: Any) -> Any:
    if value is NotImplemented:
        raise NotImplementedError(f"{what} cannot be determined statically")
    return value


class dependent_property(property, _Dependent):
    """The support of a distribution as a property; on the class, a dependent constraint.

    A decorator, of a function or with what is known of the set whatever the parameters are.
    """

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn: Callable[..., Any]) -> dependent_property:  # type: ignore[override]
        """The property that computes the set by `fn`."""
        return dependent_property(
            fn, is_discrete=self._is_discrete, event_dim=self._event_dim
        )


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


class _Real(Constraint):
    """All numbers but NaN."""

    def check(self, value: Tensor) -> Tensor:
        return value == value


class _Above(Constraint):
    """What sets with a lower bound have."""

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}(lower_bound={self.lower_bound})"


class _GreaterThan(_Above):
    """Numbers above the bound."""

    def check(self, value: Tensor) -> Tensor:
        return value > self.lower_bound


class _GreaterThanEq(_Above):
    """Numbers from the bound on."""

    def check(self, value: Tensor) -> Tensor:
        return value >= self.lower_bound


class _IntegerGreaterThan(_Above):
    """Whole numbers from the bound on."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value >= self.lower_bound)


class _LessThan(Constraint):
    """Numbers below the bound."""

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound

    def __repr__(self) -> str:
        return f"LessThan(upper_bound={self.upper_bound})"


class _Between(Constraint):
    """What sets between two bounds have."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__[1:]}(lower_bound={self.lower_bound}, "
            f"upper_bound={self.upper_bound})"
        )


class _Interval(_Between):
    """Numbers from one bound to the other."""

    def check(self, value: Tensor) -> Tensor:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    """Numbers from the first bound to below the other."""

    def check(self, value: Tensor) -> Tensor:
        return (value >= self.lower_bound) & (value < self.upper_bound)


class _IntegerInterval(_Between):
    """Whole numbers from one bound to the other."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        inside = (value >= self.lower_bound) & (value <= self.upper_bound)
        return (value % 1 == 0) & inside


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


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices with positive eigenvalues."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        if not bool(symmetric.all()):
            return symmetric
        return ops.linalg_cholesky_ex(value).info.eq(0)


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
        return super().check(value) & (lengths - 1).abs().le(tolerance).all(-1)


def _known(parts: Sequence[Any]) -> list[Constraint]:
    """The sets as a list. AssertionError for what is none."""
    for part in parts:
        if not isinstance(part, Constraint):
            raise AssertionError(f"expected Constraint instances, got {type(part).__name__}")
    return list(parts)


def _check_dim(dim: int, value: Tensor) -> None:
    if not -value.ndim <= dim < value.ndim:
        raise AssertionError(
            f"dim {dim} out of range for value with {value.ndim} dimensions"
        )


class _Cat(Constraint):
    """Members of several sets joined along `dim`, as many of each as `lengths` say.

    AssertionError for what are no sets, other numbers of lengths, and a `dim` that values lack.
    """

    def __init__(
        self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
    ) -> None:
        self.cseq, self.dim = _known(cseq), dim
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})"
            )

    @property
    def is_discrete(self) -> bool:
        """Whether a part is."""
        return any(part.is_discrete for part in self.cseq)

    @property
    def event_dim(self) -> int:
        """The most of the parts'."""
        return max(part.event_dim for part in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        _check_dim(self.dim, value)
        found, start = [], 0
        for part, length in zip(self.cseq, self.lengths, strict=True):
            found.append(part.check(value.narrow(self.dim, start, length)))
            start += length
        return ops.cat(found, self.dim)


class _Stack(Constraint):
    """A member of each of several sets, stacked along `dim`.

    AssertionError for what are no sets, and a `dim` that values lack.
    """

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        self.cseq, self.dim = _known(cseq), dim

    @property
    def is_discrete(self) -> bool:
        """Whether a part is."""
        return any(part.is_discrete for part in self.cseq)

    @property
    def event_dim(self) -> int:
        """The most of the parts', and `dim` where that lies inside of the events."""
        below: int = max(part.event_dim for part in self.cseq)
        return below + 1 if self.dim + below < 0 else below

    def check(self, value: Tensor) -> Tensor:
        _check_dim(self.dim, value)
        members = ops.unbind(value, self.dim)
        checks = [part.check(member) for part, member in zip(self.cseq, members, strict=False)]
        return ops.stack(checks, self.dim)


class _OfBase(Constraint):
    """What sets made of another one have: `base_constraint`. AssertionError where it is none."""

    def __init__(self, base_constraint: Constraint) -> None:
        (self.base_constraint,) = _known([base_constraint])

    @property
    def is_discrete(self) -> bool:
        """That of the base."""
        return bool(self.base_constraint.is_discrete)

    @property
    def event_dim(self) -> int:
        """That of the base."""
        found: int = self.base_constraint.event_dim
        return found

    def _check_dims(self, dims: int) -> None:
        if dims < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {dims}")


class MixtureSameFamilyConstraint(_OfBase):
    """A set of values of each component of a mixture: a value belongs to all of them."""

    def check(self, value: Tensor) -> Tensor:
        self._check_dims(value.ndim)
        inside = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        kept = value.ndim - self.event_dim
        return inside.reshape((*inside.shape[:kept], -1)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


class _IndependentConstraint(_OfBase):
    """Members of `base_constraint` whose last dims belong together."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        super().__init__(base_constraint)
        if not isinstance(reinterpreted_batch_ndims, int) or reinterpreted_batch_ndims < 0:
            raise AssertionError(
                "reinterpreted_batch_ndims must be an int >= 0, got "
                f"{reinterpreted_batch_ndims!r}"
            )
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def event_dim(self) -> int:
        """That of the base and the dims that belong together."""
        return super().event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        inside = self.base_constraint.check(value)
        kept = inside.ndim - self.reinterpreted_batch_ndims
        if kept < 0:
            self._check_dims(value.ndim)
        shape = tuple(inside.shape)
        return inside.reshape((*shape[:kept], math.prod(shape[kept:]))).all(-1)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__[1:]}({self.base_constraint!r}, "
            f"{self.reinterpreted_batch_ndims})"
        )


def is_dependent(constraint: Any) -> bool:
    """Whether a set depends on a distribution's parameters."""
    return isinstance(constraint, _Dependent)


cat = _Cat
stack = _Stack
independent = _IndependentConstraint
integer_interval = _IntegerInterval
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
interval = _Interval
half_open_interval = _HalfOpenInterval
multinomial = _Multinomial

dependent = _Dependent()
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
real = _Real()
real_vector = independent(real, 1)
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
simplex = _Simplex()
lower_cholesky = _LowerCholesky()
positive_definite = _PositiveDefinite()
positive_semidefinite = _PositiveSemidefinite()
square = _Square()
symmetric = _Symmetric()
lower_triangular = _LowerTriangular()
corr_cholesky = _CorrCholesky()
