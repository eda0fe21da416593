"""Captured functions called from many threads at once."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable
from typing import Any

import pytest

from graphwright.capture import _eval_frame
from graphwright.capture.convert import Frontend
from graphwright.runtime.ops import _face as ops

from .matrix import facts, tensor

pytestmark = pytest.mark.skipif(not _eval_frame.SUPPORTED, reason="the hook is declined here")


def clean(x, n):
    return ops.relu(x + n) * 2


def scaled(x, n):
    return x * n if n > 1 else x - n


def broken(x, n):
    y = clean(x, n)
    print(end="")
    return scaled(y, n) + 1


INPUTS = [
    tensor(3, 4),
    tensor(5, 4),
    tensor(3, 4, dtype="float64"),
    tensor(4, 3).t(),
    tensor(3, 4, grad=True),
]


@pytest.mark.parametrize("function", [clean, broken])
def test_threads_agree_with_plain_python(function: Callable[..., Any]) -> None:
    compiled = Frontend(lambda module, examples: module).compile(function)
    expected = {
        (i, n): facts(function(x, n)) for i, x in enumerate(INPUTS) for n in (0, 1, 2, 2.5)
    }
    wrong = []

    def work(seed: int) -> None:
        rng = random.Random(seed)
        keys = list(expected)
        for _ in range(200):
            i, n = rng.choice(keys)
            found = facts(compiled(INPUTS[i], n))
            if found != expected[i, n]:
                wrong.append((i, n, found))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and compiled.entries and _eval_frame.hook_installed() == 0


def test_asyncio() -> None:
    compiled = Frontend(lambda module, examples: module).compile(broken)

    async def one(x: Any, n: Any) -> Any:
        await asyncio.sleep(0)
        return compiled(x, n)

    async def everything() -> list[Any]:
        return await asyncio.gather(*(one(x, n) for x in INPUTS for n in (1, 2)))

    expected = [facts(broken(x, n)) for x in INPUTS for n in (1, 2)]
    for _ in range(3):
        assert [facts(result) for result in asyncio.run(everything())] == expected
    assert _eval_frame.hook_installed() == 0
