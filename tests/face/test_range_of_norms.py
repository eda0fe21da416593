"""Norms and deviations of float32 whose squares lie beyond float32: compiled as plain."""

import pytest

import graphwright as gw

F = gw.nn.functional

FUNCTIONS = {
    "norm": lambda x: x.norm(),
    "norm of rows": lambda x: x.norm(dim=1),
    "third norm": lambda x: gw.linalg.vector_norm(x, 3, dim=0),
    "std": lambda x: x.std(),
    "std of columns": lambda x: x.std(0, correction=0),
    "std_mean": lambda x: gw.std_mean(x, 1)[0],
    "normalize": lambda x: F.normalize(x, dim=0),
    "cosine_similarity": lambda x: F.cosine_similarity(x, 2 * x, dim=1),
    "pairwise_distance": lambda x: F.pairwise_distance(x, -x),
    "renorm": lambda x: gw.renorm(x, 2, 0, 1.0),
    "matrix norm": lambda x: gw.linalg.matrix_norm(x),
}


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("scale", [1.0, 1e30, 1e-30])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_squares_beyond_the_range(name, scale, backend):
    x = gw.tensor([[3.0, -1.0, 2.0], [0.5, 4.0, 1.0]]) * scale
    plain = FUNCTIONS[name](x)
    assert gw.isfinite(plain).all()
    compiled = gw.compile(FUNCTIONS[name], backend=backend)(x)
    assert compiled.dtype is plain.dtype and compiled.shape == plain.shape
    assert gw.allclose(compiled, plain, rtol=1e-5, atol=0.0)


def test_bfloat16_has_the_range_of_float32():
    x = gw.tensor([3e30, 4e30], dtype=gw.bfloat16)
    compiled = gw.compile(lambda x: x.norm())(x)
    assert compiled.dtype is gw.bfloat16 and compiled == x.norm()


@pytest.mark.parametrize("correction", [0, 1, 2, 3, 1.5])
def test_std_of_as_many_as_are_corrected_for(correction):
    x = gw.tensor([1.0, 3.0])
    compiled = gw.compile(lambda x: x.std(correction=correction))(x)
    assert gw.allclose(compiled, x.std(correction=correction), equal_nan=True)


def test_std_of_numbers_farther_apart_than_the_range():
    x = gw.tensor([3e38, 3e38, -3e38, 1.0])
    assert gw.isfinite(x.std())
    assert gw.allclose(gw.compile(lambda x: x.std())(x), x.std())
