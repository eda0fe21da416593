"""Models of many kinds as exported programs: the bits of the model, from the file too."""

from __future__ import annotations

import copy
import io
from typing import Any

import numpy as np
import pytest
from tests.models.zoo import models

import graphwright as gw
from graphwright.export import Dim, export, load, save

OURS = models(gw)


def _argument(kind: Any, draw: np.random.Generator) -> gw.Tensor:
    """An argument of the kind that a model of the zoo names."""
    if kind == "tokens":
        return gw.from_numpy(draw.integers(1, 50, (3, 8)))
    if kind == "edges":
        return gw.from_numpy(draw.integers(0, 6, (2, 15)))
    return gw.from_numpy(draw.normal(size=kind)).float()


@pytest.mark.parametrize("training", [False, True], ids=["eval", "training"])
@pytest.mark.parametrize("name", OURS)
def test_exported_models(name: str, training: bool) -> None:
    cls, kinds = OURS[name]
    gw.manual_seed(0)
    model = cls().float().train(training)
    draw = np.random.default_rng(0)
    args = tuple([_argument(kind, draw) for kind in kinds])
    shapes = tuple([{0: Dim.AUTO} for _ in args])
    program = export(model, args, dynamic_shapes=shapes)
    file = io.BytesIO()
    save(program, file)
    again = load(file.getvalue()).module()
    twin = copy.deepcopy(model)
    gw.manual_seed(1)
    wanted: Any = twin(*args)
    gw.manual_seed(1)
    found = again(*args)
    assert gw.equal(found, wanted)
    for path, buffer in twin.named_buffers():
        assert gw.equal(again.get_buffer(path), buffer), path
