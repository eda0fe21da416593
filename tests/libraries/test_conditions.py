"""The `_check` family, removed functions, and names of `functional` and `utils.dlpack`."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw

KINDS = {
    "_check": RuntimeError,
    "_check_index": IndexError,
    "_check_not_implemented": NotImplementedError,
    "_check_type": TypeError,
    "_check_value": ValueError,
}


@pytest.mark.parametrize("name", KINDS)
def test_a_failed_condition_raises(name: str) -> None:
    check = getattr(gw, name)
    check(True, lambda: "not called")
    with pytest.raises(KINDS[name], match="Expected cond to be True"):
        check(False)
    with pytest.raises(KINDS[name], match="told so"):
        check(False, lambda: "told so")
    with pytest.raises(TypeError, match="bool"):
        check(1)


def test_sizes_and_tensors() -> None:
    gw._check_is_size(3)
    gw._check_tensor_all(gw.tensor([True, True]))
    with pytest.raises(RuntimeError):
        gw._check_is_size(-1)
    with pytest.raises(RuntimeError):
        gw._check_tensor_all(gw.tensor([True, False]))


def test_in_compiled_code() -> None:
    def checked(x: gw.Tensor) -> gw.Tensor:
        gw._check(x.shape[0] == 2, lambda: "two rows")
        return x + 1

    compiled = gw.compile(checked)
    assert compiled(gw.zeros(2)).tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="two rows"):
        compiled(gw.zeros(3))


@pytest.mark.parametrize("name", ["eig", "lstsq", "matrix_rank", "solve", "symeig"])
def test_removed_functions_say_so(name: str) -> None:
    function: Any = getattr(gw, name)
    with pytest.raises(RuntimeError, match=r"removed; use linalg\."):
        function(gw.eye(2))


def test_modules_of_other_names() -> None:
    assert gw.functional.einsum is gw.einsum and gw.functional.meshgrid is gw.meshgrid
    dlpack = gw.utils.dlpack

    assert gw.utils._pytree.tree_leaves([1]) == [1]
    assert dlpack.from_dlpack(dlpack.to_dlpack(gw.ones(2))).tolist() == [1.0, 1.0]
    assert gw.ones(2).__dlpack_device__() == (dlpack.DLDeviceType.kDLCPU, 0)


def test_assert_allclose_compares_values_alone() -> None:
    gw.testing.assert_allclose([1.0, float("nan")], gw.tensor([1.0, float("nan")]).double())
    with pytest.raises(AssertionError):
        gw.testing.assert_allclose(1.0, 1.1)


def test_labels_of_parts_change_nothing() -> None:
    @gw.profiler.record_function("whole")
    def doubled(x: gw.Tensor) -> gw.Tensor:
        with gw.autograd.profiler.record_function("part"):
            return x * 2

    assert doubled(gw.ones(2)).tolist() == [2.0, 2.0]
    assert gw.compile(doubled)(gw.ones(2)).tolist() == [2.0, 2.0]
    with gw.autograd.set_multithreading_enabled(False):
        assert gw.is_grad_enabled()


def test_gradients_are_complex_where_outputs_are() -> None:
    x = gw.tensor([1 + 2j], requires_grad=True)
    with pytest.raises(RuntimeError, match="both must be complex"):
        gw.autograd.grad(x.real.sum(), x, gw.tensor(1j))
    with pytest.raises(RuntimeError, match="both must be complex"):
        gw.autograd.grad(x.sum(), x, gw.tensor(1.0))
