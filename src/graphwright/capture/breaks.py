"""The registry of graph breaks and recompilations: stable codes, meaning, what the user can do.

Codes below GB0100 end a graph or leave a frame to plain Python, the others cause another version.
A code that nothing raises any more, such as GB0012, does not get another meaning.
`break_examples` has one example for each, which tests run and `docs/graph_breaks.md` shows.
"""

from __future__ import annotations

from graphwright.runtime.record import Record


class BreakKind(Record):
    """One reason for which a graph ends before an instruction, or a frame is compiled again."""

    code: str
    title: str
    advice: str


def _kind(code: str, title: str, advice: str) -> tuple[str, BreakKind]:
    return code, BreakKind(code, title, advice)


BREAKS: dict[str, BreakKind] = dict(
    [
        _kind(
            "GB0001",
            "branch on the values of a tensor",
            "Use gw.where; or gw.cond or gw.while_loop, which keep both sides or the loop in the "
            "graph; or move the branch out of the compiled function.",
        ),
        _kind(
            "GB0002",
            "a tensor's values are read by Python",
            "Keep the value in a tensor, or read it (item, tolist, numpy, float, int) "
            "outside of the compiled function.",
        ),
        _kind(
            "GB0003",
            "a builtin with an effect outside of the program",
            "Move the print, input or file access out of the compiled function.",
        ),
        _kind(
            "GB0004",
            "a call of a function that capture does not know",
            "Wrap it with gw.compiler.disable to say that it runs as plain Python, "
            "or call it outside of the compiled function.",
        ),
        _kind(
            "GB0005",
            "a Python instruction that capture does not handle",
            "Rewrite the line with simpler Python, or move it out of the compiled function.",
        ),
        _kind(
            "GB0006",
            "an exception is raised",
            "None is needed: the exception is raised by plain Python.",
        ),
        _kind(
            "GB0007",
            "a call that fails for these arguments",
            "Correct the call: plain Python raises the same error.",
        ),
        _kind(
            "GB0008",
            "an operation on an object that capture does not model",
            "Use plain Python containers, dataclasses or nn.Module attributes.",
        ),
        _kind(
            "GB0009",
            "a function excluded by gw.compiler.disable",
            "Remove the mark if the function should be part of the graph.",
        ),
        _kind(
            "GB0010",
            "an attribute that capture cannot read without running user code",
            "Replace the descriptor or __getattr__ by a plain attribute, or write it in Python.",
        ),
        _kind(
            "GB0011",
            "calls nested too deeply to inline",
            "Make the recursion shallower, or run it outside of the compiled function.",
        ),
        _kind(
            "GB0013",
            "a generator that outlives the frame, or something whose end the program sees",
            "Build a list instead of the generator, or consume it in the compiled function; keep "
            "exceptions and objects with finalizers outside.",
        ),
        _kind(
            "GB0014",
            "a tensor subclass",
            "Pass a plain tensor or a Parameter.",
        ),
        _kind(
            "GB0015",
            "a value that cannot be rebuilt after the graph",
            "Do not keep iterators, cycles of lists or modules' internals across the break.",
        ),
        _kind(
            "GB0016",
            "the frame's code cannot be resumed in its middle",
            "Move the break out of the function.",
        ),
        _kind(
            "GB0017",
            "an iterator of unknown length drives a loop",
            "Loop over a list, tuple, dict or range.",
        ),
        _kind(
            "GB0018",
            "a frame that is too long to unroll",
            "None is needed for speed: the loop runs as plain Python. Move long loops over Python "
            "numbers out of the compiled function to have what follows them in a graph.",
        ),
        _kind(
            "GB0019",
            "a value that differs whenever it is read",
            "Read it once outside of the compiled function, and pass it in.",
        ),
        _kind(
            "GB0020",
            "a graph that cannot be compiled runs operation by operation",
            "Write the operation that is named without the in-place or strided form.",
        ),
        _kind(
            "GB0021",
            "capture itself failed on the frame",
            "This is a bug in graphwright: please report it. The frame runs as plain Python.",
        ),
        _kind(
            "GB0022",
            "a compiled graph failed where plain Python does not",
            "The call gave plain Python's result. Lower the memory that the program needs, or "
            "report it if memory is not what was short.",
        ),
        _kind(
            "GB0023",
            "a parameter, or another leaf of gradients, that is made in the frame and outlives it",
            "Make parameters in __init__. Where one is made at the first call only, later calls "
            "have no break.",
        ),
        _kind(
            "GB0024",
            "a call of checkpoint() that the graph cannot compute again",
            "Keep what changes other things, such as batch norm in training, out of the function, "
            "and pass use_reentrant=False.",
        ),
        _kind(
            "GB0025",
            "a tensor gets another layout in place, as others see it, or other memory",
            "Use the form without underscore, such as transpose() or reshape(), and go on with "
            "its result.",
        ),
        _kind(
            "GB0026",
            "a call of cond or while_loop whose functions are no parts of a graph",
            "Let the functions only compute tensors: change nothing outside, return new tensors, "
            "clone() what they are given.",
        ),
        _kind(
            "GB0027",
            "a module with backward hooks around which the graph cannot be cut",
            "Call backward() outside of the compiled function, and begin autocast and no_grad "
            "blocks outside of it or within the module.",
        ),
        _kind(
            "GB0100",
            "more versions of a function than the recompile limit",
            "Make what varies an argument tensor or number, or raise the limit with "
            'gw.compile(f, options={"recompile_limit": 16}).',
        ),
        _kind(
            "GB0101",
            "the size of a tensor, or a relation of sizes, is another",
            "Use dynamic=True or gw.compiler.mark_dynamic; avoid branches on sizes. Sizes 0 and "
            "1 always have versions of their own.",
        ),
        _kind(
            "GB0102",
            "the dtype, device, strides, class or requires_grad of a tensor is another",
            "Pass tensors of one dtype and layout, or accept one version for each.",
        ),
        _kind(
            "GB0103",
            "a Python value that the program depends on is another",
            "Pass numbers that vary as tensors, or accept one version for each value.",
        ),
        _kind(
            "GB0104",
            "the type of a value is another",
            "Pass values of one type, or accept one version for each.",
        ),
        _kind(
            "GB0105",
            "a function, class or other object was replaced",
            "Define functions and classes once, outside of the calling loop.",
        ),
        _kind(
            "GB0106",
            "the length or the keys of a container are others",
            "Pass containers of one shape, or stack their tensors.",
        ),
        _kind(
            "GB0107",
            "an attribute, key or variable appeared or vanished",
            "Give the attribute a value from the start.",
        ),
        _kind(
            "GB0108",
            "arguments are the same object, or share memory, or no longer do",
            "Pass different objects in all calls, or the same ones.",
        ),
        _kind(
            "GB0109",
            "gradients are recorded, or another mode is on, or no longer is",
            "Call the function in one mode, or accept one version for each.",
        ),
    ]
)
