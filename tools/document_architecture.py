"""Writes docs/architecture.md: one function through every stage, with the compiler's own dumps.

Usage: python tools/document_architecture.py [--check]
"""

from __future__ import annotations

import dis
import io
import linecache
import sys
from pathlib import Path
from typing import Any

import graphwright as gw

PAGE = Path(__file__).resolve().parent.parent / "docs" / "architecture.md"
EXAMPLE = '''import graphwright as gw

def loss(x, w):
    hidden = gw.relu(x @ w)
    return (hidden * hidden).mean()

compiled = gw.compile(loss)
x, w = gw.ones(8, 4), gw.ones(4, 16, requires_grad=True)
compiled(x, w).backward()
'''
TEXT = """# Architecture: one function, stage by stage

Written by `make docs`: the dumps on this page are the compiler's own. `graphwright dump
FILE.py:FUNCTION --input ...` prints the same stages of a function of yours.

```python
{example}```

`gw.compile` compiles nothing. It returns a dispatcher, a callable written in C that holds the
versions of `loss` that exist: none yet. The first call misses, and asks the front end
(`capture/frame/frontend.py`) for one.

## 1. Capture: from bytecode to a graph

The symbolic virtual machine (`capture/vm/translator.py`) interprets the frame's bytecode. Each
opcode has a handler in `capture/vm/opcodes/`.

```
{bytecode}```

What the machine has on its stack is not a value but a **tracker** (`capture/trackers/`), which
says what is known of the value: a constant, a dict of trackers, a tensor. A tensor's tracker
names a node of the graph, and has a **fake tensor**: shape, strides, dtype and device without
data. `x @ w` runs on fake tensors, by the rule of shapes that eager execution has, and adds a node:

```
{graph}```

Calls of the program's own functions are **inlined**: the machine goes on in the callee's bytecode.
What cannot be captured ends the graph there, a **graph break**: the part before is compiled, the
instruction runs as plain Python, and a **resume function**, the rest of the bytecode, is captured
when it is reached. Effects of the frame on other objects are recorded, and replayed after the
graph (`capture/effects/`).

## 2. Guards: what the graph depends on

A tracker that came from outside has a **source** (`capture/guards/source.py`): `L['x']` is a local
of the frame, `G['gw'].relu` an attribute of a global. Whatever capture read becomes a **guard** on
a source. The next call runs this code only if all hold; C evaluates them:

```
{guards}```

A guard that fails leads to a recompilation. If only a size or a number was another, it becomes
**symbolic** (dynamic) in the new version, which then serves all sizes.

## 3. Lowering: forward and backward as graphs of primitives

The backend gets the graph and its inputs as fake tensors (`face/native_backends.py`).
`ir/pipeline.py` is the list of passes, in order. Three of them decide the shape of what follows:

- **functionalise**: in-place ops become functional ones, so that a value never changes.
- **joint** (`ir/joint/joint.py`): the graph is run once more on fake tensors with the eager tape
  recording, and the tape is walked backward, all in one trace. The gradients are those of eager
  autograd, because the rules are the same.
- **partition** (`ir/joint/partition.py`): the joint graph is split. What the backward half takes
  from the forward half is saved; what is cheap to recompute is not.

Composite ops have become primitives (`ir/passes/decompose.py`):

```
{joint}```

`relu` is an output of the forward graph because the backward graph reads it; `tangent0` is the
gradient of the result.

## 4. Loops: fusion

`codegen/lowering/` turns each primitive into a loop-level node: a pointwise formula, a reduction, a
renaming of indices for views. `codegen/scheduler/` decides which nodes share one loop nest and
which need a buffer; `codegen/memory_plan.py` places the buffers in an arena. The loop nests are
the whole input of code generation; their grammar is the first screen of `codegen/loops.py`:

```
{loops}```

The forward graph is a matrix product and one kernel, which computes `relu`, its square and the sum
in a single pass. `vector(128)` is a SIMD loop; `parallel` loops, of larger tensors, are split over
threads.

## 5. Native code

`codegen/emit/walker.py` walks the loop nests over one of two syntaxes, LLVM IR
(`codegen/emit/llvm.py`) or C (`codegen/emit/c.py`). LLVM
compiles in the process, through llvmlite; the object is loaded by the core
(`runtime/_core/launcher/elf_loader.c`) and kept on disk, named by a hash of the loop nests
(`codegen/cache_key.py`), so that the next process compiles nothing.
`graphwright dump --stage llvm` or `--stage asm` prints this stage; it depends on the machine.

For GPUs the same lowered graph has another schedule (`codegen/gpu/`): kernels over tiles, of which
each program of a grid handles one. `codegen/triton/` writes them as Triton, which needs no GPU to
compile them. `--stage tiles`, `triton` and `ptx` print these. A graph whose tensors are on a GPU is
launched by the core (`runtime/_core/cuda/launcher.c`); one on several devices is cut between them
(`codegen/placement.py`).

## 6. Calls

The **launcher** (`runtime/_core/launcher/launcher.c`) is the compiled graph as a callable: it
checks inputs, allocates outputs, leases an arena, and calls the native function with pointers and
sizes. Where an input requires a gradient, `face/compiled_call.py` puts one node on the tape for
the whole graph; `backward()` reaches it, compiles the backward graph when it is first needed
(`face/backward_half.py`) and calls it.

From then on a call is: guards in C, the launcher, the native function.

## Glossary

| term | meaning | where |
| --- | --- | --- |
| arena | the block of memory that a compiled graph's temporaries share | `codegen/memory_plan.py` |
| break, graph break | an instruction that no graph can hold; its code and advice: docs/graph_breaks.md | `capture/breaks.py` |
| composite | an op that is defined by other ops | `runtime/ops/table.py` |
| dispatcher | the callable that `gw.compile` returns | `capture/_eval_frame/dispatcher.c` |
| entry | one compiled version of a code object, with its guards | `capture/_eval_frame/entry.c` |
| fake tensor | a tensor without data, on which shape rules run | `runtime/fake/fake_tensor.py` |
| family | the module that defines a group of ops | `runtime/ops/families.py` |
| frame hook | Python's PEP 523 hook, by which calls within compiled functions are captured | `capture/_eval_frame/frames/hook.c` |
| guard | a condition on what capture read, checked before compiled code runs | `capture/guards/guards.py` |
| joint graph | forward and backward in one graph, before they are split | `ir/joint/joint.py` |
| kernel | one fused loop nest; also the function that runs an op eagerly | `codegen/scheduler/kernels.py` |
| launcher | a compiled graph as a callable | `runtime/_core/launcher/launcher.c` |
| node | one operation of a graph | `ir/graph/node.py` |
| op | an entry of the op table: schema, shape rule, gradient, kernel or decomposition | `runtime/ops/table.py` |
| pass | a rewriting of a graph; one file for each | `ir/passes/` |
| primitive | an op that code generation lowers itself | `ir/passes/decompose.py` |
| resume function | the rest of a function behind a graph break | `capture/frame/resume.py` |
| source | where a value comes from, so that guards and code can read it again | `capture/guards/source.py` |
| symbolic size | a size that is an input of the graph, known by an expression | `runtime/symbolic/` |
| tangent | the gradient of an output, which the backward graph takes | `ir/joint/joint.py` |
| tape | the nodes that eager ops record for `backward` | `runtime/tape/` |
| tracker | what the symbolic machine knows of one Python value | `capture/trackers/base.py` |
| view | a tensor over the memory of another | `runtime/ops/views/` |
| vjp | the rule of an op's gradient: from those of its outputs to those of its inputs | `runtime/ops/table.py` |
"""


def main(arguments: list[str]) -> int:
    """Write the page, or with --check say whether it is up to date."""
    text = document()
    if PAGE.exists() and PAGE.read_text() == text:
        print("up to date")
        return 0
    if "--check" in arguments:
        print(f"{PAGE} is out of date: run make docs")
        return 1
    PAGE.write_text(text)
    return 0


def document() -> str:
    """The page's text."""
    linecache.cache["example.py"] = (
        len(EXAMPLE), None, EXAMPLE.splitlines(keepends=True), "example.py")
    space: dict[str, Any] = {"__name__": "example"}
    exec(compile(EXAMPLE, "example.py", "exec"), space)
    stages = gw.compiler.dump(space["compiled"], ["graph", "joint", "loops"])
    code = io.StringIO()
    dis.dis(space["loss"], file=code)
    frame = gw.explain(space["loss"])(space["x"], space["w"]).frames[0]
    guards = "".join(f"{guard.sentence()}\n" for guard in frame.guards)
    return TEXT.format(example=EXAMPLE, bytecode=code.getvalue(), guards=guards, **stages)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
