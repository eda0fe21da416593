"""The C text of a package: kernels, tables, and the runtime that knows neither."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

import graphwright.runtime
from graphwright.codegen.emit.native import c_text
from graphwright.codegen.program import Gemm, NativeProgram
from graphwright.codegen.target import Machine
from graphwright.export.errors import ExportError
from graphwright.export.exported_program import ExportedProgram
from graphwright.export.graph_signature import InputKind
from graphwright.export.packaging.header import TENSOR, header_text
from graphwright.export.packaging.lowering import lowered_program
from graphwright.export.size_rules import size_rules
from graphwright.runtime.symbolic.expr import Add, Expr, FloorDiv, Max, Min, Mod, Mul, as_int
from graphwright.runtime.tensor import dtypes
from graphwright.saving.files import ALIGNMENT, NAMES, encoded_tensors

RUNTIME = Path(__file__).with_name("native") / "runtime.c"
_CORE = Path(graphwright.runtime.__file__).parent / "_core"
INCLUDED = (_CORE / "threads", _CORE / "tensor", _CORE / "kernels" / "products")
"""Folders with what the runtime and the core have in common: threads, memory, matrix products."""
EMBEDDED = "weights.bin"
"""The file whose content becomes part of the library, where weights are embedded."""
_MOST_EMBEDDED = (2 << 30) - (64 << 20)
"""Code reaches its data by 32-bit distances."""


class Source:
    """What a package is made of.

    Args:
        program: what is packaged.
        name: what begins the names of its functions.
        machine: the processor.
        embedded: whether the library is to have the weights.

    Attributes:
        text: the C source; `INCLUDED` are the folders of its headers, and `EMBEDDED` is read from
            the working directory of the compiler.
        weights: the parts of a safetensors file.

    Raises: ExportError where a package cannot have the program.
    """

    def __init__(
        self, program: ExportedProgram, name: str, machine: Machine, embedded: bool
    ) -> None:
        self.name, self.machine, self.embedded = name, machine, embedded
        self.rules, self.written = size_rules(program), program.graph_signature.mutated
        specs = program.graph_signature.input_specs
        self.state = [str(one.target) for one in specs if one.kind is not InputKind.USER_INPUT]
        lowered, self.native = lowered_program(program)
        tensors = {**program.state_dict, **program.constants}
        self.tensors = {one: tensors[one] for one in self.state}
        self.tensors |= {f"constant_{number}": constant
                         for number, constant in enumerate(lowered.constants)}
        self.weights: list[Any] = list(
            encoded_tensors({one: self.tensors[one] for one in self._in_file()}))
        size = sum(map(len, self.weights))
        self.embedded_bytes = size * embedded
        if self.embedded_bytes > _MOST_EMBEDDED:
            raise ExportError(f"{size:,} bytes of weights cannot be embedded, "
                              f"{_MOST_EMBEDDED:,} can: leave them in a file")

    def _in_file(self) -> list[str]:
        """The names of the tensors as a file has them: those first that leave what follows
        aligned."""
        def key(name: str) -> tuple[bool, int]:
            tensor = self.tensors[name]
            item = tensor.element_size()
            return tensor.numel() * item % ALIGNMENT != 0, -item

        return sorted(self.tensors, key=key)

    @cached_property
    def text(self) -> str:
        """Kernels, tables, then the runtime."""
        kernels = c_text(self.native, self.machine)
        kernels = "#define run gw_program_run\n#define shapes gw_program_shapes\n" + kernels
        kernels = re.sub(r"^(int32_t run|void shapes)\(", r"static \1(", kernels, flags=re.M)
        return "\n".join([kernels, self._tables(), RUNTIME.read_text()])

    @property
    def header(self) -> str:
        """The text of NAME.h."""
        return header_text(self.name, self.rules, self.written, self.native, self.embedded)

    def _tables(self) -> str:
        outputs, native = self.native.outputs, self.native
        header = self.weights[0]
        products = {step.out.dtype for step in native.steps if isinstance(step, Gemm)}
        fakes = [node.meta["val"] for node in self.rules.inputs]
        constants = {
            "GW_MODEL": self.name, "GW_NAME(part)": f"{self.name}_##part",
            "GW_PRODUCTS": int(bool(products)),
            "GW_ONLY_FLOAT32": int(products == {dtypes.float32}),
            "GW_FLOAT32": dtypes.float32.code, "GW_FLOAT64": dtypes.float64.code,
            "GW_INPUTS": len(fakes), "GW_OUTPUTS": len(outputs),
            "GW_SYMBOLS": len(native.symbols),
            "GW_OUTPUT_DIMS": sum(len(one.shape) for one in outputs),
            "GW_POINTERS": len(native.inputs) + len(outputs) + 1,
            "GW_FIRST_INPUT": len(self.state), "GW_FIRST_OUTPUT": len(native.inputs),
            "GW_RNG_OPS": native.rng_ops, "GW_STATE": len(self.tensors),
            "GW_WEIGHTS": _array(self._weight_entries() or ["{0}"]),
            "GW_ORDER": _array(map(list(self.tensors).index, self._in_file())),
            "GW_LONGEST_HEADER": max(1 << 20, 4 * len(header)),
            "GW_EMBEDDED_BYTES": self.embedded_bytes,
            "GW_RANKS": _array(fake.ndim for fake in fakes),
            "GW_ALIGNMENTS": _array(fake.dtype.itemsize for fake in fakes),
            "GW_OUT_RANKS": _array(len(one.shape) for one in outputs),
            "GW_OUT_ITEMS": _array(one.buffer.dtype.itemsize for one in outputs),
            "GW_MESSAGES": _array(_quoted(text) for text in native.messages),
            "GW_HEADER": _quoted(header), "GW_SHAPES": _array(_shapes(native)),
        }
        defines = "".join(f"#define {key} {value}\n" for key, value in constants.items())
        embedded = _EMBEDDING if self.embedded else ""
        return f"{defines}\n{embedded}{TENSOR}\n{self._checks()}\n"

    def _weight_entries(self) -> list[str]:
        """For each tensor its name, what a header says of it before the places of its data, its
        bytes, those of an element, and whether the program writes it."""
        entries = []
        for place, (name, tensor) in enumerate(self.tensors.items()):
            shape = ",".join(map(str, tensor.shape))
            entry = (f'{json.dumps(name)}:{{"dtype":"{NAMES[tensor.dtype]}","shape":[{shape}],'
                     '"data_offsets":[')
            item = tensor.element_size()
            size = tensor.numel() * item
            written = int(place < len(self.state) and place in self.native.mutated)
            entries.append(f"{{{_quoted(name)}, {_quoted(entry)}, {size}, {item}, {written}}}")
        return entries

    def _checks(self) -> str:
        """The function that reads the values of size symbols and checks all sizes."""
        rules = self.rules
        lines = [f"    const int64_t {name} = inputs[{number}].sizes[{dim}];\n"
                 for name, number, dim in rules.symbols]
        lines += [_check(f"inputs[{number}].sizes[{dim}] == {c_size(size)}",
                         f"dim {dim} of input {number} has to be {size}")
                  for number, dim, size in rules.equal]
        for name, one in rules.ranges:
            most = "" if one.upper is None else f" && {name} <= {one.upper}"
            lines.append(_check(f"{name} >= {one.lower}{most}", f"{name} has to be in {one}"))
        for relation in rules.relations:
            test = f"{c_size(relation.lhs)} {relation.op} {c_size(relation.rhs)}"
            lines.append(_check(test, f"sizes have to fulfil {relation}"))
        lines += [f"    sizes[{place}] = {name};\n"
                  for place, (name, _, _) in enumerate(self.native.symbols)]
        return f"{_CHECKING}{''.join(lines)}    return 0;\n}}\n"


_CHECKING = """struct GW_MODEL;
static int refuse(struct GW_MODEL *, const char *, ...);
#define GW_MIN(a, b) ((a) < (b) ? (a) : (b))
#define GW_MAX(a, b) ((a) > (b) ? (a) : (b))
#define GW_FLOORDIV(a, b) ((a) / (b) - ((a) % (b) != 0 && ((a) ^ (b)) < 0))
#define GW_MOD(a, b) ((a) - (b) * GW_FLOORDIV(a, b))
static int read_sizes(struct GW_MODEL *m, const gw_tensor *inputs, int64_t *sizes) {
    (void)m, (void)inputs, (void)sizes;
"""

_EMBEDDING = f"""__asm__(".pushsection .rodata\\n.balign 64\\ngw_embedded:\\n"
        ".incbin \\"{EMBEDDED}\\"\\n.popsection");
extern const char gw_embedded[] __attribute__((visibility("hidden")));

"""


def _shapes(program: NativeProgram) -> list[int]:
    """The arena's bytes, then the sizes and strides of each result, as `shapes` writes them; 0
    where it does."""
    exprs = [program.arena_bytes]
    for one in program.outputs:
        exprs += [*one.shape, *one.strides]
    return [as_int(expr) or 0 for expr in exprs]


_FORMS = {Add: "({} + {})", Mul: "({} * {})", FloorDiv: "GW_FLOORDIV({}, {})",
          Mod: "GW_MOD({}, {})", Min: "GW_MIN({}, {})", Max: "GW_MAX({}, {})"}


def c_size(expr: Expr) -> str:
    """An expression of sizes as C."""
    form = _FORMS.get(type(expr))
    return str(expr) if form is None else reduce(form.format, map(c_size, expr.args))


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


def _array(values: Iterable[Any]) -> str:
    return "{" + (", ".join(map(str, values)) or "0") + "}"
