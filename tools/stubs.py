"""Write (or with `--check` compare) the type stubs of the op functions and of Tensor's methods.

Parameters are those of the op table. What an op returns is found out by calling it on the tests'
samples; `RESULTS` says it for the ops that have none, or whose result depends on the arguments.
"""

from __future__ import annotations

import ast
import contextlib
import re
import sys
import warnings
from collections.abc import Collection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.runtime.layouts import build, numpy_type  # noqa: E402
from tests.runtime.samples import ALL  # noqa: E402

import graphwright as gw  # noqa: E402
from graphwright.compat.module_names import ELSEWHERE  # noqa: E402
from graphwright.runtime.ops import functions  # noqa: E402
from graphwright.runtime.ops.aliases import names_of_aliases  # noqa: E402
from graphwright.runtime.ops.families import load_all  # noqa: E402
from graphwright.runtime.ops.op_names import METHODS, NAMES  # noqa: E402
from graphwright.runtime.ops.return_types import FIELDS  # noqa: E402
from graphwright.runtime.ops.schema import REQUIRED, Param  # noqa: E402
from graphwright.runtime.ops.signatures import SIZES, declared, others  # noqa: E402
from graphwright.runtime.ops.table import TABLE, Op  # noqa: E402

OPS = ROOT / "src" / "graphwright" / "runtime" / "ops"
HEADER = '''"""{what} Written by tools/stubs.py; do not edit."""

from builtins import bool as _bool
from builtins import complex as _complex
from builtins import float as _float
from builtins import int as _int
from builtins import str as _str
from collections.abc import Sequence
from typing import Any, overload

from graphwright.runtime._core import TensorBase
from graphwright.runtime.ops import return_types
from graphwright.runtime.tensor.device import device as _Device
from graphwright.runtime.tensor.dtypes import dtype as _DType
from graphwright.runtime.tensor.generator import Generator as _Generator
from graphwright.runtime.tensor.memory_format import layout as _Layout
from graphwright.runtime.tensor.memory_format import memory_format as _MemoryFormat
from graphwright.runtime.tensor.tensor import Tensor

_Number = _int | _float | _complex | _bool
_Dims = _int | Sequence[_int]
'''
ANNOTATIONS = {
    "Tensor": "Tensor",
    "Tensor?": "Tensor | None",
    "Tensor[]": "Sequence[Tensor]",
    "Tensor?[]": "Sequence[Tensor | None]",
    "Operand": "Tensor | Number",
    "Operand?": "Tensor | Number | None",
    "Scalar": "Number",
    "Scalar?": "Number | None",
    "Scalar|str": "Number | str",
    "Scalar|str?": "Number | str | None",
    "dtype": "DType",
    "dtype?": "DType | None",
    "device?": "Device | str | None",
    "Dim": "int",
    "Dim?": "int | None",
    "NewDim": "int",
    "Dims": "int | Sequence[int] | None",
    "Dims?": "int | Sequence[int] | None",
    "DimsExact": "int | Sequence[int] | None",
    "DimsGiven": "int | Sequence[int]",
    "LoneDim": "int",
    "Perm": "Sequence[int]",
    "Perm*": "Sequence[int]",
    "Size": "Sequence[int]",
    "Size*": "Sequence[int]",
    "Size?": "Sequence[int] | None",
    "IntPair": "int | Sequence[int]",
    "IntPair?": "int | Sequence[int] | None",
    "int": "int",
    "int?": "int | None",
    "SymInt": "int",
    "SymInt?": "int | None",
    "SymInt|Tensor": "int | Tensor",
    "Ints": "int | Sequence[int]",
    "Ints?": "int | Sequence[int] | None",
    "Ints*?": "int | Sequence[int] | None",
    "Ints|None": "int | Sequence[int | None]",
    "Ints|Tensor?": "int | Sequence[int] | Tensor | None",
    "Ints|str": "int | Sequence[int] | str",
    "float": "float",
    "float?": "float | None",
    "bool": "bool",
    "str": "str",
    "str?": "str | None",
}
"""Annotations of parameters, by their types in schemas."""
TYPES = {
    "int": "_int", "float": "_float", "bool": "_bool", "str": "_str", "Number": "_Number",
    "DType": "_DType", "Device": "_Device | _str", "Generator": "_Generator",
}
"""Names of types in annotations: those of Python are also names of dtypes and of methods."""
SPLIT = "tuple[Tensor, ...]"
RESULTS = {
    **dict.fromkeys(("split", "chunk", "unbind", "tensor_split", "hsplit", "vsplit", "dsplit",
                     "split_with_sizes", "unsafe_split", "unsafe_chunk", "unsafe_split_with_sizes",
                     "broadcast_tensors", "meshgrid", "atleast_1d", "gradient"), SPLIT),
    **dict.fromkeys(("equal", "allclose", "is_complex", "is_floating_point"), "_bool"),
    "aminmax": "return_types.aminmax",
    "ctc_loss_parts": "tuple[Tensor, Tensor]",
    **dict.fromkeys(("attention_backward", "recurrence", "recurrence_backward"), SPLIT),
    **dict.fromkeys(("native_dropout", "resample_table", "sloped_backward"),
                    "tuple[Tensor, Tensor]"),
}
BY_DIM = {
    name: [("", "Tensor"), ("dim: _int, keepdim: _bool = False", f"return_types.{name}")]
    for name in ("median", "nanmedian")
}
BY_DIM |= {
    name: [*BY_DIM["median"][:1], ("dim: _int, keepdim: _bool = False", f"return_types.{name}"),
           ("other: Tensor", "Tensor")]
    for name in ("max", "min")
}
"""Ops whose result depends on what is given: further parameters, and the result."""


EDGES = ("histogramdd", "bin_edges")
"""The one field of a named tuple that is no tensor."""


def result_of(op: Op) -> str:
    """The type of an op's result."""
    if op.name in RESULTS:
        return RESULTS[op.name]
    if op.is_inplace or op.name not in ALL:
        return f"return_types.{op.name}" if op.name in FIELDS else "Tensor"
    found = {spelled(value) for value in _called(op)}
    if len(found) > 1 and all(one.startswith("tuple") for one in found):
        return SPLIT
    return found.pop() if len(found) == 1 else "Tensor"


def _called(op: Op) -> list[Any]:
    made = []
    for sample in ALL[op.name].samples[:3]:
        def leaf(arr: Any, array: Any) -> Any:
            return gw.tensor(array.astype(numpy_type(arr, gw.float32)))

        args, kwargs = build(sample, op.name, leaf)
        with contextlib.suppress(RuntimeError, TypeError, ValueError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made.append(getattr(functions, op.name)(*args, **kwargs))
    return made


def spelled(value: Any) -> str:
    """The type of a result, as an annotation."""
    if isinstance(value, gw.Tensor):
        return "Tensor"
    if isinstance(value, tuple) and type(value).__name__ in FIELDS:
        return f"return_types.{type(value).__name__}"
    if isinstance(value, tuple | list):
        return f"tuple[{', '.join(map(spelled, value))}]"
    return f"_{type(value).__name__}" if value is not None else "None"


def annotation(param: Param) -> str:
    """The type of a parameter."""
    if param.type.startswith("Dims"):
        known = "_Dims" if param.type in ("DimsGiven",) else "_Dims | None"
    else:
        known = ANNOTATIONS.get(param.type.removesuffix("*"), "Any")
        known = ANNOTATIONS.get(param.type, known)
        if param.name == "generator":
            known = "Generator | None"
        for name, own in TYPES.items():
            known = _word(known, name, own)
    if param.default is None and known != "Any" and "None" not in known:
        known += " | None"
    return known


def _word(text: str, word: str, other: str) -> str:
    return re.sub(rf"(?<![\w.]){word}\b", other, text)


OTHERS = {
    "out": "Tensor | Sequence[Tensor] | None", "memory_format": "_MemoryFormat | None",
    "layout": "_Layout | None", "pin_memory": "_bool", "requires_grad": "_bool",
}
"""Annotations of what functions take beside the op's own parameters."""


def parameters(op: Op, name: str, method: bool) -> list[str]:
    """The declarations of the parameters of an op's function or method."""
    parts, star = ["self"] if method else [], False
    for one in declared(op, name, method)[int(method):]:
        if one.collects:
            several = one.collects == SIZES or one.param.type == "Ints*?"
            parts.append(f"*{one.name}: {'_int | Sequence[_int]' if several else 'Any'}")
            star = True
            continue
        if one.kwonly and not star:
            parts.append("*")
            star = True
        default = one.param.default
        shown = "" if default is REQUIRED else f" = {default!r}" if isinstance(
            default, bool | int | float | str | None | tuple) else " = ..."
        if "inf" in shown or "nan" in shown:
            shown = " = ..."
        parts.append(f"{one.name}: {annotation(one.param)}{shown}")
    more = [f"{word}: {OTHERS[word]} = {default!r}"
            for word, default in others(op, method).items()]
    return parts + more if star or not more else [*parts, "*", *more]


def stub(op: Op, name: str, method: bool) -> str:
    """The stub of one function or method."""
    indent = "    " if method else ""
    if op.name in BY_DIM:
        first = "self" if method else "input: Tensor"
        out = "" if method else "*, out: Tensor | Sequence[Tensor] | None = None"
        lines = [f"{indent}@overload\n{indent}def {name}("
                 f"{', '.join(part for part in (first, given, out) if part)}) -> {result}: ...\n"
                 for given, result in BY_DIM[op.name]]
        return "".join(lines)
    given = parameters(op, name, method)
    line = f"{indent}def {name}({', '.join(given)}) -> {result_of(op)}: ...\n"
    if len(line) > 100:
        inner = "".join(f"{indent}    {value},\n" for value in given)
        line = f"{indent}def {name}(\n{inner}{indent}) -> {result_of(op)}: ...\n"
    return line


def stubs(names: Collection[str], method: bool) -> str:
    """The stubs of these ops' functions or methods and of their aliases."""
    aliases = sorted((name, target) for name, target, _ in names_of_aliases(names))
    return "".join(stub(TABLE[target], name, method)
                   for name, target in [*((name, name) for name in sorted(names)), *aliases])


def face() -> str:
    """The text of `functions.pyi`."""
    return HEADER.format(what="The op functions.") + stubs(NAMES, method=False)


def methods() -> str:
    """The text of `methods.pyi`."""
    head = HEADER.format(what="The op methods of Tensor.")
    return f"{head}\nclass TensorMethods(TensorBase):\n{stubs(METHODS.split(), method=True)}"


def tuples() -> str:
    """The text of `return_types.pyi`."""
    text = ('"""The named tuples that ops return. Written by tools/stubs.py; do not edit."""\n\n'
            "from typing import NamedTuple\n\n"
            "from graphwright.runtime.tensor.tensor import Tensor\n\n"
            "FIELDS: dict[str, tuple[str, ...]]\n")
    for name, fields in FIELDS.items():
        text += f"\nclass {name}(NamedTuple):\n" + "".join(
            f"    {f}: {'tuple[Tensor, ...]' if (name, f) == EDGES else 'Tensor'}\n"
            for f in fields)
    return text


def root() -> str:
    """The text of `graphwright/__init__.pyi`: every public name, from where it is defined."""
    tree = ast.parse((OPS.parents[1] / "__init__.py").read_text())
    lines: dict[str, str] = {}
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module != "__future__":
            for alias in statement.names:
                name = alias.asname or alias.name
                if alias.name == "*":
                    lines |= {name: _exported(str(statement.module), name)
                              for name in functions.__all__}
                elif not name.startswith("_") or name.startswith("__"):
                    lines[name] = _exported(str(statement.module), alias.name, name)
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Attribute):
            name = statement.targets[0].id  # type: ignore[attr-defined]
            lines[name] = _exported("graphwright.runtime._core", statement.value.attr, name)
    spaces = vars(gw)
    lines |= {name: _exported("graphwright", name) for name in spaces["_MODULES"]}
    lines |= {name: _exported(f"graphwright.{module}", name)
              for name, module in spaces["_ELSEWHERE"].items() if module != "compat.removed"}
    for name, module in ELSEWHERE.items():
        parent, _, own = module.rpartition(".")
        if "." not in name:
            lines[name] = _exported(f"graphwright.{parent}".rstrip("."), own, name)
    lines |= {name: _exported("graphwright.nn.functional", name) for name in spaces["_FUNCTIONAL"]}
    lines |= {name: f"def {name}(input: Tensor, *args: object, **kwargs: object) -> Tensor: ..."
              for name in spaces["_IN_PLACE"].split() if name not in lines}
    for name, module in {"compile": "face.api", "explain": "face.api", "load": "saving",
                         "load_file": "saving", "save": "saving", "save_file": "saving"}.items():
        lines[name] = _exported(f"graphwright.{module}", name)
    imports = sorted(line for line in lines.values() if line.startswith("from"))
    others = sorted(line for line in lines.values() if not line.startswith("from"))
    return ('"""The public names. Written by tools/stubs.py; do not edit."""\n\n'
            + "\n".join([*imports, "", "newaxis: None", *others]) + "\n")


def _exported(module: str, name: str, public: str | None = None) -> str:
    """The statements; only what keeps its name is exported by the import alone."""
    if public is None or public == name:
        return f"from {module} import {name} as {name}"
    return f"from {module} import {name} as _{public}\n{public} = _{public}"


def main(argv: list[str]) -> int:
    """Write the files, or compare with `--check`; 1 where they are out of date."""
    load_all()
    stale = []
    for name, text in (("functions.pyi", face()), ("methods.pyi", methods()),
                       ("return_types.pyi", tuples()), ("../../__init__.pyi", root())):
        path = OPS / name
        if not path.exists() or path.read_text() != text:
            stale.append(name)
            if "--check" not in argv:
                path.write_text(text)
    print("out of date: " + ", ".join(stale) if stale else "up to date")
    return 1 if stale and "--check" in argv else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
