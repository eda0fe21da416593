"""Samples of the ops on complex numbers, of real ones; complex ones are in `test_complex`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sample import Arr, OpSamples, S

_REAL = (S(Arr((2, 3))), S(Arr((0, 3))), S(Arr(())))


def _same(x: Any) -> Any:
    return x


COMPLEX_NUMBERS = [
    OpSamples("angle", _REAL, np.angle, double_grad=False),
    *(
        OpSamples(name, _REAL, _same)
        for name in ("conj", "conj_physical", "real", "resolve_conj", "resolve_neg")
    ),
]
