"""Samples of ops that make tensors. Random ones have no reference: only metadata is compared."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphwright as gw

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


def _triangle(indices: Any) -> Any:
    return lambda row, col, offset=0: np.stack(indices(row, offset, col))


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
    _made("range", S(1, 4), S(0.0, 1.0, 0.25), S(5, 1, -2),
          reference=lambda low, high, step=1: np.arange(low, high + step / 2, step)),
    _made("arange", S(5), S(1, 7, 2), S(5, 0, -2), S(0.0, 1.0, 0.25), reference=np.arange),
    _made("linspace", S(0.0, 1.0, 5), S(2.0, -1.0, 4), S(0.0, 1.0, 1), reference=np.linspace),
    _made(
        "logspace",
        S(0.0, 2.0, 5, dtype=gw.float64),
        S(1.0, -1.0, 4, base=2.0, dtype=gw.float64),
        reference=lambda start, end, steps, base=10.0, dtype=None: np.logspace(
            start, end, steps, base=base
        ),
        torch="",
    ),
    _made("scalar_tensor", S(2.5), S(3), reference=np.asarray),
    _made("empty_strided", S((2, 3), (1, 2)), torch=""),
    _made("empty_permuted", S((2, 3), (1, 0)), torch=""),
    _made(
        "tril_indices",
        S(3, 4),
        S(4, 3, offset=-1),
        S(2, 5, 1),
        reference=_triangle(np.tril_indices),
    ),
    _made(
        "triu_indices",
        S(3, 4),
        S(4, 3, offset=-1),
        S(2, 5, 1),
        reference=_triangle(np.triu_indices),
    ),
    OpSamples(
        "vander",
        (S(Arr((4,))), S(Arr((3,)), 5), S(Arr((3,)), 4, True)),
        lambda x, N=None, increasing=False: np.vander(x, N, increasing),
    ),
    *(
        _made(f"{name}_window", S(6), S(5, False), S(1), S(0))
        for name in ("hann", "hamming", "blackman", "bartlett", "kaiser")
    ),
    _made("eye", S(3), S(2, 4), reference=np.eye),
    _made("rand", S(2, 3), S((4,)), torch=""),
    _made("randn", S(2, 3), torch=""),
    _made("randint", S(0, 10, (3,)), S(5, (2, 2)), S(-(2**62), 2**62, (3,)), torch=""),
    _made(
        "normal",
        S(0.5, 2.0, (3, 2)),
        S(Arr((3, 2)), 0.5),
        S(Arr((3,)), Arr((3,), 0.1, 1.0)),
        torch="",
    ),
    OpSamples(
        "randint_like", (S(Arr((3, 4)), 5), S(Arr((2,)), -3, 5)), None, grad=False, torch=""
    ),
    OpSamples(
        "bernoulli", (S(Arr((3, 4), 0.0, 1.0)), S(Arr((3,)), 0.5)), None, grad=False, torch=""
    ),
    OpSamples(
        "multinomial",
        (S(Arr((3, 4), 0.1, 1.0), 2), S(Arr((5,), 0.1, 1.0), 8, True)),
        None,
        grad=False,
        torch="",
    ),
    OpSamples("standard_gamma", (S(Arr((3, 4), 0.1, 20.0)),), None, grad=False, torch=""),
    OpSamples("standard_gamma_grad", (S(Arr((3, 4), 0.1, 20.0), Arr((3, 4), 0.1, 9.0)),), None,
              grad=False, torch=""),
    OpSamples("poisson", (S(Arr((3, 4), 0.1, 5.0)),), None, grad=False, torch=""),
    OpSamples(
        "binomial", (S(Arr((3, 4), 1.0, 9.0), Arr((4,), 0.1, 0.9)),), None, grad=False, torch=""
    ),
    _made("randperm", S(6), torch=""),
    _made("random_bits", S((2, 3), None, None), torch=""),
    _made("random_scaled", S((2, 3), -2, 5, None, None), torch=""),
    _like("full_like", 0.0).__class__(
        "full_like", (S(Arr((3, 4)), 2.5),), lambda x, v: np.full(x.shape, v), grad=False
    ),
    _like("zeros_like", 0.0),
    _like("ones_like", 1.0),
    OpSamples("empty_like", (S(Arr((3, 4))),), None, grad=False, torch=""),
    OpSamples("rand_like", (S(Arr((3, 4))),), None, grad=False, torch=""),
    OpSamples("randn_like", (S(Arr((3, 4))),), None, grad=False, torch=""),
)
