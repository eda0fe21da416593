"""The von Mises distribution: angles around a direction."""

from __future__ import annotations

import math
from typing import Any

from graphwright.autograd.grad_mode import no_grad
from graphwright.distributions import constraints
from graphwright.distributions.distribution import (
    Centred,
    Shape,
    broadcast_all,
    parameters,
    uniform_open,
)
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


class VonMises(Centred):
    """Angles with the density exp(k cos(x - loc)) / (2 pi I0(k)), k the concentration."""

    arg_constraints = parameters(loc=constraints.real, concentration=constraints.positive)
    support = constraints.real
    has_rsample = False

    def __init__(
        self, loc: Any, concentration: Any, validate_args: bool | None = None
    ) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        # log I0(k) = log(exp(-k) I0(k)) + k, which does not overflow
        log_i0 = ops.log(ops.special_i0e(self.concentration)) + self.concentration
        closeness = self.concentration * ops.cos(value - self.loc)
        return closeness - math.log(2 * math.pi) - log_i0

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        """Best and Fisher (1979): proposals from a wrapped Cauchy distribution, some refused."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            k = self.concentration.double().expand(shape)
            tau = 1 + ops.sqrt(1 + 4 * k * k)
            rho = (tau - ops.sqrt(2 * tau)) / (2 * k)
            # for small k, rho is the difference of nearly equal numbers: its series instead
            r = ops.where(k < 1e-5, 1 / k + k, (1 + rho * rho) / (2 * rho))
            angle, missing = ops.zeros_like(k), ops.ones_like(k).bool()
            while bool(missing.any()):
                z, u, side = (uniform_open(shape, k) for _ in range(3))
                turn = ops.cos(math.pi * z)
                near = (1 + r * turn) / (r + turn)
                c = k * (r - near)
                taken = (c * (2 - c) > u) | (ops.log(c / u) + 1 >= c)
                found = ops.sign(side - 0.5) * ops.acos(near.clamp(-1, 1))
                angle = ops.where(missing & taken, found, angle)
                missing = missing & ~taken
            turned = ops.remainder(angle + self.loc + math.pi, 2 * math.pi) - math.pi
            return turned.to(self.loc.dtype)

    @property
    def variance(self) -> Tensor:
        """The circular variance 1 - I1(k) / I0(k)."""
        k = self.concentration
        return 1 - ops.special_i1e(k) / ops.special_i0e(k)
