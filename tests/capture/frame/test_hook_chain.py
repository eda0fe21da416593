"""Another user of the frame evaluation API, installed before or after ours."""

from __future__ import annotations

import ctypes
import pathlib
import shutil
import subprocess
import sysconfig

import pytest

from graphwright.capture import _eval_frame
from graphwright.capture._eval_frame import run_hooked

from ..frames import NESTED, Replace, fresh

SOURCE = """
#include <Python.h>
static long frames;
static _PyFrameEvalFunction before;
static PyObject *count(PyThreadState *tstate, struct _PyInterpreterFrame *frame, int throwflag) {
    frames++;
    return before(tstate, frame, throwflag);
}
__attribute__((visibility("default"))) void install(void) {
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    before = _PyInterpreterState_GetEvalFrameFunc(interpreter);
    _PyInterpreterState_SetEvalFrameFunc(interpreter, count);
}
__attribute__((visibility("default"))) void uninstall(void) {
    _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), before);
}
__attribute__((visibility("default"))) long counted(void) {
    long result = frames;
    frames = 0;
    return result;
}
"""


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> ctypes.PyDLL:
    compiler = shutil.which("cc")
    if compiler is None or not _eval_frame.SUPPORTED:
        pytest.skip("needs a C compiler and the hook")
    folder: pathlib.Path = tmp_path_factory.mktemp("evaluator")
    source, library = folder / "other.c", folder / "other.so"
    source.write_text(SOURCE)
    include = sysconfig.get_path("include")
    command = [compiler, "-shared", "-fPIC", f"-I{include}", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return ctypes.PyDLL(str(library))


def test_installed_before_us(other):
    code = fresh(NESTED)
    replace = Replace(inner=lambda a: a * 100)
    other.install()
    try:
        assert run_hooked(replace, code.outer, 1) == 300
        assert other.counted() > 0, "it sees the frames, replaced ones too"
        assert code.outer(1) == 6 and other.counted() > 0, "and is back when we are gone"
    finally:
        other.uninstall()
    other.counted()
    assert code.outer(1) == 6 and other.counted() == 0
    assert run_hooked(replace, code.outer, 1) == 300


def test_installed_while_we_are(other):
    code = fresh(NESTED)
    replace = Replace(inner=lambda a: a * 100)
    try:
        assert run_hooked(replace, lambda: (other.install(), code.outer(1))[1]) == 300
        assert other.counted() > 0
        assert code.outer(1) == 6 and other.counted() > 0, "it stays, and we pass through"
        assert run_hooked(replace, code.outer, 1) == 300, "no second hook, no endless chain"
        assert _eval_frame.hook_installed() == 0
    finally:
        other.uninstall()
    assert run_hooked(replace, code.outer, 1) == 300
    assert code.outer(1) == 6 and _eval_frame.hook_installed() == 0


def test_uninstalled_while_we_are(other):
    code = fresh(NESTED)
    replace = Replace(inner=lambda a: a * 100)
    run_hooked(replace, lambda: (other.install(), other.uninstall()))
    assert run_hooked(replace, code.outer, 1) == 300 and code.outer(1) == 6
    assert _eval_frame.hook_installed() == 0
