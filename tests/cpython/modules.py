"""Which modules of CPython's test suite run captured, and what may differ there."""

from __future__ import annotations

QUICK = ("test_bool", "test_scope")
MODULES = (
    *QUICK,
    "test_abc", "test_augassign", "test_binop", "test_bisect", "test_compare", "test_contextlib",
    "test_copy", "test_coroutines", "test_dataclasses", "test_decorators", "test_descr",
    "test_dict", "test_dictcomps", "test_enumerate", "test_exceptions", "test_functools",
    "test_generators", "test_genexps", "test_global", "test_grammar", "test_int_literal",
    "test_iter", "test_itertools", "test_keywordonlyarg", "test_list", "test_listcomps",
    "test_named_expressions", "test_opcodes", "test_patma", "test_positional_only_arg",
    "test_property", "test_raise", "test_range", "test_richcmp", "test_set", "test_setcomps",
    "test_sort", "test_string_literals", "test_super", "test_tuple", "test_unpack", "test_with",
)

LEAST_TRANSLATED = 0.6

_LIFETIME = "asks at once whether an object is gone: what is resumed after a break keeps it longer"

_COUNTS = "counts references: what is resumed after a break holds some more"
_CANCELLED = "changes a list and changes it back while it is sorted: only what is left is written"

DIFFERENT: dict[str, str] = {
    "test_exceptions.ExceptionTests.testExceptionCleanupState": _LIFETIME,
    "test_iter.TestCase.test_ref_counting_behavior": _LIFETIME,
    "test_raise.TestContext.test_3611": _LIFETIME,
    "test_coroutines.CoroutineTest.test_for_2": _COUNTS,
    "test_coroutines.CoroutineTest.test_for_3": _COUNTS,
    "test_coroutines.CoroutineTest.test_for_4": _COUNTS,
    "test_coroutines.CoroutineTest.test_for_6": _COUNTS,
    "test_enumerate.TestReversed.test_bug1229429": _COUNTS,
    "test_sort.TestBugs.test_undetected_mutation": _CANCELLED,
}
"""Part of a test's name -> why it may end otherwise than in plain Python."""
