"""Indices out of bounds on a GPU: an IndexError with the CPU's text at the next wait."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

X = gw.arange(20.0).reshape(5, 4)
BAD: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "index": (lambda x, i: x[i], [1, 9]),
    "a negative index": (lambda x, i: x[:, i], [1, -9]),
    "index_select": (lambda x, i: gw.index_select(x, 1, i), [0, 4]),
    "gather": (lambda x, i: gw.gather(x, 1, i), [[1, 9]]),
    "take": (lambda x, i: gw.take(x, i), [1, 90]),
    "index_put": (lambda x, i: x.index_put((i,), x[0, 0]), [1, 9]),
    "index_add": (lambda x, i: x.index_add(0, i, x[:2]), [1, 9]),
    "scatter": (lambda x, i: x.scatter(0, i, 1.0), [[1, 9]]),
    "scatter_add": (lambda x, i: x.scatter_add(0, i, x), [[1, 9]]),
    "embedding": (lambda x, i: gw.nn.functional.embedding(i, x), [1, 9]),
    "cross_entropy": (lambda x, i: gw.nn.functional.cross_entropy(x[:2], i), [1, 9]),
}


def raised(call: Callable[[], Any]) -> str:
    with pytest.raises(IndexError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("name", [
    name if name in ("index", "a negative index", "take") else pytest.param(
        name, marks=pytest.mark.slow) for name in BAD])
def test_the_text_is_the_cpu_s(gpu: Any, name: str) -> None:
    function, numbers = BAD[name]
    index = gw.tensor(numbers)
    want = raised(lambda: function(X, index))
    for run in (function, gw.compile(function), gw.compile(function, dynamic=True)):
        assert raised(lambda run=run: run(X.cuda(), index.cuda()).cpu()) == want
    assert gw.equal(gw.take(X.cuda(), gw.tensor([3]).cuda()).cpu(), gw.tensor([3.0]))
    assert not gpu.faults


@pytest.fixture
def lookup(gpu: Any) -> Any:
    """x[i] + 1 of any sizes, compiled, of which nothing is awaited."""
    compiled = gw.compile(lambda x, i: x[i] + 1, dynamic=True)
    compiled(X.cuda(), gw.tensor([1, 2]).cuda())
    gw.cuda.synchronize()
    return compiled


def indices(*numbers: int) -> Any:
    return gw.tensor(numbers).cuda()


WAITS: dict[str, Callable[[Any], Any]] = {
    "cpu": lambda out: out.cpu(),
    "item": lambda out: out[0, 0].item(),
    "synchronize": lambda out: gw.cuda.synchronize(),
    "the stream": lambda out: gw.cuda.current_stream().synchronize(),
    "print": repr,
}


@pytest.mark.parametrize("name", WAITS)
def test_it_is_raised_where_the_program_waits(lookup: Any, name: str) -> None:
    out = lookup(X.cuda(), indices(1, 7))
    text = raised(lambda: WAITS[name](out))
    assert text == ("index(): index 7 is out of bounds for a dimension of size 5; the tensor is "
                    "float32[5, 4]")
    WAITS[name](out)                            # once
    assert gw.equal(lookup(X.cuda(), indices(0, 4)).cpu(), X[[0, 4]] + 1)


def test_an_event_that_was_waited_for(lookup: Any) -> None:
    done = gw.cuda.Event()
    lookup(X.cuda(), indices(1, 7))
    done.record()
    assert "index 7 is" in raised(done.synchronize)
    lookup(X.cuda(), indices(1, 6))
    done.record()
    with pytest.raises(IndexError, match="index 6 is"):
        while not done.query():
            pass
    lookup(X.cuda(), indices(1, 5))
    with pytest.raises(IndexError, match="index 5 is"):
        while not gw.cuda.current_stream().query():
            pass
    gw.cuda.synchronize()


def test_several_in_flight_of_different_sizes(lookup: Any) -> None:
    """Each keeps the sizes that it was launched with; they are raised one by one."""
    small, long = gw.ones(3, 2).cuda(), gw.ones(100, 2).cuda()
    outs = [lookup(small, indices(5)), lookup(long, indices(99)), lookup(long, indices(200)),
            lookup(small, indices(2))]
    texts = {raised(gw.cuda.synchronize) for _ in range(2)}
    assert texts == {
        f"index(): index {index} is out of bounds for a dimension of size {size}; the tensor is "
        f"float32[{size}, 2]" for index, size in ((5, 3), (200, 100))}
    gw.cuda.synchronize()
    assert gw.equal(outs[1].cpu(), gw.full((1, 2), 2.0))
    assert gw.equal(outs[3].cpu(), gw.full((1, 2), 2.0))


def test_several_graphs_in_flight(lookup: Any) -> None:
    other = gw.compile(lambda x, i: gw.gather(x, 0, i))
    lookup(X.cuda(), indices(7))
    other(X.cuda(), gw.tensor([[8, 1]]).cuda())
    texts = sorted(raised(gw.cuda.synchronize).partition(":")[0] for _ in range(2))
    assert texts == ["gather()", "index()"]
    gw.cuda.synchronize()


def test_the_first_of_two_places_in_a_graph(gpu: Any) -> None:
    compiled = gw.compile(lambda x, i, j: x[i].sum() + gw.gather(x, 1, j).sum())
    given = X.cuda(), indices(1, 6), gw.tensor([[9, 1]]).cuda()
    assert raised(lambda: compiled(*given).cpu()).startswith("index(): index 6 is")
    gw.cuda.synchronize()


def test_other_streams_and_devices_report_their_own(lookup: Any) -> None:
    stream, x = gw.cuda.Stream(), X.cuda()
    gw.cuda.synchronize()
    with gw.cuda.stream(stream):
        lookup(x, indices(7))
    good = lookup(x, indices(1))
    gw.cuda.default_stream().synchronize()
    assert gw.equal(good.cpu(), X[[1]] + 1)
    assert "index 7 is" in raised(stream.synchronize)
    with gw.cuda.device(1):
        lookup(X.to("cuda:1"), gw.tensor([8]).to("cuda:1"))
    gw.cuda.synchronize(0)
    assert "index 8 is" in raised(lambda: gw.cuda.synchronize(1))


def test_a_program_that_has_gone_still_reports(gpu: Any) -> None:
    def run() -> None:
        compiled = gw.compile(lambda x, i: x[i] * 3)
        compiled(X.cuda(), indices(7))

    run()
    gw.compiler.reset()
    gc.collect()
    assert "index 7 is" in raised(gw.cuda.synchronize)


def test_nothing_is_read_or_written_there(gpu: Any) -> None:
    """A write leaves what is in bounds, and the rest as it was."""
    x = gw.zeros(4, device="cuda")
    x.index_put_((indices(1, 90),), gw.ones(2, device="cuda"))
    assert "index 90 is" in raised(gw.cuda.synchronize)
    assert gw.equal(x.cpu(), gw.tensor([0.0, 1.0, 0.0, 0.0])) and not gpu.faults


def test_a_backward_pass(gpu: Any) -> None:
    w, index = gw.ones(5, 4, device="cuda", requires_grad=True), indices(1, 7)
    gw.compile(lambda w, i: gw.nn.functional.embedding(i, w).sum())(w, index).backward()
    assert "index 7 is out of bounds for a dimension of size 5" in raised(lambda: w.grad.cpu())
    while True:                                 # forward and backward have reported it
        try:
            gw.cuda.synchronize()
            return
        except IndexError:
            pass
