"""Which arguments go together: PyTorch 2.13's overloads, and what counts as one of them.

Each line is a program for both libraries, which `lib` stands for; `x` is a matrix of floats and
`i` of ints, `b` a vector of bools, `n` a tensor without dimensions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw

TAKEN = """
x.clamp(n, 3)
x.clamp(1, n)
x.clamp(n, None)
x.clamp(None, x)
i.to(lib.int32).clamp(lib.tensor(1), 3)
i.to(lib.int32)[0, 0].clamp(lib.tensor(1), 3)
i.clamp(lib.tensor(1.5), 3)
x.clone().clamp_(1, n)
lib.add(x, n, 2)
lib.add(x, n, n)
lib.sub(x, 3, n)
x.add(n, 2)
x.clone().sub_(n, 2)
lib.max(x, lib.tensor(0), True)[0]
lib.min(x, lib.tensor(1))
lib.max(x, lib.tensor(1), False)[0]
lib.max(x, other=x + 1)
x.min(other=n)
lib.sub(1.0, 2.0, 3)
lib.subtract(x, 2, 3)
lib.subtract(x, n, 3)
x.clone().subtract_(1, 2)
lib.rsub(x, 1, 2)
lib.rsub(x, n, alpha=2)
lib.unsafe_split(x, 1)[1]
x.unsafe_split(2, 1)[1]
x.histc(lib.tensor(2))
lib.bernoulli(x, n - 1.5)
lib.normal(x.half(), x * 0).float()
lib.nn.functional.rms_norm(x + 1j, [3]).real
lib.histc(x, lib.tensor(3, dtype=lib.int32), 0, 6)
x.roll(lib.tensor(1), lib.tensor(1))
lib.ldexp(i, x > 1)
x.to(True)
i.to(0.5)
x.to("cpu", lib.int32)
x.resize(3, 2)
lib.arange(end=3)
lib.repeat_interleave(i[0])
lib.nn.functional.mse_loss(x, x + 1, None, 0)
lib.nn.functional.mse_loss(x, x + 1, 0, 1)
lib.nn.functional.soft_margin_loss(x, x[0])
x.contiguous(memory_format=lib.contiguous_format)
x[:1].squeeze(0, 1)
x[:1].clone().squeeze_(0, 1)
x.hsplit(1, 2)[1]
x.hsplit(lib.tensor(3, dtype=lib.int32))[1]
x.vsplit(1)[0]
x[None].dsplit(1, 2)[2]
lib.linalg.pinv(x, 0.1, False)
lib.linalg.matrix_rank(x, 0.1, False)
lib.linalg.matrix_rank(x, n)
lib.tensordot(x, x, [[1], [1]])
lib.split_copy(x, 1)[1]
lib.eye(lib.tensor(2))
lib.isin(i, 2)
lib.movedim(x, lib.tensor(0), 1)
lib.hsplit(x, lib.tensor(3))[1]
lib.tensor_split(x, lib.tensor([1, 2]), 1)[1]
lib.roll(x, lib.tensor(1))
x.repeat_interleave(lib.tensor([1, 2]), 0)
lib.view_copy(x, lib.int32)
lib.view_copy(x, (3, 2))
lib.quantile(x, n - 1)
x.norm(n)
lib.fft.fftfreq(4, 0.0)
lib.fft.rfftfreq(0)
lib.logit(x / 5, float("nan"))
lib.nn.functional.layer_norm(x.half(), (3,), x[0], x[1]).float()
lib.nn.functional.group_norm(x.bfloat16(), 1, x[0]).float()
lib.nn.functional.rms_norm(x, (3,), x[0].double())
lib.nn.functional.batch_norm(x.half(), x[0], x[1], x[1]).float()
"""
REFUSED = {
    TypeError: """
x.clamp(x, 3)
x.clamp(1, x)
x.clamp(n.clone().requires_grad_(), 3)
x.clone().clamp_(1, x)
lib.add(2, x, x)
lib.addmm(x, 2, x, lib.eye(3))
lib.addr(lib.eye(2), 2, x[0, :2], x[1, :2])
x.add(x, 2)
lib.add(x, n.clone().requires_grad_(), 2)
lib.max(x, x, True)
lib.max(x, i, False)
x.min(i, keepdim=False)
x.max(n, False)
x.max(0, other=x)
x.max(other=x, keepdim=True)
lib.unbind(x, 0, 1)
x.chunk(2, 0, 1)
x.sum(None, False, 0)
lib.sum(x, None, False, 0)
lib.nanmean(x, None, True, -1)
lib.subtract(x, 2, x)
lib.subtract(x, x, 2)
x.subtract(2, x)
x.clone().subtract_(2, x)
lib.rsub(x, x, 2)
lib.unsafe_split(x, [1, 1])
x.unsafe_split((1, 1))
x[:1].squeeze(0, dim=0)
lib.randint(3, 5)
lib.bernoulli(x / 9, x / 9)
x.bernoulli("a")
lib.rms_norm(x, 3)
lib.linalg.tensorsolve(x, x, 0)
lib.nn.functional.rms_norm(x + 1j, x)
lib.nn.functional.silu(1j)
lib.nn.functional.unfold((), 2)
lib.nn.functional.nll_loss(x, 2.0, 2.0)
lib.nn.functional.ctc_loss([x], i, 2, 2)
lib.nn.functional.ctc_loss(x, i[0], 2.0, 2)
x.is_set_to([1])
x.to(x, x)
x.type(x)
x.type(2.0)
x.to(True, x)
b.fill_(lib.bool)
x.to(x, n)
x.type(lib.int64, ())
x.contiguous(lib.contiguous_format)
x.contiguous(memory_format=None)
x.copy_(x, None)
x.is_pinned(x)
i[0].repeat_interleave()
lib.repeat_interleave(i[0], None)
lib.arange(1, None)
lib.arange(i[0, 0], None)
lib.arange(start=1, end=None)
lib.embedding(x, i % 2, lib.bool)
lib.zeros(0, 3).roll(lib.bool)
lib.broadcast_tensors([x, x])
lib.unravel_index(i, lib.tensor([2, 3]))
lib.can_cast(x, x)
lib.can_cast(lib.int32, 3)
lib.set_autocast_enabled(x, False)
lib.set_autocast_cache_enabled(1)
lib.nn.functional.gaussian_nll_loss(x, x, 1)
lib.hsplit(x, 1, 2)
x.dsplit()
lib.movedim(x, (0,), 1)
lib.movedim(x, 0, (1,))
lib.movedim(x, x, 1)
lib.linalg.pinv(x, [1.0])
lib.linalg.matrix_rank(x, "a")
lib.linalg.matrix_rank(x, 1j)
lib.tensordot(x, x, [1, 1])
lib.split_copy(x, [1, 1])
lib.hsplit(x, lib.tensor([1, 2]))
lib.roll(x, n)
lib.roll(x, lib.tensor([1, 1]))
lib.fft.fft2(x, n)
x.repeat_interleave([1, 2])
lib.eye(n)
lib.fft.fftfreq(n)
lib.triu_indices(n, 2)
lib.isin(x, (1, 2))
lib.searchsorted(x[0], (3, 2))
lib.embedding(x, i % 2, (2, 3))
lib.aminmax(x, 0)
lib.linalg.cross(x, x, 1)
lib.linalg.vecdot(x, x, 1)
lib.trapezoid(x, None)
lib.cumulative_trapezoid(x, x, 1)
lib.where(x > 0, None)
lib.where(x > 0, x, None)
lib.isin(x, None)
lib.linalg.pinv(x, None)
lib.linalg.matrix_rank(x, tol=None)
lib.quantile(x, [0.5])
lib.quantile(i, "a")
x.norm(x)
x.norm([1])
lib.linalg.norm(x, x)
lib.linalg.matrix_norm(x, (1,))
lib.linalg.cond(x, x)
lib.std(i, x)
lib.view_copy(x, 6)
x.permute(x)
lib.permute(x, ([0, 1],))
lib.nn.functional.adaptive_avg_pool2d(x, n)
lib.nn.functional.binary_cross_entropy_with_logits(x, x, 1)
""",
    NotImplementedError: """
lib.nn.functional.max_pool1d(i, 2)
lib.ldexp(x, x > 1)
(x + 1j).remainder(0)
(x + 1j).fmod(0)
lib.floor_divide(x + 1j, 0)
lib.cumsum(x, 0, dtype=lib.bool)
lib.cumprod(i, 1, dtype=lib.bool)
lib.histogram(x.half(), 3)
""",
    RuntimeError: """
x.logsumexp(())
lib.zeros(()).expand(2).fill_(n)
(x + 1j).abs_()
lib.cdist(x, x, float("nan"))
lib.nn.functional.rms_norm(x + 1j, [0, 1])
x.clone().add_(1j)
x.clone().mul_(1j)
x[0].detach_()
lib.ormqr(x.T, x[0, :2].double(), x.T)
lib.special.logsumexp(x, ())
x.resize((-1,))
lib.broadcast_shapes(n, (2, 3))
lib.linalg.tensorinv(n)
lib.nn.functional.kl_div(x, x, None, x)
lib.nn.functional.soft_margin_loss(x[0], x)
x.clone().sub_(True, 2)
x.clone().add_(x, alpha=True)
lib.isin(i, False)
lib.isin(i, 1j)
lib.linalg.vander(b)
lib.linalg.vander(x.half())
x.permute(0)
lib.linalg.pinv(x, x + 1j)
lib.linalg.matrix_rank(x[:0], x + 1j)
lib.nn.functional.pdist(x, float("nan"))
lib.nn.functional.layer_norm(x, (3,), x[0].double())
lib.nn.functional.layer_norm(x, (3,), None, x[0].half())
lib.nn.functional.layer_norm(x.half(), (3,), x[0], x[0].half())
lib.nn.functional.layer_norm(x.double(), (3,), x[0])
lib.nn.functional.group_norm(x, 1, i[0])
lib.nn.functional.batch_norm(x, x[0], x[1], x[0].double())
lib.nn.functional.batch_norm(x, x[0].double(), x[1].double())
lib.nn.functional.instance_norm(x[None], None, None, x[:, 0].double())
lib.nn.functional.multi_margin_loss(x, i[:, 0].int())
lib.nn.functional.multilabel_margin_loss(x, x > 0)
lib.trapezoid(x, x > 0)
lib.cumulative_trapezoid(x, x > 0)
b.clamp_min(False)
b.clamp_max(True)
""",
    ValueError: """
lib.nn.functional.cross_entropy(x, x[:1])
lib.nn.functional.embedding_bag(i, x[0])
lib.tensordot(x, x, [1])
""",
}
LIBRARIES = ["graphwright", pytest.param("torch", marks=pytest.mark.oracle)]


def _lines(text: str) -> list[str]:
    return text.strip().splitlines()


def _function(text: str, lib: Any) -> Any:
    return eval(f"lambda x, i, b, n: {text}", {"lib": lib})


def _values(lib: Any) -> tuple[Any, ...]:
    x = lib.arange(6.0).reshape(2, 3)
    return x, lib.arange(6).reshape(2, 3), lib.tensor([True, False]), lib.tensor(1.5)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("error", "text"), [(error, line) for error, text in REFUSED.items() for line in _lines(text)]
)
def test_refused(error: type[Exception], text: str, library: str) -> None:
    lib = pytest.importorskip(library)
    function = _function(text, lib)
    for run in (function, gw.compile(function)) if lib is gw else (function,):
        with pytest.raises(error):
            run(*_values(lib))


@pytest.mark.filterwarnings("ignore:.*by position is deprecated")
@pytest.mark.parametrize("text", _lines(TAKEN))
def test_taken_in_compiled_code_too(text: str) -> None:
    function = _function(text, gw)
    found, compiled = function(*_values(gw)), gw.compile(function)(*_values(gw))
    assert compiled.dtype is found.dtype
    np.testing.assert_allclose(compiled.numpy(), found.numpy(), rtol=1e-6)


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", _lines(TAKEN))
def test_taken_as_in_torch(text: str) -> None:
    torch = pytest.importorskip("torch")
    found, expected = (_function(text, lib)(*_values(lib)) for lib in (gw, torch))
    assert found.dtype.name == str(expected.dtype).partition(".")[2]
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-5)
