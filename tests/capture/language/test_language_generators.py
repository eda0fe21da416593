"""Generators made in the frame that are sent values, thrown exceptions, and closed."""

from __future__ import annotations

import graphwright as gw

from ..captured import check


def delegating(x):
    log = []

    def inner(t):
        while True:
            got = yield t
            if got is None:
                return t
            t = t + got

    def outer(t):
        try:
            result = yield from inner(t)
        except KeyError:
            result = yield t * 3
        log.append("returned")
        return result

    waiting = outer(x * 2)
    next(waiting)
    log.append(waiting.send(x))
    return waiting, log


def test_generators_that_delegate_are_closed():
    def close(x):
        waiting, log = delegating(x)
        waiting.close()
        return next(waiting, x + 1), log

    check(close, gw.ones(2), graphs=1)


def test_what_a_generator_returns_is_for_whoever_meets_its_end():
    def ends(x):
        def two():
            yield x
            return x + 1

        def delegating(it):
            log.append((yield from it))

        log = []
        for meets in (list, lambda it: [*it], lambda it: list(delegating(it))):
            it = two()
            log.append(meets(it))
            for again in (next, lambda it: it.send(1), lambda it: list(delegating(it))):
                try:
                    log.append(again(it))
                except StopIteration as stop:
                    log.append(stop.args)
        return log

    check(ends, gw.ones(2), graphs=1)


def test_exceptions_are_thrown_into_generators_that_delegate():
    def throw(x):
        waiting, log = delegating(x)
        tripled = waiting.throw(KeyError("k"))
        try:
            waiting.send(tripled)
        except StopIteration as stop:
            return stop.value, log
        return None

    check(throw, gw.ones(2), graphs=1)


def test_what_a_generator_does_not_catch_goes_through_yield_from():
    def throw(x):
        waiting, log = delegating(x)
        try:
            waiting.throw(ValueError("v"))
        except ValueError as error:
            log.append(error.args)
        return x * 2, log

    check(throw, gw.ones(2), graphs=1)
