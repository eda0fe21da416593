"""Hand-written PTX run on arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .ptx.machine import program
from .ptx.memory import GlobalMemory
from .ptx.values import BITS, TYPES, Array, Type

HEADER = ".version 8.5\n.target sm_90a\n.address_size 64\n"
BLOCK = 128
LETTERS = "abcef"  # of the inputs; outputs are d, q, r, s


def kernel(body: str, arrays: int, shared: int = 0, registers: str = "") -> str:
    """A kernel of one block: %t is the thread, %p0, %p1, .. point to the arrays, `memory` is
    shared; %u and %v are registers of 32 bits, %w of 64, %z predicates."""
    pointers = ", ".join(f".param .u64 k_{n}" for n in range(arrays))
    return "\n".join([
        HEADER + (f".shared .align 1024 .b8 memory[{shared}];" if shared else ""),
        f".visible .entry k({pointers}) .reqntid {BLOCK} {{",
        f".reg .b32 %t, %u<8>, %v<8>; .reg .b64 %p<8>, %w<8>; .reg .pred %z<8>; {registers}",
        " ".join(f"ld.param.u64 %p{n}, [k_{n}];" for n in range(arrays)) + " mov.u32 %t, %tid.x;",
        body, "ret; }"])


def vector(letter: str, count: int) -> str:
    """Numbered registers as an operand."""
    names = ", ".join(f"%{letter}{n}" for n in range(count))
    return names if count == 1 else f"{{{names}}}"


def thread_row(letter: str, count: int, size: int, array: int, loads: bool) -> str:
    """Load a thread's row of an array into numbered registers, or store it there."""
    return f"mad.wide.u32 %w{array}, %t, {count * size}, %p{array};" + " ".join(
        f"ld.global.b{8 * size} %{letter}{n}, [%w{array}+{n * size}];" if loads else
        f"st.global.b{8 * size} [%w{array}+{n * size}], %{letter}{n};" for n in range(count))


def launch(text: str, arrays: Sequence[Array], blocks: int = 1, shared: int = 0,
           block: int = BLOCK) -> None:
    """Run a kernel whose parameters are pointers to the arrays, which it may change."""
    memory, made = GlobalMemory(), program(text)
    data = made.pack("k", [memory.add(one) for one in arrays])
    made.launch("k", (blocks, 1, 1), (block, 1, 1), data, memory, shared)


def register(kind: Type) -> str:
    """The type of the register that holds a value."""
    return "pred" if kind.kind == "p" else f"b{max(16, 8 * kind.size)}"


def moved(letter: str, kind: Type, number: int, loads: bool) -> str:
    """Load a register from its array, or store it there; a predicate is a byte."""
    where = f"mad.lo.u64 %at, %i, {kind.size}, %p{number};"
    if kind.kind == "p":
        return where + (f" ld.global.b8 %h, [%at]; setp.ne.b16 %{letter}, %h, 0;" if loads else
                        f" selp.b16 %h, 1, 0, %{letter}; st.global.b8 [%at], %h;")
    bits = 8 * kind.size
    return where + (f" ld.global.b{bits} %{letter}, [%at];" if loads else
                    f" st.global.b{bits} [%at], %{letter};")


def elementwise(body: str, inputs: Sequence[tuple[str, Array]],
                outputs: Sequence[str]) -> list[Array]:
    """The bit patterns of the outputs; inputs are a type and bit patterns, as many each.

    `body` reads %a, %b, .. and writes %d, %q, .. of an element.
    """
    length = len(inputs[0][1])
    padded = -(-length // BLOCK) * BLOCK
    kinds = [TYPES[kind] for kind in (*(kind for kind, _ in inputs), *outputs)]
    letters = LETTERS[:len(inputs)] + "dqrs"[:len(outputs)]
    arrays = [np.resize(bits.view(BITS[TYPES[kind].size]), padded) for kind, bits in inputs]
    results = [np.zeros(padded, BITS[TYPES[kind].size]) for kind in outputs]
    moves = [moved(letter, kind, n, n < len(inputs))
             for n, (letter, kind) in enumerate(zip(letters, kinds, strict=True))]
    text = kernel("\n".join([
        f"mov.u32 %u7, %ctaid.x; mad.lo.u32 %u7, %u7, {BLOCK}, %t; cvt.u64.u32 %i, %u7;",
        *moves[:len(inputs)], body, *moves[len(inputs):]]), len(kinds),
        registers=".reg .b16 %h; .reg .b64 %i, %at; " + " ".join(
            f".reg .{register(kind)} %{letter};"
            for letter, kind in zip(letters, kinds, strict=True)))
    launch(text, [*arrays, *results], padded // BLOCK)
    return [one[:length] for one in results]
