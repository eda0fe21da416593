"""The registry of graph breaks: stable codes, what each means and what the user can do."""

from __future__ import annotations

from graphwright.runtime.records import Record


class BreakKind(Record):
    """One reason for which a graph ends before an instruction."""

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
            "Use gw.where, or move the branch out of the compiled function.",
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
            "Replace the descriptor or __getattr__ by a plain attribute or method.",
        ),
        _kind(
            "GB0011",
            "calls nested too deeply to inline",
            "Make the recursion shallower, or run it outside of the compiled function.",
        ),
        _kind(
            "GB0012",
            "a graph break inside a with or try block",
            "Move the break out of the block: the whole frame runs as plain Python.",
        ),
        _kind(
            "GB0013",
            "a generator or coroutine that outlives the frame",
            "Build a list instead, or consume the generator in the compiled function.",
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
            "Move long loops over Python numbers out of the compiled function.",
        ),
    ]
)
