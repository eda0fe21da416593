"""Templates fit: no spills, shared memory of the architecture, tensor cores, wide accesses; and
what they take is what the table says, where Triton is the one that it was written with."""

from __future__ import annotations

import random

import pytest

from .resource_table import (
    ARCHITECTURES,
    CONFIGURATIONS,
    SHARED_BYTES,
    committed,
    lines,
    version,
)

SAMPLED = 3


@pytest.fixture(autouse=True)
def needs_triton() -> None:
    pytest.importorskip("triton")


def check(name: str, arch: int) -> None:
    """Compare a configuration with what is asked of it, and with its lines of the table."""
    configuration, made = CONFIGURATIONS[name], lines(name, arch)
    for key, found in made.items():
        assert found.stack == 0, f"{key}: spilled"
        assert found.shared <= SHARED_BYTES[arch], key
    *_, product = made.values()         # what other kernels prepare
    wanted = instructions(name, arch) if configuration.tensor_cores else None
    assert bool(product.instructions) == bool(wanted), product.text()
    assert all(found.startswith(wanted) for found in product.instructions), product.text()
    if arch in configuration.wide:      # the others are of vectors, such as a bias
        assert 3 * product.wide_loads >= product.loads, product.text()
        assert product.wide_stores == product.stores > 0, product.text()
    written, table = committed()
    if written == version():
        assert {key: found.text() for key, found in made.items()} == {
            key: table[key] for key in made}


def instructions(name: str, arch: int) -> str:
    """How tensor cores are called: on sm_90 by its own instructions, unless a tile has 16 rows,
    which are too few for them, or float64."""
    return "mma." if arch == 80 or "small" in name or "float64" in name else "wgmma."


def test_drawn_configurations(draw: random.Random) -> None:
    for name in draw.sample(list(CONFIGURATIONS), k=SAMPLED):
        check(name, draw.choice(ARCHITECTURES))


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", list(CONFIGURATIONS))
def test_a_configuration(name: str, arch: int) -> None:
    check(name, arch)


def test_the_table_has_all_configurations() -> None:
    _, table = committed()
    assert {key.split(" | ")[0] for key in table} == set(CONFIGURATIONS)
