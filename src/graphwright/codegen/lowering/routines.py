"""Ops that programs on CPUs compute by a routine of the runtime core: the rules of `ROUTINES`.

Packages and other programs that run without the runtime have none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphwright.codegen.loops import Const
from graphwright.codegen.lowering.context import (
    Lowering,
    Tensor,
    apply,
    broadcast_index,
    computed,
    const,
    convert,
    shape_of,
)
from graphwright.codegen.lowering.nodes import Byproduct, Gemm, Given, Read, Routine, Shape
from graphwright.codegen.lowering.rules import Call, Rule
from graphwright.codegen.lowering.views import permute, reshape
from graphwright.runtime.ops.sequences.recurrent_cells import GATES
from graphwright.runtime.symbolic.expr import Expr, Int, as_expr, as_int, product
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype

Result = tuple[Shape, dtype]
Sizes = Sequence[Any]
FEW_CHANNELS = 16
"""Up to here convolutions take the taps of a line as one: see channels_last.h."""


def call_routine(
    context: Lowering, routine: str, results: tuple[Result, ...],
    operands: tuple[Given | None, ...], sizes: Shape, numbers: tuple[float, ...] = (),
) -> tuple[Tensor, ...]:
    """The results of a routine: see `Routine`."""
    (shape, kind), *more = results
    name = context.unique(routine)
    first = context.add(Routine(
        name, shape, kind, routine, operands, sizes, numbers, len(more)))
    return first, *(
        context.add(Byproduct(context.unique(routine), shape, kind, name, number))
        for number, (shape, kind) in enumerate(more, 1))


def mask_term(value: Read | Const, kind: dtype) -> Any:
    """What an element of a mask adds to a score of this dtype."""
    if value.dtype is dtypes.bool:
        return apply("where", value, const(0, kind), Const(float("-inf"), kind), dtype=kind)
    return convert(value, kind)


def _fused_attention(
    context: Lowering, call: Call, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None,
    causal: bool, scale: float,
) -> tuple[Tensor, Tensor]:
    heads = _Heads(context, query, key, value, mask)
    found = call_routine(
        context, "attention",
        ((heads.of(query, value.shape[-1]), heads.kind), (heads.of(query, Int(2)), heads.kind)),
        heads.operands, heads.sizes(causal), (float(scale),))
    return (context.converted(heads.like(found[0], query), query.dtype),
            heads.like(found[1], query))


def _attention_backward(
    context: Lowering, call: Call, grad: Tensor, query: Tensor, key: Tensor, value: Tensor,
    mask: Tensor | None, out: Tensor, levels: Tensor, causal: bool, scale: float,
) -> tuple[Tensor, ...]:
    heads = _Heads(context, query, key, value, mask)
    whole = tuple(Given(heads.flat(x).name, 4) for x in (grad, out, levels))
    found = call_routine(
        context, "attention_backward",
        tuple((heads.of(x, x.shape[-1]), heads.kind) for x in (query, key, value)),
        (*heads.operands, *whole), heads.sizes(causal), (float(scale),))
    return tuple(context.converted(heads.like(result, x), x.dtype)
                 for result, x in zip(found, (query, key, value), strict=True))


class _Heads:
    """The operands of attention as [batch, heads, rows, size], of a dtype that it computes in."""

    def __init__(self, context: Lowering, query: Tensor, key: Tensor, value: Tensor,
                 mask: Tensor | None) -> None:
        self.context = context
        self.kind = computed(query.dtype)
        self.query, self.key, self.value = query, key, value
        lead = query.shape[:-2]
        self.lead = (product(lead[:-1]), lead[-1]) if lead else (Int(1), Int(1))
        given = [Given(self.flat(x).name, 1, apart=True) for x in (query, key, value)]
        self.operands = (*given, None if mask is None else Given(self._added(mask).name, 1))

    def of(self, like: Tensor, last: Expr) -> Shape:
        """The shape of what has the rows of a tensor, and elements of another size."""
        return (*self.lead, like.shape[-2], last)

    def flat(self, x: Tensor) -> Tensor:
        """A tensor with two dims in front of its matrices."""
        wide = self.context.converted(x, self.kind)
        return reshape(self.context, "heads", wide, self.of(x, x.shape[-1]))

    def like(self, x: Tensor, other: Tensor) -> Tensor:
        """A result with the dims in front of another tensor's matrices."""
        return reshape(self.context, "heads", x, (*other.shape[:-2], *x.shape[-2:]))

    def _added(self, mask: Tensor) -> Tensor:
        """The mask's terms, which the scores of several rows or heads may share."""
        context, kind = self.context, self.kind
        shape = (*self.query.shape[:-1], self.key.shape[-2])
        terms = mask if mask.dtype is kind else context.pointwise(
            "mask", mask.shape, kind, lambda index: mask_term(mask.at(index), kind))
        wide = context.view(
            "expand", terms, shape, lambda index: broadcast_index(terms, index, shape))
        return reshape(context, "heads", wide, (*self.lead, *shape[-2:]))

    def sizes(self, causal: bool) -> Shape:
        """Those that the routines take."""
        return (Int(self.kind.code), *self.lead, self.query.shape[-2], self.key.shape[-2],
                self.query.shape[-1], self.value.shape[-1], Int(int(causal)))


def _takes_convolution(node: Any) -> bool:
    """Whether a convolution has a lowering: of float32, over one or two dims, whose channels and
    kernel have known sizes; of transposed ones those whose windows lie side by side."""
    x, weight, _, stride, padding, dilation, transposed, more, groups = node.args
    shape = weight.meta["val"].shape
    if (x.meta["val"].dtype is not dtypes.float32 or len(shape) not in (3, 4)
            or not all(type(size) is int and size for size in (groups, *shape))):
        return False
    return not transposed or (groups == 1 and not any((*padding, *more)) and tuple(
        stride) == tuple(shape[2:]) and set(dilation) == {1})


def _convolution(
    context: Lowering, call: Call, x: Tensor, weight: Tensor, bias: Tensor | None, stride: Sizes,
    padding: Sizes, dilation: Sizes, transposed: bool, output_padding: Sizes, groups: int,
) -> Tensor:
    """It reads and writes channels last."""
    if transposed:
        return _spread(context, call, x, weight, bias)
    if x.ndim == 3:
        lines, row = (_with_height(context, t) for t in (x, weight))
        made = _convolved(context, lines, row, bias, (*call.shape[:2], Int(1), call.shape[2]), (
            (1, *stride), (0, *padding), (1, *dilation)), groups)
        return reshape(context, "lines", made, call.shape)
    return _convolved(context, x, weight, bias, call.shape, (stride, padding, dilation), groups)


def _spread(
    context: Lowering, call: Call, x: Tensor, weight: Tensor, bias: Tensor | None
) -> Tensor:
    """Each place becomes a window of its own: a product of places with the weight."""
    batch, channels, *places = x.shape
    outs, *kernel = weight.shape[1:]
    ndim = len(places)
    last = permute(context, x, (0, *range(2, ndim + 2), 1))
    rows = reshape(context, "rows", last, (product((batch, *places)), channels))
    matrix = reshape(context, "matrix", weight, (channels, product((outs, *kernel))))
    y = context.add(Gemm(context.unique("mm"), (rows.shape[0], matrix.shape[1]), x.dtype,
                         rows.name, matrix.name, channels))
    y = reshape(context, "windows", y, (batch, *places, outs, *kernel))
    sides = [side for d in range(ndim) for side in (1 + d, ndim + 2 + d)]
    y = permute(context, y, (0, ndim + 1, *sides))
    y = reshape(context, "places", y, call.shape)
    if bias is None:
        return y
    return context.pointwise("add", call.shape, call.dtype, lambda index: apply(
        "add", y.at(index), bias.at(index[1:2])))


def _with_height(context: Lowering, x: Tensor) -> Tensor:
    return reshape(context, "lines", x, (*x.shape[:2], Int(1), x.shape[2]))


def _convolved(
    context: Lowering, x: Tensor, weight: Tensor, bias: Tensor | None, shape: Shape,
    windows: tuple[Sizes, ...], groups: int,
) -> Tensor:
    """windows: stride, padding and dilation. shape: of the result."""
    batch, outs, *out = shape
    kernel, (*_, gap) = weight.shape[2:], windows[2]
    channels = as_int(weight.shape[1])
    joins = (channels is not None and channels <= FEW_CHANNELS and groups == gap == 1
             and kernel[1] != 1 and (outs, channels) != (1, 1))
    sizes = (batch, *x.shape[2:], *out, *kernel,
             *(as_expr(size) for sizes in windows for size in sizes), Int(groups),
             weight.shape[1], outs // groups, Int(int(joins)))
    last = permute(context, x, (0, 2, 3, 1))
    operands = (Given(last.name, 0 if joins else 1), Given(weight.name, 4),
                None if bias is None else Given(bias.name, 1))
    (y,) = call_routine(
        context, "convolution", (((batch, *out, outs), dtypes.float32),), operands, sizes)
    return permute(context, y, (0, 3, 1, 2))


class _Steps:
    """The operands of a recurrent layer, in a dtype that it computes in."""

    def __init__(self, context: Lowering, mode: str, input: Tensor, weight: Tensor) -> None:
        self.context, self.mode = context, mode
        self.kind = computed(input.dtype)
        self.steps, self.batch, self.width = input.shape
        self.hidden = weight.shape[1]

    def given(self, x: Tensor | None, dense: int | None = None) -> Given | None:
        """An operand without gaps but between its first dims."""
        if x is None:
            return None
        wide = self.context.converted(x, self.kind)
        return Given(wide.name, len(x.shape) if dense is None else dense)

    def sizes(self, reverse: bool, save: bool) -> Shape:
        """Those that the routines take."""
        return (Int(list(GATES).index(self.mode)), Int(self.kind.code), self.steps,
                self.batch, self.hidden, Int(int(reverse)), Int(int(save)), self.width)

    def call(
        self, routine: str, call: Call, operands: tuple[Given | None, ...], sizes: Shape
    ) -> tuple[Tensor, ...]:
        """The results of a routine, in the dtypes and shapes of the op's."""
        results = tuple((shape_of(val.shape), self.kind) for val in call.val)
        found = call_routine(self.context, routine, results, operands, sizes)
        return tuple(self.context.converted(result, val.dtype)
                     for result, val in zip(found, call.val, strict=True))


def _recurrence(
    context: Lowering, call: Call, mode: str, input: Tensor, hidden: Tensor, cell: Tensor | None,
    weight: Tensor, bias: Tensor | None, input_weight: Tensor | None, input_bias: Tensor | None,
    reverse: bool, save: bool,
) -> tuple[Tensor, ...]:
    steps = _Steps(context, mode, input, weight)
    operands = (steps.given(input, 1),
                *map(steps.given, (hidden, cell, weight, bias, input_weight, input_bias)))
    return steps.call("recurrence", call, operands, steps.sizes(reverse, save))


def _recurrence_backward(
    context: Lowering, call: Call, grad: Tensor, last: Tensor | None, mode: str, input: Tensor,
    hidden: Tensor, cell: Tensor | None, weight: Tensor, bias: Tensor | None,
    input_weight: Tensor | None, input_bias: Tensor | None, reverse: bool, out: Tensor,
    cells: Tensor, saved: Tensor,
) -> tuple[Tensor, ...]:
    steps = _Steps(context, mode, input, weight)
    read = (grad, last, hidden, cell, weight, out, cells if mode == "LSTM" else None,
            saved if mode in ("LSTM", "GRU") else None)
    return steps.call("recurrence_backward", call, tuple(map(steps.given, read)),
                      steps.sizes(reverse, True))


ROUTINES: dict[str, Rule] = {
    "attention_backward": _attention_backward,
    "convolution": _convolution,
    "fused_attention": _fused_attention,
    "recurrence": _recurrence,
    "recurrence_backward": _recurrence_backward,
}
TAKES: dict[Rule, Callable[[Any], bool]] = {_convolution: _takes_convolution}
"""Whether a node of the graph has a lowering by the rule; the other rules take all."""
