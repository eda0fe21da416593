"""Public names lead to the modules themselves, whether they are imported at once or later."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
import graphwright as gw
late = ["graphwright.optim.lr_scheduler", "graphwright.autograd.functional",
        "graphwright.autograd.gradcheck", "graphwright.utils.checkpoint",
        "graphwright.saving", "graphwright.optim.lbfgs"]
assert not [name for name in late if name in sys.modules]
import graphwright.optim.lr_scheduler as public
import graphwright.optim.lr_scheduler as real
assert public is real is gw.optim.lr_scheduler
assert public.__name__ == public.__spec__.name == "graphwright.optim.lr_scheduler"
from graphwright.autograd.functional import jacobian
from graphwright.autograd.gradcheck import GradcheckError
from graphwright.utils.checkpoint import checkpoint
assert gw.autograd.GradcheckError is GradcheckError
assert gw.autograd.functional.jacobian is jacobian
assert gw.utils.checkpoint.checkpoint is checkpoint
assert gw.optim.LBFGS.__name__ == "LBFGS"
for name in ("graphwright.optim.nothing", "graphwright.optim.sgd.nothing"):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        assert name in str(error)
    else:
        raise AssertionError(name)
"""


def test_late_modules_are_shared() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
