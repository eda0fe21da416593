"""Tensors whose history was passed already when they leave the frame: another pass is an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from graphwright.capture import _eval_frame
from graphwright.runtime import _core
from graphwright.runtime.autograd import engine
from graphwright.runtime.autograd.node import Node
from graphwright.runtime.autograd.saved import FREED
from graphwright.runtime.fake import FakeTensor


class SpentNode(Node):
    """Where the history of a tensor was freed."""

    __slots__ = ()

    def compute(self, grads: Sequence[Any]) -> NoReturn:
        raise RuntimeError(FREED)


def with_spent_history(tensor: Any) -> Any:
    """The tensor, as `backward` left it."""
    return SpentNode("SpentBackward", ()).attach(tensor)


_eval_frame.skip_code(with_spent_history.__code__)


def is_spent(fake: FakeTensor, leaves: Sequence[FakeTensor], mode: Any) -> bool:
    """Whether another pass from a fake tensor to these leaves comes upon freed memory."""
    previous = _core.set_tracer(mode)
    try:
        seed = fake.detach()
        engine.grad(fake, leaves, seed, retain_graph=True, allow_unused=True)
    except RuntimeError as error:
        return str(error) == FREED
    finally:
        _core.set_tracer(previous)
    return False
