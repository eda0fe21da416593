"""Random Python functions over tensors, numbers and containers, to run in two ways."""

from __future__ import annotations

import random
from pathlib import Path

from .computing import Computing

FILES = ("world.py", "world_models.py", "world_settings.py", "world_language.py",
         "world_further.py", "world_shapes.py", "world_objects.py")
WORLD = "\n\n".join(Path(__file__).with_name(name).read_text() for name in FILES)
HEADER = """
def f(x, y, n, items, table, obj, net, pack=None, *, flag=False, mode="mean", rate=0.5):
""".strip()
PARAMETERS = {
    "tensors": ["x", "y"], "ints": ["n"], "lists": ["items"], "tables": ["table"],
    "objects": ["obj"],
}


class Program(Computing):
    """One function `f`, with the parameters of `HEADER`; `function_text` is its source."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance)
        for kind, names in PARAMETERS.items():
            getattr(self.names, kind).extend(names)
            self.names.own.update(names)
        self.assign(1)
        self.block(1, 9)
        self.emit(1, f"return {', '.join(self._results())}")
        body, self.lines = self.lines, []
        self.declare(1, self.names.rebound)
        self.function_text = "\n".join([HEADER, *self.lines, *body, ""])

    def _results(self) -> list[str]:
        """The newest names of each kind."""
        names = self.names
        return [
            *names.tensors[-3:], *names.ints[-3:], *names.lists[-2:], *names.tables[-2:],
            *names.objects[-2:],
        ]

    def statement(self, indent: int) -> None:
        """One random statement; deep inside one of a single line."""
        kinds = [
            self.assign, self.assign_int, self.mutate, self.assign, self.mutate, self.effect,
            self.in_place, self.alias, self.unpack, self.swap, self.module, self.view, self.view,
            self.packed, self.packed, self.protocol, self.protocol, self.shaped, self.shaped,
            self.typed, self.layered, self.layered, self.configure, self.rewire,
            self.iterated, self.formatted, self.elsewhere, self.copied, self.looked_at,
            self.indexed, self.rewritten, self.annotated, self.outside, self.looked_at,
            self.rowed, self.keyed, self.deeply_copied, self.lasting, self.parted, self.sized,
            self.parted, self.sized, self.starred, self.ordered, self.worded, self.compared,
            self.recursed,
        ]
        if indent < 5:
            kinds += [
                self.branch, self.attempt, self.with_block, self.match, self.leave, self.attempt,
                self.closure, self.comprehension, self.comprehension, self.instance, self.driven,
                self.generator, self.local_class, self.coroutine, self.forget, self.with_block,
                self.differentiate, self.conversation, self.mortal, self.in_mode, self.train,
                self.hook, self.collected, self.collected, self.let_go,
                self.warned, self.grouped, self.redirected, self.failing, self.changed_under,
                self.decorated_here, self.left_by_finally, self.matched, self.stepped,
                self.counting, self.thrown_into, self.attributed, self.ended_early,
                self.delegated, self.stacked, self.swallowed, self.held, self.held, self.amid,
                self.amid, self.own_function, self.kept_functions, self.decided, self.replaced,
                self.at_the_end,
                *([self.loop, self.while_loop, self.loop] if self.loops < 2 else []),
            ]
        self.random.choice(kinds)(indent)
