"""A kernel as text that is equal for kernels that differ in names alone: layers of a model have
kernels that read other buffers, and are the same code.

::

    def k6_exp(bmm_ptr, out5_ptr, BLOCK_i):     def k_exp(p0, p1, BLOCK_i):
        # model.py:7: return x.exp()
        i = tl.arange(0, BLOCK_i)                   x2 = tl.arange(0, BLOCK_i)
        v1 = tl.load(bmm_ptr + i)                   x3 = tl.load(p0 + x2)
"""

from __future__ import annotations

import re

from graphwright.codegen.triton.writer import TritonKernel
from graphwright.runtime.record import replace

_BOUND = re.compile(r"^ +(?:for )?([A-Za-z_][\w, ]*) (?:=|in) ", re.MULTILINE)
"""What a line binds."""
_WORD = re.compile(r"""(?P<text>"[^"]*"|'[^']*')|(?<![\w.])[A-Za-z_]\w*(?!\w|=[^=])""")
"""A string; or a name, which is neither an attribute nor the keyword of an argument."""


def canonical(kernel: TritonKernel) -> TritonKernel:
    """The kernel with names by position, and without comments."""
    name = re.sub(r"^k\d+_", "k_", kernel.name)
    head, start, body = kernel.source.rpartition(f"def {kernel.name}(")
    body = re.sub(r"^ *#.*\n", "", body, flags=re.MULTILINE)
    names = {parameter: f"p{n}" for n, parameter in enumerate(kernel.parameters)}
    for line in _BOUND.finditer(body):
        for bound in line[1].split(", "):
            names.setdefault(bound, f"x{len(names)}")
    body = _WORD.sub(lambda found: found[0] if found["text"] else names.get(found[0], found[0]),
                     body)
    return replace(kernel, name=name, source=f"{head}{start.replace(kernel.name, name)}{body}",
                   parameters=tuple(map(names.__getitem__, kernel.parameters)))
