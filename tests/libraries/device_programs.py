"""Programs of the libraries whose results are to be on the device of what they are given."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import graphwright as gw
import graphwright.nn.attention.bias
import graphwright.nn.attention.flex_attention
import graphwright.nn.grad

from ..optim.test_optim import OPTIONS
from ..runtime.samples.sample import Arr

nn, optim, vmap = gw.nn, gw.optim, gw.func.vmap
F = nn.functional
once, twice = gw.autograd.functional, gw.func


class Program(NamedTuple):
    """run(*tensors of the values of `inputs`) gives tensors, in tuples and lists.

    needs_values: it reads values of tensors, or puts lists of numbers on the device.
    """

    run: Callable[..., Any]
    inputs: tuple[Arr, ...]
    needs_values: bool = False


def floats(*shape: int) -> Arr:
    return Arr(shape)


def indices(high: int, *shape: int) -> Arr:
    return Arr(shape, 0, high, "index")


# -- optimisers


def _steps(kind: Any, options: dict[str, Any]) -> Callable[..., Any]:
    """Two parameters after two steps, and the state of more than numbers."""
    def run(p: Any, q: Any) -> Any:
        params = [t.detach().clone().requires_grad_() for t in (p, q)]
        for param in params:
            param.grad = param.detach() * 0.5
        optimizer = kind(params, **options)
        for _ in range(2):
            optimizer.step()
        state = [value for of_param in optimizer.state.values() for value in of_param.values()
                 if isinstance(value, gw.Tensor) and value.ndim]
        return [param.detach() for param in params], state

    return run


def _optimisers() -> dict[str, Program]:
    inputs = floats(3, 4), floats(5)
    programs = {"adafactor": Program(_steps(optim.Adafactor, {}), inputs, True),
                "sgd fused": Program(_steps(optim.SGD, {"lr": 0.1, "fused": True}), inputs)}
    for name, (kind, options) in OPTIONS.items():
        programs[name] = Program(_steps(getattr(optim, kind), options), inputs)
        together = {**options, "foreach": True}
        programs[f"{name} foreach"] = Program(_steps(getattr(optim, kind), together), inputs)
    return {f"optim {name}": program for name, program in programs.items()}


def _closures(p: Any) -> Any:
    param = p.detach().clone().requires_grad_()
    optimizer = optim.LBFGS([param], max_iter=3)

    def loss() -> Any:
        optimizer.zero_grad()
        value = (param.cosh() - param).sum()
        value.backward()
        return value

    return optimizer.step(loss), param.detach()


def _averaged(p: Any) -> Any:
    layer = _layer(p)
    average = optim.swa_utils.AveragedModel(layer)
    average.update_parameters(layer)
    average.update_parameters(layer)
    return [t.detach() for t in average.module.parameters()]


# -- modules' helpers


def _layer(weight: Any) -> Any:
    """A Linear without bias of that weight."""
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=False, device=weight.device)
    layer.weight = nn.Parameter(weight.detach().clone())
    return layer


def _changed(change: Callable[[Any], Any]) -> Program:
    """A Linear after `change`, called; and all its parameters and buffers."""
    def run(weight: Any, x: Any) -> Any:
        layer = _layer(weight)
        changed = change(layer)
        out = (changed if isinstance(changed, nn.Module) else layer)(x)
        return out.detach(), [t.detach() for t in layer.state_dict().values()]

    return Program(run, (floats(3, 4), floats(2, 4)), True)


def _clipped(p: Any, q: Any) -> Any:
    params = [t.detach().requires_grad_() for t in (p, q)]
    for param in params:
        param.grad = param.detach() * 3
    norm = nn.utils.clip_grad_norm_(params, 1.0)
    nn.utils.clip_grad_value_(params, 0.1)
    return norm, nn.utils.get_total_norm([p, q], 3.0), [param.grad for param in params]


def _packed(steps: Any) -> Any:
    packed = nn.utils.rnn.pack_padded_sequence(steps, gw.tensor([2, 4, 1]), enforce_sorted=False)
    padded, lengths = nn.utils.rnn.pad_packed_sequence(packed)
    assert lengths.tolist() == [2, 4, 1] and lengths.device.type == "cpu"
    return packed.data, packed.sorted_indices, padded, nn.utils.rnn.unpack_sequence(packed)


def _initialised(name: str, *rest: Any) -> Program:
    shape = (3, 4, 2) if name == "dirac_" else (3, 4)
    return Program(lambda x: getattr(nn.init, name)(x.clone(), *rest), (floats(*shape),))


PRUNE, PARAMETRIZE = nn.utils.prune, nn.utils.parametrizations
_UTILITIES: dict[str, Program] = {
    **{f"init.{name}": _initialised(name) for name in (
        "dirac_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_", "orthogonal_",
        "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_")},
    "init.constant_": _initialised("constant_", 2.0),
    "init.sparse_": _initialised("sparse_", 0.5),
    "clip_grad": Program(_clipped, (floats(3, 4), floats(5))),
    "parameters_to_vector": Program(
        lambda p, q: nn.utils.parameters_to_vector([p, q]), (floats(3, 4), floats(5))),
    "prune.random_unstructured": _changed(
        lambda m: PRUNE.random_unstructured(m, "weight", 0.5)),
    "prune.l1_unstructured": _changed(lambda m: PRUNE.l1_unstructured(m, "weight", 0.5)),
    "prune.random_structured": _changed(lambda m: PRUNE.random_structured(m, "weight", 0.5, 0)),
    "prune.ln_structured": _changed(lambda m: PRUNE.ln_structured(m, "weight", 0.5, 2, 0)),
    "prune.global_unstructured": _changed(lambda m: PRUNE.global_unstructured(
        [(m, "weight")], PRUNE.L1Unstructured, amount=0.5)),
    "parametrizations.weight_norm": _changed(PARAMETRIZE.weight_norm),
    "parametrizations.spectral_norm": _changed(PARAMETRIZE.spectral_norm),
    **{f"parametrizations.orthogonal {kind}": _changed(
        lambda m, kind=kind: PARAMETRIZE.orthogonal(m, orthogonal_map=kind))
       for kind in ("matrix_exp", "cayley", "householder")},
    "weight_norm": _changed(nn.utils.weight_norm),
    "spectral_norm": _changed(nn.utils.spectral_norm),
    "copies": _changed(copy.deepcopy),
    "rnn.pack_padded_sequence": Program(_packed, (floats(4, 3, 2),), True),
    "rnn.pad_sequence": Program(
        lambda x, y: nn.utils.rnn.pad_sequence([x, y]), (floats(3, 4), floats(2, 4))),
    "nn.grad": Program(
        lambda x, w, g: (nn.grad.conv1d_input((2, 3, 6), w, g),
                         nn.grad.conv1d_weight(x, (4, 3, 3), g)),
        (floats(2, 3, 6), floats(4, 3, 3), floats(2, 4, 4))),
    "optim lbfgs": Program(_closures, (floats(5),), True),
    "optim swa": Program(_averaged, (floats(3, 4),), True),
}


# -- functions of nn


_FUNCTIONS: dict[str, Program] = {
    "gumbel_softmax": Program(lambda x: F.gumbel_softmax(x, hard=True), (floats(3, 4),)),
    "one_hot": Program(lambda i: F.one_hot(i, 5), (indices(5, 3),)),
    "affine_grid": Program(lambda x: F.affine_grid(x, (2, 3, 4, 1)), (floats(2, 2, 3),)),
    "grid_sample": Program(F.grid_sample, (floats(2, 3, 4, 5), floats(2, 4, 5, 2))),
    "fractional_max_pool2d": Program(
        lambda x: F.fractional_max_pool2d(x, 2, output_size=3), (floats(2, 3, 7, 7),)),
    "scaled_dot_product_attention": Program(
        lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True, dropout_p=0.1),
        (floats(2, 2, 4, 8),)),
    "causal_lower_right": Program(
        lambda x, y: F.scaled_dot_product_attention(
            x, y, y, attn_mask=nn.attention.bias.causal_lower_right(3, 4)),
        (floats(2, 2, 3, 8), floats(2, 2, 4, 8))),
    "flex_attention": Program(
        lambda x: nn.attention.flex_attention.flex_attention(
            x, x, x, score_mod=lambda score, b, h, q, k: score + (q - k)), (floats(1, 2, 4, 8),)),
    "linear_cross_entropy": Program(
        F.linear_cross_entropy, (floats(3, 4), floats(5, 4), indices(5, 3))),
    "ctc_loss": Program(
        lambda x, y, n: F.ctc_loss(x, y, n.cpu() + 5, n + 1),
        (Arr((6, 2, 4), -3.0, -0.1), Arr((2, 2), 1, 4, "index"), indices(2, 2)), True),
    "grouped_mm": Program(
        lambda x, w: F.grouped_mm(x.bfloat16(), w.bfloat16(), offs=gw.arange(
            2, 7, 4, dtype=gw.int32, device=x.device)), (floats(6, 8), floats(2, 8, 8))),
    "istft": Program(
        lambda x: gw.istft(gw.stft(x, 8, return_complex=True), 8, length=32), (floats(32),), True),
    "stft": Program(lambda x: gw.stft(x, 8, return_complex=True).abs(), (floats(32),)),
    "cdist": Program(gw.cdist, (floats(3, 4), floats(5, 4))),
    "cov": Program(lambda x: (gw.cov(x), gw.corrcoef(x)), (floats(3, 5),)),
    "searchsorted of a number": Program(
        lambda x: gw.searchsorted(x.abs().cumsum(0), 0.5), (floats(4),)),
    "combinations": Program(gw.combinations, (floats(4),)),
    "svd_lowrank": Program(lambda x: gw.svd_lowrank(x, 2)[1], (floats(5, 4),)),
}


def _transformed(name: str) -> Program:
    """A transform of real numbers, or of complex ones with these parts, and its gradient."""
    def run(x: Any) -> Any:
        leaf = x.detach().requires_grad_()
        given = leaf if name[0] == "r" or name[:2] == "ih" else gw.complex(leaf, leaf * 2)
        out = getattr(gw.fft, name)(given)
        parts = gw.view_as_real(out) if out.is_complex() else out
        return parts.detach(), gw.autograd.grad((parts * parts).sum(), leaf)

    return Program(run, (floats(4, 6),))


_TRANSFORMS = {f"fft.{name}": _transformed(name) for name in (
    "fft", "fft2", "fftn", "ifft", "ifft2", "ifftn", "rfft", "rfft2", "rfftn", "irfft", "irfft2",
    "irfftn", "hfft", "hfft2", "hfftn", "ihfft", "ihfft2", "ihfftn", "fftshift", "ifftshift")}
_DRAWS = {name: Program(lambda x, name=name, rest=rest: getattr(x.clone(), name)(*rest),
                        (floats(3, 4),)) for name, rest in (
    ("bernoulli_", (0.3,)), ("cauchy_", ()), ("exponential_", ()), ("geometric_", (0.4,)),
    ("log_normal_", ()), ("normal_", ()), ("random_", (3, 90)), ("uniform_", ()))}


# -- derivatives and vmap


def _wave(x: Any) -> Any:
    return (x.sin() * x).sum()


_DERIVATIVES: dict[str, Program] = {
    "func.grad": Program(twice.grad(_wave), (floats(4),)),
    "func.jacrev": Program(twice.jacrev(gw.sin), (floats(4),)),
    "func.jacfwd": Program(twice.jacfwd(gw.sin), (floats(4),)),
    "func.hessian": Program(twice.hessian(_wave), (floats(4),)),
    "func.jvp": Program(lambda x, y: twice.jvp(gw.sin, (x,), (y,)), (floats(4), floats(4))),
    "func.vjp": Program(lambda x, y: twice.vjp(gw.sin, x)[1](y), (floats(4), floats(4))),
    "func.linearize": Program(
        lambda x, y: twice.linearize(gw.sin, x)[1](y), (floats(4), floats(4))),
    "functional.jacobian": Program(lambda x: once.jacobian(gw.sin, x), (floats(4),)),
    "functional.jacobian at once": Program(
        lambda x: once.jacobian(gw.sin, x, vectorize=True), (floats(4),)),
    "functional.hessian": Program(lambda x: once.hessian(_wave, x), (floats(4),)),
    "functional.hvp": Program(lambda x, y: once.hvp(_wave, x, y), (floats(4), floats(4))),
    "functional.vhp": Program(lambda x, y: once.vhp(_wave, x, y), (floats(4), floats(4))),
    "functional.jvp": Program(lambda x, y: once.jvp(gw.sin, x, y), (floats(4), floats(4))),
    "functional.vjp": Program(lambda x, y: once.vjp(gw.sin, x, y), (floats(4), floats(4))),
}
_ROWS, _OF_ROWS = floats(3, 4), indices(4, 3, 2)
_MAPPED: dict[str, Program] = {
    "sums": Program(vmap(lambda x: (x * x).sum()), (_ROWS,)),
    "columns": Program(vmap(lambda x: x + 1, in_dims=1, out_dims=1), (_ROWS,)),
    "index": Program(vmap(lambda x, i: x[i]), (_ROWS, _OF_ROWS)),
    "gather": Program(vmap(lambda x, i: x.gather(0, i)), (_ROWS, _OF_ROWS)),
    "index_select": Program(vmap(lambda x, i: x.index_select(0, i)), (_ROWS, _OF_ROWS)),
    "index_add": Program(
        vmap(lambda x, i, y: x.index_add(0, i, y)), (_ROWS, _OF_ROWS, floats(3, 2))),
    "index_put": Program(
        vmap(lambda x, i, y: x.index_put((i,), y)), (_ROWS, indices(4, 3, 1), floats(3, 1))),
    "searchsorted": Program(
        vmap(lambda x, y: gw.searchsorted(x.abs().cumsum(0), y)), (_ROWS, floats(3, 2))),
    "searchsorted of a number": Program(
        vmap(lambda x: gw.searchsorted(x.abs().cumsum(0), 0.5)), (_ROWS,)),
    "random numbers": Program(
        vmap(lambda x: x + gw.rand_like(x), randomness="different"), (_ROWS,)),
    "cross_entropy": Program(vmap(F.cross_entropy), (floats(3, 2, 4), _OF_ROWS)),
    "one example at a time": Program(vmap(lambda x: gw.linalg.svdvals(x)), (floats(2, 3, 3),)),
}

PROGRAMS = {**_optimisers(), **_UTILITIES, **_FUNCTIONS, **_TRANSFORMS, **_DRAWS, **_DERIVATIVES,
            **{f"vmap {name}": program for name, program in _MAPPED.items()}}
