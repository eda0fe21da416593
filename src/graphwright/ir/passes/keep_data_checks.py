"""Ops that look at what their tensors hold and may raise stay, whether or not they are read.

Before::

    index_select = ops.index_select(x, 0, index)
    zeros = ops.full((3,), 0.0)
    return (zeros,)

After::

    index_select = ops.index_select(x, 0, index)
    zeros = ops.full((3,), 0.0)
    return (zeros, index_select)

Eager execution raises where an index is out of bounds, or a matrix has no inverse, also if nobody
wants the result; so the graph computes it, behind all other results, and the caller drops it.
"""

from __future__ import annotations

import operator
from typing import Any

from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node
from graphwright.ir.passes.algebra import same_sizes
from graphwright.ir.passes.cse import key_of
from graphwright.runtime.ops.table import TABLE, Kind, Op
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.dtypes import int64

_SURE = frozenset([Kind.POINTWISE, Kind.REDUCTION, Kind.VIEW, Kind.RANDOM, Kind.CREATION])
_DIVIDES = frozenset(["div", "remainder", "fmod", "floor_divide"])
_TAKES_ALL = frozenset(
    [
        *("copy_", "cat", "constant_pad", "flip", "as_strided_scatter", "view_scatter"),
        "_unsafe_view",
        *("mm", "bmm", "matrix_exp"),
        *("linalg_det", "cofactors", "cofactors_backward", "sign_and_log_det"),
        *("argsort", "kth_position", "median_position", "mode_position", "topk_positions"),
        *("cumprod", "cumsum", "logcumsumexp", "running_max", "running_min", "isin"),
        *("convolution", "conv_input_grad", "conv_weight_grad", "col2im", "im2col"),
        *("avg_pool", "avg_pool_backward", "adaptive_max_pool", "max_pool_with_indices"),
        *("resample", "resample_backward", "recurrence", "fused_attention", "frexp_parts"),
        *("fft_c2c", "fft_c2r", "fft_r2c"),
    ]
)


def may_refuse(node: Node) -> bool:
    """Whether what tensors hold could make a node of primitives raise."""
    op = node.target
    if not isinstance(op, Op) or op.is_inplace or op.name in _TAKES_ALL:
        return False
    if op.name in _DIVIDES:
        dtype = node.meta["val"].dtype
        return not dtype.is_floating_point and may_be_zero(node.args[1], dtype)
    return op.kind not in _SURE


def may_be_zero(divisor: Any, dtype: DType) -> bool:
    """Whether a divisor may be 0 in an integer dtype, into whose bits numbers are wrapped."""
    if type(divisor) is SymInt:
        low, high = divisor.expr.range()
        apart = (low is not None and low > 0) or (high is not None and high < 0)
        return dtype.itemsize < int64.itemsize or not apart
    return type(divisor) is not int or divisor % (1 << 8 * dtype.itemsize) == 0


def keep_refusals(module: GraphModule) -> None:
    """See the module's docstring."""
    output = module.graph.output_node()
    unread = [node for node in module.graph.nodes if not node.users and may_refuse(node)]
    for node in filter(_is_repeated, unread):
        module.graph.erase_node(node)
    unread = [node for node in unread if not node.erased]
    with module.graph.inserting_before(output):
        results = [_tensor(module, node) for node in unread]
    module.graph.set_results([*output.args[0], *results])


def _is_repeated(node: Node) -> bool:
    """Whether what is read is written by the same indices, which raises as well."""
    if node.target is not TABLE["index"]:
        return False
    shape, indices = node.args[0].meta["val"].shape, node.args[1]
    return any(
        same_sizes(put.args[0].meta["val"].shape, shape) and len(put.args[1]) == len(indices)
        and all(map(_is_same, put.args[1], indices))
        for put in node.graph.find_nodes(op="call_function", target=TABLE["index_put"]))


def _is_same(one: Node | None, two: Node | None) -> bool:
    """Whether two indices are one, or the same view of one."""
    if one is None or two is None or one is two:
        return one is two
    return (
        one.target is two.target and getattr(one.target, "is_view", False)
        and key_of(one.args[1:]) == key_of(two.args[1:]) and _is_same(one.args[0], two.args[0]))


def _tensor(module: GraphModule, node: Node) -> Node:
    value = node.meta["val"]
    if not isinstance(value, tuple):
        return node
    part = module.graph.call_function(operator.getitem, (node, 0))
    part.meta = {**node.meta, "val": value[0]}
    return part
