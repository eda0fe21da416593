"""Distributions and transforms of matrices, of tails and of parts of tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import distributions as D
from graphwright.distributions import constraints, transforms, utils
from graphwright.distributions.utils import tril_matrix_to_vec, vec_to_tril_matrix

X = np.linspace(-1.0, 1.5, 9).reshape(3, 3)


@pytest.mark.parametrize("concentration", [-0.3, 0.0, 0.4])
def test_a_tail_against_scipy(concentration: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    known = stats.genpareto(concentration, loc=0.5, scale=2.0)
    made = D.GeneralizedPareto(gw.tensor(0.5, dtype=gw.float64), 2.0, concentration)
    places = known.ppf([0.1, 0.5, 0.9])
    value = gw.tensor(places)
    np.testing.assert_allclose(made.log_prob(value).numpy(), known.logpdf(places))
    np.testing.assert_allclose(made.cdf(value).numpy(), [0.1, 0.5, 0.9])
    np.testing.assert_allclose(made.icdf(gw.tensor([0.1, 0.5, 0.9])).numpy(), places, rtol=1e-6)
    np.testing.assert_allclose(made.entropy().numpy(), known.entropy())
    np.testing.assert_allclose(made.mean.numpy(), known.mean())
    np.testing.assert_allclose(made.variance.numpy(), known.var())


def test_samples_of_tails_end_where_the_support_does() -> None:
    gw.manual_seed(0)
    made = D.GeneralizedPareto(gw.zeros(2), 1.0, gw.tensor([-0.5, 0.1]))
    samples = made.sample((2000,))
    assert made.support.check(samples).all()
    assert samples[:, 0].max() < 2.0


def test_a_wishart_matrix_is_a_sum_of_squares() -> None:
    stats = pytest.importorskip("scipy.stats")
    factor = np.array([[1.0, 0.0], [0.4, 0.7]])
    known = stats.wishart(5, factor @ factor.T)
    made = D.Wishart(gw.tensor(5.0, dtype=gw.float64), scale_tril=gw.tensor(factor))
    value = known.rvs(4, random_state=0)
    expected = [known.logpdf(v) for v in value]
    np.testing.assert_allclose(made.log_prob(gw.tensor(value)).numpy(), expected)
    np.testing.assert_allclose(made.entropy().numpy(), known.entropy())
    np.testing.assert_allclose(made.mean.numpy(), known.mean())
    assert math.isclose(D.kl_divergence(made, made).item(), 0, abs_tol=1e-12)
    with pytest.raises(ValueError, match="greater than ndim - 1"):
        D.Wishart(gw.tensor(1.0), covariance_matrix=gw.eye(3))


def test_rows_of_sampled_factors_of_correlations_have_length_one() -> None:
    gw.manual_seed(0)
    made = D.LKJCholesky(4, gw.tensor([0.7, 3.0]))
    factors = made.sample((100,))
    assert made.support.check(factors).all()
    with pytest.raises(ValueError, match="greater than or equal to 2"):
        D.LKJCholesky(1)


def test_expanding_forgets_what_was_computed_of_the_smaller_batch() -> None:
    made = D.LowRankMultivariateNormal(gw.zeros(3), gw.ones(3, 1), gw.ones(3))
    assert made.covariance_matrix.shape == (3, 3)
    wide = made.expand((5,))
    assert wide.covariance_matrix.shape == (5, 3, 3)
    assert wide.variance.shape == (5, 3)


TRANSFORMS: dict[str, tuple[Any, np.ndarray]] = {
    "factor of correlations": (D.CorrCholeskyTransform(), X.reshape(-1)[:6]),
    "positive definite": (D.PositiveDefiniteTransform(), X),
    "own probabilities": (D.CumulativeDistributionTransform(D.Normal(0.0, 1.0)), X[0]),
    "parts": (
        D.CatTransform([D.ExpTransform(), D.AffineTransform(1.0, 2.0)], -1, [2, 1]), X[0],
    ),
    "places": (
        D.StackTransform([D.ExpTransform(), D.TanhTransform(), D.SigmoidTransform()], 0), X,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_invert(name: str) -> None:
    transform, values = TRANSFORMS[name]
    x = gw.tensor(values)
    y = transform(x)
    inverted = transform.inv(y)
    gw.testing.assert_close(inverted.tril() if name == "positive definite" else inverted,
                            x.tril() if name == "positive definite" else x)  # fmt: skip
    assert transform.codomain.check(y).all()


def test_the_jacobian_of_the_factor_of_correlations() -> None:
    transform, values = TRANSFORMS["factor of correlations"]
    x = gw.tensor(values[:3])
    whole = gw.func.jacrev(lambda x: tril_matrix_to_vec(transform(x), -1))(x)
    gw.testing.assert_close(
        gw.linalg.slogdet(whole).logabsdet, transform.log_abs_det_jacobian(x, transform(x))
    )
    assert transform.forward_shape((2, 6)) == (2, 4, 4)
    with pytest.raises(ValueError, match="not a flattened lower-diagonal"):
        transform.forward_shape((5,))


@pytest.mark.parametrize("diagonal", [-1, 0])
def test_triangles_as_vectors(diagonal: int) -> None:
    vector = tril_matrix_to_vec(gw.tensor(X), diagonal)
    gw.testing.assert_close(vec_to_tril_matrix(vector, diagonal), gw.tensor(X).tril(diagonal))


def test_sets_of_one_s_own_get_a_transform() -> None:
    class Even(constraints.Constraint):
        pass

    with pytest.raises(NotImplementedError):
        D.biject_to(Even())
    D.biject_to.register(Even, lambda even: D.AffineTransform(0.0, 2.0))
    assert D.biject_to(Even())(gw.tensor(3.0)).item() == 6.0
    with pytest.raises(TypeError, match="Constraint subclass or instance"):
        D.biject_to.register(3, lambda even: D.ExpTransform())


def test_matrices_belong_to_their_sets() -> None:
    x = gw.tensor(X)
    assert constraints.square.check(x)
    assert constraints.symmetric.check(x + x.mT) and not constraints.symmetric.check(x)
    assert not constraints.symmetric.check(x[:2])
    assert constraints.positive_semidefinite.check(x @ x.mT + 1e-9 * gw.eye(3))
    assert constraints.lower_triangular.check(x.tril())
    joined = constraints.cat([constraints.positive, constraints.real], 0, [1, 2])
    assert joined.check(x.abs() + 1).all() and not joined.check(x).all()
    assert constraints.is_dependent(constraints.dependent)


def test_the_entropy_of_an_exponential_family() -> None:
    class Exponential(D.ExponentialFamily):
        _mean_carrier_measure = 0.0
        arg_constraints: dict[str, Any] = {}  # noqa: RUF012

        def __init__(self, rate: gw.Tensor) -> None:
            self.rate = rate
            super().__init__(rate.shape)

        @property
        def _natural_params(self) -> tuple[gw.Tensor, ...]:
            return (-self.rate,)

        def _log_normalizer(self, x: gw.Tensor) -> gw.Tensor:  # type: ignore[override]
            return -gw.log(-x)

    rate = gw.tensor([0.5, 2.0])
    gw.testing.assert_close(Exponential(rate).entropy(), D.Exponential(rate).entropy())


def test_helpers_that_other_libraries_take() -> None:
    gw.manual_seed(0)
    drawn = utils._standard_normal((2, 3), dtype=gw.float64, device="cpu")
    gw.manual_seed(0)
    assert gw.equal(drawn, gw.randn(2, 3, dtype=gw.float64))
    values = gw.arange(24).reshape(2, 3, 4)
    assert utils._sum_rightmost(values, 2).tolist() == values.flatten(1).sum(1).tolist()
    assert utils._sum_rightmost(values, 0) is values
    assert type(D.ExpTransform().inv) is transforms._InverseTransform
