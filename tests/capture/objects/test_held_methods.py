"""Bound methods of builtin types kept in variables, and across graph breaks."""

from __future__ import annotations

import threading
from typing import Any

import graphwright as gw

from ..captured import Captured, same
from ..programs import Programs, whole

program = Programs()


@program
def a_local_that_appends(x: Any) -> Any:
    made: list[Any] = []
    append = made.append
    append(x * 2)
    append(x + 1)
    return made


def given(x: Any, take: Any) -> Any:
    take(x * 2)
    return x + 1


def read_across_a_break(x: Any, log: list[Any]) -> Any:
    log.append(x.tolist())
    log.append((x * 2).sum().item())
    return x * 2


def test_methods_the_frame_binds_are_part_of_the_graph() -> None:
    for function in program.all:
        whole(function, gw.ones(3))


def test_a_method_from_outside_works_on_its_owner() -> None:
    kept: list[Any] = []
    captured = Captured(given, fullgraph=True)
    for _ in range(3):      # each call binds another object
        captured(gw.ones(3), kept.append)
    assert same(kept, [gw.full((3,), 2.0)] * 3)
    assert captured.graphs == 2     # a list that grows, from the second length on


def test_another_method_of_the_owner_is_another_version() -> None:
    kept: list[Any] = []
    captured = Captured(given, fullgraph=True)
    captured(gw.ones(3), kept.append)
    captured(gw.ones(2), kept.extend)
    assert same(kept, [gw.full((3,), 2.0), gw.tensor(2.0), gw.tensor(2.0)])


def test_versions_outlive_the_method_that_a_break_held() -> None:
    log: list[Any] = []
    captured = Captured(read_across_a_break)
    for _ in range(3):
        captured(gw.ones(3), log)
    frames = len(captured.record.frames)
    for _ in range(5):
        captured(gw.ones(3), log)
    assert log == [[1.0, 1.0, 1.0], 6.0] * 8
    assert len(captured.record.frames) == frames


def under_a_lock(x: Any, lock: Any, log: list[Any]) -> Any:
    with lock:
        log.append((x * 2).sum().item())
    return x + 1


def test_a_lock_that_a_break_held_is_no_new_version() -> None:
    lock, log = threading.Lock(), list[Any]()
    captured = Captured(under_a_lock)
    for _ in range(3):
        captured(gw.ones(3), lock, log)
    frames = len(captured.record.frames)
    for _ in range(9):
        captured(gw.ones(3), lock, log)
    assert log == [6.0] * 12
    assert len(captured.record.frames) == frames
    assert not lock.locked()
