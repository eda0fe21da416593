"""Lowered graphs, run by the interpreter, do what eager execution does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from graphwright.autograd import no_grad
from graphwright.ir import Graph, GraphModule, Interpreter
from graphwright.ir.lowered_graph import CannotLower
from graphwright.ir.pipeline import PASSES, lower_graph
from graphwright.runtime import _core
from graphwright.runtime.fake.fake_tensor import fake_like
from graphwright.runtime.ops import functions as ops

from .lowering import Compiled, captured, check, copies, tensor

Inputs = Callable[[], Sequence[Any]]


def floats(*shape: int, grad: bool = True) -> Any:
    rng = np.random.default_rng(sum(shape) + 7 * len(shape))
    return tensor(rng.standard_normal(shape).astype(np.float32), grad)


def ids(*values: Any) -> Any:
    return tensor(np.array(values, np.int64))


def attention(x: Any, wq: Any, wk: Any, wv: Any) -> Any:
    batch, length = x.shape[:2]
    q, k, v = (ops.matmul(x, w).view(batch, length, 2, 4).transpose(1, 2) for w in (wq, wk, wv))
    weights = ops.softmax(ops.matmul(q, k.transpose(-2, -1)) * 0.5, -1)
    return ops.matmul(weights, v).transpose(1, 2).reshape(batch, length, 8)


def cnn(x: Any, w: Any, b: Any, head: Any, bias: Any) -> Any:
    h = ops.relu(ops.conv2d(x, w, b, (1, 1), (1, 1), (1, 1), 1))
    h = ops.max_pool2d(h, (2, 2), (2, 2), (0, 0), (1, 1), False)
    return ops.linear(h.reshape(h.shape[0], -1), head, bias)


def set_item(x: Any, index: Any, value: Any) -> Any:
    y = x * 1
    y[index] = value
    return y


CASES: dict[str, tuple[Callable[..., Any], Inputs]] = {
    "pointwise": (lambda x: ops.tanh(ops.sigmoid(x) * x), lambda: [floats(5, 7)]),
    "mlp": (
        lambda x, w, b, v: ops.linear(ops.relu(ops.linear(x, w, b)), v),
        lambda: [floats(4, 8), floats(16, 8), floats(16), floats(3, 16)],
    ),
    "cross_entropy": (
        lambda x, w, y: ops.cross_entropy(ops.linear(x, w), y),
        lambda: [floats(4, 8), floats(3, 8), ids(0, 2, 1, 1)],
    ),
    "softmax": (lambda x: ops.softmax(x, 1), lambda: [floats(6, 5)]),
    "layer_norm": (
        lambda x, w, b: ops.layer_norm(x, (5,), w, b, 1e-5),
        lambda: [floats(6, 5), floats(5), floats(5)],
    ),
    "gelu": (lambda x: ops.gelu(x), lambda: [floats(6, 5)]),
    "attention": (
        attention, lambda: [floats(2, 6, 8), floats(8, 8), floats(8, 8) * 2, floats(8, 8)]),
    "causal_attention": (
        lambda q, k, v: ops.scaled_dot_product_attention(q, k, v, is_causal=True),
        lambda: [floats(2, 2, 6, 4), floats(2, 2, 6, 4), floats(2, 2, 6, 4)],
    ),
    "cnn": (
        cnn,
        lambda: [floats(2, 3, 8, 8), floats(4, 3, 3, 3), floats(4), floats(5, 64), floats(5)],
    ),
    "embedding": (lambda w, i: w[i], lambda: [floats(5, 4), ids([1, 2, 0], [3, 3, 1])]),
    "statistics": (lambda x: (x - x.mean()) / x.var().sqrt(), lambda: [floats(5, 6)]),
    "cat": (lambda x, y: ops.cat((x, y * 2), 1), lambda: [floats(5, 6), floats(5, 2)]),
    "flip": (lambda x: x.flip((0, 1)) * x, lambda: [floats(3, 4)]),
    "detach": (lambda x: x.detach() * x, lambda: [floats(5)]),
    "unused_input": (lambda x, y: x * 2, lambda: [floats(5), floats(5)]),
    "output_without_grad": (
        lambda x, y: (x * 2, y * 3), lambda: [floats(5), floats(5, grad=False)]),
    "no_tensor_result": (lambda x: (x * 2, 3, None, x.shape[0]), lambda: [floats(5)]),
    "fresh_in_place": (lambda x: (x * 2).add_(1).mul_(x), lambda: [floats(5)]),
    "fill": (lambda x: (x * 1).fill_(3.0) + (x * 2).zero_(), lambda: [floats(5)]),
    "set_slice": (
        lambda x, y: set_item(x, slice(1, 3), y), lambda: [floats(5, 4), floats(2, 4)]),
    "set_strided": (lambda x, y: set_item(x, slice(None, None, 2), y),
                    lambda: [floats(5, 4), floats(3, 4)]),
    "set_row": (lambda x: set_item(x, 2, 0.5), lambda: [floats(5, 4)]),
    "masked_fill": (lambda x: (x * 1).masked_fill_(x > 0, 0.5), lambda: [floats(5, 4)]),
    "one_view": (lambda x: (x * 2)[:, -1], lambda: [floats(4, 5)]),
    "views_of_hidden": (lambda x: ((y := x * 2)[0], y[1]), lambda: [floats(4, 5)]),
    "same_twice": (lambda x: ((y := x * 2), y), lambda: [floats(4, 5)]),
    "view_and_base": (lambda x: ((y := x * 2).t(), y), lambda: [floats(4, 5)]),
    "views_of_input": (
        lambda x: (x.t(), x, x[0], x.view(-1)), lambda: [floats(4, 5, grad=False)]),
}


@pytest.mark.parametrize("name", CASES)
def test_as_eager(name: str) -> None:
    fn, inputs = CASES[name]
    check(fn, *[x.detach().requires_grad_() if x.requires_grad else x for x in inputs()],
          tolerance=1e-5)


def in_place_through_views(x: Any) -> Any:
    y = x * 1.0
    y.view(-1)[2:5].mul_(3)
    column = y[:, 1]
    y.t().add_(1)
    return y, column * 2


def mutated_argument(x: Any, w: Any) -> Any:
    before = (x * 1.0) * w
    row = x[1]
    row.add_(1)
    x.t().mul_(2)
    return before + x, row


def batch_norm(x: Any, w: Any, b: Any, mean: Any, var: Any) -> Any:
    return ops.relu(ops.batch_norm(x, w, b, mean, var, True, 0.1, 1e-5))


def test_in_place_through_views() -> None:
    check(in_place_through_views, floats(4, 5))


def test_mutated_argument_is_written_and_its_old_value_saved() -> None:
    lowered = check(mutated_argument, floats(4, 5, grad=False), floats(5))
    assert lowered.mutated == [(0, -1)]
    assert all(saved.kind != "input" or saved.index != 0 for saved in lowered.saved)


def test_running_statistics_in_training() -> None:
    lowered = check(batch_norm, floats(4, 3, 5, 5), floats(3), floats(3),
                    floats(3, grad=False), floats(3, grad=False).abs(), tolerance=1e-5)
    assert lowered.mutated == [(3, -1), (4, -1)]


def test_a_mutated_argument_with_gradients_is_left_to_the_tape() -> None:
    def fn(buffer: Any, w: Any) -> Any:
        buffer.add_(w)
        return buffer * 2
    lowered = check(fn, floats(3, grad=False), floats(3))
    assert lowered.mutated == [(0, 1)] and lowered.tangents == [0, 1]


def written_before_its_use(x: Any, w: Any) -> Any:
    with no_grad():
        w.sub_(x * 0.1)
    return w * w * x


def a_part_of_it_written(x: Any, w: Any) -> Any:
    with no_grad():
        w[1].mul_(2)
    return w.sin(), w[1] * x[1]


def an_intermediate_normalised(x: Any, w: Any) -> Any:
    y = w * w
    rows = y.view(2, 2)
    with no_grad():
        y.div_(y.sum())
    return y.exp() * x, rows.sin()


def written_between_recorded_writes(x: Any, w: Any) -> Any:
    y = w * 2
    y.mul_(x)
    y.detach().clamp_(-1, 1)
    y.add_(w.sin())
    with no_grad():
        y.mul_(0.5)
    return y.cos()


@pytest.mark.parametrize("fn", [
    written_before_its_use, a_part_of_it_written, an_intermediate_normalised,
    written_between_recorded_writes,
])
def test_gradients_pass_writes_behind_the_tape(fn: Any) -> None:
    lowered = check(fn, floats(4, grad=False), floats(4))
    assert lowered.backward is not None


def test_writes_of_an_argument_behind_the_tape_give_it_no_history() -> None:
    lowered = check(written_before_its_use, floats(4, grad=False), floats(4))
    assert [index for index, _ in lowered.mutated] == [1]
    assert len(lowered.tangents) == 1


def test_an_argument_written_through_a_detached_view_has_no_history() -> None:
    def fn(x: Any, w: Any) -> Any:
        x.detach().add_(w)
        return x * 2, w * 3

    lowered = check(fn, floats(4, grad=False), floats(4))
    assert lowered.tangents == [1]


def a_detached_value_with_a_history_of_its_own(x: Any, w: Any) -> Any:
    y = x * 2
    shown = y.detach()
    rows = shown.view(2, 2)
    shown.add_(w)
    with no_grad():
        rows.mul_(3)
    rows[0].mul_(w[:2])
    return rows.sin() * w.view(2, 2), y * w


def leaving_alone(x: Any, w: Any) -> Any:
    shown = (x * 2).detach()
    shown.add_(w)
    return shown


@pytest.mark.parametrize("fn", [a_detached_value_with_a_history_of_its_own, leaving_alone])
def test_a_detached_view_of_an_intermediate_may_have_a_history_of_its_own(fn: Any) -> None:
    lowered = check(fn, floats(4, grad=False), floats(4))
    assert lowered.backward is not None


def leaving_with_its_memory(x: Any, w: Any) -> Any:
    y = x * 2
    shown = y.detach()
    shown.add_(w)
    return y, shown


def written_by_another_afterwards(x: Any, w: Any) -> Any:
    y = x * 2
    shown = y.detach()
    shown.add_(w)
    y.add_(1)
    return shown * 2


def with_a_history_of_its_own(x: Any, w: Any) -> Any:
    shown = x.detach()
    shown.add_(w)
    return shown * 2


def leaving_with_it(x: Any, w: Any) -> Any:
    shown = x.detach()
    shown.add_(w)
    return shown


def of_a_view_that_is_not_recorded(x: Any, w: Any) -> Any:
    y = w * 2
    with no_grad():
        row = y[0]
        y.mul_(2)
    return row * w


@pytest.mark.parametrize("fn", [
    with_a_history_of_its_own, leaving_with_it, leaving_with_its_memory,
    written_by_another_afterwards, of_a_view_that_is_not_recorded])
def test_views_with_another_history_than_their_memory_are_refused(fn: Any) -> None:
    module, fakes = captured(fn, [floats(4, grad=False), floats(4)])
    with pytest.raises(CannotLower, match=r"detach|no_grad|history of its own"):
        lower_graph(module, fakes, needs_grad=True)


@pytest.mark.parametrize(
    ("fn", "shapes", "dynamic", "other"),
    [
        (lambda x: x.sum(0) * x.shape[0], [(5, 3)], {0: [0]}, [(7, 3)]),
        (lambda x, w: ops.softmax(ops.linear(x, w), -1).sum(1).mean(),
         [(5, 3), (4, 3)], {0: [0]}, [(9, 3), (4, 3)]),
        (lambda x: x.mean(0, True).expand(x.shape).reshape(-1)[: x.shape[0]],
         [(5, 3)], {0: [0]}, [(9, 3)]),
        (attention, [(2, 6, 8), (8, 8), (8, 8), (8, 8)], {0: [0, 1]},
         [(3, 4, 8), (8, 8), (8, 8), (8, 8)]),
        (lambda x, y: ops.cat((x, y), 0)[2:], [(5, 3), (4, 3)], {0: [0], 1: [0]},
         [(2, 3), (9, 3)]),
    ],
)
def test_one_graph_for_all_sizes(fn: Any, shapes: Any, dynamic: Any, other: Any) -> None:
    check(fn, *[floats(*s) for s in shapes], dynamic=dynamic,
          others=[[floats(*s) for s in other]], tolerance=5e-5)


def test_sizes_that_no_saved_tensor_has_are_passed() -> None:
    lowered = check(lambda x: x.sum() * x.shape[0], floats(5, 3), dynamic={0: [0]},
                    others=[[floats(8, 3)]])
    assert [s.kind for s in lowered.saved] == ["size"]


def dropped(x: Any, w: Any) -> Any:
    return ops.dropout(ops.dropout(x * w, 0.5, True) * 3, 0.2, True)


def test_random_numbers_are_those_of_eager_and_are_not_drawn_again() -> None:
    x, w = floats(16, 16), floats(16)
    module, fakes = captured(dropped, [x, w])
    lowered = lower_graph(module, fakes, needs_grad=True)
    assert lowered.rng_ops == 2
    assert lowered.backward is not None
    assert "rng_uniform" not in lowered.backward.code
    _core.manual_seed(7)
    expected = dropped(x, w)
    _core.manual_seed(7)
    (actual,), backward = Compiled(lowered)(*copies([x, w]))
    np.testing.assert_array_equal(actual.numpy(), expected.detach().numpy())
    ones = ops.ones_like(actual)
    expected.backward(ones)
    for got, want in zip(backward({0: ones}), (x.grad, w.grad), strict=True):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-5)


def normalised(x: Any, w: Any) -> Any:
    for _ in range(2):
        y = ops.matmul(x, w)
        x = ops.relu((y - y.mean(0)) * ops.rsqrt((y * y).mean(0) + 1))
    return x


def test_what_products_are_normalised_to_is_made_again_where_it_is_read() -> None:
    """Of each layer the product is saved, and no numbers that are made of it."""
    lowered = check(normalised, floats(64, 64), floats(64, 64), tolerance=1e-4)
    outputs = lowered.forward.graph.output_node().args[0]
    saved = [outputs[s.index] for s in lowered.saved if s.kind == "output"]
    large = [node.target.name for node in saved if node.meta["val"].nbytes == 64 * 64 * 4]
    assert large == ["mm", "mm"]
    assert lowered.backward is not None
    names = [node.target.name for node in lowered.backward.graph.nodes
             if node.op == "call_function"]
    assert names.index("mm") < len(names) - 1 - names[::-1].index("relu")


def test_masks_are_saved_as_the_bools_they_are() -> None:
    """Not as the numbers that they are multiplied by: these are made again."""
    lowered = lower_graph(*captured(dropped, [floats(16, 16), floats(16)]), needs_grad=True)
    saved = [lowered.forward.graph.output_node().args[0][s.index].meta["val"].dtype.name
             for s in lowered.saved if s.kind == "output"]
    assert saved == ["bool", "bool"]


def test_numbers_drawn_in_place_count_though_nobody_reads_them() -> None:
    def unread(x: Any) -> Any:
        for draw in (ops.dropout_, ops.alpha_dropout_, ops.feature_dropout_):
            draw(ops.clone(x), 0.5, True)
        ops.rrelu_(ops.clone(x), training=True)
        return ops.dropout(x, 0.5, True)

    lowered = lower_graph(*captured(unread, [floats(4, 4)]), needs_grad=False)
    assert lowered.rng_ops == 5
    nodes = lowered.forward.graph.nodes
    (drawn,) = [n for n in nodes if n.op == "call_function" and n.target.name == "rng_uniform"]
    assert drawn.args[-1] == 4


def test_merging_leaves_random_ops_apart() -> None:
    module, fakes = captured(lambda x: ops.rand((4,)) - ops.rand((4,)) + x * 2 + x * 2,
                             [floats(4, grad=False)])
    code = lower_graph(module, fakes, needs_grad=False).forward.code
    assert code.count("rng_uniform(") == 2 and code.count("ops.mul(") == 1


@pytest.mark.parametrize("name", ["mlp", "fresh_in_place", "causal_attention", "set_row"])
@pytest.mark.parametrize("off", [step.name for step in PASSES] + ["all"])
def test_every_pass_can_be_switched_off(name: str, off: str) -> None:
    fn, inputs = CASES[name]
    disabled = [step.name for step in PASSES] if off == "all" else [off]
    check(fn, *[x.detach() for x in inputs()], disabled=disabled, tolerance=1e-5)


def test_all_off_is_the_captured_graph() -> None:
    x = floats(4, grad=False)
    module, fakes = captured(lambda x: (x * 2).add_(1), [x])
    lowered = lower_graph(module, fakes, needs_grad=True, disabled=[p.name for p in PASSES])
    assert lowered.forward.code == module.code and lowered.backward is None
    with pytest.raises(ValueError, match="no pass is called sce; there are normalise, "):
        lower_graph(module, fakes, needs_grad=True, disabled=["sce"])


def test_captured_graphs_of_functions_methods_and_constants() -> None:
    graph = Graph()
    x = graph.placeholder("x")
    constant = graph.get_attr("scale")
    graph.call_function(_core.set_grad_enabled, (False,))
    y = graph.call_method("mul", (x, constant))
    graph.call_function(_core.set_grad_enabled, (True,))
    z = graph.call_method("add_", (y, x), {"alpha": 2})
    graph.output((graph.call_function(ops.relu, (z,)), x))
    scale = floats(3, grad=False)
    module = GraphModule({"scale": scale}, graph)
    value = floats(3)
    lowered = lower_graph(module, [fake_like(value)], needs_grad=True)
    assert lowered.outputs[1].kind == "input"
    (out,) = Interpreter(lowered.forward).run(value.detach())[:1]
    np.testing.assert_allclose(
        out.numpy(), np.maximum(value.detach().numpy() * (scale.numpy() + 2), 0), rtol=1e-6)
    (gradient,) = Compiled(lowered)(value.detach())[1]({0: ops.ones_like(out)})
    np.testing.assert_array_equal(gradient.numpy(), 2.0 * (out.numpy() > 0))
