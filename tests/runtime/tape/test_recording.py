"""Nodes that are recorded in C: what they show, what they keep, and composites that are one."""

from __future__ import annotations

import gc
import sys
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.native.composite_gradients import NAMES, SHORTCUTS
from graphwright.runtime.tape.anomaly import STATE

from ..layouts import build, tensors_in
from ..samples import ALL, Arr, OpSamples, Sample

SAMPLES = [
    pytest.param(ALL[name], sample, id=f"{name}-{i}")
    for name in sorted(SHORTCUTS)
    if name in ALL and ALL[name].grad
    for i, sample in enumerate(ALL[name].samples)
]


def _gradients(entry: OpSamples, sample: Sample) -> tuple[list[Any], list[Any]]:
    """The outputs that have a history, and the leaves' gradients of their weighted sum."""
    leaves: list[Any] = []

    def leaf(arr: Arr, values: Any) -> Any:
        tensor = gw.from_numpy(np.array(values))
        if arr.kind == "float" and arr.grad:
            leaves.append(tensor.requires_grad_())
        return tensor

    args, kwargs = build(sample, entry.name, leaf)
    outs = [t for t in tensors_in(getattr(ops, entry.name)(*args, **kwargs)) if t.requires_grad]
    weighted = [(t * gw.arange(1.0, t.numel() + 1).reshape(t.shape)).sum() for t in outs]
    gw.autograd.backward(weighted)
    return outs, [t.grad for t in leaves]


@pytest.mark.parametrize(("entry", "sample"), SAMPLES)
def test_a_composite_as_one_node_has_the_gradients_of_its_parts(
    entry: OpSamples, sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    outs, whole = _gradients(entry, sample)
    monkeypatch.setattr(STATE, "enabled", True)     # which records by parts
    parts_outs, parts = _gradients(entry, sample)
    assert [t.requires_grad for t in outs] == [t.requires_grad for t in parts_outs]
    for mine, other in zip(whole, parts, strict=True):
        if other is None or mine is None:
            assert not any(g is not None and g.abs().sum() for g in (mine, other))
        else:
            np.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=1e-6, atol=1e-6)


def test_nodes_have_the_names_of_the_parts_that_pytorch_records() -> None:
    x = gw.rand(2, 3).requires_grad_()
    assert x.flatten().grad_fn.name() == "ViewBackward0"
    assert x.chunk(2)[1].grad_fn.name() == "SplitBackward0"
    assert x.t().grad_fn.name() == "TBackward0"
    assert NAMES.keys() <= SHORTCUTS.keys()


def test_what_returns_its_argument_records_nothing() -> None:
    x = gw.rand(4).requires_grad_()
    assert x.flatten() is x and x.is_leaf


def test_a_kernel_that_declines_leaves_the_call_to_the_parts() -> None:
    x = gw.rand(3, 4).t().requires_grad_()
    y = x.flatten()
    assert y.grad_fn.next_functions[0][0].name() != "AccumulateGrad"
    (y * y).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.detach().numpy())


def test_unused_parts_have_zero_gradients() -> None:
    x = gw.rand(5, 2).requires_grad_()
    x.split(2)[2].sum().backward()
    assert x.grad.sum(1).tolist() == [0, 0, 0, 0, 2]
    x.grad = None
    x.unbind(1)[1].sum().backward()
    assert x.grad.sum(0).tolist() == [0, 5]


def test_attributes_of_a_node() -> None:
    x, y = gw.rand(3).requires_grad_(), gw.rand(3)
    node = (x * y).grad_fn
    assert node.edges == ((x, 0), None)
    assert node.needing == {0}
    assert node.outputs == [(x.shape, x.dtype, x.device)]
    assert node._saved_other is y
    with pytest.raises(AttributeError, match="did not save 'self'"):
        node._saved_self  # noqa: B018
    assert [type(a).__name__ for a in node.args] == ["TensorSpec", "SavedTensor"]


def test_a_list_of_tensors_and_several_outputs() -> None:
    x, y = gw.rand(2, 3).requires_grad_(), gw.rand(2, 3)
    joined = gw.cat([x, y, x])
    assert [e and e[0] is x for e in joined.grad_fn.edges] == [True, None, True]
    values, places = joined.max(0)
    assert values.grad_fn is not None and places.grad_fn is None
    values.sum().backward()
    assert x.grad.sum() + (values == y.max(0)[0]).sum() >= 3


def test_a_released_node_says_so_and_one_that_saved_nothing_can_be_passed_again() -> None:
    x = gw.rand(3).requires_grad_()
    y = x.exp().sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    z = gw.cat([x, x]).sum()
    z.backward()
    z.backward()


@pytest.mark.parametrize("number", [2, 2.0, True, 2j])
@pytest.mark.parametrize("parts", [False, True])
def test_numbers_are_saved_as_tensors(
    number: complex, parts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what records in C, and by what replaces it."""
    monkeypatch.setattr(STATE, "enabled", parts)
    x = gw.rand(3, requires_grad=True)
    for y, passes in ((x * number, 1), (number * x, 1), (x / number, 1), (x + number, 2)):
        ones = gw.ones_like(y)
        for _ in range(passes):
            gw.autograd.grad(y, x, ones)
        if passes == 1:
            with pytest.raises(RuntimeError, match="second time"):
                gw.autograd.grad(y, x, ones)


def test_places_are_saved_for_the_source_alone() -> None:
    x, source = gw.rand(3, requires_grad=True), gw.rand(1, requires_grad=True)
    places = gw.tensor([1])
    y = x.index_add(0, places, source.detach()).sum()
    y.backward()
    y.backward()
    z = x.index_add(0, places, source).sum()
    z.backward()
    with pytest.raises(RuntimeError, match="second time"):
        z.backward()


def test_a_saved_tensor_that_was_changed_is_refused() -> None:
    x = gw.rand(3).requires_grad_()
    y = gw.rand(3)
    z = x * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def _scattered(reduce: str, x: Any, src: Any) -> Any:
    return x.scatter_reduce_(1, gw.tensor([[0, 1, 1], [1, 0, 0]]), src, reduce)


IN_PLACE: dict[str, Any] = {
    **{f"scatter {name}": partial(_scattered, name) for name in ("prod", "amax", "amin")},
    "index_reduce": lambda x, src: x.index_reduce_(1, gw.tensor([0, 2, 2]), src, "amax"),
    "square": lambda x, src: x.square_() * src,
    "clamp_min": lambda x, src: x.clamp_min_(0.35) * src,
    "polygamma": lambda x, src: x.polygamma_(1) * src,
    "renorm": lambda x, src: x.renorm_(2, 0, 0.5) * src,
    "rrelu": lambda x, src: gw.nn.functional.rrelu(x, inplace=True) * src,
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_a_write_in_place_keeps_the_old_value_that_its_parts_save(name: str) -> None:
    def function(x: Any, src: Any) -> Any:
        return IN_PLACE[name](x.clone(), src).square().sum()

    x = gw.tensor([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], dtype=gw.float64, requires_grad=True)
    src = gw.tensor([[0.5, 0.25, 0.7], [0.35, 0.9, 0.8]], dtype=gw.float64, requires_grad=True)
    eager = gw.autograd.grad(function(x, src), [x, src])
    assert gw.autograd.gradcheck(function, [x, src])
    compiled = gw.autograd.grad(gw.compile(function)(x, src), [x, src])
    for mine, reference in zip(compiled, eager, strict=True):
        np.testing.assert_allclose(mine.numpy(), reference.numpy(), rtol=1e-12)


def test_long_histories_are_freed_without_recursion() -> None:
    x = gw.rand(2).requires_grad_()
    y = x
    for _ in range(100_000):
        y = gw.cat([y])
    del y
    z = x
    for _ in range(1000):
        z = z.sin()
    z.sum().backward()
    assert x.grad.shape == (2,)


@pytest.mark.parametrize("through", [lambda y: y, lambda y: y.t()], ids=["base", "other view"])
def test_a_view_has_its_new_history_before_what_reads_it(through: Any) -> None:
    x = gw.ones(3, 2, requires_grad=True)
    y = x * 1.0
    column = y[:, 1]
    through(y).mul_(3)
    z = column * 2  # the first to ask for the column's history after the write
    assert z.grad_fn.sequence > z.grad_fn.next_functions[0][0].sequence
    (gradient,) = gw.autograd.grad(z.sum(), x)
    assert gradient.tolist() == [[0.0, 6.0]] * 3


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align_corners", [False, True])
def test_images_sampled_in_c_have_the_gradients_of_the_parts(
    mode: str, padding: str, align_corners: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    image, places = rng.standard_normal((2, 3, 4, 5)), rng.standard_normal((2, 3, 2, 2)) * 0.9

    def run() -> list[Any]:
        x, grid = (gw.from_numpy(a.copy()).requires_grad_() for a in (image, places))
        out = gw.nn.functional.grid_sample(x, grid, mode, padding, align_corners)
        (out * out).sum().backward()
        grads = [0.0 if t.grad is None else t.grad.numpy() for t in (x, grid)]
        return [out.detach().numpy(), *grads]

    whole = run()
    monkeypatch.setattr(STATE, "enabled", True)
    for mine, parts in zip(whole, run(), strict=True):
        np.testing.assert_allclose(mine, parts, rtol=1e-9, atol=1e-9)


def test_second_derivatives_where_one_operand_was_made_of_the_other() -> None:
    """What recomputes its parts gives each operand its own share of the first derivative."""
    values = np.random.default_rng(0).standard_normal((1, 2, 3, 3))
    found = []
    for record in (False, True):
        x = gw.tensor(values, requires_grad=True)
        y = gw.nn.functional.grid_sample(x, x.permute(0, 2, 3, 1) * 0.3, align_corners=False)
        (grad,) = gw.autograd.grad((y * y).sum(), x, create_graph=record)
        found.append(grad.detach().numpy())
    np.testing.assert_allclose(found[1], found[0])


def test_a_hook_of_several_gradients_gets_those_of_one_pass() -> None:
    a, b, c = (gw.ones(1, requires_grad=True) for _ in range(3))
    seen: list[list[bool]] = []
    first: list[float] = []
    gw.autograd.graph.register_multi_grad_hook(
        (a, b, c), lambda grads: seen.append([grad is not None for grad in grads])
    )
    gw.autograd.graph.register_multi_grad_hook(
        (a, b), lambda grad: first.append(grad.item()), mode="any"
    )
    (a * b).sum().backward()
    (a * b * c).sum().backward()
    (c * 2).sum().backward()
    assert seen == [[True, True, False], [True] * 3, [False, False, True]]
    assert first == [1.0, 1.0]


def test_what_hooks_of_saved_tensors_must_not_do() -> None:
    x = gw.ones(2, requires_grad=True)
    graph = gw.autograd.graph
    with (
        graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t),
        pytest.raises(RuntimeError, match="modifying its input"),
    ):
        (x * 1).exp()
    with (
        graph.allow_mutation_on_saved_tensors(),
        pytest.raises(RuntimeError, match="cannot be nested"),
        graph.allow_mutation_on_saved_tensors(),
    ):
        pass


@pytest.mark.usefixtures("frozen_heap")
@pytest.mark.parametrize("name", ["mul", "matmul", "exp", "softmax", "std_mean", "sort"])
def test_a_backward_leaves_no_memory_behind(name: str) -> None:
    times = 100

    def blocks() -> int:
        for _ in range(times):
            _gradients(ALL[name], ALL[name].samples[0])
        gc.collect()
        return sys.getallocatedblocks()

    counts = [blocks() for _ in range(5)]   # caches fill up in the first
    assert min(after - before for before, after in pairwise(counts)) < times / 2
