"""The text of a random program while it is written, and which names it has."""

from __future__ import annotations

import random


class Names:
    """The names that a function may use, by kind; `own`: those that it binds itself."""

    KINDS = ("tensors", "ints", "lists", "tables", "objects")

    def __init__(self, outer: Names | None = None) -> None:
        for kind in self.KINDS:
            setattr(self, kind, list(getattr(outer, kind)) if outer is not None else [])
        self.outer = outer
        self.own: set[str] = set()
        self.rebound: dict[str, None] = {}

    tensors: list[str]
    ints: list[str]
    lists: list[str]
    tables: list[str]
    objects: list[str]


class Writer:
    """Lines, indented, and choices.

    What comes first in a list of choices is the simplest: there shrinking ends.
    """

    def __init__(self, chance: random.Random) -> None:
        self.random = chance
        self.lines: list[str] = []
        self.names = Names()
        self.count = 0
        self.loops = 0
        self.depth = 0
        self.budget = chance.randint(3, 22)

    def fresh(self, prefix: str) -> str:
        """A name that was not used before."""
        self.count += 1
        return f"{prefix}{self.count}"

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def rarely(self, share: float) -> bool:
        return self.random.random() < share

    def emit(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def bound(self, kind: str, prefix: str, indent: int) -> str:
        """A name to bind to a value of a kind: a new one where that always happens."""
        known: list[str] = getattr(self.names, kind)
        if indent > self.depth + 1 and known:
            name = self.random.choice(known)
            if name not in self.names.own:
                self.names.rebound[name] = None
            return name
        name = self.fresh(prefix)
        known.append(name)
        self.names.own.add(name)
        return name
