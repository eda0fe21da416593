"""Plain Python costs no more under gw.compile, or after it was used, than without.

Functions that have no tensor operations are called twice, which is when they may be looked at,
and then timed against the same functions that are not compiled, both in turns in one process.
"""

from __future__ import annotations

import gc
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import graphwright as gw
from benchmarks.result import Result

CODE = """
import time
from statistics import median

import graphwright as gw


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def timed():
    start = time.perf_counter()
    fib(20)
    return time.perf_counter() - start


def sample(n=60):
    return median(timed() for _ in range(n))


@gw.compile
def f(x):
    y = x + 1
    print("", end="")
    return y * 2


sample()
before = [sample() for _ in range(5)]
f(gw.ones(3))
f(gw.ones(4))
after = [sample() for _ in range(5)]
print(median(after) / median(before))
"""

ROUNDS = 5
PAIRS = 101
WORDS = ("the quick brown fox jumps over the lazy dog " * 40).split()
NUMBER = re.compile(r"\d+")


def masked_sum(n: int) -> int:
    """A loop over numbers."""
    total = 0
    for i in range(n):
        total += i & 3
    return total


def primes(n: int) -> int:
    """Nested loops with an early end."""
    found = 0
    for i in range(2, n):
        for j in range(2, i):
            if i % j == 0:
                break
        else:
            found += 1
    return found


def _pairs(n: int) -> Iterator[tuple[int, int]]:
    for i in range(n):
        yield i, i * i % 7


def generated(n: int) -> int:
    """Generators, comprehensions and generator expressions."""
    squares = [a + b for a, b in _pairs(n)]
    return sum(s for s in squares if s % 2) + len({b for _, b in _pairs(n)})


def counted(words: list[str]) -> list[tuple[str, int]]:
    """Dicts and strings."""
    counts: dict[str, int] = {}
    for word in words:
        key = word.strip().lower()
        counts[key] = counts.get(key, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


@dataclass
class _Point:
    x: float
    y: float

    def __add__(self, other: _Point) -> _Point:
        return _Point(self.x + other.x, self.y + other.y)

    @property
    def size(self) -> float:
        return (self.x**2 + self.y**2) ** 0.5


def walked(n: int) -> float:
    """Instances, operators and properties of a class."""
    at, length = _Point(0.0, 0.0), 0.0
    for i in range(n):
        at = at + _Point(i % 3, i % 5)
        length += at.size
    return length


def matched(text: str) -> list[int]:
    """Calls of the standard library that capture does not know, in a loop."""
    found = []
    for line in text.split("\n"):
        match = NUMBER.search(line)
        if match is not None:
            found.append(int(match.group()))
    return found


def handled(n: int) -> int:
    """Exceptions that are raised and caught."""
    caught = 0
    for i in range(n):
        try:
            if i % 3 == 0:
                raise ValueError(i)
        except ValueError:
            caught += 1
    return caught


def beside(x: gw.Tensor, n: int) -> tuple[gw.Tensor, int]:
    """A long loop beside an operation."""
    y = x + 1
    total = 0
    for i in range(n):
        total += i & 3
    return y, total


TEXT = "\n".join(f"line {i} of many" for i in range(200))
CASES: tuple[tuple[Callable[..., Any], tuple[tuple[Any, ...], ...]], ...] = (
    (masked_sum, ((2_000,), (3_000,), (2_500,), (1_000,))),
    (primes, ((150,), (200,), (180,))),
    (generated, ((1_000,), (1_500,))),
    (counted, ((WORDS,), (WORDS[:100],))),
    (walked, ((500,), (700,))),
    (matched, ((TEXT,),)),
    (handled, ((2_000,), (1_000,))),
    (beside, ((gw.ones(4), 20_000), (gw.ones(4), 30_000))),
)


def _alike(left: Any, right: Any) -> bool:
    if isinstance(left, gw.Tensor):
        return bool((left == right).all())
    if isinstance(left, tuple):
        return all(map(_alike, left, right))
    return bool(left == right)


def _time(function: Callable[..., Any], calls: tuple[tuple[Any, ...], ...]) -> float:
    start = time.thread_time()
    for args in calls:
        function(*args)
    return time.thread_time() - start


def _ratio(function: Callable[..., Any], calls: tuple[tuple[Any, ...], ...]) -> float:
    """The median of the ratios of rounds, in each of which both run, the first one by turns."""
    compiled = gw.compile(function)
    for args in (*calls, *calls):
        if not _alike(function(*args), compiled(*args)):
            raise AssertionError(f"{function.__name__} gives another result when it is compiled")
    ratios = []
    for i in range(PAIRS):
        gc.collect(0)
        if i % 2:
            plain, under = _time(function, calls), _time(compiled, calls)
        else:
            under, plain = _time(compiled, calls), _time(function, calls)
        ratios.append(under / plain)
    return median(ratios)


def run() -> list[Result]:
    """fib(20) in processes of their own; the functions above, compiled, over not compiled."""
    ratios = sorted(
        float(subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True,
                             check=True).stdout.split()[-1])
        for _ in range(ROUNDS)
    )
    results = [Result("untouched", "fib(20), not compiled, after gw.compile was used", "x before",
                      1.05, ratios[len(ratios) // 2])]
    for function, calls in CASES:
        doc = str(function.__doc__).rstrip(".")
        results.append(Result("untouched", f"{doc}: compiled, after two calls", "x plain", 1.05,
                              _ratio(function, calls)))
    return results
