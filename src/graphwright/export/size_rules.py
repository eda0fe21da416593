"""Which sizes an exported program takes: stated once, for Python and for C."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphwright.export.graph_signature import InputKind, TensorArgument
from graphwright.export.ranges import ValueRanges
from graphwright.ir.graph.node import Node
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr, Sym, as_expr
from graphwright.runtime.symbolic.relation import Relation

if TYPE_CHECKING:
    from graphwright.export.exported_program import ExportedProgram


class SizeRules(Record):
    """What sizes of the tensors among a call's arguments have to fulfil.

    inputs: the nodes of these tensors; what follows counts among them.
    symbols: size symbol, and the input and dim that it is read from.
    equal: input, dim, and the expression of symbols that its size has to equal.
    ranges: size symbol, and the range that it has to be in.
    relations: what has to hold between symbols. One of a symbol that is read from no input was put
        in where the symbol stood.
    """

    inputs: tuple[Node, ...]
    symbols: tuple[tuple[str, int, int], ...]
    equal: tuple[tuple[int, int, Expr], ...]
    ranges: tuple[tuple[str, ValueRanges], ...]
    relations: tuple[Relation, ...]


def size_rules(program: ExportedProgram) -> SizeRules:
    """The rules of a program."""
    nodes = {node.name: node for node in program.graph.placeholders}
    inputs = tuple(nodes[one.arg.name] for one in program.graph_signature.input_specs
                   if one.kind is InputKind.USER_INPUT and isinstance(one.arg, TensorArgument))
    symbols: dict[str, tuple[int, int]] = {}
    equal = []
    for number, node in enumerate(inputs):
        for dim, size in enumerate(node.meta["val"].shape):
            expr = as_expr(size)
            if isinstance(expr, Sym) and expr.name not in symbols:
                symbols[expr.name] = (number, dim)
            else:
                equal.append((number, dim, expr))
    return SizeRules(
        inputs, tuple((name, *place) for name, place in symbols.items()), tuple(equal),
        tuple(one for one in program.range_constraints.items() if one[0] in symbols),
        tuple(one for one in program.constraints.relations
              if {symbol.name for symbol in one.symbols()} <= symbols.keys()))
