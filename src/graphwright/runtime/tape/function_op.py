"""A call of an `autograd.Function` as one op of a graph.

Forward is the op's decomposition and backward its gradient. What forward saves for backward is
recomputed by the gradient, in whose graph the two computations are then one. Forward and
backward must be functions of their tensors, without effects and without random numbers: whoever
puts a `FunctionCall` into a graph has made sure of that. What they write to tensors of their own
is refused by traces, which take the parts of an op to be functional.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime._core import TensorBase
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.fake.fake_tensor import WithoutData, make_fake
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Op, unlisted
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.record import Record
from graphwright.runtime.tape.function import Function, FunctionContext, FunctionNode
from graphwright.runtime.tape.node import Edge
from graphwright.runtime.tape.saved import SavedTensor


class FunctionCall:
    """`cls.apply` as the target of a graph's node: one op while graphs are made of graphs."""

    def __init__(self, cls: type[Function]) -> None:
        self.cls = cls
        self.__name__ = self.__qualname__ = cls.__name__
        self.__module__ = cls.__module__

    def __call__(self, *args: Any) -> Any:
        slots = tuple(i for i, arg in enumerate(args) if isinstance(arg, TensorBase))
        if not slots or not getattr(_core.tracer(), "whole_functions", False):
            return self.cls.apply(*args)
        return _Call(self.cls, args, slots).record([args[slot] for slot in slots])


class _Results(Record):
    """What a call gives: values with None in place of tensors, and what the tensors are.

    constant: the positions of tensors that carry no gradient.
    """

    single: bool
    values: tuple[Any, ...]
    specs: tuple[TensorSpec, ...]
    constant: frozenset[int]


class _Call:
    """One call: its arguments that are no tensors stay, its tensors are the op's arguments."""

    def __init__(
        self, cls: type[Function], args: tuple[Any, ...], slots: tuple[int, ...]
    ) -> None:
        self.cls, self.args, self.slots = cls, args, slots
        self.needs = tuple(isinstance(a, TensorBase) and a.requires_grad for a in args)
        self.results = self._rehearse()
        names = tuple(f"tensor{slot}" for slot in slots)
        self.op: Op = unlisted(
            f"{cls.__name__}({', '.join(f'Tensor {name}' for name in names)})",
            meta=lambda *tensors: self.results.specs,
            vjp=self._gradient,
            saves=names,
            decompose=self._forward_only,
            call=self.record_or_run,
        )

    def record_or_run(self, *tensors: Any) -> Any:
        """The op's tensors: recorded in a trace, else by the function itself."""
        if getattr(_core.tracer(), "whole_functions", False):
            return dispatch(self.op, tensors)
        out = self.cls.apply(*self._arguments(tensors))
        outputs = (out,) if self.results.single else out
        return tuple([value for value in outputs if isinstance(value, TensorBase)])

    def record(self, tensors: Sequence[Any]) -> Any:
        """The results of `apply`, by way of the op."""
        made = iter(dispatch(self.op, tuple(tensors)))
        results = [next(made) if value is None else value for value in self.results.values]
        for position in self.results.constant:
            results[position] = ops.detach(results[position])
        return results[0] if self.results.single else tuple(results)

    def _arguments(self, tensors: Sequence[Any]) -> list[Any]:
        args = list(self.args)
        for slot, tensor in zip(self.slots, tensors, strict=True):
            args[slot] = tensor
        return args

    def _forward(self, tensors: Sequence[Any], needs: tuple[bool, ...]) -> Any:
        """The context and the result of forward, run without gradients."""
        context = FunctionContext()
        context.needs_input_grad = needs
        args = tuple(self._arguments(tensors))
        with _functional():
            return context, _core.with_grad_mode(False, self.cls._run_forward, context, args)

    def _forward_only(self, *tensors: Any) -> tuple[Any, ...]:
        _, out = self._forward(tensors, self.needs)
        outputs = (out,) if self.results.single else out
        return tuple([value for value in outputs if isinstance(value, TensorBase)])

    def _rehearse(self) -> _Results:
        """Run forward on fake tensors, for the number, shapes and dtypes of its results."""
        tracer = _core.set_tracer(WithoutData())
        try:
            fakes = [_copy_of(self.args[slot]) for slot in self.slots]
            context, out = self._forward(fakes, self.needs)
        finally:
            _core.set_tracer(tracer)
        single = isinstance(out, TensorBase)
        outputs = (out,) if single else tuple(out)
        tensors = [value for value in outputs if isinstance(value, TensorBase)]
        constant = {id(tensor) for tensor in context._non_differentiable}
        return _Results(
            single,
            tuple([None if isinstance(value, TensorBase) else value for value in outputs]),
            tuple([TensorSpec(t.shape, t.stride(), t.dtype, t.device) for t in tensors]),
            frozenset([i for i, value in enumerate(outputs) if id(value) in constant]),
        )

    def _gradient(self, saved: Any, *grads: Any) -> tuple[Any, ...]:
        """The op's vjp: forward again for what it saves, then backward."""
        tensors = [getattr(saved, name) for name in self.op.names]
        needed = [saved.needs[name] for name in self.op.names]
        needs = [False] * len(self.args)
        edges: list[Edge] = [None] * len(self.args)
        inputs: list[Any] = [None] * len(self.args)
        for slot, tensor, need in zip(self.slots, tensors, needed, strict=True):
            needs[slot], inputs[slot] = need, (tensor.shape, tensor.dtype)
            edges[slot] = (tensor, 0) if need else None
        context, out = self._forward(tensors, tuple(needs))
        context._saved = [(t if t is None else SavedTensor(t), 0) for t in context._to_save]
        node = FunctionNode(self.cls, context, edges, inputs)
        outputs, given = (out,) if self.results.single else out, iter(grads)
        arriving: list[Any] = []
        for value in outputs:
            tensor = isinstance(value, TensorBase)
            node.outputs.append(
                (value.shape, value.dtype, value.device) if tensor else ((), None, None)
            )
            arriving.append(next(given) if tensor else None)
        with _functional():
            results = node.compute(arriving)
        return tuple([results[slot] for slot in self.slots])


@contextmanager
def _functional() -> Iterator[None]:
    """Within the block the thread's trace, if there is one, refuses ops that write."""
    tracer = _core.tracer()
    before = getattr(tracer, "functional", None)
    if before is None:
        yield
        return
    tracer.functional = True
    try:
        yield
    finally:
        tracer.functional = before


def _copy_of(tensor: Any) -> Any:
    return make_fake(tensor.shape, tensor.stride(), tensor.dtype, tensor.device)
