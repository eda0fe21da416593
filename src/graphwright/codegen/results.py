"""How a call's results are put together from what a launcher gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from graphwright.codegen.lowering.graph import (
    ConstantOutput,
    InputOutput,
    OutputSpec,
    SizeOutput,
    TensorOutput,
)
from graphwright.ir.graph.python_emitter import Script

Result = InputOutput | ConstantOutput | SizeOutput | None
"""How callers get a result; None for the next tensor that the launcher allocates."""


def results_of(outputs: Sequence[OutputSpec]) -> tuple[Result, ...]:
    """The results of a lowered graph with these outputs."""
    return tuple([None if isinstance(one, TensorOutput) else one for one in outputs])


def with_results(
    results: Sequence[Result], constants: Sequence[Any],
    symbols: Sequence[tuple[str, int, int]], launcher: Any, n_inputs: int, staged: bool = False,
) -> Callable[..., Any]:
    """The launcher itself, or around it what it does not do: constants, inputs as results.

    constants, symbols: as in `LoweredGraph`. staged: what is returned has `consume`, as launchers
    do.
    """
    if not constants and not any(results):
        return cast(Callable[..., Any], launcher)
    return _assembled(results, constants, symbols, launcher, n_inputs, staged)


def _assembled(
    results: Sequence[Result], constants: Sequence[Any],
    symbols: Sequence[tuple[str, int, int]], launcher: Any, n_inputs: int, staged: bool,
) -> Callable[..., Any]:
    """A function that calls the launcher and inserts the results that are inputs, sizes and
    constants::

        def run(a0, a1):
            [r0] = launcher(a0, a1, constant)
            return (r0, a1, size.evaluate(sizes), None)

    In stages::

        def run(a0, a1):
            given = [a0, a1, constant]
            del a0
            [r0] = launcher.consume(given)
            return (r0, a1, size.evaluate(sizes), None)
    """
    arguments = [f"a{number}" for number in range(n_inputs)]
    places = {name: (position, place) for name, position, place in symbols}
    script = Script(arguments, places)
    fresh: list[str] = []
    texts = [_result(result, script, fresh) for result in results]
    given = ", ".join([*arguments, *[script.constant(constant) for constant in constants]])
    call = script.call(launcher, given)
    if staged:
        script.add(f"given = [{given}]")
        script.free([name for name in arguments if name not in texts])
        call = script.call(launcher.consume, "given")
    script.add(f"[{', '.join(fresh)}] = {call}")
    script.add(f"return ({''.join([f'{text}, ' for text in texts])})")
    run: Any = script.function()
    if staged:
        run.consume = script.consumer()
    return cast(Callable[..., Any], run)


def _result(result: Result, script: Script, fresh: list[str]) -> str:
    """The text for a result; one that the launcher makes gets the next name in `fresh`."""
    if result is None:
        fresh.append(f"r{len(fresh)}")
        return fresh[-1]
    if isinstance(result, InputOutput):
        return script.arguments[result.position]
    if isinstance(result, SizeOutput):
        return script.value(result.expr, {})
    assert isinstance(result, ConstantOutput), f"unknown result {result}"
    return script.constant(result.value)
