"""`out=`, aliases, and changing a tensor's memory, against what PyTorch does."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.aliases import ALIASES, Renamed
from graphwright.runtime.ops.table import TABLE


def test_out_is_written_and_returned() -> None:
    x, out = gw.tensor([1.0, -2.0]), gw.empty(2)
    assert gw.add(x, 1, out=out) is out
    assert out.tolist() == [2.0, -1.0]
    gw.mul(out, 2, out=out)
    assert out.tolist() == [4.0, -2.0]


def test_out_keeps_strides_and_version() -> None:
    base = gw.zeros(2, 6)
    out = base[:, ::2]
    before = base._version
    gw.exp(gw.zeros(2, 3), out=out)
    assert base.tolist() == [[1.0, 0.0] * 3] * 2
    assert out.stride() == (6, 2) and base._version == before + 1


OVERLAPPING: dict[str, Callable[[gw.Tensor], object]] = {
    "shifted": lambda x: gw.add(x[:-1], 1, out=x[1:]),
    "turned": lambda x: gw.exp(x, out=x.T),
    "joined": lambda x: gw.stack((x[0], x[1]), out=x[:2]),
    "picked": lambda x: gw.take(x, gw.tensor([3, 2, 1, 0]), out=x[0]),
    "crossed": lambda x: gw.cross(x[:3], x[1:], dim=0, out=x[:3]),
    "summed": lambda x: gw.cumsum(x[:3], 0, out=x[1:]),
    "scattered": lambda x: gw.index_add(x[:3], 0, gw.tensor([1]), x[:1], out=x[1:]),
    "expanded": lambda x: gw.exp(x, out=x[:1].expand(4, 4)),
}


@pytest.mark.parametrize("name", OVERLAPPING)
@pytest.mark.parametrize("compiled", [False, True])
def test_out_does_not_overlap_what_is_read(name: str, compiled: bool) -> None:
    function = gw.compile(OVERLAPPING[name]) if compiled else OVERLAPPING[name]
    x = gw.arange(16.0).reshape(4, 4)
    with pytest.raises(RuntimeError, match="single memory location"):
        function(x)
    assert x.tolist() == gw.arange(16.0).reshape(4, 4).tolist()


def test_out_of_another_shape_is_resized() -> None:
    out = gw.empty(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gw.neg(gw.ones(2, 3), out=out)
    assert out.shape == (2, 3) and out.tolist() == [[-1.0] * 3] * 2
    with pytest.warns(UserWarning, match="was resized since it had shape"):
        gw.neg(gw.ones(4), out=out)
    assert out.tolist() == [-1.0] * 4


def test_out_may_have_a_wider_dtype_only() -> None:
    out = gw.empty(2, dtype=gw.float64)
    assert gw.add(gw.ones(2, dtype=gw.int32), 1, out=out).tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="can't be cast"):
        gw.exp(gw.ones(2), out=gw.empty(2, dtype=gw.int64))


NARROW = {
    "scatter_add": lambda x, out: gw.scatter_add(x, 0, gw.tensor([[0]]), x[:1], out=out),
    "index_copy": lambda x, out: gw.index_copy(x, 0, gw.tensor([0]), x[:1], out=out),
    "renorm": lambda x, out: gw.renorm(x, 2, 0, 1.0, out=out),
    "matrix_power": lambda x, out: gw.matrix_power(x, 2, out=out),
    "linalg.cross": lambda x, out: gw.linalg.cross(x, x, dim=0, out=out),
    "linalg.solve_triangular": lambda x, out: gw.linalg.solve_triangular(
        x, x, upper=True, out=out
    ),
    "transpose_copy": lambda x, out: gw.transpose_copy(x, 0, 1, out=out),
    "gelu": lambda x, out: gw.nn.functional.gelu(x, out=out),
}


@pytest.mark.parametrize("name", NARROW)
def test_some_results_are_cast_into_no_other_dtype(name: str) -> None:
    x = gw.eye(3)
    out = gw.empty(3, 3)
    assert NARROW[name](x, out) is out
    with pytest.raises(RuntimeError, match="float32"):
        NARROW[name](x, gw.empty(3, 3, dtype=gw.float64))


def test_out_of_a_shape_given_by_arguments_is_resized_in_silence() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for make in (gw.zeros, gw.ones, gw.eye):
            assert make(2, 3, out=gw.rand(7)).shape == (2, 3)


@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_medians_of_all_write_into_no_out(name: str) -> None:
    with pytest.raises(TypeError, match="dim"):
        getattr(gw, name)(gw.ones(3), out=gw.zeros(()))


def test_out_does_not_differentiate() -> None:
    x = gw.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        gw.add(x, 1, out=gw.empty(2))
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        gw.add(gw.ones(2), 1, out=gw.ones(2, requires_grad=True))
    with gw.no_grad():
        assert gw.add(x, 1, out=gw.empty(2)).tolist() == [2.0, 2.0]


@pytest.mark.parametrize("out", [3, "x", (gw.empty(2),), [gw.empty(2)]])
def test_out_must_be_a_tensor(out: object) -> None:
    with pytest.raises(TypeError, match="argument 'out'"):
        gw.add(gw.ones(2), 1, out=out)


def test_out_of_several_results() -> None:
    values, indices = gw.empty(2), gw.empty(2, dtype=gw.int64)
    result = gw.topk(gw.tensor([1.0, 3.0, 2.0]), 2, out=(values, indices))
    assert result[0] is values and result[1] is indices
    assert values.tolist() == [3.0, 2.0] and indices.tolist() == [1, 2]
    with pytest.raises(TypeError, match="'out'"):
        gw.topk(gw.ones(3), 2, out=(values,))
    with pytest.raises(TypeError, match="'out'"):
        gw.topk(gw.ones(3), 2, out=values)


def test_out_decides_the_dtype_of_factories_and_sums() -> None:
    assert gw.zeros(2, out=gw.empty(0, dtype=gw.int64)).tolist() == [0, 0]
    out = gw.empty(())
    assert gw.sum(gw.ones(3, dtype=gw.int32), out=out).item() == 3.0


def test_out_compiled() -> None:
    def f(x: gw.Tensor, out: gw.Tensor) -> gw.Tensor:
        written = gw.add(x, 1, out=out)
        return written * 2

    x, out = gw.tensor([1.0, 2.0]), gw.zeros(2)
    result = gw.compile(f, fullgraph=True)(x, out)
    assert result.tolist() == [4.0, 6.0] and out.tolist() == [2.0, 3.0]
    small = gw.zeros(0)
    assert gw.compile(f)(x, small).tolist() == [4.0, 6.0] and small.shape == (2,)


@pytest.mark.parametrize("name", sorted(ALIASES))
def test_alias_is_the_op(name: str) -> None:
    alias = ALIASES[name]
    target = alias.target if isinstance(alias, Renamed) else alias
    if name in TABLE:
        assert TABLE[name].call is not None
        return
    if target not in TABLE or TABLE[target].call is None:
        assert not hasattr(gw, name)
        return
    assert getattr(ops, name).__gw_op__ is TABLE[target]
    if TABLE[target].method:
        assert getattr(gw.Tensor, name).__gw_op__ is TABLE[target]


def test_alias_compiled() -> None:
    def f(x: gw.Tensor) -> gw.Tensor:
        return gw.absolute(x).swapaxes(0, 1).clip(0, 1.5)

    x = gw.tensor([[1.0, -2.0, 3.0]])
    assert gw.compile(f, fullgraph=True)(x).tolist() == [[1.0], [1.5], [1.5]]
    assert gw.swapaxes(x, axis0=0, axis1=1).shape == (3, 1)


def test_resize() -> None:
    x = gw.arange(6.0)
    assert x.resize_(2, 2) is x and x.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    x.resize_((3, 4))
    assert x.shape == (3, 4) and x.flatten()[:6].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert x.resize_as_(gw.empty(2)).shape == (2,)
    assert x.resize_(0).shape == (0,)
    with pytest.raises(RuntimeError, match="negative size"):
        x.resize_(-1)
    with pytest.raises(RuntimeError, match="require grad"):
        gw.ones(2, requires_grad=True).resize_(3)


def test_resize_to_many_dims() -> None:
    x = gw.arange(64.0).resize_(2, 2, 2, 2, 2, 2)
    assert x.ndim == 6 and x.numel() == 64 and x.is_contiguous()
    assert x.resize_(3).tolist() == [0.0, 1.0, 2.0]


def test_set() -> None:
    x, y = gw.zeros(3), gw.arange(10.0)
    x.set_(y)
    y[0] = 7.0
    assert x.shape == (10,) and x[0].item() == 7.0
    x.set_(y, 2, (2, 2), (1, 3))
    assert x.tolist() == [[2.0, 5.0], [3.0, 6.0]] and x.storage_offset() == 2
    assert x.set_().shape == (0,)
    with pytest.raises(RuntimeError, match="out of its storage"):
        x.set_(y, 5, (10,))
    with pytest.raises(RuntimeError, match="int64"):
        x.set_(gw.arange(3))


def test_assigning_data() -> None:
    parameter = gw.nn.Parameter(gw.zeros(2))
    source = gw.ones(3, 4, dtype=gw.float64)
    parameter.data = source
    assert parameter.shape == (3, 4) and parameter.dtype is gw.float64
    assert parameter.requires_grad and parameter.data_ptr() == source.data_ptr()
    parameter.sum().backward()
    assert parameter.grad is not None and parameter.grad.shape == (3, 4)
    np.testing.assert_array_equal(parameter.detach().numpy(), source.numpy())
    with pytest.raises(TypeError, match="has to be a tensor"):
        parameter.data = 3  # type: ignore[assignment]
    with pytest.raises(RuntimeError, match="floating point"):
        parameter.data = gw.arange(3)


def test_assigning_data_is_seen_by_compiled_code() -> None:
    layer = gw.nn.Linear(2, 2)
    compiled = gw.compile(layer)
    x = gw.ones(1, 2)
    compiled(x)
    layer.weight.data = gw.ones(3, 2)
    layer.bias.data = gw.zeros(3)
    assert compiled(x).tolist() == [[2.0, 2.0, 2.0]]


@pytest.mark.parametrize("name", ["max", "sort", "topk", "median", "mode", "cummax"])
def test_several_results_go_only_into_tensors_of_their_dtypes(name: str) -> None:
    x = gw.tensor([2.0, 3.0, 1.0])
    more = (1,) if name == "topk" else (0,)
    with pytest.raises(RuntimeError, match="int64"):
        getattr(gw, name)(x, *more, out=(gw.empty(0), gw.empty(0)))
    with pytest.raises(RuntimeError, match="float32"):
        getattr(gw, name)(
            x, *more, out=(gw.empty(0, dtype=gw.float64), gw.empty(0, dtype=gw.int64))
        )


def test_places_go_only_into_int64() -> None:
    for call in (gw.argmax, gw.nonzero):
        with pytest.raises(RuntimeError, match="int64"):
            call(gw.ones(3), out=gw.empty(0))


def test_sums_are_made_in_the_dtype_of_out() -> None:
    found = gw.sum(gw.full((2, 3), 1.5), 0, out=gw.empty(0, dtype=gw.int64))
    assert found.tolist() == [2, 2, 2]


def test_linalg_and_fft_write_into_out() -> None:
    x = gw.eye(3)
    out = gw.empty(0)
    assert gw.linalg.inv(x, out=out) is out
    assert out.tolist() == x.tolist()
    spectrum = gw.empty(0, dtype=gw.complex64)
    assert gw.fft.fft(x[0], out=spectrum) is spectrum


_FILLED: dict[str, Callable[..., gw.Tensor]] = {
    "log": lambda x, y, out: gw.log(x, out=out),
    "add": lambda x, y, out: gw.add(x, y, out=out),
    "add of a number": lambda x, y, out: gw.add(x, 2.0, out=out),
    "transposed": lambda x, y, out: gw.exp(y, out=out),
    "broadcast": lambda x, y, out: gw.sub(x, y[0], out=out),
    "test": lambda x, y, out: gw.lt(x, y, out=out),
}


@pytest.mark.parametrize("dtype", [gw.float32, gw.float64, gw.float16, gw.bfloat16])
@pytest.mark.parametrize("name", _FILLED)
def test_pointwise_results_need_no_memory_but_out(name: str, dtype: gw.dtype) -> None:
    x = gw.linspace(1, 9, 256 * 999).reshape(256, 999).to(dtype)
    y = gw.linspace(-3, 9, 256 * 999).reshape(999, 256).to(dtype).T
    out = gw.empty(256, 999, dtype=gw.bool if name == "test" else dtype)
    call = _FILLED[name]
    before, version = gw.memory_stats(), out._version
    assert call(x, y, out) is out
    after = gw.memory_stats()
    assert all(before[key] == after[key] for key in ("hits", "misses"))
    assert out._version == version + 1
    expected = call(x, y, gw.empty(0, dtype=out.dtype))
    assert out.tolist() == expected.tolist()


@pytest.mark.parametrize("n", [1, 5, 67, 1000, 70000])
def test_out_may_be_what_is_read(n: int) -> None:
    x = gw.linspace(0.5, 9, n)
    expected = gw.log(x).tolist()
    y = x.clone()
    assert gw.log(y, out=y) is y and y.tolist() == expected
    y = x.clone()
    gw.add(x, y, out=y[:])
    assert y.tolist() == (x + x).tolist()
    base = gw.zeros(n + 1)
    base[:n] = x
    with pytest.raises(RuntimeError, match="single memory location"):
        gw.log(base[:n], out=base[1:]) if n > 1 else gw.log(base, out=base[:1].expand(2))


def test_out_of_a_pointwise_op_that_raises_names_the_op() -> None:
    x, out = gw.tensor([4, 2]), gw.zeros(2, dtype=gw.int64)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        gw.floor_divide(x, gw.tensor([2, 0]), out=out)
