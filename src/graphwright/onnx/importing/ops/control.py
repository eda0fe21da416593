"""Control flow: bodies run as Python runs them."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.importing.opsets import op
from graphwright.onnx.importing.values import Narrow, Sizes, as_tensor


@op("If")
def if_(condition: bool, *, then_branch: Any, else_branch: Any) -> Any:
    """The outputs of one branch."""
    return then_branch() if condition else else_branch()


def _stacked(values: list[Any], axis: int = 0) -> Any:
    """One output of all iterations as one tensor."""
    if not values:
        return gw.zeros([0])
    tensors = [as_tensor(value) for value in values]
    if not isinstance(tensors[0], Tensor):
        return np.stack(tensors, axis)
    stacked = gw.stack(tensors, dim=axis)
    return Narrow(stacked, values[0].kind) if isinstance(values[0], Narrow) else stacked


@op("Loop")
def loop(
    max_trip_count: int | None, condition: bool | None, *carried: Any, body: Any
) -> tuple[Any, ...]:
    """The body run until its condition fails or a number of times; states, then all outputs."""
    state = list(carried)
    n_scans = body.n_outputs - 1 - len(state)
    scans: list[list[Any]] = [[] for _ in range(n_scans)]
    running = condition is not False
    iteration = 0
    while running and (max_trip_count is None or iteration < max_trip_count):
        proceeds, *outputs = body(Sizes([iteration], scalar=True), True, *state)
        state = outputs[: len(state)]
        for scan, value in zip(scans, outputs[len(state) :], strict=True):
            scan.append(value)
        running = body.known_output(0, proceeds)
        iteration += 1
    return (*state, *[_stacked(scan) for scan in scans])


@op("Scan", since=9)
def scan(
    *inputs: Any, body: Any, num_scan_inputs: int, scan_input_axes: list[int] | None = None,
    scan_input_directions: list[int] | None = None, scan_output_axes: list[int] | None = None,
    scan_output_directions: list[int] | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    """The body run for each slice of the inputs; states, then all outputs."""
    count = num_scan_inputs
    if not 0 < count <= len(inputs):
        raise ValueError(f"Scan: num_scan_inputs is {count}, of {len(inputs)} inputs")
    state, scanned = list(inputs[:-count]), [as_tensor(x) for x in inputs[-count:]]
    axes = scan_input_axes or [0] * count
    backward = scan_input_directions or [0] * count
    slices = [x.unbind(axis) for x, axis in zip(scanned, axes, strict=True)]
    slices = [part[::-1] if back else part for part, back in zip(slices, backward, strict=True)]
    n_outputs = body.n_outputs - len(state)
    collected: list[list[Any]] = [[] for _ in range(n_outputs)]
    for parts in zip(*slices, strict=True):
        outputs = body(*state, *parts)
        state = list(outputs[: len(state)])
        for values, value in zip(collected, outputs[len(state) :], strict=True):
            values.append(value)
    output_axes = scan_output_axes or [0] * n_outputs
    output_backward = scan_output_directions or [0] * n_outputs
    results = [
        _stacked(values[::-1] if back else values, axis)
        for values, back, axis in zip(collected, output_backward, output_axes, strict=True)
    ]
    return (*state, *results)


@op("Scan")
def scan_of_batches(
    lengths: Tensor | None, *inputs: Any, body: Any, num_scan_inputs: int,
    directions: list[int] | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    """Scan of version 8: of each example of a batch, up to its length."""
    tensors = [as_tensor(x) for x in inputs]
    batch = tensors[0].shape[0]
    count = num_scan_inputs
    results: list[tuple[Any, ...]] = []
    for example in range(batch):
        own = [x[example] for x in tensors]
        if lengths is not None:
            length = int(lengths[example])
            own = [*own[:-count], *[x[:length] for x in own[-count:]]]
        results.append(scan(
            *own, body=body, num_scan_inputs=count, scan_input_directions=directions
        ))
    return tuple([gw.stack(list(parts)) for parts in zip(*results, strict=True)])


@op("SequenceMap")
def sequence_map(sequence: Any, *others: Any, body: Any) -> tuple[Any, ...]:
    """The body's outputs for each element of sequences, as sequences."""
    results: list[list[Any]] = [[] for _ in range(body.n_outputs)]
    for position, value in enumerate(sequence):
        further = [x[position] if isinstance(x, list) else x for x in others]
        for values, output in zip(results, body(value, *further), strict=True):
            values.append(output)
    return tuple(results)
