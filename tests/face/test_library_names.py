"""Small names of PyTorch's that libraries import, which belong to no larger part."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw
from graphwright import _C, _dynamo, _utils, fx
from graphwright.fx.graph_module import _CodeOnlyModule, _copy_attr
from graphwright.runtime import serialization
from graphwright.runtime.foreach import _group_tensors_by_device_and_dtype


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
