"""A process forked while another thread is in LLVM compiles on."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import pytest

from graphwright.codegen.emit import llvm_object
from graphwright.codegen.target import host

MODULE = "define i32 @one() {\n  ret i32 1\n}\n"
DEADLOCKED = 60
"""Seconds after which a child that waits for ever ends; one that does not is done at once."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_does_not_wait_for_the_lock_of_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    ffi = pytest.importorskip("llvmlite.binding.ffi")
    expected = llvm_object.object_code(MODULE, host())
    inside, forks = threading.Event(), threading.Event()
    parsed = llvm_object._parsed

    def slowly(text: str) -> Any:
        with ffi.lib._lock:
            inside.set()
            forks.wait(0.2)     # that never comes: the fork is to wait for what has begun
        return parsed(text)

    with monkeypatch.context() as patch:
        patch.setattr(llvm_object, "_parsed", slowly)
        thread = threading.Thread(target=llvm_object.object_code, args=(MODULE, host()))
        thread.start()
        assert inside.wait(10)
    child = os.fork()
    if child == 0:
        signal.alarm(DEADLOCKED)
        os._exit(0 if llvm_object.object_code(MODULE, host()) == expected else 1)
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
