"""From real numbers to a set: `biject_to` and `transform_to`, registries of transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.distributions import constraints
from graphwright.distributions.constraints import Constraint
from graphwright.distributions.transforms import (
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SigmoidTransform,
    SoftmaxTransform,
    StackTransform,
    StickBreakingTransform,
    Transform,
    identity_transform,
)

Factory = Callable[[Any], Transform]

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Called with a set, gives the transform that its class was registered with.

    NotImplementedError for sets that there is none for.
    """

    def __init__(self) -> None:
        self._registry: dict[type, Factory] = {}

    def register(self, constraint: Any, factory: Factory | None = None) -> Any:
        """Take `factory(constraint)` for all sets of that type; without it, a decorator.

        TypeError for what is neither a Constraint nor a class of them.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, Constraint) else constraint
        if not (isinstance(kind, type) and issubclass(kind, Constraint)):
            raise TypeError(
                "Expected constraint to be either a Constraint subclass or instance, but got "
                f"{constraint}"
            )
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Transform:
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(
                f"Cannot transform {type(constraint).__name__} constraints"
            )
        return factory(constraint)


def _above(constraint: Any) -> Transform:
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.lower_bound, 1)])


def _below(constraint: Any) -> Transform:
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.upper_bound, -1)])


def _between(constraint: Any) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if not hasattr(low, "shape") and not hasattr(high, "shape") and (low, high) == (0, 1):
        return SigmoidTransform()
    return ComposeTransform([SigmoidTransform(), AffineTransform(low, high - low)])


def _filled() -> ConstraintRegistry:
    """A registry of what bijections and other transforms have in common."""
    made = ConstraintRegistry()
    known: list[tuple[Any, Factory]] = [
        (constraints.real, lambda _: identity_transform),
        (constraints.greater_than, _above),
        (constraints.greater_than_eq, _above),
        (constraints.less_than, _below),
        (constraints.interval, _between),
        (constraints.half_open_interval, _between),
        (constraints.corr_cholesky, lambda _: CorrCholeskyTransform()),
        (constraints.independent,
         lambda c: IndependentTransform(made(c.base_constraint), c.reinterpreted_batch_ndims)),
        (constraints.cat, lambda c: CatTransform([made(p) for p in c.cseq], c.dim, c.lengths)),
        (constraints.stack, lambda c: StackTransform([made(p) for p in c.cseq], c.dim)),
    ]  # fmt: skip
    for constraint, factory in known:
        made.register(constraint, factory)
    return made


biject_to = _filled()
biject_to.register(constraints.simplex, lambda _: StickBreakingTransform())

transform_to = _filled()
"""As `biject_to`, but not all are bijections: of the simplex softmax, which treats all classes
alike; and of more matrices."""
transform_to.register(constraints.simplex, lambda _: SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda _: LowerCholeskyTransform())
transform_to.register(constraints.positive_definite, lambda _: PositiveDefiniteTransform())
transform_to.register(constraints.positive_semidefinite, lambda _: PositiveDefiniteTransform())
