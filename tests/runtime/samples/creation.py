"""Samples of ops that make tensors. Random ones have no reference: only metadata is compared."""

from __future__ import annotations

import numpy as np

from .sample import Arr, OpSamples, S


def _made(
    name: str, *samples: object, reference: object = None, torch: str | None = None
) -> OpSamples:
    return OpSamples(name, samples, reference, grad=False, torch=torch, layouts=False)  # type: ignore[arg-type]


def _like(name: str, value: float) -> OpSamples:
    return OpSamples(
        name,
        (S(Arr((3, 4))), S(Arr((2, 3, 4))), S(Arr(()))),
        lambda x: np.full(x.shape, value),
        grad=False,
    )


CREATION = (
    _made("full", S((2, 3), 1.5), S((), 2), S((0, 2), True), reference=np.full),
    _made(
        "zeros",
        S(2, 3),
        S((2, 3)),
        reference=lambda *s: np.zeros(s[0] if isinstance(s[0], tuple) else s),
    ),
    _made("ones", S(2, 3), S(()), reference=lambda *s: np.ones(s if len(s) != 1 else s[0])),
    _made("empty", S(2, 3), torch=""),
    _made("arange", S(5), S(1, 7, 2), S(5, 0, -2), S(0.0, 1.0, 0.25), reference=np.arange),
    _made("linspace", S(0.0, 1.0, 5), S(2.0, -1.0, 4), S(0.0, 1.0, 1), reference=np.linspace),
    _made("eye", S(3), S(2, 4), reference=np.eye),
    _made("rand", S(2, 3), S((4,)), torch=""),
    _made("randn", S(2, 3), torch=""),
    _made("randint", S(0, 10, (3,)), S(5, (2, 2)), torch=""),
    _made("randperm", S(6), torch=""),
    _like("full_like", 0.0).__class__(
        "full_like", (S(Arr((3, 4)), 2.5),), lambda x, v: np.full(x.shape, v), grad=False
    ),
    _like("zeros_like", 0.0),
    _like("ones_like", 1.0),
    OpSamples("empty_like", (S(Arr((3, 4))),), None, grad=False, torch=""),
    OpSamples("rand_like", (S(Arr((3, 4))),), None, grad=False, torch=""),
    OpSamples("randn_like", (S(Arr((3, 4))),), None, grad=False, torch=""),
)
