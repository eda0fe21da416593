"""The graphs that passes make, as text."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest

import graphwright as gw
from graphwright.ir import GraphModule
from graphwright.ir.graph.lint import GraphError, check_writes
from graphwright.ir.passes.algebra import simplify
from graphwright.ir.passes.constants import fold_constants
from graphwright.ir.passes.cse import merge_common
from graphwright.ir.passes.dce import eliminate_dead_code
from graphwright.ir.passes.functionalise import functionalise
from graphwright.ir.pipeline import PASSES, lower_graph

from .lowering import captured


def expect(module: GraphModule | None, text: str) -> None:
    assert module is not None
    assert module.readable() == dedent(text).lstrip()


def mlp(x: Any, w: Any, b: Any, v: Any) -> Any:
    return gw.nn.functional.linear(gw.relu(gw.nn.functional.linear(x, w, b)), v)


def leaf(*shape: int) -> Any:
    return gw.zeros(shape).requires_grad_()


def test_training_graphs_of_a_perceptron() -> None:
    module, fakes = captured(mlp, [gw.zeros(4, 8), leaf(16, 8), leaf(16), leaf(3, 16)])
    lowered = lower_graph(module, fakes, needs_grad=True)
    expect(lowered.forward, """
        def forward(self, arg0, arg1, arg2, arg3):
            transpose = ops.transpose(arg1, 0, 1)  # float32[8, 16]
            mm = ops.mm(arg0, transpose)  # float32[4, 16]
            add = ops.add(mm, arg2)  # float32[4, 16]
            relu = ops.relu(add)  # float32[4, 16]
            transpose_1 = ops.transpose(arg3, 0, 1)  # float32[16, 3]
            mm_1 = ops.mm(relu, transpose_1)  # float32[4, 3]
            return (mm_1, relu)  # (float32[4, 3], float32[4, 16])
        """)
    expect(lowered.backward, """
        def forward(self, arg0, arg3, relu, tangent0):
            mm_2 = ops.mm(tangent0, arg3)  # float32[4, 16]
            transpose_2 = ops.transpose(tangent0, 0, 1)  # float32[3, 4]
            mm_3 = ops.mm(transpose_2, relu)  # float32[3, 16]
            le = ops.le(relu, 0)  # bool[4, 16]
            where = ops.where(le, 0.0, mm_2)  # float32[4, 16]
            transpose_3 = ops.transpose(where, 0, 1)  # float32[16, 4]
            mm_4 = ops.mm(transpose_3, arg0)  # float32[16, 8]
            sum_1 = ops.sum(where, (0,))  # float32[16]
            return (mm_3, mm_4, sum_1)  # (float32[3, 16], float32[16, 8], float32[16])
        """)
    saved = [(entry.kind, entry.index) for entry in lowered.saved]
    assert saved == [("input", 0), ("input", 3), ("output", 1)]
    assert lowered.tangents == [0] and lowered.grad_inputs == [3, 1, 2]


def test_symbolic_sizes() -> None:
    module, fakes = captured(lambda x: gw.softmax(x.reshape(-1) * x.shape[0], 0), [leaf(4, 8)],
                             dynamic={0: [0]})
    lowered = lower_graph(module, fakes, needs_grad=True)
    expect(lowered.forward, """
        def forward(self, arg0):
            s0 = arg0.shape[0]
            view = ops.view(arg0, (8*s0,))  # float32[8*s0]
            mul = ops.mul(view, s0)  # float32[8*s0]
            amax = ops.amax(mul, (0,), True)  # float32[1]
            sub = ops.sub(mul, amax)  # float32[8*s0]
            exp = ops.exp(sub)  # float32[8*s0]
            sum_1 = ops.sum(exp, (0,), True)  # float32[1]
            div = ops.div(exp, sum_1)  # float32[8*s0]
            return (div,)  # (float32[8*s0])
        """)
    expect(lowered.backward, """
        def forward(self, div, s0, tangent0):
            mul_1 = ops.mul(tangent0, div)  # float32[8*s0]
            sum_2 = ops.sum(mul_1, (0,), True)  # float32[1]
            mul_2 = ops.mul(div, sum_2)  # float32[8*s0]
            sub_1 = ops.sub(mul_1, mul_2)  # float32[8*s0]
            mul_3 = ops.mul(sub_1, s0)  # float32[8*s0]
            view_1 = ops.view(mul_3, (s0, 8))  # float32[s0, 8]
            return (view_1,)  # (float32[s0, 8])
        """)
    assert [s.kind for s in lowered.saved] == ["output", "size"]


def test_functionalisation() -> None:
    def fn(x: Any, w: Any) -> Any:
        row = x[1]
        row.mul_(w)
        return x.add_(1), row

    module, fakes = captured(fn, [gw.zeros(3, 4), gw.zeros(4)])
    expect(module, """
        def forward(self, arg0, arg1):
            select = ops.select(arg0, 0, 1)  # float32[4]
            mul_ = ops.mul_(select, arg1)  # float32[4]
            add_ = ops.add_(arg0, 1)  # float32[3, 4]
            return (arg0, select)  # (float32[3, 4], float32[4])
        """)
    result = functionalise(module, fakes)
    eliminate_dead_code(result.module)
    expect(result.module, """
        def forward(self, arg0, arg1):
            select = ops.select(arg0, 0, 1)  # float32[4]
            mul = ops.mul(select, arg1)  # float32[4]
            view_scatter = ops.view_scatter(arg0, mul, (('select', 0, 1),))  # float32[3, 4]
            add = ops.add(view_scatter, 1)  # float32[3, 4]
            return (add,)  # (float32[3, 4])
        """)
    assert result.mutated == [(0, 0)]
    assert [(spec.kind, spec.index, len(spec.views)) for spec in result.outputs] == [
        ("input", 0, 0), ("input", 0, 1)]


def written(fn: Any, *inputs: Any) -> GraphModule:
    module, fakes = captured(fn, inputs)
    return lower_graph(module, fakes, needs_grad=False).forward


def test_parts_are_written_where_they_are() -> None:
    def decode(cache: Any, k: Any, q: Any) -> Any:
        cache[:, 3:4] = k
        cache[0].add_(1)
        return q @ cache

    expect(written(decode, gw.zeros(2, 8), gw.zeros(2, 1), gw.zeros(3, 2)), """
        def forward(self, arg0, arg1, arg2):
            slice_3 = ops.slice(arg0, 1, 3, 4)  # float32[2, 1]
            copy_ = ops.copy_(slice_3, arg1)  # float32[2, 1]
            select = ops.select(arg0, 0, 0)  # float32[8]
            add = ops.add(select, 1)  # float32[8]
            select_3 = ops.select(arg0, 0, 0)  # float32[8]
            copy__1 = ops.copy_(select_3, add)  # float32[8]
            mm = ops.mm(arg2, arg0)  # float32[3, 8]
            return (mm,)  # (float32[3, 8])
        """)


def test_parts_that_are_read_with_what_they_replace() -> None:
    """No order of reads and writes would do: the new value is made, and the part written last."""
    def both(x: Any, y: Any) -> Any:
        old = x.clone()
        x[1:] = y
        return x * old

    expect(written(both, gw.zeros(3), gw.zeros(2)), """
        def forward(self, arg0, arg1):
            view_scatter = ops.view_scatter(arg0, arg1, (('slice', 0, 1, 3, 1),))  # float32[3]
            mul = ops.mul(view_scatter, arg0)  # float32[3]
            slice_3 = ops.slice(arg0, 0, 1, 3)  # float32[2]
            copy_ = ops.copy_(slice_3, arg1)  # float32[2]
            return (mul,)  # (float32[3])
        """)


def test_a_cache_is_written_after_the_lookup_and_before_the_attention() -> None:
    def decode(cache: Any, table: Any, token: Any) -> Any:
        row = table.index_select(0, token)
        cache[:, 2] = row
        scores = gw.softmax(row.unsqueeze(1) @ cache[:, :3].transpose(1, 2), -1)
        return scores @ cache[:, :3]

    names = [node.target.name for node in written(
        decode, gw.zeros(2, 8, 4), gw.zeros(5, 4), gw.tensor([0, 1])).graph.nodes
        if node.op == "call_function"]
    assert "view_scatter" not in names
    assert names.index("index_select") < names.index("copy_") < names.index("bmm")


def test_parts_that_are_exchanged() -> None:
    def swap(x: Any, y: Any) -> None:
        old = x[0].clone()
        x[0] = y[0]
        y[0] = old

    expect(written(swap, gw.zeros(2, 3), gw.zeros(2, 3)), """
        def forward(self, arg0, arg1):
            select = ops.select(arg0, 0, 0)  # float32[3]
            select_1 = ops.select(arg1, 0, 0)  # float32[3]
            clone_1 = ops.clone(select_1)  # float32[3]
            clone_2 = ops.clone(select)  # float32[3]
            select_6 = ops.select(arg0, 0, 0)  # float32[3]
            copy_ = ops.copy_(select_6, clone_1)  # float32[3]
            select_7 = ops.select(arg1, 0, 0)  # float32[3]
            copy__1 = ops.copy_(select_7, clone_2)  # float32[3]
            return ()  # ()
        """)


def test_writes_are_checked() -> None:
    module, _ = captured(lambda x: (x[1].mul_(2), x[1])[1], [gw.zeros(2, 3)])
    check_writes(module.graph)
    module, _ = captured(lambda x: (x[1], x.mul_(2), x[0])[0].exp(), [gw.zeros(2, 3)])
    with pytest.raises(GraphError, match="reads select, a view made before its memory arg0"):
        check_writes(module.graph)
    module, _ = captured(lambda x: x.exp().mul_(2), [gw.zeros(2, 3)])
    with pytest.raises(GraphError, match="writes exp, which is no argument"):
        check_writes(module.graph)


def rewritten(fn: Any, rewrite: Any, *inputs: Any) -> GraphModule:
    module, _ = captured(fn, inputs)
    rewrite(module)
    eliminate_dead_code(module)
    module.lint()
    return module


def test_algebra() -> None:
    def fn(x: Any, n: Any) -> Any:
        y = (x * 1.0 - 0).permute(1, 0).permute(1, 0)
        return y.neg().neg() + 0, gw.relu(y / gw.ones(())), n + 0 + 1

    expect(rewritten(fn, simplify, gw.zeros(2, 3), gw.zeros(3, dtype=gw.int64)), """
        def forward(self, arg0, arg1):
            add = ops.add(arg0, 0)  # float32[2, 3]
            relu = ops.relu(arg0)  # float32[2, 3]
            add_2 = ops.add(arg1, 1)  # int64[3]
            return (add, relu, add_2)  # (float32[2, 3], float32[2, 3], int64[3])
        """)


def test_common_subexpressions() -> None:
    def fn(x: Any) -> Any:
        return x.exp() + x.exp(), x * 1, x * 1.0, x * True, x.sum(0) + x.sum((0,))

    code = rewritten(fn, merge_common, gw.zeros(3)).code
    assert (code.count("ops.exp("), code.count("ops.mul("), code.count("ops.sum(")) == (1, 3, 1)


def test_constants() -> None:
    table = gw.ones(3)
    module = rewritten(lambda x: x * (table + 1).exp(), fold_constants, gw.zeros(3))
    expect(module, """
        def forward(self, arg0):
            folded = self.folded  # float32[3]
            mul = ops.mul(arg0, folded)  # float32[3]
            return (mul,)  # (float32[3])
        """)


def test_dump_names_the_passes() -> None:
    module, fakes = captured(lambda x: x.exp(), [leaf(3)])
    seen: list[str] = []
    lower_graph(module, fakes, needs_grad=True, dump=lambda name, graph: seen.append(name))
    assert list(dict.fromkeys(seen)) == [step.name for step in PASSES]
    assert seen.count("dce") == 1 and seen.count("outputs") == 2
