"""What a model did, as the few numbers that are recorded and compared.

A tensor becomes its root mean square and a few of its elements; outputs have their shapes, too.
The rule of comparison, for outputs, losses, gradients and running statistics alike: a number v of
a tensor matches the recorded r where

    |v - r| <= TOLERANCE * (|r| + rms)

with rms the tensor's root mean square; for a gradient it is at least `FLOOR` of the largest among
the model's gradients, because gradients that are zero in exact arithmetic (of a bias before a
normalisation, of a key's bias in attention) are rounding errors in both libraries. Shapes, and
the tokens of `generate()`, are equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

TOLERANCE = 1e-3
FLOOR = 1e-2

Outcome = dict[str, Any]
"""{"outputs": name -> shape and numbers, "gradients", "buffers": name -> numbers, "tokens"}."""


def numbers(tensor: Any, samples: int = 2) -> list[float]:
    """The root mean square of a tensor, and elements that are evenly spread over it."""
    flat = tensor.detach().double().flatten()
    count = flat.shape[0]
    if not count:
        return [0.0]
    places = sorted({round(k * (count - 1) / (samples - 1)) for k in range(samples)})
    found = [math.sqrt(float((flat * flat).mean())), *(float(flat[place]) for place in places)]
    return [float(f"{number:.4e}") for number in found]


def output(tensor: Any) -> list[Any]:
    """The shape of an output and its numbers."""
    return [list(tensor.shape), numbers(tensor, samples=8)]


def named(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The tensors in an output, whatever containers it has, with the paths to them."""
    if hasattr(value, "detach"):
        yield name or "output", value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from named(part, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple):
        for key, part in enumerate(value):
            yield from named(part, f"{name}.{key}" if name else str(key))


def differences(found: Outcome, expected: Outcome) -> list[str]:
    """What differs between two outcomes, a sentence each; none where they match."""
    told: list[str] = []
    for part in ("outputs", "gradients", "buffers"):
        had, wanted = found.get(part, {}), expected.get(part, {})
        if had.keys() != wanted.keys():
            told.append(f"{part}: only found {sorted(had.keys() - wanted.keys())}, "
                        f"only expected {sorted(wanted.keys() - had.keys())}")
            continue
        if part == "outputs":
            told += [f"output {name}: shape {had[name][0]}, not {shape}"
                     for name, (shape, _) in wanted.items() if had[name][0] != shape]
            had, wanted = ({name: entry[1] for name, entry in entries.items()}
                           for entries in (had, wanted))
        floor = FLOOR * max((entry[0] for entry in wanted.values()), default=0.0)
        for name, entry in wanted.items():
            told += _compared(f"{part} {name}", had[name], entry,
                              floor if part == "gradients" else 0.0)
    if found.get("tokens") != expected.get("tokens"):
        told.append(f"tokens {found.get('tokens')}, not {expected.get('tokens')}")
    return told


def _compared(
    what: str, found: list[float], expected: list[float], floor: float,
) -> Iterator[str]:
    rms = max(expected[0], floor)
    for number, (value, reference) in enumerate(zip(found, expected, strict=False)):
        allowed = TOLERANCE * (abs(reference) + rms)
        if value != reference and not abs(value - reference) <= allowed:
            place = f"sampled element {number}" if number else "root mean square"
            yield f"{what}: {place} {value}, not {reference} (within {allowed:.1e})"
            return
