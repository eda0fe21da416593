"""Random nests of with, try, for and while with graph breaks in them, for comparing two runs."""

from __future__ import annotations

import random

_HEADER = '''
import contextlib
import sys
import graphwright as gw

LOG = []

class Manager:
    def __init__(self, name, suppressed=()):
        self.name = name
        self.suppressed = suppressed
    def __enter__(self):
        LOG.append(("enter", self.name))
        return self.name
    def __exit__(self, kind, value, trace):
        LOG.append(("exit", self.name, kind and kind.__name__, gw.is_grad_enabled()))
        return kind is not None and issubclass(kind, self.suppressed)

@contextlib.contextmanager
def generated(name):
    LOG.append(("begin", name))
    try:
        yield 2
    except KeyError:
        LOG.append(("key", name))
        raise
    finally:
        LOG.append(("end", name))

def fail(kind, n):
    if n:
        raise kind(n)

def noisy(t):
    print(end="")
    return t + 1
'''


class BlockProgram:
    """Writes one function `f(x, n, index)`; `text` is its module's source."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.count = 0
        self.loops = 0
        self._block(1, self.random.randint(2, 4))
        self.lines.append("    return x, n")
        body = "\n".join(self.lines)
        self.text = f"{_HEADER}\n\ndef f(x, n, index):\n{body}\n"

    def _emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def _block(self, depth: int, count: int) -> None:
        for _ in range(count):
            self._statement(depth)

    def _inner(self, depth: int) -> None:
        self._block(depth + 1, self.random.randint(1, 3))

    def _statement(self, depth: int) -> None:
        kinds = [self._work] * 3 + [self._break, self._break, self._raise]
        if depth < 5:
            kinds += [self._with, self._with, self._try, self._try, self._for, self._if]
        if self.loops:
            kinds.append(self._leave)
        self.random.choice(kinds)(depth)

    def _work(self, depth: int) -> None:
        self._emit(depth, self.random.choice([
            "x = x * 2 + 1", "x = gw.relu(x) - n", "n = (n + 1) % 5", "LOG.append(n)",
            "x = (x / 3).tanh()", "LOG.append(x.shape[0])", "x = x + gw.ones(3)[index]",
            "y = x * n; x = y + 1",
        ]))

    def _break(self, depth: int) -> None:
        self._emit(depth, self.random.choice([
            'print(end="")', "x = noisy(x)", "n = (n + int(x.sum().item() > 0)) % 5",
            "x = x * 2 if x.sum() > 0 else x - 1", "LOG.append(gw.is_grad_enabled())",
            "LOG.append(sys.exc_info()[0])", "x = [noisy(x + i) for i in range(2)][n % 2]",
            "x = sum(v for v in [noisy(x), x])",
        ]))

    def _raise(self, depth: int) -> None:
        kind = self.random.choice(["KeyError", "ValueError", "ZeroDivisionError"])
        self._emit(depth, self.random.choice([
            f"fail({kind}, n % 2)", f"if n > 2: raise {kind}(n)",
            f"if x.sum() > 4: raise {kind}('sum')", "LOG.append(1 // (n % 3))", "{}[n % 2]",
        ]))

    def _leave(self, depth: int) -> None:
        word = self.random.choice(["break", "continue"])
        self._emit(depth, f"if n {self.random.choice('<>')} {self.random.randint(0, 4)}: {word}")

    def _with(self, depth: int) -> None:
        self.count += 1
        name = self.count
        manager = self.random.choice([
            f"Manager({name})", f"Manager({name}, KeyError)", "gw.no_grad()", "gw.enable_grad()",
            f"generated({name})", "contextlib.suppress(ValueError)", f"Manager({name}) as m",
            f"Manager({name}), Manager('b', (KeyError, ValueError))", "gw.set_grad_enabled(n > 1)",
        ])
        self._emit(depth, f"with {manager}:")
        self._inner(depth)

    def _try(self, depth: int) -> None:
        self._emit(depth, "try:")
        self._inner(depth)
        ending = self.random.random()
        if ending < 0.75:
            kinds = self.random.choice(["KeyError", "(ValueError, KeyError)", "Exception"])
            self._emit(depth, f"except {kinds} as e:")
            self._emit(depth + 1, "LOG.append((type(e).__name__, str(e)))")
            self._inner(depth)
            if self.random.random() < 0.3:
                self._emit(depth + 1, self.random.choice(["raise", "raise TypeError(n) from e"]))
            if self.random.random() < 0.3:
                self._emit(depth, "else:")
                self._inner(depth)
        if ending > 0.5:
            self._emit(depth, "finally:")
            loops, self.loops = self.loops, 0
            self._inner(depth)
            self.loops = loops

    def _for(self, depth: int) -> None:
        self.count += 1
        self._emit(depth, f"for i{self.count} in range({self.random.randint(1, 3)}):")
        self.loops += 1
        self._inner(depth)
        self.loops -= 1

    def _if(self, depth: int) -> None:
        self._emit(depth, self.random.choice(["if n % 2:", "if x.sum() > 0:", "if n > 1:"]))
        self._inner(depth)
        if self.random.random() < 0.5:
            self._emit(depth, "else:")
            self._inner(depth)
