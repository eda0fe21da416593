"""What all distributions have: shapes, checks, sampling; after `torch.distributions`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from graphwright.autograd.grad_mode import enable_grad, no_grad
from graphwright.distributions.constraints import Constraint, is_dependent
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.dtypes import get_default_dtype
from graphwright.runtime.tensor.finfo import finfo
from graphwright.runtime.tensor.multi_tensor import broadcast_tensors
from graphwright.runtime.tensor.size import Size
from graphwright.runtime.tensor.tensor import Tensor

D = TypeVar("D", bound="Distribution")
Shape = Size | list[int] | tuple[int, ...]


class Distribution:
    """A batch of distributions over values of `event_shape`.

    Samples have the shape sample_shape + batch_shape + event_shape. Subclasses name their
    parameters and what those may be in `arg_constraints`. Unless `validate_args` is False,
    parameters and values outside of their sets raise ValueError.
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__

    def __init__(
        self,
        batch_shape: Shape = (),
        event_shape: Shape = (),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    @property
    def arg_constraints(self) -> Mapping[str, Constraint]:
        """What the parameters may be, by name; subclasses have it as an attribute."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The set of values; subclasses have it as an attribute or a `dependent_property`."""
        raise NotImplementedError

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether arguments are checked where `validate_args` is not given."""
        if value not in (True, False):
            raise ValueError(f"expected True or False, got {value!r}")
        Distribution._validate_args = value

    def _check_parameters(self) -> None:
        known = _known(self, "arg_constraints", "arguments")
        for name, constraint in (known or {}).items():
            if is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name, None), lazy):
                continue
            value = getattr(self, name)
            if not bool(constraint.check(value).all()):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to satisfy the constraint "
                    f"{constraint!r}, but found invalid values:\n{value}"
                )

    def _validate_sample(self, value: Any) -> None:
        """Raise ValueError where `value` has a wrong shape or lies outside of the support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        events = len(self._event_shape)
        if events and tuple(value.shape[value.ndim - events :]) != tuple(self._event_shape):
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.shape} vs "
                f"{self._event_shape}."
            )
        shape = (*self._batch_shape, *self._event_shape)
        for i, j in zip(reversed(value.shape), reversed(shape), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{value.shape} vs {Size(shape)}."
                )
        support = _known(self, "support", "values")
        if support is not None and not bool(support.check(value).all()):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape "
                f"{tuple(value.shape)}) to be within the support ({support!r}) of the "
                f"distribution {self!r}, but found invalid values:\n{value}"
            )

    def _checked(self, value: Any) -> None:
        """`_validate_sample` where arguments are checked."""
        if self._validate_args:
            self._validate_sample(value)

    # -- shapes

    @property
    def batch_shape(self) -> Size:
        """The shape of the batch."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one value."""
        return self._event_shape

    def _extended_shape(self, sample_shape: Shape = ()) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """`_instance`, or an object of this class for `cls.expand` to fill.

        NotImplementedError where the class has a constructor that `cls` knows nothing of.
        """
        if _instance is not None:
            return _instance
        kind = type(self)
        if kind.__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {kind.__name__} of {cls.__name__} that defines a custom __init__ "
                "method must also define a custom .expand() method."
            )
        return kind.__new__(kind)

    def expand(self: D, batch_shape: Shape, _instance: D | None = None) -> D:
        """The same distributions as a batch of another shape, to which this one broadcasts.

        Subclasses that extend it give the object to be filled.
        """
        new: D = self._get_checked_instance(own_class(type(self)), _instance)
        kept = self.arg_constraints
        for name, value in self.__dict__.items():
            if name in kept or not isinstance(getattr(type(self), name, None), lazy):
                new.__dict__[name] = value
        for name, constraint in kept.items():
            value = self.__dict__.get(name)
            if isinstance(value, Tensor):
                rest = value.shape[value.ndim - constraint.event_dim :]
                new.__dict__[name] = value.expand((*batch_shape, *rest))
        new._batch_shape = Size(batch_shape)
        return new

    # -- what is known of them

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        """A sample that is a differentiable function of the parameters."""
        raise NotImplementedError

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        """A sample without history."""
        with no_grad():
            return self.rsample(sample_shape)

    def sample_n(self, n: int) -> Tensor:
        """n samples, stacked: `sample((n,))`, which is to be written instead."""
        warnings.warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.",
            FutureWarning,
            stacklevel=2,
        )
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density or probability at `value`."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of values up to `value`."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """Where the cdf is `value`."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values along the first dim, for every member of the batch if `expand`."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The entropy in nats."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """exp(entropy)."""
        return ops.exp(self.entropy())

    def __repr__(self) -> str:
        given = [name for name in self.arg_constraints if name in self.__dict__]
        shown = []
        for name in given:
            value = self.__dict__[name]
            shown.append(f"{name}: {value if value.numel() == 1 else value.size()}")
        return f"{type(self).__name__}({', '.join(shown)})"


def own_class(kind: type) -> type:
    """The class of this package that a class is or is derived from."""
    package = __name__.rpartition(".")[0]
    return next(base for base in kind.__mro__ if base.__module__.startswith(package))


def _known(made: Distribution, name: str, what: str) -> Any:
    """An attribute; None, and a warning that `what` is not checked, where there is none."""
    try:
        return getattr(made, name)
    except NotImplementedError:
        warnings.warn(
            f"{type(made)} does not define `{name}`: its {what} are not checked. Please define "
            "it, or turn the checks off with `validate_args=False`.",
            stacklevel=4,
        )
        return None


class Centred(Distribution):
    """A distribution whose mean and mode are its parameter `loc`."""

    loc: Tensor

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc


def parameters(**known: Constraint) -> Mapping[str, Constraint]:
    """What the parameters may be, by name."""
    return MappingProxyType(known)


class lazy:
    """A property that is computed once and then kept as an attribute, with its history."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function, self.name, self.__doc__ = function, function.__name__, function.__doc__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.function(instance)
        instance.__dict__[self.name] = value
        return value


_NUMERIC = (Tensor, int, float)


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Tensors of one shape; numbers take the dtype of the first floating point tensor, and
    the device of the first tensor.

    Raises ValueError for what is neither a number nor a tensor.
    """
    if not all(isinstance(value, _NUMERIC) for value in values):
        raise ValueError("Input arguments must all be instances of Number or Tensor")
    given = [value for value in values if isinstance(value, Tensor)]
    kinds = [value.dtype for value in given if value.dtype.is_floating_point]
    dtype = kinds[0] if kinds else get_default_dtype()
    device = given[0].device if given else None
    tensors = [
        value if isinstance(value, Tensor) else ops.full((), value, dtype=dtype, device=device)
        for value in values
    ]
    return tuple(broadcast_tensors(*tensors))


def clamped(probs: Tensor) -> Tensor:
    """Probabilities kept away from 0 and 1 by the dtype's precision."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """log(p / (1 - p)) where binary, else log(p)."""
    kept = clamped(probs)
    return ops.log(kept) - ops.log1p(-kept) if is_binary else ops.log(kept)


def to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """The sigmoid where binary, else the softmax."""
    return ops.sigmoid(logits) if is_binary else ops.softmax(logits, -1)


def uniform_open(shape: Shape, like: Tensor) -> Tensor:
    """Uniform numbers in (0, 1), never 0, with the dtype and device of `like`."""
    made = ops.rand(tuple(shape), dtype=like.dtype, device=like.device)
    return made.clamp_min(finfo(like.dtype).tiny)


def normal_like(shape: Shape, like: Tensor) -> Tensor:
    """Standard normal numbers with the dtype and device of `like`."""
    return ops.randn(tuple(shape), dtype=like.dtype, device=like.device)


def sum_rightmost(value: Tensor, dims: int) -> Tensor:
    """The sum over the last `dims` dims."""
    return value if dims == 0 else value.sum(tuple(range(-dims, 0)))
