"""`utils.tensorboard`: what is written is what TensorBoard reads."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.utils import tensorboard

pytest.importorskip("tensorboardX")
accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")


def read(folder: Path) -> Any:
    events = accumulator.EventAccumulator(str(folder), size_guidance={"tensors": 0, "scalars": 0})
    return events.Reload()


def test_scalars_of_tensors_and_numbers(tmp_path: Path) -> None:
    with tensorboard.SummaryWriter(tmp_path) as writer:
        for step in range(3):
            writer.add_scalar("loss", gw.tensor([2.0 - step], requires_grad=True), step)
        writer.add_scalar("half", gw.tensor(0.5, dtype=gw.bfloat16), 7, walltime=12.0)
        assert writer.get_logdir() == writer.log_dir == str(tmp_path)
    found = read(tmp_path)
    assert [(e.step, e.value) for e in found.Scalars("loss")] == [(0, 2.0), (1, 1.0), (2, 0.0)]
    [half] = found.Scalars("half")
    assert (half.step, half.value, half.wall_time) == (7, 0.5, 12.0)


def test_scalars_of_one_chart_are_runs_of_their_own(tmp_path: Path) -> None:
    with tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_scalars("losses", {"train": gw.tensor(1.0), "test": 2}, 5)
    for name, value in (("train", 1.0), ("test", 2.0)):
        [event] = read(tmp_path / "losses" / name).Scalars("losses")
        assert (event.step, event.value) == (5, value)


def test_histograms(tmp_path: Path) -> None:
    with tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_histogram("weights", gw.arange(10.0), 1, bins="auto")
        with pytest.raises(ValueError, match="the values of 'weights' must be finite"):
            writer.add_histogram("weights", gw.tensor([1.0, float("nan")]))
    [event] = read(tmp_path).Histograms("weights")
    value = event.histogram_value
    assert (value.num, value.min, value.max, value.sum) == (10, 0.0, 9.0, 45.0)


def test_images(tmp_path: Path) -> None:
    with tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_image("one", gw.rand(3, 4, 6), 1)
        writer.add_image("grey", gw.rand(4, 6), 1, dataformats="HW")
        writer.add_images("several", gw.randint(0, 255, (2, 1, 5, 5), dtype=gw.uint8), 1)
    found = read(tmp_path)
    [one] = found.Images("one")
    assert (one.height, one.width) == (4, 6) and one.encoded_image_string.startswith(b"\x89PNG")
    assert found.Images("grey") and found.Images("several")


def test_figures(tmp_path: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.figure")
    figure = pyplot.Figure()
    figure.add_subplot().plot([1, 2])
    with tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_figure("chart", figure, 1, close=False)
    assert read(tmp_path).Images("chart")


def test_texts_and_curves(tmp_path: Path) -> None:
    with tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_text("note", "**bold**", 3)
        writer.add_pr_curve("curve", gw.tensor([0, 1, 1]), gw.tensor([0.1, 0.8, 0.6]), 3)
    found = read(tmp_path)
    [note] = found.Tensors("note/text_summary")
    assert note.tensor_proto.string_val == [b"**bold**"]
    assert found.Tensors("curve")[0].step == 3


def test_hyperparameters_are_a_run_of_their_own(tmp_path: Path) -> None:
    with tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_hparams({"lr": gw.tensor(0.5), "name": "sgd"}, {"accuracy": gw.tensor(0.75)},
                           run_name="first", global_step=2)
        with pytest.raises(TypeError, match="must be dicts"):
            writer.add_hparams([("lr", 1)], {})  # type: ignore[arg-type]
        with pytest.raises(NotImplementedError, match="hparam_domain_discrete"):
            writer.add_hparams({}, {}, {"lr": [1]})
    found = read(tmp_path / "first")
    [event] = found.Scalars("accuracy")
    assert (event.step, event.value) == (2, 0.75)
    assert "_hparams_/session_start_info" in found.summary_metadata


class Net(gw.nn.Module):
    """Two layers, one of them used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = gw.nn.Linear(4, 4), gw.nn.Linear(4, 2)

    def forward(self, x: gw.Tensor, scale: gw.Tensor) -> gw.Tensor:
        return self.second(self.first(self.first(x)).relu_() * scale)


def test_the_graph_of_a_module(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with tensorboard.SummaryWriter(tmp_path) as writer:
        writer.add_graph(Net(), (gw.ones(3, 4), gw.ones(())), verbose=True)
        with pytest.raises(TypeError, match="model must be a Module, but is a function"):
            writer.add_graph(lambda x: x, gw.ones(1))
    nodes = {node.name: node for node in read(tmp_path).Graph().node}
    assert "aten::linear" in capsys.readouterr().out
    shapes = {name: [d.size for d in node.attr["_output_shapes"].list.shape[0].dim]
              for name, node in nodes.items()}
    first = ["Net/first/weight", "Net/first/bias"]
    assert list(nodes["Net/first/linear"].input) == ["input/0", *first]
    assert list(nodes["Net/first/linear_1"].input) == ["Net/first/linear", *first]
    assert list(nodes["Net/relu_"].input) == ["Net/first/linear_1"]
    assert list(nodes["Net/mul"].input) == ["Net/relu_", "input/1"]
    assert list(nodes["output/0"].input) == ["Net/second/linear"]
    assert shapes["Net/second/weight"] == [2, 4] and shapes["output/0"] == [3, 2]


def test_a_module_that_raises_leaves_nothing_behind(tmp_path: Path) -> None:
    with tensorboard.SummaryWriter(tmp_path) as writer:
        with pytest.raises(RuntimeError):
            writer.add_graph(Net(), (gw.ones(3, 5), gw.ones(())))
        writer.add_graph(gw.nn.ReLU(), gw.ones(2))
    assert {node.op for node in read(tmp_path).Graph().node} == {"Input", "aten::relu", "Output"}


def test_flush_writes_what_waits(tmp_path: Path) -> None:
    writer = tensorboard.SummaryWriter(tmp_path)
    writer.add_scalar("x", np.float32(1.5))
    writer.flush()
    assert [event.value for event in read(tmp_path).Scalars("x")] == [1.5]
    writer.add_scalar("x", 2, 1)
    writer.close()
    writer.close()
    writer.flush()
    writer.add_scalar("x", 3, 2)
    writer.close()
    assert [event.value for event in read(tmp_path).Scalars("x")] == [1.5, 2.0, 3.0]
    with pytest.raises(ValueError, match=r"x: a scalar has one element, but this has shape \[2\]"):
        writer.add_scalar("x", gw.ones(2))


def test_without_tensorboardx_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(ImportError, match=r"pip install 'graphwright\[tensorboard\]'"):
        tensorboard.SummaryWriter(tmp_path)


def test_it_is_found_by_pytorchs_name() -> None:
    assert gw.utils.tensorboard.SummaryWriter is tensorboard.SummaryWriter
