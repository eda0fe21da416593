"""Which modules of CPython's test suite run captured, and what may differ there."""

from __future__ import annotations

QUICK = ("test_bool", "test_scope")
MODULES = (
    *QUICK,
    "test_contextlib", "test_coroutines", "test_dataclasses", "test_descr", "test_dict",
    "test_enumerate", "test_exceptions", "test_functools", "test_generators", "test_grammar",
    "test_iter", "test_itertools", "test_list", "test_listcomps", "test_patma", "test_range",
    "test_set", "test_sort", "test_super", "test_tuple", "test_unpack", "test_with",
)

LEAST_TRANSLATED = 0.6

_LIFETIME = "asks at once whether an object is gone: what is resumed after a break keeps it longer"

DIFFERENT: dict[str, str] = {
    "test_exceptions.ExceptionTests.testExceptionCleanupState": _LIFETIME,
}
"""Part of a test's name -> why it may end otherwise than in plain Python."""
