"""Whether capture, which follows the bytecode of a function, finds one graph in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from graphwright.capture.exc import GraphBreakError
from graphwright.export.errors import ExportError
from graphwright.face.api import compile as compiled


class _Captured(Exception):
    """The graph is there: nothing is to be run."""


def _stop(graph: Any, inputs: Any) -> NoReturn:
    raise _Captured


def check_capture(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
                  ) -> None:
    """Raise ExportError, with the user's line and advice, where a call is no single graph.

    The function's code is translated, not run.
    """
    try:
        compiled(function, backend=_stop, fullgraph=True)(*args, **kwargs)
    except _Captured:
        return
    except GraphBreakError as error:
        raise ExportError(f"{error}\nexport(strict=False) records such a call without looking at "
                          "its bytecode") from None
