"""Write docs/ops.md from the op table; with `--check` only say whether it is up to date.

What the columns say is found out, not written down: which dtypes an op takes by calling it on
its samples, how it lowers from the rules of decomposition and code generation.
"""

from __future__ import annotations

import contextlib
import dis
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.runtime.layouts import build, numpy_type  # noqa: E402
from tests.runtime.samples import ALL  # noqa: E402

import graphwright as gw  # noqa: E402
from graphwright.codegen.lowering import graph as _rules_are_loaded  # noqa: E402, F401
from graphwright.codegen.lowering.rules import RULES  # noqa: E402
from graphwright.ir.passes.decompose import REWRITES, is_primitive  # noqa: E402
from graphwright.runtime.ops import functions as ops  # noqa: E402
from graphwright.runtime.ops.aliases import ALIASES, Renamed  # noqa: E402
from graphwright.runtime.ops.out_forms import OUT_FORMS  # noqa: E402
from graphwright.runtime.ops.table import TABLE, Kind, Op  # noqa: E402
from graphwright.runtime.tensor import dtypes  # noqa: E402

PATH = ROOT / "docs" / "ops.md"
NAMESPACES = {
    "": gw, "Tensor.": gw.Tensor, "nn.functional.": gw.nn.functional,
    "linalg.": getattr(gw, "linalg", None), "special.": getattr(gw, "special", None),
}
GROUPS = {
    "bool": (dtypes.bool,),
    "int": (dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64),
    "uint": (dtypes.uint16, dtypes.uint32, dtypes.uint64),
    "half": (dtypes.float16, dtypes.bfloat16),
    "float": (dtypes.float32, dtypes.float64),
    "complex": (dtypes.complex64, dtypes.complex128),
}
KINDS = (
    Kind.POINTWISE, Kind.REDUCTION, Kind.VIEW, Kind.INDEXING, Kind.CONTRACTION, Kind.COMPOSITE,
    Kind.CREATION, Kind.RANDOM, Kind.OTHER,
)


def main(argv: list[str]) -> int:
    """Write the file, or compare; 1 where `--check` finds it out of date."""
    text = document()
    if PATH.exists() and PATH.read_text() == text:
        print("up to date")
        return 0
    print(f"out of date: {PATH.relative_to(ROOT)}")
    if "--check" in argv:
        return 1
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text(text)
    return 0


# -- which ops, under which names


def public_name(op: Op) -> str | None:
    """How a user reaches the op; None for parts of other ops."""
    for prefix, namespace in NAMESPACES.items():
        short = op.name.removeprefix(prefix.replace(".", "_")) if prefix else op.name
        if prefix == "" and "internal" in op.tags and op.name not in _plain_functions(gw):
            continue
        if namespace is not None and hasattr(namespace, short):
            return f"{prefix}{short}"
    return None


def _plain_functions(namespace: Any) -> set[str]:
    return {n for n, v in vars(namespace).items() if isinstance(v, types.FunctionType)}


def aliases_of(op: Op) -> list[str]:
    """The second names of an op that exist."""
    found = []
    for name, alias in ALIASES.items():
        target = alias.target if isinstance(alias, Renamed) else alias
        if target == op.name and name not in TABLE:
            found.append(name)
    return sorted(found)


# -- dtypes, by trying


def _numeric(op: Op, dtype: Any) -> Iterator[Callable[[], Any]]:
    """Calls of the op on samples, or on made-up arguments, with float arrays as `dtype`."""
    if op.name in ALL:
        for sample in ALL[op.name].samples[:3]:
            yield lambda s=sample: _on_sample(op, s, dtype)
    made = _made_up(op, dtype)
    if made is not None:
        yield lambda: getattr(ops, op.name)(*made[0], **made[1])


def _on_sample(op: Op, sample: Any, dtype: Any) -> Any:
    def leaf(arr: Any, values: Any) -> Any:
        if arr.kind != "float":
            return gw.tensor(values.astype(numpy_type(arr, gw.float32)))
        return _tensor(values, dtype)

    args, kwargs = build(sample, op.name, leaf)
    if not any(_has(arg, dtype) for arg in (*args, *kwargs.values())):
        if "dtype" not in op.names:
            raise TypeError("no argument of that dtype")
        kwargs["dtype"] = dtype
    return getattr(ops, op.name)(*args, **kwargs)


def _tensor(values: Any, dtype: Any) -> Any:
    if not dtype.is_floating_point and not dtype.is_complex:
        values = np.abs(np.rint(values))
    return gw.tensor(values).to(dtype)


def _has(arg: Any, dtype: Any) -> bool:
    if isinstance(arg, list | tuple):
        return any(_has(item, dtype) for item in arg)
    return getattr(arg, "dtype", None) is dtype


def _made_up(op: Op, dtype: Any) -> tuple[list[Any], dict[str, Any]] | None:
    """Arguments made from the schema alone."""
    square = _tensor(np.ones((2, 2)), dtype)
    index = gw.zeros(2, 2, dtype=gw.int64)
    by_type = {
        "Tensor": square, "Operand": square, "Tensor[]": (square, square), "Dim": 0, "int": 1,
        "NewDim": 0, "Dims": (0,), "DimsGiven": (0,), "LoneDim": 0, "Size": (2, 2),
        "Size*": (2, 2), "float": 0.5, "Scalar": 1,
        "Perm": (1, 0), "IntPair": (1, 1), "SymInt": 1,
    }
    args: list[Any] = []
    for param in op.schema.params:
        if param.name in ("index", "indices"):
            args.append(index)
        elif param.kwonly or param.type not in by_type or not _required(param):
            break
        else:
            args.append(by_type[param.type])
    rest = op.schema.params[len(args) :]
    return None if any(_required(p) for p in rest) else (args, {})


def _required(param: Any) -> bool:
    return type(param.default) is object


def _accepts(op: Op, dtype: Any) -> bool:
    for call in _numeric(op, dtype):
        with contextlib.suppress(RuntimeError, TypeError, IndexError, ValueError):
            call()
            return True
    return False


def accepted(op: Op) -> str:
    """The groups of dtypes that the op takes; single names where a group is not complete."""
    parts = []
    for group, members in GROUPS.items():
        taken = [d.name for d in members if _accepts(op, d)]
        parts += [group] if len(taken) == len(members) else taken
    return " ".join(parts)


# -- gradients and lowering


def gradient(op: Op) -> str:
    """Where the gradient comes from."""
    if callable(op.vjp):
        return "rule"
    if op.vjp is None and op.decompose is not None:
        return "by parts"
    return "none"


def lowers(op: Op) -> str:
    """What compiled code makes of the op, by the pipeline's own rules."""
    if "data_dependent" in op.tags:
        return "graph break: the shape depends on data"
    if op.is_view:
        return "strides"
    if is_primitive(op):
        return "native" if op.name in RULES else "eager step"
    if op.name in REWRITES:
        return "native, rewritten"
    if op.decompose is None or "whole" in op.tags:
        return "eager step"
    parts = _parts(op.decompose)
    return f"into {', '.join(parts[:8])}{' ...' if len(parts) > 8 else ''}" if parts else "away"


def _parts(function: Any) -> list[str]:
    """The ops that a decomposition names, in its own code and its module's helpers."""
    found: dict[str, None] = {}
    seen: set[int] = set()

    def visit(value: Any) -> None:
        if not isinstance(value, types.FunctionType) or id(value) in seen:
            return
        seen.add(id(value))
        for cell in value.__closure__ or ():
            with contextlib.suppress(ValueError):
                visit(cell.cell_contents)
        read(value.__code__, value)

    def read(code: types.CodeType, owner: types.FunctionType) -> None:
        before: Any = None
        for step in dis.get_instructions(code):
            if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and before == "ops":
                if step.argval in TABLE and TABLE[step.argval].schema.params:
                    found.setdefault(step.argval)
            elif step.opname == "LOAD_GLOBAL":
                helper = owner.__globals__.get(step.argval)
                if getattr(helper, "__module__", None) == owner.__module__:
                    visit(helper)
            before = step.argval
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                read(constant, owner)

    visit(function)
    return list(found)


# -- the document


def _row(name: str, op: Op) -> str:
    inplace = f"{op.name}_" in TABLE and TABLE[f"{op.name}_"].names == op.names
    extras = [*aliases_of(op)]
    forms = " ".join(["in-place"] * inplace + ["out="] * (op.name in OUT_FORMS))
    cells = (
        f"`{name}`", f"`{op.schema.text.partition('(')[2][:-1]}`", accepted(op), gradient(op),
        lowers(op), ", ".join(extras), forms,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def document() -> str:
    """The whole page."""
    listed = {}
    for op in TABLE.values():
        if op.schema.params and op.kind is not Kind.INPLACE and not op.name.endswith("_"):
            name = public_name(op)
            if name is not None:
                listed[op.name] = (name, op)
    aliases = sum(len(aliases_of(op)) for _, op in listed.values())
    writers = [name for name, op in TABLE.items() if op.kind is Kind.INPLACE]
    inplace = sum(1 for name in writers if hasattr(gw.Tensor, name))
    out = sum(1 for name in listed if name in OUT_FORMS)
    lines = [
        "# Operations",
        "",
        "Generated from the op table by `make docs`; do not edit.",
        "",
        f"**{len(listed)} operations**, aliases, in-place and `out=` forms counted once; besides "
        f"{aliases} aliases, {inplace} in-place forms, {out} functions with `out=`.",
        "",
        "- dtypes: the groups for which a call on the op's samples succeeds. bool; int: uint8, "
        "int8 to int64; uint: uint16 to uint64; half: float16, bfloat16; float: float32, "
        "float64; complex: complex64, complex128. Compiled code runs uint and complex in eager "
        "steps.",
        "- gradient: `rule` (a rule of its own), `by parts` (of the ops it decomposes into), "
        "`none`.",
        "- compiled: `native` (loop nests of its own), `strides` (a view), `into ...` "
        "(decomposes into these), `eager step` (its eager kernel between native code), `away` "
        "(nothing is left).",
        "",
    ]
    for kind in KINDS:
        rows = sorted((n, op) for n, op in listed.values() if op.kind is kind)
        if not rows:
            continue
        lines += [
            f"## {kind.value.capitalize()} ({len(rows)})",
            "",
            "| op | parameters | dtypes | gradient | compiled | aliases | forms |",
            "|---|---|---|---|---|---|---|",
            *(_row(name, op) for name, op in sorted(rows, key=lambda r: r[0])),
            "",
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(sys.argv[1:]))
