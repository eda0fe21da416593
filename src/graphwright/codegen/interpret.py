"""A slow reference evaluator of native programs over NumPy, for tests.

VECTOR loops run on arrays of lanes, all others one iteration at a time, in order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphwright.codegen.loops import (
    Accumulate,
    Apply,
    Axis,
    Buffer,
    Check,
    Const,
    For,
    IndexOf,
    Let,
    Load,
    Local,
    LoopKind,
    Philox,
    Reduce,
    Stmt,
    Store,
)
from graphwright.codegen.program import Gemm, NativeProgram, RoutineCall, Step, step_buffers
from graphwright.runtime import _core
from graphwright.runtime.symbolic.expr import (
    Add,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Mod,
    Mul,
    Sym,
)
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.array_casts import cast_array

Memory = dict[str, np.ndarray]
Env = dict[str, Any]

UNARY: dict[str, Callable[..., Any]] = {
    "neg": np.negative, "abs": np.abs, "sqrt": np.sqrt,
    "sign": lambda x: np.subtract(x > 0, x < 0, dtype=np.int8),
    "rsqrt": lambda x: 1 / np.sqrt(x), "reciprocal": lambda x: 1 / x,
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "log2": np.log2,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "erf": np.vectorize(math.erf, otypes=[float]),
    "normal_cdf": np.vectorize(lambda x: 0.5 * math.erfc(-x * math.sqrt(0.5)), otypes=[float]),
    "floor": np.floor, "ceil": np.ceil, "round": np.rint, "trunc": np.trunc,
    "isnan": np.isnan, "isinf": np.isinf,
    "not": lambda x: ~x,
}
BINARY: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    "floordiv": np.floor_divide, "truncdiv": lambda a, b: np.trunc(np.divide(a, b)),
    "remainder": np.remainder, "fmod": np.fmod, "pow": np.power, "atan2": np.arctan2,
    "max": np.maximum, "min": np.minimum,
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
    "gt": np.greater, "ge": np.greater_equal,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    "shl": np.left_shift, "shr": np.right_shift,
}
FOLDS: dict[str, Callable[..., Any]] = {
    "sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "any": np.any, "all": np.all,
    "argmax": np.argmax, "argmin": np.argmin,
}


class IndexOutOfRange(IndexError):
    """A Check failed."""


class Evaluator:
    """Runs a program. `uniform(rng_index, positions)` gives the random numbers."""

    def __init__(
        self, program: NativeProgram, uniform: Callable[[int, Any], Any] | None = None
    ) -> None:
        self.program = program
        self.uniform = uniform
        self.memory: Memory = {}

    def run(self, inputs: Sequence[np.ndarray], sizes: dict[str, int]) -> list[np.ndarray]:
        """The outputs' buffers as strided arrays. Inputs are flat arrays over their memory."""
        program = self.program
        for buffer, array in zip(program.inputs, inputs, strict=True):
            self.memory[buffer.name] = array
        arena = np.full(evaluate(program.arena_bytes, sizes), 0xA5, np.uint8)
        for step in program.steps:
            self._allocate(step, arena, sizes)
        for output in program.outputs:
            self._output(output.buffer, sizes)
        with np.errstate(all="ignore"):
            for step in program.steps:
                if isinstance(step, Gemm):
                    self._gemm(step, sizes)
                elif isinstance(step, RoutineCall):
                    self._routine(step, sizes)
                else:
                    self._block(step.body, dict(sizes))
        return [self._strided(o, sizes) for o in program.outputs]

    def _allocate(self, step: Step, arena: np.ndarray, sizes: dict[str, int]) -> None:
        for buffer in step_buffers(step):
            if buffer.name in self.memory:
                continue
            slot = self.program.slots[buffer.name]
            if slot.offset is None:
                assert slot.kind == "output", f"{buffer.name} has no place in the arena"
                self._output(buffer, sizes)
                continue
            whole = arena
            if slot.kind == "output":
                lender = self.program.outputs[slot.index].buffer
                self._output(lender, sizes)
                whole = self.memory[lender.name].view(np.uint8)
            start = evaluate(slot.offset, sizes)
            length = evaluate(buffer.size, sizes) * buffer.dtype.itemsize
            assert start + length <= whole.size, f"{buffer.name} leaves its memory"
            self.memory[buffer.name] = whole[start:start + length].view(buffer.dtype.numpy)

    def _output(self, buffer: Buffer, sizes: dict[str, int]) -> None:
        if buffer.name not in self.memory:
            size = evaluate(buffer.size, sizes)
            raw = np.full(size * buffer.dtype.itemsize, 0x5A, np.uint8)
            self.memory[buffer.name] = raw.view(buffer.dtype.numpy)

    def _strided(self, output: Any, sizes: dict[str, int]) -> np.ndarray:
        array = self.memory[output.buffer.name]
        shape = tuple(evaluate(e, sizes) for e in output.shape)
        strides = tuple(evaluate(e, sizes) * array.itemsize for e in output.strides)
        return np.lib.stride_tricks.as_strided(array, shape, strides)

    def _gemm(self, step: Gemm, sizes: dict[str, int]) -> None:
        m, n, k, batch = (evaluate(e, sizes) for e in (step.m, step.n, step.k, step.batch))
        out = self.memory[step.out.name]
        for b in range(batch):
            left = self._matrix(step.a, step.transa, m, k, step.lda,
                                step.offset_a + b * step.stride_a, sizes)
            right = self._matrix(step.b, step.transb, k, n, step.ldb,
                                 step.offset_b + b * step.stride_b, sizes)
            start = b * evaluate(step.stride_c, sizes)
            target = np.lib.stride_tricks.as_strided(
                out[start:], (m, n), (evaluate(step.ldc, sizes) * out.itemsize, out.itemsize))
            target[...] = step.alpha * (left @ right) + (
                step.beta * target if step.beta else 0)

    def _matrix(self, buffer: Buffer, transposed: bool, rows: int, columns: int, leading: Expr,
                offset: Expr, sizes: dict[str, int]) -> np.ndarray:
        memory = self.memory[buffer.name]
        start, step = evaluate(offset, sizes), evaluate(leading, sizes)
        shape = (columns, rows) if transposed else (rows, columns)
        assert step >= shape[1], "the leading dimension is too small"
        view = np.lib.stride_tricks.as_strided(
            memory[start:], shape, (step * memory.itemsize, memory.itemsize))
        assert start + (shape[0] - 1) * step + shape[1] <= memory.size, "a matrix leaves memory"
        return view.T if transposed else view

    def _routine(self, step: RoutineCall, sizes: dict[str, int]) -> None:
        arrays = [None if b is None else self.memory[b.name] for b in step.results]
        arrays += [None if b is None else self.memory[b.name][evaluate(offset, sizes):]
                   for b, offset in step.operands]
        _core.call_routine(_core.ROUTINES[step.routine], tuple(arrays),
                           tuple(evaluate(size, sizes) for size in step.sizes), step.numbers)

    def _block(self, stmts: Sequence[Stmt], env: Env) -> None:
        for stmt in stmts:
            RUN[type(stmt)](self, stmt, env)

    def for_(self, stmt: For, env: Env) -> None:
        extent = evaluate(stmt.axis.extent, env)
        name = stmt.axis.symbol.name
        if stmt.kind is LoopKind.VECTOR:
            if extent:
                self._block(stmt.body, {**env, name: np.arange(extent)})
            return
        for position in range(extent):
            self._block(stmt.body, {**env, name: position})

    def let(self, stmt: Let, env: Env) -> None:
        env[stmt.name] = self.value(stmt.value, env)

    def store(self, stmt: Store, env: Env) -> None:
        index, value = np.broadcast_arrays(
            evaluate(stmt.index, env), self.value(stmt.value, env))
        if stmt.mask is not None:
            keep = np.broadcast_to(self.value(stmt.mask, env), index.shape)
            index, value = index[keep], value[keep]
        self._inside(index, stmt.buffer)
        self.memory[stmt.buffer.name][index] = value

    def accumulate(self, stmt: Accumulate, env: Env) -> None:
        index, value = np.broadcast_arrays(
            evaluate(stmt.index, env), self.value(stmt.value, env))
        assert np.unique(index).size == index.size, "lanes add to the same element"
        self._inside(index, stmt.buffer)
        self.memory[stmt.buffer.name][index] += value

    def check(self, stmt: Check, env: Env) -> None:
        value = np.asarray(self.value(stmt.value, env))
        bound = evaluate(stmt.bound, env)
        bad = value[(value < 0) | (value >= bound)]
        if bad.size:
            raise IndexOutOfRange(stmt.text.format(value=bad.flat[0], bound=bound))

    def reduce(self, stmt: Reduce, env: Env) -> None:
        collected: list[list[Any]] = [[] for _ in stmt.folds]
        self._gather(stmt, stmt.axes, dict(env), collected)
        for fold, values in zip(stmt.folds, collected, strict=True):
            array = np.array(np.broadcast_arrays(*values)) if values else np.array([])
            if stmt.kind is LoopKind.VECTOR and values:
                array = array.reshape(-1)
            env[fold.name] = _fold(fold.op, array, fold.value.dtype)

    def _gather(self, stmt: Reduce, axes: tuple[Axis, ...], env: Env, out: Any) -> None:
        if not axes:
            self._block(stmt.prologue, env)
            for fold, values in zip(stmt.folds, out, strict=True):
                value = self.value(fold.value, env)
                if stmt.kind is LoopKind.VECTOR:
                    lanes = env[stmt.axes[-1].symbol.name]
                    value = np.broadcast_to(value, lanes.shape)
                values.append(value)
            return
        axis, *rest = axes
        extent = evaluate(axis.extent, env)
        name = axis.symbol.name
        if not rest and stmt.kind is LoopKind.VECTOR:
            if extent:
                self._gather(stmt, (), {**env, name: np.arange(extent)}, out)
            return
        for position in range(extent):
            self._gather(stmt, tuple(rest), {**env, name: position}, out)

    def value(self, value: Any, env: Env) -> Any:
        """A value for the lanes at hand, in its dtype."""
        if isinstance(value, Const):
            return np.asarray(value.value).astype(value.dtype.numpy)
        if isinstance(value, Local):
            return env[value.name]
        if isinstance(value, IndexOf):
            return np.asarray(evaluate(value.index, env)).astype(np.int64)
        if isinstance(value, Philox):
            assert self.uniform is not None, "the program draws random numbers"
            return self.uniform(value.rng_index, np.asarray(evaluate(value.index, env)))
        if isinstance(value, Load):
            return self._load(value, env)
        args = [self.value(a, env) for a in value.args]
        return apply(value, args)

    def _load(self, load: Load, env: Env) -> Any:
        memory = self.memory[load.buffer.name]
        index = np.asarray(evaluate(load.index, env))
        if load.mask is None:
            self._inside(index, load.buffer)
            return memory[index]
        mask, index = np.broadcast_arrays(self.value(load.mask, env), index)
        self._inside(index[mask], load.buffer)
        other = self.value(load.other, env)
        return np.where(mask, memory[np.where(mask, index, 0)] if memory.size else other, other)

    def _inside(self, index: np.ndarray, buffer: Buffer) -> None:
        size = self.memory[buffer.name].size
        assert not index.size or (index.min() >= 0 and index.max() < size), (
            f"{buffer.name} has {size} elements, touched at {index.min()}..{index.max()}")


RUN: dict[type, Callable[..., None]] = {
    For: Evaluator.for_, Let: Evaluator.let, Store: Evaluator.store, Check: Evaluator.check,
    Accumulate: Evaluator.accumulate, Reduce: Evaluator.reduce,
}


def apply(value: Apply, args: list[Any]) -> Any:
    """A scalar operation on arrays of lanes."""
    target = value.dtype.numpy
    if value.op == "cast":
        return cast_array(np.asarray(args[0]), value.dtype)
    if value.op == "bitcast":
        return np.asarray(args[0]).view(target)
    if value.op == "where":
        return np.where(*args)
    if value.op == "fma":
        return args[0] * args[1] + args[2]
    for arg in value.args:
        assert arg.dtype is value.args[0].dtype, f"{value.op} mixes dtypes"
    table = UNARY if len(args) == 1 else BINARY
    return np.asarray(table[value.op](*args)).astype(target)


def _fold(op: str, values: np.ndarray, dtype: Any) -> Any:
    if not values.size and values.ndim == 1:
        return {"sum": 0, "prod": 1, "any": False, "all": True}.get(
            op, -math.inf if op == "max" else math.inf)
    if op == "sum" and dtype.is_floating_point:
        values = values.astype(np.float64)
    result = FOLDS[op](values, axis=0)
    if op.startswith("arg"):
        return np.asarray(result).astype(np.int64)
    return np.asarray(result).astype(dtypes.bool.numpy if op in ("any", "all") else dtype.numpy)


def evaluate(expr: Expr, env: Env) -> Any:
    """An index expression, where symbols may stand for arrays of lanes."""
    if isinstance(expr, Int):
        return expr.value
    if isinstance(expr, Sym):
        return env[expr.name]
    args = [evaluate(a, env) for a in expr.args]
    if isinstance(expr, Add):
        return sum(args[1:], args[0])
    if isinstance(expr, Mul):
        return math.prod(args[1:], start=args[0])
    if isinstance(expr, FloorDiv):
        return args[0] // args[1]
    if isinstance(expr, Mod):
        return args[0] % args[1]
    assert isinstance(expr, (Min, Max)), f"unknown expression {expr}"
    pick = np.minimum if isinstance(expr, Min) else np.maximum
    result = args[0]
    for arg in args[1:]:
        result = pick(result, arg)
    return result
