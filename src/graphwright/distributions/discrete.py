"""Distributions over whole numbers, classes and counts."""

from __future__ import annotations

import math
from typing import Any

from graphwright.autograd.grad_mode import no_grad
from graphwright.distributions import constraints
from graphwright.distributions.distribution import (
    Distribution,
    Shape,
    broadcast_all,
    lazy,
    parameters,
    to_logits,
    to_probs,
    uniform_open,
)
from graphwright.distributions.exp_family import ExponentialFamily
from graphwright.distributions.gamma import gamma_variates
from graphwright.nn import functional as F
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.dtypes import int64
from graphwright.runtime.tensor.finfo import finfo
from graphwright.runtime.tensor.multi_tensor import broadcast_shapes
from graphwright.runtime.tensor.size import Size
from graphwright.runtime.tensor.tensor import Tensor


def one_given(probs: Any, logits: Any) -> None:
    """Raise ValueError unless just one of them is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class Chances(Distribution):
    """Distributions of a probability, or of the logarithm of its odds."""

    arg_constraints = parameters(probs=constraints.unit_interval, logits=constraints.real)

    def _set(self, probs: Any, logits: Any) -> Tensor:
        one_given(probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
            return self.probs
        (self.logits,) = broadcast_all(logits)
        return self.logits

    @lazy
    def logits(self) -> Tensor:
        """log(p / (1 - p))."""
        return to_logits(self.probs, is_binary=True)

    @lazy
    def probs(self) -> Tensor:
        """The probability."""
        return to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.shape

    @property
    def _param(self) -> Tensor:
        found: Tensor = self.__dict__["probs" if "probs" in self.__dict__ else "logits"]
        return found


class Bernoulli(Chances, ExponentialFamily):
    """1 with probability `probs`, else 0."""

    support = constraints.boolean
    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(self._set(probs, logits).shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        likely = (self.probs >= 0.5).to(self.probs.dtype)
        return ops.where(self.probs == 0.5, math.nan, likely)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            return ops.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    _mean_carrier_measure = 0.0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        return F.softplus(natural_params[0])

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = ops.arange(2, dtype=self._param.dtype, device=self._param.device)
        values = values.reshape(-1, *(1,) * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class Geometric(Chances):
    """The number of failures before the first success."""

    support = constraints.nonnegative_integer

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(self._set(probs, logits).shape, validate_args=validate_args)
        if self._validate_args and probs is not None and not bool((self.probs > 0).all()):
            raise ValueError(
                f"Expected parameter probs of distribution {self!r} to be positive but found "
                f"invalid values:\n{self.probs}"
            )

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return ops.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            u = uniform_open(self._extended_shape(sample_shape), self.probs)
            return (u.log() / ops.log1p(-self.probs)).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        value, probs = broadcast_all(value, self.probs)
        probs = ops.where((probs == 1) & (value == 0), 0.0, probs)
        return value * ops.log1p(-probs) + self.probs.log()

    def entropy(self) -> Tensor:
        of_one = F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
        return of_one / self.probs


class Binomial(Chances):
    """The successes among `total_count` attempts."""

    arg_constraints = parameters(
        total_count=constraints.nonnegative_integer,
        **Chances.arg_constraints,
    )
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self.total_count, shared = broadcast_all(total_count, self._set(probs, logits))
        self.total_count = self.total_count.to(shared.dtype)
        self.__dict__["logits" if probs is None else "probs"] = shared
        super().__init__(shared.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> constraints.Constraint:
        """0 to total_count."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ops.minimum(((self.total_count + 1) * self.probs).floor(), self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        shape = tuple(self._extended_shape(sample_shape))
        with no_grad():
            return ops.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        n, logits = self.total_count, self.logits
        ways = ops.lgamma(n + 1) - ops.lgamma(value + 1) - ops.lgamma(n - value + 1)
        return ways + value * logits - n * F.softplus(logits)

    def entropy(self) -> Tensor:
        """Raises NotImplementedError where the counts differ."""
        terms = self.log_prob(self.enumerate_support(False))
        return -(terms.exp() * terms).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        total = int(self.total_count.max())
        if not bool((self.total_count == total).all()):
            raise NotImplementedError(
                "Inhomogeneous total count not supported by `enumerate_support`."
            )
        values = ops.arange(total + 1, dtype=self._param.dtype, device=self._param.device)
        values = values.reshape(-1, *(1,) * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class NegativeBinomial(Chances):
    """The successes before `total_count` failures."""

    arg_constraints = parameters(
        total_count=constraints.nonnegative,
        probs=constraints.half_open_interval(0.0, 1.0),
        logits=constraints.real,
    )
    support = constraints.nonnegative_integer

    def __init__(
        self,
        total_count: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self.total_count, shared = broadcast_all(total_count, self._set(probs, logits))
        self.total_count = self.total_count.to(shared.dtype)
        self.__dict__["logits" if probs is None else "probs"] = shared
        super().__init__(shared.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.mean / ops.sigmoid(-self.logits)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return ops.poisson(gamma_variates(shape, self.total_count) * self.logits.exp())

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        n = self.total_count
        ways = ops.lgamma(n + value) - ops.lgamma(1 + value) - ops.lgamma(n)
        ways = ops.where(n + value == 0, 0.0, ways)
        return n * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits) + ways


class Poisson(ExponentialFamily):
    """rate^k exp(-rate) / k!."""

    arg_constraints = parameters(rate=constraints.nonnegative)
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            return ops.poisson(self.rate.expand(tuple(self._extended_shape(sample_shape))))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        rate, value = broadcast_all(self.rate, value)
        return ops.xlogy(value, rate) - rate - ops.lgamma(value + 1)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.rate.log(),)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        return natural_params[0].exp()


class Classes(Distribution):
    """Distributions of classes, with probabilities (which are normalised) or logits [*, K]."""

    arg_constraints = parameters(probs=constraints.simplex, logits=constraints.real_vector)

    def _set(self, probs: Any, logits: Any) -> Tensor:
        one_given(probs, logits)
        given = logits if probs is None else probs
        if given.ndim < 1:
            name = "logits" if probs is None else "probs"
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
            return self.probs
        self.logits = logits - ops.logsumexp(logits, -1, keepdim=True)
        return self.logits

    @lazy
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        return to_logits(self.probs)

    @lazy
    def probs(self) -> Tensor:
        """The probabilities."""
        return to_probs(self.logits)

    @property
    def _param(self) -> Tensor:
        found: Tensor = self.__dict__["probs" if "probs" in self.__dict__ else "logits"]
        return found

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.shape

    @property
    def _num_events(self) -> int:
        return self._param.shape[-1]

    def _drawn(self, sample_shape: Shape) -> Tensor:
        """Numbers of classes, of sample_shape + the batch's shape."""
        count = math.prod(sample_shape)
        rows = self.probs.detach().reshape(-1, self._num_events)
        batch = self._param.shape[:-1]
        if not rows.numel() or not count:
            return ops.zeros((*sample_shape, *batch), dtype=int64, device=rows.device)
        return ops.multinomial(rows, count, True).T.reshape((*sample_shape, *batch))


class Categorical(Classes):
    """Class k with probability probs[..., k]."""

    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(self._set(probs, logits).shape[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> constraints.Constraint:
        """0 to K - 1."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        return ops.full(
            self._extended_shape(), math.nan, dtype=self.probs.dtype, device=self.probs.device)

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        return self.mean

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        return self._drawn(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        shape = broadcast_shapes(tuple(value.shape), tuple(self.logits.shape[:-1]))
        logits = self.logits.expand(*shape, self._num_events)
        return logits.gather(-1, value.long().expand(shape).unsqueeze(-1)).squeeze(-1)

    def entropy(self) -> Tensor:
        low = finfo(self.logits.dtype).min
        return -(self.logits.clamp(min=low) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = ops.arange(self._num_events, device=self._param.device)
        values = values.reshape(-1, *(1,) * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class OneHotCategorical(Classes):
    """A vector of K with a 1 at class k, with probability probs[..., k]."""

    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        shape = self._set(probs, logits).shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return self._hot(self.probs.argmax(-1))

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def _hot(self, classes: Tensor) -> Tensor:
        return F.one_hot(classes, self._num_events).to(self._param.dtype)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        return self._hot(self._drawn(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        return Categorical(logits=self.logits, validate_args=False).log_prob(value.argmax(-1))

    def entropy(self) -> Tensor:
        return Categorical(logits=self.logits, validate_args=False).entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self._num_events
        values = ops.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.reshape(n, *(1,) * len(self._batch_shape), n)
        return values.expand(n, *self._batch_shape, n) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """One-hot vectors whose gradient is that of the probabilities; Bengio et al., 2013."""

    has_rsample = True

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Multinomial(Classes):
    """How often each class was drawn in `total_count` draws."""

    total_count: int

    def __init__(
        self,
        total_count: int = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        shape = self._set(probs, logits).shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> constraints.Constraint:
        """Counts of at most total_count draws."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        classes = self._drawn((self.total_count, *sample_shape))
        return F.one_hot(classes, self._num_events).sum(0).to(self._param.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        logits = ops.where((value == 0) & (logits == -math.inf), 0.0, logits)
        ways = ops.lgamma(value.sum(-1) + 1) - ops.lgamma(value + 1).sum(-1)
        return ways + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        n, p = self.total_count, self.probs
        single = Categorical(probs=p, validate_args=False).entropy()
        counts = Binomial(n, probs=p, validate_args=False)
        values = ops.arange(1, n + 1, dtype=p.dtype, device=p.device)
        values = values.reshape(-1, *(1,) * p.ndim)
        weights = counts.log_prob(values).exp()
        more = (weights * ops.lgamma(values + 1)).sum((0, -1))
        return n * single - math.lgamma(n + 1) + more
