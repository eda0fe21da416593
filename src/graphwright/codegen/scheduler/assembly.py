"""Loop nests of assemblies: buffers that several loops fill one after the other."""

from __future__ import annotations

from graphwright.codegen.loops import Accumulate, Stmt, Store
from graphwright.codegen.lowering.nodes import Assembly, Part, Update, axis_symbols, bind
from graphwright.codegen.scheduler.affine import coefficient
from graphwright.codegen.scheduler.loop_domain import Dim
from graphwright.codegen.scheduler.loopnest import Nest, Run, by_stride, merge
from graphwright.codegen.scheduler.reads import body_cost
from graphwright.codegen.scheduler.write_context import Writing
from graphwright.runtime.symbolic.expr import Expr, Sym


def assembly_stmts(writing: Writing) -> tuple[Stmt, ...]:
    """The loops of all parts, in order."""
    (member,) = writing.group.members.values()
    node = writing.anchors.nodes[member.name]
    assert isinstance(node, (Assembly, Update)), f"{member.name} is not an assembly"
    result: list[Stmt] = []
    for number, part in enumerate(node.parts):
        if all(e != 0 for e in part.domain):
            result += _part(writing, member.name, number, part)
    return tuple(result)


def _part(writing: Writing, name: str, number: int, part: Part) -> tuple[Stmt, ...]:
    dims = [Dim(s, e) for s, e in zip(axis_symbols(part.domain), part.domain, strict=True)
            if isinstance(s, Sym)]
    serial = {f"i{a}" for a in part.serial}
    storage = writing.storage[name]
    target = storage.at(part.index)
    free = [d for d in dims if d.symbol.name not in serial]
    fixed = [d for d in dims if d.symbol.name in serial]
    indices = [target, *part_indices(writing, name, number)]
    free_runs = merge(by_stride(free, target), indices)
    vector = free_runs.pop() if free_runs and not _strays(free_runs[-1], target, fixed) else None
    writer = writing.writer(vector.dims if vector else dims)
    symbols = bind(part.domain, axis_symbols(part.domain))
    value, index = writer.part(part, symbols)
    position = storage.at(index)
    kind = Accumulate if part.accumulate else Store
    writer.inner.stmts.append(kind(storage.buffer, position, value))
    body, _ = writer.close_pass([])
    fixed_runs = merge(fixed, indices)
    return Nest(tuple(free_runs), tuple(fixed_runs), vector, tuple(writer.outer.stmts),
                tuple(body), body_cost(part.body) + 2).stmts()


def _strays(run: Run, target: Expr, fixed: list[Dim]) -> bool:
    """Whether lanes over `run` would be far apart in memory, while those axes that have to run
    in order may follow it."""
    return bool(fixed) and coefficient(target, run.dims[-1].symbol) != 1


def part_indices(writing: Writing, name: str, number: int) -> list[Expr]:
    """The index expressions of what the part reads, over its own symbols."""
    found: list[Expr] = []
    reads = writing.anchors.reads
    for access in reads.spliced_part(name, number, writing.storage.keys()):
        if access.source is None:
            found.append(access.index[0])
        else:
            found.append(writing.storage[access.source].at(access.index))
    return found
