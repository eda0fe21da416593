"""Tracing by tensors that record, after `torch.fx.experimental.proxy_tensor`: there is none."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["get_proxy_mode", "make_fx"]


def get_proxy_mode() -> None:
    """The mode of such a trace that the thread is in: None."""


def make_fx(f: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: graphs are made by `symbolic_trace` and `compile`."""
    raise NotImplementedError(
        "make_fx: graphwright has no tracing by tensors; fx.symbolic_trace makes a graph of a "
        "module, and compile(backend=...) hands a captured graph to a function of yours"
    )
