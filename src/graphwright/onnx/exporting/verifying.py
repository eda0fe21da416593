"""Whether a file computes what the program does: on the example, and on other sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice, product

import numpy as np

from graphwright.autograd.grad_mode import no_grad
from graphwright.export.exported_program import ExportedProgram
from graphwright.ir.graph.interpreter import Interpreter
from graphwright.ir.graph.node import Node
from graphwright.onnx.errors import OnnxExporterError
from graphwright.onnx.exporting.builder import Value
from graphwright.onnx.exporting.preparing import Prepared, line_of
from graphwright.onnx.exporting.running import Run, runner
from graphwright.onnx.exporting.translation import OnnxGraph
from graphwright.onnx.exporting.writing import LARGEST, model_of, weight_bytes
from graphwright.runtime.errors import OutOfRange
from graphwright.runtime.op_errors import is_refusal
from graphwright.runtime.symbolic.relation import Relation
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.from_data import from_numpy
from graphwright.runtime.tensor.tensor import Tensor

TOLERANCES = {dtypes.float64: 1e-9, dtypes.float32: 1e-5, dtypes.float16: 4e-3,
              dtypes.bfloat16: 4e-2}
"""How far an element may be from the program's, as a share of 1 or of the largest element."""


def difference(found: Tensor, wanted: Tensor, least: float = 0.0) -> str | None:
    """How a result differs, as a sentence's end, or None where it does not.

    least: a tolerance of other values that it may be computed from.
    """
    if found.dtype is not wanted.dtype or tuple(found.shape) != tuple(wanted.shape):
        return (f"is {found.dtype.name}{list(found.shape)}, where the program's is "
                f"{wanted.dtype.name}{list(wanted.shape)}")
    if not wanted.dtype.is_floating_point:
        count = int((found != wanted).sum()) if wanted.numel() else 0
        return f"differs in {count} of {wanted.numel()} elements" if count else None
    a, b = (np.asarray(one.detach().to(dtypes.float64).numpy()) for one in (found, wanted))
    alike = (np.isnan(a) & np.isnan(b)) | (a == b)
    with np.errstate(invalid="ignore"):
        gap = np.where(alike, 0.0, np.abs(a - b))
    finite = np.abs(b[np.isfinite(b)])
    scale = max(1.0, float(finite.max())) if finite.size else 1.0
    worst = float(np.max(np.where(np.isnan(gap), np.inf, gap))) if gap.size else 0.0
    if worst <= max(TOLERANCES[wanted.dtype], least) * scale:
        return None
    return f"differs by up to {worst:.3g}, where the largest element is {scale:.3g}"


_TRIES = 20
"""Choices of sizes that are tried for one that the program takes."""
_NEAR, _MOST = 8, 5000
"""How far from the example's sizes others are looked for, and how many."""


class Verification:
    """Compares a file with the program it was made from."""

    def __init__(
        self, program: ExportedProgram, prepared: Prepared, graph: OnnxGraph,
        example: Sequence[Tensor],
    ) -> None:
        self.program, self.prepared, self.graph = program, prepared, graph
        self.example = list(example)
        self.coarsest = max((TOLERANCES.get(value.dtype, 0.0) for value in graph.values.values()),
                            default=0.0)

    def check(self, model: bytes | str) -> str:
        """Run the model on the example and on other sizes. Returns what ran it.

        Raises: OnnxExporterError that names the first value that differs; NoRunner.
        """
        name, run = self._runner(model)
        self._compare(name, run, self.example, self._wanted(self.example))
        self._compare_one(name, run, self._other_sizes())
        for fact in self.prepared.assumed:
            self._compare_one(name, run, self._sizes_against(fact))
        return name

    def _runner(self, model: bytes | str) -> tuple[str, Run]:
        return runner(model, [one.name for one in self.graph.inputs])

    def _compare_one(self, name: str, run: Run, choices: Iterator[dict[str, int]]) -> None:
        """Compare for the first of some choices of sizes that the program takes."""
        for sizes in islice(choices, _TRIES):
            inputs = [self._drawn(one, value, sizes)
                      for one, value in zip(self.example, self.graph.inputs, strict=True)]
            try:
                wanted = self._wanted(inputs)
            except (OutOfRange, ValueError, RuntimeError, IndexError) as error:
                if not (isinstance(error, OutOfRange) or is_refusal(error)):
                    raise
                continue        # elements of the example are no positions in such a tensor
            self._compare(name, run, inputs, wanted)
            return

    def _compare(
        self, name: str, run: Run, inputs: Sequence[Tensor], wanted: Sequence[Tensor]
    ) -> None:
        found = run([one.detach().clone() for one in inputs])
        for one, own, value in zip(found, wanted, self.graph.outputs, strict=True):
            said = difference(one, own, self.coarsest)
            if said is not None:
                raise OnnxExporterError(
                    f"the file does not compute what the program does: with inputs of "
                    f"{_shapes(inputs)}, {name}'s output '{value.name}' {said}"
                    f"{self._first(inputs)}. Nothing is written; with verify=False it would be")

    def _wanted(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """What the program gives, and leaves in what it writes; its state stays as it is."""
        every = [one.detach().clone() for one in self._every(inputs)]
        with no_grad():
            results = Interpreter(self.program.graph_module).run(*every)
        tensors = [one for one in results if isinstance(one, Tensor)]
        return [*tensors, *[every[place] for place, _ in self.prepared.written]]

    def _first(self, inputs: Sequence[Tensor]) -> str:
        """The first value of the graph that differs, as a part of a sentence."""
        values = [(node, value) for node, value in self.graph.values.items()
                  if value.name in self._made()]
        if weight_bytes(self.graph) > LARGEST:
            return ""
        model = model_of(self.graph, also=[value for _, value in values])
        _, run = self._runner(model.SerializeToString())
        order = [one.name for one in model.graph.output]
        found = dict(zip(order, run([one.detach().clone() for one in inputs]), strict=True))
        wanted = self._values(inputs)
        for node, value in values:
            said = difference(found[value.name], wanted[node], self.coarsest)
            if said is not None:
                name = getattr(node.target, "name", node.target)
                return f"; the first value that differs is '{value.name}'{line_of(node, name)}"
        return ""

    def _made(self) -> set[str]:
        return {name for node in self.graph.nodes for name in node.output}

    def _values(self, inputs: Sequence[Tensor]) -> dict[Node, Tensor]:
        run = Interpreter(self.prepared.module, garbage_collect_values=False)
        with no_grad():
            run.run(*self._every(inputs))
        return run.env

    def _every(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """The inputs of the graph: the user's and the program's state."""
        users = iter(inputs)
        return [next(users) if own is None else own[1] for own in self.prepared.state]

    # -- other sizes

    def _hints(self) -> dict[str, int]:
        """The example's value of each size symbol of the inputs."""
        symbols = {symbol.name for value in self.graph.inputs for size in value.shape
                   if isinstance(size, SymInt) for symbol in size.expr.symbols()}
        if not symbols:
            return {}
        values = self.program.graph_module.meta["shape_env"].values
        return {name: values[name] for name in sorted(symbols)}

    def _holds(self, sizes: dict[str, int]) -> bool:
        """Whether the program holds for these sizes."""
        constraints = self.program.constraints
        for name, size in sizes.items():
            one = constraints.ranges.get(name)
            if one is not None and (size < one.lower or size > (one.upper or size)):
                return False
        return all(one.holds(sizes) for one in constraints.relations
                   if {symbol.name for symbol in one.symbols()} <= sizes.keys())

    def _other_sizes(self) -> Iterator[dict[str, int]]:
        """Sizes that are all others than the example's, larger ones first; none where all are
        fixed."""
        hints, ranges = self._hints(), self.program.range_constraints
        free = [name for name in hints
                if name not in ranges or ranges[name].lower != ranges[name].upper]
        for step in (1, 2, 3, 4, 6, 8, -1, -2, -3, -4) if free else ():
            for apart in (1, 0):
                sizes = {**hints, **{name: hints[name] + step + apart * number
                                     for number, name in enumerate(free)}}
                if self._holds(sizes):
                    yield sizes

    def _sizes_against(self, fact: Relation) -> Iterator[dict[str, int]]:
        """Sizes near the example's for which a relation does not hold."""
        hints = self._hints()
        names = [symbol.name for symbol in fact.symbols()]
        near = [range(max(0, hints[name] - _NEAR), hints[name] + _NEAR + 1) for name in names]
        for values in islice(product(*near), _MOST):
            sizes = {**hints, **dict(zip(names, values, strict=True))}
            if not fact.holds(sizes) and self._holds(sizes):
                yield sizes

    @staticmethod
    def _drawn(example: Tensor, value: Value, sizes: dict[str, int]) -> Tensor:
        """A tensor of other sizes with elements of the example's, which its program takes."""
        shape = tuple([size.expr.evaluate(sizes) if isinstance(size, SymInt) else int(size)
                       for size in value.shape])
        if shape == tuple(example.shape):
            return example
        flat = example.detach().reshape((-1,))
        count = math.prod(shape)
        draw = np.random.default_rng(count)
        places = draw.integers(0, max(flat.numel(), 1), count)
        return flat[from_numpy(places)].reshape(shape)


def _shapes(inputs: Sequence[Tensor]) -> str:
    return ", ".join(f"{one.dtype.name}{list(one.shape)}" for one in inputs) or "no tensors"
