"""The state of NumPy's global generator, as the words of its Mersenne twister.

`get_state()` turns 624 words into numbers one by one, which takes 40 times as long as a draw.
The words are copied from memory instead, at the address that `state_address` contains. The normal
number that NumPy keeps for the next call is left out: this serves draws that never read it.
"""

from __future__ import annotations

import ctypes
import random
from collections.abc import Iterable
from typing import Any

import numpy

_SIZE = 624 * 4 + 4     # the words and the position among them, of 32 bits each
_OF_WORDS_ALONE = frozenset(
    [
        *("rand", "random", "random_sample", "ranf", "sample", "uniform"),
        *("triangular", "exponential", "laplace"),
    ]
)


def _bit_generator() -> Any:
    library: Any = numpy.random     # whose stubs leave the function out
    return library.get_bit_generator()


class NumpyWords:
    """`getstate` and `setstate` of NumPy's global generator, for draws of its words alone."""

    def __init__(self, generator: Any) -> None:
        self.generator = generator
        self.bits = _bit_generator()
        self.address: int = self.bits.ctypes.state_address

    def getstate(self) -> Any:
        """The words; what `get_state` gives where the bits come from elsewhere by now."""
        if _bit_generator() is not self.bits:
            return self.generator.get_state(legacy=False)
        with self.bits.lock:
            return ctypes.string_at(self.address, _SIZE)

    def setstate(self, state: Any) -> None:
        """Put back what `getstate` gave."""
        if type(state) is not bytes:
            self.generator.set_state(state)
            return
        with self.bits.lock:
            ctypes.memmove(self.address, state, _SIZE)


def keeper(generator: Any, draws: Iterable[str]) -> Any:
    """What keeps the state of Python's or NumPy's global generator: itself, or its words.

    draws: the names of the methods that draw from it.
    """
    if isinstance(generator, random.Random) or not _OF_WORDS_ALONE.issuperset(draws):
        return generator
    return NumpyWords(generator) if _lies_as_expected() else generator


def _lies_as_expected() -> bool:
    """Whether the bits are a Mersenne twister's, and in memory first its words, then the place."""
    bits = _bit_generator()
    if type(bits) is not numpy.random.MT19937:
        return False
    state = bits.state["state"]
    found = numpy.frombuffer(ctypes.string_at(bits.ctypes.state_address, _SIZE), numpy.uint32)
    return numpy.array_equal(found[:-1], state["key"]) and int(found[-1]) == state["pos"]
