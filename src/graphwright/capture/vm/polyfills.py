"""Python for functions of the standard library that are written in C: capture inlines these.

Each does what the documentation of the function says, for the argument forms that it names.
"""

from __future__ import annotations

import functools
import heapq
from collections.abc import Callable, Iterable, Iterator
from typing import Any

_NOTHING: Any = object()
_sift_down: Any = heapq._siftdown  # type: ignore[attr-defined]
_sift_up: Any = heapq._siftup  # type: ignore[attr-defined]
_sift_up_of_largest: Any = heapq._siftup_max  # type: ignore[attr-defined]

# itertools


def accumulate(iterable: Iterable[Any], func: Any = None, *, initial: Any = None) -> Iterator[Any]:
    iterator = iter(iterable)
    total = initial
    if initial is None:
        try:
            total = next(iterator)
        except StopIteration:
            return
    yield total
    for item in iterator:
        total = total + item if func is None else func(total, item)
        yield total


def chain_from_iterable(iterable: Iterable[Iterable[Any]], /) -> Iterator[Any]:
    for part in iterable:
        yield from iter(part)


def compress(data: Iterable[Any], selectors: Iterable[Any]) -> Iterator[Any]:
    for item, chosen in zip(data, selectors, strict=False):
        if chosen:
            yield item


def pairwise(iterable: Iterable[Any], /) -> Iterator[Any]:
    iterator = iter(iterable)
    for first in iterator:
        for second in iterator:
            yield first, second
            first = second


def cycle(iterable: Iterable[Any], /) -> Iterator[Any]:
    saved = []
    for item in iterable:
        yield item
        saved.append(item)
    while saved:
        yield from iter(saved)


def dropwhile(predicate: Callable[[Any], Any], iterable: Iterable[Any], /) -> Iterator[Any]:
    iterator = iter(iterable)
    for item in iterator:
        if not predicate(item):
            yield item
            break
    yield from iterator


def takewhile(predicate: Callable[[Any], Any], iterable: Iterable[Any], /) -> Iterator[Any]:
    for item in iterable:
        if not predicate(item):
            break
        yield item


def filterfalse(function: Any, iterable: Iterable[Any], /) -> Iterator[Any]:
    for item in iterable:
        if not (item if function is None else function(item)):
            yield item


def islice(iterable: Iterable[Any], *bounds: int | None) -> Iterator[Any]:
    where = slice(*bounds)
    start = 0 if where.start is None else where.start
    step = 1 if where.step is None else where.step
    position, wanted = 0, start
    iterator = iter(iterable)
    while where.stop is None or position < where.stop:
        try:
            item = next(iterator)
        except StopIteration:
            return
        if position == wanted:
            yield item
            wanted += step
            if where.stop is not None and wanted >= where.stop:
                while position + 1 < where.stop and step > 1:
                    position += 1
                    if next(iterator, _NOTHING) is _NOTHING:
                        return
                return
        position += 1


def starmap(function: Callable[..., Any], iterable: Iterable[Any], /) -> Iterator[Any]:
    for args in iterable:
        yield function(*args)


def repeat(object: Any, times: Any = None) -> Iterator[Any]:
    if times is None:
        while True:
            yield object
    for _ in range(times):
        yield object


def zip_longest(*iterables: Iterable[Any], fillvalue: Any = None) -> Iterator[Any]:
    iterators = [iter(part) for part in iterables]
    left = len(iterators)
    while left:
        row = []
        for index, iterator in enumerate(iterators):
            item = fillvalue if iterator is None else next(iterator, _NOTHING)
            if item is _NOTHING:
                left -= 1
                if not left:
                    return
                iterators[index] = None  # type: ignore[call-overload]
                item = fillvalue
            row.append(item)
        yield tuple(row)


def groupby(iterable: Iterable[Any], key: Any = None) -> Iterator[Any]:
    iterator = iter(iterable)
    current = next(iterator, _NOTHING)
    group_key = _NOTHING
    target = _NOTHING

    def group(wanted: Any) -> Iterator[Any]:
        nonlocal current, group_key
        while current is not _NOTHING and target is wanted:
            yield current
            current = next(iterator, _NOTHING)
            if current is _NOTHING:
                return
            group_key = current if key is None else key(current)
            if (group_key,) != (wanted[0],):
                return

    if current is not _NOTHING:
        group_key = current if key is None else key(current)
    while current is not _NOTHING:
        target = [group_key]
        mine = target
        yield group_key, group(mine)
        while current is not _NOTHING and (group_key,) == (mine[0],):
            current = next(iterator, _NOTHING)
            if current is not _NOTHING:
                group_key = current if key is None else key(current)


def tee(iterable: Iterable[Any], n: int = 2, /) -> tuple[Iterator[Any], ...]:
    iterator = iter(iterable)
    seen: list[Any] = []

    def branch() -> Iterator[Any]:
        position = 0
        while True:
            if position == len(seen):
                item = next(iterator, _NOTHING)
                if item is _NOTHING:
                    return
                seen.append(item)
            yield seen[position]
            position += 1

    return tuple([branch() for _ in range(n)])


def batched(iterable: Iterable[Any], n: int, *, strict: bool = False) -> Iterator[Any]:
    if n < 1:
        raise ValueError("n must be at least one")
    iterator = iter(iterable)
    while True:
        batch: list[Any] = []
        while len(batch) < n:
            item = next(iterator, _NOTHING)
            if item is _NOTHING:
                break
            batch.append(item)
        if not batch:
            return
        if strict and len(batch) != n:
            raise ValueError("batched(): incomplete batch")
        yield tuple(batch)


def call_iterator(function: Callable[[], Any], sentinel: Any, /) -> Iterator[Any]:
    while True:
        try:
            value = function()
        except StopIteration:
            return
        if value == sentinel:
            return
        yield value


def sequence_iterator(sequence: Any, /) -> Iterator[Any]:
    position = 0
    while True:
        try:
            item = sequence[position]
        except (IndexError, StopIteration):
            return
        yield item
        position += 1


def reversed_iterator(sequence: Any, length: int, /) -> Iterator[Any]:
    for position in range(length - 1, -1, -1):
        try:
            item = sequence[position]
        except (IndexError, StopIteration):
            return
        yield item


# operator


def itemgetter(item: Any, /, *items: Any) -> Callable[[Any], Any]:
    if not items:
        return lambda object: object[item]
    return lambda object: tuple([object[key] for key in (item, *items)])


def attrgetter(attr: str, /, *attrs: str) -> Callable[[Any], Any]:
    def resolve(value: Any, path: str) -> Any:
        for name in path.split("."):
            value = getattr(value, name)
        return value

    if not attrs:
        return lambda object: resolve(object, attr)
    return lambda object: tuple([resolve(object, path) for path in (attr, *attrs)])


def methodcaller(name: str, /, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    return lambda object: getattr(object, name)(*args, **kwargs)


def count_of(values: Iterable[Any], item: Any, /) -> int:
    return sum([1 for value in values if (value,) == (item,)])


def index_of(values: Iterable[Any], item: Any, /) -> int:
    for position, value in enumerate(values):
        if (value,) == (item,):
            return position
    raise ValueError("sequence.index(x): x not in sequence")


def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


# functools


def reduce(function: Any, iterable: Iterable[Any], initial: Any = _NOTHING, /) -> Any:
    iterator = iter(iterable)
    if initial is _NOTHING:
        try:
            initial = next(iterator)
        except StopIteration:
            message = "reduce() of empty iterable with no initial value"
            raise TypeError(message) from None
    while True:
        try:
            item = next(iterator)
        except StopIteration:
            return initial
        initial = function(initial, item)


def generic_method(generic: Any, owner: Any, cls: Any = None) -> Any:
    """`functools.singledispatchmethod.__get__`, which since 3.13 keeps what it makes."""
    dispatch = generic.dispatcher.dispatch
    name = getattr(generic.func, "__name__", "singledispatchmethod method")

    def _method(*args: Any, **kwargs: Any) -> Any:
        if not args:
            raise TypeError(f"{name} requires at least 1 positional argument")
        return dispatch(args[0].__class__).__get__(owner, cls)(*args, **kwargs)

    _method.__isabstractmethod__ = generic.__isabstractmethod__  # type: ignore[attr-defined]
    _method.register = generic.register  # type: ignore[attr-defined]
    functools.update_wrapper(_method, generic.func)
    return _method


class CompareKey:
    """What `functools.cmp_to_key` makes, within a frame."""

    __slots__ = ("compare", "obj")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, compare: Callable[[Any, Any], Any], obj: Any) -> None:
        self.compare = compare
        self.obj = obj

    def _compared(self, other: Any) -> Any:
        if type(other) is not type(self):
            raise TypeError("other argument must be K instance")
        return self.compare(self.obj, other.obj)

    def __lt__(self, other: Any) -> Any:
        return self._compared(other) < 0

    def __le__(self, other: Any) -> Any:
        return self._compared(other) <= 0

    def __eq__(self, other: object) -> Any:
        return self._compared(other) == 0

    def __ne__(self, other: object) -> Any:
        return self._compared(other) != 0

    def __gt__(self, other: Any) -> Any:
        return self._compared(other) > 0

    def __ge__(self, other: Any) -> Any:
        return self._compared(other) >= 0


def cmp_to_key(mycmp: Callable[[Any, Any], Any]) -> Callable[[Any], CompareKey]:
    def key(obj: Any) -> CompareKey:
        return CompareKey(mycmp, obj)

    return key


def native_key(mycmp: Callable[[Any, Any], Any], obj: Any) -> Any:
    """What leaves the frame in place of a `CompareKey`."""
    return functools.cmp_to_key(mycmp)(obj)


# collections


def count_elements(mapping: Any, iterable: Iterable[Any], /) -> None:
    for item in iterable:
        mapping[item] = mapping.get(item, 0) + 1


# collections.abc


def sequence_items(self: Any) -> Iterator[Any]:
    place = 0
    while True:
        try:
            item = self[place]
        except IndexError:
            return
        yield item
        place += 1


def sequence_contains(self: Any, value: Any) -> bool:
    return any((item,) == (value,) for item in self)


def sequence_index(self: Any, value: Any, start: int = 0, stop: Any = None) -> int:
    if start < 0:
        start = max(len(self) + start, 0)
    if stop is not None and stop < 0:
        stop += len(self)
    place = start
    while stop is None or place < stop:
        try:
            item = self[place]
        except IndexError:
            break
        if (item,) == (value,):
            return place
        place += 1
    raise ValueError


def values_view_contains(self: Any, value: Any) -> bool:
    return any((self._mapping[key],) == (value,) for key in self._mapping)


# heapq and bisect


def heappush(heap: list[Any], item: Any, /) -> None:
    heap.append(item)
    _sift_down(heap, 0, len(heap) - 1)


def heappop(heap: list[Any], /) -> Any:
    if not heap:
        raise IndexError("index out of range")
    last = heap.pop()
    if not heap:
        return last
    first, heap[0] = heap[0], last
    _sift_up(heap, 0)
    return first


def heapreplace(heap: list[Any], item: Any, /) -> Any:
    if not heap:
        raise IndexError("index out of range")
    first, heap[0] = heap[0], item
    _sift_up(heap, 0)
    return first


def heappushpop(heap: list[Any], item: Any, /) -> Any:
    if heap and heap[0] < item:
        item, heap[0] = heap[0], item
        _sift_up(heap, 0)
    return item


def heapify(heap: list[Any], /) -> None:
    for place in reversed(range(len(heap) // 2)):
        _sift_up(heap, place)


def _heapify_max(heap: list[Any], /) -> None:
    for place in reversed(range(len(heap) // 2)):
        _sift_up_of_largest(heap, place)


def _heapreplace_max(heap: list[Any], item: Any, /) -> Any:
    first, heap[0] = heap[0], item
    _sift_up_of_largest(heap, 0)
    return first


def bisect_right(a: Any, x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> int:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    hi = len(a) if hi is None else hi
    while lo < hi:
        middle = (lo + hi) // 2
        if x < (a[middle] if key is None else key(a[middle])):
            hi = middle
        else:
            lo = middle + 1
    return lo


def bisect_left(a: Any, x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> int:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    hi = len(a) if hi is None else hi
    while lo < hi:
        middle = (lo + hi) // 2
        if (a[middle] if key is None else key(a[middle])) < x:
            lo = middle + 1
        else:
            hi = middle
    return lo


def insort_right(a: Any, x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> None:
    a.insert(bisect_right(a, x if key is None else key(x), lo, hi, key=key), x)


def insort_left(a: Any, x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> None:
    a.insert(bisect_left(a, x if key is None else key(x), lo, hi, key=key), x)


# logging


def is_enabled_for(logger: Any, level: int) -> bool:
    if logger.disabled or logger.manager._disable >= level:
        return False
    while logger:
        if logger.level:
            return bool(level >= logger.level)
        logger = logger.parent
    return level >= 0


# modes as decorators


def under_mode(manager: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with manager._fresh():
            return function(*args, **kwargs)

    return wrapper


# autograd.Function


class FunctionContext:
    """The `ctx` of forward and backward while capture rehearses them."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.saved: tuple[Any, ...] = ()
        self.materialize = True

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        pass

    def mark_dirty(self, *tensors: Any) -> None:
        pass

    def mark_non_differentiable(self, *tensors: Any) -> None:
        pass

    def set_materialize_grads(self, value: bool) -> None:
        self.materialize = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        return self.saved
