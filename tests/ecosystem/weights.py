"""Seeded weights, which travel from NumPy to either library through a safetensors file."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file
from safetensors.torch import load_file

from .case import Arrays, Draw


def fill(model: torch.nn.Module, draw: Draw, moved: bool = False) -> None:
    """Give all parameters and running statistics of a model numbers of their names.

    Matrices and filters have deviation 1/sqrt(fan in), vectors 0.1 around 0 for biases and around
    1 otherwise, running variances are between 0.5 and 1.5. Other buffers stay as they are. Where
    they are `moved`, each is another by a few units in its last place.

    Raises:
        ValueError: the file holds what the model does not have, or the other way round.
    """
    arrays = {name: _parameter(draw, name, tuple(value.shape))
              for name, value in model.named_parameters()}
    for name, value in model.named_buffers():
        if name.endswith("running_mean"):
            arrays[name] = draw.normal(name, *value.shape) * np.float32(0.1)
        elif name.endswith("running_var"):
            arrays[name] = draw.generator(name).uniform(0.5, 1.5, value.shape).astype(np.float32)
    if moved:
        for name, array in arrays.items():
            signs = draw.integers(f"signs of {name}", 2, *array.shape) * 2 - 1
            arrays[name] = np.asarray(array * (1 + signs * 2.0**-21), dtype=np.float32)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.safetensors")
        save_file(arrays, path)
        found = model.load_state_dict(load_file(path), strict=False)
    known = {name for name, _ in model.named_parameters()}
    lacking = known.intersection(found.missing_keys)
    if lacking or found.unexpected_keys:
        raise ValueError(f"{draw.model}: {sorted(lacking)} were not loaded, "
                         f"{found.unexpected_keys} are not the model's")


def _parameter(draw: Draw, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """The numbers of one parameter."""
    normal = draw.normal(name, *shape)
    if len(shape) < 2:
        centre = 0 if "bias" in name.rpartition(".")[2] else 1
        return np.asarray(centre + 0.1 * normal, dtype=np.float32)
    fan_in = math.prod(shape[1:])
    return normal / np.float32(math.sqrt(fan_in))


def tensors(arrays: Arrays) -> dict[str, torch.Tensor]:
    """The same mapping with tensors for its arrays."""
    return {name: torch.from_numpy(value) for name, value in arrays.items()}
