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

from graphwright.ir.graph_module import GraphModule
from graphwright.ir.node import Node
from graphwright.runtime.ops.table import Kind, Op

_SURE = frozenset([Kind.POINTWISE, Kind.REDUCTION, Kind.VIEW, Kind.RANDOM, Kind.CREATION])
_DIVIDES = frozenset(["div", "remainder", "fmod", "floor_divide"])
_TAKES_ALL = frozenset(
    [
        *("copy_", "cat", "constant_pad", "flip", "as_strided_scatter"),
        *("mm", "bmm", "matrix_exp", "linalg_det", "cofactors", "sign_and_log_det"),
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
        return not node.meta["val"].dtype.is_floating_point
    return op.kind not in _SURE


def keep_refusals(module: GraphModule) -> None:
    """See the module's docstring."""
    output = module.graph.output_node
    unread = [node for node in module.graph.nodes if not node.users and may_refuse(node)]
    with module.graph.inserting_before(output):
        results = [_tensor(module, node) for node in unread]
    module.graph.set_results([*output.args[0], *results])


def _tensor(module: GraphModule, node: Node) -> Node:
    value = node.meta["val"]
    if not isinstance(value, tuple):
        return node
    part = module.graph.call_function(operator.getitem, (node, 0))
    part.meta = {**node.meta, "val": value[0]}
    return part
