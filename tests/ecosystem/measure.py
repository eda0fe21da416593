"""Run a model: forward, loss, gradients, `generate()`; under PyTorch or graphwright alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .case import Arrays, Draw, Model
from .outcome import Outcome, named, numbers, output
from .uses import Use
from .weights import fill, tensors


def prepared(case: Model, moved: bool = False) -> torch.nn.Module:
    """The model with its seeded weights and nothing dropped, in the mode that the case says."""
    torch.manual_seed(0)
    model = case.build()
    fill(model, Draw(case.name), moved)
    for part in model.modules():
        if "Drop" in type(part).__name__:
            vars(part).update({rate: 0.0 for rate in ("p", "drop_prob") if rate in vars(part)})
    return model.train(case.training)


def step(case: Model, model: torch.nn.Module, call: Callable[..., Any]) -> Outcome:
    """Call the model, or what `compile` made of it, and take the loss's gradients.

    The loss is the model's own where it returns one, and otherwise a weighted mean of all its
    floating-point outputs, whose weights are drawn.
    """
    draw = Draw(case.name)
    inputs = tensors(case.inputs(draw))
    arguments = [inputs.pop("")] if "" in inputs else []
    outputs = dict(named(call(*arguments, **inputs)))
    loss = outputs.get("loss")
    if loss is None:
        loss = sum(_weighted(draw, name, value) for name, value in outputs.items()
                   if value.requires_grad)
    loss.backward()
    return {
        "outputs": {name: output(value) for name, value in outputs.items()},
        "gradients": {name: numbers(value.grad) for name, value in model.named_parameters()
                      if value.grad is not None},
        "buffers": {name: numbers(value) for name, value in model.named_buffers()
                    if case.training and value.is_floating_point()},
    }


def _weighted(draw: Draw, name: str, value: torch.Tensor) -> torch.Tensor:
    weights = torch.from_numpy(draw.normal(f"weights of {name}", *value.shape))
    return (value * weights).mean()


def generate(case: Model, model: Any, prompt: Callable[[Draw], Arrays]) -> list[list[int]]:
    """The tokens that the model goes on with, greedily."""
    settings = {"max_new_tokens": 10, "do_sample": False, **(case.generation or {})}
    with torch.no_grad():
        tokens = model.generate(**tensors(prompt(Draw(case.name))), **settings)
    return [[int(token) for token in row] for row in tokens]


def eager(case: Model, moved: bool = False) -> Outcome:
    """The outcome of a model as its library runs it; without tokens where weights are `moved`."""
    model = prepared(case, moved)
    outcome = step(case, model, model)
    if case.prompt is not None and not moved:
        outcome["tokens"] = generate(case, model, case.prompt)
    return outcome


def used(use: Use, compile: Callable[[Any], Any] = lambda function: function) -> Outcome:
    """The outcome of a use of a library."""
    torch.manual_seed(0)
    return {"outputs": {name: output(value)
                        for name, value in named(use.run(Draw(use.name), compile))}}
