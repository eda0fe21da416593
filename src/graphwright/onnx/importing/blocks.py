"""Runs of plain steps as Python code, a line each.

A line is far less to interpret than a step, and so to capture, where each instruction counts:

    values['h'] = f0(values['x'], values['w'], strides=[2, 2]); del values['x']
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

from graphwright.onnx.importing.steps import Step, enter

_LONGEST = 200
_FILE = "<onnx steps>"
_LITERALS = (bool, int, float, str, type(None))


class Block:
    """Some plain steps that follow each other.

    Attributes:
        steps: the steps, in order.
        text: the code of `run`, a function of the table of values.
    """

    __slots__ = ("run", "steps", "text")

    def __init__(self, steps: list[Step]) -> None:
        self.steps = steps
        names: dict[str, Any] = {"enter": enter, "TITLES": [step.title for step in steps]}
        lines = [_line(step, number, names) for number, step in enumerate(steps)]
        self.text = "\n".join(["def run(values):", *(f"    {line}" for line in lines)])
        space: dict[str, Any] = dict(names)
        exec(compile(self.text, _FILE, "exec"), space)
        self.run: Callable[[dict[str, Any]], None] = space["run"]


def blocks(steps: list[Step]) -> list[Step | Block]:
    """The steps with the plain ones that follow each other as blocks."""
    result: list[Step | Block] = []
    for plain, group in groupby(steps, lambda step: step.plain):
        run = list(group)
        starts = range(0, len(run), _LONGEST)
        result += [Block(run[i : i + _LONGEST]) for i in starts] if plain else run
    return result


def failed_step(error: BaseException) -> str | None:
    """The title of the innermost step in which an error was raised; None for none."""
    trace, title = error.__traceback__, None
    while trace is not None:
        code = trace.tb_frame.f_code
        if code is Step.run.__code__:
            title = trace.tb_frame.f_locals["self"].title
        elif code.co_filename == _FILE:
            title = trace.tb_frame.f_globals["TITLES"][trace.tb_lineno - 2]
        trace = trace.tb_next
    return title


def _line(step: Step, number: int, names: dict[str, Any]) -> str:
    """One step as a line; what is no literal becomes a global of the code in `names`."""
    function = f"f{number}"
    names[function] = step.operator.function
    arguments = [f"values[{name!r}]" for name in step.inputs]
    for key, value in step.attributes.items():
        text = _literal(value)
        if text is None:
            text = f"{function}_{key}"
            names[text] = value
        arguments.append(f"{key}={text}")
    call = f"{function}({', '.join(arguments)})"
    if step.returns_one:
        line = f"values[{step.outputs[0]!r}] = {call}"
    else:
        line = f"enter({call}, {tuple(step.outputs)!r}, values)"
    ended = ", ".join(f"values[{name!r}]" for name in step.ended)
    return f"{line}; del {ended}" if ended else line


def _literal(value: Any) -> str | None:
    """Python text for a value that has one, floats that have none left out."""
    if isinstance(value, list):
        parts = [_literal(item) for item in value]
        return None if None in parts else f"[{', '.join(map(str, parts))}]"
    if type(value) not in _LITERALS or value != value or value in (float("inf"), -float("inf")):
        return None
    return repr(value)
