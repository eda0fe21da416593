"""Runs a random program plainly and captured, and compares all that can be seen of it."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import graphwright as gw
from graphwright.capture.exc import GraphBreakError, InternalCaptureError

from ..captured import Captured
from ..pictures import picture

NAME = "random_program"
VARIANTS = (0, 0, 1, 2, 4, 5, 0, 6, 7, 8, 9, 3)


class World:
    """The module of a program; every run starts from the same globals."""

    def __init__(self, text: str) -> None:
        module = ModuleType(NAME)
        sys.modules[NAME] = module
        self.space = vars(module)
        exec(compile(text, f"<random {hash(text)}>", "exec"), self.space)

    def reset(self, variant: int) -> None:
        """Globals, defaults, attributes of classes and caches as they were at first."""
        space = self.space
        space["G"][:] = [variant]
        space["H"], space["SCALE"] = 2, 3
        space["remembering"].__defaults__[0].clear()
        space["cached"].cache_clear()
        space["Obj"].kind = "obj"
        for kind in (space["Obj"], space["Child"]):
            if "count" in vars(kind):
                del kind.count

    def arguments(self, variant: int) -> list[Any]:
        """Arguments that differ in values, kinds, layout, and what is one object."""
        gw.manual_seed(variant)
        space = self.space
        x, y, n = gw.randn(3, 4), gw.randn(3, 4), variant + 1
        items, table, thing = [1, 5, variant], {"k": variant, "b": 2}, space["Obj"](variant)
        match variant:
            case 4:
                y, thing = x, space["Child"](2)
            case 5:
                x, table = gw.randn(4, 3).T, {"b": 2, "k": 1, "z": 0}
            case 6:
                x.requires_grad_()
                n = True
            case 7:
                y, thing.log = x.view(3, 4), items
            case 8:
                x, n = x.double(), 2.5
                items.extend(range(5))
            case 9:
                thing.table, thing.items, thing.x = table, items, x
                space["SCALE"], n = 5, -3
        return [x, y, n, items, table, thing]

    def outcome(self, function: Callable[..., Any], variant: int) -> tuple[Any, ...]:
        """Result or exception, arguments, globals, text printed and modes afterwards."""
        self.reset(variant)
        args = self.arguments(variant)
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                result = function(*args)
        except (GraphBreakError, InternalCaptureError):
            raise
        except Exception as error:
            result = error
            drop_frames(error)
        space = self.space
        shared = (
            space["G"], space["H"], space["remembering"].__defaults__,
            vars(space["Obj"]).get("count"), space["Obj"].kind,
        )
        names = sorted(name for name in space if not name.startswith("__"))
        modes = gw.is_grad_enabled(), gw.get_rng_state().tolist(), sys.exc_info()[1]
        return picture((result, args, shared)), printed.getvalue(), names, modes


def drop_frames(error: BaseException | None) -> None:
    """Lets go of the frames that an exception and those behind it went through."""
    while error is not None and error.__traceback__ is not None:
        error.__traceback__ = None
        drop_frames(error.__cause__)
        error = error.__context__


def difference(expected: Any, actual: Any) -> str:
    """The texts of two outcomes around the first place where they differ."""
    wanted, found = repr(expected), repr(actual)
    pairs = enumerate(zip(wanted, found, strict=False))
    shorter = min(len(wanted), len(found))
    place = next((index for index, (a, b) in pairs if a != b), shorter)
    part = slice(max(0, place - 150), place + 250)
    return f"expected .. {wanted[part]}\ngot .. {found[part]}"


def compare(text: str) -> Captured:
    """Run one program both ways, call after call, on arguments of every variant."""
    world = World(text)
    function = world.space["f"]
    captured = Captured(function)
    for call, variant in enumerate(VARIANTS):
        expected = world.outcome(function, variant)
        actual = world.outcome(captured, variant)
        assert expected == actual, (
            f"call {call}, variant {variant}: {difference(expected, actual)}"
        )
    return captured
