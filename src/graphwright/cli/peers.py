"""The cases of `graphwright bench` that run in processes of their own, and what they found."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import graphwright as gw
from graphwright.cli import bench_process
from graphwright.cli.bench_process import CannotRunError, encoded, leaves, packed
from graphwright.cli.comparison import leaf_difference
from graphwright.cli.errors import UserError
from graphwright.report import clock
from graphwright.runtime.record import Record
from graphwright.runtime.stderr_notices import is_terminal, show_progress

PEERS = {"torch": "torch", "torch.compile": "torch", "jax.jit": "jax"}
"""The cases of other libraries, and the library of each."""
PATIENCE = 600.0
"""Seconds that a process may take."""


class Start(Record):
    """A folder for the files of processes, and what all of them are to run."""

    folder: Path
    file: str
    name: str
    inputs: tuple[str, ...]
    backend: str

    def run(self, case: str, python: str, seconds: float, cache: Path) -> dict[str, Any]:
        """What a process found of a case, or {"problem": a line}.

        cache: the folder of compiled code, of this library and of others.
        """
        files = {key: str(self.folder / name) for key, name in (
            ("document", "document.json"), ("arrays", "arrays.npz"), ("results", "results.npz"),
            ("outcome", "outcome.json"))}
        config = {"case": case, "file": os.path.abspath(self.file), "name": self.name,
                  "inputs": self.inputs, "backend": self.backend, "seconds": seconds,
                  "clock": clock.__file__, **files}
        (self.folder / "config.json").write_text(json.dumps(config))
        progress(f"{case} in a process of its own")
        outcome = Path(files["outcome"])
        outcome.unlink(missing_ok=True)
        command = [python, bench_process.__file__, str(self.folder / "config.json")]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                                  timeout=PATIENCE, env=environment(cache), check=False)
        except subprocess.TimeoutExpired:
            return {"problem": f"it took longer than {PATIENCE:.0f} s"}
        if not outcome.exists():
            last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
            return {"problem": f"its process ended early: {last[0]}"}
        found: dict[str, Any] = json.loads(outcome.read_text())
        if "leaves" in found:
            with np.load(files["results"]) as arrays:
                found["arrays"] = dict(arrays)
        return found


def progress(text: str) -> None:
    """Show on a terminal what is being measured."""
    if is_terminal():
        show_progress(f"[graphwright] bench: {text}")


def environment(cache: Path) -> dict[str, str]:
    """The environment of a process whose compiled code is kept in `cache`."""
    # The stand-in for torch has set its variable here; each process decides for itself.
    known = {name: value for name, value in os.environ.items()
             if name != "GRAPHWRIGHT_TORCH_VERSION"}
    return {**known, "GRAPHWRIGHT_CACHE_DIR": str(cache), "GRAPHWRIGHT_NOTICES": "0",
            "TORCHINDUCTOR_CACHE_DIR": str(cache / "torch"),
            "JAX_COMPILATION_CACHE_DIR": str(cache / "jax"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "PYTHONDONTWRITEBYTECODE": "1"}


def installed_in(python: str) -> dict[str, bool]:
    """Which libraries of `PEERS` a Python could import.

    Raises:
        UserError: it is no Python that runs.
    """
    names = sorted(set(PEERS.values()))
    program = ("import importlib.util, json, sys; sys.path[:] = filter(None, sys.path); "
               "print(json.dumps({name: importlib.util.find_spec(name) is not None "
               f"for name in {names}}}))")
    try:
        done = subprocess.run([python, "-c", program], capture_output=True, text=True, timeout=60,
                              check=True)
        found: dict[str, bool] = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise UserError(f"{python} is no Python that runs: {type(error).__name__}",
                        "give the path of an interpreter with --peer-python") from None
    return found


def hand_over(folder: Path, module: ModuleType, function: Any, inputs: Sequence[Any]
              ) -> str | None:
    """Write inputs, and the tensors and modules that the file defines, for other libraries.

    Returns: why that cannot be done, None if it was.
    """
    arrays: dict[str, np.ndarray] = {}
    try:
        document = {"inputs": encoded(tuple(inputs), arrays),
                    "states": dict(states(module, function, arrays))}
    except CannotRunError as problem:
        return str(problem)
    (folder / "document.json").write_text(json.dumps(document))
    np.savez(folder / "arrays.npz", **arrays)  # type: ignore[arg-type]
    return None


def states(module: ModuleType, function: Any, arrays: dict[str, np.ndarray]
           ) -> Iterator[tuple[str, Any]]:
    """The numbers of the target, named "", and of the module's globals."""
    named = [("", function), *vars(module).items()]
    for name, value in named:
        if isinstance(value, gw.nn.Module):
            yield name, encoded(dict(value.state_dict()), arrays)
        elif isinstance(value, gw.Tensor):
            yield name, encoded(value, arrays)


def disagreement(expected: Any, found: dict[str, Any]) -> str | None:
    """How the results of another library differ from ours, None if they agree."""
    arrays: dict[str, np.ndarray] = {}
    ours = {path: packed(leaf, arrays) for path, leaf in leaves(expected)}
    theirs = dict(found["leaves"])
    if ours.keys() != theirs.keys():
        return f"{len(ours)} values, and {len(theirs)} of the other library, or in other places"
    for path, entry in ours.items():
        problem = leaf_difference(entry, theirs[path], arrays, found["arrays"])
        if problem is not None:
            return f"result{path}: {problem}"
    return None
