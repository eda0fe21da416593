"""`torch.hub`: models of local folders. What would download raises RuntimeError.

A folder's file `hubconf.py` defines functions, one for each model, and may name the packages that
they need in a list `dependencies`.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NoReturn
from urllib.parse import urlparse

from graphwright.runtime.naming import missing

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url",
           "set_dir", "urlparse"]

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
_directory: builtins.list[str] = []


def _get_torch_home() -> str:
    """The folder of PyTorch's caches: $TORCH_HOME, or `torch` in $XDG_CACHE_HOME or ~/.cache."""
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir() -> str:
    """The folder of models that were downloaded before: `hub` in PyTorch's, or `set_dir`'s."""
    return _directory[0] if _directory else os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Use another folder from now on."""
    _directory[:] = [os.path.expanduser(d)]


def download_url_to_file(url: str, dst: str, *args: Any, **options: Any) -> NoReturn:
    """Raises RuntimeError: nothing is downloaded."""
    raise RuntimeError(f"hub: graphwright downloads nothing, neither {url!r}. Download the files "
                       "yourself, and give their folder with source='local', or load_state_dict "
                       "what torch.load gives of a file")


def load_state_dict_from_url(url: str, *args: Any, **options: Any) -> NoReturn:
    """Raises RuntimeError: nothing is downloaded."""
    download_url_to_file(url, "")


def load(
    repo_or_dir: str | os.PathLike[str], model: str, *args: Any, source: str = "github",
    **kwargs: Any,
) -> Any:
    """What the function `model` of a folder's `hubconf.py` returns for the other arguments.

    Raises:
        RuntimeError: `source` is not "local", the folder has no such function, or the packages
            that it needs are missing.
        FileNotFoundError: the folder has no hubconf.py.
        ValueError: `source` is neither "local" nor "github".
    """
    for name in ("trust_repo", "force_reload", "verbose", "skip_validation"):
        kwargs.pop(name, None)
    with _configuration(repo_or_dir, source) as module:
        return _entry(module, model)(*args, **kwargs)


def list(github: str | os.PathLike[str], *args: Any, source: str = "local", **options: Any
         ) -> builtins.list[str]:
    """The names of the models of a folder."""
    with _configuration(github, source) as module:
        return [name for name, value in vars(module).items()
                if callable(value) and not name.startswith("_")]


def help(github: str | os.PathLike[str], model: str, *args: Any, source: str = "local",
         **options: Any) -> str | None:
    """The docstring of a model's function."""
    with _configuration(github, source) as module:
        return _entry(module, model).__doc__


load_url = load_state_dict_from_url


def __getattr__(name: str) -> Any:
    """The progress bar that libraries take from here: that of tqdm, which has to be installed."""
    if name != "tqdm":
        raise missing(__name__, name)
    return importlib.import_module("tqdm").tqdm


@contextmanager
def _configuration(folder: str | os.PathLike[str], source: str) -> Iterator[ModuleType]:
    """The module of a folder's hubconf.py, which can import what lies beside it meanwhile."""
    if source not in ("local", "github"):
        raise ValueError(f"Unknown source: {source!r}. Allowed values: 'github' | 'local'.")
    if source == "github":
        download_url_to_file(f"https://github.com/{folder}", "")
    path = os.path.join(os.path.abspath(os.path.expanduser(folder)), "hubconf.py")
    if not os.path.isfile(path):
        raise FileNotFoundError(f"hub: there is no file {path}")
    spec = importlib.util.spec_from_file_location("hubconf", path)
    assert spec is not None and spec.loader is not None
    sys.path.insert(0, os.path.dirname(path))
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        missing = [name for name in getattr(module, "dependencies", ())
                   if importlib.util.find_spec(name) is None]
        if missing:
            raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
        yield module
    finally:
        sys.path.remove(os.path.dirname(path))


def _entry(module: ModuleType, model: str) -> Callable[..., Any]:
    found = getattr(module, model, None)
    if not isinstance(model, str) or not callable(found):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    function: Callable[..., Any] = found
    return function
