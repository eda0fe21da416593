"""First uses are all or nothing: an exception while modules are imported is raised, once, and the
next use finds everything as if nothing had been imported before.

Each trial is a forked child of one process, which raises at one line of this package that the
first use of something runs, and then uses it again.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import graphwright as gw
from graphwright.runtime.ops import families
from graphwright.runtime.ops.table import TABLE

USES = {
    "rand": "gw.rand(3).shape",
    "softmax": "gw.softmax(gw.ones(2, requires_grad=True), 0).sum().backward()",
    "fft": "gw.fft.fft(gw.ones(4)).real.tolist()",
    "svd": "gw.linalg.svd(gw.ones(3, 3)).S.shape",
    "distributions": "gw.distributions.Normal(0., 1.).log_prob(gw.ones(2)).tolist()",
    "vmap": "gw.vmap(lambda x: x.sum())(gw.ones(3, 2)).tolist()",
    "jacrev": "gw.func.jacrev(lambda x: x * x)(gw.ones(3)).tolist()",
    "save": "gw.save({'a': gw.ones(3)}, os.devnull)",
    "data": "[b.tolist() for b in gw.utils.data.DataLoader([1, 2, 3, 4], batch_size=2)]",
    "transformer": "gw.nn.TransformerEncoderLayer(8, 2)(gw.ones(1, 2, 8)).shape",
    "lr_scheduler": "importlib.import_module('graphwright.optim.lr_scheduler').StepLR.__name__",
    "storage": "type(gw.ones(3).untyped_storage()).__name__",
    "cond": "gw.cond(gw.tensor(True), lambda x: x, lambda x: -x, (gw.ones(2),)).tolist()",
    "foreach": "[t.tolist() for t in gw._foreach_add([gw.ones(2)], 1)]",
    "parametrizations": "gw.nn.utils.parametrizations.weight_norm(gw.nn.Linear(2, 2)) is None",
    "compile": "gw.compile(lambda x: x.sin() + 1)(gw.ones(3)).tolist()",
}

SCRIPT = """
import gc, importlib, os, random, sys
import graphwright as gw

HOME = os.path.dirname(gw.__file__)
use = eval("lambda: " + sys.argv[1])
trials, rng = int(sys.argv[2]), random.Random(int(sys.argv[3]))
ERRORS = (KeyboardInterrupt, MemoryError, OSError)

def traced(at, error):
    "Use it, and raise at that line event; how many lines there were."
    seen = 0
    def line(frame, event, arg):
        nonlocal seen
        if event == "line":
            seen += 1
            if seen == at:
                sys.settrace(None)
                raise error("raised by the test")
        return line
    sys.settrace(lambda frame, *_: line if frame.f_code.co_filename.startswith(HOME) else None)
    try:
        use()
    except error as raised:
        assert "raised by the test" in str(raised), raised
    finally:
        sys.settrace(None)
    return seen

def in_child(function):
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            result = repr(function())
        except BaseException as error:
            result = f"{type(error).__name__}: {error}"
        os.write(write, result.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        result = pipe.read()
    os.waitpid(pid, 0)
    return result

def again(at, error):
    traced(at, error)
    assert gc.isenabled()
    return use()

expected = in_child(use)
lines = int(in_child(lambda: traced(0, OSError)))
for _ in range(trials):
    at, error = rng.randint(1, lines), rng.choice(ERRORS)
    found = in_child(lambda: again(at, error))
    assert found == expected, f"{error.__name__} at line event {at} of {lines}: {found}"
"""


def check(name: str, trials: int, seed: int) -> None:
    print(f"{name}: seed {seed}")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, USES[name], str(trials), str(seed)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_first_use_that_is_interrupted_succeeds_the_next_time() -> None:
    seed = random.randrange(10**6)
    check("rand", 8, seed)
    check(random.Random(seed).choice(sorted(USES)), 3, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", USES)
def test_first_uses_interrupted_anywhere(name: str) -> None:
    check(name, 100, random.randrange(10**6))


def test_an_import_that_fails_defines_no_op(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    family = tmp_path / "half_a_family.py"
    family.write_text(
        "from graphwright.runtime.ops.table import Kind, define\n"
        "define('half_an_op(Tensor input)', Kind.COMPOSITE, decompose=lambda input: later)\n"
        "assert not fails[0]\n"
        "later = 3\n"
    )
    package = sys.modules["graphwright.runtime.ops"]
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    monkeypatch.setitem(families.NAMES, "half_an_op", "half_a_family")
    fails = [True]
    monkeypatch.setattr("builtins.fails", fails, raising=False)
    entry = families.Op("half_an_op")
    TABLE[entry.name] = entry
    try:
        for _ in range(2):
            with pytest.raises(AssertionError):
                entry.schema        # noqa: B018
            assert not families.is_defined(entry)
        fails[0] = False
        assert entry.decompose(gw.ones(1)) == 3
    finally:
        del TABLE[entry.name]
        sys.modules.pop("graphwright.runtime.ops.half_a_family", None)


def test_an_op_that_a_handler_uses_while_its_family_is_imported_says_so() -> None:
    code = (
        "import sys, graphwright as gw\n"
        "def line(frame, event, arg):\n"
        "    if frame.f_lineno > 100 and not seen:\n"
        "        sys.settrace(None)\n"
        "        seen.append('used')\n"
        "        try: gw.rand(3)\n"
        "        except ImportError as error: seen.append(str(error))\n"
        "    return line\n"
        "seen = []\n"
        "sys.settrace(lambda f, *_: line if f.f_code.co_name == '<module>'\n"
        "             and f.f_code.co_filename.endswith('random/draws.py') else None)\n"
        "gw.rand(2)\n"
        "sys.settrace(None)\n"
        "assert gw.rand(3).shape == (3,)\n"
        "print(seen[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env=dict(os.environ))
    assert "are used while 'random.draws' is being imported" in done.stdout


REENTERED = """
import sys
import graphwright as gw
from graphwright.runtime.ops import families

class UsesAnOp:
    busy = False

    def find_spec(self, name, path=None, target=None):
        if name.endswith("ops.rearrange") and not UsesAnOp.busy:
            UsesAnOp.busy = True
            gw.ones(2).flip(0)      # an op of the family whose import has just begun

sys.meta_path.insert(0, UsesAnOp())
print(gw.tensor([1, 2, 3]).roll(1).tolist())
families.load_all()
print(gw.tensor([1, 2, 3]).flip(0).tolist())
"""


def test_a_family_that_is_used_while_its_import_begins_runs_twice() -> None:
    done = subprocess.run([sys.executable, "-c", REENTERED], capture_output=True, text=True,
                          check=True)
    assert done.stdout == "[3, 1, 2]\n[3, 2, 1]\n"
