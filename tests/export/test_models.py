"""Models of many kinds as exported programs: the bits of the model, from the file too."""

from __future__ import annotations

import copy
import io
from typing import Any

import pytest
from tests.models.zoo import built, models

import graphwright as gw
from graphwright.export import Dim, export, load, save


@pytest.mark.parametrize("training", [False, True], ids=["eval", "training"])
@pytest.mark.parametrize("name", models(gw))
def test_exported_models(name: str, training: bool) -> None:
    model, args = built(gw, name, training)
    program = export(model, args, dynamic_shapes=tuple([{0: Dim.AUTO} for _ in args]))
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
