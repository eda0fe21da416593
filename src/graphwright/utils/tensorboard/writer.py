"""`SummaryWriter`: scalars, histograms, images, texts and graphs, as files of events."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from graphwright.runtime.tensor.tensor import Tensor
from graphwright.utils._pytree import tree_map
from graphwright.utils.tensorboard.graph import graph_of


def _tensorboardx() -> Any:
    try:
        import tensorboardX
    except ImportError as error:
        raise ImportError(
            "utils.tensorboard: SummaryWriter needs tensorboardX; install it with "
            "`pip install 'graphwright[tensorboard]'`"
        ) from error
    return tensorboardX


def _plain(value: Any) -> Any:
    """Arrays for the tensors in a value; half types, which NumPy lacks, as float32."""
    return tree_map(lambda leaf: _array(leaf) if isinstance(leaf, Tensor) else leaf, value)


def _array(tensor: Tensor) -> np.ndarray[Any, Any]:
    tensor = tensor.detach()
    if tensor.dtype.is_floating_point and tensor.dtype.itemsize < 4:
        tensor = tensor.float()
    return tensor.numpy()


def _number(name: str, value: Any) -> float:
    array = np.asarray(_plain(value))
    if array.size != 1:
        raise ValueError(f"{name}: a scalar has one element, but this has shape "
                         f"{list(array.shape)}")
    return float(array.item())


def _drain(writer: Any) -> None:
    """Write all events to the disk: tensorboardX's own `flush` leaves those in its queue.

    Its thread ends once it has written them, and another takes its place.
    """
    writer._worker.stop()
    writer._ev_writer.flush()
    writer._worker = type(writer._worker)(writer._event_queue, writer._ev_writer,
                                          writer._flush_secs)
    writer._worker.start()


class SummaryWriter:
    """Writes to a file of events in a folder, which `tensorboard --logdir` shows.

    Args:
        log_dir: the folder; by default runs/TIME_HOST with `comment` behind it.
        comment: the end of the default folder's name.
        purge_step: events of this step and later ones, of an earlier run, are not shown.
        max_queue, flush_secs: how many events, and how many seconds, wait for the disk.
        filename_suffix: the end of the file's name.

    Values are tensors, arrays, or numbers. `global_step` is the step that a value belongs to, and
    `walltime` its time in seconds since the epoch. ImportError without tensorboardX, the extra
    `tensorboard`.

    ::

        with SummaryWriter("runs/first") as writer:
            writer.add_scalar("loss", loss, step)
    """

    def __init__(
        self, log_dir: str | os.PathLike[str] | None = None, comment: str = "",
        purge_step: int | None = None, max_queue: int = 10, flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        self._module = _tensorboardx()
        self.purge_step, self.max_queue = purge_step, max_queue
        self.flush_secs, self.filename_suffix = flush_secs, filename_suffix
        self._opened = 0
        self._current: Any = None
        self.log_dir = os.fspath(log_dir) if log_dir is not None else ""
        self.log_dir = str(self._open(comment).logdir)

    def _open(self, comment: str = "") -> Any:
        """A writer of a file of its own: tensorboardX names those of one second alike."""
        suffix = self.filename_suffix + (f".{self._opened}" if self._opened else "")
        purge = self.purge_step if self._opened == 0 else None
        self._opened += 1
        self._current = self._module.SummaryWriter(
            self.log_dir or None, comment=comment, purge_step=purge, max_queue=self.max_queue,
            flush_secs=self.flush_secs, filename_suffix=suffix)
        return self._current

    @property
    def _writer(self) -> Any:
        return self._current if self._current is not None else self._open()

    @property
    def file_writer(self) -> Any:
        """tensorboardX's writer of the file."""
        return self._writer.file_writer

    def get_logdir(self) -> str:
        """The folder."""
        return self.log_dir

    # -- values

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: int | None = None,
        walltime: float | None = None, new_style: bool = False, double_precision: bool = False,
    ) -> None:
        """Add a number, stored as float32.

        new_style and double_precision are without effect. ValueError for more than one element.
        """
        self._writer.add_scalar(tag, _number(tag, scalar_value), global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Add numbers that are shown in one chart, each in a run of its own."""
        numbers = {tag: _number(tag, value) for tag, value in tag_scalar_dict.items()}
        self._writer.add_scalars(main_tag, numbers, global_step, walltime)

    def add_histogram(
        self, tag: str, values: Any, global_step: int | None = None,
        bins: str | Sequence[float] = "tensorflow", walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Add the distribution of values. `bins`: "tensorflow", or what `numpy.histogram` takes.

        ValueError where there are no values, or one is not finite.
        """
        array = np.asarray(_plain(values))
        if array.size == 0 or not np.isfinite(array).all():
            raise ValueError(f"add_histogram: the values of {tag!r} must be finite, and at least "
                             "one")
        self._writer.add_histogram(tag, array, global_step, bins, walltime, max_bins)

    def add_image(
        self, tag: str, img_tensor: Any, global_step: int | None = None,
        walltime: float | None = None, dataformats: str = "CHW",
    ) -> None:
        """Add an image: float32 from 0 to 1, or uint8; `dataformats` names its dimensions."""
        self._writer.add_image(tag, _plain(img_tensor), global_step, walltime, dataformats)

    def add_images(
        self, tag: str, img_tensor: Any, global_step: int | None = None,
        walltime: float | None = None, dataformats: str = "NCHW",
    ) -> None:
        """Add a batch of images, shown as a grid."""
        self._writer.add_images(tag, _plain(img_tensor), global_step, walltime, dataformats)

    def add_figure(
        self, tag: str, figure: Any, global_step: int | None = None, close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """Add a figure of matplotlib, or a list of them, as an image; `close` them."""
        self._writer.add_figure(tag, figure, global_step, close, walltime)

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Add a text, in Markdown."""
        self._writer.add_text(tag, text_string, global_step, walltime)

    def add_pr_curve(
        self, tag: str, labels: Any, predictions: Any, global_step: int | None = None,
        num_thresholds: int = 127, weights: Any = None, walltime: float | None = None,
    ) -> None:
        """Add the curve of precision and recall, of labels 0 and 1 and predictions from 0 to 1."""
        self._writer.add_pr_curve(tag, _plain(labels), _plain(predictions), global_step,
                                  num_thresholds, _plain(weights), walltime)

    def add_hparams(
        self, hparam_dict: dict[str, Any], metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, Any] | None = None, run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """Add hyperparameters and what came of them, in a run of its own.

        `run_name`: its folder, by default the time. TypeError for what is no dict;
        NotImplementedError for `hparam_domain_discrete`.
        """
        if hparam_domain_discrete:
            raise NotImplementedError("add_hparams: tensorboardX writes no hparam_domain_discrete")
        if not isinstance(hparam_dict, dict) or not isinstance(metric_dict, dict):
            raise TypeError("add_hparams: hparam_dict and metric_dict must be dicts")
        parameters = {name: _number(name, value) if isinstance(value, Tensor) else value
                      for name, value in hparam_dict.items()}
        metrics = {name: _number(name, value) for name, value in metric_dict.items()}
        self._writer.add_hparams(parameters, metrics, run_name, global_step)

    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False,
        use_strict_trace: bool = True,
    ) -> None:
        """Add the graph of the ops that `model` runs on these inputs, within its modules.

        Args:
            model: a module; it is called once, without gradients.
            input_to_model: its argument, or a tuple of them.
            verbose: print the graph, too.
            use_strict_trace: without effect.

        TypeError where `model` is no module.
        """
        from tensorboardX.proto.event_pb2 import Event

        graph = graph_of(model, input_to_model)
        if verbose:
            print(graph)
        self.file_writer.add_event(Event(graph_def=graph.SerializeToString()))

    def add_custom_scalars(self, layout: dict[str, dict[str, list[Any]]]) -> None:
        """Arrange charts: {category: {title: ["Multiline" or "Margin", tags]}}."""
        self._writer.add_custom_scalars(layout)

    # -- the file

    def flush(self) -> None:
        """Write what waits to the disk."""
        if self._current is not None:
            for writer in self._current.all_writers.values():
                _drain(writer.event_writer)

    def close(self) -> None:
        """Write what waits, and close the files; a value added later opens a new one."""
        if self._current is not None:
            self._current.close()
            self._current = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
