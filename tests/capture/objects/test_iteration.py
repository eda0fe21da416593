"""Iterators see what their containers hold at the moment, also across a graph break."""

from __future__ import annotations

import collections
import itertools

import pytest

import graphwright as gw

from ..captured import Captured
from ..programs import Programs, sound

X = gw.tensor([[1.0, -2.0], [4.0, 0.5]])
MEMBERS = frozenset([1, 2, 3])
program = Programs()


class Ranked:
    """Comparisons are counted."""

    def __init__(self, rank, log):
        self.rank = rank
        self.log = log

    def __lt__(self, other):
        self.log.append((self.rank, other.rank))
        return self.rank < other.rank


@program
def values_changed_meanwhile(x):
    table, seen = {"a": 1, "b": 2}, []
    for _, value in table.items():
        table["b"] = 10
        seen.append(value)
    for value in table.values():
        table["b"] = 11
        seen.append(value)
    for _, value in reversed(table.items()):
        table["a"] = x + 1
        seen.append(value)
    return seen


@program
def dict_grows_before_a_break(x):
    table, y = {"a": 1, "b": 2}, x + 1
    try:
        for key in table:
            table["new"] = 3
            print(key, end="")
    except RuntimeError as error:
        return str(error), y * 2


@program
def iterator_of_a_dict_that_the_frame_changed(x):
    table = {"a": 1}
    y = x + 1
    for round_ in range(2):
        table[round_] = 3
        for key in table:
            print(key, end="")
            y = y * 2
    return table, y


@program
def part_of_a_group_leaves_except_star(x):
    y = x + 1
    try:
        try:
            raise ExceptionGroup("both", [KeyError(1), ValueError([y.shape[0], print(end="")])])
        except* KeyError:
            y = y * 2
    except ExceptionGroup as group:
        return [type(error).__name__ for error in group.exceptions], y + 1


@program
def dict_swaps_keys(x):
    table, seen = {"a": 1, "b": 2}, []
    try:
        for key in table:
            seen.append(key)
            if key == "a":
                del table["b"]
                table["c"] = 1
    except RuntimeError as error:
        seen.append(str(error))
    return seen, x + 1


@program
def finished_iterator_of_a_dict(x):
    table = {"a": 1}
    keys = iter(table)
    y = x + len(list(keys))
    print(end="")
    table["b"] = 2
    return next(keys, "end"), y * 2


@program
def iterators_across_a_break(x):
    text, data, numbers, members = iter("aéb"), iter(b"abc"), iter(range(5)), iter(MEMBERS)
    backwards, done = reversed([1, 2]), iter([])
    y = x + next(numbers) + next(data) + next(members) + next(backwards) + len(next(text))
    list(done)
    print(end="")
    all_of_them = (text, data, numbers, members, backwards, done)
    return [type(one).__name__ for one in all_of_them], [list(one) for one in all_of_them], y * 2


def watched(log, count):
    try:
        yield from range(count)
    finally:
        log.append("closed")


@program
def generator_left_by_break(x):
    log = []
    for number in watched(log, 3):
        x = x + number
        print(end="")
        x = x * 2
        break
    log.append("after")
    return log, x + 1


@program
def generator_left_by_an_error(x):
    log = []
    try:
        for place, number in enumerate(watched(log, 3)):
            x = x + number + place
            print(end="")
            x = x * 2
            raise KeyError(place)
    except KeyError:
        log.append("handled")
    return log, x + 1


@program
def generator_held_to_the_end(x):
    log = []
    held = watched(log, 3)
    log.append(next(held))
    y = x + 1
    print(end="")
    log.append("last")
    return log, y * 2


@program
def captured_name_without_a_value(x):
    y = number = x + 1
    del number
    print(end="")
    try:
        y = y + number
    except NameError as error:
        return type(error), str(error), y * 2
    return lambda: number  # noqa: F821


@program
def captured_name_bound_behind_a_break(x):
    y = x + 1
    print(end="")
    number = y * 2
    get = lambda: number  # noqa: E731
    print(end="")
    return get() + 1


@program
def sorting_asks_as_often_as_python(x):
    log = []
    ranked = [Ranked(rank, log) for rank in (3, 1, 2, 5, 4)]
    ordered = sorted(ranked)
    ranked.sort(reverse=True)
    pairs = sorted([(ranked[0], 1), (ranked[1], 2)])
    return log, [one.rank for one in ordered + ranked], pairs[0][1], x + 1


@program
def unmatched_error_leaves_except_star(x):
    y = x + 1
    try:
        try:
            raise KeyError(1)
        except* ValueError:
            y = y + 7
    except KeyError as error:
        return y * 2, error.args


@program
def native_error_leaves_except_star(x):
    y = x + 1
    try:
        try:
            {}["key"]
        except* ValueError:
            y = y + 7
    except KeyError as error:
        return y * 2, error.args


@program
def loops_end_before_their_error_arrives(x):
    log = []

    def told():
        try:
            yield from (1, 2)
        finally:
            log.append("closed")

    def loop(handled):
        for _ in told():
            try:
                bytes("no encoding", x.shape[0])
            except handled:
                log.append("handled")

    try:
        loop(ValueError)
    except TypeError as error:
        log.append(type(error).__name__)
    return log, x + 1


@program
def dict_of_what_are_no_pairs(x):
    try:
        dict([5])
    except TypeError as error:
        return str(error), x + 1


@pytest.mark.parametrize("function", program.all, ids=lambda f: f.__name__)
def test_iteration(function):
    sound(function, X)


@pytest.mark.parametrize("taken", [0, 2])
def test_iterators_of_itertools_leave_the_frame_as_what_they_are(taken):
    def makes(x, pool):
        found = [
            itertools.product(pool, (x, 3)), itertools.product(pool, repeat=2),
            itertools.permutations(pool, 2), itertools.combinations(pool, 2),
            itertools.combinations_with_replacement(pool, 2), itertools.pairwise(pool),
        ]  # fmt: skip
        for iterator in found:
            for _ in range(taken):
                next(iterator)
        pool.append(9)
        return x + 1, found

    captured = Captured(makes)
    for _ in range(2):
        left, plain = captured(1, [1, 2, 3])[1], makes(1, [1, 2, 3])[1]
        assert list(map(type, left)) == list(map(type, plain))
        assert list(map(list, left)) == list(map(list, plain))


class Told:
    """Says when its iterator is made."""

    def __init__(self, log):
        self.log = log

    def __iter__(self):
        self.log.append("iter")
        return iter([1, 2])


ITERATING = [
    itertools.accumulate, itertools.cycle, itertools.chain, itertools.chain.from_iterable,
    itertools.groupby, itertools.pairwise, itertools.tee, itertools.zip_longest,
    lambda values: itertools.accumulate(iterable=values),
    lambda values: itertools.compress([1], values),
    lambda values: itertools.compress(data=values, selectors=[1]),
    lambda values: itertools.dropwhile(bool, values),
    lambda values: itertools.filterfalse(None, values),
    lambda values: itertools.islice(values, 1),
    lambda values: itertools.starmap(max, values),
    lambda values: itertools.takewhile(bool, values),
]


@pytest.mark.parametrize("values", [[1, 2], 3, None, "told"])
@pytest.mark.parametrize("function", ITERATING)
def test_iterators_of_itertools_ask_for_the_iterator_when_they_are_made(function, values):
    def makes(x, values):
        log = []
        y = x + 1
        try:
            function(Told(log) if values == "told" else values)
        except TypeError as error:
            log.append(str(error))
        log.append("made")
        return y, log

    sound(makes, X, values)


NUMBERS = [
    lambda: itertools.islice("ab", "x"), lambda: itertools.islice("ab", -1),
    lambda: itertools.islice("ab", 0, 3, 0), lambda: list(itertools.islice("abc", 1, None, 2)),
    lambda: itertools.repeat(1, "x"), lambda: list(itertools.repeat(object=1, times=2)),
    lambda: itertools.tee("ab", -1), lambda: len(itertools.tee("ab", 3)),
    lambda: itertools.count("a", "b"), lambda: itertools.count(None),
    lambda: list(itertools.islice(itertools.count(0.1, 0.1), 12)),
    lambda: list(itertools.islice(itertools.count(True), 3)),
    lambda: list(itertools.islice(itertools.count(5, step=-1), 3)),
]


@pytest.mark.parametrize("function", NUMBERS)
def test_functions_of_itertools_look_at_their_numbers_when_they_are_called(function):
    def makes(x):
        y = x + 1
        try:
            return y, function()
        except (TypeError, ValueError) as error:
            return y, type(error), str(error)

    sound(makes, X)


def of_a_list_that_grew(x, held):
    held += [x + 1, "b", "c"]
    kept, seen = iter(held), []
    seen.append(next(kept))
    print(end="")
    return seen, list(kept)


def numbered_of_a_list_that_was_filled(x, held):
    y, seen = x + 1, []
    for letter in "abc":
        held.append(letter)
    for place, letter in enumerate(held):
        print(end="")
        seen.append((place, letter))
    return seen, y * 2


def backwards_of_a_list_that_grew(x, held):
    held += [x + 1, "b", "c"]
    kept, seen = reversed(held), []
    seen.append(next(kept))
    print(end="")
    return seen, list(kept)


def of_a_subclass_that_the_frame_filled(x, held):
    made, seen = Letters(), []
    made.extend("abc")
    kept = iter(made)
    seen.append(next(kept))
    print(end="")
    return seen, list(kept), x + 1


def behind_the_end_of_a_list_that_shrank(x, held):
    held += [1, 2, 3]
    y, kept = x + 1, iter(held)
    next(kept), next(kept), next(kept)
    del held[1:]
    print(end="")
    held.append(y)
    return list(kept), y * 2


def backwards_behind_the_end_of_a_list_that_shrank(x, held):
    held += [1, 2, 3]
    y, kept = x + 1, reversed(held)
    del held[:]
    print(end="")
    held.append(y)
    return list(kept), y * 2


def of_a_deque_that_grew(x, held):
    waiting = collections.deque(held)
    y, seen = x + 1, []
    waiting.extend("abc")
    for letter in waiting:
        print(end="")
        seen.append(letter)
    return seen, y * 2


def of_a_deque_that_changed_meanwhile(x, held):
    waiting = collections.deque("abc")
    y, kept = x + 1, iter(waiting)
    next(kept)
    waiting.append("d")
    print(end="")
    try:
        return list(kept), y * 2
    except RuntimeError as error:
        return str(error), y * 2


class Letters(list):
    pass


ACROSS_BREAKS = [
    of_a_list_that_grew, numbered_of_a_list_that_was_filled, backwards_of_a_list_that_grew,
    of_a_subclass_that_the_frame_filled, behind_the_end_of_a_list_that_shrank,
    backwards_behind_the_end_of_a_list_that_shrank, of_a_deque_that_grew,
    of_a_deque_that_changed_meanwhile,
]


@pytest.mark.parametrize("function", ACROSS_BREAKS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("length", [0, 2])
def test_iterators_keep_their_place_in_what_the_frame_changes(function, length):
    sound(function, X, list(range(length)))


def test_the_iterator_of_a_deque_that_an_argument_holds_sees_what_was_added():
    def adds(x, waiting):
        y, seen = x + 1, []
        waiting.extend("ab")
        for letter in waiting:
            print(end="")
            seen.append(letter)
        return seen, y * 2

    sound(adds, X, collections.deque())
