"""Docstrings of pointwise ops: what follows from their dtypes is added to a summary and example.

A summary is given as "text, then an example of lines with >>> and what they print".
"""

from __future__ import annotations

from inspect import cleandoc
from typing import Any

_REFUSED = {
    "bool": "bool",
    "integers": "integer",
    "floats": "floating-point",
    "halves": "half-precision",
    "complex": "complex",
}
"""The adjective of each kind of dtype of `require_dtype`."""
_TO_FLOAT = "integers and bool give the default dtype"
_OPERANDS = {
    "any": ("input, {}: tensors or numbers that broadcast to one shape.", ""),
    "both": (
        "input, {}: tensors that broadcast to one shape; one of them may be a number.",
        "both operands are numbers",
    ),
    "second": (
        "input: a tensor.\n    {}: a tensor that broadcasts with `input`, or a number.",
        "`input` is a number",
    ),
    "none": ("input, {}: tensors that broadcast to one shape.", "an operand is a number"),
}
"""Two operands by which of them may be numbers (`arithmetic.NUMBERS`), and when TypeError is
raised."""


def refused(kinds: dict[str, Any]) -> str:
    """The kinds of dtypes that an op refuses, as adjectives; empty if none."""
    names = [name for kind, name in _REFUSED.items() if not kinds.get(kind, True)]
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} or {names[-1]}"


def assembled(doc: str, args: str, returns: str = "", raises: tuple[str, ...] = ()) -> str:
    """A docstring: the text of `doc`, the sections in between, the example of `doc`.

    Empty where `doc` is.
    """
    if not doc:
        return ""
    text, _, example = cleandoc(doc).partition("\n>>> ")
    sections = [text.rstrip(), "Args:\n    " + args]
    if returns:
        sections.append("Returns: " + returns)
    if raises:
        sections.append("Raises:\n    " + "\n    ".join(raises))
    sections.append("Example:\n    >>> " + example.replace("\n", "\n    "))
    return "\n\n".join(sections)


def unary_doc(doc: str, floats_only: bool, kinds: dict[str, Any], returns: str = "") -> str:
    """The docstring of an op of one operand that refuses `kinds` of dtypes."""
    args = "input: a tensor of any shape" + (f"; {_TO_FLOAT}." if floats_only else ".")
    names = refused(kinds)
    raises = (f"NotImplementedError: the dtype of `input` is {names}.",) if names else ()
    return assembled(doc, args, returns, raises)


def binary_doc(
    doc: str, numbers: str, second: str, floats_only: bool, kinds: dict[str, Any], returns: str
) -> str:
    """The docstring of an op of two operands; `numbers` is a key of `arithmetic.NUMBERS`.

    `returns`: the result's dtype where it is not the promoted one.
    """
    args, mistake = _OPERANDS[numbers]
    dtype = returns or "a tensor of the broadcast shape, in the promoted dtype"
    raises = ["RuntimeError: the shapes do not broadcast."]
    names = refused(kinds)
    if names:
        raises.insert(0, f"NotImplementedError: the promoted dtype is {names}.")
    if floats_only:
        dtype += f";\n{_TO_FLOAT}"
    if mistake:
        raises.append(f"TypeError: {mistake}.")
    return assembled(doc, args.format(second), dtype + ".", tuple(raises))
