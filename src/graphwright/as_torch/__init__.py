"""`import graphwright.as_torch`, and from then on `import torch` means graphwright.

    import graphwright.as_torch
    import torch                      # graphwright itself
    from torch.nn import functional   # graphwright.nn.functional

It is to be imported before anything that imports torch. `graphwright run SCRIPT.py` does it for a
script, `python -m pytest -p graphwright.as_torch` for a test suite. Names that graphwright lacks
raise AttributeError, ModuleNotFoundError or ImportError, which say so; `report()` lists them.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any

import graphwright
from graphwright import version as own_version
from graphwright.as_torch.lacking import (
    Report,
    missing,
    missing_module,
    report,
    watch,
    watch_below,
)
from graphwright.compat.module_names import INTERNAL, Aliases
from graphwright.runtime.naming import NAMING
from graphwright.torch_version import TorchVersion

__all__ = ["VERSION", "Report", "install", "report"]

VERSION = "2.13.0+graphwright"
"""The version of PyTorch whose names and semantics graphwright has: `torch.__version__`."""
VARIABLE = "GRAPHWRIGHT_TORCH_VERSION"
"""The environment variable that sets another; processes that this one starts inherit it."""
_CHILDREN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "children")


def install(version: str | None = None) -> None:
    """Let `import torch` mean graphwright in this process. Importing this module does it.

    Args:
        version: of PyTorch, as libraries ask for it (`torch.__version__`, and
            `importlib.metadata.version("torch")`), such as "2.9.1". None: what the environment's
            `GRAPHWRIGHT_TORCH_VERSION` says, or `VERSION`. A further call sets another.

    Raises:
        ImportError: PyTorch itself is imported already.
        ValueError: the version is not of the form "2.13" or "2.13.0", with or without "+text".
    """
    loaded = sys.modules.get("torch")
    if loaded is not None and loaded is not graphwright:
        raise ImportError(
            "import graphwright.as_torch: torch is imported already, from "
            f"{getattr(loaded, '__file__', None)}. Import graphwright.as_torch before anything "
            "that imports torch"
        )
    chosen = version or os.environ.get(VARIABLE) or VERSION
    if not re.fullmatch(r"\d+\.\d+(\.\d+)?((a|b|rc|\.dev)\d+)?(\+[a-z0-9.]+)?", chosen):
        raise ValueError(f"{chosen!r} is not the version of a PyTorch release, such as '2.13.0'")
    graphwright.__version__ = own_version.__version__ = TorchVersion(chosen)
    os.environ[VARIABLE] = chosen
    NAMING.root, NAMING.missing = "torch", missing
    graphwright.__name__ = "torch"
    vars(graphwright)["torch"] = graphwright
    graphwright.Size._set_root("torch")
    if not any(isinstance(entry, Aliases) and entry.root == "torch" for entry in sys.meta_path):
        finder = Aliases("torch", watch_below, missing_module, _distributions)
        sys.meta_path.insert(0, finder)
    if _CHILDREN not in sys.path:
        sys.path.insert(1, _CHILDREN)
    for name, module in tuple(sys.modules.items()):
        if name.startswith("graphwright.") and name.split(".")[1] not in INTERNAL:
            watch(name, module)


def _distributions(context: Any) -> Any:
    """The distribution "torch", where `importlib.metadata` asks for it or for all."""
    if context.name is not None and context.name.lower() != "torch":
        return ()
    from graphwright.as_torch.distribution import StandIn

    return (StandIn(str(graphwright.__version__)),)


install()
