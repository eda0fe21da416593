"""Hand-written PTX run on arrays: each thread loads an element of every input, the text computes,
each thread stores an element of every output."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .ptx.machine import program
from .ptx.memory import GlobalMemory
from .ptx.values import BITS, TYPES, Array, Type

HEADER = ".version 8.5\n.target sm_90a\n.address_size 64\n"
BLOCK = 128
LETTERS = "abcef"  # of the inputs; outputs are d, q, r, s


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


def kernel_text(body: str, inputs: Sequence[str], outputs: Sequence[str],
                shared: int = 0) -> str:
    """A kernel around `body`: %a, %b, .. and %i (the element) are read, %d, %q, .. written."""
    kinds = [*((one, TYPES[kind]) for one, kind in zip(LETTERS, inputs, strict=False)),
             *((one, TYPES[kind]) for one, kind in zip("dqrs", outputs, strict=False))]
    count = len(inputs)
    pointers = ", ".join(f".param .u64 k_{n}" for n in range(len(kinds)))
    lines = [
        HEADER, f".shared .align 128 .b8 memory[{shared}];" if shared else "",
        f".visible .entry k({pointers}) .reqntid {BLOCK} {{",
        ".reg .b16 %h; .reg .b32 %t, %n, %u<8>; .reg .b64 %i, %at, %w<8>; .reg .pred %z<8>;",
        f".reg .b64 %p<{len(kinds)}>;",
        *(f".reg .{register(kind)} %{letter};" for letter, kind in kinds),
        *(f"ld.param.u64 %p{n}, [k_{n}];" for n in range(len(kinds))),
        "mov.u32 %t, %tid.x; mov.u32 %n, %ctaid.x;",
        f"mad.lo.u32 %n, %n, {BLOCK}, %t; cvt.u64.u32 %i, %n;",
        *(moved(letter, kind, n, True) for n, (letter, kind) in enumerate(kinds[:count])), body,
        *(moved(letter, kind, n, False)
          for n, (letter, kind) in enumerate(kinds[count:], count)),
        "ret; }"]
    return "\n".join(line for line in lines if line)


def launch(text: str, arrays: Sequence[Array], blocks: int = 1, shared: int = 0,
           name: str = "k", block: int = BLOCK) -> None:
    """Run a kernel whose parameters are pointers to the arrays, which it may change."""
    memory, made = GlobalMemory(), program(text)
    data = made.pack(name, [memory.add(one) for one in arrays])
    made.launch(name, (blocks, 1, 1), (block, 1, 1), data, memory, shared)


def elementwise(body: str, inputs: Sequence[tuple[str, Array]], outputs: Sequence[str],
                shared: int = 0) -> list[Array]:
    """The bit patterns of the outputs; inputs are a type and bit patterns, as many each."""
    length = len(inputs[0][1])
    padded = -(-length // BLOCK) * BLOCK
    arrays = [np.resize(bits.view(BITS[TYPES[kind].size]), padded) for kind, bits in inputs]
    results = [np.zeros(padded, BITS[TYPES[kind].size]) for kind in outputs]
    text = kernel_text(body, [kind for kind, _ in inputs], outputs, shared)
    launch(text, [*arrays, *results], padded // BLOCK)
    return [one[:length] for one in results]
