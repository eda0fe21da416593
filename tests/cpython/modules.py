"""Which modules of CPython's test suite run captured, and what may differ there."""

from __future__ import annotations

QUICK = ("test_bool", "test_scope")
MODULES = (
    *QUICK,
    "test_abc", "test_asyncgen", "test_augassign", "test_baseexception", "test_bdb", "test_binop",
    "test_bisect", "test_builtin", "test_class", "test_compare", "test_complex", "test_contains",
    "test_context", "test_contextlib", "test_contextlib_async", "test_copy", "test_copyreg",
    "test_coroutines", "test_csv", "test_dataclasses", "test_decorators", "test_defaultdict",
    "test_descr", "test_dict", "test_dictcomps", "test_dictviews", "test_dynamicclassattribute",
    "test_enumerate", "test_except_star", "test_exception_group", "test_exception_hierarchy",
    "test_exception_variations", "test_exceptions", "test_extcall", "test_finalization",
    "test_float", "test_flufl", "test_format", "test_fractions", "test_fstring", "test_funcattrs",
    "test_functools", "test_generator_stop", "test_generators", "test_genericalias",
    "test_genericclass", "test_genericpath", "test_genexps", "test_global", "test_grammar",
    "test_index", "test_int_literal", "test_isinstance", "test_iter", "test_itertools",
    "test_json", "test_keywordonlyarg", "test_linecache", "test_list", "test_listcomps",
    "test_metaclass", "test_named_expressions", "test_opcodes", "test_operator",
    "test_ordered_dict", "test_patma", "test_peepholer", "test_positional_only_arg", "test_print",
    "test_property", "test_raise", "test_random", "test_range", "test_reprlib", "test_richcmp",
    "test_sched", "test_set", "test_setcomps", "test_slice", "test_sort", "test_stat",
    "test_string", "test_string_literals", "test_structseq", "test_subclassinit", "test_super",
    "test_symtable", "test_sys_setprofile", "test_textwrap", "test_threading_local", "test_tuple",
    "test_type_annotations", "test_type_comments", "test_typechecks", "test_types", "test_unary",
    "test_unpack", "test_unpack_ex", "test_userdict", "test_userlist", "test_weakset", "test_with",
    "test_yield_from",
)

LEAST_TRANSLATED = 0.6

_COUNTS = "counts references to an object() of its own, which a guard on it holds"
_CONSTANTS = "counts references to a constant of its code, which translated code holds as well"
_SIZES = "asks how much memory is in use: what is made anew has no spare room, capture its own"
_WENT_ON = "asks the frame of a traceback where it was in the end: a break went on in another one"
_EMPTIED = "empties a cell of its own through a function: what is resumed reads it as another's"
_NAMES = "looks for names in the locals of a frame: one that is translated binds what it needs"
_CANCELLED = "changes a list and changes it back while it is sorted: only what is left is written"

DIFFERENT: dict[str, str] = {
    "test_dict.DictTest.test_splittable_popitem": _SIZES,
    "test_funcattrs.FunctionPropertiesTest.test_set_cell": _EMPTIED,
    "test_descr.ClassPropertiesAndMethods.test_slots": _SIZES,
    "test_exceptions.NameErrorTests.test_name_error_suggestions": _NAMES,
    "test_exceptions.PEP626Tests.test_lineno_after_other_except": _WENT_ON,
    "test_exceptions.PEP626Tests.test_lineno_in_try": _WENT_ON,
    "test_enumerate.TestReversed.test_bug1229429": _COUNTS,
    "test_coroutines.CoroutineTest.test_for_2": _CONSTANTS,
    "test_sort.TestBugs.test_undetected_mutation": _CANCELLED,
}
"""Part of a test's name -> why it may end otherwise than in plain Python."""
