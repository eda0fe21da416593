"""What special methods give is refused where Python refuses it, and reduced as Python does."""

from __future__ import annotations

import pytest

import graphwright as gw

from ..programs import sound

X = gw.tensor([[1.0, -2.0], [4.0, 0.5]])
VALUES = [0, 3, -1, 2**70, True, 2.5, "text", None]
USES = {
    "__len__": len, "__bool__": bool, "__hash__": hash, "__str__": str, "__repr__": repr,
    "__int__": int, "__float__": float, "__index__": lambda one: [1, 2, 3, 4][one],
    "__format__": lambda one: f"{one:>3}",
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*returned non-")
@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("name", USES)
def test_results(name, value):
    kind = type("Kind", (), {name: lambda self, *args: value})
    use = USES[name]

    def program(x):
        y = x + 1
        try:
            found = use(kind())
        except (TypeError, ValueError, OverflowError, IndexError) as error:
            found = type(error), str(error)
        return found, y * 2

    sound(program, X)
