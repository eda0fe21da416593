"""A model as an exported program, out of the process by a file, beside the model itself."""

from __future__ import annotations

import io
from typing import Any

import torch
from torch.export import ExportError, export, load, save

from .case import Draw, Model
from .measure import prepared
from .outcome import named
from .weights import tensors


class Plain(torch.nn.Module):
    """A model whose result is a dict of its tensors, as files hold no classes of libraries."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        return dict(named(self.model(*args, **kwargs)))


def exported(case: Model) -> list[str]:
    """What differs between an exported model and the model, bit for bit; or why it is refused."""
    model = Plain(prepared(case).eval()).eval()
    inputs = tensors(case.inputs(Draw(case.name)))
    arguments = (inputs.pop(""),) if "" in inputs else ()
    with torch.no_grad():
        wanted = model(*arguments, **inputs)
        try:
            program = export(model, arguments, inputs, strict=False)
        except ExportError as error:
            return [f"refused: {error}"]
        file = io.BytesIO()
        save(program, file)
        found = load(file.getvalue()).module()(*arguments, **inputs)
    return [name for name, value in wanted.items()
            if not torch.equal(found[name].nan_to_num(), value.nan_to_num())]
