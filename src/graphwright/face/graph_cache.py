"""The graph cache: what a captured graph became, so that another process need not lower it.

An entry is found by the content of the captured graph and all else that decides its programs. It
says how these are called, under which keys the kernel cache has their code, and what lowering has
assumed of symbolic sizes, which is assumed again. Entries are JSON, kept as kernels are: private
to the user, verified before they are read, and replaced without a word where they are damaged.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, TypeVar

from graphwright.amp import state as amp
from graphwright.capture._eval_frame import run_unhooked
from graphwright.codegen.cache import KernelCache, graph_cache
from graphwright.codegen.compile import CompiledGraph, Parts
from graphwright.codegen.emit.native import builder, sources_identity
from graphwright.codegen.plain_programs import read_program, write_program
from graphwright.codegen.target import CompilerMissing, host
from graphwright.face.stage_dumps import Artifacts
from graphwright.face.tensor_methods import methods_of_tensors
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.plain_values import PlainReader, PlainWriter
from graphwright.ir.graph_content import PACKAGES, NoContent, content_of
from graphwright.ir.lowered_graph import Graphs, Lowered
from graphwright.ir.pipeline import lower_graph
from graphwright.ir.plain_lowered import read_lowered, write_lowered
from graphwright.runtime import _core
from graphwright.runtime.collecting import collector_at_rest
from graphwright.runtime.dispatch import AUTOCAST, COMPILING, INFERENCE
from graphwright.runtime.later import Later
from graphwright.runtime.symbolic.relation import Relation
from graphwright.runtime.symbolic.shape_env import ShapeEnv
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.generator import restore_rng, rng_states
from graphwright.version import __version__

FORMAT = 1
T = TypeVar("T")


class _NotWritten(Exception):
    """Why a program has no entry."""


class _Malformed(Exception):
    """What is wrong with an entry."""


_PLAIN = PlainWriter(_NotWritten)


class GraphEntry:
    """The place of one captured graph in the cache: its lowering, its forward, its backward.

    key: of all that decides them, as a hexadecimal number.
    """

    def __init__(
        self, cache: KernelCache, key: str, graph: GraphModule, inputs: Sequence[Any],
        needs_grad: bool, artifacts: Artifacts,
    ) -> None:
        self._cache, self.key = cache, key
        self._graph = graph
        self._target = artifacts.target
        self._env: ShapeEnv = graph.meta.get("shape_env") or ShapeEnv()
        self._assumed = len(self._env.guards)
        self._reader = PlainReader(self._env, {}, _Malformed)
        self._graphs = lowered_later(graph, inputs, needs_grad, artifacts)

    def lowered(self) -> Lowered | None:
        """The graph as it was lowered before, if the cache has it."""
        def read(content: Any) -> Lowered:
            return read_lowered(content, self._reader, self._graph, self._graphs)

        return self._read("lowered", read)

    def program(
        self, name: str, label: str, parts: Callable[[], Parts]
    ) -> CompiledGraph | None:
        """The program of that name, if the cache has it. label, parts: see `read_program`."""
        def read(content: Any) -> CompiledGraph | None:
            return read_program(content, self._reader, self._target, label, Later(parts))

        return self._read(name, read)

    def keep_lowered(self, lowered: Lowered) -> None:
        """Write what lowering gave, and has assumed since the entry was made."""
        self._write("lowered", partial(write_lowered, lowered, _PLAIN))

    def keep_program(self, name: str, compiled: CompiledGraph) -> None:
        """Write a program, and what was assumed since the last was written."""
        self._write(name, partial(write_program, compiled, _PLAIN))

    def _read(self, name: str, read: Callable[[Any], T]) -> T | None:
        payload = self._cache.get(f"{self.key}-{name}")
        if payload is None:
            return None
        try:
            written = json.loads(payload)
            assumed = [Relation(op, *map(self._reader.expression, sides))
                       for op, *sides in written["assumed"]]
            if not all(fact.holds(self._env.values) for fact in assumed):
                return None
            found = read(written["content"])
        except (_Malformed, LookupError, TypeError, ValueError):
            self._cache.counts.rebuilt += 1
            return None
        if found is not None:
            for fact in assumed:
                self._env.evaluate_bool(fact)
            self._assumed = len(self._env.guards)
        return found

    def _write(self, name: str, write: Callable[[], dict[str, Any]]) -> None:
        facts = self._env.guards
        new, self._assumed = facts[self._assumed:], len(facts)
        try:
            written = {
                "content": write(),
                "assumed": [[fact.op, _PLAIN.expression(fact.lhs), _PLAIN.expression(fact.rhs)]
                            for fact in new]}
        except _NotWritten:
            return
        self._cache.put(f"{self.key}-{name}", json.dumps(written).encode())


def entry_of(
    graph: GraphModule, inputs: Sequence[Any], needs_grad: bool, artifacts: Artifacts
) -> GraphEntry | None:
    """The entry of a captured graph; None for one that only this process can run, and where the
    cache is switched off."""
    cache = graph_cache()
    known = AUTOCAST | INFERENCE | COMPILING | amp.current()
    if cache is None or _core.modes() & ~known:
        return None
    try:
        tools = builder(artifacts.target, host())
        content = [methods_of_tensors(), content_of(graph, inputs)]
    except (NoContent, CompilerMissing):
        return None
    decisive = [
        FORMAT, __version__, [sources_identity(package) for package in PACKAGES], tools,
        artifacts.strict, artifacts.blas, artifacts.packed_weights,
        artifacts.activation_memory_budget, artifacts.autotune and _core.num_threads(), needs_grad,
        _core.grad_enabled(), _core.modes(), dtypes.get_default_dtype().name, content]
    key = hashlib.sha256(json.dumps(decisive).encode()).hexdigest()
    return GraphEntry(cache, key, graph, inputs, needs_grad, artifacts)


def lowered_later(
    graph: GraphModule, inputs: Sequence[Any], needs_grad: bool, artifacts: Artifacts
) -> Later[Graphs]:
    """The graphs of a program that was made without them, lowered as they would have been now."""
    lowering = partial(_lower_again, graph, inputs, needs_grad,
                       artifacts.activation_memory_budget, dtypes.get_default_dtype())
    return Later(partial(_core.call_in_modes, _core.saved_modes(), lowering))


def _lower_again(
    graph: GraphModule, inputs: Sequence[Any], needs_grad: bool, budget: float,
    default: dtypes.dtype,
) -> Graphs:
    """The graphs of a program that was loaded, lowered as when it was made."""
    return run_unhooked(_lower, graph, inputs, needs_grad, budget, default)


def _lower(
    graph: GraphModule, inputs: Sequence[Any], needs_grad: bool, budget: float,
    default: dtypes.dtype,
) -> Graphs:
    env, random = graph.meta.get("shape_env"), rng_states()
    with (collector_at_rest(), dtypes.default_dtype(default),
          nullcontext() if env is None else env.closed()):
        graphs = lower_graph(graph, inputs, needs_grad=needs_grad,
                             activation_memory_budget=budget).made_graphs()
    restore_rng(random)
    return graphs
