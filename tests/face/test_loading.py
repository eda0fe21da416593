"""The compiler's modules are imported with the collector of cycles at rest."""

from __future__ import annotations

import gc
import sys

import pytest

from graphwright.face.lazy_loading import load

MODULE = "import gc\nenabled = gc.isenabled()\n"


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """A folder of modules that can be imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)


def test_modules_are_imported_while_the_collector_rests(modules):
    (modules / "loading_first.py").write_text(MODULE)
    (modules / "loading_second.py").write_text(MODULE)
    first, second = load("loading_first", "loading_second")
    assert (first.enabled, second.enabled) == (False, False)
    assert (first.__name__, second.__name__) == ("loading_first", "loading_second")
    assert gc.isenabled()


def test_the_collector_goes_on_behind_a_module_that_fails(modules):
    (modules / "loading_fails.py").write_text("raise KeyError('no')")
    with pytest.raises(KeyError, match="no"):
        load("loading_fails")
    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off(modules):
    (modules / "loading_alone.py").write_text(MODULE)
    gc.disable()
    try:
        load("loading_alone")
        assert not gc.isenabled()
    finally:
        gc.enable()
