"""One case of `graphwright bench` in a process of its own: its first call, memory, time, results.

`python bench_process.py CONFIG.json` runs it, under any Python: where the case is one of another
library, graphwright need not be installed, and the file's `import graphwright` gives that library.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.util
import json
import os
import pathlib
import sys
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

OWN = ("eager", "compiled")
"""The cases of graphwright itself."""
CALLS = 3
"""Calls after the first one that the peak of memory is taken over."""


class CannotRunError(Exception):
    """Why a library cannot run the file, in one line."""


class MissingNameError(CannotRunError, AttributeError):
    """A name that a library lacks, for which `hasattr` is False."""


# values that cross processes


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The parts of nested containers that are no containers, each with its place."""
    if isinstance(value, (list, tuple)):
        for number, part in enumerate(value):
            yield from leaves(part, f"{path}[{number}]")
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, f"{path}[{key!r}]")
    else:
        yield path, value


def packed(value: Any, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """A leaf as values that JSON has, its numbers in `arrays`. An object is its type alone."""
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return {"literal": repr(value)}
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufc":
        return stored(np.asarray(value), str(value.dtype), "array", arrays)
    if hasattr(value, "detach"):
        name = str(value.dtype).rpartition(".")[2]
        plain = value.detach().cpu()
        if name.startswith(("bfloat16", "float8")):
            plain = plain.float()
        entry = stored(plain.numpy(), name, "tensor", arrays)
        entry["grad"] = bool(value.requires_grad and value.is_leaf)
        return entry
    if type(value).__module__.partition(".")[0] in ("jax", "jaxlib"):
        name = str(value.dtype)
        numbers = np.asarray(value.astype("float32") if name == "bfloat16" else value)
        return stored(numbers, name, "tensor", arrays)
    return {"opaque": type(value).__name__}


def stored(array: np.ndarray, dtype: str, kind: str, arrays: dict[str, np.ndarray]
           ) -> dict[str, Any]:
    """The entry of an array."""
    key = f"a{len(arrays)}"
    arrays[key] = array
    return {kind: key, "dtype": dtype}


def encoded(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Nested containers of leaves. Raises: CannotRunError for other objects."""
    if type(value) in (list, tuple):
        return {type(value).__name__: [encoded(part, arrays) for part in value]}
    if type(value) is dict:
        return {"dict": [[encoded(key, arrays), encoded(part, arrays)]
                         for key, part in value.items()]}
    entry = packed(value, arrays)
    if "opaque" in entry:
        raise CannotRunError(f"its inputs have a {entry['opaque']}, which has no form outside of "
                             "this process")
    return entry


def decoded(value: Any, arrays: Any, make: Callable[[np.ndarray, str, bool], Any]) -> Any:
    """What was encoded; `make` makes a tensor of numbers, the name of its dtype and whether it
    requires a gradient."""
    ((kind, content), *_) = value.items()
    if kind in ("list", "tuple"):
        parts = [decoded(part, arrays, make) for part in content]
        return parts if kind == "list" else tuple(parts)
    if kind == "dict":
        return {decoded(key, arrays, make): decoded(part, arrays, make) for key, part in content}
    if kind == "literal":
        return ast.literal_eval(content)
    if kind == "array":
        return arrays[content]
    return make(arrays[content], value["dtype"], value.get("grad", False))


# memory


def resident() -> tuple[int, int]:
    """Bytes of this process in memory, now and at most."""
    fields = dict(line.split(":", 1) for line in
                  pathlib.Path("/proc/self/status").read_text().splitlines())
    now, peak = (int(fields[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))
    return now, peak


def forget_peak() -> None:
    """Start the peak from what is in memory now, where the system allows it."""
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/clear_refs").write_text("5")


# the libraries


def module_at(path: str | pathlib.Path, name: str) -> types.ModuleType:
    """Import a file as the module of that name."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load(config: dict[str, Any]) -> tuple[types.ModuleType, Any]:
    """The file as a module, and what the target's name stands for in it."""
    path = pathlib.Path(config["file"])
    sys.path.insert(0, str(path.resolve().parent))
    found: Any = module_at(path, path.stem)
    module = found
    for part in config["name"].split("."):
        found = getattr(found, part)
    return module, found


class Case:
    """A function without arguments to time, and what to do about it."""

    version = ""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call = call

    def finish(self, result: Any) -> Any:
        """Wait for the numbers of a result."""
        return result

    def timed(self) -> Any:
        """A call that has its numbers when it returns."""
        return self.finish(self.call())


def own(config: dict[str, Any]) -> Case:
    """Graphwright, eagerly or compiled."""
    import graphwright as gw
    from graphwright.cli.loading import load_call

    _, function, inputs = load_call(f"{config['file']}:{config['name']}", config["inputs"])
    if config["case"] == "compiled":
        function = gw.compile(function, backend=config["backend"])
    gw.manual_seed(0)
    return Case(lambda: function(*inputs))


def torch_case(config: dict[str, Any], document: dict[str, Any], arrays: Any) -> Case:
    """PyTorch, eagerly or by `torch.compile`, from the numbers that graphwright starts from."""
    torch: Any = importlib.import_module("torch")
    for name in imported_names(config["file"]):
        if name.startswith("graphwright"):
            importlib.import_module(name.replace("graphwright", "torch", 1))
    for name, loaded in tuple(sys.modules.items()):
        if name.partition(".")[0] == "torch":
            sys.modules[name.replace("torch", "graphwright", 1)] = loaded
    module, function = load(config)

    def make(array: np.ndarray, dtype: str, grad: bool) -> Any:
        made = torch.from_numpy(np.array(array)).to(getattr(torch, dtype))
        return made.requires_grad_() if grad else made

    if isinstance(function, type) and issubclass(function, torch.nn.Module):
        function = function()
    states = {name: decoded(state, arrays, make) for name, state in document["states"].items()}
    for name, state in states.items():
        value = function if not name else getattr(module, name, None)
        with torch.no_grad():
            if isinstance(value, torch.nn.Module):
                value.load_state_dict(state)
            elif isinstance(value, torch.Tensor) and value.shape == state.shape:
                value.copy_(state)
    inputs = decoded(document["inputs"], arrays, make)
    if config["case"] == "torch.compile":
        function = torch.compile(function)
    torch.manual_seed(0)
    case = Case(lambda: function(*inputs))
    case.version = str(torch.__version__)
    return case


class Names(types.ModuleType):
    """JAX under PyTorch's names, as far as it has them: `jax.numpy`, `jax.nn`."""

    below: list[Any]

    def __init__(self, name: str, below: list[Any]) -> None:
        super().__init__(name)
        vars(self).update(below=below, __path__=[])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        for module in self.below:
            found = getattr(module, name, None)
            if found is not None:
                plain = isinstance(found, (type, types.ModuleType)) or not callable(found)
                return found if plain else renamed(found)
        raise MissingNameError(f"JAX has no {self.__name__}.{name}")


def renamed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of JAX that takes PyTorch's names of arguments."""
    names = {"dim": "axis", "keepdim": "keepdims"}

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{names.get(name, name): value for name, value in kwargs.items()})

    return call


def jax_case(config: dict[str, Any], document: dict[str, Any], arrays: Any) -> Case:
    """JAX: the function under `jax.jit`."""
    jax: Any = importlib.import_module("jax")
    jnp: Any = importlib.import_module("jax.numpy")
    jax.config.update("jax_enable_x64", True)

    def filled(number: float) -> Callable[..., Any]:
        """Makes an array; the file's own are replaced by graphwright's numbers below."""
        def make(*shape: Any, **_: Any) -> Any:
            return jnp.full(shape[0] if isinstance(shape[0], (tuple, list)) else shape, number)
        return make

    makers = {"randn": filled(0.0), "rand": filled(0.0), "zeros": filled(0.0),
              "ones": filled(1.0), "manual_seed": lambda seed: None}
    for root in ("torch", "graphwright"):
        functional = Names(f"{root}.nn.functional", [jax.nn])
        nn = Names(f"{root}.nn", [])
        vars(nn)["functional"] = functional
        top = Names(root, [jnp, jax.nn])
        vars(top).update(makers, nn=nn)
        sys.modules.update({root: top, f"{root}.nn": nn, f"{root}.nn.functional": functional})
    module, function = load(config)
    if not callable(function) or isinstance(function, type):
        raise CannotRunError(f"{config['name']} is not a function")

    def make(array: np.ndarray, dtype: str, grad: bool) -> Any:
        return jnp.asarray(array).astype(getattr(jnp, "bool_" if dtype == "bool" else dtype))

    for name, state in document["states"].items():
        if "tensor" in state and hasattr(module, name):
            setattr(module, name, decoded(state, arrays, make))
    inputs = decoded(document["inputs"], arrays, make)
    jitted = jax.jit(function)
    case = Case(lambda: jitted(*inputs))
    case.finish = jax.block_until_ready  # type: ignore[method-assign]
    case.version = str(jax.__version__)
    return case


def imported_names(file: str | pathlib.Path) -> set[str]:
    """The modules that the import statements of a file name."""
    nodes = list(ast.walk(ast.parse(pathlib.Path(file).read_bytes())))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return names | {node.module for node in nodes
                    if isinstance(node, ast.ImportFrom) and node.module and not node.level}


# the process


def measured(config: dict[str, Any]) -> dict[str, Any]:
    """What is known of the case after its calls; results go to the files of the config."""
    name = config["case"]
    if name in OWN:
        case = own(config)
    else:
        document = json.loads(pathlib.Path(config["document"]).read_text())
        with np.load(config["arrays"]) as arrays:
            make = jax_case if name == "jax.jit" else torch_case
            case = make(config, document, dict(arrays))
    forget_peak()
    before, _ = resident()
    start = time.perf_counter()
    result = case.timed()
    first = time.perf_counter() - start
    outcome: dict[str, Any] = {"first_s": first, "version": case.version}
    if name not in OWN:
        found: dict[str, np.ndarray] = {}
        outcome["leaves"] = [[path, packed(leaf, found)] for path, leaf in leaves(result)]
        np.savez(config["results"], **found)  # type: ignore[arg-type]
    del result
    for _ in range(CALLS):
        case.timed()
    peak = resident()[1]
    outcome.update(peak_bytes=peak, call_bytes=max(peak - before, 0))
    clock: Any = module_at(config["clock"], "graphwright_clock")
    outcome["samples"] = clock.samples_in_turns(
        {name: case.timed}, seconds=config["seconds"], least_rounds=7)[name]
    return outcome


def one_line(error: BaseException) -> str:
    """An exception's type, and the first line of its text."""
    text = str(error).strip().splitlines()
    first = text[0] if text else ""
    return first if isinstance(error, CannotRunError) else f"{type(error).__name__}: {first}"


def main(path: str) -> None:
    """Run the case of a config, and write what came of it to the file that it names."""
    config = json.loads(pathlib.Path(path).read_text())
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if entry != here]
    sys.stdout = sys.stderr
    try:
        outcome = measured(config)
    except (Exception, SystemExit) as error:
        outcome = {"problem": one_line(error)}
    pathlib.Path(config["outcome"]).write_text(json.dumps(outcome))


if __name__ == "__main__":
    main(sys.argv[1])
