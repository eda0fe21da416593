"""Modules that make what they lack: a `__getattr__` in the module (PEP 562), or in its class.

Both are functions of the program and are interpreted, imports of loaded modules included. What
they keep in the module is there after the graph, and the next call reads it from there.
"""

from __future__ import annotations

import collections
import functools
import importlib.util
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured, same

X = gw.tensor([1.0, 2.0, 3.0])
HERE = sys.modules[__name__]
level = 1


def __getattr__(name: str) -> Any:
    if name == "late_level":
        return level + 1
    raise AttributeError(f"nothing named {name}")


def load(name: str, text: str) -> types.ModuleType:
    """A module of this source, as an import would leave it."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, f"<{name}>", "exec"), vars(module))
    return module


PLAIN = """
import importlib

_parts = {"OrderedDict": "collections", "abc": ".abc"}
scale = 2.0

def __getattr__(name):
    if name == "double":
        return scale * 2
    if name in _parts:
        module = importlib.import_module(_parts[name], "collections")
        globals()[name] = found = getattr(module, name, module)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

def doubled(x):
    return x * scale
"""


class Package(types.ModuleType):
    """Keeps what it made, as `transformers` does."""

    def __init__(self, name: str, table: dict[str, str]) -> None:
        super().__init__(name)
        self._table = table
        self.__all__ = list(table)

    def __getattr__(self, name: str) -> Any:
        if name in self._table:
            value = self._get(self._table[name])
        else:
            raise AttributeError(f"module {self.__name__} has no attribute {name}")
        setattr(self, name, value)
        return value

    def _get(self, text: str) -> Any:
        return len(text)


@pytest.fixture
def lazy() -> Iterator[Any]:
    yield load("lazy_of_tests", PLAIN)
    del sys.modules["lazy_of_tests"]


@pytest.fixture
def package() -> Iterator[Any]:
    name = "package_of_tests"
    module = sys.modules[name] = Package(name, {"a": "one", "b": "other"})
    yield module
    del sys.modules[name]


def fresh(captured: Captured, module: Any, *made: str) -> Any:
    """What the compiled function gives, compared with Python's, where nothing is made yet."""
    compiled = captured(X)
    after = {name: name in vars(module) for name in made}
    for name in made:
        vars(module).pop(name, None)
    assert same(compiled, captured.function(X))
    assert after == {name: name in vars(module) for name in made}
    return compiled


def test_a_function_of_the_module_is_asked(lazy: Any) -> None:
    captured = Captured(lambda x: (x * lazy.double, hasattr(lazy, "other"), lazy.scale))
    for scale in (2.0, 2.0, 3.0):
        lazy.scale = scale
        assert captured.agrees(X)
    assert not captured.breaks
    assert captured.graphs == 2


def test_what_it_imports_and_keeps_is_in_the_module_afterwards(lazy: Any) -> None:
    captured = Captured(lambda x: lazy.OrderedDict(a=x + 1))
    made = fresh(captured, lazy, "OrderedDict")
    assert type(made) is collections.OrderedDict
    assert captured.agrees(X)   # now from the module itself
    assert captured.agrees(X)
    assert not captured.breaks
    assert captured.graphs == 2


def test_from_imports_ask_it_too(lazy: Any) -> None:
    def function(x: Any) -> Any:
        from lazy_of_tests import abc, double  # type: ignore[import-not-found]

        return x * double, abc.__name__

    captured = Captured(function)
    fresh(captured, lazy, "abc")
    assert not captured.breaks


def test_a_class_of_modules_is_asked(package: Any) -> None:
    def function(x: Any) -> Any:
        from package_of_tests import b  # type: ignore[import-not-found]

        return x * package.a + b, package.__all__, hasattr(package, "c"), package._get("four")

    captured = Captured(function)
    fresh(captured, package, "a", "b")
    assert captured.agrees(X)
    assert not captured.breaks
    package._table["c"] = "new"
    assert captured.agrees(X)
    assert not captured.breaks


def test_the_module_of_the_captured_function_is_asked() -> None:
    captured = Captured(lambda x: (x + HERE.late_level, getattr(HERE, "absent", 3)))
    assert captured.agrees(X)
    assert not captured.breaks


@pytest.mark.parametrize(
    ("change", "graphs"),
    [
        (lambda module: setattr(module, "double", 7.0), 2),
        (lambda module: setattr(module, "scale", 7.0), 2),
        (lambda module: setattr(module, "__getattr__", lambda name: 9.0), 2),
        (lambda module: setattr(module, "__class__", Other), 2),
        (lambda module: setattr(module, "unrelated", 1), 1),
    ],
)
def test_a_change_of_the_module_recompiles(
    lazy: Any, change: Callable[[Any], None], graphs: int
) -> None:
    captured = Captured(lambda x: x * lazy.double)
    assert captured.agrees(X)
    change(lazy)
    assert captured.agrees(X)
    assert captured.graphs == graphs
    assert not captured.breaks


class Other(types.ModuleType):
    double = 5.0


def test_a_function_that_is_gone_is_no_more_asked(lazy: Any) -> None:
    captured = Captured(lambda x: x * getattr(lazy, "double", 1.0))
    assert captured.agrees(X)
    del lazy.__getattr__
    assert captured.agrees(X)
    lazy.__getattr__ = lambda name: 8.0
    assert captured.agrees(X)
    assert not captured.breaks


def test_errors_of_it_are_those_of_python(lazy: Any) -> None:
    def function(x: Any) -> Any:
        try:
            return x + lazy.absent
        except AttributeError as error:
            return str(error), x + 1

    captured = Captured(function)
    assert captured.agrees(X)
    assert not captured.breaks


# attributes of modules that the frame writes, and globals: two names of one place


def test_an_attribute_that_the_frame_writes_is_what_functions_of_the_module_see(
    lazy: Any,
) -> None:
    def function(x: Any) -> Any:
        before = lazy.doubled(x)
        lazy.scale = lazy.scale + 1
        lazy.made = "new"
        return before, lazy.doubled(x), lazy.scale, lazy.made, vars(lazy)["made"]

    lazy.scale = 2.0
    captured = Captured(function)
    compiled = captured(X)
    assert lazy.scale == 3.0
    del lazy.made
    lazy.scale = 2.0
    assert same(compiled, function(X))
    assert not captured.breaks


def test_globals_and_attributes_of_the_own_module_are_one() -> None:
    def function(x: Any) -> Any:
        global level
        level = 5
        first = HERE.level
        HERE.level = 7
        return x + level, first, HERE.level

    captured = Captured(function)
    assert captured.agrees(X)
    assert level == 7
    HERE.level = 1
    assert captured.agrees(X)
    assert not captured.breaks


def test_modules_of_this_package_fill_themselves() -> None:
    """What they load when it is first asked for is there from then on, and is read from there."""
    program = """
import graphwright as gw
f = gw.compile(lambda x: x + 1 if gw.jit.is_scripting() else x * hasattr(gw, "nothing"))
assert "jit" not in vars(gw)
f(gw.ones(3)), f(gw.ones(3))
print(gw.compiler.stats(f))
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "graphs=1, breaks=0, fallbacks=0, recompiles=0" in found.stdout, found.stderr


def test_modules_of_this_package_are_imported_while_capturing() -> None:
    program = """
import sys
import graphwright as gw

def f(x):
    import graphwright.hub
    import graphwright.fx.passes
    try:
        from graphwright.nothing import of_that_name
    except ImportError:
        x = x + 1
    return x * 2

assert "graphwright.hub" not in sys.modules
f = gw.compile(f)
assert gw.equal(f(gw.ones(3)), gw.full((3,), 4.0))
print(gw.compiler.stats(f))
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "graphs=1, breaks=0, fallbacks=0, recompiles=0" in found.stdout, found.stderr


# imports in functions


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package that nobody has imported, with a module in it and a name made late."""
    package = tmp_path / "late_package_of_tests"
    package.mkdir()
    (package / "__init__.py").write_text("def __getattr__(name):\n"
                                         "    if name != 'made': raise AttributeError(name)\n"
                                         "    return 4.0\n")
    (package / "part.py").write_text("scale = 3.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    for name in [name for name in sys.modules if name.startswith(package.name)]:
        del sys.modules[name]


def imports_a_part(x: Any) -> Any:
    from late_package_of_tests.part import scale  # type: ignore[import-not-found]

    return x * scale


def imports_from_a_package(x: Any) -> Any:
    from late_package_of_tests import made, part

    return x * part.scale + made


@pytest.mark.parametrize("function", [imports_a_part, imports_from_a_package])
def test_an_import_of_what_is_not_loaded_is_a_break_until_it_is(
    folder: Path, function: Callable[..., Any]
) -> None:
    captured = Captured(function)
    assert gw.allclose(captured(X), X * 3 if function is imports_a_part else X * 3 + 4)
    breaks = list(captured.breaks)
    assert breaks
    assert set(breaks) == {"GB0005"}
    for _ in range(3):
        assert captured.agrees(X)
    assert captured.breaks == breaks
    assert captured.record.recompiles[-1].code == "GB0107"
    assert captured.record.graphs[-1].n_ops == (1 if function is imports_a_part else 2)


def test_what_plain_modules_have_of_their_class() -> None:
    def function(x: Any) -> Any:
        return HERE.__class__, HERE.__name__, HERE.__doc__, "pi" in vars(math), x + math.pi

    import math

    captured = Captured(function)
    assert captured.agrees(X)
    assert not captured.breaks


# functions with a cache


@functools.lru_cache
def is_installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def test_a_cached_function_is_a_break_until_it_has_run() -> None:
    """`find_spec` is no function that capture runs; what is kept of it is."""

    def scaled(x: Any) -> Any:
        return x * 2 if is_installed("json") else x

    is_installed.cache_clear()
    captured = Captured(lambda x: scaled(x + 1))
    assert gw.equal(captured(X), (X + 1) * 2)
    breaks = list(captured.breaks)
    assert set(breaks) == {"GB0004"}
    for _ in range(2):
        assert captured.agrees(X)
    assert captured.breaks == breaks
    assert captured.ops[-1] == 2
