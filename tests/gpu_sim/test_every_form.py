"""Every form that Triton emits is in a test of what it does."""

from __future__ import annotations

import re
from pathlib import Path

from . import test_async_forms as asynchronous
from . import test_faults as faults
from . import test_memory_forms as memory
from . import test_scalar_forms as scalar
from . import test_warp_forms as warp
from .forms import FORMS


def test_every_form_of_the_list_is_checked_somewhere() -> None:
    """By a list that parametrises a test, or in the PTX that one runs."""
    listed = {*scalar.CASES, *memory.LOADS, *memory.STORES, *memory.ATOMICS, *warp.PRODUCTS,
              *warp.MATRICES, *warp.REDUCTIONS, *warp.SHUFFLES, *asynchronous.COPIES,
              *asynchronous.PRODUCTS}
    written = "".join(Path(m.__file__).read_text() for m in (memory, warp, asynchronous, faults))
    for shared, cluster in (("shared::cta", "shared::cta"), ("shared", "shared::cluster")):
        written += asynchronous.MAP_TEXT.replace("SHARED", shared).replace("CLUSTER", cluster)
    words = set(re.findall(r"[a-z]\w*(?:(?:\.|::)\w+)*", written))
    assert sorted(set(FORMS) - listed - words) == []
    assert len(set(FORMS)) == len(FORMS)
