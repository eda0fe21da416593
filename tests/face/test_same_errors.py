"""What eager refuses, compiled code refuses with the same exception type."""

from __future__ import annotations

import pytest

import graphwright as gw

CASES = {
    "negate_bool": ("-x", "bool"),
    "invert_float": ("~x", "float32"),
    "integer_power": ("x ** -1", "int64"),
    "floor_divide_by_zero": ("x // 0", "int64"),
    "remainder_by_zero": ("x % 0", "int64"),
    "trunc_divide_by_zero": ("gw.div(x, 0, rounding_mode='trunc')", "int32"),
    "floor_divide_by_a_tensor_with_zeros": ("x // x", "int64"),
    "remainder_by_a_tensor_with_zeros": ("(x + 1) % x", "int32"),
    "fmod_by_a_tensor_with_zeros": ("gw.fmod(x, x)", "int64"),
    "trunc_divide_by_a_tensor_with_zeros": ("gw.div(x, x, rounding_mode='trunc')", "int64"),
    "floor_divide_bool": ("x // x", "bool"),
    "remainder_bool": ("x % x", "bool"),
    "multiply_into_int": ("x.clone().mul_(2.5)", "int64"),
    "add_into_bool": ("x.clone().add_(2)", "bool"),
    "bitwise_float": ("x & x", "float32"),
}


@pytest.mark.parametrize(("text", "dtype"), CASES.values(), ids=CASES.keys())
def test_compiled_code_refuses_what_eager_refuses(text: str, dtype: str) -> None:
    x = gw.tensor([[1, 0, 2]]).to(getattr(gw, dtype))
    function = eval(f"lambda x: {text}", {"gw": gw})
    with pytest.raises((RuntimeError, TypeError)) as refused:
        function(x)
    with pytest.raises(refused.type):
        gw.compile(function, backend="llvm")(x)


@pytest.mark.parametrize("text", ["x[gw.tensor(9)]", "x.select(0, int(gw.tensor(9)))"])
def test_a_constant_out_of_bounds_is_the_programs_error(text: str) -> None:
    function = eval(f"lambda x: {text}", {"gw": gw})
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        gw.compile(function, backend="llvm")(gw.arange(5.0))


def test_an_error_of_the_compiler_keeps_its_cause() -> None:
    def backend(graph: object, inputs: object) -> object:
        try:
            raise KeyError("a pass")
        except KeyError as error:
            raise RuntimeError("the compiler") from error

    with pytest.raises(RuntimeError, match="the compiler") as raised:
        gw.compile(lambda x: x + 1, backend=backend)(gw.ones(2))
    assert type(raised.value.__cause__) is KeyError
