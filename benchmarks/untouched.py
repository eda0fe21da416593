"""A Python function that is not compiled runs as fast after gw.compile was used as before."""

from __future__ import annotations

import subprocess
import sys

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


def run() -> list[Result]:
    """fib(20), pure Python, in one process before and after a compilation with graph breaks."""
    ratios = sorted(
        float(subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True,
                             check=True).stdout.split()[-1])
        for _ in range(ROUNDS)
    )
    return [Result("untouched", "fib(20), not compiled, after gw.compile was used", "x before",
                   1.05, ratios[len(ratios) // 2])]
