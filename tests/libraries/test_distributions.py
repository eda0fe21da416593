"""Distributions: densities, moments, divergences and samples, against PyTorch and themselves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import distributions as D

_A, _B = np.array([0.5, 1.3, 2.9]), np.array([2.2, 0.7, 1.8])
_P = np.array([0.1, 0.5, 0.85])
_ROWS = np.array([[0.2, 1.0, 0.7, 2.0], [0.1, 0.4, 0.3, 0.2]])
_FACTOR = np.array([[1.0, 0.0, 0.0], [0.5, 2.0, 0.0], [-0.3, 0.2, 0.7]])

CASES: list[tuple[str, dict[str, Any]]] = [
    ("Normal", {"loc": _A, "scale": _B}),
    ("Laplace", {"loc": _A, "scale": _B}),
    ("Cauchy", {"loc": _A, "scale": _B}),
    ("Gumbel", {"loc": _A, "scale": _B}),
    ("LogNormal", {"loc": _A, "scale": _P}),
    ("HalfNormal", {"scale": _A}),
    ("HalfCauchy", {"scale": _A}),
    ("Uniform", {"low": _A - 1, "high": _A + _B}),
    ("Exponential", {"rate": _A}),
    ("Pareto", {"scale": _A, "alpha": _B + 2}),
    ("Weibull", {"scale": _A, "concentration": _B + 1}),
    ("Kumaraswamy", {"concentration1": _A + 1, "concentration0": _B + 1}),
    ("Gamma", {"concentration": _A, "rate": _B}),
    ("Chi2", {"df": _A}),
    ("InverseGamma", {"concentration": _A + 2, "rate": _B}),
    ("Dirichlet", {"concentration": _ROWS}),
    ("Beta", {"concentration1": _A, "concentration0": _B}),
    ("StudentT", {"df": _A + 2, "loc": _A, "scale": _B}),
    ("FisherSnedecor", {"df1": _A + 2, "df2": _B + 4}),
    ("Bernoulli", {"probs": _P}),
    ("Bernoulli", {"logits": _A}),
    ("Geometric", {"probs": _P}),
    ("Binomial", {"total_count": 10, "probs": _P}),
    ("NegativeBinomial", {"total_count": _A, "probs": _P}),
    ("Poisson", {"rate": _A}),
    ("Categorical", {"probs": _ROWS}),
    ("OneHotCategorical", {"logits": _ROWS}),
    ("Multinomial", {"total_count": 6, "probs": _ROWS}),
    ("RelaxedOneHotCategorical", {"temperature": np.array(0.7), "probs": _ROWS}),
    ("RelaxedBernoulli", {"temperature": np.array(0.7), "probs": _P}),
    ("MultivariateNormal", {"loc": _A, "scale_tril": _FACTOR}),
    ("MultivariateNormal", {"loc": _A, "covariance_matrix": _FACTOR @ _FACTOR.T}),
    ("MultivariateNormal", {"loc": _A, "precision_matrix": _FACTOR @ _FACTOR.T}),
    ("VonMises", {"loc": _A / 10, "concentration": _B + 2}),
    ("ContinuousBernoulli", {"probs": _P}),
    ("ContinuousBernoulli", {"logits": _A - 1}),
    ("LowRankMultivariateNormal", {"loc": _A, "cov_factor": _FACTOR[:, :2], "cov_diag": _B}),
    ("Wishart", {"df": np.array(5.0), "scale_tril": _FACTOR}),
    ("Wishart", {"df": np.array(6.0), "precision_matrix": _FACTOR @ _FACTOR.T}),
    ("LKJCholesky", {"dim": 3, "concentration": _B}),
    ("LogisticNormal", {"loc": _A, "scale": _B}),
]
IDS = [f"{name}-{'-'.join(options)}" for name, options in CASES]
TORCHS_OWN = {("Kumaraswamy", "mode")}
"""Where PyTorch's formula gives NaN."""


def _made(lib: Any, name: str, options: dict[str, Any]) -> Any:
    given = {k: lib.tensor(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}
    return getattr(lib.distributions, name)(**given)


def _asked(distribution: Any, what: str, value: Any) -> Any:
    """A property or method's answer as an array; the exception's type where it has none."""
    try:
        found = getattr(distribution, what)
        if what in ("log_prob", "cdf"):
            found = found(value)
        elif what in ("entropy", "enumerate_support", "perplexity"):
            found = found()
    except NotImplementedError:
        return NotImplementedError
    return np.asarray(found) if what.endswith("shape") else found.detach().numpy()


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "options"), CASES, ids=IDS)
def test_answers_are_pytorchs(name: str, options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    theirs, ours = _made(torch, name, options), _made(gw, name, options)
    value = theirs.sample((5,))
    same = gw.from_numpy(value.numpy())
    for what in (
        *("batch_shape", "event_shape", "mean", "mode", "variance", "stddev", "log_prob", "cdf"),
        *("entropy", "enumerate_support"),
    ):
        if (name, what) in TORCHS_OWN:
            continue
        expected, found = _asked(theirs, what, value), _asked(ours, what, same)
        if expected is NotImplementedError or found is NotImplementedError:
            assert expected is found, what
            continue
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9, err_msg=what)


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "options"), CASES, ids=IDS)
def test_divergences_are_pytorchs(name: str, options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    other = {
        k: v * np.linspace(0.9, 1.1, v.shape[-1]) if isinstance(v, np.ndarray) and v.ndim else v
        for k, v in options.items()
        if k not in ("scale_tril", "covariance_matrix", "precision_matrix")
    }
    other |= {k: 2 * v for k, v in options.items() if k not in other}
    found = []
    for lib in (gw, torch):
        pair = _made(lib, name, options), _made(lib, name, other)
        try:
            found.append(lib.distributions.kl_divergence(*pair).detach().numpy())
        except NotImplementedError:
            found.append(None)
    if found[0] is None:
        pytest.skip("no closed form here")
    np.testing.assert_allclose(*found, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("name", "options"), CASES, ids=IDS)
def test_samples_have_the_mean_and_the_shape(name: str, options: dict[str, Any]) -> None:
    gw.manual_seed(0)
    made = _made(gw, name, options)
    samples = made.sample((4000,))
    assert samples.shape == (4000, *made.batch_shape, *made.event_shape)
    assert made.support.check(samples).all()
    mean, deviation = _asked(made, "mean", None), _asked(made, "stddev", None)
    if mean is NotImplementedError or not np.isfinite([mean, deviation]).all():
        return
    np.testing.assert_allclose(samples.numpy().mean(0), mean, atol=8 * deviation.max() / 63)


@pytest.mark.parametrize(
    ("name", "options"), [case for case in CASES if getattr(D, case[0]).has_rsample]
)
def test_rsample_is_differentiable_in_the_parameters(name: str, options: dict[str, Any]) -> None:
    given = {
        k: gw.tensor(v, requires_grad=k != "temperature") if isinstance(v, np.ndarray) else v
        for k, v in options.items()
    }
    getattr(D, name)(**given, validate_args=False).rsample((3,)).sum().backward()
    for key, value in given.items():
        if key != "temperature":
            assert gw.isfinite(value.grad).all(), key


def test_gamma_samples_move_as_their_quantile_does() -> None:
    """dx/da at a fixed quantile, by differences of the quantile itself."""
    special = pytest.importorskip("scipy.special")
    for a, x in ((0.3, 0.2), (2.0, 30.0), (7.9, 24.0), (8.1, 20.0), (100.0, 130.0)):
        quantile = special.gammaincc(a, x)
        step = 1e-5 * a
        ends = [special.gammainccinv(b, quantile) for b in (a + step, a - step)]
        slope = gw.runtime.ops.functions.standard_gamma_grad(
            gw.tensor([a], dtype=gw.float64), gw.tensor([x], dtype=gw.float64)
        )
        assert slope.item() == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6)


def test_independent_and_transformed_and_mixtures() -> None:
    base = D.Normal(gw.zeros(3, 2), gw.ones(3, 2))
    joint = D.Independent(base, 1)
    assert (joint.batch_shape, joint.event_shape) == ((3,), (2,))
    x = gw.randn(3, 2)
    gw.testing.assert_close(joint.log_prob(x), base.log_prob(x).sum(1))
    shifted = D.TransformedDistribution(base, [D.ExpTransform(), D.AffineTransform(1.0, 2.0)])
    value = 1 + 2 * x.exp()
    gw.testing.assert_close(
        shifted.log_prob(value), base.log_prob(x) - x - math.log(2), rtol=1e-4, atol=1e-4
    )
    mixture = D.MixtureSameFamily(
        D.Categorical(gw.tensor([0.25, 0.75])), D.Normal(gw.tensor([0.0, 4.0]), gw.ones(2))
    )
    assert mixture.mean.item() == pytest.approx(3.0)
    assert mixture.sample((5, 2)).shape == (5, 2)


@pytest.mark.parametrize(
    "transform",
    [
        D.ExpTransform(),
        D.SigmoidTransform(),
        D.TanhTransform(),
        D.SoftplusTransform(),
        D.AffineTransform(1.0, -2.0),
        D.ComposeTransform([D.ExpTransform(), D.PowerTransform(0.5)]),
        D.StickBreakingTransform(),
    ],
    ids=repr,
)
def test_transforms_invert_and_know_their_jacobian(transform: D.Transform) -> None:
    x = gw.tensor([0.3, -1.2, 0.8], dtype=gw.float64)
    y = transform(x)
    gw.testing.assert_close(transform.inv(y), x)
    assert transform.codomain.check(y).all()
    jacobian = gw.func.jacrev(lambda x: transform(x)[:3])(x)
    term = transform.log_abs_det_jacobian(x, y).sum()
    gw.testing.assert_close(gw.linalg.slogdet(jacobian).logabsdet, term)


def test_what_is_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="parameter scale"):
        D.Normal(0.0, -1.0)
    with pytest.raises(ValueError, match="within the support"):
        D.Beta(0.5, 0.5).log_prob(gw.tensor(1.5))
    with pytest.raises(ValueError, match="not broadcastable"):
        D.Normal(gw.zeros(3), 1.0).log_prob(gw.zeros(2))
    with pytest.raises(ValueError, match="must be specified"):
        D.Bernoulli()
    with pytest.raises(NotImplementedError):
        D.Bernoulli(0.5).rsample()
    assert D.Normal(0.0, -1.0, validate_args=False).scale.item() == -1.0


def test_expanding_shares_the_parameters() -> None:
    made = D.Gamma(gw.tensor([1.0, 2.0]), 3.0).expand((4, 2))
    assert made.batch_shape == (4, 2)
    assert made.sample((3,)).shape == (3, 4, 2)


def test_a_loss_of_distributions_is_one_graph() -> None:
    def loss(loc: gw.Tensor, scale: gw.Tensor) -> gw.Tensor:
        q = D.Normal(loc, scale, validate_args=False)
        prior = D.Normal(0.0, 1.0, validate_args=False)
        return D.kl_divergence(q, prior).sum() - q.log_prob(loc + 1).sum() + q.entropy().sum()

    given = [gw.rand(4, requires_grad=True) for _ in range(2)]
    expected = loss(*given)
    found = gw.compile(loss, fullgraph=True)(*given)
    gw.testing.assert_close(found, expected)
    for a, b in zip(
        gw.autograd.grad(found, given), gw.autograd.grad(expected, given), strict=True
    ):
        gw.testing.assert_close(a, b)


def test_what_is_computed_without_gradients_has_a_history_later() -> None:
    logits = gw.tensor([0.3, -0.2], requires_grad=True)
    made = D.Bernoulli(logits=logits)
    made.sample()
    assert made.probs.requires_grad
    made.entropy().sum().backward()
    assert logits.grad is not None


def test_a_continuous_bernoulli_has_gradients_on_both_sides() -> None:
    probs = gw.tensor([0.1, 0.5, 0.85], dtype=gw.float64, requires_grad=True)
    assert gw.autograd.gradcheck(
        lambda p: D.ContinuousBernoulli(probs=p).log_prob(gw.full((3,), 0.3, dtype=gw.float64)),
        [probs],
    )


def test_the_nearest_rule_of_divergences_is_taken() -> None:
    class Own(D.Normal):
        pass

    first = D.register_kl(Own, D.Normal)(lambda p, q: gw.tensor(1.0))
    assert D.kl_divergence(Own(0.0, 1.0), D.Normal(0.0, 1.0)).item() == 1.0
    D.register_kl(D.Normal, Own)(lambda p, q: gw.tensor(2.0))
    with pytest.warns(RuntimeWarning, match="Ambiguous"):
        D.kl_divergence(Own(0.0, 1.0), Own(0.0, 1.0))
    D.register_kl(Own, Own)(first)
    assert D.kl_divergence(Own(0.0, 1.0), Own(0.0, 1.0)).item() == 1.0


def test_subclasses_with_a_constructor_say_how_they_expand() -> None:
    class Own(D.Normal):
        def __init__(self, loc: gw.Tensor) -> None:
            super().__init__(loc, 1.0)

    with pytest.raises(NotImplementedError, match=r"custom \.expand"):
        Own(gw.zeros(2)).expand((3, 2))

    class Told(Own):
        def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
            new = self._get_checked_instance(Told, _instance)
            return super().expand(batch_shape, _instance=new)

    assert Told(gw.zeros(2)).expand((3, 2)).sample().shape == (3, 2)


def test_what_a_class_does_not_say_is_not_checked() -> None:
    class Silent(D.Distribution):
        pass

    with pytest.warns(UserWarning, match="arg_constraints"):
        made = Silent()
    with pytest.warns(UserWarning, match="support"):
        made._validate_sample(gw.zeros(()))
    with pytest.warns(FutureWarning, match="sample_n"):
        assert D.Normal(0.0, 1.0).sample_n(3).shape == (3,)


def test_several_components_of_a_mixture() -> None:
    mixture = D.MixtureSameFamily(D.Categorical(gw.ones(3)), D.Normal(gw.zeros(2, 3), 1.0))
    assert mixture.expand((4, 2)).sample((5,)).shape == (5, 4, 2)
    with pytest.raises(ValueError, match="not compatible"):
        D.MixtureSameFamily(D.Categorical(gw.ones(4, 3)), D.Normal(gw.zeros(2, 3), 1.0))


_PAIRS = {
    "Beta": {"concentration1": 0.7, "concentration0": 1.9},
    "ContinuousBernoulli": {"probs": 0.3},
    "Exponential": {"rate": 1.7},
    "Gamma": {"concentration": 2.3, "rate": 0.6},
    "Gumbel": {"loc": 0.4, "scale": 1.2},
    "Laplace": {"loc": -0.3, "scale": 0.8},
    "Normal": {"loc": 0.5, "scale": 1.4},
    "Pareto": {"scale": 0.2, "alpha": 2.6},
    "Uniform": {"low": 0.25, "high": 0.75},
    "Poisson": {"rate": 1.5},
    "Bernoulli": {"probs": 0.4},
    "Weibull": {"scale": 1.5, "concentration": 0.7},
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", _PAIRS)
def test_divergences_between_families_are_pytorchs(name: str) -> None:
    torch = pytest.importorskip("torch")
    for other, options in _PAIRS.items():
        found = []
        for lib in (gw, torch):
            made = [
                getattr(lib.distributions, kind)(
                    **{k: lib.tensor(v, dtype=lib.float64) for k, v in given.items()}
                )
                for kind, given in ((name, _PAIRS[name]), (other, options))
            ]
            try:
                found.append(lib.distributions.kl_divergence(*made).item())
            except NotImplementedError:
                found.append(NotImplementedError)
        assert found[0] == (
            found[1] if found[1] is NotImplementedError else pytest.approx(found[1], abs=1e-9)
        ), other
