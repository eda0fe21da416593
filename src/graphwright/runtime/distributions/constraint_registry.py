"""From real numbers to a set: `biject_to` and `transform_to`, which can be told of more sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime.distributions import constraints
from graphwright.runtime.distributions.constraints import Constraint
from graphwright.runtime.distributions.transforms import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SigmoidTransform,
    SoftmaxTransform,
    StickBreakingTransform,
    Transform,
    identity_transform,
)
from graphwright.runtime.distributions.transforms_of_parts import CatTransform, StackTransform
from graphwright.runtime.distributions.triangles import CorrCholeskyTransform

Factory = Callable[[Any], Transform]

_OF_VALUES: dict[Any, Callable[[], Transform]] = {
    constraints.simplex: StickBreakingTransform,
    constraints.lower_cholesky: LowerCholeskyTransform,
    constraints.corr_cholesky: CorrCholeskyTransform,
    constraints.positive_definite: PositiveDefiniteTransform,
    constraints.positive_semidefinite: PositiveDefiniteTransform,
}


class ConstraintRegistry:
    """Called with a set, gives a transform of real numbers (or vectors) to it.

    `special`: transforms of certain sets. NotImplementedError for sets that there is none for.
    """

    def __init__(self, special: dict[Any, Callable[[], Transform]] | None = None) -> None:
        self._special = {**_OF_VALUES, **(special or {})}
        self._registered: dict[type, Factory] = {}

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
        self._registered[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Transform:
        if type(constraint) in self._registered:
            return self._registered[type(constraint)](constraint)
        if isinstance(constraint, constraints.independent):
            base = self(constraint.base_constraint)
            return IndependentTransform(base, constraint.reinterpreted_batch_ndims)
        if isinstance(constraint, constraints.cat):
            parts = [self(part) for part in constraint.cseq]
            return CatTransform(parts, constraint.dim, constraint.lengths)
        if isinstance(constraint, constraints.stack):
            return StackTransform([self(part) for part in constraint.cseq], constraint.dim)
        if constraint in self._special:
            return self._special[constraint]()
        return _to_interval(constraint)


def _to_interval(constraint: Any) -> Transform:
    low = getattr(constraint, "lower_bound", None)
    high = getattr(constraint, "upper_bound", None)
    if constraint.is_discrete or not hasattr(constraint, "lower_bound"):
        raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
    if low is None and high is None:
        return identity_transform
    if low is None or high is None:
        if low is not None and not hasattr(low, "shape") and low == 0:
            return ExpTransform()
        shift = AffineTransform(high, -1) if low is None else AffineTransform(low, 1)
        return ComposeTransform([ExpTransform(), shift])
    numbers = not hasattr(low, "shape") and not hasattr(high, "shape")
    if numbers and (low, high) == (0, 1):
        return SigmoidTransform()
    return ComposeTransform([SigmoidTransform(), AffineTransform(low, high - low)])


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry({constraints.simplex: SoftmaxTransform})
"""As `biject_to`, but of the simplex: softmax, which treats all classes alike."""
