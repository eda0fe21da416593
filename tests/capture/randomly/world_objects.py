"""More globals of random programs: descriptors, iterators that end early, managers that swallow.

It is a continuation of the text of `world_shapes`.
"""

import contextlib
import string  # noqa: F401
import textwrap  # noqa: F401

import graphwright as gw


class Kept:
    """A data descriptor that keeps its values in the instance, and logs reads and writes."""

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self.name
        instance.log.append(f"read {self.name}")
        return vars(instance)[self.name]

    def __set__(self, instance, value):
        instance.log.append(f"wrote {self.name}")
        vars(instance)[self.name] = value

    def __delete__(self, instance):
        instance.log.append(f"deleted {self.name}")
        vars(instance).pop(self.name)


class Asked:
    """No data descriptor: an instance's own attribute hides it."""

    def __init__(self, by):
        self.by = by

    def __get__(self, instance, owner=None):
        return self.by if instance is None else instance.v + self.by


class Holder(Shown):  # noqa: F821
    first = Kept()
    other = Asked(3)
    made = 0

    def __init__(self, v, log):
        self.log = log
        self.v = v
        type(self).made = (type(self).made + 1) % 5
        self.first = v


class Strict(Holder):
    """Names that it has not are answered; those that begin with `_` cannot be written."""

    __slots__ = ("own",)

    def __getattr__(self, name):
        if name in ("own", "nothing"):
            raise AttributeError(name)
        return len(name)

    def __setattr__(self, name, value):
        if name.startswith("_"):
            raise AttributeError("not this one")
        super().__setattr__(name, value)


class Short:
    """An iterator that ends, begins again, and knows about how long it is."""

    def __init__(self, n):
        self.n = int(n)

    def __iter__(self):
        return self

    def __next__(self):
        self.n -= 1
        if self.n % 3 == 0:
            raise StopIteration(self.n)
        return self.n

    def __length_hint__(self):
        return 2

    def __reversed__(self):
        return iter([self.n, -1])


class Numbered:
    """Iterated by its items, and unpacked as a mapping."""

    def __init__(self, *values):
        self.values = values

    def __getitem__(self, key):
        return len(key) if isinstance(key, str) else self.values[key]

    def keys(self):
        return ["scale", "more"]


class Sent:
    """An iterator that takes what is sent and thrown, as generators do."""

    def __init__(self, log):
        self.log = log

    def __iter__(self):
        return self

    def __next__(self):
        return self.send(None)

    def send(self, value):
        self.log.append(("sent", value))
        if value == 2 or len(self.log) > 9:
            raise StopIteration(value)
        return len(self.log)

    def throw(self, error, *rest):
        self.log.append(type(error).__name__)
        return -1

    def close(self):
        self.log.append("closed")


def through(source, log):
    try:
        result = yield from source
        log.append(("result", result))
    except Trouble as trouble:  # noqa: F821
        log.append(("through", trouble.args))
        yield 0
    finally:
        log.append("left")
    return len(log)


class Swallowing(contextlib.ContextDecorator):
    """Not a generator: of one that swallows, CPython leaves a cycle of frames and exception."""

    def __init__(self, log, *kinds):
        self.log = log
        self.kinds = kinds

    def __enter__(self):
        return self.log

    def __exit__(self, kind, error, traceback):
        if kind is None:
            self.log.append("fine")
        elif issubclass(kind, self.kinds):
            self.log.append(("swallowed", kind.__name__))
        return kind is not None and issubclass(kind, self.kinds)


@contextlib.contextmanager
def twice_yielding(log):
    log.append("first")
    yield
    log.append("second")
    yield


@contextlib.contextmanager
def doubled_inside(t):
    """A tensor is twice as large inside of the block."""
    t.mul_(2)
    try:
        yield t
    finally:
        t.div_(2)


class Rounded:
    """Numbers whose operators are unusual, one of them reflected by a subclass."""

    def __init__(self, v):
        self.v = v

    def __divmod__(self, other):
        return "divmod", other

    def __round__(self, digits=None):
        return self.v if digits is None else digits

    def __sub__(self, other):
        return "sub"

    def __pow__(self, other, modulus=None):
        return "pow" if modulus is None else modulus

    def __neg__(self):
        return type(self)(-self.v)

    def __float__(self):
        return float(self.v)

    def __imatmul__(self, other):
        return other

    def __eq__(self, other):
        return NotImplemented if isinstance(other, str) else self.v == getattr(other, "v", other)

    def __hash__(self):
        return self.v % 3

    def __lt__(self, other):
        return self.v < other.v

    def __bool__(self):
        if self.v == 3:
            raise ValueError("three is neither")
        return self.v > 0

    def __repr__(self):
        return f"{type(self).__name__}({self.v})"


class Finer(Rounded):
    def __rsub__(self, other):
        return "rsub"

    def __eq__(self, other):
        return super().__eq__(other) and isinstance(other, Finer)

    __hash__ = Rounded.__hash__


class Clamping(gw.autograd.Function):
    """Made in two parts; the gradient is let through where nothing was cut."""

    @staticmethod
    def forward(t, most):
        return t.clamp(max=most), (t <= most)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output[1])
        ctx.most = inputs[1]
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx, grad, _):
        return grad * ctx.saved_tensors[0] + ctx.most * 0, None


def even(n, t):
    return t if n <= 0 else odd(n - 1, t + 1)


def odd(n, t):
    if n <= 0:
        return -t
    print(end="o")
    return even(n - 1, t * 2)
