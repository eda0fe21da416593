"""`gw.backends`: scripts written for GPUs set its switches; they are kept and change nothing."""

import importlib

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


def test_switches_are_imported_as_modules() -> None:
    assert importlib.import_module("graphwright.backends.cudnn") is gw.backends.cudnn
    import graphwright.backends.cudnn as cudnn
    from graphwright.backends.mps import is_available

    assert cudnn is gw.backends.cudnn and not is_available()


def test_flags_sets_a_librarys_switches_for_a_while() -> None:
    cudnn = gw.backends.cudnn
    with cudnn.flags(enabled=False, benchmark=True):
        assert not cudnn.enabled and cudnn.benchmark and not cudnn.deterministic
    assert cudnn.enabled and not cudnn.benchmark and cudnn.version() is None
    with pytest.raises(ZeroDivisionError), gw.backends.mkldnn.flags(deterministic=True):
        assert gw.backends.mkldnn.deterministic
        raise ZeroDivisionError
    assert gw.backends.mkldnn.enabled and not gw.backends.mkldnn.deterministic
    with pytest.raises(TypeError, match="benchmrk"), cudnn.flags(benchmrk=True):
        pass


def test_flags_in_a_compiled_function() -> None:
    def f(x: gw.Tensor) -> gw.Tensor:
        with gw.backends.cudnn.flags(enabled=False):
            return x * (1 if gw.backends.cudnn.enabled else 2)

    assert gw.compile(f)(gw.ones(2)).tolist() == f(gw.ones(2)).tolist() == [2, 2]
    assert gw.backends.cudnn.enabled


@pytest.mark.parametrize("name", ["flash", "math", "mem_efficient", "cudnn"])
def test_implementations_of_attention_are_chosen_without_effect(name: str) -> None:
    cuda = gw.backends.cuda
    enable, enabled = getattr(cuda, f"enable_{name}_sdp"), getattr(cuda, f"{name}_sdp_enabled")
    assert enabled()
    enable(False)
    assert not enabled()
    with pytest.warns(FutureWarning, match="sdp_kernel"), cuda.sdp_kernel():
        assert enabled()
    assert not enabled()
    enable(True)


def test_switches_are_set_and_read_in_a_graph() -> None:
    def function(x: gw.Tensor) -> gw.Tensor:
        with gw.backends.cudnn.flags(enabled=False):
            y = x + gw.backends.cudnn.enabled
        return y if gw.backends.cuda.flash_sdp_enabled() else x

    compiled = gw.compile(function, fullgraph=True, backend="eager")
    x = gw.ones(3)
    assert gw.equal(compiled(x), function(x))
    assert gw.backends.cudnn.enabled
