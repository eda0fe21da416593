"""Parameters that compiled graphs keep packed: results are those of the values that they have."""

from __future__ import annotations

import copy
import gc
import io
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn
from graphwright.runtime import _core

K, N = 96, 80
ROWS = (1, 2, 3, 5, 8, 16, 40)


@pytest.fixture(autouse=True)
def no_packs_before() -> Iterator[None]:
    gc.collect()
    gw.empty_cache()
    yield
    gw.set_num_threads(2)


def counts() -> dict[str, int]:
    return _core.packed_weights()


def layer(bias: bool = True) -> nn.Linear:
    gw.manual_seed(0)
    return nn.Linear(K, N, bias=bias)


def compiled_layer(model: nn.Module, **options: Any) -> Callable[[gw.Tensor], gw.Tensor]:
    """The model as a compiled function for inference."""
    @gw.compile(options=options)
    def run(x: gw.Tensor) -> gw.Tensor:
        out: gw.Tensor = model(x)
        return out

    def call(x: gw.Tensor) -> gw.Tensor:
        with gw.no_grad():
            return run(x)
    return call


def check(run: Callable[[gw.Tensor], gw.Tensor], model: nn.Linear, rows: int = 5) -> None:
    """The compiled result is that of the values which the weight has now."""
    x = gw.randn(rows, K)
    with gw.no_grad():
        expected = x.double() @ model.weight.double().t()
        expected = expected + model.bias.double() if model.bias is not None else expected
    assert np.abs(run(x).double().numpy() - expected.numpy()).max() < 1e-4


@pytest.mark.parametrize("rows", ROWS)
def test_a_weight_is_packed_at_its_first_use_and_found_again(rows: int) -> None:
    model = layer()
    run = compiled_layer(model)
    made = counts()["made"]
    x = gw.randn(rows, K)
    first = run(x).numpy().tobytes()
    assert counts()["made"] == made + 1 and counts()["count"] == 1
    assert {run(x).numpy().tobytes() for _ in range(3)} == {first}
    assert counts()["made"] == made + 1
    check(run, model, rows)


def test_bits_depend_neither_on_threads_nor_on_other_rows() -> None:
    model = nn.Linear(700, 300)
    run = compiled_layer(model)
    x = gw.randn(130, 700)
    results = []
    for threads in (1, 2, 1):
        gw.set_num_threads(threads)
        results.append(run(x).numpy().tobytes())
    assert len(set(results)) == 1
    assert run(x[7:9]).numpy().tobytes() == run(x)[7:9].numpy().tobytes()


@pytest.mark.parametrize("groups", [1, 2, 32])
def test_convolutions_keep_their_weights_packed(groups: int) -> None:
    model = nn.Conv2d(32, 64 if groups < 32 else 32, 6, groups=groups)
    run, x = compiled_layer(model), gw.randn(2, 32, 9, 8)
    made = counts()["made"]
    for _ in range(3):
        with gw.no_grad():
            model.weight.mul_(2)
            run(x)
            expected = gw.conv2d(x.double(), model.weight.double(), model.bias.double(),
                                 groups=groups)
        assert np.abs(run(x).numpy() - expected.numpy()).max() < 2e-3
    assert counts()["made"] == made + 3 and counts()["count"] == 1
    lent = model.weight.detach().numpy()
    lent[:] = 0
    assert (run(x).numpy() == run(gw.zeros(2, 32, 9, 8)).numpy()).all()


# ---- mutation ----

def optimiser_step(model: nn.Linear) -> None:
    optimiser = gw.optim.AdamW(model.parameters(), lr=0.1)
    model(gw.randn(4, K)).square().sum().backward()
    optimiser.step()


def compiled_step(model: nn.Linear) -> None:
    optimiser = gw.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    @gw.compile
    def step(x: gw.Tensor) -> None:
        optimiser.zero_grad()
        model(x).square().sum().backward()
        optimiser.step()

    step(gw.randn(4, K))


def compiled_write(model: nn.Linear) -> None:
    @gw.compile
    def double(w: gw.Tensor) -> None:
        w.mul_(2)

    with gw.no_grad():
        double(model.weight)


def give_data(model: nn.Linear) -> None:
    model.weight.data = gw.randn(N, K)


def through_file(model: nn.Linear) -> None:
    file = io.BytesIO()
    gw.save(layer().state_dict(), file)
    file.seek(0)
    model.load_state_dict(gw.load(file))


def assign_state(model: nn.Linear) -> None:
    model.load_state_dict(nn.Linear(K, N).state_dict(), assign=True)


def set_memory(model: nn.Linear) -> None:
    model.weight.requires_grad_(False)
    model.weight.set_(gw.randn(N, K))


def resize(model: nn.Linear) -> None:
    model.weight.requires_grad_(False)
    model.weight.resize_(N + 1, K).normal_()
    model.weight.resize_(N, K)


def through_numpy(model: nn.Linear) -> None:
    model.weight.detach().numpy()[3] = 7


def through_dlpack(model: nn.Linear) -> None:
    np.from_dlpack(model.weight.detach())[5] = 3


def through_capsule(model: nn.Linear) -> None:
    gw.utils.dlpack.from_dlpack(gw.utils.dlpack.to_dlpack(model.weight.detach())).fill_(2)


def through_address(model: nn.Linear) -> None:
    import ctypes
    place = (ctypes.c_float * (N * K)).from_address(model.weight.data_ptr())
    place[0] = 10.0


def through_storage(model: nn.Linear) -> None:
    model.weight.untyped_storage()[0:4].fill_(0)


def new_parameter(model: nn.Linear) -> None:
    model.weight = nn.Parameter(gw.randn(N, K))


untyped: Any = gw
MUTATIONS: list[Callable[[nn.Linear], Any]] = [
    lambda m: m.weight.mul_(2), lambda m: m.weight.copy_(gw.randn(N, K)),
    lambda m: m.weight.zero_(), lambda m: m.weight.fill_(0.5), lambda m: m.weight.normal_(),
    lambda m: m.weight.uniform_(), lambda m: m.weight.add_(gw.ones(N, K)),
    lambda m: m.weight.__setitem__(3, 9.0), lambda m: m.weight[2:4].add_(1),
    lambda m: m.weight.t()[:, 1].zero_(), lambda m: m.weight.view(-1)[::7].sub_(1),
    lambda m: m.weight.detach().mul_(3), lambda m: m.weight.data.mul_(3),
    lambda m: m.weight.data[1:3].copy_(gw.ones(2, K)), lambda m: m.weight.data.numpy().fill(4),
    lambda m: m.weight.masked_fill_(m.weight > 0, -1.0),
    lambda m: m.weight.index_copy_(0, gw.tensor([4]), gw.ones(1, K)),
    lambda m: m.weight.index_add_(0, gw.tensor([4]), gw.ones(1, K)),
    lambda m: m.weight.scatter_(0, gw.zeros(1, K, dtype=gw.int64), 2.0),
    lambda m: m.weight.index_put_((gw.tensor([4]),), gw.tensor(3.0)),
    lambda m: gw.add(m.weight, 1, out=m.weight), lambda m: gw.nn.init.xavier_uniform_(m.weight),
    lambda m: untyped._foreach_mul_([m.weight], 2.0), lambda m: m.weight.clamp_(min=0),
    lambda m: m.half().float(), lambda m: m.weight.share_memory_().mul_(2),
    lambda m: gw.nn.utils.vector_to_parameters(gw.ones(N * K + N), m.parameters()),
    give_data, through_file, assign_state, set_memory, resize, through_numpy, through_dlpack,
    through_capsule, through_address, through_storage, new_parameter,
]


@pytest.mark.parametrize("before", [False, True], ids=["fresh", "lent before"])
@pytest.mark.parametrize("mutate", MUTATIONS, ids=range(len(MUTATIONS)))
def test_writes_are_seen(mutate: Callable[[nn.Linear], Any], before: bool) -> None:
    model = layer()
    held = model.weight.data if before else None
    run = compiled_layer(model)
    check(run, model)
    for _ in range(2):
        with gw.no_grad():
            mutate(model)
        check(run, model)
        check(run, model)
    del held
    check(run, model)


@pytest.mark.parametrize("train", [optimiser_step, compiled_step, compiled_write])
def test_training_between_calls(train: Callable[[nn.Linear], None]) -> None:
    model = layer()
    run = compiled_layer(model)
    for _ in range(3):
        check(run, model)
        train(model)
    check(run, model)


def test_arrays_that_are_held_are_written_at_any_time() -> None:
    model = layer()
    run = compiled_layer(model)
    check(run, model)
    array = model.weight.detach().numpy()
    alias = model.weight.data
    assert not _core.writes_are_counted(model.weight)
    for value in (1, 2, 3):
        array[:] = value
        check(run, model)
        alias.mul_(2)
        check(run, model)
    assert counts()["count"] == 0
    part = array[2:]
    del array, alias
    part[:] = 9
    check(run, model)
    del part
    assert _core.writes_are_counted(model.weight)
    check(run, model)
    assert counts()["count"] == 1


def test_memory_of_arrays_is_packed_once_they_are_gone() -> None:
    array = np.random.default_rng(0).standard_normal((N, K)).astype("f")
    model = nn.Linear(K, N)
    model.weight = nn.Parameter(gw.from_numpy(array))
    run = compiled_layer(model)
    for value in (1, 2):
        check(run, model)
        array[:] = value
    assert counts()["count"] == 0
    del array
    check(run, model)
    assert counts()["count"] == 1


def test_an_address_that_was_handed_out_is_never_taken_back() -> None:
    model = layer()
    run = compiled_layer(model)
    model.weight.data.data_ptr()
    check(run, model)
    assert counts()["count"] == 0 and not _core.writes_are_counted(model.weight)


def test_packs_end_with_their_weights() -> None:
    model = layer()
    run = compiled_layer(model)
    check(run, model)
    held = gw.memory_stats()["packed_weights"]
    assert held >= 4 * N * K
    copied = copy.deepcopy(model)
    model.weight = nn.Parameter(copied.weight.detach())
    gc.collect()
    assert counts()["count"] == 0 and gw.memory_stats()["packed_weights"] == 0
    check(run, model)


def test_two_layouts_of_one_weight() -> None:
    weight = nn.Parameter(gw.randn(K, K))

    @gw.compile
    def run(x: gw.Tensor) -> tuple[gw.Tensor, gw.Tensor, gw.Tensor]:
        return x @ weight, x @ weight.t(), x[:, :40] @ weight[8:48]

    x = gw.randn(6, K)
    for _ in range(2):
        with gw.no_grad():
            found = run(x)
            expected = [x @ weight, x @ weight.t(), x[:, :40] @ weight[8:48]]
            assert all(gw.allclose(a, b, atol=1e-4) for a, b in zip(found, expected, strict=True))
            assert counts()["count"] == 3
            weight.mul_(2)


def test_a_graph_that_writes_a_view_of_its_weight() -> None:
    weight = nn.Parameter(gw.randn(K, K))
    view = weight.detach()[3:5]

    @gw.compile
    def run(x: gw.Tensor) -> tuple[gw.Tensor, gw.Tensor]:
        before = x @ weight
        view.mul_(2)
        return before, x @ weight

    x = gw.randn(6, K)
    for _ in range(3):
        with gw.no_grad():
            before = x @ weight
            found = run(x)
            assert gw.allclose(found[0], before, atol=1e-4)
            assert gw.allclose(found[1], x @ weight, atol=1e-4)
            assert not gw.allclose(found[0], found[1], atol=1e-2)


# ---- budgets, threads, processes ----

def test_a_graph_packs_no_more_than_its_option_says() -> None:
    model = nn.Sequential(nn.Linear(K, K), nn.Linear(K, K), nn.Linear(K, K))
    x = gw.randn(4, K)
    with gw.no_grad():
        expected = model(x)
    for option, packed in ((0, 0), (False, 0), (8 * K * K, 2), ("auto", 3)):
        run = compiled_layer(model, packed_weights=option)
        for _ in range(2):
            assert gw.allclose(run(x), expected, atol=1e-5)
        assert counts()["count"] == packed
        gw.empty_cache()


@pytest.mark.parametrize("value", ["always", -1, True, 1.5])
def test_values_of_the_option(value: Any) -> None:
    with pytest.raises(ValueError, match='packed_weights must be "auto", False or a number'):
        gw.compile(lambda x: x, options={"packed_weights": value})


def test_an_exhausted_budget() -> None:
    models = [layer() for _ in range(3)]
    runs = [compiled_layer(model) for model in models]
    check(runs[0], models[0])
    size = gw.memory_stats()["packed_weights"]
    before = _core.set_packed_weights_limit(2 * size)
    try:
        for _ in range(2):
            for run, model in zip(runs, models, strict=True):
                check(run, model)
                with gw.no_grad():
                    model.weight.mul_(1.5)
        assert counts()["count"] == 2 and gw.memory_stats()["packed_weights"] == 2 * size
        _core.set_packed_weights_limit(0)
        assert counts()["count"] == 0
        check(runs[0], models[0])
    finally:
        _core.set_packed_weights_limit(before)
    assert counts()["refused"] > 0


def test_what_is_not_used_for_long_makes_room() -> None:
    first, second = layer(), layer()
    runs = compiled_layer(first), compiled_layer(second)
    check(runs[0], first)
    before = _core.set_packed_weights_limit(gw.memory_stats()["packed_weights"])
    try:
        x = gw.randn(2, K)
        made = counts()["made"]
        for _ in range(1100):
            runs[1](x)
        assert counts()["made"] == made + 1 and counts()["count"] == 1
        check(runs[0], first)
        check(runs[1], second)
    finally:
        _core.set_packed_weights_limit(before)


def test_no_packs_where_gradients_are_recorded_or_packages_are_matched() -> None:
    model = layer()
    compiled = gw.compile(model)
    compiled(gw.randn(4, K)).sum().backward()
    check(compiled_layer(model, blas=False), model)
    assert counts()["count"] == 0


def test_calls_while_other_threads_write() -> None:
    model = nn.Linear(300, 400, bias=False)
    nn.init.ones_(model.weight)
    run = compiled_layer(model)
    x = gw.ones(8, 300)
    stop = threading.Event()
    wrong: list[float] = []

    def read() -> None:
        while not stop.is_set():
            result = run(x).numpy()
            if not 0 <= result.min() <= result.max() <= 300 * 64:
                wrong.append(float(result.max()))

    def write() -> None:
        for value in range(200):
            with gw.no_grad():
                model.weight.fill_(float(value % 64))

    threads = [threading.Thread(target=read) for _ in range(2)]
    writer = threading.Thread(target=write)
    for thread in (*threads, writer):
        thread.start()
    writer.join()
    with gw.no_grad():
        model.weight.fill_(3.0)
    assert run(x).eq(900.0).all()
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong and run(x).eq(900.0).all()


def test_fork() -> None:
    model = layer()
    run = compiled_layer(model)
    check(run, model)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            check(run, model)
            with gw.no_grad():
                model.weight.mul_(2)
            check(run, model)
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    check(run, model)


def test_explain_and_memory_statistics_tell() -> None:
    model = layer()
    with gw.no_grad():
        found = gw.explain(model)(gw.randn(4, K))
    assert ", 1 packed weight of 0.0 MB" in str(found)
    graphs = [graph for frame in found.to_dict()["frames"] for graph in frame["graphs"]]
    assert [g["packed_weights"]["count"] for g in graphs] == [1]
    assert gw.memory_stats()["packed_weights_limit"] > 0
    gw.empty_cache()
    assert gw.memory_stats()["packed_weights"] == 0
