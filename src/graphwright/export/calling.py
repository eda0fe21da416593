"""Checking the arguments of calls: dtypes, sizes, and the relations between sizes that a program
was recorded under. The check is made as Python source, so that capture can follow it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from graphwright.export.size_rules import size_rules
from graphwright.runtime.errors import describe
from graphwright.runtime.tensor.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.export.exported_program import ExportedProgram


def checker(program: ExportedProgram) -> Callable[..., None]:
    """A function of the tensor arguments that raises RuntimeError where the program does not
    hold."""
    rules = size_rules(program)
    shapes = [[str(size) for size in node.meta["val"].shape] for node in rules.inputs]
    names = [f"t{number}" for number in range(len(rules.inputs))]
    lines = [f"def check({', '.join(names)}):", "    pass"]
    spaces: dict[str, Any] = {"refuse": _refuse, "refuse_relation": _refuse_relation, "min": min,
                              "max": max, "Tensor": Tensor, "isinstance": isinstance,
                              "__builtins__": {}}
    refusals = []
    for name, node, shape in zip(names, rules.inputs, shapes, strict=True):
        dtype = spaces[f"dtype_{name}"] = node.meta["val"].dtype
        refusals.append(f"        refuse({node.name!r}, {dtype.name!r}, {shape!r}, {name})")
        lines += [f"    if not isinstance({name}, Tensor) or {name}.dtype is not dtype_{name} "
                  f"or {name}.ndim != {len(shape)}:", refusals[-1]]
    lines += [f"    {symbol} = {names[number]}.shape[{dim}]"
              for symbol, number, dim in rules.symbols]
    for number, dim, size in rules.equal:
        lines += [f"    if {names[number]}.shape[{dim}] != {size}:", refusals[number]]
    for symbol, one in rules.ranges:
        most = "" if one.upper is None else f" or {symbol} > {one.upper}"
        lines += [f"    if {symbol} < {one.lower}{most}:",
                  f"        refuse_relation('{symbol} in {one}', {symbol})"]
    for relation in rules.relations:
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
