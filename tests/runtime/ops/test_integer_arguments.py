"""What counts as an int where ops take one, or several: each op as in PyTorch.

In the tables X(n) stands for one of KINDS instead of the int n. What does not count is refused
with TypeError, and what counts gives what the int gives. The tables are PyTorch 2.13's answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw


class Indexed:
    """An object that stands for an int, and can do nothing else."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


KINDS: dict[str, Callable[[int], Any]] = {
    "bool": bool, "__index__": Indexed, "numpy": np.int64, "tensor": gw.tensor, "float": float,
    "str": str,
}

DIMS = """
    gw.tril_indices(X(1), 2); gw.tril_indices(2, X(1)); gw.tril_indices(2, 2, X(1));
    gw.triu_indices(X(1), 2); gw.unflatten(s, X(0), (1, 1)); s.unflatten(X(0), (1, 1));
    gw.repeat_interleave(a, 2, X(1)); gw.repeat_interleave(a, 2, dim=X(1));
    a.repeat_interleave(2, X(1)); gw.roll(a, X(1)); gw.roll(a, X(1), 0); gw.roll(a, 1, X(1));
    gw.narrow(a, X(1), 0, 1); a.narrow(X(1), 0, 1); gw.select(a, X(1), 0); a.select(X(1), 0);
    gw.select_scatter(a, v, X(0), 0); gw.slice_scatter(a, a, X(1)); gw.split(a, 1, X(1));
    a.split(1, X(1)); gw.chunk(a, X(1)); gw.chunk(a, 2, X(1)); a.chunk(X(1)); a.chunk(2, X(1));
    gw.tensor_split(a, 2, X(1)); gw.hsplit(a, X(1)); gw.vsplit(a, X(1)); gw.dsplit(b, X(1));
    gw.unbind(a, X(1)); a.unbind(X(1)); gw.topk(a, 1, X(1)); a.topk(1, X(1));
    gw.kthvalue(a, 1, X(1)); a.size(X(1)); a.stride(X(1)); gw.squeeze(s, X(0));
    gw.squeeze(o, X(0)); gw.unsqueeze(a, X(1)); a.unsqueeze(X(1)); gw.flatten(a, X(1));
    gw.flatten(a, 0, X(1)); a.flatten(X(1)); a.flatten(0, X(1)); gw.transpose(a, X(1), 0);
    gw.transpose(a, 0, X(1)); a.transpose(0, X(1)); gw.swapaxes(a, 0, X(1));
    gw.movedim(a, X(1), 0); gw.movedim(a, 0, X(1)); gw.moveaxis(a, X(1), 0); gw.rot90(a, X(1));
    gw.rot90(a, X(1), (0, 1)); gw.diagonal(a, X(1)); gw.diagonal(a, 0, X(1), 0);
    gw.diagonal(a, 0, 0, X(1)); gw.diag(a, X(1)); gw.diagflat(v, X(1)); gw.diag_embed(v, X(1));
    gw.diag_embed(v, 0, X(0), 1); gw.cumsum(a, X(1)); gw.cumprod(a, X(1)); gw.cummax(a, X(1));
    gw.logcumsumexp(a, X(1)); gw.sum(a, X(1)); a.sum(X(1)); gw.mean(a, X(1)); gw.prod(a, X(1));
    gw.any(a, X(1)); gw.all(a, X(1)); gw.amax(a, X(1)); gw.amin(a, X(1));
    gw.aminmax(a, dim=X(1)); gw.argmax(a, X(1));
    gw.argmin(a, X(1)); gw.median(a, X(1)); gw.nanmedian(a, X(1)); gw.mode(a, X(1));
    gw.sort(a, X(1)); gw.argsort(a, X(1)); gw.var(a, dim=X(1), correction=0);
    gw.logsumexp(a, X(1)); gw.norm(a, 2, X(1)); gw.nansum(a, X(1)); gw.count_nonzero(a, X(1));
    gw.softmax(a, X(1)); a.softmax(X(1)); gw.log_softmax(a, X(1)); F.softmax(a, X(1));
    F.log_softmax(a, X(1)); F.softmin(a, X(1)); F.glu(a, X(1)); F.normalize(a, dim=X(1));
    F.cosine_similarity(a, a, X(1)); gw.cosine_similarity(a, a, X(1));
    gw.gather(a, X(1), i[:1]*0); gw.scatter(a, X(1), i[:1]*0, 1.);
    gw.index_select(a, X(1), gw.tensor([0])); gw.index_fill(a, X(1), gw.tensor([0]), 1.);
    gw.take_along_dim(a, i*0, X(1)); gw.cat((a, a), X(1)); gw.cat((a, a), dim=X(1));
    gw.stack((a, a), X(1)); gw.unique(a, dim=X(1)); gw.unique_consecutive(a, dim=X(1));
    a.unfold(X(1), 2, 1); a.unfold(0, X(1), 1); a.unfold(0, 2, X(1)); gw.diff(a, X(1));
    gw.diff(a, 1, X(1)); gw.cross(b, b, X(1)); gw.cross(b, b, dim=X(1));
    gw.linalg.cross(b, b, dim=X(1)); gw.vander(v, X(1)); gw.combinations(v, X(1));
    F.one_hot(i, X(12)); F.max_pool2d(img, X(1)); F.max_pool2d(img, 2, X(1));
    F.max_pool2d(img, 2, 1, X(1)); F.max_pool1d(l1, X(1)); F.avg_pool2d(img, X(1));
    F.avg_pool1d(l1, X(1)); F.conv2d(img, gw.ones(2,2,1,1), None, X(1));
    F.conv2d(img, gw.ones(2,2,1,1), None, 1, 0, X(1)); F.conv1d(l1, gw.ones(2,2,1), None, X(1));
    F.conv_transpose2d(img, gw.ones(2,2,1,1), None, X(1));
    F.pixel_shuffle(gw.ones(1,4,2,2), X(1)); F.pixel_unshuffle(img, X(1));
    F.group_norm(img, X(1)); gw.linspace(0, 1, X(1)); gw.logspace(0, 1, X(1));
    gw.linspace(0, 1, steps=X(1)); gw.fft.fft(a, None, X(1)); gw.fft.fftfreq(X(1));
    gw.fft.rfftfreq(X(1)); gw.fft.fftshift(a, X(1)); gw.quantile(a, .5, X(1));
    gw.nanquantile(a, .5, X(1)); gw.matrix_power(b, X(1)); gw.linalg.matrix_power(b, X(1));
    gw.linalg.vector_norm(a, 2, X(1)); gw.polygamma(X(1), a); gw.chunk(a, chunks=X(1), dim=0);
    gw.trapezoid(a, dim=X(1)); gw.cumulative_trapezoid(a, dim=X(1));
    a.scatter_(X(1), i[:1]*0, 1.); a.unsqueeze_(X(1)); a.transpose_(0, X(1)); a.cumsum_(X(1));
    gw.diagonal_scatter(a, gw.ones(3), X(0)); gw.diagonal_scatter(a, gw.ones(3), 0, X(0), 1);
"""
"""Dims, and other numbers that PyTorch's schemas give as `int`."""

SIZES = """
    gw.zeros(X(1)); gw.zeros((X(1),)); gw.zeros([X(1)]); gw.zeros(X(1), 2); gw.zeros((X(1), 2));
    gw.zeros(size=(X(1),)); gw.ones(X(1)); gw.ones((X(1),)); gw.empty(X(1)); gw.empty((X(1),));
    gw.full((X(1),), 1.); gw.rand(X(1)); gw.rand((X(1),)); gw.randn(X(1)); gw.randn((X(1),));
    gw.randperm(X(1)); a.new_zeros(X(1)); a.new_zeros((X(1),)); a.new_ones(X(1));
    a.new_ones((X(1),)); a.new_empty(X(1)); a.new_empty((X(1),)); a.new_full((X(1),), 1.);
    a.new_empty_strided((X(1),), (1,)); a.new_empty_strided((1,), (X(1),));
    gw.empty_strided((X(1),), (1,)); gw.empty_strided((1,), (X(1),));
    gw.empty_permuted((X(1),), (0,)); gw.eye(X(1)); gw.eye(2, X(1)); s.view(X(1));
    s.view((X(1),)); s.view(X(1), 1); gw.reshape(s, (X(1),)); s.reshape(X(1));
    s.reshape((X(1),)); s.reshape(X(1), 1); s.expand(X(1)); s.expand((X(1),));
    gw.broadcast_to(s, (X(1),)); s.broadcast_to(X(1)); s.broadcast_to((X(1),));
    gw.unflatten(s, 0, (X(1),)); s.unflatten(0, (X(1), 1)); gw.as_strided(a, (X(1),), (1,));
    gw.as_strided(a, (2,), (X(1),)); gw.as_strided(a, (1,), (1,), X(1));
    a.as_strided((X(1),), (1,)); a.repeat(X(1), 1); a.repeat((X(1), 1)); gw.tile(a, (X(1),));
    a.tile(X(1)); a.tile((X(1),)); a.tile(X(1), 2); gw.repeat_interleave(a, X(1));
    gw.repeat_interleave(a, X(1), 0); gw.repeat_interleave(a, 2, output_size=X(24));
    a.repeat_interleave(X(1)); F.pad(a, (X(1), 1)); F.pad(l1, (X(1), 1), "reflect");
    gw.constant_pad_nd(a, (X(1), 1)); gw.roll(a, (X(1),)); gw.roll(a, (X(1),), (0,));
    gw.narrow(a, 0, X(1), 1); gw.narrow(a, 0, 0, X(1)); a.narrow(0, X(1), 1);
    a.narrow(0, 0, X(1)); gw.select(a, 0, X(1)); a.select(0, X(1));
    gw.select_scatter(a, v, 0, X(1)); gw.slice_scatter(a, a, 0, X(0));
    gw.slice_scatter(a, a, 0, 0, 3, X(1)); gw.split(a, [X(1), 2]); a.split((X(1), 2));
    gw.split_with_sizes(a, (X(1), 2)); gw.tensor_split(a, (X(1),)); gw.hsplit(a, (X(1),));
    gw.topk(a, X(1)); a.topk(X(1)); gw.kthvalue(a, X(1)); gw.squeeze(o, (X(0),));
    gw.permute(a, (X(1), 0)); a.permute(X(1), 0); gw.movedim(a, (X(1),), (0,));
    gw.flip(a, (X(1),)); a.flip(X(1)); gw.rot90(a, 1, (X(1), 0)); gw.tril(a, X(1));
    gw.triu(a, X(1)); a.tril(X(1)); gw.sum(a, (X(1),)); gw.mean(a, (X(1),)); gw.amax(a, (X(1),));
    gw.std(a, (X(1),)); gw.bincount(i.flatten(), minlength=X(1)); F.max_pool2d(img, (X(1), 2));
    F.adaptive_avg_pool2d(img, (X(1), 2)); F.conv2d(img, gw.ones(2,2,1,1), None, 1, 0, 1, X(1));
    F.conv1d(l1, gw.ones(2,2,1), None, (X(1),)); F.channel_shuffle(img, X(1));
    F.layer_norm(a, (X(4),)); F.layer_norm(gw.ones(3,1), (X(1),)); F.rms_norm(a, (X(4),));
    gw.fft.fft(a, X(1)); gw.fft.fft2(a, (X(1), 2)); a.sum_to_size(X(1));
    a.sum_to_size((X(1), 1)); a.resize_(X(1));
    gw.as_strided_scatter(a, gw.ones(2), (X(2),), (1,));
"""
"""What its schemas give as `SymInt`, and the first of a sequence."""

FURTHER = """
    gw.zeros(2, X(1)); gw.zeros((2, X(1))); gw.ones(2, X(1)); gw.ones((2, X(1)));
    gw.empty(2, X(1)); gw.full((2, X(1)), 1.); gw.rand(2, X(1)); gw.randn(2, X(1));
    a.new_zeros(2, X(1)); a.new_zeros((2, X(1))); a.new_ones(2, X(1)); a.new_empty(2, X(1));
    a.new_full((2, X(1)), 1.); gw.empty_strided((2,X(1)), (1,1));
    gw.empty_strided((2,1), (1,X(1))); gw.empty_permuted((2,X(1)), (0,1));
    gw.empty_permuted((2,1), (0,X(1))); s.view(1, X(1)); s.view((1, X(1)));
    gw.reshape(s, (1, X(1))); s.reshape(1, X(1)); s.expand(2, X(1));
    gw.broadcast_to(s, (2, X(1))); s.broadcast_to(2, X(1)); gw.unflatten(s, 0, (1, X(1)));
    s.unflatten(0, (1, X(1))); gw.as_strided(a, (2, X(1)), (1, 1));
    gw.as_strided(a, (2, 1), (1, X(1))); a.repeat(1, X(1)); a.repeat((1, X(1)));
    gw.tile(a, (2, X(1))); a.tile(2, X(1)); F.pad(a, (1, X(1))); F.pad(a, (1, 1, X(1), 1));
    F.pad(l1, (1, X(1)), "replicate"); F.pad(l1, (1, X(1)), "circular");
    gw.constant_pad_nd(a, (1, X(1))); gw.roll(a, (1, X(1)), (0, 1));
    gw.roll(a, (1, 1), (0, X(1))); gw.split(a, [2, X(1)]); a.split((2, X(1)));
    gw.split_with_sizes(a, (2, X(1))); gw.squeeze(o, (0, X(1)));
    gw.permute(a, (0, X(1))); a.permute(0, X(1)); a.permute((0, X(1)));
    gw.movedim(a, (0, X(1)), (1, 0)); gw.flip(a, (0, X(1))); a.flip(0, X(1));
    gw.rot90(a, 1, (0, X(1))); gw.sum(a, (0, X(1))); a.sum((0, X(1))); gw.mean(a, (0, X(1)));
    gw.any(a, (0, X(1))); gw.amax(a, (0, X(1))); gw.std(a, (0, X(1)));
    gw.logsumexp(a, (0, X(1))); gw.norm(a, 2, (0, X(1))); gw.count_nonzero(a, (0, X(1)));
    F.max_pool2d(img, (2, X(1))); F.max_pool2d(img, 2, (2, X(1))); F.avg_pool2d(img, (2, X(1)));
    F.adaptive_avg_pool2d(img, (2, X(1))); F.conv2d(img, gw.ones(2,2,1,1), None, (1, X(1)));
    gw.fft.fftn(a, (2, X(1))); gw.fft.fftshift(a, (0, X(1))); a.sum_to_size(1, X(1));
    gw.linalg.vector_norm(a, 2, (0, X(1))); gw.linalg.matrix_norm(a, 'fro', (0, X(1)));
    a.resize_(2, X(1));
"""
"""What follows the first in a sequence."""

TABLES = {
    "dims": (DIMS, {"numpy", "tensor"}),
    "sizes": (SIZES, {"numpy", "tensor", "__index__"}),
    "further": (FURTHER, {"numpy", "tensor", "__index__", "bool"}),
}
ALL = [
    pytest.param(call.strip(), counting, id=call.strip())
    for table, counting in TABLES.values()
    for call in table.split(";")
    if call.strip()
]


def _outcome(call: str, kind: Callable[[int], Any]) -> Any:
    gw.manual_seed(0)
    names = {
        "gw": gw, "F": gw.nn.functional, "X": kind, "a": gw.arange(12.0).reshape(3, 4),
        "s": gw.ones(1), "o": gw.ones(1, 3), "v": gw.arange(4.0), "img": gw.ones(1, 2, 4, 4),
        "l1": gw.ones(1, 2, 4), "i": gw.arange(12).reshape(3, 4), "b": gw.ones(2, 3, 3),
    }  # fmt: skip
    return _described(eval(call, names))


def _described(value: Any) -> Any:
    if isinstance(value, gw.Tensor):
        return tuple(value.shape), value.stride(), value.dtype
    return tuple(map(_described, value)) if isinstance(value, (tuple, list)) else repr(value)


@pytest.mark.parametrize(("call", "counting"), ALL)
def test_what_counts_as_an_int(call: str, counting: set[str]) -> None:
    expected = _outcome(call, int)
    for name, kind in KINDS.items():
        if name in counting:
            assert _outcome(call, kind) == expected, name
        else:
            with pytest.raises(TypeError):
                _outcome(call, kind)


@pytest.mark.parametrize("size", [True, Indexed(1), 1.0, "1"], ids=lambda one: type(one).__name__)
def test_layouts_are_asked_for_by_ints(size: Any) -> None:
    for ask in (gw.ones(2, 3).size, gw.ones(2, 3).stride):
        with pytest.raises(TypeError, match="dim"):
            ask(size)


COMPILED: dict[str, Callable[..., Any]] = {
    "zeros": lambda a, n: gw.zeros(n, 2) + a.sum(),
    "zeros of a tuple": lambda a, n: gw.zeros((n,)) + a.sum(),
    "zeros of a further one": lambda a, n: gw.zeros(2, n) + a.sum(),
    "view": lambda a, n: a.view(n, 12) * 2,
    "reshape": lambda a, n: a.reshape((n, 12)) * 2,
    "expand": lambda a, n: (a * 2).expand(n, 3, 4),
    "narrow": lambda a, n: a.narrow(0, n, 1) * 2,
    "narrow a dim": lambda a, n: a.narrow(n, 0, 1) * 2,
    "select": lambda a, n: a.select(0, n) * 2,
    "roll": lambda a, n: a.roll(n, 0) * 2,
    "tile": lambda a, n: (a * 2).tile((n, 2)),
    "repeat": lambda a, n: (a * 2).repeat(n, 2),
    "pad": lambda a, n: gw.nn.functional.pad(a * 2, (n, 1)),
    "split": lambda a, n: (a * 2).split([n, 2])[0],
    "topk": lambda a, n: (a * 2).topk(n)[0],
    "sum": lambda a, n: (a * 2).sum(n),
    "sum of dims": lambda a, n: (a * 2).sum((0, n)),
    "unsqueeze": lambda a, n: (a * 2).unsqueeze(n),
    "size": lambda a, n: a * a.size(n),
    "pool": lambda a, n: gw.nn.functional.max_pool1d(a * 2, (n,)),
}
"""Of a tensor [3, 4] and what stands for 1."""


@pytest.mark.parametrize("kind", ["bool", "__index__", "numpy", "float"])
@pytest.mark.parametrize("name", COMPILED)
def test_compiled_as_eager(name: str, kind: str) -> None:
    function, a = COMPILED[name], gw.arange(12.0).reshape(3, 4)
    compiled = gw.compile(function)
    try:
        expected = function(a, KINDS[kind](1))
    except TypeError:
        with pytest.raises(TypeError):
            compiled(a, KINDS[kind](1))
    else:
        found = compiled(a, KINDS[kind](1))
        assert found.shape == expected.shape
        assert gw.equal(found, expected)
