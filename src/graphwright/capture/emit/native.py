"""Instructions that can run natively between two graphs, and how to write them."""

from __future__ import annotations

import dis
from collections.abc import Callable
from typing import Any

from graphwright.capture import _eval_frame
from graphwright.capture.emit.assembler import CodeBuilder, Free
from graphwright.capture.exc import unsupported
from graphwright.capture.vm.bytecode import PYTHON, Instruction

_AS_BOOL = 16    # a bit of COMPARE_OP's argument: a jump follows, which takes nothing but bools
_ONE = frozenset(
    [
        "BINARY_OP", "BINARY_SUBSCR", "BINARY_SLICE", "COMPARE_OP", "CONTAINS_OP", "IS_OP",
        "UNARY_NEGATIVE", "UNARY_POSITIVE", "UNARY_INVERT", "UNARY_NOT", "GET_ITER", "CALL",
        "CALL_KW", "CALL_FUNCTION_EX", "LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL", "FORMAT_VALUE",
        "FORMAT_SIMPLE", "FORMAT_WITH_SPEC", "CONVERT_VALUE", "BUILD_STRING", "BUILD_SET",
        "BUILD_MAP", "BUILD_CONST_KEY_MAP", "IMPORT_NAME", "LIST_TO_TUPLE", "CALL_INTRINSIC_1",
        "LOAD_BUILD_CLASS", "LOAD_SUPER_ATTR", "LOAD_DEREF", "BUILD_TUPLE", "BUILD_LIST",
        "BUILD_SLICE", "MAKE_FUNCTION", "SET_FUNCTION_ATTRIBUTE", "PREP_RERAISE_STAR",
        "CALL_INTRINSIC_2", "MATCH_CLASS", "LOAD_ASSERTION_ERROR", "TO_BOOL",
    ]
)
_NONE = frozenset(
    [
        "STORE_ATTR", "STORE_SUBSCR", "STORE_SLICE", "DELETE_SUBSCR", "DELETE_ATTR",
        "STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF",
    ]
)
_IN_CONTAINER = frozenset(
    ["LIST_APPEND", "LIST_EXTEND", "SET_ADD", "SET_UPDATE", "DICT_UPDATE", "DICT_MERGE", "MAP_ADD"]
)
_FIXED = {
    "IMPORT_FROM": (1, 2),
    "GET_LEN": (1, 2),
    "BEFORE_WITH": (1, 2),
    "WITH_EXCEPT_START": (4, 5),
    "CHECK_EXC_MATCH": (2, 2),
    "CHECK_EG_MATCH": (2, 2),
    "MATCH_MAPPING": (1, 2),
    "MATCH_SEQUENCE": (1, 2),
    "MATCH_KEYS": (2, 3),
}
_SEVERAL = frozenset(["UNPACK_SEQUENCE", "UNPACK_EX", *_FIXED])
UNBOUND = frozenset(["LOAD_FAST", "LOAD_FAST_CHECK", "DELETE_FAST"])
LETS_GO = frozenset(
    [
        "POP_TOP", "STORE_FAST", "DELETE_FAST", "STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST",
        "STORE_DEREF", "DELETE_DEREF", "POP_EXCEPT",
    ]
)
NATIVE = _ONE | _NONE | _IN_CONTAINER | _SEVERAL


def native_effect(inst: Instruction) -> tuple[int, int]:
    """How many values the instruction takes from the stack, and how many it leaves.

    The NULL that it may leave for a call is not counted.
    """
    name, arg = inst.opname, inst.arg
    if name in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL", "LOAD_SUPER_ATTR"):
        return {"LOAD_GLOBAL": 0, "LOAD_SUPER_ATTR": 3}.get(name, 1), 1
    if name == "UNPACK_SEQUENCE":
        return 1, arg
    if name == "UNPACK_EX":
        return 1, (arg & 0xFF) + 1 + (arg >> 8)
    if name in _FIXED:
        return _FIXED[name]
    if name == "CALL_FUNCTION_EX":
        return 3 + (arg & 1), 1
    if name in ("CALL", "CALL_KW"):
        return arg + 2 + (name == "CALL_KW"), 1
    if name in _IN_CONTAINER:
        return _container_effect(inst)
    pushes = 1 if name in _ONE else 0
    effect = dis.stack_effect(dis.opmap[name], arg if _has_argument(name) else None)
    return pushes - effect, pushes


def looks_below(inst: Instruction) -> int:
    """How many values the instruction reads and leaves that lie under those it takes.

    DICT_MERGE names the function that is going to be called where it refuses what follows `**`.
    """
    if inst.opname != "DICT_MERGE":
        return 0
    return 3 if PYTHON >= (3, 13) else 2


def _has_argument(name: str) -> bool:
    known = getattr(dis, "hasarg", None)
    opcode = dis.opmap[name]
    return opcode in known if known is not None else opcode >= dis.HAVE_ARGUMENT


def raise_unbound(builder: CodeBuilder, inst: Instruction) -> None:
    """Raise what Python raises for a local without a value."""
    builder.begin_call(UnboundLocalError)
    builder.load_const(
        f"cannot access local variable {inst.value!r} where it is not associated with a value"
    )
    builder.end_call(1)
    builder.emit("RAISE_VARARGS", 1)


def _container_effect(inst: Instruction) -> tuple[int, int]:
    items = 2 if inst.opname == "MAP_ADD" else 1
    return items + inst.arg, inst.arg


def run_natively(builder: CodeBuilder, inst: Instruction, keywords: tuple[str, ...]) -> None:
    """Write the instruction; its operands are on the stack."""
    name = inst.opname
    if name == "CALL":
        builder.end_call(inst.arg, keywords)
    elif name == "CALL_KW":
        builder.emit("CALL_KW", inst.arg)
    elif name in ("LOAD_ATTR", "LOAD_METHOD"):
        builder.load_attr(inst.value)
    elif name == "LOAD_GLOBAL":
        builder.load_global(inst.value)
    elif name == "LOAD_SUPER_ATTR":
        _load_super_attr(builder, inst)
    elif name == "UNARY_NOT" and PYTHON >= (3, 13):
        builder.emit("TO_BOOL")
        builder.emit("UNARY_NOT")
    elif name == "COMPARE_OP":
        builder.emit("COMPARE_OP", inst.value)
        if PYTHON >= (3, 13) and inst.arg & _AS_BOOL:
            builder.emit("TO_BOOL")
    elif name == "BINARY_OP":
        builder.binary(inst.arg)
    elif name in ("LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF"):
        _cell_access(builder, inst)
    else:
        _plain(builder, inst)


def _load_super_attr(builder: CodeBuilder, inst: Instruction) -> None:
    """[super, class, owner] -> [super(class, owner).name]."""
    names = [builder.temporary() for _ in range(3)]
    for local in reversed(names):
        builder.store_local(local)
    builder.begin_call(_made_super)
    for local in names:
        builder.load_local(local)
    builder.load_const(bool(inst.arg & 2))
    builder.end_call(4)
    builder.load_attr(inst.value)


def _made_super(function: Callable[..., Any], cls: Any, owner: Any, given: bool) -> Any:
    """`super()`; where the name stands for something else, a call with what was written."""
    return function(cls, owner) if given or function is super else function()


_eval_frame.skip_code(_made_super.__code__)


def _cell_access(builder: CodeBuilder, inst: Instruction) -> None:
    if inst.value not in builder.target.co_freevars:
        unsupported("GB0016", f"a break at {inst.opname} of {inst.value!r}")
    builder.emit(inst.opname, Free(inst.value))


_BY_VALUE = frozenset(
    ["STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "DELETE_GLOBAL", "IMPORT_NAME", "IMPORT_FROM"]
)


def _plain(builder: CodeBuilder, inst: Instruction) -> None:
    if inst.opname in _BY_VALUE:
        builder.emit(inst.opname, inst.value)
    elif _has_argument(inst.opname):
        builder.emit(inst.opname, inst.arg)
    else:
        builder.emit(inst.opname)
