"""Prints tile programs as text: `print_tiles`."""

from __future__ import annotations

from graphwright.codegen.gpu.tile_ir import AttentionTile, GpuProgram, Running, TileKernel
from graphwright.codegen.loop_printer import (
    PRINTERS,
    print_block,
    print_slots,
    value_text,
)


def print_tiles(program: GpuProgram) -> str:
    """The buffers of a program, then its steps in order."""
    known = (*program.inputs, *(o.buffer for o in program.outputs))
    lines = print_slots(program.slots, known, program.steps)
    for step in program.steps:
        lines += ["", print_tile_kernel(step)]
    return "\n".join(lines) + "\n"


def print_tile_kernel(kernel: TileKernel) -> str:
    """A kernel as indented text, its axes in the first line."""
    axes = [f"{a.symbol} in tiles of {a.block} ({a.extent})" for a in kernel.axes]
    row = kernel.row
    if row is not None:
        how = "in turns of" if row.looped else "in"
        axes.append(f"{row.symbol} {how} {row.block} ({row.extent})")
    head = f"kernel {kernel.name}: {', '.join(axes)}"
    comments = [f"    # {line}" for line in kernel.source]
    made = kernel.product
    if made is not None:
        inner = made.inner
        comments.append(f"    {made.name} = sum over {inner.symbol} in turns of {inner.block} "
                        f"({inner.extent}): "
                        f"{made.a.name}[{made.index_a}] * {made.b.name}[{made.index_b}]")
    if kernel.attention is not None:
        comments += _attention(kernel.attention)
    return "\n".join([head, *comments, *print_block(kernel.body, 1)])


def _attention(made: AttentionTile) -> list[str]:
    r, d = made.inner, made.depth
    lines = [f"    {made.name} = attention over {r.symbol} in turns of {r.block} ({r.extent}), "
             f"{d.symbol} in {d.block} ({d.extent}), scale {made.scale!r}"
             f"{', causal' if made.causal else ''}:"]
    parts = (("query", made.query), ("key", made.key), ("value", made.value), ("mask", made.mask))
    for name, part in parts:
        if part is not None:
            lines += [*print_block(part.stmts, 2), f"        {name} = {value_text(part.value)}"]
    return lines


def _running(stmt: Running, depth: int) -> list[str]:
    return ["    " * depth + f"{stmt.name} = running {stmt.fold} of {value_text(stmt.value)}"]


PRINTERS[Running] = _running
