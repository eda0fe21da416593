"""The frame hook, the dispatcher of compiled functions and guard programs, in C."""

from collections.abc import Callable, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final, Self, final

class _Missing: ...

MISSING: Final[_Missing]
"""Stands for a value that a source did not find."""
RUN_NATIVELY: Final[object]
"""A callback returns it to run this call natively and be asked again at the next."""
SUPPORTED: Final[bool]
"""Whether this interpreter is one whose frames the hook knows."""

@final
class GuardProgram:
    """Guards as a straight line of loads and checks.

    instructions: `(load, register, operands...)` and `(check, operands...)`.
    guards: one object per check, in order. inputs: registers that direct entries pass on.
    plain: a program of the same guards with one check for each; it tells which one fails.
    """

    guards: list[Any]
    n_checks: int
    def __new__(
        cls,
        instructions: Sequence[tuple[Any, ...]],
        n_registers: int,
        guards: list[Any],
        inputs: list[int],
        n_slots: int,
        plain: GuardProgram | None = None,
        /,
    ) -> Self: ...
    def check(self, function: FunctionType, slots: tuple[object, ...], /) -> bool:
        """Whether all guards hold for these argument slots."""
    def failure(
        self, function: FunctionType, slots: tuple[object, ...], /
    ) -> tuple[int, tuple[Any, ...]] | None:
        """The first guard that does not hold, and the values it looked at."""
    def inputs(self, function: FunctionType, slots: tuple[object, ...], /) -> tuple[Any, ...]:
        """The input values; raises RuntimeError where a guard does not hold."""
    def is_dead(self) -> bool:
        """Whether an object that a guard compares with is gone, so that it can never hold."""

@final
class Entry:
    """One compiled version of a code object: guards, and what to run when they hold."""

    program: GuardProgram
    code: CodeType | None
    direct: Callable[..., Any] | None
    select: int | tuple[int, ...] | None
    hooked: bool
    line: int
    keepalive: object
    locks: tuple[Any, ...] | None
    hits: int
    def __new__(
        cls,
        program: GuardProgram,
        code: CodeType | None = None,
        direct: Callable[..., Any] | None = None,
        select: int | tuple[int, ...] | None = None,
        hooked: bool = False,
        line: int = 0,
        keepalive: object = None,
        locks: tuple[Any, ...] = (),
    ) -> Self:
        """`locks`: the code runs while this thread holds them all; a call runs natively where
        another thread has one, or where guards fail once they are held."""

    def is_dead(self) -> bool:
        """Whether its guards can never hold again."""

@final
class CompiledFunction:
    """A function that runs the first entry whose guards hold, and asks the callback if none does.

    `callback(function, code, slots, entries)` returns an Entry, None (never ask again for this
    code), RUN_NATIVELY, or a tuple `(dict, name, dict, name, ...)`: run this call and those like
    it natively. Alike are calls whose arguments, and what these dicts hold under these names, are
    of the types that such calls had, the first members and attributes included; functions and
    generators of the same code. At most `limit` entries are made.
    """

    @property
    def __wrapped__(self) -> FunctionType: ...
    __name__: str
    __qualname__: str
    __doc__: str | None
    callback: Callable[..., Any]
    limit: int
    enabled: bool
    entries: tuple[Entry, ...]
    misses: int
    def __new__(
        cls, function: FunctionType, callback: Callable[..., Any], limit: int = 8
    ) -> Self: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: object, owner: type | None = None, /) -> Any: ...
    def reset(self) -> None:
        """Forget all entries, and that code was skipped; `callback.reset()` if there is one."""

@final
class Continuation:
    """What a frame returns that a graph break ends: a function, and what it is called with.

    Whoever evaluated the frame for the hook or a CompiledFunction makes that call instead.
    """

class Continued:
    """`continued[function, *args]` makes one: a call would look for signals behind it."""

    def __getitem__(self, items: tuple[Any, ...], /) -> Continuation: ...

continued: Continued

class Called:
    """`called[function, *args]` calls, and does not look for signals then, as calls do.

    Where the last arguments have names: `called[(function, *args, names),]`.
    """

    def __getitem__(self, items: tuple[Any, ...], /) -> Any: ...

called: Called

def plainly(
    listener: Callable[[Any], Any] | None, failure: Any, function: Callable[..., Any], /,
    *args: Any, **kwargs: Any,
) -> Continuation:
    """A continuation of which no frame is captured; `listener(failure)` once it has a result."""

def generator_state(generator: Any, /) -> bytes | None:
    """The words of a `random.Random`, without its `gauss_next`; None of other objects."""

def set_generator_state(generator: Any, state: bytes, /) -> None:
    """Go on where `generator_state` was called. Raises: TypeError if that gives None."""

def run_hooked(callback: Callable[..., Any], function: Callable[..., Any], /, *args: Any,
               **kwargs: Any) -> Any:
    """Call `function` with frames that it calls offered to `callback`."""

def run_unhooked(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call `function` with no frame captured in this thread."""

def hook_installed() -> int:
    """How many running calls need the frame hook."""

def frame_counts() -> tuple[int, int]:
    """How many frames of functions the hook was offered so far, and how many it replaced."""

def in_main_interpreter() -> bool:
    """Whether this is not a subinterpreter."""

def type_version(cls: type, /) -> int:
    """What CPython counts up when the class, or one that it derives from, is written to; -1 where
    it counts no more."""

def capturing() -> bool:
    """Whether this thread is inside a capture callback."""

def set_stance(stance: int, /) -> None:
    """1: all code runs as it is. 2: the limit of entries is told again and again. 0: neither."""

def skip_code(code: CodeType, /) -> None:
    """Never offer frames of this code."""

def code_entries(code: CodeType, /) -> tuple[Entry, ...]:
    """The entries which hooked frames of this code use."""

def reset_code(code: CodeType, /) -> None:
    """Forget what hooked frames of this code use."""

def reset_all() -> None:
    """Forget what hooked frames of any code use."""

def is_constant(value: object, /) -> bool:
    """Whether guards can compare it by value."""

def loaded_module(name: str, /) -> ModuleType:
    """`sys.modules[name]`."""

def function_global(function: FunctionType, name: str, /) -> Any:
    """A global as the function sees it, or the builtin."""

def instance_attribute(instance: object, name: str, /) -> Any:
    """The entry of the instance's `__dict__`; AttributeError if there is none."""

def instance_dict(instance: object, /) -> dict[str, Any]:
    """What lies in the instance, whatever its class defines as `__dict__`.

    AttributeError if it has none; TypeError of a class.
    """

def class_attribute(instance: object, name: str, /) -> Any:
    """What the MRO of its type holds, unbound; AttributeError if nothing."""

def mro_attribute(cls: type, name: str, after: type | None = None, /) -> Any:
    """What the MRO of the class holds, unbound; AttributeError if nothing."""

def dict_key(container: dict[Any, Any], position: int, /) -> Any:
    """The key at a position; IndexError if there are not so many."""

def dict_value(container: dict[Any, Any], position: int, /) -> Any:
    """The value at a position."""

def referent(reference: object, /) -> Any:
    """What a weak reference refers to, None where that is gone."""

def next_item(iterator: object, /) -> Any:
    """What the iterator of a range, list, tuple or dict gives next, or an enumeration or zip of
    such, which it goes on to give; MISSING at its end, and of anything else."""

def at_end(iterator: object, /) -> Any:
    """Whether such an iterator gives nothing any more; MISSING where that is not known, as of a
    dict that has changed."""

READS_CACHES: Final[bool]
"""Whether what `functools.lru_cache` keeps can be found and filled; the rest of these needs it."""

def cached_function(function: Any, /) -> Any:
    """The function itself, which the cached one calls."""

def cache_key(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], /) -> Any:
    """The key under which the cached function keeps what it gives for these arguments."""

def cached_result(function: Any, key: Any, /, *objects: Any) -> Any:
    """What is kept for a key, or MISSING. MISSING in the key means the next of the objects."""

def fill_cache(function: Any, result: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call a cached function, which gives `result` if it has to run."""

def unlist_subclass(cls: type, /) -> None:
    """Take a class that was just made out of `__subclasses__()` of its bases; ends weak
    references to it that have no callback."""
