"""Compiled `as_strided` reads what eager reads, and never past the end of memory."""

from __future__ import annotations

import pytest

import graphwright as gw


def test_an_offset_counts_from_the_start_of_the_storage() -> None:
    base = gw.arange(10).float()

    def first(x: gw.Tensor) -> gw.Tensor:
        return x.as_strided((2,), (1,), 0) + 1

    assert gw.compile(first)(base[4:]).tolist() == [1.0, 2.0]


def test_a_view_out_of_the_storage_is_refused() -> None:
    def far(x: gw.Tensor) -> gw.Tensor:
        return x.as_strided((1000000,), (1000,)) + 1

    with pytest.raises(RuntimeError, match="out of its storage"):
        gw.compile(far)(gw.zeros(4))


def test_a_view_within_the_tensor_stays_in_the_graph() -> None:
    def windows(x: gw.Tensor) -> gw.Tensor:
        return x.as_strided((3, 2), (1, 1)) + 1

    x = gw.arange(4).float()
    compiled = gw.compile(windows, fullgraph=True)
    assert compiled(x).tolist() == windows(x).tolist()


def of_an_argument(x: gw.Tensor) -> gw.Tensor:
    return x.as_strided((2, 2), (1, 2)) * 2


def of_a_view(x: gw.Tensor) -> gw.Tensor:
    return x.t().as_strided((2, 2), (1, 2)).sin()


def of_an_intermediate(x: gw.Tensor) -> gw.Tensor:
    return (x.t() * 2).softmax(0).as_strided((2, 2), (3, 1)).cumsum(0)


def of_a_permuted_view(x: gw.Tensor) -> gw.Tensor:
    return x.view(1, 2, 3).permute(2, 0, 1).as_strided((2, 3), (2, 1)) + x[:1, :1]


def written_through(x: gw.Tensor) -> tuple[gw.Tensor, ...]:
    y = (x * 2).permute(1, 0)
    y.as_strided((2, 2), (3, 1)).mul_(2)
    return y, x * y.t()


@pytest.mark.parametrize("options", [{}, {"dynamic": True}, {"backend": "c"}])
@pytest.mark.parametrize("program", [
    of_an_argument, of_a_view, of_an_intermediate, of_a_permuted_view, written_through,
], ids=lambda program: program.__name__)
def test_dense_tensors_of_any_order_of_dimensions_stay_in_one_graph(program, options):
    compiled = gw.compile(program, fullgraph=True, **options)
    start = gw.arange(6.0, dtype=gw.float64)
    for made in (start.view(2, 3), start.view(3, 2).t()) if program is of_an_argument else (
            start.view(2, 3),):
        found = []
        for function in (program, compiled):
            x = made.clone().requires_grad_()
            results = function(x)
            results = results if isinstance(results, tuple) else (results,)
            grads = [gw.arange(float(out.numel()), dtype=out.dtype).view(out.shape)
                     for out in results]
            found.append([*results, gw.autograd.grad(results, x, grads)[0]])
        for plain, other in zip(*found, strict=True):
            assert gw.allclose(plain, other) and plain.stride() == other.stride()
    assert gw.explain(program)(start.view(2, 3)).stats.fallbacks == 0


def test_memory_with_gaps_ends_the_graph_there() -> None:
    def program(x):
        y = x.sin()[:, ::2].as_strided((2, 2), (1, 2))
        return y * 2 + 1

    x = gw.arange(12.0).view(2, 6)
    explained = gw.explain(program)(x)
    assert (explained.stats.graphs, explained.stats.breaks) == (2, 1)
    assert gw.allclose(gw.compile(program)(x), program(x), rtol=1e-5)


@pytest.mark.parametrize("options", [{}, {"dynamic": True}, {"dynamic": True, "backend": "c"}])
def test_results_keep_gaps_that_come_from_the_strides_of_an_argument(options):
    def program(x):
        return gw.empty_strided((4, 6), (x.stride(0) * 2, x.stride(1) * 2)).copy_(x)

    compiled = gw.compile(program, **options)
    for strides in ((24, 2), (12, 1), (1, 4), (3, 40), (6, 1)):
        x = gw.arange(300.0).as_strided((4, 6), strides)
        result = compiled(x)
        assert result.stride() == program(x).stride()
        assert gw.equal(result, x)


@pytest.mark.parametrize("options", [{}, {"dynamic": True}])
def test_memory_whose_elements_share_places_is_not_written_behind_a_break(options):
    def program(x):
        return gw.empty_strided((4, 6), (0, 2)).copy_(x)

    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        program(gw.ones(4, 6))
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        gw.compile(program, **options)(gw.ones(4, 6))
