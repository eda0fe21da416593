"""mov, cvta, ld, st: data between registers, and between registers and memory."""

from __future__ import annotations

import numpy as np

from .decode import Form, form
from .memory import PARAMETERS, WINDOWS
from .text import Address, Operand, Symbol, Vector
from .threads import Reader, Step, Threads, Writer
from .values import BITS, TYPES, Type, UnknownForm

SPACES = {"global": "global", "shared": "shared", "shared::cta": "shared", "local": "local",
          "param": "param"}
WIDTHS = {"v2": 2, "v4": 4, "v8": 8}
# What changes how caches treat an access, or its order, but not its value here.
HINTS = ("weak", "relaxed", "acquire", "release", "acq_rel", "volatile", "cta", "gpu", "sys", "nc",
         "ca", "cg", "cs", "lu", "cv", "wb", "wt", "L1::no_allocate", "L2::64B", "L2::128B",
         "L2::256B", "L2::cache_hint",
         *(f"{level}::evict_{how}" for level in ("L1", "L2")
           for how in ("first", "last", "normal", "unchanged")))


def nothing(t: Threads) -> None:
    """A step that changes nothing that is modelled."""


@form("mov")
def mov(f: Form) -> Step:
    kind = f.type()
    kind = TYPES[f"b{8 * kind.size}"] if kind.kind == "f" else kind
    target, source = f.operand(0), f.operand(1)
    if isinstance(target, Vector):
        return unpack(f.writes(target), f.read(source, kind), kind.size)
    if isinstance(source, Vector):
        part = TYPES[f"b{8 * kind.size // len(source.items)}"]
        return pack(f.reads(source, part), f.write(target), kind.bits, 8 * part.size)
    return f.apply(lambda x: x, kind)


def unpack(targets: list[Writer], value: Reader, size: int) -> Step:
    """`mov.b64 {low, high}, value`."""
    part = BITS[size // len(targets)]

    def step(t: Threads) -> None:
        whole = value(t)
        for at, put in enumerate(targets):
            put(t, (whole >> whole.dtype.type(8 * part.itemsize * at)).astype(part))
    return step


def pack(sources: list[Reader], put: Writer, bits: np.dtype, width: int) -> Step:
    """`mov.b64 value, {low, high}`."""
    def step(t: Threads) -> None:
        whole = sources[0](t).astype(bits)
        for at, source in enumerate(sources[1:], 1):
            whole = whole | (source(t).astype(bits) << bits.type(width * at))
        put(t, whole)
    return step


@form("cvta")
def cvta(f: Form) -> Step:
    """Addresses of a state space to generic ones, or (.to) back."""
    back, kind = f.flag("to"), f.type()
    space = SPACES[f.choice(*SPACES)]
    offset = kind.dtype.type(PARAMETERS if space == "param" else WINDOWS[space])
    return f.apply((lambda x: x - offset) if back else (lambda x: x + offset), kind)


def space_of_access(f: Form, registers: int) -> str:
    """The state space of so many elements."""
    space, count = f.table(SPACES, "generic"), f.table(WIDTHS, 1)
    f.flag(*HINTS)
    if registers != count:
        raise UnknownForm(f"{registers} registers of .v{count}")
    return space


@form("ld")
def load(f: Form) -> Step:
    kind, targets = f.type(), f.writes(0)
    space, count = space_of_access(f, len(targets)), len(targets)
    if space == "param":
        return load_parameter(f, kind, targets)
    address, size = f.address(1), kind.size * count
    dtype, put = kind.dtype, targets[0]
    if count == 1:
        return lambda t: put(t, t.spread(
            t.load(space, t.active(), t.chosen(address(t)), size).view(dtype)))

    def step(t: Threads) -> None:
        rows = t.load(space, t.active(), t.chosen(address(t)), size)
        columns = np.ascontiguousarray(rows.reshape(len(rows), -1).view(dtype).T)
        for write, column in zip(targets, columns, strict=True):
            write(t, t.spread(column))
    return step


def named(operand: Operand) -> tuple[str, int]:
    """The variable and the offset of a parameter's address."""
    if not isinstance(operand, Address) or not isinstance(operand.base, Symbol):
        raise UnknownForm(f"the parameter {operand}")
    return operand.base.name, operand.offset


def load_parameter(f: Form, kind: Type, targets: list[Writer]) -> Step:
    """Of a kernel's parameter block, of a function's frame, or the result of a call."""
    name, offset = named(f.operand(1))
    size = kind.size * len(targets)
    if name in f.scope.parameters:
        start, length = f.scope.parameters[name]
        if offset + size > length:
            raise UnknownForm(f"byte {offset + size} of the {length} of {name}")
        start += offset

    def step(t: Threads) -> None:
        block = (t.blocks.parameters[None, start:start + size] if name in f.scope.parameters
                 else t.frame[name][:, offset:offset + size])
        for put, column in zip(targets, np.ascontiguousarray(block).view(kind.dtype).T,
                               strict=True):
            put(t, np.ascontiguousarray(column))
    return step


@form("st")
def store(f: Form) -> Step:
    kind = f.type()
    raw = TYPES[f"b{8 * kind.size}"]
    sources = f.reads(1, raw)
    space, count = space_of_access(f, len(sources)), len(sources)
    if space == "param":
        return store_parameter(*named(f.operand(0)), sources, kind.size)
    address, size = f.address(0), kind.size * count

    def step(t: Threads) -> None:
        lanes = t.active()
        rows = np.empty((len(lanes), count), raw.dtype)
        for at, source in enumerate(sources):
            rows[:, at] = t.chosen(source(t))
        values = rows.view(BITS[min(size, 8)])
        t.store(space, lanes, t.chosen(address(t)), values if size > 8 else values[:, 0], size)
    return step


def store_parameter(name: str, offset: int, sources: list[Reader], size: int) -> Step:
    """An argument of a call to come, or the result of the function."""
    def step(t: Threads) -> None:
        old = t.frame.get(name, np.zeros((t.count, 0), np.uint8))
        data = np.zeros((t.count, max(offset + size * len(sources), old.shape[1])), np.uint8)
        data[:, :old.shape[1]] = old
        lanes = t.active()
        for at, source in enumerate(sources, offset // size):
            values = np.ascontiguousarray(t.chosen(source(t))).view(np.uint8)
            data[lanes, at * size:at * size + size] = values.reshape(-1, size)
        t.frame[name] = data
    return step


@form("createpolicy")
def create_policy(f: Form) -> Step:
    """A cache policy: any value, for it changes nothing here."""
    f.type()
    f.need("fractional")
    f.flag(*HINTS)
    put = f.write(0)
    return lambda t: put(t, np.zeros(1, np.uint64))
