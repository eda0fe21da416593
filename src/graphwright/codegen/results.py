"""How a call's results are put together from what a launcher gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.codegen.lowering.graph import (
    ConstantOutput,
    InputOutput,
    LoweredGraph,
    OutputSpec,
    SizeOutput,
    TensorOutput,
)
from graphwright.ir.graph.python_emitter import Script


def with_results(
    graph: LoweredGraph, launcher: Callable[..., Any], n_inputs: int,
) -> Callable[..., Any]:
    """The launcher itself, or around it what it does not do: constants, inputs as results."""
    if not graph.constants and all(isinstance(o, TensorOutput) for o in graph.outputs):
        return launcher
    return _assembled(graph, launcher, n_inputs)


def _assembled(
    graph: LoweredGraph, launcher: Callable[..., Any], n_inputs: int,
) -> Callable[..., Any]:
    """A function that calls the launcher and inserts the results that are inputs, sizes and
    constants::

        def run(a0, a1):
            [r0] = launcher(a0, a1, constant)
            return (r0, a1, size.evaluate(sizes), None)
    """
    arguments = [f"a{number}" for number in range(n_inputs)]
    symbols = {name: (position, place) for name, position, place in graph.symbols}
    script = Script(arguments, symbols)
    fresh: list[str] = []
    results = [_result(output, script, fresh) for output in graph.outputs]
    constants = [script.constant(constant) for constant in graph.constants]
    call = script.call(launcher, *arguments, *constants)
    script.add(f"[{', '.join(fresh)}] = {call}")
    script.add(f"return ({''.join([f'{result}, ' for result in results])})")
    return script.function()


def _result(output: OutputSpec, script: Script, fresh: list[str]) -> str:
    """The text for a result; one that the launcher makes gets the next name in `fresh`."""
    if isinstance(output, TensorOutput):
        fresh.append(f"r{len(fresh)}")
        return fresh[-1]
    if isinstance(output, InputOutput):
        return script.arguments[output.position]
    if isinstance(output, SizeOutput):
        return script.value(output.expr, {})
    assert isinstance(output, ConstantOutput), f"unknown output {output}"
    return script.constant(output.value)
