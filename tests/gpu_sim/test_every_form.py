"""Every form that Triton emits is in a test of what it does."""

from __future__ import annotations

import re
from pathlib import Path

from . import test_async_forms as asynchronous
from . import test_memory_forms as memory
from . import test_scalar_forms as scalar
from . import test_warp_forms as warp
from .forms import FORMS

FOLDER = Path(__file__).parent


def test_every_form_of_the_list_is_checked_somewhere() -> None:
    """By a list that parametrises a test, or in the PTX that one runs."""
    listed = {*scalar.CASES, *memory.LOADS, *memory.STORES, *memory.ATOMICS, *warp.PRODUCTS,
              *warp.MATRICES, *warp.REDUCTIONS, *warp.SHUFFLES, *asynchronous.COPIES,
              *asynchronous.PRODUCTS}
    written = "".join((FOLDER / f"test_{name}_forms.py").read_text()
                      for name in ("memory", "warp", "async"))
    written += (FOLDER / "test_faults.py").read_text()
    for shared, cluster in (("shared::cta", "shared::cta"), ("shared", "shared::cluster")):
        written += asynchronous.MAP_TEXT.replace("SHARED", shared).replace("CLUSTER", cluster)
    words = set(re.findall(r"[a-z]\w*(?:(?:\.|::)\w+)*", written))
    assert sorted(set(FORMS) - listed - words) == []
