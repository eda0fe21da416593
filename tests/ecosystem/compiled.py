"""Run a model compiled by graphwright, and count what capture made of it."""

from __future__ import annotations

from typing import Any

import torch

from graphwright.capture.frame.record import BreakRecord
from graphwright.face.api import compilation_of

from .case import Model
from .measure import generate, prepared, step, used
from .outcome import Outcome
from .uses import Use


def compiled(case: Model) -> tuple[Outcome, dict[str, Any]]:
    """The outcome of the compiled model, and the counts of its capture."""
    model = prepared(case)
    call = torch.compile(model)
    outcome = step(case, model, call)
    counts = counted(call)
    if case.prompt is not None:
        forward = model.forward = torch.compile(model.forward)
        outcome["tokens"] = generate(case, model, case.prompt)
        counts["decoding"] = counted(forward)
    torch.compiler.reset()
    return outcome, counts


def compiled_use(use: Use) -> tuple[Outcome, dict[str, Any]]:
    """The same of a use of a library: what it compiles is counted together."""
    made: list[Any] = []

    def compile(function: Any) -> Any:
        made.append(torch.compile(function))
        return made[-1]

    outcome = used(use, compile)
    counts = counted(*made)
    torch.compiler.reset()
    return outcome, counts


def counted(*functions: Any) -> dict[str, Any]:
    """Graphs, nodes in all graphs, breaks with their places, and recompilations."""
    records = {id(record): record
               for record in (compilation_of(function).record for function in functions)}.values()
    return {
        "graphs": sum(len(record.graphs) for record in records),
        "nodes": sum(entry.n_ops for record in records for entry in record.graphs),
        "breaks": [_told(entry) for record in records for entry in record.breaks],
        "recompiles": [str(entry) for record in records for entry in record.recompiles],
    }


def _told(entry: BreakRecord) -> str:
    place = entry.location
    return (f"{entry.code} {entry.what}: {entry.detail} at {place.file}:{place.line} "
            f"in {place.function}: {place.source.strip()}")
