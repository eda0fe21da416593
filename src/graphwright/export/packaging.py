"""An exported program as one shared library that needs neither Python nor BLAS."""

from __future__ import annotations

import json
import os
import re
from functools import reduce
from pathlib import Path
from typing import Any

from graphwright.codegen.build import build_program
from graphwright.codegen.emit.c_object import shared_library
from graphwright.codegen.emit.native import c_text
from graphwright.codegen.lowering.graph import (
    CannotLowerNode,
    LoweredGraph,
    TensorOutput,
    lower_graph,
    needs_eager,
)
from graphwright.codegen.program import Gemm, NativeProgram
from graphwright.codegen.target import Machine, find_compiler, host
from graphwright.export.convolutions import REWRITES
from graphwright.export.errors import ExportError
from graphwright.export.exported_program import ExportedProgram
from graphwright.export.graph_signature import ConstantArgument, InputKind
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node
from graphwright.ir.lowered_graph import CannotLower
from graphwright.ir.passes.decompose import is_primitive
from graphwright.ir.pipeline import lower_graph as to_primitives
from graphwright.ir.trace import trace
from graphwright.runtime import _core
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.fake.fake_tensor import make_fake
from graphwright.runtime.ops.strides import contiguous_strides
from graphwright.runtime.ops.table import TABLE
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import (
    Add,
    Expr,
    FloorDiv,
    Int,
    Min,
    Mod,
    Mul,
    Sym,
    as_expr,
    as_int,
)
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.saving.files import NAMES, contiguous, encoded, write_atomically

RUNTIME = Path(__file__).with_name("native") / "runtime.c"
_C_TYPES = {
    dtypes.float32: "float", dtypes.float64: "double", dtypes.int64: "int64_t",
    dtypes.int32: "int32_t", dtypes.int16: "int16_t", dtypes.int8: "int8_t",
    dtypes.uint8: "uint8_t", dtypes.bool: "_Bool", dtypes.float16: "_Float16",
    dtypes.bfloat16: "uint16_t (bfloat16)",
}


_V3 = frozenset({"avx2", "fma", "f16c", "sse4_1"})
TARGETS = {
    "native": None,
    "x86-64-v3": Machine("x86_64", _V3, 256),
    "x86-64-v4": Machine("x86_64", _V3 | {"avx512f", "avx512bw", "avx512dq", "avx512vl"}, 512),
}
"""The processors that packages are made for; None is this one."""


_KEYWORDS = frozenset(re.findall(r"\w+", """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while"""))


class Package(Record):
    """The files of a package."""

    library: Path
    header: Path
    weights: Path


def package(
    program: ExportedProgram, path: str | os.PathLike[str], *, target: str = "native"
) -> Package:
    """Write NAME.so, NAME.h and NAME.safetensors: a library for C that runs an exported program.

    The library depends on libc alone and is made by a C compiler. A training step keeps its
    parameters and optimiser's state in the model, which C saves and loads, and Python's
    `gw.load_file` reads.

    Args:
        program: from `gw.export.export` or `gw.export.load`.
        path: where the files go, without their suffixes; the last part is the prefix of the C
            functions.
        target: the processor: "native", this machine's, or "x86-64-v3" (AVX2) or "x86-64-v4"
            (AVX-512).

    Returns: the paths of the three files.

    Raises:
        ExportError: the program has an op that only runs in Python, or a product of bfloat16.
        CompilerMissing: there is no working C compiler.
        ValueError: the last part of the path is no identifier of C, or the target is unknown.
    """
    place = Path(path)
    name = place.name
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name in _KEYWORDS:
        raise ValueError(f"{name!r} cannot begin the names of C functions")
    if not isinstance(program, ExportedProgram):
        raise TypeError(f"package takes an ExportedProgram, not {type(program).__name__}")
    if target not in TARGETS:
        raise ValueError(f"{target!r} is no target: these are {', '.join(TARGETS)}")
    machine = TARGETS[target] or host()
    source = _Source(program, name, machine)
    library = shared_library(source.text(), machine, find_compiler())
    made = Package(place.with_name(f"{name}.so"), place.with_name(f"{name}.h"),
                   place.with_name(f"{name}.safetensors"))
    write_atomically(made.library, [library])
    os.chmod(made.library, 0o755)
    write_atomically(made.header, [source.header().encode()])
    write_atomically(made.weights, [source.weights])
    return made


class _Source:
    """The C text of a package."""

    def __init__(self, program: ExportedProgram, name: str, machine: Machine) -> None:
        self.name, self.exported, self.machine = name, program, machine
        specs = program.graph_signature.input_specs
        self.state = [str(one.target) for one in specs if one.kind is not InputKind.USER_INPUT]
        nodes = {node.name: node for node in program.graph.placeholders}
        self.inputs = [nodes[one.arg.name] for one in specs if one.kind is InputKind.USER_INPUT
                       and not isinstance(one.arg, ConstantArgument)]
        self.lowered, self.native = _lowered(program)
        tensors = {**program.state_dict, **program.constants}
        named = {one: tensors[one] for one in self.state}
        named |= {f"constant_{number}": constant
                  for number, constant in enumerate(self.lowered.constants)}
        self.tensors = named
        arrays = {one: contiguous(tensor) for one, tensor in named.items()}
        kinds = {one: tensor.dtype for one, tensor in named.items()}
        self.weights = b"".join(encoded(arrays, kinds, None))

    def text(self) -> str:
        """Kernels, tables, then the runtime."""
        kernels = c_text(self.native, self.machine)
        kernels = "#define run gw_program_run\n#define shapes gw_program_shapes\n" + kernels
        kernels = re.sub(r"^(int32_t run|void shapes)\(", r"static \1(", kernels, flags=re.M)
        return "\n".join([kernels, self._tables(), RUNTIME.read_text()])

    def _tables(self) -> str:
        outputs, native = self.native.outputs, self.native
        header = self.weights[: 8 + int.from_bytes(self.weights[:8], "little")]
        ranks = [len(node.meta["val"].shape) for node in self.inputs]
        items = [node.meta["val"].dtype.itemsize for node in self.inputs]
        pointers = len(native.inputs) + len(outputs) + 1
        constants = {
            "GW_MODEL": self.name, "GW_NAME(part)": f"{self.name}_##part",
            "GW_FLOAT32": dtypes.float32.code, "GW_INPUTS": len(self.inputs),
            "GW_OUTPUTS": len(outputs), "GW_SYMBOLS": len(native.symbols),
            "GW_OUTPUT_DIMS": sum(len(one.shape) for one in outputs), "GW_POINTERS": pointers,
            "GW_FIRST_INPUT": len(self.state), "GW_FIRST_OUTPUT": len(native.inputs),
            "GW_RNG_OPS": native.rng_ops, "GW_STATE": len(self.tensors),
            "GW_WEIGHTS": _array([_weight(*one) for one in self.tensors.items()] or ["{0}"]),
            "GW_LONGEST_HEADER": max(1 << 20, 4 * len(header)),
            "GW_RANKS": _array(ranks), "GW_ALIGNMENTS": _array(items),
            "GW_OUT_RANKS": _array([len(one.shape) for one in outputs]),
            "GW_OUT_ITEMS": _array([one.buffer.dtype.itemsize for one in outputs]),
            "GW_MESSAGES": _array([_quoted(text) for text in native.messages]),
            "GW_HEADER": _quoted(header), "GW_SHAPES": _array(_shapes(native)),
        }
        defines = "".join(f"#define {key} {value}\n" for key, value in constants.items())
        return f"{defines}\n{_TENSOR}\n{self._checks()}\n"

    def _checks(self) -> str:
        """The function that reads the values of size symbols and checks all sizes."""
        order = {name: place for place, (name, _, _) in enumerate(self.native.symbols)}
        lines, known, later = [], set(), []
        for number, node in enumerate(self.inputs):
            for dim, size in enumerate(node.meta["val"].shape):
                own, expr = f"inputs[{number}].sizes[{dim}]", as_expr(size)
                if isinstance(expr, Sym) and expr.name not in known:
                    known.add(expr.name)
                    lines.append(f"    const int64_t {expr.name} = {own};\n")
                else:
                    later.append(_check(f"{own} == {c_size(expr)}",
                                        f"dim {dim} of input {number} has to be {expr}"))
        for name, one in self.exported.range_constraints.items():
            if name in known:
                most = "" if one.upper is None else f" && {name} <= {one.upper}"
                later.append(_check(f"{name} >= {one.lower}{most}", f"{name} has to be in {one}"))
        for relation in self.exported.constraints.relations:
            if not {symbol.name for symbol in relation.symbols()} <= known:
                continue        # it is put in where the symbol stood
            test = f"{c_size(relation.lhs)} {relation.op} {c_size(relation.rhs)}"
            later.append(_check(test, f"sizes have to fulfil {relation}"))
        lines += later
        lines += [f"    sizes[{place}] = {name};\n" for name, place in order.items()]
        return ("struct GW_MODEL;\nstatic int refuse(struct GW_MODEL *, const char *, ...);\n"
                "#define GW_MIN(a, b) ((a) < (b) ? (a) : (b))\n"
                "#define GW_MAX(a, b) ((a) > (b) ? (a) : (b))\n"
                "#define GW_FLOORDIV(a, b) ((a) / (b) - ((a) % (b) != 0 && ((a) ^ (b)) < 0))\n"
                "#define GW_MOD(a, b) ((a) - (b) * GW_FLOORDIV(a, b))\n"
                "static int read_sizes(struct GW_MODEL *m, const gw_tensor *inputs, "
                f"int64_t *sizes) {{\n    (void)m, (void)inputs, (void)sizes;\n{''.join(lines)}"
                "    return 0;\n}\n")

    def header(self) -> str:
        """NAME.h."""
        name = self.name
        inputs = "".join(
            f" *   inputs[{number}]  {node.name}: {_described(node)}\n"
            for number, node in enumerate(self.inputs))
        outputs = "".join(
            f" *   outputs[{number}]: {_C_TYPES.get(one.buffer.dtype, one.buffer.dtype.name)}"
            f"[{', '.join(map(str, one.shape))}]\n"
            for number, one in enumerate(self.native.outputs))
        ranges = "".join(f" *   {symbol} in {one}\n"
                         for symbol, one in self.exported.range_constraints.items())
        return _HEADER.format(name=name, guard=name.upper(), inputs=inputs, outputs=outputs,
                              ranges=f" * sizes:\n{ranges}" if ranges else "", tensor=_TENSOR)


_TENSOR = """#ifndef GRAPHWRIGHT_TENSOR
#define GRAPHWRIGHT_TENSOR
/* Elements in row-major order. */
typedef struct {
    void *data;
    int64_t *sizes;     /* [rank] */
    int32_t rank;
} gw_tensor;
#endif
"""

_HEADER = """/* {name}: a program packaged by graphwright. Functions return 0, or 1 on failure.
 *
{inputs}{outputs}{ranges} */
#ifndef GRAPHWRIGHT_{guard}_H
#define GRAPHWRIGHT_{guard}_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

{tensor}
typedef struct {name} {name};

/* A model with the weights of a file, which is mapped: what the program writes stays in the model.
 * threads: how many run it. seed: of its random numbers. Where it fails, {name}_error says why;
 * {name}_free releases the model in any case. Models are independent of each other; one model is
 * used by one thread at a time. */
int {name}_create({name} **model, const char *weights, int threads, uint64_t seed);

/* Runs the program. Where outputs[i].data is NULL, it is set to memory of the model's, which
 * holds the result until the next run. Sizes of results are written where outputs[i].sizes is not
 * NULL. */
int {name}_run({name} *model, const gw_tensor *inputs, gw_tensor *outputs);

/* Why the last function failed. */
const char *{name}_error(const {name} *model);

/* The weights and what the program has written, as a safetensors file, and back. */
int {name}_save({name} *model, const char *path);
int {name}_load({name} *model, const char *path);

void {name}_free({name} *model);

#ifdef __cplusplus
}}
#endif
#endif
"""


def _lowered(program: ExportedProgram) -> tuple[LoweredGraph, NativeProgram]:
    """The program as native steps, its results in memory of their own."""
    module = _with_own_results(program.graph_module)
    examples = [node.meta["val"] for node in module.graph.placeholders]
    for node in module.graph.placeholders:
        if not node.meta["val"].is_contiguous():
            raise ExportError(f"'{node.name}' is not in row-major order: export with contiguous "
                              "tensors")
    try:
        lowered = _core.with_grad_mode(
            False, to_primitives, module, examples, needs_grad=False).forward
        lowered = _without_convolutions(lowered)
        eager = needs_eager(lowered)
        if eager:
            raise ExportError(f"{next(iter(eager)).name} runs in Python only, so that a package "
                              "cannot have it")
        given = [node.meta["val"] for node in lowered.graph.placeholders]
        graph = lower_graph(lowered, given)
    except (CannotLower, CannotLowerNode, DataDependent) as error:
        raise ExportError(f"the program cannot be packaged: {error}") from error
    if not all(isinstance(one, TensorOutput) for one in graph.outputs):
        raise ExportError("a result of the program is no tensor of its own: return a tensor that "
                          "it computes")
    native = build_program(graph)
    for step in native.steps:
        if isinstance(step, Gemm) and step.out.dtype not in (dtypes.float32, dtypes.float64):
            raise ExportError(f"a package has no products of {step.out.dtype.name}: compute them "
                              "in float32")
    return graph, native


def _without_convolutions(module: GraphModule) -> GraphModule:
    """The same graph of primitives, with products in the place of convolutions."""
    if not any(getattr(node.target, "name", "") in REWRITES for node in module.graph.nodes):
        return module
    examples = [node.meta["val"] for node in module.graph.placeholders]
    return trace(module, examples, keep=is_primitive, rewrites=REWRITES)


def _with_own_results(module: GraphModule) -> GraphModule:
    """The graph with a copy of each result, in row-major order."""
    names = [node.name for node in module.graph.placeholders]
    examples = [node.meta["val"] for node in module.graph.placeholders]
    made = trace(module, examples, keep=lambda op: True, names=names)
    output = made.graph.output_node()
    results = output.args[0]
    with made.graph.inserting_before(output):
        copies = []
        for result in results:
            if not isinstance(result, Node):
                continue
            fake = result.meta["val"]
            own = make_fake(fake.shape, contiguous_strides(fake.shape), fake.dtype, fake.device)
            for name in ("contiguous", "clone"):    # the first may give its argument back
                result = made.graph.call_function(TABLE[name], (result,))
                result.meta["val"] = own
            copies.append(result)
    output.args = (tuple(copies),)
    made.recompile()
    return made


def _shapes(program: NativeProgram) -> list[int]:
    """The arena's bytes, then the sizes and strides of each result, as `shapes` writes them; 0
    where it does."""
    exprs = [program.arena_bytes]
    for one in program.outputs:
        exprs += [*one.shape, *one.strides]
    return [as_int(expr) or 0 for expr in exprs]


def _weight(name: str, tensor: Tensor) -> str:
    """A tensor's name, what a header says of it before the places of its data, and its bytes."""
    shape = ",".join(map(str, tensor.shape))
    entry = (f'{json.dumps(name)}:{{"dtype":"{NAMES[tensor.dtype]}","shape":[{shape}],'
             '"data_offsets":[')
    size = tensor.numel() * tensor.element_size()
    return f"{{{_quoted(name)}, {_quoted(entry)}, {size}}}"


def c_size(expr: Expr) -> str:
    """An expression of sizes as C."""
    if isinstance(expr, Int | Sym):
        return str(expr)
    if isinstance(expr, FloorDiv | Mod):
        kind = "GW_FLOORDIV" if isinstance(expr, FloorDiv) else "GW_MOD"
        return f"{kind}({c_size(expr.a)}, {c_size(expr.b)})"
    parts = [c_size(part) for part in expr.args]
    if isinstance(expr, Add | Mul):
        return f"({(' + ' if isinstance(expr, Add) else ' * ').join(parts)})"
    kind = "GW_MIN" if isinstance(expr, Min) else "GW_MAX"
    return reduce(lambda one, other: f"{kind}({one}, {other})", parts)


def _check(test: str, message: str) -> str:
    return (f"    if (!({test})) {{\n"
            f'        return refuse(m, "%s", {_quoted(message)});\n    }}\n')


def _quoted(text: str | bytes) -> str:
    """A string literal of C."""
    content = text.encode() if isinstance(text, str) else text
    parts = [chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}"
             for byte in content]
    lines = ["".join(parts[start: start + 80]) for start in range(0, len(parts), 80)] or [""]
    return " \\\n    ".join(f'"{line}"' for line in lines)


def _array(values: list[Any]) -> str:
    return "{" + ", ".join(map(str, values or ["0"])) + "}"


def _described(node: Node) -> str:
    fake = node.meta["val"]
    kind = _C_TYPES.get(fake.dtype, fake.dtype.name)
    return f"{kind}[{', '.join(map(str, fake.shape))}]"
