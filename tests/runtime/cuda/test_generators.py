"""Generators of GPUs: their state, whose numbers they draw, and that these are the CPU's."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from tests.runtime.cuda.host_kernels import host_kernels

import graphwright as gw
from graphwright.runtime.tensor.generator import draw_on_gpu
from graphwright.utils.checkpoint import checkpoint

pytestmark = pytest.mark.usefixtures("gpu")


def test_the_state_is_seed_and_offset() -> None:
    made = gw.Generator("cuda:1")
    assert isinstance(made, gw.Generator) and made.device == gw.device("cuda:1")
    assert made.manual_seed(-2) is made and made.initial_seed() == 2**64 - 2
    assert draw_on_gpu(1, made, 3) == (2**64 - 2, 0) and made.get_offset() == 3
    state = made.get_state()
    assert state.dtype is gw.uint8 and state.device.type == "cpu"
    assert bytes(state.tolist()) == (2**64 - 2).to_bytes(8, "little") + bytes([3] + [0] * 7)
    other = gw.Generator("cuda:1").set_state(state)
    assert draw_on_gpu(1, other) == draw_on_gpu(1, made) == (2**64 - 2, 3)
    made.set_offset(10)
    assert made.get_offset() == 10 and other.get_offset() == 4
    with pytest.raises(RuntimeError, match="an offset of 0 or more, got -1"):
        made.set_offset(-1)
    with pytest.raises(RuntimeError, match="CPU Generator does not use offset"):
        gw.Generator().get_offset()


@pytest.mark.parametrize("copied", [
    copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g)), lambda g: g.clone_state(),
], ids=["copy", "deepcopy", "pickle", "clone_state"])
def test_copies_go_on_alone(copied: Callable[[Any], Any]) -> None:
    made = gw.Generator("cuda").manual_seed(4)
    draw_on_gpu(0, made)
    twin = copied(made)
    assert (twin.device, twin.initial_seed(), twin.get_offset()) == (made.device, 4, 1)
    draw_on_gpu(0, twin)
    assert (made.get_offset(), twin.get_offset()) == (1, 2)


def test_each_gpu_has_its_own_default() -> None:
    gw.manual_seed(5)
    first, second = gw.cuda.default_generators
    assert first.initial_seed() == second.initial_seed() == 5
    draw_on_gpu(0)
    assert (first.get_offset(), second.get_offset()) == (1, 0)
    gw.cuda.set_rng_state(gw.cuda.get_rng_state(0), 1)
    assert second.get_offset() == 1
    with gw.cuda.device(1):
        gw.cuda.manual_seed(6)
    assert (first.initial_seed(), second.initial_seed()) == (5, 6)
    with gw.random.fork_rng():
        gw.manual_seed(9)
        draw_on_gpu(0)
        assert first.initial_seed() == 9
    assert (first.initial_seed(), first.get_offset(), second.initial_seed()) == (5, 1, 6)


@pytest.mark.parametrize("use_reentrant", [False, True])
@pytest.mark.parametrize("preserve", [True, False])
def test_a_checkpoint_draws_the_same_numbers_again(use_reentrant: bool, preserve: bool) -> None:
    """Backward draws as the forward did, and leaves the generator where it was."""
    gw.manual_seed(5)
    drawn = []

    def function(x: Any) -> Any:
        drawn.append(draw_on_gpu(0))
        return x.sin()

    y = checkpoint(function, gw.ones(2, requires_grad=True), use_reentrant=use_reentrant,
                   preserve_rng_state=preserve)
    draw_on_gpu(0)
    y.sum().backward()
    assert drawn == [(5, 0), (5, 0 if preserve else 2)]
    assert gw.cuda.default_generators[0].get_offset() == (2 if preserve else 3)


@pytest.mark.parametrize("call", [
    lambda g: gw.rand(2, generator=g), lambda g: gw.randn(2, generator=g),
    lambda g: gw.randint(5, (2,), generator=g), lambda g: gw.randperm(3, generator=g),
    lambda g: gw.empty(2).normal_(generator=g), lambda g: gw.bernoulli(gw.ones(2), generator=g),
    lambda g: gw.multinomial(gw.ones(2), 1, generator=g), lambda g: gw.poisson(gw.ones(2), g),
])
def test_ops_of_the_cpu_refuse_them(call: Callable[[Any], Any]) -> None:
    with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator but found "
                                           "'cuda'"):
        call(gw.Generator("cuda"))


def test_gpus_refuse_what_is_no_generator_of_theirs() -> None:
    with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator but found "
                                           "'cpu'"):
        draw_on_gpu(0, gw.Generator())
    with pytest.raises(TypeError, match=r"must be graphwright\.Generator, not int"):
        draw_on_gpu(0, 3)       # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="invalid device ordinal: cuda:9, where there are 2"):
        gw.Generator("cuda:9")


DRAWS: dict[str, Callable[..., Any]] = {
    "rand": lambda **how: gw.rand(3, 5, **how),
    "rand of half": lambda **how: gw.rand(7, dtype=gw.float16, **how),
    "randn": lambda **how: gw.randn(4, 3, **how),
    "randint": lambda **how: gw.randint(-5, 9, (20,), **how),
    "randint of all": lambda **how: gw.randint(-2**62, 2**62, (6,), **how),
    "randperm": lambda **how: gw.randperm(30, **how),
    "normal": lambda **how: gw.normal(1.0, 2.0, (6,), **how),
    "rand_like": lambda **how: gw.rand_like(gw.empty(2, 3), **how),
    "complex": lambda **how: gw.randn(3, dtype=gw.complex64, **how),
}


@pytest.mark.parametrize("name", DRAWS)
def test_the_numbers_are_the_cpu_s(name: str) -> None:
    """Ops that need a kernel run on the CPU here: what is compared is how draws are taken.

    `randn` is decomposed on a GPU, and rounds otherwise than the CPU's kernel.
    """
    draw, within = DRAWS[name], 1e-6 if name in ("randn", "normal", "complex") else 0.0
    here, there = gw.Generator().manual_seed(11), gw.Generator("cuda").manual_seed(11)
    with host_kernels():
        for _ in range(2):
            expected = draw(generator=here)
            drawn = draw(generator=there, device="cuda")
            assert drawn.is_cuda and here.get_state()[8] == there.get_offset()
            gw.testing.assert_close(drawn.cpu(), expected, rtol=within, atol=within)
        gw.manual_seed(3)
        expected, drawn = draw(), draw(device="cuda")
    gw.testing.assert_close(drawn.cpu(), expected, rtol=within, atol=within)
