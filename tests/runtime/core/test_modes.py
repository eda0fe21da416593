"""The thread-local modes, and the flags that decide dispatch."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from graphwright.runtime import _core
from graphwright.runtime.tensor import device, dtypes

TRACE, AUTOCAST, INFERENCE = 1, 2, 4
GRAD, MODES, FAKE, DEVICE, FOREIGN = 1, 2, 4, 8, 16


class Plain(_core.TensorBase):
    __slots__ = ()


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    yield
    _core.set_grad_enabled(True)
    _core.set_modes(0)
    _core.set_tracer(None)


def tensor(requires_grad: bool = False) -> Plain:
    t = _core.from_ndarray(Plain, np.zeros(2, "f"), dtypes.float32)
    t.requires_grad = requires_grad
    return t


def test_setters_return_the_previous_value() -> None:
    assert _core.set_grad_enabled(False) is True and _core.grad_enabled() is False
    assert _core.set_grad_enabled(True) is False
    assert _core.set_modes(AUTOCAST) == 0 and _core.set_modes(0) == AUTOCAST
    tracer = object()
    assert _core.set_tracer(tracer) is None and _core.tracer() is tracer
    assert _core.modes() == TRACE
    _core.set_modes(INFERENCE)
    assert _core.modes() == INFERENCE | TRACE
    assert _core.set_tracer(None) is tracer and _core.modes() == INFERENCE


def test_modes_belong_to_the_thread() -> None:
    _core.set_grad_enabled(False)
    _core.set_modes(AUTOCAST)
    _core.set_tracer(object())
    seen = []
    thread = threading.Thread(
        target=lambda: seen.append((_core.grad_enabled(), _core.modes(), _core.tracer()))
    )
    thread.start()
    thread.join()
    assert seen == [(True, 0, None)]


def test_flags() -> None:
    plain, leaf = tensor(), tensor(requires_grad=True)
    fake = _core.meta(Plain, (2,), (1,), dtypes.float32, device.cpu, fake=True)
    cuda = _core.meta(Plain, (2,), (1,), dtypes.float32, device.device("cuda"))
    flags = _core.dispatch_flags
    assert flags(()) == 0 and flags((plain, 1, 2.0, None, "x", True, (1, 2))) == 0
    assert flags((plain, leaf)) == GRAD
    assert flags((1, [plain, leaf])) == GRAD | FOREIGN and flags(((leaf,),)) == GRAD
    assert flags((((leaf,),),)) == FOREIGN and flags(([],)) == FOREIGN
    assert flags((fake,)) == FAKE and flags((cuda, (fake,))) == FAKE | DEVICE
    recorded = tensor()
    recorded.grad_fn = object()
    assert flags((recorded,)) == GRAD
    _core.set_grad_enabled(False)
    assert flags((leaf, recorded)) == 0
    _core.set_modes(AUTOCAST)
    assert flags(()) == MODES
    _core.set_modes(0)
    _core.set_tracer(object())
    assert flags((plain,)) == MODES
    with pytest.raises(TypeError):
        flags([plain])  # type: ignore[arg-type]
