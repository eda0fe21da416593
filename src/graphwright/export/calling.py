"""Checking the arguments of calls: dtypes, sizes, and the relations between sizes that a program
was recorded under. The check is made as Python source, so that capture can follow it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from graphwright.export.graph_signature import InputKind, TensorArgument
from graphwright.runtime.errors import describe
from graphwright.runtime.symbolic.expr import Sym
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.export.exported_program import ExportedProgram


def checker(program: ExportedProgram) -> Callable[..., None]:
    """A function of the tensor arguments that raises RuntimeError where the program does not
    hold."""
    nodes = {node.name: node for node in program.graph.placeholders}
    inputs = [nodes[one.arg.name] for one in program.graph_signature.input_specs
              if one.kind is InputKind.USER_INPUT and isinstance(one.arg, TensorArgument)]
    names = [f"t{number}" for number in range(len(inputs))]
    lines = [f"def check({', '.join(names)}):", "    pass"]
    spaces: dict[str, Any] = {"refuse": _refuse, "refuse_relation": _refuse_relation,
                              "Tensor": Tensor, "isinstance": isinstance, "__builtins__": {}}
    known: set[str] = set()
    later: list[str] = []
    for name, node in zip(names, inputs, strict=True):
        fake = node.meta["val"]
        shape = [str(size) for size in fake.shape]
        spaces[f"dtype_{name}"] = fake.dtype
        wanted = f"{node.name!r}, {fake.dtype.name!r}, {shape!r}, {name}"
        test = (f"not isinstance({name}, Tensor) or {name}.dtype is not dtype_{name} "
                f"or {name}.ndim != {len(shape)}")
        lines += [f"    if {test}:", f"        refuse({wanted})"]
        for dim, size in enumerate(fake.shape):
            own = f"{name}.shape[{dim}]"
            expr = size.expr if type(size) is SymInt else None
            if isinstance(expr, Sym) and expr.name not in known:
                known.add(expr.name)
                lines.append(f"    {expr.name} = {own}")
            else:
                later += [f"    if {own} != {size}:", f"        refuse({wanted})"]
    lines += later
    for symbol, one in program.range_constraints.items():
        if symbol not in known:
            continue
        most = "" if one.upper is None else f" or {symbol} > {one.upper}"
        lines += [f"    if {symbol} < {one.lower}{most}:",
                  f"        refuse_relation('{symbol} in {one}', {symbol})"]
    for relation in program.constraints.relations:
        if {symbol.name for symbol in relation.symbols()} <= known:
            shown = ", ".join(sorted(symbol.name for symbol in relation.symbols()))
            lines += [f"    if not ({relation}):",
                      f"        refuse_relation({str(relation)!r}, {shown})"]
    exec(compile("\n".join(lines), "<arguments of an exported program>", "exec"), spaces)
    check: Callable[..., None] = spaces["check"]
    return check


def _refuse(name: str, dtype: str, shape: list[str], given: Any) -> NoReturn:
    found = describe(given) if isinstance(given, Tensor) else type(given).__name__
    raise RuntimeError(f"the exported program takes {dtype}[{', '.join(shape)}] as '{name}', "
                       f"not {found}")


def _refuse_relation(relation: str, *sizes: Any) -> NoReturn:
    raise RuntimeError(f"the exported program holds only for sizes with {relation}; given: "
                       f"{', '.join(map(str, sizes))}")
