"""Programs that replace builtins run as plain Python meanwhile."""

from __future__ import annotations

import builtins
import weakref

import graphwright as gw

from ..captured import Captured

ZERO = gw.zeros(1)


def test_replaced_builtins_are_the_programs_own():
    def f(x):
        return x + len([1, 2])

    captured, usual = Captured(f), builtins.len
    assert f(ZERO).tolist() == [2.0]
    builtins.len = lambda items: usual(items) + 10
    try:
        replaced = captured(ZERO)
    finally:
        builtins.len = usual
    assert replaced.tolist() == [12.0] and captured.graphs == 0
    assert captured(ZERO).tolist() == [2.0] and captured.graphs == 1


def test_a_missing_builtin_raises_where_the_program_wants_it():
    def f(x):
        try:
            return iter(x)
        except NameError as error:
            return str(error)

    captured, usual = Captured(f), builtins.iter
    del builtins.iter
    try:
        said = captured([1])
    finally:
        builtins.iter = usual
    assert said == "name 'iter' is not defined"


def test_only_what_is_bound_is_kept_while_python_runs():
    class Thing:
        pass

    def gone(ref):
        return ref() is None

    gone.__gw_disable__ = True

    def f(x):
        thing = Thing()
        ref = weakref.ref(thing)
        y = x + 1
        del thing
        return y * 2, gone(ref)

    assert Captured(f)(ZERO)[1]


def test_a_list_that_changes_while_it_is_sorted():
    def f(x):
        items = [3, 1, 2]

        def key(item):
            items.append(item)
            items.pop()
            return item

        try:
            items.sort(key=key)
        except ValueError as error:
            return x + 1, str(error)
        return x + 1, items

    assert Captured(f).agrees(ZERO)
