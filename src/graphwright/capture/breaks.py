"""The registry of graph breaks and recompilations: stable codes, meaning, what the user can do.

Codes below GB0100 end a graph or leave a frame to plain Python, the others cause another version.
A code that nothing raises any more, such as GB0012, does not get another meaning.
`break_examples` has one example for each, which tests run and `docs/graph_breaks.md` shows.
"""

from __future__ import annotations

from graphwright.runtime.record import Record


class BreakKind(Record):
    """One reason for which a graph ends before an instruction, or a frame is recompiled."""

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
            "Python reads a tensor's values",
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
            "Nothing: plain Python raises the exception.",
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
            "a generator that outlives the frame, or an object whose finalizer is visible",
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
            "a frame that cannot be resumed after a break at this instruction",
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
            "The loop runs as plain Python, at its speed. Move long loops over Python numbers out "
            "of the compiled function so that the code after them is captured.",
        ),
        _kind(
            "GB0019",
            "a value that is different at each read",
            "Read it once outside of the compiled function, and pass it in.",
        ),
        _kind(
            "GB0020",
            "a graph that cannot be compiled runs operation by operation",
            "Replace the in-place or strided form of the operation that the message names.",
        ),
        _kind(
            "GB0021",
            "capture itself failed on the frame",
            "This is a bug in graphwright: please report it. The frame runs as plain Python.",
        ),
        _kind(
            "GB0022",
            "a compiled graph failed where plain Python does not",
            "The call returned plain Python's result. If memory ran out, reduce what the program "
            "needs; otherwise please report this.",
        ),
        _kind(
            "GB0023",
            "a parameter, or another leaf tensor, that is made in the frame and outlives it",
            "Make parameters in __init__. If only the first call makes one, later calls have no "
            "break.",
        ),
        _kind(
            "GB0024",
            "a call of checkpoint() that the graph cannot recompute",
            "Move operations with side effects, such as batch norm in training, out of the "
            "function, and pass use_reentrant=False.",
        ),
        _kind(
            "GB0025",
            "an in-place change of a tensor's layout or storage that is seen outside of the frame",
            "Use the form without underscore, such as transpose() or reshape(), and use its "
            "result from there on.",
        ),
        _kind(
            "GB0026",
            "a call of cond or while_loop whose functions cannot be captured as graphs",
            "Pass functions that only compute tensors: without side effects, and with new tensors "
            "as results (clone() an argument that is returned as it is).",
        ),
        _kind(
            "GB0027",
            "a module with backward hooks at which the graph cannot be split",
            "Call backward() outside of the compiled function, and begin autocast and no_grad "
            "blocks outside of it or within the module.",
        ),
        _kind(
            "GB0100",
            "more versions of a function than the recompile limit",
            "Pass the value that differs between calls as a tensor or number, or set the limit by "
            'gw.compile(f, options={"recompile_limit": 16}).',
        ),
        _kind(
            "GB0101",
            "a tensor's size, or a relation between sizes, changed",
            "Use dynamic=True or gw.compiler.mark_dynamic; avoid branches on sizes. Sizes 0 and "
            "1 always have versions of their own.",
        ),
        _kind(
            "GB0102",
            "a tensor's dtype, device, strides, class or requires_grad changed",
            "Pass tensors of one dtype and layout, or accept one version for each.",
        ),
        _kind(
            "GB0103",
            "a Python value that the program depends on changed",
            "Pass numbers that differ between calls as tensors, or accept one version for each "
            "value.",
        ),
        _kind(
            "GB0104",
            "the type of a value changed",
            "Pass values of one type, or accept one version for each.",
        ),
        _kind(
            "GB0105",
            "a function, class or other object was replaced",
            "Define functions and classes once, outside of the calling loop.",
        ),
        _kind(
            "GB0106",
            "the length or the keys of a container changed",
            "Pass containers of one length and with the same keys, or stack their tensors.",
        ),
        _kind(
            "GB0107",
            "an attribute, key or variable was added or removed",
            "Give the attribute a value from the start.",
        ),
        _kind(
            "GB0108",
            "arguments became, or no longer are, the same object or aliases of one storage",
            "Pass different objects in all calls, or the same ones.",
        ),
        _kind(
            "GB0109",
            "the grad mode, or another mode such as autocast or inference mode, changed",
            "Call the function in one mode, or accept one version for each.",
        ),
    ]
)
