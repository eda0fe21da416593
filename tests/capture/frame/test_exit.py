"""The end of code objects and of the interpreter, in programs that have captured frames."""

from __future__ import annotations

import subprocess
import sys

import pytest

from graphwright.capture import _eval_frame

pytestmark = pytest.mark.skipif(not _eval_frame.SUPPORTED, reason="the hook is declined here")

REQUEST = """
import ctypes, gc, sys

prefix = "_PyEval" if sys.version_info < (3, 12) else "PyUnstable_Eval"
request = getattr(ctypes.pythonapi, f"{prefix}_RequestCodeExtraIndex")
called = []
free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(called.append)
assert request(free) >= 0
"""

IMPORT = """
from graphwright.capture import _eval_frame
"""

CAPTURED = """
def captured():
    space = {}
    exec("def f(): return 1", space)
    assert _eval_frame.run_hooked(lambda *call: None, space["f"]) == 1
    return space["f"]
"""

SLOT_OF_ANOTHER = IMPORT + REQUEST + CAPTURED

LAST_CALLS = """
import graphwright as gw

def work(x, k):
    return (x * k).relu()

class Last:
    def __init__(self, call, x, show):
        self.call, self.x, self.show = call, x, show

    def __del__(self):
        for k in (2, 2.5, "none"):
            try:
                self.show(self.call(self.x, k).sum().item())
            except Exception as error:
                self.show(type(error).__name__)

x = gw.ones(2)
work(x, 2).sum().item()
compiled = gw.compile(work)
"""


def run(script: str) -> subprocess.CompletedProcess[str]:
    """Run a program, which exits as it should."""
    return subprocess.run(
        [sys.executable, "-c", script], check=True, text=True, capture_output=True
    )


def test_the_slots_that_others_keep_in_code_objects_stay_theirs() -> None:
    """What frees another's slot is not called for code in which nobody has set it."""
    run(f"{SLOT_OF_ANOTHER}\ncaptured()\ngc.collect()\nassert not called, called")


@pytest.mark.parametrize("order", [IMPORT + REQUEST, REQUEST + IMPORT], ids=["later", "earlier"])
def test_another_s_slot_is_freed_by_a_function_that_is_gone_at_exit(order: str) -> None:
    """CPython ends code objects after the modules whose functions would free their slots."""
    kept = "sys.kept = [captured() for _ in range(50)]"
    run(f"{order}{CAPTURED}\n{kept}\ndel free, request")


@pytest.mark.parametrize("before", ["", "compiled(x, 2)"], ids=["cold", "warm"])
def test_compiled_functions_called_while_the_interpreter_ends(before: str) -> None:
    """Nothing is translated any more: calls have the results of plain ones."""
    plain = run(f"{LAST_CALLS}\nlast = Last(work, x, print)")
    done = run(f"{LAST_CALLS}\n{before}\nlast = Last(compiled, x, print)")
    assert plain.stdout.splitlines()[:2] == ["4.0", "5.0"]
    assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)
