"""Entries of the op table: completed when they are first used, defined once."""

from __future__ import annotations

import subprocess
import sys

import pytest

from graphwright.runtime.ops.families import FAMILIES
from graphwright.runtime.ops.table import TABLE, Kind, Op, define, is_defined


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_an_import_defines_no_op() -> None:
    loaded = python(
        "import graphwright, sys\n"
        "from graphwright.runtime.ops.table import TABLE, is_defined\n"
        "print(len(TABLE), sum(map(is_defined, TABLE.values())))"
    ).split()
    assert int(loaded[0]) > 400
    assert int(loaded[1]) < 30


def test_the_first_use_imports_the_family_alone() -> None:
    loaded = python(
        "import graphwright as gw, sys\n"
        "gw.matmul(gw.ones(2, 3), gw.ones(3, 2))\n"
        "print(*(m.rpartition('.')[2] for m in sys.modules if '.runtime.ops.' in m))"
    ).split()
    assert len(set(loaded) & set(FAMILIES)) < len(FAMILIES) / 2


def test_threads_may_use_ops_first_at_the_same_time() -> None:
    code = """
import sys, threading
import graphwright as gw
sys.setswitchinterval(1e-6)
start, wrong = threading.Barrier(16), []
def work():
    start.wait()
    try:
        x = gw.arange(6.0).reshape(2, 3).requires_grad_()
        y = gw.softmax(x, 1).cumsum(0).add_(1).matmul(x.detach().T).sort().values
        gw.linalg.norm(y).backward()
        assert x.grad.shape == (2, 3)
    except BaseException as error:
        wrong.append(repr(error))
threads = [threading.Thread(target=work) for _ in range(16)]
for t in threads: t.start()
for t in threads: t.join()
print(wrong)
"""
    assert python(code).strip() == "[]"


def test_every_field_completes_an_entry() -> None:
    for field in ("schema", "vjp", "run", "is_inplace", "eager", "tensor_slots"):
        code = (
            "import graphwright\nfrom graphwright.runtime.ops.table import TABLE, is_defined\n"
            f"print(TABLE['tanh_'].{field} is not None, is_defined(TABLE['tanh_']))"
        )
        given, defined = python(code).split()
        assert defined == "True"
        assert given == str(field != "vjp")


def test_an_op_is_defined_once() -> None:
    assert TABLE["tanh"].kind is Kind.POINTWISE
    with pytest.raises(ValueError, match="'tanh' is defined in pointwise"):
        define("tanh(Tensor input)", Kind.POINTWISE)


def test_what_no_family_defines_says_so() -> None:
    entry = Op("no_such_op")
    TABLE[entry.name] = entry
    try:
        with pytest.raises(NotImplementedError, match="'no_such_op' is not defined"):
            entry.run()
        assert is_defined(entry)
        assert not hasattr(entry, "no_such_field")
    finally:
        del TABLE[entry.name]
