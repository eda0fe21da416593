"""mov, cvta, ld, st: data between registers, and between registers and memory."""

from __future__ import annotations

import numpy as np

from .decode import Decoder, Form, form
from .memory import LOCAL_WINDOW, PARAMETERS, SHARED_WINDOW
from .text import Address, Operand, Symbol, Vector
from .threads import Reader, Step, Threads, Writer
from .values import ILLEGAL_ADDRESS, TYPES, Array, Fault, Type, UnknownForm

SPACES = {"global": "global", "shared": "shared", "shared::cta": "shared", "local": "local",
          "param": "param"}
# What changes how caches treat an access, or its order, but not its value here.
HINTS = ("weak", "relaxed", "acquire", "release", "volatile", "cta", "gpu", "sys", "nc", "ca",
         "cg", "cs", "lu", "cv", "wb", "wt", "L1::evict_first", "L1::evict_last",
         "L1::evict_normal",
         "L1::no_allocate", "L1::evict_unchanged", "L2::64B", "L2::128B", "L2::256B",
         "L2::evict_first", "L2::evict_last", "L2::evict_normal")


@form("mov")
def mov(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    kind = f.type()
    if kind.kind == "f":
        kind = TYPES[f"b{8 * kind.size}"]
    if isinstance(a[0], Vector):
        return unpack(d, a, kind)
    put = d.write(a[0])
    if isinstance(a[1], Vector):
        return pack(d, a[1].items, kind, put)
    source = d.read(a[1], kind)
    return lambda t: put(t, source(t))


def unpack(d: Decoder, a: tuple[Operand, ...], kind: Type) -> Step:
    """`mov.b64 {low, high}, value`."""
    targets = [d.write(one) for one in d.vector(a[0])]
    part = np.dtype(f"u{kind.size // len(targets)}")
    value = d.read(a[1], kind)

    def step(t: Threads) -> None:
        whole = value(t)
        for at, put in enumerate(targets):
            put(t, (whole >> kind.bits.type(8 * part.itemsize * at)).astype(part))
    return step


def pack(d: Decoder, items: tuple[Operand, ...], kind: Type, put: Writer) -> Step:
    """`mov.b64 value, {low, high}`."""
    part = TYPES[f"b{8 * kind.size // len(items)}"]
    sources = [d.read(one, part) for one in items]

    def step(t: Threads) -> None:
        whole = sources[0](t).astype(kind.bits)
        for at, source in enumerate(sources[1:], 1):
            by = kind.bits.type(8 * part.size * at)
            whole = whole | (source(t).astype(kind.bits) << by)
        put(t, whole)
    return step


@form("cvta")
def cvta(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    """Addresses of a state space to generic ones, or (.to) back."""
    back, kind = f.flag("to"), f.type()
    space = f.choice("global", "param", "const", "local", "shared", "shared::cta")
    window = {"param": PARAMETERS, "local": LOCAL_WINDOW, "shared": SHARED_WINDOW,
              "shared::cta": SHARED_WINDOW}
    offset = kind.dtype.type(window.get(space, 0))
    source, put = d.read(a[1], kind), d.write(a[0])
    if not offset:
        return lambda t: put(t, source(t))
    return lambda t: put(t, source(t) - offset if back else source(t) + offset)


def space_of(t: Threads, addresses: Array) -> tuple[str, Array]:
    """The state space that generic addresses are in, and those in it."""
    found = []
    for name, start in (("local", LOCAL_WINDOW), ("shared", SHARED_WINDOW), ("global", 0)):
        inside = addresses >= np.uint64(start)
        if inside.all():
            return name, addresses - np.uint64(start)
        found.append(bool(inside.any()))
    raise Fault("generic addresses in several state spaces at once", ILLEGAL_ADDRESS)


def gather(t: Threads, space: str, addresses: Array, size: int) -> Array:
    """What the active lanes load: bit patterns, rows of 8-byte words where `size` is above 8."""
    lanes = t.active()
    addresses = addresses if t.mask is None else addresses[lanes]
    describe = t.describe(lanes)
    if space == "generic" and len(lanes):
        space, addresses = space_of(t, addresses)
    if space == "shared":
        return t.blocks.shared.load(t.blocks.index[lanes], addresses, size, describe)
    if space == "local":
        return t.local.load(lanes, addresses, size, describe)
    width = (size // 8,) if size > 8 else ()
    result = np.empty((len(lanes), *width), f"u{min(size, 8)}")
    for some, view, index in t.blocks.memory.cells(addresses, size, describe):
        if isinstance(some, slice):
            return np.take(view, index, axis=0)
        result[some] = view[index]
    return result


def scatter(t: Threads, space: str, addresses: Array, values: Array, size: int) -> None:
    """Store one value for each active lane."""
    lanes = t.active()
    addresses = addresses if t.mask is None else addresses[lanes]
    describe = t.describe(lanes)
    if space == "generic" and len(lanes):
        space, addresses = space_of(t, addresses)
    if space == "shared":
        t.blocks.shared.store(t.blocks.index[lanes], addresses, values, size, describe)
    elif space == "local":
        t.local.store(lanes, addresses, values, size, describe)
    else:
        for some, view, index in t.blocks.memory.cells(addresses, size, describe):
            view[index] = values if isinstance(some, slice) else values[some]


def spread(t: Threads, values: Array) -> Array:
    """Values of the active lanes as one for each lane."""
    if t.mask is None:
        return values
    result = np.zeros(t.count, values.dtype)
    result[t.mask] = values
    return result


def access(f: Form) -> tuple[str, int]:
    """The state space, and how many elements; a hint changes neither."""
    space = f.choice(*SPACES)
    count = {"": 1, "v2": 2, "v4": 4, "v8": 8}[f.choice("v2", "v4", "v8")]
    while f.flag(*HINTS, "L2::cache_hint"):
        pass
    return SPACES.get(space, "generic"), count


@form("ld")
def load(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    kind = f.type()
    space, count = access(f)
    targets = [d.write(one) for one in d.vector(a[0])]
    if len(targets) != count:
        raise UnknownForm(f"{len(targets)} destinations of .v{count}")
    if space == "param":
        return load_parameter(d, a[1], kind, targets)
    address, size = d.address(a[1]), kind.size * count
    dtype, put = kind.dtype, targets[0]
    if count == 1:
        return lambda t: put(t, spread(t, gather(t, space, address(t), size).view(dtype)))

    def step(t: Threads) -> None:
        rows = gather(t, space, address(t), size)
        columns = np.ascontiguousarray(rows.reshape(len(rows), -1).view(dtype).T)
        for write, column in zip(targets, columns, strict=True):
            write(t, spread(t, column))
    return step


def named(operand: Operand) -> tuple[str, int]:
    """The variable and the offset of a parameter's address."""
    if not isinstance(operand, Address) or not isinstance(operand.base, Symbol):
        raise UnknownForm(f"the parameter {operand}")
    return operand.base.name, operand.offset


def load_parameter(d: Decoder, operand: Operand, kind: Type, targets: list[Writer]) -> Step:
    """Of a kernel's parameter block, of a function's frame, or the result of a call."""
    name, offset = named(operand)
    size = kind.size * len(targets)
    if name in d.parameters:
        start, length = d.parameters[name]
        if offset + size > length:
            raise UnknownForm(f"byte {offset + size} of the {length} of {name}")
        start += offset

        def block(t: Threads) -> None:
            values = t.blocks.parameters[start:start + size].view(kind.dtype)
            for at, put in enumerate(targets):
                put(t, values[at:at + 1])
        return block

    def frame(t: Threads) -> None:
        values = np.ascontiguousarray(t.frame[name][:, offset:offset + size]).view(kind.dtype)
        for put, column in zip(targets, values.T, strict=True):
            put(t, np.ascontiguousarray(column))
    return frame


@form("st")
def store(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    kind = f.type()
    space, count = access(f)
    raw = TYPES[f"b{8 * kind.size}"]
    sources = [d.read(one, raw) for one in d.vector(a[1])]
    if len(sources) != count:
        raise UnknownForm(f"{len(sources)} sources of .v{count}")
    if space == "param":
        return store_parameter(*named(a[0]), sources, kind)
    address, size = d.address(a[0]), kind.size * count
    word = np.dtype(f"u{min(size, 8)}")

    def step(t: Threads) -> None:
        lanes = t.active()
        rows = np.empty((len(lanes), count), raw.dtype)
        for at, source in enumerate(sources):
            values = source(t)
            rows[:, at] = values if len(values) == 1 or t.mask is None else values[lanes]
        values = rows.view(word)
        scatter(t, space, address(t), values if size > 8 else values[:, 0], size)
    return step


def store_parameter(name: str, offset: int, sources: list[Reader], kind: Type) -> Step:
    """An argument of a call to come, or the result of the function."""
    size = kind.size

    def step(t: Threads) -> None:
        old = t.frame.get(name)
        end = offset + size * len(sources)
        data = np.zeros((t.count, max(end, 0 if old is None else old.shape[1])), np.uint8)
        if old is not None:
            data[:, :old.shape[1]] = old
        keep = slice(None) if t.mask is None else t.mask
        for at, source in enumerate(sources):
            values = np.ascontiguousarray(t.full(source(t))).view(np.uint8).reshape(t.count, size)
            start = offset + at * size
            data[keep, start:start + size] = values[keep]
        t.frame[name] = data
    return step


@form("createpolicy")
def create_policy(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    """A cache policy: any value, for it changes nothing here."""
    f.type()
    if not f.flag("fractional"):
        raise UnknownForm("a cache policy that is not .fractional")
    while f.flag(*HINTS):
        pass
    put = d.write(a[0])
    return lambda t: put(t, np.zeros(1, np.uint64))


@form("prefetch", "prefetchu", "discard", "applypriority")
def cache_hint(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    while f.flag("global", "local", "L1", "L2", "L2::evict_normal", "L2::evict_last"):
        pass
    d.address(a[0])
    return nothing


def nothing(t: Threads) -> None:
    """A step that changes nothing that is modelled."""

