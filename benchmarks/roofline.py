"""The kernels of the models that `models` measures, against what this machine can do at most.

Measured first: the rate of fused multiplications and additions in registers (of single precision
matrix products, where there is no C compiler), and the rate at which memory is read, of sets of
several sizes. A kernel's bound is the longer of what its operations take at the one, and its bytes
at the other, of a set as large as all that a call touches: what stays in nearer caches between two
kernels may be faster than its bound. `kernel_costs` counts operations and bytes. Times are the
least of several calls.

    python -m benchmarks.roofline [CASE...]

measures the cases named, all if none is.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import matmul
from pathlib import Path
from typing import Any, NamedTuple

import graphwright as gw
from benchmarks import reporting
from benchmarks.architectures.cases import CASES, Case, drawn_weights
from benchmarks.kernel_costs import Cost, cost_of_op, cost_of_step
from benchmarks.result import Result
from graphwright.codegen.cache_key import canonical
from graphwright.codegen.compile import CompiledGraph, Segment
from graphwright.codegen.lowering.routines import ROUTINES
from graphwright.codegen.program import Gemm, RoutineCall
from graphwright.codegen.target import CompilerMissing, find_compiler
from graphwright.face.api import compilation_of
from graphwright.face.stage_dumps import compiled_graphs
from graphwright.profiler import profile
from graphwright.report.clock import samples_in_turns

GROUP = "roofline"
SIZES = (512, 1024, 2048)
"""Of the square products that are timed."""
PEAK, TURNS = Path(__file__).with_name("peak.c"), 100_000
SETS = tuple(1 << power for power in (18, 20, 22, 24, 26, 28))
"""Bytes that are read."""
ROUNDS, SECONDS = 15, 0.5
SHOWN, LEAST_SHARE = 6, 0.03
"""How many kernels of a model have rows, and how much of its time each of them takes."""
NUMBER = re.compile(r"_\d+$")


class Machine(NamedTuple):
    """Operations a second, and bytes a second by the size of the set."""

    operations: float
    reading: dict[int, float]

    def seconds(self, cost: Cost, touched: int) -> float:
        """The least time of that work, in a call that touches so many bytes."""
        return max(cost.operations / self.operations, cost.nbytes / self.rate(touched))

    def rate(self, touched: int) -> float:
        """Bytes a second of sets that are as large, or of the largest."""
        return max((rate for size, rate in self.reading.items() if size >= touched),
                   default=self.reading[max(self.reading)])


class Part(NamedTuple):
    """A kernel or op, with all that share its code or shapes: how often it runs in a call, the
    seconds of these runs, and their cost."""

    name: str
    runs: int
    seconds: float
    cost: Cost


def measured_machine() -> tuple[Machine, float]:
    """What this machine can do, and operations a second of matrix products."""
    squares = {str(size): gw.randn(size, size) for size in SIZES}
    sets = {str(size): gw.randn(size // 4) for size in SETS}
    summed = gw.compile(lambda x: x.sum())
    products = least({name: partial(matmul, a, a) for name, a in squares.items()})
    reads = least({name: partial(summed, a) for name, a in sets.items()})
    product = max(2 * int(name)**3 / seconds for name, seconds in products.items())
    reading = {int(name): int(name) / seconds for name, seconds in reads.items()}
    return Machine(fused_rate() or product, reading), product


def fused_rate() -> float | None:
    """Operations a second of fused multiplications and additions: those of one core, times the
    threads. None where there is no C compiler."""
    try:
        compiler = find_compiler()
    except CompilerMissing:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "peak.so"
        subprocess.run([*compiler.command, "-O2", "-march=native", "-ffp-contract=fast", "-fPIC",
                        "-shared", str(PEAK), "-o", str(path)], check=True)
        library = ctypes.CDLL(str(path))
    seconds = least({"fused": partial(library.run, ctypes.c_long(TURNS))})["fused"]
    return float(library.operations() * TURNS / seconds * gw.get_num_threads())


def least(cases: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """The least seconds of each case, in turns."""
    times = samples_in_turns(cases, seconds=SECONDS, least_rounds=ROUNDS)
    return {name: min(samples) for name, samples in times.items()}


def parts_of(case: Case) -> tuple[list[Part], float]:
    """The parts of a compiled model, and the seconds of a call of which none is recorded."""
    model = case.model(gw, drawn_weights(case.build(gw, **case.sizes)))
    inputs = tuple(map(gw.from_numpy, case.arguments()))
    with gw.no_grad():
        compiled = gw.compile(model, fullgraph=True)
        compiled(*inputs)
        whole = least({"call": lambda: compiled(*inputs)})["call"]
        runs = [recorded(compiled, inputs) for _ in range(ROUNDS)]
    ((_, artifacts),) = compiled_graphs(compilation_of(compiled).record)
    keys = keyed(artifacts.programs["forward"], [event.name for event in runs[0]])
    seconds = [min(run[place].self_cpu_time_total for run in runs) * 1e-6
               for place in range(len(runs[0]))]
    return list(joined(keys, seconds)), whole


def recorded(compiled: Any, inputs: Sequence[Any]) -> list[Any]:
    """The spans of graphs, of kernels within them, and of ops between them, of one call."""
    with profile() as run:
        compiled(*inputs)
    return [event for event in run.events()
            if event.kind in ("compiled_graph", "kernel")
            or (event.kind == "cpu_op" and (event.cpu_parent is None
                                            or event.cpu_parent.kind == "compiled_function"))]


class Keyed(NamedTuple):
    """What one span is: the name of its part, how many runs it stands for, and their cost."""

    name: str
    runs: int
    cost: Cost


def keyed(graph: CompiledGraph, names: Sequence[str]) -> list[Keyed]:
    """The parts that spans of these names belong to, in order.

    A kernel's cost is with the first of its spans in each segment. The costs of kernels without a
    span, which one thread runs, are with the segment's.
    """
    segments = iter(graph.segments)
    eager = {node: cost_of_op(node) for node in eager_nodes(graph)}
    found: list[Keyed] = []
    costs: dict[str, tuple[int, Cost]] = {}
    for place, name in enumerate(names):
        kind, _, rest = name.partition("::")
        if kind == "graph":
            costs = step_costs(next(segments))
            spans = {span_key(later, costs) for later in kernels_after(names, place)}
            short = [cost for key, cost in costs.items() if key not in spans]
            found.append(Keyed("short kernels and launches", sum(count for count, _ in short),
                               total(cost for _, cost in short)))
        elif kind == "kernel":
            key = span_key(name, costs)
            count, cost = costs.pop(key, (0, Cost()))
            found.append(Keyed(key, count, cost))
        else:
            node = next(node for node in eager if node.target.name == rest)
            found.append(Keyed(f"{rest} {shapes_of(node)}", 1, eager.pop(node)))
    return found


def kernels_after(names: Sequence[str], place: int) -> Iterator[str]:
    """The names of kernels that follow a graph's span."""
    for name in names[place + 1:]:
        if not name.startswith("kernel::"):
            return
        yield name


def span_key(name: str, costs: dict[str, Any]) -> str:
    """The part that a kernel's span belongs to; loops of a kernel have numbers after its name."""
    rest = name.removeprefix("kernel::")
    return rest if rest in costs or rest.startswith("gemm") else NUMBER.sub("", rest)


def step_costs(segment: Segment) -> dict[str, tuple[int, Cost]]:
    """By the name of a kernel, which is the first's of those that share its code, the sizes of a
    product, or the name of a routine: how many there are, and their cost together."""
    program, first = segment.program, dict[int, str]()
    nodes = {node.name: node for node in segment.module.graph.nodes}
    found: dict[str, tuple[int, Cost]] = {}
    for step, kind, names in zip(program.steps, canonical(program).kinds, segment.fused_nodes(),
                                 strict=True):
        if isinstance(step, RoutineCall):
            key = step.routine
            own = total(cost_of_op(nodes[name]) for name in names
                        if getattr(nodes[name].target, "name", None) in ROUTINES)
        elif isinstance(step, Gemm):
            key, own = f"gemm {step.m} x {step.n} x {step.k}", cost_of_step(step)
        else:
            key, own = first.setdefault(kind, step.name), cost_of_step(step)
        count, cost = found.get(key, (0, Cost()))
        found[key] = count + 1, cost.plus(own)
    return found


def eager_nodes(graph: CompiledGraph) -> list[Any]:
    """The nodes that may run eagerly: calls of ops, in order."""
    return [node for node in graph.module.graph.nodes
            if node.op == "call_function" and hasattr(node.target, "schema")]


def shapes_of(node: Any) -> str:
    """The sizes of an op's tensors, as text."""
    return " ".join("x".join(map(str, arg.meta["val"].shape)) for arg in node.args
                    if hasattr(arg, "meta") and hasattr(arg.meta.get("val"), "shape"))


def total(costs: Iterable[Cost]) -> Cost:
    """Their sum."""
    found = Cost()
    for cost in costs:
        found = found.plus(cost)
    return found


def joined(keys: Sequence[Keyed], seconds: Sequence[float]) -> Iterator[Part]:
    """The parts, those that take longest first."""
    by_name: dict[str, list[tuple[Keyed, float]]] = {}
    for key, time in zip(keys, seconds, strict=True):
        by_name.setdefault(key.name, []).append((key, time))
    parts = [Part(name, sum(key.runs for key, _ in spans), sum(time for _, time in spans),
                  total(key.cost for key, _ in spans)) for name, spans in by_name.items()]
    yield from sorted(parts, key=lambda part: -part.seconds)


def rows_of(case: Case, machine: Machine) -> Iterator[Result]:
    """The rows of a model: itself, and the kernels that take most of its time."""
    parts, whole = parts_of(case)
    touched = sum(part.cost.nbytes for part in parts)
    spent = sum(part.seconds for part in parts)
    bound = sum(machine.seconds(part.cost, touched) for part in parts)
    yield Result(GROUP, case.title, "x roofline", None, whole / bound,
                 note=f"{whole * 1e3:.3g} ms; {bound / whole:.0%} of the roofline, "
                      f"{touched / 1e6:.3g} MB")
    for part in parts[:SHOWN]:
        if part.seconds < LEAST_SHARE * spent:
            return
        least = machine.seconds(part.cost, touched)
        by = "operations" if part.cost.operations / machine.operations == least else "memory"
        rate = part.cost.operations / part.seconds * 1e-9
        yield Result(
            GROUP, f"{case.title}: {part.name}", "x roofline", None,
            part.seconds / least if least else None,
            note=f"{part.runs} in {part.seconds * 1e3:.3g} ms, {part.seconds / spent:.0%} of the "
                 f"call; {least / part.seconds:.0%} of the roofline by {by}; {rate:.3g} Gflop/s, "
                 f"{part.cost.nbytes / part.seconds * 1e-9:.3g} GB/s")


def run(names: Iterable[str] = CASES) -> list[Result]:
    """What the machine can do, and the rows of the models."""
    machine, product = measured_machine()
    results = [Result(GROUP, name, "Gflop/s", None, rate * 1e-9)
               for name, rate in (("fused operations in registers", machine.operations),
                                  ("single precision matrix product", product))]
    results += [Result(GROUP, f"reading {size >> 10} KiB again and again", "GB/s", None,
                       rate * 1e-9) for size, rate in machine.reading.items()]
    for name in names:
        print(f"  {name} ...", flush=True)
        results += rows_of(CASES[name], machine)
    return results


if __name__ == "__main__":
    reporting.main_of_cases(GROUP, CASES, run)
