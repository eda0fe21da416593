"""CPython's own tests pass with capture attempted on every frame, as they do without.

Those that docs/cpython_tests.md names as differing may; any other is an error.
"""

from __future__ import annotations

import importlib.util

import pytest

from graphwright.capture import _eval_frame

from .modules import LEAST_TRANSLATED, MODULES, QUICK
from .recorded import PROCESS, differing
from .running import differences, run

pytestmark = [
    pytest.mark.skipif(not _eval_frame.SUPPORTED, reason="the hook is declined here"),
    pytest.mark.skipif(
        importlib.util.find_spec("test.test_bool") is None,
        reason="this Python was installed without its test suite",
    ),
    pytest.mark.timeout(1900),
]


def _marks(name: str) -> list[pytest.MarkDecorator]:
    marks = [] if name in QUICK else [pytest.mark.slow]
    if PROCESS in differing(name):
        reason = "the page says that the module does not run to its end"
        marks.append(pytest.mark.xfail(reason=reason, strict=True))
    return marks


@pytest.mark.parametrize("name", [pytest.param(name, marks=_marks(name)) for name in MODULES])
def test_module_passes_as_without_capture(name: str) -> None:
    plain, captured = run(name, captured=False), run(name, captured=True)
    assert plain.status == 0 and plain.tests, plain.errors[-3000:]
    assert captured.status == 0 and not captured.unfinished, captured.errors[-3000:]
    new = {
        test: ends
        for test, ends in differences(plain, captured).items()
        if test not in differing(name)
    }
    assert new == {}, captured.errors[-6000:]
    assert captured.frames["translated"] > 0, "nothing was captured"
    if name in QUICK:
        assert captured.rate >= LEAST_TRANSLATED
