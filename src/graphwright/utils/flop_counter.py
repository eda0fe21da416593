"""`utils.flop_counter`: how many floating point operations products, convolutions, attention and
recurrences take, forward and backward.

A multiplication and an addition count as two. What is computed from few elements at a time
(elementwise functions, sums, softmax) is not counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from math import prod
from typing import Any

from graphwright.nn.module import Module
from graphwright.runtime.ops.table import Op
from graphwright.utils.module_tracer import ModuleTracer, run_untraced

__all__ = ["FlopCounterMode"]

Counts = dict[str, dict[str, int]]


def _product(a: Any, b: Any, *rest: Any) -> int:
    """[..., M, K] @ [..., K, N]: 2 M N K for each pair of matrices."""
    return 2 * a.numel() * b.shape[-1]


def _linear(input: Any, weight: Any, *rest: Any) -> int:
    return 2 * input.numel() * weight.shape[0]


def _convolution(
    input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, *rest: Any, out: Any,
) -> int:
    """Each element of the result (transposed: of the input) meets one filter."""
    return 2 * (input if transposed else out).numel() * prod(weight.shape[1:])


def _attention(query: Any, key: Any, value: Any, *rest: Any) -> int:
    """Two products: of queries and keys, of weights and values."""
    pairs = query.numel() // query.shape[-1] * key.shape[-2]
    return 2 * pairs * (query.shape[-1] + value.shape[-1])


def _attention_backward(grad: Any, query: Any, key: Any, value: Any, *rest: Any) -> int:
    """Five products: the weights again, and the gradients of them and of all three inputs."""
    pairs = query.numel() // query.shape[-1] * key.shape[-2]
    return 2 * pairs * (3 * query.shape[-1] + 2 * value.shape[-1])


def _recurrence(
    mode: str, input: Any, hidden: Any, cell: Any, weight: Any, bias: Any,
    input_weight: Any = None, *rest: Any,
) -> int:
    """Each step and example multiplies the input and the hidden state by the weights."""
    ours = 0 if input_weight is None else input_weight.numel()
    return 2 * input.shape[0] * input.shape[1] * (weight.numel() + ours)


FORMULAS: dict[str, Callable[..., int]] = {
    **dict.fromkeys(("mm", "bmm"), _product),
    "linear": _linear,
    "convolution": _convolution,
    "conv_input_grad": lambda grad, weight, *rest, out: 2 * grad.numel() * prod(weight.shape[1:]),
    "conv_weight_grad": lambda grad, input, *rest, out: 2 * grad.numel() * prod(out.shape[1:]),
    "fused_attention": _attention,
    "attention_backward": _attention_backward,
    "recurrence": _recurrence,
}
"""Op name -> function of its arguments; those of `WITH_RESULT` take the result as `out`."""

WITH_RESULT = frozenset({"convolution", "conv_input_grad", "conv_weight_grad"})


class FlopCounterMode(ModuleTracer):
    """Counts while it is entered, in this thread.

    Args:
        mods: without effect.
        depth: how many levels of modules the table has.
        display: whether the table is printed at the end.
        custom_mapping: further formulas: op name -> function of the op's arguments.

    Counts are by module, under the names of the path from the outermost one that is called
    ("Net.encoder.0"), and by op; "Global" has them all. Backward passes count there alone.
    """

    def __init__(
        self, mods: Any = None, depth: int | None = 2, display: bool = True,
        custom_mapping: dict[str, Callable[..., int]] | None = None,
    ) -> None:
        super().__init__()
        self.depth, self.display = depth, display
        self.flop_counts: Counts = defaultdict(lambda: defaultdict(int))
        self._formulas = {**FORMULAS, **(custom_mapping or {})}
        self._names: dict[int, str] = {}

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts.clear()
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()
        if self.display:
            print(self.get_table())

    def record(self, op: Op, args: tuple[Any, ...]) -> Any:
        """Run an op, as `dispatch` asks of who traces, or leave it to what it consists of."""
        formula = self._formulas.get(op.name)
        if formula is None and op.decompose is not None:
            return NotImplemented
        out = run_untraced(op, args)
        if formula is not None:
            count = formula(*args, **({"out": out} if op.name in WITH_RESULT else {}))
            for name in ("Global", *self.inside):
                self.flop_counts[name][op.name] += count
        return out

    def path_of(self, module: Module) -> str:
        """The path from the outermost module that is called, between dots."""
        if not self.inside:
            root = type(module).__name__
            self._names = {id(part): f"{root}.{path}" if path else root
                           for path, part in module.named_modules()}
        return self._names.get(id(module), type(module).__name__)

    def get_total_flops(self) -> int:
        """The number of all."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> Counts:
        """Module name -> op name -> number."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """Module, number and share of all, a line each."""
        levels = depth if depth is not None else self.depth
        total = max(self.get_total_flops(), 1)
        rows = [("Module", "FLOP", "% Total")]
        for name, counts in self.flop_counts.items():
            level = 0 if name == "Global" else name.count(".") + 1
            if levels is None or level <= levels:
                number = sum(counts.values())
                rows.append((" " * level + name, f"{number:,}", f"{100 * number / total:.2f}%"))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            f"{name:<{widths[0]}}  {number:>{widths[1]}}  {share:>{widths[2]}}"
            for name, number, share in rows)
