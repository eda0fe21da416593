"""`gw.backends`: scripts written for GPUs set its switches; they are kept and change nothing."""

import pytest

import graphwright as gw


def test_switches_keep_what_they_are_set_to(monkeypatch: pytest.MonkeyPatch) -> None:
    for switches, name in [
        (gw.backends.cudnn, "benchmark"),
        (gw.backends.cudnn, "deterministic"),
        (gw.backends.cuda.matmul, "allow_tf32"),
    ]:
        assert getattr(switches, name) is False
        monkeypatch.setattr(switches, name, True)
        assert getattr(switches, name) is True


def test_nothing_but_the_cpu_is_available() -> None:
    assert not gw.backends.cudnn.is_available()
    assert not gw.backends.mps.is_available()
    assert not gw.backends.mps.is_built()


def test_a_misspelt_switch_is_refused() -> None:
    with pytest.raises(AttributeError, match="no switch 'benchmrk'"):
        gw.backends.cudnn.benchmrk = True
