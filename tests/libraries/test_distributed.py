"""distributed: groups of one process, what it does together with itself, and what needs more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import graphwright as gw
import graphwright.distributed as dist
from graphwright.nn.parallel import DistributedDataParallel
from graphwright.utils.data import DataLoader, DistributedSampler, TensorDataset


@pytest.fixture
def group() -> Iterator[None]:
    dist.init_process_group("gloo", world_size=1, rank=0)
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


# Groups


def test_a_group_of_this_process() -> None:
    assert dist.is_available() and not dist.is_initialized() and dist.group.WORLD is None
    dist.init_process_group("gloo", "tcp://localhost:1", world_size=1, rank=0)
    assert dist.is_initialized() and isinstance(dist.group.WORLD, dist.ProcessGroup)
    assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (0, 1, "gloo")
    assert dist.GroupMember.WORLD is dist.group.WORLD and dist.group.WORLD.size() == 1
    with pytest.raises(ValueError, match="twice"):
        dist.init_process_group("gloo", world_size=1, rank=0)
    dist.destroy_process_group()
    assert not dist.is_initialized()


@pytest.mark.parametrize("ask", [
    dist.get_rank, dist.get_world_size, dist.get_backend, dist.barrier, dist.new_group,
    lambda: dist.all_reduce(gw.ones(1)), lambda: dist.all_gather_object([None], 1),
    lambda: dist.send(gw.ones(1), 0), lambda: dist.nn.functional.all_reduce(gw.ones(1)),
    lambda: DistributedSampler(range(3)), lambda: DistributedDataParallel(gw.nn.Linear(1, 1)),
])  # fmt: skip
def test_without_a_group_there_is_none_to_ask(ask: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        ask()


@pytest.mark.parametrize(("backend", "name"), [
    (None, "single"), ("single", "single"), ("GLOO", "gloo"), ("mpi", "mpi"),
    ("cpu:gloo,cuda:nccl", "gloo"),
])  # fmt: skip
def test_names_of_the_one_backend(backend: str | None, name: str) -> None:
    dist.init_process_group(backend, world_size=1, rank=0)
    assert dist.get_backend() == name and dist.is_backend_available(name)
    dist.destroy_process_group()


@pytest.mark.parametrize(("arguments", "error", "message"), [
    ({"backend": "nccl"}, RuntimeError, "NCCL built in: it needs an accelerator"),
    ({"backend": "no"}, AssertionError, "Unknown backend type no"),
    ({"world_size": 4, "rank": 2}, RuntimeError, "one process: .* world_size=4, rank=2 cannot"),
    ({"world_size": 1, "rank": 1}, RuntimeError, "only one of world_size=1, rank=0"),
    ({"rank": -1}, ValueError, "environment variable RANK expected, but not set"),
    ({"world_size": -1, "init_method": "tcp://a:1"}, ValueError, "world_size is missing"),
])  # fmt: skip
def test_groups_that_cannot_be_made(
    arguments: dict[str, Any], error: type[Exception], message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(error, match=message):
        dist.init_process_group(**{"world_size": 1, "rank": 0, **arguments})
    assert not dist.is_initialized()


def test_a_launcher_s_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not dist.is_torchelastic_launched()
    with pytest.raises(RuntimeError, match="LOCAL_RANK"):
        dist.get_node_local_rank()
    for name, value in (("RANK", "0"), ("LOCAL_RANK", "0"), ("WORLD_SIZE", "1"),
                        ("TORCHELASTIC_RUN_ID", "a")):
        monkeypatch.setenv(name, value)
    dist.init_process_group()
    assert dist.get_world_size() == 1 and dist.get_node_local_rank() == 0
    assert dist.is_torchelastic_launched()
    dist.destroy_process_group()
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(RuntimeError, match="world_size=2"):
        dist.init_process_group()


def test_further_groups(group: None) -> None:
    own = dist.new_group([0], backend="single")
    assert (dist.get_rank(own), dist.get_world_size(own)) == (0, 1)
    assert dist.get_backend(own) == "single"
    assert dist.get_process_group_ranks(own) == [0] and dist.get_global_rank(own, 0) == 0
    assert dist.get_backend(dist.new_group()) == "gloo" and dist.get_pg_count() == 3
    for refused in (lambda: dist.new_group([0, 1]), lambda: dist.get_global_rank(own, 1)):
        with pytest.raises(ValueError, match=r"one process|not part of group"):
            refused()
    assert dist.get_rank(dist.GroupMember.NON_GROUP_MEMBER) == -1
    dist.destroy_process_group(own)
    with pytest.raises(ValueError, match="Invalid process group"):
        dist.get_rank(own)
    with pytest.raises(AssertionError):
        dist.destroy_process_group()
        dist.destroy_process_group()


# Collectives


def collected() -> dict[str, Any]:
    """What each collective leaves, of x = [0, 1, 2]."""
    x = gw.arange(3.0)
    outs = {name: gw.zeros(3) for name in ("gathered", "reduced", "scattered", "sent", "single")}
    flat, part = gw.zeros(3), gw.zeros(3)
    dist.all_reduce(x)
    dist.all_reduce(x, op=dist.ReduceOp.AVG)
    dist.reduce(x, 0, dist.ReduceOp.MAX)
    dist.broadcast(x, src=0)
    dist.all_gather([outs["gathered"]], x)
    dist.all_gather_into_tensor(flat, x)
    dist.reduce_scatter(outs["reduced"], [x])
    dist.reduce_scatter_tensor(part, x)
    dist.scatter(outs["scattered"], [x], src=0)
    dist.all_to_all([outs["sent"]], [x])
    dist.all_to_all_single(outs["single"], x, [3], [3])
    last = [gw.zeros(3)]
    dist.gather(x, last, dst=0)
    return {"x": x, "flat": flat, "part": part, "last": last[0], **outs}


def test_collectives_leave_what_they_are_given(group: None) -> None:
    for name, tensor in collected().items():
        assert tensor.tolist() == [0, 1, 2], name


def test_work_is_done_when_it_is_asked_for(group: None) -> None:
    x, out = gw.ones(2), gw.zeros(2)
    work = dist.all_gather([out], x, async_op=True)
    assert isinstance(work, dist.Work) and work.wait() and work.is_completed()
    assert work.result()[0] is out and work.exception() is None and out.tolist() == [1, 1]
    assert dist.barrier() is None and dist.barrier(async_op=True).wait()  # type: ignore[union-attr]
    assert dist.all_reduce(x, async_op=False) is None


def test_objects_arrive_as_copies(group: None) -> None:
    given = {"a": [1], "t": gw.ones(2)}
    gathered, scattered, there = [None], [None], [given]
    dist.all_gather_object(gathered, given)
    dist.scatter_object_list(scattered, [given], src=0)
    dist.broadcast_object_list(there, src=0)
    for got in (gathered[0], scattered[0]):
        assert got is not given and got["a"] == [1] and got["t"].tolist() == [1, 1]  # type: ignore[index]
    assert there[0] is given
    last: list[Any] = [None]
    dist.gather_object(5, last)
    assert last == [5]


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda x: dist.all_reduce([x]), TypeError, "Expected parameter `tensor`"),
    (lambda x: dist.all_reduce(x, "sum"), TypeError, "expected a ReduceOp, got str"),
    (lambda x: dist.all_gather([], x), RuntimeError, "list of 1 tensor, got 0"),
    (lambda x: dist.all_gather([x, x], x), RuntimeError, "list of 1 tensor, got 2"),
    (lambda x: dist.all_gather([gw.ones(2)], x), RuntimeError, "invalid tensor size"),
    (lambda x: dist.all_gather([x.to(gw.int64)], x), ValueError, "different dtypes"),
    (lambda x: dist.all_gather_into_tensor(gw.ones(4), x), RuntimeError, "invalid tensor size"),
    (lambda x: dist.broadcast(x, 1), RuntimeError, "invalid root rank: 1"),
    (lambda x: dist.reduce(x, 2), RuntimeError, "invalid root rank: 2"),
    (lambda x: dist.gather(x), ValueError, "gather_list"),
    (lambda x: dist.scatter(x), ValueError, "scatter_list"),
    (lambda x: dist.all_to_all_single(x, x, [1, 2]), RuntimeError, "among 1 process"),
    (lambda x: dist.all_gather_object([None], (i for i in "a")), TypeError, "cannot pickle"),
    (lambda x: dist.send(x, 0), ValueError, "cannot send to or receive from itself"),
    (lambda x: dist.irecv(x), ValueError, "irecv: there is one process"),
])  # fmt: skip
def test_what_collectives_refuse(
    call: Callable[[gw.Tensor], Any], error: type[Exception], message: str, group: None
) -> None:
    with pytest.raises(error, match=message):
        call(gw.arange(3.0))


def test_gradients_pass_through_the_functional_forms(group: None) -> None:
    functional = dist.nn.functional
    x = gw.ones(2, requires_grad=True)
    results = [
        functional.all_reduce(x), functional.reduce(x), functional.broadcast(x),
        *functional.all_gather(x), *functional.gather(x), functional.scatter([x]),
        functional.reduce_scatter(gw.zeros(2), [x]), *functional.all_to_all([gw.zeros(2)], [x]),
        functional.all_to_all_single(gw.zeros(2), x),
    ]  # fmt: skip
    sum(results).sum().backward()  # type: ignore[union-attr]
    assert x.grad is not None and x.grad.tolist() == [9, 9]
    plain = gw.zeros(2)
    dist.all_gather([plain], x)
    assert not plain.requires_grad


def test_collectives_are_no_graph_breaks(group: None) -> None:
    @gw.compile(fullgraph=True)
    def step(x: gw.Tensor) -> gw.Tensor:
        loss = (x * 2).sum()
        if dist.is_initialized() and dist.get_world_size() == 1:
            dist.all_reduce(loss, op=dist.ReduceOp.SUM)
        return loss

    assert step(gw.ones(3)) == 6


# Training


def test_a_wrapped_module_trains_as_it_is(group: None) -> None:
    gw.manual_seed(0)
    module = gw.nn.Sequential(gw.nn.Linear(2, 2), gw.nn.BatchNorm1d(2))
    wrapped = DistributedDataParallel(module, find_unused_parameters=True)
    assert list(wrapped.state_dict()) == [f"module.{name}" for name in module.state_dict()]
    x = gw.randn(4, 2)
    with wrapped.no_sync():
        assert not wrapped.require_backward_grad_sync
        wrapped(x).sum().backward()
    assert wrapped.require_backward_grad_sync and wrapped.module is module
    assert all(parameter.grad is not None for parameter in module.parameters())
    gw.testing.assert_close(gw.compile(wrapped, fullgraph=True)(x), wrapped(x))
    with wrapped.join():
        pass
    with pytest.raises(RuntimeError, match="do not travel"):
        wrapped.register_comm_hook(None, lambda state, bucket: bucket)
    with pytest.raises(RuntimeError, match="any parameter that requires a gradient"):
        DistributedDataParallel(gw.nn.ReLU())
    with pytest.raises(ValueError, match="for modules on GPUs"):
        DistributedDataParallel(module, device_ids=[0])


def test_a_sampler_asks_the_group(group: None) -> None:
    dataset = TensorDataset(gw.arange(5))
    sampler = DistributedSampler(dataset, shuffle=False)
    assert (sampler.num_replicas, sampler.rank, list(sampler)) == (1, 0, [0, 1, 2, 3, 4])
    batches = DataLoader(dataset, batch_size=5, sampler=sampler, num_workers=1)
    assert [batch.tolist() for (batch,) in batches] == [[0, 1, 2, 3, 4]]


# What needs several processes


def test_names_of_several_processes_say_so_when_used() -> None:
    from like_torch.distributed.algorithms.join import Join
    from like_torch.distributed.checkpoint.state_dict import get_model_state_dict
    from like_torch.distributed.fsdp.api import StateDictType
    from like_torch.distributed.fsdp.fully_sharded_data_parallel import ShardingStrategy

    from graphwright.distributed.fsdp import FullyShardedDataParallel as FSDP
    from graphwright.distributed.tensor import DTensor, distribute_tensor

    assert not isinstance(gw.ones(1), DTensor) and not issubclass(gw.nn.Linear, FSDP)
    for used in (FSDP, Join, get_model_state_dict, distribute_tensor, dist.init_device_mesh,
                 dist.TCPStore):
        with pytest.raises(RuntimeError, match=f"{used.__name__} .* trains in one process"):
            used(gw.nn.Linear(1, 1))
    for kind in (ShardingStrategy, StateDictType):
        with pytest.raises(AttributeError, match=f"{kind.__name__}.FULL: .* in one process"):
            _ = kind.FULL
    with pytest.raises(ImportError, match="no_such_name"):
        from graphwright.distributed.fsdp import no_such_name  # noqa: F401
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        _ = dist.no_such_name


def test_placements_are_plain_values() -> None:
    from like_torch.distributed.tensor.placement_types import Partial, Replicate, Shard

    assert Shard(0) == Shard(0) != Shard(1) and Shard(1).is_shard(1) and not Shard(1).is_shard(0)
    assert Replicate().is_replicate() and Partial().is_partial("sum")
    assert not Replicate().is_shard() and not Shard(0).is_partial()


def test_modules_by_their_other_names() -> None:
    from like_torch.distributed._functional_collectives import wait_tensor
    from like_torch.distributed.constants import default_pg_timeout
    from like_torch.distributed.distributed_c10d import ReduceOp

    from graphwright.multiprocessing.spawn import ProcessRaisedException
    from graphwright.nn.parallel.distributed import DistributedDataParallel as same

    assert default_pg_timeout.total_seconds() == 1800 and ReduceOp is dist.ReduceOp
    assert same is DistributedDataParallel and ReduceOp.RedOpType.SUM is ReduceOp.SUM  # type: ignore[attr-defined]
    assert wait_tensor(x := gw.ones(1)) is x
    assert callable(gw.multiprocessing.spawn)
    assert gw.multiprocessing.ProcessRaisedException is ProcessRaisedException
