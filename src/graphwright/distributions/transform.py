"""What all transforms have, and transforms made of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.distributions import constraints
from graphwright.distributions.distribution import lazy, sum_rightmost
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


class Transform:
    """y = f(x). `domain` and `codomain` are where x and y lie; `sign` that of the derivative.

    Subclasses write `_call` and, where there is one, `_inverse`; those that are `bijective` also
    `log_abs_det_jacobian`. With a `cache_size` of 1 (0 keeps nothing, else ValueError), the last
    x and y are kept: the inverse of the y that a call gave is that very x, and its history too.
    """

    bijective: Any = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._inv: Transform | None = None
        self._cached_x_y: tuple[Any, Any] = (None, None)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self) -> int:
        """The dims of an x and of a y. ValueError where those differ."""
        dims: int = self.domain.event_dim
        if dims != self.codomain.event_dim:
            raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")
        return dims

    @property
    def inv(self) -> Transform:
        """The map from y to x, whose inverse this is."""
        if self._inv is None:
            self._inv = _InverseTransform(self)
        return self._inv

    @property
    def sign(self) -> Any:
        """1 or -1 (or a tensor of them): whether a map of numbers grows or falls."""
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Transform:
        """Such a transform with a cache of that size: itself where it has that.

        NotImplementedError for classes with a constructor that do not say how they are made.
        """
        return self if self._cache_size == cache_size else self._remade(cache_size)

    def _remade(self, cache_size: int) -> Transform:
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise NotImplementedError(f"{type(self)}.with_cache is not implemented")

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__: Any = None

    def __call__(self, x: Tensor) -> Tensor:
        if not self._cache_size:
            return self._call(x)
        known_x, known_y = self._cached_x_y
        if x is known_x:
            return known_y
        y = self._call(x)
        self._cached_x_y = x, y
        return y

    def _inv_call(self, y: Tensor) -> Tensor:
        if not self._cache_size:
            return self._inverse(y)
        known_x, known_y = self._cached_x_y
        if y is known_y:
            return known_x
        x = self._inverse(y)
        self._cached_x_y = x, y
        return x

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |dy/dx|, summed over the dims of one event."""
        raise NotImplementedError

    def forward_shape(self, shape: Any) -> Any:
        """The shape of y for x of that shape."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of x for y of that shape."""
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class PlainTransform(Transform):
    """A transform without parameters: those of one class are equal."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    __hash__: Any = None


class _InverseTransform(Transform):
    """The inverse of a transform."""

    _inv: Transform

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """Where y lies."""
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """Where x lies."""
        return self._inv.domain

    @property
    def bijective(self) -> bool:
        """Whether the map is."""
        return bool(self._inv.bijective)

    @property
    def sign(self) -> Any:
        return self._inv.sign

    @property
    def inv(self) -> Transform:
        return self._inv

    def _remade(self, cache_size: int) -> Transform:
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__: Any = None

    def __call__(self, x: Tensor) -> Tensor:
        return self._inv._inv_call(x)

    def _inv_call(self, y: Tensor) -> Tensor:
        return self._inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._inv.forward_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"


class ComposeTransform(Transform):
    """Several transforms, the first one first; none is the identity. They keep the cache."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__: Any = None

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """That of the first part, of so many dims that no part gets less than it takes."""
        if not self.parts:
            return constraints.real
        dims: int = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            inside: int = part.domain.event_dim
            dims = max(dims + inside - part.codomain.event_dim, inside)
        return _widened(self.parts[0].domain, dims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """That of the last part, of so many dims as an event of `domain` leads to."""
        if not self.parts:
            return constraints.real
        dims: int = self.parts[0].domain.event_dim
        for part in self.parts:
            outside: int = part.codomain.event_dim
            dims = max(dims + outside - part.domain.event_dim, outside)
        return _widened(self.parts[-1].codomain, dims)

    @lazy
    def bijective(self) -> bool:
        """Whether all parts are."""
        return all(part.bijective for part in self.parts)

    @lazy
    def sign(self) -> Any:
        """The product of the parts' signs."""
        sign: Any = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    @property
    def inv(self) -> Transform:
        if self._inv is None:
            self._inv = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv._inv = self
        return self._inv

    def _remade(self, cache_size: int) -> Transform:
        return ComposeTransform(self.parts, cache_size=cache_size)

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y: Tensor) -> Tensor:
        return self.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return ops.zeros_like(x)
        places = [x]
        for part in self.parts[:-1]:
            places.append(part(places[-1]))
        places.append(y)
        total: Any = None
        dims: int = self.domain.event_dim
        for part, before, after in zip(self.parts, places[:-1], places[1:], strict=True):
            inside = part.domain.event_dim
            term = sum_rightmost(part.log_abs_det_jacobian(before, after), dims - inside)
            total = term if total is None else total + term
            dims += part.codomain.event_dim - inside
        return total

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


def _widened(constraint: Any, dims: int) -> Any:
    """The set of arrays of that many dims of members."""
    more = dims - constraint.event_dim
    return constraints.independent(constraint, more) if more > 0 else constraint


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose last `reinterpreted_batch_ndims` batch dims belong to the event.

    ValueError for values of fewer dims than an event has.
    """

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def _remade(self, cache_size: int) -> Transform:
        return IndependentTransform(
            self.base_transform, self.reinterpreted_batch_ndims, cache_size=cache_size
        )

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """That of the base, with more dims."""
        return constraints.independent(
            self.base_transform.domain, self.reinterpreted_batch_ndims
        )

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """That of the base, with more dims."""
        return constraints.independent(
            self.base_transform.codomain, self.reinterpreted_batch_ndims
        )

    @property
    def bijective(self) -> bool:
        """Whether the base is."""
        return bool(self.base_transform.bijective)

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        check_dims(x.shape, self.domain.event_dim)
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        check_dims(y.shape, self.codomain.event_dim)
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        term = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_rightmost(term, self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


def check_dims(shape: Any, dims: int) -> None:
    """Raise ValueError for a shape of fewer dims."""
    if len(shape) < dims:
        raise ValueError("Too few dimensions on input")
