"""`utils.swap_tensors`: two leaf tensors change places, and every holder of one has the other."""

from __future__ import annotations

import weakref
from typing import Any

import pytest

import graphwright as gw


def test_everything_changes_places() -> None:
    first: Any = gw.nn.Parameter(gw.ones(2))
    first.grad, first.mark = gw.full((2,), 3.0), "first"
    second = gw.zeros(3, dtype=gw.float64)
    gw.utils.swap_tensors(first, second)
    assert type(first) is gw.Tensor and first.tolist() == [0, 0, 0]
    assert first.dtype is gw.float64 and not first.requires_grad and first.grad is None
    assert type(second) is gw.nn.Parameter and second.tolist() == [1, 1]
    assert second.requires_grad and second.grad.tolist() == [3, 3] and second.mark == "first"
    assert not hasattr(first, "mark")
    (second * 2).sum().backward()
    assert second.grad.tolist() == [5, 5]


def test_hooks_and_their_handles_go_along() -> None:
    first, second = (gw.ones(1, requires_grad=True) for _ in range(2))
    seen: list[str] = []
    handle = first.register_hook(lambda grad: seen.append("gradient"))
    first.register_post_accumulate_grad_hook(lambda tensor: seen.append("accumulated"))
    gw.utils.swap_tensors(first, second)
    (first * 2).sum().backward()
    assert seen == []
    (second * 2).sum().backward()
    assert seen == ["gradient", "accumulated"]
    handle.remove()
    (second * 2).sum().backward()
    assert seen == ["gradient", "accumulated", "accumulated"]


def test_what_others_lead_to_does_not_change_places() -> None:
    first, second = gw.ones(2), gw.zeros(2)
    watcher = weakref.ref(first)
    with pytest.raises(RuntimeError, match="weakref"):
        gw.utils.swap_tensors(first, second)
    assert watcher() is first
    for other in (gw.ones(2, requires_grad=True) * 1, gw.ones(2)[:1]):
        with pytest.raises(RuntimeError, match="no leaf, or a view"):
            gw.utils.swap_tensors(second, other)


def test_classes_with_slots_are_refused() -> None:
    class Marked(gw.Tensor):
        __slots__ = ("mark",)

    marked = gw.ones(2).as_subclass(Marked)
    with pytest.raises(RuntimeError, match="slots"):
        gw.utils.swap_tensors(marked, gw.zeros(2))
    assert type(marked) is Marked and marked.tolist() == [1, 1]
