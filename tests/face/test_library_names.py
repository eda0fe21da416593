"""Small names of PyTorch's that libraries import, which belong to no larger part."""

from __future__ import annotations

import pickle
import typing
from types import SimpleNamespace
from typing import Any

import pytest

import graphwright as gw
from graphwright import _C, _dynamo, _utils, fx, serialization
from graphwright.compat import functorch
from graphwright.compat.foreach import _group_tensors_by_device_and_dtype
from graphwright.fx.experimental.proxy_tensor import get_proxy_mode, make_fx
from graphwright.fx.graph_module import _CodeOnlyModule, _copy_attr
from graphwright.runtime.fake.fake_tensor import is_fake
from graphwright.runtime.tensor import printing
from graphwright.utils.data.collate import pin_memory
from graphwright.utils.data.fetching import _DatasetKind
from graphwright.utils.data.iterators import _SingleProcessDataLoaderIter


def test_types_of_script_are_names_alone() -> None:
    assert gw.TensorType is _C.TensorType
    with pytest.raises(NotImplementedError, match="no types of TorchScript"):
        gw.TensorType()


def test_how_it_was_built() -> None:
    """Text that says what there is: no CUDA, no MKL."""
    text = gw.__config__.show()
    assert "USE_CUDA=OFF" in text and "CPU capability" in text
    assert str(gw.get_num_threads()) in gw.__config__.parallel_info()


def test_orders_of_bytes_and_packages_of_files() -> None:
    """What this machine has is accepted; the other order and other devices are refused."""
    orders = serialization.LoadEndianness
    assert serialization.get_default_load_endianness() is None
    serialization.set_default_load_endianness(orders.LITTLE)
    assert serialization.get_default_load_endianness() is orders.LITTLE
    serialization.set_default_load_endianness(None)
    with pytest.raises(NotImplementedError, match="little-endian"):
        serialization.set_default_load_endianness(orders.BIG)
    with pytest.raises(TypeError):
        serialization.set_default_load_endianness("little")  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError, match="no devices of third parties"):
        serialization.register_package(1, print, print)
    with pytest.raises(NotImplementedError, match="skip_data"):
        serialization.skip_data().__enter__()


def test_exceptions_for_other_threads() -> None:
    """They are raised again with their type and traceback; RuntimeError for types without text."""
    class Bare(Exception):
        def __init__(self) -> None:
            super().__init__()

    for kind, again in ((KeyError, KeyError), (Bare, RuntimeError)):
        try:
            raise kind("lost") if kind is KeyError else kind()
        except kind:
            kept = _utils.ExceptionWrapper(where="in a worker")
        with pytest.raises(again, match=r"Caught .* in a worker"):
            kept.reraise()


def test_groups_of_tensors() -> None:
    single, double = gw.ones(1), gw.ones(2, dtype=gw.float64)
    found = _group_tensors_by_device_and_dtype([[single, double], [None, double]], True)
    lists, places = found[gw.device("cpu"), gw.float64]
    assert places == [1] and lists[0][0] is double and lists[1][0] is double
    with pytest.raises(ValueError, match="zip"):
        _group_tensors_by_device_and_dtype([[single], []])


def test_a_warning_comes_once() -> None:
    with pytest.warns(UserWarning, match="once, for this test"):
        _dynamo.warn_once("once, for this test")
    _dynamo.warn_once("once, for this test")


def test_graph_modules_without_the_graph_at_first() -> None:
    """A subclass may skip GraphModule's own initialiser and copy what its graphs name."""
    class Two(fx.GraphModule):
        def __init__(self, root: Any, graph: fx.Graph) -> None:
            super(fx.GraphModule, self).__init__()
            for node in graph.nodes:
                if node.op == "call_module":
                    _copy_attr(root, self, str(node.target))
            self.graph = graph

    model = gw.nn.Sequential(gw.nn.Linear(2, 3), gw.nn.ReLU())
    module = Two(model, fx.symbolic_trace(model).graph)
    x = gw.randn(4, 2)
    assert gw.equal(module(x), model(x)) and module.get_submodule("0") is model[0]
    holder = _CodeOnlyModule(dict(model.__dict__))
    assert [name for name, _ in holder.named_children()] == ["0", "1"]


def test_annotations_of_modules_are_evaluated() -> None:
    """Libraries ask for them with the globals of their own."""
    hints = typing.get_type_hints(gw.nn.CrossEntropyLoss(), globalns={})
    assert hints["training"] is bool


def test_loaders_of_other_libraries_are_gone_through() -> None:
    """The iterators take what has a loader's attributes, as fastai's does."""
    loader = gw.utils.data.DataLoader([1, 2, 3], batch_size=2)
    stand_in = SimpleNamespace(
        dataset=loader, generator=None, drop_last=False, collate_fn=lambda x: x,
        _dataset_kind=_DatasetKind.Iterable, _auto_collation=False, _index_sampler=range(9),
    )  # fmt: skip
    batches = list(_SingleProcessDataLoaderIter(stand_in))  # type: ignore[arg-type]
    assert [batch.tolist() for batch in batches] == [[1, 2], [3]]
    assert loader._dataset_kind == _DatasetKind.Map


def test_values_as_text() -> None:
    assert printing._tensor_str(gw.tensor([[1, 2], [3, 4]]), indent=1) == "[[1, 2],\n  [3, 4]]"
    assert printing.PRINT_OPTS.threshold == 1000


def test_levels_of_vmap_by_functorch_names() -> None:
    """Of an example: that it is one, its level, and the tensor of all examples below."""
    seen: list[Any] = []

    def look(x: Any) -> Any:
        seen.append((functorch.is_batchedtensor(x), functorch.maybe_get_level(x),
                     functorch.maybe_get_bdim(x), functorch.get_unwrapped(x).shape,
                     _C._are_functorch_transforms_active()))
        return x * 2

    x = gw.ones(3, 2)
    gw.vmap(look)(x)
    assert seen == [(True, 1, 0, (3, 2), True)]
    assert not functorch.is_batchedtensor(x) and functorch.get_unwrapped(x) is x
    assert functorch.maybe_current_level() is None and functorch.maybe_get_level(x) == -1


def test_random_points_of_dirichlet_distributions() -> None:
    points = gw._sample_dirichlet(gw.ones(5, 3))
    gw.testing.assert_close(points.sum(-1), gw.ones(5))
    assert (gw._standard_gamma(gw.full((4,), 2.0)) > 0).all()


@pytest.mark.usefixtures("no_gpu")
def test_what_is_beside_the_op_table_in_aten() -> None:
    """A conversion copies; what needs absent devices or sparse tensors is refused in a call."""
    aten, x = gw.ops.aten, gw.ones(2)
    copy = aten._to_copy.default(x)
    assert copy is not x and gw.equal(copy, x)
    assert aten._to_copy(x, dtype=gw.int64).dtype is gw.int64
    assert aten._foreach_add.default([x], 1)[0].tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="no ACCELERATOR devices"):
        aten._pin_memory.default(x)
    with pytest.raises(NotImplementedError, match="no sparse tensors"):
        aten._sparse_addmm.default(x, x, x)
    with pytest.raises(TypeError, match="no sparse or nested tensors"):
        gw.zeros(2, layout=gw.sparse_coo)


@pytest.mark.usefixtures("no_gpu")
def test_names_of_what_is_absent() -> None:
    assert not gw.distributed.rpc.is_available()
    assert get_proxy_mode() is None
    with pytest.raises(NotImplementedError, match="symbolic_trace"):
        make_fx(lambda x: x)
    with pytest.raises(RuntimeError, match="needs an accelerator"):
        pin_memory(gw.ones(1))
    assert is_fake(gw.ones(1)) is False


def test_dtypes_that_are_names_alone() -> None:
    """They compare, are keys, and are refused where a tensor would get them; no break."""
    for absent in (gw.complex32, gw.float4_e2m1fn_x2):
        assert pickle.loads(pickle.dumps(absent)) is absent and absent != gw.float32
        with pytest.raises(TypeError, match="dtype"):
            gw.zeros(2, dtype=absent)
        with pytest.raises(TypeError, match="dtype"):
            gw.ones(2).to(absent)
    sizes = {gw.complex32: 4, gw.float32: 2}
    compiled = gw.compile(lambda x: x * sizes.get(x.dtype, 1) * (x.dtype != gw.complex32),
                          fullgraph=True)
    assert compiled(gw.ones(2)).tolist() == [2.0, 2.0]


def test_operands_of_einsum_in_one_list_ask_classes() -> None:
    """Whether given one by one or in a list: the call is recorded with each of them."""
    graph = fx.Graph()
    tracer = fx.Tracer()
    x, y = (fx.Proxy(graph.placeholder(name), tracer) for name in "xy")
    tracer.graph = graph
    made = gw.einsum("i,i", [x, y])
    assert made.node.args == ("i,i", x.node, y.node)
    a = gw.arange(3.0)
    assert gw.einsum("i,i", [a, a]).item() == gw.einsum(a, [0], a, [0]).item() == 5.0


@pytest.mark.parametrize("device", ["mps", "xpu", "hpu"])
def test_autocast_of_devices_that_do_not_exist(device: str) -> None:
    """It is off; switching it on warns and leaves it off."""
    assert not gw.is_autocast_enabled(device)
    assert gw.get_autocast_dtype(device) is (gw.bfloat16 if device == "hpu" else gw.float16)
    with pytest.warns(UserWarning, match="Disabling"), gw.autocast(device):
        assert (gw.ones(1, 1) @ gw.ones(1, 1)).dtype is gw.float32


def test_bases_of_layers() -> None:
    modules = gw.nn.modules
    assert issubclass(gw.nn.ReflectionPad2d, modules.padding._ReflectionPadNd)
    assert not issubclass(gw.nn.ReflectionPad2d, modules.padding._ConstantPadNd)
    assert issubclass(gw.nn.AdaptiveAvgPool2d, modules.pooling._AdaptiveAvgPoolNd)
    assert not issubclass(gw.nn.AdaptiveMaxPool2d, modules.pooling._AdaptiveAvgPoolNd)
