"""Eight type errors, each on a line that says so: mypy --strict and pyright report them all."""

from __future__ import annotations

import graphwright as gw
import graphwright.nn.functional as F
from graphwright import nn

x = gw.ones(3)
a: int = gw.sum(x)  # error
b = gw.cat(x, dim="0")  # error
c = x.reshpe(1, 3)  # error
d: gw.Tensor = x.topk(2)  # error
e = nn.Linear("4", 2)  # error
f: str = F.relu(x)  # error
g = gw.ones(3, dtype="float32")  # error
h = gw.compile(x.size, backned="llvm")  # error
