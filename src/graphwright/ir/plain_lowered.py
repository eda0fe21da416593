"""`Lowered` as JSON, and back: how a lowered graph is called, without its graphs.

What it is read for has the captured graph; the graphs of primitives are lowered from that once
somebody asks for them.
"""

from __future__ import annotations

from typing import Any

from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.plain_values import PlainReader, PlainWriter
from graphwright.ir.joint.retape_plan import Apart, End
from graphwright.ir.lowered_graph import (
    Activations,
    Ends,
    Graphs,
    Kept,
    Lowered,
    OutputSpec,
    Saved,
)
from graphwright.runtime.later import Later
from graphwright.runtime.symbolic.symint import SymInt

AS_THEY_ARE = (
    "n_user_outputs", "has_backward", "tangents", "grad_inputs", "rereads", "arrivals",
    "latest_first", "reusable", "joint_tangents", "rng_ops",
)
"""The fields of `Lowered` that are numbers, or lists of numbers."""
PAIRS = ("mutated", "passages", "made")
"""Those that are lists of pairs."""


def write_lowered(lowered: Lowered, plain: PlainWriter) -> dict[str, Any]:
    """`lowered` as JSON. Raises what `plain` raises for results that have no form in JSON."""
    ends = lowered.ends
    return {
        **{name: getattr(lowered, name) for name in (*AS_THEY_ARE, *PAIRS)},
        "ends": [ends.n_inputs, ends.n_outputs, ends.symbols, list(ends.second_names.items()),
                 ends.has_steps],
        "outputs": [_output(spec, plain) for spec in lowered.outputs],
        "saved": [[one.kind, one.index,
                   None if one.size is None else plain.expression(one.size.expr)]
                  for one in lowered.saved],
        "reaches": [sorted(reach) for reach in lowered.reaches],
        "apart": None if lowered.apart is None else _apart(lowered.apart),
        "expanded": lowered.expanded,
        "kept": [_kept(one, plain) for one in lowered.kept],
        "read": sorted(lowered.read),
        "activations": None if lowered.activations is None else [
            lowered.activations.saved, lowered.activations.eager_bytes,
            lowered.activations.recomputed],
    }


def exact_value(value: Any, plain: PlainWriter) -> Any:
    """As `plain.value`, for what callers see: of the very class that is read again."""
    if type(value) not in (type(None), bool, int, float, complex, str, SymInt):
        raise plain.refusal(f"a result of class {type(value).__name__} is not written")
    return plain.value(value)


def _output(spec: OutputSpec, plain: PlainWriter) -> list[Any]:
    views = [[plain.op(op), plain.value(args)] for op, args in spec.views]
    return [spec.kind, spec.index, views, exact_value(spec.value, plain), spec.origin]


def _kept(one: Kept, plain: PlainWriter) -> list[Any]:
    return [one.place, one.writes, one.version, sorted(one.tangents), sorted(one.gradients),
            one.dtype.name, [plain.size(size) for size in one.shape], one.saver, one.maker]


def _apart(apart: Apart) -> list[Any]:
    return [apart.autocast, apart.default.name, *[
        [[end.kind, end.index, end.tangent] for end in ends]
        for ends in (apart.ends, apart.views)], apart.interior, apart.ways, apart.room]


def read_lowered(
    written: Any, plain: PlainReader, captured: GraphModule, graphs: Later[Graphs]
) -> Lowered:
    """What `write_lowered` wrote of the lowering of `captured`.

    Raises: what `plain` raises, KeyError, TypeError or ValueError, for what is malformed.
    """
    n_inputs, n_outputs, symbols, second_names, has_steps = written["ends"]
    places = {name: (place, dim) for name, (place, dim) in symbols.items()}
    ends = Ends(n_inputs, n_outputs, places, dict(second_names), has_steps)
    lowered = Lowered(graphs, ends, [_read_output(one, plain) for one in written["outputs"]])
    for name in AS_THEY_ARE:
        setattr(lowered, name, written[name])
    for name in PAIRS:
        setattr(lowered, name, [(first, second) for first, second in written[name]])
    lowered.saved = [
        Saved(kind, index, None if size is None else SymInt(plain.expression(size), plain.env))
        for kind, index, size in written["saved"]]
    lowered.reaches = [frozenset(reach) for reach in written["reaches"]]
    if written["apart"] is not None:
        lowered.apart = _read_apart(written["apart"], plain, captured)
    if written["expanded"] is not None:
        lowered.expanded = [tuple(dims) for dims in written["expanded"]]
    lowered.kept = [_read_kept(one, plain) for one in written["kept"]]
    lowered.read = set(written["read"])
    if written["activations"] is not None:
        saved, eager_bytes, recomputed = written["activations"]
        lowered.activations = Activations(
            tuple([(name, size) for name, size in saved]), eager_bytes, tuple(recomputed))
    return lowered


def _read_output(one: Any, plain: PlainReader) -> OutputSpec:
    kind, index, views, value, origin = one
    steps = tuple([(plain.op(name), plain.value(args)) for name, args in views])
    return OutputSpec(kind, index, steps, plain.value(value), origin)


def _read_kept(one: Any, plain: PlainReader) -> Kept:
    place, writes, version, tangents, gradients, dtype, shape, saver, maker = one
    return Kept(
        None if place is None else (place[0], place[1]), writes, version, frozenset(tangents),
        frozenset(gradients), plain.dtype(dtype), plain.sizes(shape), saver,
        None if maker is None else (maker[0], maker[1]))


def _read_apart(one: Any, plain: PlainReader, captured: GraphModule) -> Apart:
    autocast, default, ends, views, interior, ways, room = one
    return Apart(captured, autocast, plain.dtype(default), [End(*end) for end in ends],
                 [End(*view) for view in views], interior, ways, room)
