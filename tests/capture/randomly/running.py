"""Runs a random program plainly and captured, and compares all that can be seen of it."""

from __future__ import annotations

import contextlib
import io
import random
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np

import graphwright as gw
from graphwright.capture.exc import GraphBreakError, InternalCaptureError
from graphwright.face.native_backends import BACKENDS
from graphwright.runtime.tape.saved import FREED

from ..captured import Captured, run_graph
from ..pictures import picture

NAME = "random_program"
VARIANTS = 22
CALLS = (3, 3, 9)
REFUSED = ("modified by an inplace operation", "modified inplace", "a single memory location")
TOLD_OTHERWISE = {
    re.compile(r"is at version \d+; expected version \d+ instead"):
        "is at version N; expected version N instead",
    re.compile(r"grad_fn=<\w+>"): "grad_fn=<N>",
}
NUDGES = (1e-12, -1e-12)
DIVERGES = re.compile(r"\de\+(1[5-9]|[2-9]\d|\d{3})")
NARROWS = re.compile(r"\.float\(|float32|\.bfloat16\(|\.half\(")
AROUND: dict[int, Callable[[], Any]] = {
    14: gw.no_grad, 15: lambda: gw.autocast("cpu", dtype=gw.bfloat16),
}
nothing = contextlib.nullcontext


class Restored:
    """A module that programs change in every way, and how it was at first."""

    def __init__(self, net: Any) -> None:
        self.net = net
        self.values = [(p, p.detach().clone()) for p in (*net.parameters(), *net.buffers())]
        self.attributes = [
            (vars(module), {name: _copied(value) for name, value in vars(module).items()})
            for module in net.modules()
        ]

    def again(self) -> Any:
        """The same objects, with the attributes, containers and values that they had."""
        for attributes, first in self.attributes:
            attributes.clear()
            attributes.update((name, _copied(value)) for name, value in first.items())
        for tensor, value in self.values:
            tensor.data = value.clone()
            tensor.grad = None
            extra = tensor._autograd_extra()
            extra.hooks.clear()
            extra.accumulate_hooks.clear()
        return self.net


def _copied(value: Any) -> Any:
    """A container anew, with the same content; anything else itself."""
    return value.copy() if isinstance(value, (dict, list, set)) else value


class World:
    """The module of a program; every run starts from the same globals."""

    def __init__(self, text: str, native: bool = False) -> None:
        self.native = native
        self.narrow = NARROWS.search(text) is not None
        module = ModuleType(NAME)
        sys.modules[NAME] = module
        self.space = vars(module)
        self.file = f"<random {hash(text)}>"
        exec(compile(text, self.file, "exec"), self.space)
        self.area = self.space["Square"].area
        gw.manual_seed(0)
        self.nets = [Restored(self.space["Net"]()), Restored(self.space["Normed"]())]

    def reset(self, variant: int) -> None:
        """Globals, defaults, attributes of classes and caches as they were at first."""
        space = self.space
        space["G"][:] = [variant]
        space["H"], space["SCALE"] = 2, 3
        space["WEAK"].clear()
        space["remembering"].__defaults__[0].clear()
        for name in ("cached", "of_shape", "of_none"):
            space[name].cache_clear()
        space["helper"].__defaults__, space["configured"].__kwdefaults__["by"] = (2,), 1
        vars(space["described"]).clear()
        space["Shape"].__match_args__, space["Square"].area = ("name", "size"), self.area
        space["Obj"].kind = "obj"
        space["Base"].made, space["shifted"].calls = variant % 4, 0
        for kind in (space["Obj"], space["Child"]):
            if "count" in vars(kind):
                del kind.count
        space["Holder"].made = 0
        if "made" in vars(space["Strict"]):
            del space["Strict"].made

    def net(self, variant: int) -> Any:
        """A module as it was at first; which, and in which mode, depends on the variant."""
        net = self.nets[variant in (2, 8)].again()
        net.requires_grad_(variant != 4).train(variant % 3 != 0)
        net.scale = 1 + (variant > 8)
        if variant == 16:
            net.layers[0].register_forward_hook(self.space["noting"](net.log))
        return net

    def arguments(self, variant: int) -> list[Any]:
        """Arguments that differ in values, kinds, layout, and what is one object."""
        gw.manual_seed(variant)
        random.seed(variant)
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
            case 10:
                x, y = gw.randn(5, 4), gw.randn(5, 4)
            case 11:
                x, y, n = gw.randn(2, 4), gw.randn(1, 4), 10**20
            case 12:
                x, y = gw.randn(4, 4)[1:], gw.randn(3, 8)[:, ::2]
                n = np.float64(1.5)
            case 13:
                x = gw.randint(-3, 9, (3, 4))
            case 14:
                x.requires_grad_()
                y.requires_grad_()
            case 17:
                x, y = gw.randn(7, 4), gw.randn(4, 7).T
            case 18:
                x, y = gw.randn(1, 4), gw.randn(1, 4)
            case 19:
                x, y, n = gw.randn(0, 4), gw.randn(3, 4), 0
            case 20:
                x, y, n = x.double(), y.double(), 0.5
            case 21:
                x, y, n = gw.randn(2, 3, 4)[0], gw.randn(3, 4).T.contiguous().T, np.int64(3)
        pack = {"a": x, "b": [y, x], "c": (x[0] if len(x) else y[0], y)}
        net = self.net(variant)
        space["settle"](variant, net)
        return [x, y, n, items, table, thing, net, pack]

    def keywords(self, variant: int) -> dict[str, Any]:
        """Keyword arguments that differ in number and value."""
        given: dict[str, Any] = {}
        if variant % 3:
            given["rate"] = (0.5, 0.1, 2, 1.5)[variant % 4]
        if variant % 4 > 1:
            given |= {"mode": ("sum", "none")[variant % 2], "flag": variant % 3 == 1}
        return given

    def outcome(
        self, function: Callable[..., Any], variant: int, nudge: float = 0.0
    ) -> tuple[Any, ...]:
        """Result or exception, arguments, globals, text printed and modes afterwards.

        nudge: by how much the tensors among the arguments are others, in relation, at most.
        """
        self.reset(variant)
        args = self.arguments(variant)
        if nudge:
            _nudge(args[:2], nudge)
        keywords = self.keywords(variant)
        if variant % 2:
            keywords |= zip(("net", "pack"), args[6:], strict=True)
        path: list[Any] = []
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed), AROUND.get(variant, nothing)():
                result = function(*(args[:6] if "net" in keywords else args), **keywords)
            if self.native:
                _differentiate(result)
        except (GraphBreakError, InternalCaptureError):
            raise
        except Exception as error:
            result = error
            path = self.path(error)
            drop_frames(error)
        let_go_of_kept([result, args], set())
        space = self.space
        shared = (
            space["G"], space["H"], space["remembering"].__defaults__,
            vars(space["Obj"]).get("count"), space["Obj"].kind, space["Base"].made,
            space["shifted"].calls, space["SETTINGS"], space["CONFIG"], space["TABLE"],
            space["OPTIMIZERS"], space["scaled"].__closure__[0].cell_contents,
        )
        names = sorted(name for name in space if not name.startswith("__"))
        chance = gw.get_rng_state().tolist(), random.getstate()
        modes = gw.is_grad_enabled(), chance, sys.exc_info()[1]
        seen = picture((result, args, shared), rounded=self.native, narrow=self.narrow)
        return _as_both_tell(seen), _as_both_tell(printed.getvalue()), names, modes, path

    def path(self, error: BaseException) -> list[tuple[str, int | None]]:
        """The program's own lines in the traceback of an exception.

        Not the one that reads an unbound local: of code that it has run often Python 3.11 names
        another. Nor those of a backward that is asked for afterwards, or that comes upon memory
        which an earlier one has freed: compiled, the program's own do not run.
        """
        frames = traceback.walk_tb(error.__traceback__)
        lines = [
            (frame.f_code.co_name, line) for frame, line in frames
            if frame.f_code.co_filename == self.file
        ]
        if lines and lines[0][0] != "f":
            return []
        while lines and lines[-1][0] == "backward" and str(error) == FREED:
            lines.pop()
        return lines[:-1] if isinstance(error, UnboundLocalError) else lines


def _as_both_tell(seen: Any) -> Any:
    """The same, with `N` for how often a tensor was written, as autograd's refusals tell it, and
    for the name of a printed tensor's backward.

    A graph writes once what the program writes in many steps, and has one backward for them; that
    it refuses, and that there is a history, are compared.
    """
    if isinstance(seen, str):
        for pattern, told in TOLD_OTHERWISE.items():
            seen = pattern.sub(told, seen)
        return seen
    if isinstance(seen, (tuple, list)):
        return type(seen)(map(_as_both_tell, seen))
    return seen


def _nudge(tensors: Sequence[Any], share: float) -> None:
    """Each element by another share: what cancels out must not stay so."""
    with gw.no_grad():
        for tensor in tensors:
            if tensor.is_floating_point():
                shares = gw.linspace(-share, share, tensor.numel() + 1)[1:]
                tensor.mul_(1 + shares.view(tensor.shape))


def _differentiate(result: Any) -> None:
    """Gradients of what the program returned, where it leads back to leaves."""
    found = [value for value in result if isinstance(value, gw.Tensor)]
    for number, value in enumerate(value for value in found if value.grad_fn is not None):
        value.mul(number + 1).sum().backward(retain_graph=True)


def drop_frames(error: BaseException | None, seen: set[int] | None = None) -> None:
    """Lets go of the frames that an exception, those behind it and those in it went through.

    Those of the earliest exceptions go first, and with them what only frames of callees hold.
    """
    seen = set() if seen is None else seen
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    for other in (error.__context__, error.__cause__, *getattr(error, "exceptions", ())):
        drop_frames(other, seen)
    error.__traceback__ = None


def let_go_of_kept(value: Any, seen: set[int]) -> None:
    """Lets go of the frames of exceptions that the program keeps in objects, lists and tables.

    In plain Python they hold the locals of the function that handled them, too; behind a graph
    break a captured one has ended with its own, as README says. From here on, both have.
    """
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, BaseException):
        drop_frames(value)
    elif isinstance(value, (list, tuple)):
        for part in [*value]:
            let_go_of_kept(part, seen)
    elif not isinstance(value, (type, ModuleType)):
        held = value if isinstance(value, dict) else getattr(value, "__dict__", {})
        for part in [*held.values()]:
            let_go_of_kept(part, seen)


def difference(expected: Any, actual: Any) -> str:
    """The texts of the first parts of two outcomes that differ, around the place where they do."""
    if isinstance(expected, tuple) and isinstance(actual, tuple) and len(expected) == len(actual):
        pairs = zip(expected, actual, strict=True)
        different = [(left, right) for left, right in pairs if left != right]
        if different and any(isinstance(part, tuple) for part in different[0]):
            return difference(*different[0])
    wanted, found = repr(expected), repr(actual)
    shorter = min(len(wanted), len(found))
    place = next((i for i in range(shorter) if wanted[i] != found[i]), shorter)
    part = slice(max(0, place - 150), place + 250)
    return f"expected .. {wanted[part]}\ngot .. {found[part]}"


def calls(chance: random.Random) -> list[int]:
    """The variants of the calls of one program: one of them twice at first, and some again.

    Few calls for most: another program finds more than another call.
    """
    drawn = chance.sample(range(VARIANTS), chance.choice(CALLS))
    return [drawn[0], *drawn, *chance.sample(drawn, len(drawn) // 3)]


def compare(text: str, variants: Sequence[int], native: bool = False, **options: Any) -> Captured:
    """Run one program both ways, call after call, on arguments of those variants.

    native: graphs are compiled, and results differentiated; numbers may differ by rounding, and
    are float64, but no nearer than those of fewer digits that they are made of. `options` are
    those of the `Frontend`.
    """
    with default_dtype(gw.float64 if native else gw.float32):
        world = World(text, native)
        function = world.space["f"]
        backend = BACKENDS["llvm"] if native else run_graph
        captured = Captured(function, backend, **options)
        for call, variant in enumerate(variants):
            expected = world.outcome(function, variant)
            actual = world.outcome(captured, variant)
            assert expected == actual or (
                native and _is_unstable(world, expected, actual, variant)
            ), (
                f"call {call}, variant {variant}: {difference(expected, actual)}"
            )
    return captured


def _is_unstable(
    world: World, expected: tuple[Any, ...], actual: tuple[Any, ...], variant: int
) -> bool:
    """Whether the plain run, too, gives something else for arguments that hardly differ.

    Or its numbers grow until rounding errors of small ones decide: steps that diverge. Or either
    came to what autograd refuses after writes. Compiled code saves less, and has fewer
    views; and a graph is one node, which saves at once what the gradients of any of its results
    need, and refuses where one of those was written, also if another's gradient is asked for.
    """
    if any(text in repr(outcome) for outcome in (expected, actual) for text in REFUSED):
        return True
    if DIVERGES.search(repr(expected)):
        return True
    function = world.space["f"]
    return any(world.outcome(function, variant, nudge) != expected for nudge in NUDGES)


@contextlib.contextmanager
def default_dtype(dtype: Any) -> Iterator[None]:
    """Tensors made without a dtype have this one."""
    before = gw.get_default_dtype()
    gw.set_default_dtype(dtype)
    try:
        yield
    finally:
        gw.set_default_dtype(before)
