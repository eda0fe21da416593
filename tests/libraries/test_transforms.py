"""Transforms of distributions: caches, inverses, equality, shapes; and sets of values."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import graphwright as gw
from graphwright import distributions as D
from graphwright.distributions import constraints, transforms

MADE: dict[str, Any] = {
    "exp": lambda **options: D.ExpTransform(**options),
    "power": lambda **options: D.PowerTransform(2.0, **options),
    "affine": lambda **options: D.AffineTransform(gw.ones(3), gw.ones(3), **options),
    "softmax": lambda **options: D.SoftmaxTransform(**options),
    "reshape": lambda **options: D.ReshapeTransform((3,), (3, 1), **options),
    "independent": lambda **options: D.IndependentTransform(D.ExpTransform(), 1, **options),
    "own probabilities": lambda **options: D.CumulativeDistributionTransform(
        D.Normal(0.0, 1.0), **options
    ),
    "places": lambda **options: D.StackTransform([D.ExpTransform()] * 3, -1, **options),
    "parts": lambda **options: D.CatTransform(
        [D.ExpTransform(), D.TanhTransform()], -1, [1, 2], **options
    ),
}
X = gw.tensor([0.5, 1.5, 2.5])


@pytest.mark.parametrize("name", MADE)
def test_a_cache_gives_back_the_very_value(name: str) -> None:
    cached, plain = MADE[name](cache_size=1), MADE[name]()
    y = cached(X)
    assert cached(X) is y and cached.inv(y) is X
    assert plain.inv(plain(X)) is not X
    assert plain.with_cache(0) is plain
    kept = plain.with_cache()
    assert kept.inv(kept(X)) is X
    assert plain.inv.with_cache().inv.with_cache(0)(X).shape == y.shape


def test_parts_of_a_chain_keep_the_cache() -> None:
    chain = D.ComposeTransform([D.ExpTransform(), D.AffineTransform(1.0, 2.0)], cache_size=1)
    assert chain.inv(chain(X)) is X
    with pytest.raises(ValueError, match="0 or 1"):
        D.ExpTransform(cache_size=2)


def test_the_inverse_of_the_inverse_is_the_transform() -> None:
    chain = D.ComposeTransform([D.ExpTransform(), D.TanhTransform()])
    for transform in (D.ExpTransform(), chain):
        assert transform.inv.inv is transform and transform.inv is transform.inv
        assert transform.inv.sign == 1
    with pytest.raises(NotImplementedError):
        _ = D.SoftmaxTransform().sign


def test_equal_transforms() -> None:
    assert D.ExpTransform() == D.ExpTransform() and D.ExpTransform() != D.TanhTransform()
    assert D.ExpTransform().inv == D.ExpTransform().inv != D.ExpTransform()
    assert D.AffineTransform(0, gw.ones(2)) == D.AffineTransform(0.0, 1)
    assert D.PowerTransform(2) != D.PowerTransform(3)
    assert D.ComposeTransform([D.ExpTransform()]) == D.ComposeTransform([D.ExpTransform()])
    assert D.CorrCholeskyTransform() != D.CorrCholeskyTransform()


def test_copies_are_equal_and_forget_their_inverse() -> None:
    transform = D.PowerTransform(2.0)
    inverse = transform.inv
    for copied in (copy.deepcopy(transform), pickle.loads(pickle.dumps(transform))):
        assert copied == transform and copied.inv is not inverse


def test_dims_and_shapes() -> None:
    assert D.ExpTransform().event_dim == 0
    with pytest.raises(ValueError, match="Please use either"):
        _ = D.ReshapeTransform((4,), (2, 2)).event_dim
    reshape = D.ReshapeTransform((2, 3), (6,))
    assert reshape.forward_shape(gw.Size((5, 2, 3))) == (5, 6)
    with pytest.raises(ValueError, match="Shape mismatch"):
        reshape.forward_shape((5, 3, 2))
    with pytest.raises(ValueError, match="Too few dimensions"):
        D.StickBreakingTransform().forward_shape(())
    assert D.AffineTransform(gw.zeros(3), 1.0).forward_shape((2, 1)) == (2, 3)
    with pytest.raises(AssertionError):
        D.CatTransform([D.ExpTransform()], 0, [2])(X)


def test_a_base_grows_with_the_parameters_of_its_transforms() -> None:
    made = D.TransformedDistribution(
        D.Normal(0.0, 1.0), D.AffineTransform(gw.zeros(3), gw.ones(3))
    )
    assert made.batch_shape == (3,) and made.rsample((2,)).shape == (2, 3)
    assert made.expand((4, 3)).sample().shape == (4, 3)
    with pytest.raises(ValueError, match="size at least 1"):
        D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform())
    scale = gw.ones(3, requires_grad=True)
    sampled = D.TransformedDistribution(D.Normal(0.0, 1.0), D.AffineTransform(0.0, scale))
    assert not sampled.sample().requires_grad and sampled.rsample().requires_grad


@pytest.mark.parametrize("name", ["LogNormal", "Gumbel", "Weibull", "HalfNormal", "InverseGamma"])
def test_named_distributions_know_how_they_are_made(name: str) -> None:
    options = [gw.tensor([0.5, 2.0])] * (1 if name == "HalfNormal" else 2)
    made = getattr(D, name)(*options)
    assert isinstance(made, D.TransformedDistribution)
    plain = D.TransformedDistribution(made.base_dist, made.transforms)
    x = made.sample((4,))
    if all(part.bijective for part in made.transforms):
        gw.testing.assert_close(plain.log_prob(x), made.log_prob(x), rtol=1e-3, atol=1e-4)
    assert made.expand((3, 2)).base_dist.batch_shape == (3, 2)


def test_relaxed_variables_are_transforms_of_their_logits() -> None:
    made = D.RelaxedBernoulli(gw.tensor(0.7), probs=gw.tensor([0.2, 0.6]))
    assert isinstance(made.base_dist, D.LogitRelaxedBernoulli)
    assert made.expand((3, 2)).rsample().shape == (3, 2)
    simplex = D.RelaxedOneHotCategorical(gw.tensor(0.7), probs=gw.tensor([0.2, 0.6, 0.2]))
    assert isinstance(simplex.base_dist, D.ExpRelaxedCategorical)
    assert constraints.simplex.check(simplex.sample((4,))).all()


def test_sets_are_classes_that_registries_know() -> None:
    registry = D.constraint_registry.ConstraintRegistry()
    registry.register(constraints.interval, lambda c: D.AffineTransform(c.lower_bound, 1))
    assert registry(constraints.unit_interval) == D.AffineTransform(0.0, 1)
    with pytest.raises(NotImplementedError):
        registry(constraints.positive)
    assert isinstance(constraints.positive, constraints.greater_than)
    with pytest.raises(NotImplementedError):
        D.biject_to(constraints.positive_definite)
    assert isinstance(
        D.transform_to(constraints.positive_definite), D.PositiveDefiniteTransform
    )


def test_supports_that_depend_on_parameters() -> None:
    support: Any = D.Uniform.support
    assert constraints.is_dependent(support) and support.event_dim == 0
    with pytest.raises(NotImplementedError, match="statically"):
        _ = constraints.dependent.event_dim
    assert constraints.dependent(event_dim=2).event_dim == 2

    class Halves:
        @constraints.dependent_property(is_discrete=True, event_dim=0)
        def support(self) -> Any:
            return constraints.boolean

    assert Halves.support.is_discrete and Halves().support is constraints.boolean
    with pytest.raises(AssertionError):
        constraints.independent(constraints.real, -1)


@pytest.mark.oracle
@pytest.mark.parametrize("name", transforms.__all__)
def test_transforms_say_of_themselves_what_pytorchs_say(name: str) -> None:
    torch = pytest.importorskip("torch")
    given = {
        "AffineTransform": (1.0, -2.0),
        "PowerTransform": (2.0,),
        "ReshapeTransform": ((2, 3), (6,)),
    }
    ours, theirs = getattr(transforms, name), getattr(torch.distributions.transforms, name)
    if name in ("AffineTransform", "PowerTransform", "ReshapeTransform"):
        ours, theirs = ours(*given[name]), theirs(*given[name])
    elif name in ("ComposeTransform", "CatTransform", "StackTransform"):
        parts = [[lib.ExpTransform()] for lib in (transforms, torch.distributions.transforms)]
        ours, theirs = ours(parts[0]), theirs(parts[1])
    elif name in ("IndependentTransform", "CumulativeDistributionTransform", "Transform"):
        pytest.skip("made of another object, or abstract")
    elif name != "identity_transform":
        ours, theirs = ours(), theirs()
    for what in ("bijective", "domain", "codomain", "event_dim", "sign", "inv"):
        assert _said(ours, what) == _said(theirs, what), what


def _said(transform: Any, what: str) -> Any:
    try:
        found = getattr(transform, what)
    except (NotImplementedError, ValueError) as error:
        return type(error)
    return float(found) if hasattr(found, "shape") else repr(found).split(" object at")[0][-40:]
