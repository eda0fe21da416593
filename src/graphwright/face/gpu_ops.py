"""Ops of tensors on a GPU, run one by one: each is a program of the code generator.

An op is traced on fake inputs whose sizes are symbols, lowered and compiled as a graph is. The
program is kept by the kind of the call (`gpu_calls`), so that other sizes need no other one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.capture._eval_frame import run_unhooked
from graphwright.codegen.gpu.build import compile_gpu_segment, gpu_rules, prepared
from graphwright.codegen.lowering.graph import CannotLowerNode, needs_eager
from graphwright.codegen.target import KernelFailure
from graphwright.face.gpu_calls import Call
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.lowered_graph import CannotLower, Lowered
from graphwright.ir.pipeline import lower_graph
from graphwright.ir.trace import symbols_of, trace
from graphwright.runtime import _core
from graphwright.runtime.collecting import collector_at_rest
from graphwright.runtime.cuda import fallbacks
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.locks import held_while_forking
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops import return_types
from graphwright.runtime.ops.table import Op
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.places import value_at
from graphwright.runtime.symbolic.relation import Relation
from graphwright.runtime.symbolic.shape_env import ShapeEnv


class _Program(Record):
    """A compiled op.

    guards: what was assumed of the sizes, whose values are at `symbols`. single: whether it has
    one result.
    """

    launch: Callable[..., Any]
    guards: tuple[Relation, ...]
    symbols: dict[str, tuple[int, int]]
    single: bool

    def holds(self, inputs: list[Any]) -> bool:
        """Whether it is right for the sizes of these inputs."""
        if not self.guards:
            return True
        values = {name: value_at(inputs[position], place)
                  for name, (position, place) in self.symbols.items()}
        return all(guard.holds(values) for guard in self.guards)


class _NoProgram(Exception):
    """The op has no program for such a call."""


_PROGRAMS: dict[Any, list[_Program]] = {}
"""By the keys of calls, those for sizes of different kinds; none where there is no program."""
_FLOATS: dict[Any, int] = {}
"""How many floats calls of a kind had."""
FEW_FLOATS = 4
_LOCK = held_while_forking()


def run_op(op: Op, args: tuple[Any, ...]) -> Any:
    """The result of an op for its bound arguments, which are on one GPU but for numbers;
    NotImplemented where there is no program for them.

    Raises: TritonMissing for a kernel that is not in the cache.
    """
    call = Call(op, args)
    if len(call.devices) != 1:
        return NotImplemented
    if call.floats and _floats_vary(call):
        varied = Call(op, args, varied=True)
        program = _program(varied, exact=False)
        if program is not None:
            return _run(program, varied, args)
    for exact in (False, True):
        program = _program(call, exact)
        if program is not None:
            return _run(program, call, args)
    return NotImplemented


def _floats_vary(call: Call) -> bool:
    """Whether a call has other floats than the first few of its kind, each of which has a program
    for itself. Beside integers a tensor is no float."""
    if not call.is_floating() or call.key(exact=False) in _PROGRAMS:
        return False
    kind = call.kind()
    with _LOCK:
        _FLOATS[kind] = count = _FLOATS.get(kind, 0) + 1
    return count > FEW_FLOATS


def _run(program: _Program, call: Call, args: tuple[Any, ...]) -> Any:
    drawing = {} if call.generator is None else {"generator": call.generator}
    try:
        results = program.launch(*call.inputs, **drawing)
    except KernelFailure as failure:
        fallbacks.failed(call.op.name, failure)
        return NotImplemented
    if call.op.is_inplace:
        return args[0]
    if program.single:
        return results[0]
    named = getattr(return_types, call.op.name, None)
    return tuple(results) if named is None else named(*results)


def _program(call: Call, exact: bool) -> _Program | None:
    key = call.key(exact)
    found = _PROGRAMS.get(key)
    if found is not None:
        for program in found:
            if program.holds(call.inputs):
                return program
        if not found:
            return None
    with _LOCK:
        made = _core.with_grad_mode(False, _unmapped, _made, (call, exact))
        _PROGRAMS.setdefault(key, []).extend([] if made is None else [made])
    return made


def _unmapped(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    levels = _core.levels()
    _core.set_levels(())
    try:
        with collector_at_rest():
            return run_unhooked(function, *args)
    finally:
        _core.set_levels(levels)


def _made(call: Call, exact: bool) -> _Program | None:
    try:
        return _compiled(call, exact)
    except KernelFailure as failure:
        fallbacks.failed(call.op.name, failure)
        return None
    except (_NoProgram, CannotLower, CannotLowerNode, DataDependent):
        return None


def _compiled(call: Call, exact: bool) -> _Program:
    env = ShapeEnv()
    fakes = call.fakes(env, exact)
    symbols = symbols_of(fakes)         # before equalities are learnt, which the guards still name
    module, single = _traced(call, fakes)
    lowered = _lowered(module, fakes)
    forward = prepared(lowered.forward, fakes)
    if needs_eager(forward, gpu_rules()):
        raise _NoProgram
    with env.closed():
        segment = compile_gpu_segment(
            forward, fakes, False, call.device, call.op.name, None, single=True)
    if call.generator is not None and not isinstance(segment.launch, _core.CudaLauncher):
        raise _NoProgram
    guards = tuple(guard for guard in env.guards if guard.known() is None)
    return _Program(segment.launch, guards, symbols, single)


def _traced(call: Call, fakes: list[Any]) -> tuple[GraphModule, bool]:
    """The graph of the call, and whether its result is a lone tensor."""
    single = False

    def run(*values: Any) -> tuple[Any, ...]:
        nonlocal single
        result = _result(call, call.arguments(values))
        if call.op.is_inplace:
            return ()
        single = isinstance(result, _core.TensorBase)
        results = (result,) if single else tuple(result)
        if not all(isinstance(one, _core.TensorBase) for one in results):
            raise _NoProgram
        return results

    return trace(run, fakes, keep=lambda op: True), single


def _scaled(combine: Callable[..., Any]) -> Callable[..., Any]:
    return lambda input, other, alpha: combine(input, ops.mul(other, alpha))


_PARTS = {"add": _scaled(ops.add), "sub": _scaled(ops.sub)}
"""Parts of ops that have none for the code generator, but take no tensor for a float."""


def _result(call: Call, args: tuple[Any, ...]) -> Any:
    """What the op gives; by its parts where floats are tensors, which the op does not take."""
    op = call.op.functional if call.op.is_inplace else call.op
    parts = None if op is None or not call.varied else _PARTS.get(op.name, op.decompose)
    if parts is None:
        return dispatch(call.op, args)
    result = parts(*args)
    return ops.copy_(args[0], result) if call.op.is_inplace else result


def _lowered(module: GraphModule, fakes: list[Any]) -> Lowered:
    lowered = lower_graph(module, fakes, needs_grad=False)
    if not lowered.is_plain():      # results are views, which the parts of the op make
        raise _NoProgram
    return lowered
