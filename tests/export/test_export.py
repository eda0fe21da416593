"""What `gw.export.export` records: graphs, state, sizes, training steps; and what it refuses."""

from __future__ import annotations

import copy
import io
import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn
from graphwright.export import (
    Dim,
    ExportedProgram,
    ExportError,
    InputKind,
    dims,
    export,
    load,
    save,
)


class Block(nn.Module):
    """A block of a transformer."""

    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm, self.heads = nn.LayerNorm(width), heads
        self.mlp = nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, width))
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Any, scale: float = 1.0) -> dict[str, Any]:
        batch, length, width = x.shape
        parts = self.qkv(self.norm(x)).reshape(batch, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width)) * scale
        x = x + self.drop(self.mlp(x))
        return {"x": x, "last": [x[:, -1], None], "width": width}


class Net(nn.Module):
    """A small network with state that training writes."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4)
        self.fc = nn.Linear(4 * 6 * 6, 10)
        self.register_buffer("scale", gw.tensor(2.0), persistent=False)

    def forward(self, x: Any) -> Any:
        x = gw.relu(self.norm(self.conv(x))) * self.scale
        return self.fc(x.flatten(1))


def again(program: ExportedProgram) -> ExportedProgram:
    """The program after a file."""
    file = io.BytesIO()
    save(program, file)
    return load(file.getvalue())


def alike(found: Any, wanted: Any) -> None:
    leaves, structure = gw.utils._pytree.tree_flatten(found)
    other, wanted_structure = gw.utils._pytree.tree_flatten(wanted)
    assert structure == wanted_structure
    for a, b in zip(leaves, other, strict=True):
        assert gw.equal(a, b) if isinstance(b, gw.Tensor) else a == b


def test_a_module_that_was_never_run_compiles_as_one_graph() -> None:
    module = export(lambda x: gw.erfinv(x), (gw.zeros(3),)).module()
    assert gw.compile(module, fullgraph=True)(gw.zeros(3)).tolist() == [0, 0, 0]


def test_a_module_for_all_batches_and_lengths() -> None:
    """One graph, recorded for 2 x 5, holds bit for bit for any sizes, 1 included, from the file
    too, and compiled in one graph."""
    model = Block().eval()
    batch, length = dims("batch", "length")
    shapes = {"x": {0: batch, 1: length}}
    program = export(model, (gw.rand(2, 5, 32),), dynamic_shapes=shapes)
    assert {str(one) for one in program.range_constraints.values()} == {"[1, inf]"}
    stored = again(program).module()
    compiled = gw.compile(stored, fullgraph=True)
    for sizes in ((1, 7), (3, 1), (1, 1), (4, 9)):
        x = gw.rand(*sizes, 32)
        wanted = model(x)
        alike(program.module()(x), wanted)
        alike(stored(x), wanted)
        assert gw.allclose(compiled(x)["x"], wanted["x"], atol=1e-6)
    outer = gw.compile(lambda x: stored(x * 2)["x"].sum(), fullgraph=True)
    assert gw.allclose(outer(x), model(x * 2)["x"].sum(), atol=1e-4)


def test_the_signature_names_parameters_buffers_inputs_outputs_and_writes() -> None:
    model = Net()
    program = export(model, (gw.rand(3, 1, 8, 8),))
    signature = program.graph_signature
    assert signature.parameters == [name for name, _ in model.named_parameters()]
    assert signature.buffers == [name for name, _ in model.named_buffers()]
    assert signature.non_persistent_buffers == ["scale"] and signature.user_inputs == ["x"]
    assert sorted(signature.buffers_to_mutate.values()) == [
        "norm.num_batches_tracked", "norm.running_mean", "norm.running_var"]
    kinds = [one.kind for one in signature.input_specs]
    assert kinds == [InputKind.PARAMETER] * 6 + [InputKind.BUFFER] * 4 + [InputKind.USER_INPUT]
    assert program.state_dict["fc.weight"] is model.fc.weight and program.constants == {}
    assert [node.name for node in program.graph.placeholders][-1] == "x"
    assert "conv2d(x, p_conv_weight, p_conv_bias" in str(program)
    with pytest.raises(RuntimeError, match=r"call its `module\(\)`"):
        program(gw.rand(3, 1, 8, 8))


def test_recording_changes_nothing() -> None:
    model = Net()
    before = copy.deepcopy(dict(model.state_dict()))
    export(model, (gw.rand(3, 1, 8, 8),))
    alike(dict(model.state_dict()), before)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_writes_reach_the_state_of_the_program() -> None:
    model = Net()
    twin = copy.deepcopy(model)
    module = again(export(model, (gw.rand(3, 1, 8, 8),))).module()
    for _ in range(2):
        x = gw.rand(3, 1, 8, 8)
        alike(module(x), twin(x))
    assert gw.equal(module.get_buffer("norm.running_mean"), twin.norm.running_mean)
    assert set(module.state_dict()) == set(model.state_dict())


OPTIMISERS: dict[str, Callable[..., Any]] = {
    "sgd": lambda p: gw.optim.SGD(p, 0.1), "momentum": lambda p: gw.optim.SGD(p, 0.1, 0.9),
    "adam": lambda p: gw.optim.Adam(p, 1e-2), "adamw": lambda p: gw.optim.AdamW(p, 1e-2),
    "rmsprop": lambda p: gw.optim.RMSprop(p, 1e-2), "adagrad": lambda p: gw.optim.Adagrad(p, 0.1),
}


@pytest.mark.parametrize("kind", OPTIMISERS)
def test_a_training_step(kind: str) -> None:
    """Parameters and the optimiser's state are inputs that the graph writes; three steps from the
    file give the bits of three steps of the program."""
    model = Net()
    optimiser = OPTIMISERS[kind](model.parameters())

    def step(x: Any, y: Any) -> Any:
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimiser.step()
        return loss

    batch = Dim("batch", min=2)
    x, y = gw.rand(4, 1, 8, 8), gw.randint(0, 10, (4,))
    step(x, y)
    program = export(step, (x, y), dynamic_shapes=({0: batch}, {0: batch}))
    assert set(program.graph_signature.inputs_to_parameters) <= {
        *program.graph_signature.buffers_to_mutate}
    run = again(program).module()
    for size in (4, 6, 3):
        x, y = gw.rand(size, 1, 8, 8), gw.randint(0, 10, (size,))
        assert step(x, y).item() == run(x, y).item()
    for name, parameter in model.named_parameters():
        assert gw.equal(parameter, run.get_parameter(f"model.{name}"))


def test_an_optimiser_without_state_is_refused() -> None:
    model = nn.Linear(3, 2)
    optimiser = gw.optim.Adam(model.parameters())

    def step(x: Any) -> None:
        optimiser.zero_grad()
        model(x).sum().backward()
        optimiser.step()

    with pytest.raises(ExportError, match="make one step before the export"):
        export(step, (gw.rand(4, 3),))
    assert not optimiser.state and model.weight.grad is None


def test_arguments_of_all_kinds() -> None:
    def function(pair: Any, *, options: Any, flag: bool, extra: Any = None) -> Any:
        a, b = pair
        x = a * options["scale"] + (b if flag else -b)
        return OrderedDict(x=x, parts=(x[0], [x.dtype is gw.float32])), extra

    args = ((gw.rand(3, 2), gw.rand(3, 2)),)
    kwargs = {"options": {"scale": gw.tensor(2.0), "name": "n"}, "flag": True}
    program = again(export(function, args, kwargs))
    alike(program.module()(*args, **kwargs), function(*args, **kwargs))
    reordered = dict(reversed(kwargs.items()))
    alike(program.module()(*args, **reordered), function(*args, **kwargs))
    with pytest.raises(RuntimeError, match=r"holds for True .* not for False"):
        program.module()(*args, **{**kwargs, "flag": False})
    with pytest.raises(RuntimeError, match="structure"):
        program.module()(*args)


def test_arguments_that_are_constants_are_compared() -> None:
    """A number that is none, an array, and None, for which a tensor could be given."""
    def function(x: Any, array: Any, fill: float, mask: Any = None) -> Any:
        return x + gw.from_numpy(array) + gw.full((3,), fill) if mask is None else x

    x, array = gw.ones(3), np.ones(3, np.float32)
    module = export(function, (x, array, math.nan, None), strict=False).module()
    assert module(x, array.copy(), math.nan, None).isnan().all()
    for bad in ((array + 1, math.nan, None), (array, 1.0, None), (array, math.nan, x)):
        with pytest.raises(RuntimeError, match="the exported program holds for"):
            module(x, *bad)


def test_constants_and_random_numbers() -> None:
    table = gw.arange(5.0)

    def function(x: Any) -> Any:
        return x * table + gw.rand(5) + gw.tensor([1.0, 2.0, 3.0, 4.0, 5.0])

    program = again(export(function, (gw.ones(5),)))
    assert "table" in program.constants
    gw.manual_seed(3)
    wanted = function(gw.ones(5))
    gw.manual_seed(3)
    assert gw.equal(program.module()(gw.ones(5)), wanted)


def test_mutated_arguments() -> None:
    def function(x: Any, cache: Any) -> Any:
        cache[:, 0] += x
        return cache.sum()

    program = export(function, (gw.ones(2), gw.zeros(2, 3)))
    assert program.graph_signature.user_inputs_to_mutate == ["cache"]
    cache = gw.zeros(2, 3)
    assert program.module()(gw.ones(2), cache) == 2 and cache.tolist() == [[1, 0, 0], [1, 0, 0]]


def test_decompositions() -> None:
    model = Block().eval()
    program = export(model, (gw.rand(2, 5, 32),), dynamic_shapes=({0: Dim.DYNAMIC},))
    primitive = program.run_decompositions()
    assert len(primitive.graph.nodes) > len(program.graph.nodes)
    x = gw.rand(3, 5, 32)
    assert gw.allclose(primitive.module()(x)["x"], model(x)["x"], atol=1e-6)
    assert gw.equal(again(primitive).module()(x)["x"], primitive.module()(x)["x"])
    with pytest.raises(NotImplementedError, match="table"):
        program.run_decompositions({gw.add: gw.add})


def by_values(x: Any) -> Any:
    if x.sum() > 0:
        return x
    return -x


class Assigning(nn.Module):
    """Keeps a tensor in an attribute."""

    seen: Any = None

    def forward(self, x: Any) -> Any:
        self.seen = x * 2
        return x + self.seen


N, M = Dim("n"), Dim("m", min=3, max=10)
REFUSED: dict[str, tuple[Any, Any, dict[str, Any], str]] = {
    "a branch": (by_values, (gw.rand(3),), {}, r"if x.sum\(\) > 0:(.|\n)*gw.where"),
    "a branch, not strict": (by_values, (gw.rand(3),), {"strict": False},
                             r"gw.where(.|\n)*test_export.py:\d+: if x.sum\(\) > 0"),
    "values": (lambda x: x.nonzero(), (gw.rand(3),), {"strict": False}, "values of tensors"),
    "an assignment": (Assigning(), (gw.rand(3),), {"strict": False}, "register_buffer"),
    "another size": (lambda x: x + gw.ones(6), (gw.rand(6),), {"dynamic_shapes": ({0: N},)},
                     "holds for 6 alone, because of .*gw.ones"),
    "a range": (lambda x: x[:7] if x.shape[0] > 7 else x, (gw.rand(8),),
                {"dynamic_shapes": ({0: M},)}, "only from 8 to 10"),
    "a relation": (lambda x: x.reshape(2, -1), (gw.rand(6),), {"dynamic_shapes": ({0: N},)},
                   "holds only where"),
    "two sizes": (lambda x, y: x + y, (gw.rand(6), gw.rand(6)),
                  {"dynamic_shapes": ({0: N}, {0: M})}, "equal one Dim"),
    "one Dim of two sizes": (lambda x, y: x.sum() + y.sum(), (gw.rand(6), gw.rand(5)),
                             {"dynamic_shapes": ({0: N}, {0: N})},
                             "is 6 by an input before, and 5 as dim 0 of 'y'"),
    "outside of the range": (lambda x: x, (gw.rand(2),), {"dynamic_shapes": ({0: M},)},
                             "excludes"),
    "size 1": (lambda x: x, (gw.rand(1),), {"dynamic_shapes": ({0: N},)}, "size of 2 or more"),
    "no such argument": (lambda x: x, (gw.rand(3),), {"dynamic_shapes": {"y": {0: N}}},
                         "names 'y', which is no argument"),
    "no name of a dim": (lambda x: x, (gw.rand(3),), {"dynamic_shapes": ({"n": N},)},
                         "names dim 'n' of a tensor that has 1"),
    "no shapes": (lambda x: x, (gw.rand(3),), {"dynamic_shapes": 3},
                  "dynamic_shapes is 3, not a mapping or a sequence"),
    "no shapes of a list": (lambda x: x[0], ([gw.rand(3)],), {"dynamic_shapes": (3,)},
                            "dynamic_shapes of 'x' is 3, not a mapping or a sequence"),
    "no such dim": (lambda x: x, (gw.rand(3),), {"dynamic_shapes": ({2: N},)}, "names dim 2"),
    "no tensor": (lambda x, n: x * n, (gw.rand(3), 2), {"dynamic_shapes": (None, {0: N})},
                  "which is no tensor"),
    "too few arguments": (lambda x, y: x, (gw.rand(3),), {}, "do not fit the function"),
    "different for 1": (lambda x: x * 2 if x.shape[0] > 1 else x, (gw.rand(3),),
                        {"dynamic_shapes": ({0: Dim("k", min=1)},)}, "another one where k is 1"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    function, args, options, message = REFUSED[case]
    with pytest.raises(ExportError, match=message):
        export(function, args, **options)


def test_ranges_of_several_sizes_begin_at_one() -> None:
    """Each size is compared at 1 with the others as symbols, whatever their names."""
    dims = [Dim(name, min=1) for name in "abcdefghijkl"]
    inputs = tuple(gw.rand(n + 3, 2) for n in range(len(dims)))

    def f(*xs: Any) -> Any:
        return [x.reshape(x.shape[0] * 2).sum() + x.shape[0] for x in xs]

    program = export(f, inputs, dynamic_shapes=tuple({0: dim} for dim in dims))
    assert {one.lower for one in program.range_constraints.values()} == {1}
    ones = tuple(x[:1] for x in inputs)
    assert gw.equal(gw.stack(program.module()(*ones)), gw.stack(f(*ones)))


def test_wrong_kinds_of_arguments() -> None:
    with pytest.raises(TypeError, match="a function or a module, not int"):
        export(3, ())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="as a tuple, not a Tensor"):
        export(gw.relu, gw.rand(3))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="identifier"):
        Dim("no name")
    with pytest.raises(ValueError, match="max=2 is less than min=5"):
        Dim("n", min=5, max=2)
    for factor in (0.5, -1):
        with pytest.raises(TypeError, match="an int times a Dim, plus or minus an int"):
            Dim("n") * factor  # type: ignore[operator]


def test_sizes_that_follow_from_others() -> None:
    half = Dim("half", min=2)
    program = export(lambda x, y: (x.reshape(2, -1).sum(0) + y), (gw.rand(8), gw.rand(4)),
                     dynamic_shapes=({0: Dim.DYNAMIC}, {0: Dim.DYNAMIC}))
    module = program.module()
    assert module(gw.ones(10), gw.zeros(5)).tolist() == [2.0] * 5
    with pytest.raises(RuntimeError, match=r"takes float32\[s0//2\] as 'y', not float32\[4\]"):
        module(gw.ones(10), gw.zeros(4))
    with pytest.raises(RuntimeError, match="holds only for sizes with"):
        module(gw.ones(11), gw.zeros(5))
    for twice in (2 * half, 2 * (1 + half) - 2, -2 + (half + 1) * 2):
        program = export(lambda y, x: x[::2] + y, (gw.rand(4), gw.rand(8)),
                         dynamic_shapes=({0: half}, {0: twice}))
        assert program.module()(gw.ones(3), gw.ones(6)).tolist() == [2.0] * 3


def test_calls_that_the_program_does_not_hold_for() -> None:
    module = export(nn.Linear(3, 2), (gw.rand(4, 3),), dynamic_shapes=({0: M},)).module()
    for given, message in (
        (gw.rand(2, 3), r"s0 in \[3, 10\]; given: 2"), (gw.rand(11, 3), "given: 11"),
        (gw.rand(4, 4), r"takes float32\[s0, 3\] as 'input_1', not float32\[4, 4\]"),
        (gw.rand(4, 3).double(), "not float64"), (gw.rand(4), "not float32"), (3, "not int"),
    ):
        with pytest.raises(RuntimeError, match=message):
            module(given)


def test_code_of_a_strict_export_is_compiled() -> None:
    """Both where it is followed and where it is recorded."""
    def f(x: Any) -> Any:
        if gw.compiler.is_compiling() and not gw.compiler.is_exporting():
            return gw.where(x.sum() > 0, x, -x)
        return x if x.sum() > 0 else -x

    program = export(f, (gw.ones(2),))
    assert program.module()(-gw.ones(2)).tolist() == f(-gw.ones(2)).tolist() == [1, 1]
    assert not gw.compiler.is_compiling()
    with pytest.raises(ExportError):
        export(f, (gw.ones(2),), strict=False)


@pytest.mark.parametrize("factor", [2, 0.5, 1.5])
def test_images_are_resized_by_a_factor_for_all_sizes(factor: float) -> None:
    """The new size follows from the old one in integers, where the factor is a short fraction."""
    def resize(x: Any) -> Any:
        return nn.functional.interpolate(x, scale_factor=factor, mode="bilinear")

    image = ({2: Dim.DYNAMIC, 3: Dim.DYNAMIC},)
    run = export(resize, (gw.rand(1, 2, 6, 8),), dynamic_shapes=image).module()
    for rows, columns in ((6, 8), (9, 14), (32, 5)):
        x = gw.rand(1, 2, rows, columns)
        assert gw.equal(run(x), resize(x))
