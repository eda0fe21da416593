"""`warnings.catch_warnings` and its filters in captured functions."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured
from ..pictures import picture
from ..programs import Programs

whole_program = Programs()
broken_program = Programs()
COUNTS = {"calls": 0}


class Noted(UserWarning):
    """A warning with an argument of its own."""

    def __init__(self, text: str, level: int = 1) -> None:
        super().__init__(text)
        self.level = level


def doubled(x: Any) -> Any:
    warnings.warn("of the caller", stacklevel=2)
    return x * 2


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@whole_program
def ignored(x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = doubled(x)
        warnings.warn("here", stacklevel=1)
    return y + 1


@whole_program
def ignored_on_entry(x: Any) -> Any:
    with warnings.catch_warnings(action="ignore"):
        return doubled(x)


@whole_program
def ignored_by_text_category_module_and_line(x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Old", category=DeprecationWarning)
        warnings.warn("old names", DeprecationWarning, stacklevel=1)
        warnings.filterwarnings("ignore", module=__name__)
        warnings.warn("of this module", stacklevel=1)
    return x + 1


@whole_program
def ignored_in_loops_and_helpers(x: Any) -> Any:
    for step in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x = doubled(x) + step
    with quiet():
        x = doubled(x)
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        return doubled(x)


@whole_program
def recorded_in_the_frame(x: Any) -> Any:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        y = doubled(x)
        warnings.warn(Noted("own", 5), stacklevel=1)
        warnings.warn("named", Noted, stacklevel=1)
    shown = [(str(each.message), each.category, each.lineno, each.filename) for each in told]
    return y + len(told), shown, told[1].message.level, told[0].source  # type: ignore[union-attr]


@whole_program
def raised_in_the_frame(x: Any) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            x = x + 1
            doubled(x)
    except UserWarning as error:
        return x, str(error)


@whole_program
def nested(x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with warnings.catch_warnings(record=True) as told:
            warnings.filterwarnings("always", "keep")
            warnings.warn("keep this", stacklevel=1)
            warnings.warn("drop this", stacklevel=1)
        warnings.warn("drop this, too", stacklevel=1)
    return x + len(told)


@whole_program
def left_by_an_exception(x: Any) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            raise ValueError("text")
    except ValueError as error:
        return x * 2, str(error)


@whole_program
def writes_behind_a_block(x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = doubled(x)
    COUNTS["calls"] += 1
    x += 1
    return y, COUNTS["calls"] > 0


@whole_program
def shown_again_behind_a_block(x: Any) -> Any:
    for _ in range(2):
        with warnings.catch_warnings():
            pass
        warnings.warn("again", stacklevel=1)
    return x + 1


@whole_program
def gradients_in_a_block(x: Any) -> Any:
    leaf = x.clone().requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (leaf * leaf).sum().backward()
    return leaf.grad


@broken_program
def left_to_the_filters_around(x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        y = doubled(x)
    return y + 1


@broken_program
def always_shown(x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        y = doubled(x)
    return y + 1


@broken_program
def broken_inside(x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if x.sum() > 0:
            x = x + 1
        warnings.warn("here", stacklevel=1)
    return x * 2


@broken_program
def broken_by_an_exception(x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = x + 1
        raise ValueError(x.shape)


@broken_program
def operation_that_warns(x: Any) -> Any:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        y = (x.to(gw.complex64) * 1j).to(gw.float32)
    return y, len(told)


@broken_program
def filters_are_read(x: Any) -> Any:
    before = len(warnings.filters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        within = len(warnings.filters)
    return x + 1, within - before


@broken_program
def entered_twice(x: Any) -> Any:
    block = warnings.catch_warnings()
    with block:
        y = x + 1
    try:
        with block:
            pass
    except RuntimeError:
        return y


@broken_program
def not_left(x: Any) -> Any:
    block = warnings.catch_warnings()
    block.__enter__()
    warnings.simplefilter("ignore")
    return x + 1


def told(function: Any, action: str) -> Any:
    """The outcomes of three calls, and the warnings that they show, as the filters say."""
    globals().pop("__warningregistry__", None)
    results: list[Any] = []
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter(action)  # type: ignore[arg-type]
        for _ in range(3):
            x = gw.ones(2, 3)
            try:
                results.append(picture((function(x), x)))
            except (Warning, ValueError) as error:
                results.append((type(error), str(error)))
        results.append(len(warnings.filters))
    return results, [(str(w.message), w.category, w.filename, w.lineno) for w in found]


@pytest.mark.parametrize("action", ["always", "default", "once", "error", "ignore"])
@pytest.mark.parametrize("program", whole_program.all, ids=lambda p: p.__name__)
def test_blocks_in_one_graph(program: Any, action: str) -> None:
    captured = Captured(program, fullgraph=True)
    assert told(captured.compiled, action) == told(program, action)


@pytest.mark.parametrize("action", ["always", "default", "error", "ignore"])
@pytest.mark.parametrize("program", broken_program.all, ids=lambda p: p.__name__)
def test_blocks_that_plain_python_enters(program: Any, action: str) -> None:
    captured = Captured(program)
    assert told(captured.compiled, action) == told(program, action)
    assert captured.breaks
