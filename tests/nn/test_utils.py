"""nn.utils: clipping, vectors of parameters, parametrisations, functional_call, fusion, init."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn
from graphwright.nn.utils import parametrizations, parametrize
from graphwright.nn.utils.stateless import functional_call


def _with_grads(values: list[list[float]]) -> list[nn.Parameter]:
    parameters = [nn.Parameter(gw.zeros(len(v))) for v in values]
    for parameter, value in zip(parameters, values, strict=True):
        parameter.grad = gw.tensor(value)
    return parameters


def test_clip_grad_norm() -> None:
    parameters = [*_with_grads([[3.0, 0.0], [4.0]]), nn.Parameter(gw.zeros(1))]
    assert nn.utils.clip_grad_norm_(parameters, 1.0).item() == 5.0
    clipped = [p.grad.tolist() for p in parameters if p.grad is not None]
    np.testing.assert_allclose(np.concatenate(clipped), [0.6, 0.0, 0.8], rtol=1e-5)
    assert nn.utils.clip_grad_norm_(_with_grads([[3.0, -7.0]]), 1.0, float("inf")).item() == 7.0
    small = _with_grads([[0.1]])
    nn.utils.clip_grad_norm_(small, 1.0)
    assert small[0].grad is not None and small[0].grad.item() == pytest.approx(0.1)
    with pytest.raises(RuntimeError, match="non-finite"):
        nn.utils.clip_grad_norm_(_with_grads([[float("nan")]]), 1.0, error_if_nonfinite=True)


def test_a_generator_that_has_been_used_is_warned_of() -> None:
    layer = nn.Linear(2, 2)
    parameters = layer.parameters()
    assert len(list(parameters)) == 2
    with pytest.warns(UserWarning, match="empty generator"):
        nn.utils.clip_grad_norm_(parameters, 1.0)
    layer(gw.ones(1, 2)).sum().backward()
    clip = gw.compile(lambda: nn.utils.clip_grad_norm_(layer.parameters(), 1.0), fullgraph=True)
    assert clip().item() == pytest.approx(6**0.5)


def test_spectral_norm_needs_the_name_of_a_tensor() -> None:
    with pytest.raises(ValueError, match="no parameter or buffer with name 'other'"):
        parametrizations.spectral_norm(nn.Linear(2, 2), "other")


def test_clip_grad_value() -> None:
    parameters = _with_grads([[3.0, -0.5], [-4.0]])
    nn.utils.clip_grad_value_(parameters, 1.0)
    assert [p.grad.tolist() for p in parameters if p.grad is not None] == [[1.0, -0.5], [-1.0]]


def test_parameters_as_one_vector() -> None:
    model = nn.Linear(2, 3)
    vector = nn.utils.parameters_to_vector(model.parameters())
    assert vector.shape == (9,)
    nn.utils.vector_to_parameters(gw.arange(9, dtype=gw.float32), model.parameters())
    assert model.weight.tolist() == [[0, 1], [2, 3], [4, 5]] and model.bias.tolist() == [6, 7, 8]


class Symmetric(nn.Module):
    """The symmetric matrix with this upper triangle."""

    def forward(self, x: gw.Tensor) -> gw.Tensor:
        return gw.triu(x) + gw.triu(x, 1).T

    def right_inverse(self, value: gw.Tensor) -> gw.Tensor:
        return gw.triu(value)


def test_a_parametrisation_is_computed_at_every_access() -> None:
    layer = nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert parametrize.is_parametrized(layer, "weight")
    assert type(layer).__name__ == "ParametrizedLinear" and isinstance(layer, nn.Linear)
    assert gw.equal(layer.weight, layer.weight.T)
    assert set(layer.state_dict()) == {"bias", "parametrizations.weight.original"}
    layer(gw.ones(1, 3)).sum().backward()
    original = layer.parametrizations.weight.original
    assert original.grad is not None and gw.equal(original.grad, gw.triu(original.grad))
    layer.weight = gw.eye(3)
    assert gw.equal(layer.weight, gw.eye(3))
    with parametrize.cached():
        assert layer.weight is layer.weight
    other = copy.deepcopy(layer)
    with gw.no_grad():
        other.parametrizations.weight.original.zero_()
    assert layer.weight.sum().item() == 3 and other.weight.sum().item() == 0
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and set(layer.state_dict()) == {"weight", "bias"}
    assert gw.equal(layer.weight, gw.eye(3))


def test_parametrisations_that_are_refused() -> None:
    class Wider(nn.Module):
        def forward(self, x: gw.Tensor) -> gw.Tensor:
            return gw.cat([x, x])

    with pytest.raises(ValueError, match="may not change the shape of the tensor"):
        parametrize.register_parametrization(nn.Linear(2, 2), "weight", Wider())
    with pytest.raises(ValueError, match="does not have a parameter"):
        parametrize.register_parametrization(nn.Linear(2, 2), "weights", Symmetric())


@pytest.mark.oracle
@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm_against_torch(dim: int | None) -> None:
    torch = pytest.importorskip("torch")
    theirs = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 4), dim=dim)
    ours = parametrizations.weight_norm(nn.Linear(3, 4), dim=dim)
    state = {k: gw.from_numpy(v.numpy().copy()) for k, v in theirs.state_dict().items()}
    assert ours.load_state_dict(state) == ([], [])
    x = np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32)
    want, got = theirs(torch.from_numpy(x)), ours(gw.from_numpy(x))
    np.testing.assert_allclose(got.detach().numpy(), want.detach().numpy(), atol=1e-6)
    want.square().sum().backward()
    (got * got).sum().backward()
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), atol=1e-5)


def test_spectral_norm_bounds_the_largest_singular_value() -> None:
    layer = parametrizations.spectral_norm(nn.Linear(8, 6), n_power_iterations=30)
    assert np.linalg.norm(layer.weight.detach().numpy(), 2) == pytest.approx(1.0, abs=1e-3)
    layer(gw.randn(2, 8)).sum().backward()
    assert layer.parametrizations.weight.original.grad is not None


def test_spectral_norm_of_a_derived_transposed_convolution_is_by_its_outputs() -> None:
    class Upsampling(nn.ConvTranspose2d):
        pass

    for normed in (parametrizations.spectral_norm, nn.utils.spectral_norm):
        layer = normed(Upsampling(3, 5, 2))
        sizes = {name.rsplit(".", 1)[-1]: b.numel() for name, b in layer.named_buffers()}
        assert sizes.get("_u", sizes.get("weight_u")) == 5


def test_functional_call() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    given = {k: gw.ones_like(v).requires_grad_() for k, v in model.named_parameters()}
    kept = {k: v.clone() for k, v in model.state_dict().items()}
    out = functional_call(model, given, (gw.ones(1, 2),))
    assert out.item() == 7.0
    out.sum().backward()
    assert given["0.weight"].grad is not None and model[0].weight.grad is None
    assert all(gw.equal(v, kept[k]) for k, v in model.state_dict().items())
    assert functional_call(model, {"nothing": gw.ones(1)}, (gw.ones(1, 2),)).shape == (1, 1)
    assert not hasattr(model, "nothing")
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\): 'nothing'"):
        functional_call(model, given | {"nothing": gw.ones(1)}, (gw.ones(1, 2),), strict=True)
    with pytest.raises(RuntimeError, match="Missing key"):
        functional_call(model, {"0.bias": gw.ones(2)}, (gw.ones(1, 2),), strict=True)


def test_functional_call_of_tied_weights() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = nn.Parameter(gw.zeros(1))
            self.b = self.a

        def forward(self, x: gw.Tensor) -> gw.Tensor:
            return x + self.a + 10 * self.b

    assert functional_call(Tied(), {"a": gw.ones(1)}, (gw.zeros(1),)).item() == 11
    apart = functional_call(Tied(), {"a": gw.ones(1)}, (gw.zeros(1),), tie_weights=False)
    assert apart.item() == 1


def test_functional_call_under_compile() -> None:
    model = nn.Linear(2, 2)

    def call(weights: dict[str, Any], x: gw.Tensor) -> gw.Tensor:
        return functional_call(model, weights, (x,))

    weights = {"weight": gw.ones(2, 2), "bias": gw.zeros(2)}
    assert gw.compile(call)(weights, gw.ones(1, 2)).tolist() == [[2.0, 2.0]]


def test_fusing_batch_norm() -> None:
    conv, norm = nn.Conv2d(3, 4, 3).double(), nn.BatchNorm2d(4).double()
    x = gw.randn(5, 3, 6, 6, dtype=gw.float64)
    norm(conv(x))
    conv.eval()
    norm.eval()
    fused = nn.utils.fuse_conv_bn_eval(conv, norm)
    np.testing.assert_allclose(
        fused(x).detach().numpy(), norm(conv(x)).detach().numpy(), atol=1e-12
    )


def test_skip_init_makes_the_same_layer_without_drawing() -> None:
    state = gw.get_rng_state()
    layer = nn.utils.skip_init(nn.Linear, 3, 4)
    assert repr(layer) == repr(nn.Linear(3, 4)) and layer.weight.device.type == "cpu"
    gw.set_rng_state(state)


def test_initial_values() -> None:
    square = nn.init.orthogonal_(gw.empty(6, 4, dtype=gw.float64), gain=2)
    np.testing.assert_allclose((square.T @ square).numpy(), 4 * np.eye(4), atol=1e-9)
    sparse = nn.init.sparse_(gw.empty(10, 6), 0.3)
    assert ((sparse == 0).sum(0) == 3).all().item()
    dirac = nn.init.dirac_(gw.empty(4, 4, 3))
    x = gw.randn(1, 4, 8)
    assert gw.allclose(nn.functional.conv1d(x, dirac, padding=1), x)
    cut = nn.init.trunc_normal_(gw.empty(2000), std=1.0, a=-1.0, b=0.5)
    assert cut.min().item() >= -1.0 and cut.max().item() <= 0.5
    generator = gw.Generator().manual_seed(3)
    first = nn.init.normal_(gw.empty(4), generator=generator)
    assert gw.equal(first, nn.init.normal_(gw.empty(4), generator=generator.manual_seed(3)))


class Doubled(nn.Module):
    """Twice the original."""

    def forward(self, x: gw.Tensor) -> gw.Tensor:
        return 2 * x

    def right_inverse(self, x: gw.Tensor) -> gw.Tensor:
        return x / 2


def test_optimisers_go_on_training_what_is_parametrised() -> None:
    layer = nn.Linear(2, 2)
    weight, before = layer.weight, layer.weight.detach().clone()
    parametrize.register_parametrization(layer, "weight", Doubled())
    assert layer.parametrizations.weight.original is weight
    gw.testing.assert_close(layer.weight.detach(), before)
    parametrize.remove_parametrizations(layer, "weight")
    assert layer.weight is weight


def test_values_assigned_to_what_is_parametrised_keep_the_dtype() -> None:
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Doubled())
    with pytest.raises(ValueError, match="dtype"):
        layer.weight = gw.ones(2, 2, dtype=gw.float64)


def test_transferred_parametrisations_are_shared() -> None:
    source, target = nn.Linear(2, 2), nn.Linear(2, 2)
    parametrize.register_parametrization(source, "weight", Doubled())
    parametrize.transfer_parametrizations_and_params(source, target)
    ours, theirs = source.parametrizations.weight, target.parametrizations.weight
    assert ours.original is theirs.original and ours[0] is theirs[0]


def test_state_of_the_older_weight_norm_loads() -> None:
    older = nn.utils.weight_norm(nn.Linear(3, 2))
    newer = parametrizations.weight_norm(nn.Linear(3, 2))
    newer.load_state_dict(older.state_dict())
    x = gw.ones(1, 3)
    gw.testing.assert_close(newer(x), older(x))


def test_functions_of_state_take_dicts() -> None:
    for given in ([3], [{"weight": gw.ones(1, 2)}, "bias"]):
        with pytest.raises(ValueError, match="to be dictionaries"):
            functional_call(nn.Linear(2, 1), given, (gw.ones(1, 2),))


@pytest.mark.parametrize("dtype", [gw.int64, gw.bool, gw.complex64])
def test_cut_normals_are_floating(dtype: gw.dtype) -> None:
    """Integers were filled with what was left of the numbers."""
    with pytest.raises(NotImplementedError, match="trunc_normal_"):
        nn.init.trunc_normal_(gw.zeros(3, dtype=dtype))
