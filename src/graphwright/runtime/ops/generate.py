"""Writes `_face.py` (functions), `_methods.py` (Tensor's methods) and `_families.py` (which module
defines which op) from the op table.

Run `python -m graphwright.runtime.ops.generate` after adding or changing an op; with
`--check` it only says whether the files are up to date.
"""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from textwrap import indent

from graphwright.runtime.ops.aliases import ALIASES, Renamed
from graphwright.runtime.ops.argument_forms import NORMALISERS
from graphwright.runtime.ops.deprecated_overloads import BEHIND, NUMBERS
from graphwright.runtime.ops.generate_names import (
    KEYWORDS,
    METHOD_REQUIRED,
    conversions,
    default_of,
    has_surplus,
    second_names,
    spreads,
)
from graphwright.runtime.ops.out_forms import OUT_FORMS
from graphwright.runtime.ops.schema import REQUIRED, Param, Schema
from graphwright.runtime.ops.table import TABLE, Op

HEADER = '''"""{what}

Generated from the op table by `python -m graphwright.runtime.ops.generate`; do not edit.
"""

'''

FACE_IMPORTS = """from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graphwright.runtime._core import TensorBase, place
from graphwright.runtime.dispatch import dispatch as _dispatch
from graphwright.runtime.dispatch import not_bound
from graphwright.runtime.ops.argument_forms import (
    as_pair,
    as_pair_optional,
    as_size,
    as_size_optional,
    as_tensors,
    by_word,
    first_ndim,
    given_dim,
    one_by_one,
    refuse_none,
    refuse_surplus,
    same_as,
    spread,
    varargs,
    wrap_dim,
    wrap_dim_optional,
    wrap_dims,
    wrap_dims_exact,
    wrap_dims_given,
    wrap_dims_optional,
    wrap_lone_dim,
    wrap_permutation,
)
from graphwright.runtime.ops.deprecated_overloads import number_behind, number_first
from graphwright.runtime.ops.out import with_out
from graphwright.runtime.ops.schema import REQUIRED
from graphwright.runtime.ops.table import TABLE
from graphwright.runtime.ops.table import op as _op
from graphwright.runtime.tensor.memory_format import check_placement, in_format

if TYPE_CHECKING:
    from builtins import complex as Number

    from graphwright.runtime.tensor.device import device as Device
    from graphwright.runtime.tensor.dtypes import dtype as DType
    from graphwright.runtime.tensor.tensor import Tensor

"""


REQUIRE = """

def _require(requires_grad: bool, out: Any) -> Any:
    if requires_grad:
        out.requires_grad = True
    return out


"""

ANNOTATIONS = {
    "Tensor": "Tensor",
    "Tensor?": "Tensor | None",
    "Tensor[]": "Sequence[Tensor]",
    "Tensor?[]": "Sequence[Tensor | None]",
    "Operand": "Tensor | Number",
    "Operand?": "Tensor | Number | None",
    "Scalar": "Number",
    "Scalar?": "Number | None",
    "Scalar|str": "Number | str",
    "Scalar|str?": "Number | str | None",
    "dtype": "DType",
    "dtype?": "DType | None",
    "device?": "Device | str | None",
    "Dim": "int",
    "Dim?": "int | None",
    "NewDim": "int",
    "Dims": "int | Sequence[int] | None",
    "Dims?": "int | Sequence[int] | None",
    "DimsExact": "int | Sequence[int] | None",
    "DimsGiven": "int | Sequence[int]",
    "LoneDim": "int",
    "Perm": "Sequence[int]",
    "Perm*": "Sequence[int]",
    "Size": "Sequence[int]",
    "Size*": "Sequence[int]",
    "Size?": "Sequence[int] | None",
    "IntPair": "int | Sequence[int]",
    "IntPair?": "int | Sequence[int] | None",
    "int": "int",
    "int?": "int | None",
    "SymInt": "int",
    "SymInt?": "int | None",
    "SymInt|Tensor": "int | Tensor",
    "Ints": "int | Sequence[int]",
    "Ints?": "int | Sequence[int] | None",
    "Ints*?": "int | Sequence[int] | None",
    "Ints|None": "int | Sequence[int | None]",
    "Ints|Tensor?": "int | Sequence[int] | Tensor | None",
    "Ints|str": "int | Sequence[int] | str",
    "float": "float",
    "float?": "float | None",
    "bool": "bool",
    "str": "str",
    "str?": "str | None",
}

FORMATTED = frozenset(
    {
        *("clone", "empty", "empty_like", "full_like", "ones_like", "rand_like"),
        *("randint_like", "randn_like", "zeros_like"),
    }
)
"""The ops that take `memory_format`."""


def _ndim(op: Op) -> str:
    """The expression for the number of dimensions that Dim arguments refer to."""
    for slot, is_list in op.tensor_slots:
        name = op.schema.params[slot].name
        return f"first_ndim({name})" if is_list else f"{name}.ndim"
    return "0"


def _parameters(op: Op, params: tuple[Param, ...], first: str | None) -> str:
    """The parameter list; `first` replaces the first parameter (self)."""
    parts: list[str] = []
    star = optional = False
    given = second_names(op, first == "self")
    named = [name for p in params if p.kwonly for name in given.get(p.name, ())]
    every = [name for names in given.values() for name in names]
    seconds = [f"{name}: Any = ..." for name in every if name not in named]
    if has_surplus(op, first == "self"):
        seconds.insert(0, "surplus: Any = ...")
    behind = [f"{name}: Any = ..." for name in named]
    words = ["**words: Any"] if any(p.name in KEYWORDS for p in params) else []
    for i, param in enumerate(params):
        if i == 0 and first is not None:
            parts.append(first)
            continue
        if param.type in ("object*", "Operands*"):
            parts.append(f"*{param.name}: Any")
            star = True
            continue
        if i == 1 and first == "self" and spreads(op):
            parts.append(f"*{param.name}_: Any")
            star = True
        if param.kwonly and not star:
            parts += [*seconds, "*"]
            seconds, star = [], True
        if first == "self" and METHOD_REQUIRED.get(op.name) == param.name:
            parts.append(f"{param.name}: {ANNOTATIONS[param.type.rstrip('?')]}")
            continue
        optional = optional or param.name in given
        parts.append(_parameter(op, param, optional and not param.kwonly))
    return ", ".join(parts + seconds + behind + words).replace("'", '"')


def _parameter(op: Op, param: Param, optional: bool) -> str:
    """A parameter's declaration; `optional`: it is not missed before the body runs."""
    annotation = ANNOTATIONS.get(param.type, "Any")
    if default_of(op, param) == "...":
        return f"{param.name}: Any = ..."
    if param.default is REQUIRED:
        return f"{param.name}: Any = REQUIRED" if optional else f"{param.name}: {annotation}"
    if param.default is None and annotation != "Any" and "None" not in annotation:
        annotation += " | None"
    return f"{param.name}: {annotation} = {param.default!r}"


def _values(op: Op, first: str | None, star: bool) -> str:
    ndim = _ndim(op)
    values = []
    for i, param in enumerate(op.schema.params):
        name = param.name
        if i == 0 and first is not None:
            values.append(first)
            if ndim == f"{name}.ndim":
                ndim = f"{first}.ndim"
            continue
        if star and param.type.endswith("*"):
            name = f"varargs({name}_, {name})"
        template = NORMALISERS.get(param.type)
        values.append(template.format(name, ndim=ndim, op=op.name) if template else name)
    return ", ".join(values) + ("," if len(values) == 1 else "")


def docstring(op: Op) -> str:
    """The docstring of an op's function and method; empty where none is given."""
    if op.doc:
        return op.doc
    functional = op.functional if op.is_inplace else None
    if functional is None or not functional.doc:
        return ""
    return f"In place: writes what `{functional.name}` gives into the tensor, and returns it."


def _spelled(text: str, indent: str) -> str:
    """A docstring as source below a `def` that is indented by `indent`."""
    if not text:
        return ""
    mark = "r" if "\\" in text else ""
    end = "" if "\n" not in text else f"\n{indent}    "
    lines = [f"{indent}    {line}".rstrip() for line in text.splitlines()]
    return f'{indent}    {mark}"""' + "\n".join(lines).lstrip() + f'{end}"""\n'


def _wrapped(
    head: str, parameters: str, tail: str, body: str, indent: str, before: str = ""
) -> str:
    line = f"{indent}{head}({parameters}){tail}"
    if len(line) > 99:
        inner = ",\n".join(f"{indent}    {p}" for p in parameters.split(", "))
        line = f"{indent}{head}(\n{inner},\n{indent}){tail}"
    call = f"{indent}    return {body}"
    if len(call) > 99:
        opening, _, rest = body.partition("(")
        call = f"{indent}    return {opening}(\n{indent}        {rest[:-1]}\n{indent}    )"
        if max(map(len, call.splitlines())) > 99:
            call = _one_per_line(body, indent)
    return f"{line}\n{before}{call}\n"


def _one_per_line(body: str, indent: str) -> str:
    """A call whose tuple of values takes a line for each."""
    opening, _, rest = body.partition(", (")
    values = rest.rpartition(")")[0]
    inner = values.rpartition(")")[0]
    lines = "".join(f"{indent}            {v}\n" for v in values_of(inner))
    head = f"{indent}    return {opening.partition('(')[0]}(\n"
    name = f"{indent}        {opening.partition('(')[2]},\n"
    return f"{head}{name}{indent}        (\n{lines}{indent}        ),\n{indent}    )"


def values_of(text: str) -> list[str]:
    """Top-level comma-separated values, each with its comma."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            parts.append(text[start : i + 1].strip())
            start = i + 1
    last = text[start:].strip()
    return [*parts, f"{last},"] if last else parts


def _function(op: Op, name: str | None = None) -> str:
    first = op.schema.params[0]
    spread = first.type == "Size*"
    given = f"*{first.name}_: Any, {first.name}: Any = None"
    parameters = _parameters(op, op.schema.params, given if spread else None)
    if spread:
        parameters = parameters.replace(", *, ", ", ")
    values = _values(op, None, spread)
    statement = _checked(op, values) if _may_raise(values) else ""
    if op.name in NUMBERS:
        parameters = parameters.replace(", *, ", ", *older: Any, ")
        out = ", out" if op.name in OUT_FORMS else ""
        statement = _by_position(op, name or op.name, values, out)
    if op.name in OUT_FORMS:
        star = spread or any(p.kwonly for p in op.schema.params)
        parameters += f"{'' if star else ', *'}, out: Any = None"
        if "_bound" not in statement:
            statement += _assigned(values, "    ")
        statement += f"    if out is not None:\n        return with_out(_{op.name}, _bound, out)\n"
    statement = conversions(op) + statement
    body = f"_dispatch(_{op.name}, {'_bound' if '_bound' in statement else f'({values})'})"
    factory = "factory" in op.tags
    if op.name in FORMATTED:
        star = factory or spread
        parameters += f"{'' if star else ', *'}, memory_format: Any = None"
        statement += _formatted(op, body, "    ")
    if factory:
        parameters += ", layout: Any = None, pin_memory: bool = False, requires_grad: bool = False"
        body = f"_require(requires_grad, {body})"
        statement = _placed(op) + statement
    statement = _spelled(docstring(op), "") + statement
    return _wrapped(f"def {name or op.name}", parameters, " -> Any:", body, "", statement)


def _by_position(op: Op, name: str, values: str, more: str) -> str:
    """The statement for more positional arguments than the schema has."""
    tensors = ", ".join(value.strip() for value in values.split(",")[: -len(NUMBERS[op.name])])
    if name in BEHIND:
        call = f'number_behind(_{op.name}, "{name}", ({tensors}, *older){more})'
    else:
        call = f"number_first(_{op.name}, ({tensors}, *older){more})"
    return f"    if older:\n        return {call}\n"


def _placed(op: Op) -> str:
    """The statements that take the default device, and refuse places that do not exist."""
    default = "    if device is None:\n        device = place()\n"
    return (
        f"{default if op.schema.params[0].name != 'input' else ''}"
        "    if layout is not None or pin_memory:\n"
        f'        check_placement("{op.name}", layout, pin_memory)\n'
    )


def _formatted(op: Op, body: str, indent: str) -> str:
    """The statements for where `memory_format` is given."""
    made = f'in_format("{op.name}", {body}, memory_format)'
    inner = f"{indent}    "
    line = f"{inner}return {made}\n"
    if "factory" in op.tags:
        line = f"{inner}_made = {body}\n"
        if len(line) > 96:
            line = f"{inner}_made = {_one_per_line(body, indent).split('return ', 1)[1]}\n"
        line += (
            f'{inner}return _require(requires_grad, in_format("{op.name}", _made, '
            "memory_format))\n"
        )
    return f"{indent}if memory_format is not None:\n{line}"


def _assigned(values: str, indent: str) -> str:
    """The statement that keeps the bound arguments."""
    line = f"{indent}_bound = ({values})\n"
    if len(line) > 96:
        inner = "".join(f"{indent}    {value}\n" for value in values_of(values))
        line = f"{indent}_bound = (\n{inner}{indent})\n"
    return line


def _may_raise(values: str) -> bool:
    """Whether converting the arguments may fail before the op's kernel is called."""
    sized = "as_size" in values or "as_pair" in values
    return "ndim" in values or (sized and "varargs" not in values)


def _checked(op: Op, values: str, first: str | None = None) -> str:
    """The same for dims: a value that is no tensor is reported before its dims are read."""
    plain = _plain_values(op, first)
    refusal = f"        return not_bound(_{op.name}, ({plain}), _error)\n"
    if len(refusal) > 96:
        inner = "".join(f"                {value}\n" for value in values_of(plain))
        refusal = (
            f"        return not_bound(\n            _{op.name},\n            (\n{inner}"
            "            ),\n            _error,\n        )\n"
        )
    return (
        f"    try:\n{_assigned(values, '        ')}"
        f"    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:\n{refusal}"
    )


def _plain_values(op: Op, first: str | None) -> str:
    names = [p.name for p in op.schema.params]
    if first is not None:
        names[0] = first
    return ", ".join(names) + ("," if len(names) == 1 else "")


def _method(op: Op, name: str | None = None) -> str:
    params = op.schema.params
    last = params[-1]
    values = _values(op, "self", True)
    statement = _checked(op, values, "self") if _may_raise(values) else ""
    body = f"_dispatch(_{op.name}, {'_bound' if statement else f'({values})'})"
    statement = conversions(op, method=True) + statement
    if last.type.endswith("*"):
        given = f"*{last.name}_: Any, {last.name}: Any = None"
        parameters = f"{_parameters(op, params[:-1], 'self')}, {given}"
    else:
        parameters = _parameters(op, params, "self")
    if op.name in NUMBERS:
        parameters = parameters.replace(", *, ", ", *older: Any, ")
        more = "" if (name or op.name) in BEHIND else ", method=True"
        statement = _by_position(op, name or op.name, values, more)
    statement = indent(statement, "    ")
    if op.name in FORMATTED:
        parameters += ", *, memory_format: Any = None"
        statement += _formatted(op, body, "        ")
    head = f"def {name or op.name}"
    statement = _spelled(docstring(op), "    ") + statement
    return _wrapped(head, parameters, " -> Any:", body, "    ", statement)


def sorted_ops() -> list[Op]:
    return [TABLE[name] for name in sorted(TABLE) if TABLE[name].schema.params]


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """Sorts numbers in names by value: log1p, log2, log10."""
    parts = re.findall(r"\d+|\D+", name)
    return [(not p.isdigit(), int(p) if p.isdigit() else 0, p) for p in parts]


def aliases_of(ops: list[Op]) -> dict[str, Op]:
    """The aliases of these ops and of their in-place forms, sorted by name."""
    known = {op.name: op for op in ops}
    found = {}
    for name, alias in ALIASES.items():
        target = alias.target if isinstance(alias, Renamed) else alias
        for suffix in ("", "_"):
            if target + suffix in known and name + suffix not in known:
                found[name + suffix] = known[target + suffix]
    return dict(sorted(found.items()))


def _alias(name: str, op: Op, indent: str) -> str:
    alias = ALIASES[name.removesuffix("_")]
    if not isinstance(alias, Renamed):
        return f"{indent}{name} = {op.name}\n"
    renamed = _renamed(op, alias)
    return "\n" + _method(renamed, name) if indent else "\n\n" + _function(renamed, name)


def _renamed(op: Op, alias: Renamed) -> Op:
    """The op as its wrapper is to see it: with the alias's names of parameters."""
    entry = Op(op.name)
    params = tuple(
        Param(alias.parameters.get(p.name, p.name), p.type, p.default, p.kwonly)
        for p in op.schema.params
    )
    entry.schema = Schema(op.name, params, op.schema.text)
    entry.tensor_slots, entry.tags, entry.doc = op.tensor_slots, op.tags, op.doc
    entry.functional, entry.is_inplace = op.functional, op.is_inplace
    return entry


def _marks(ops: list[Op], functions: str) -> str:
    """Marks the aliases that are functions of their own with their op."""
    own = [
        f'    ("{name}", _{op.name}),\n'
        for name, op in aliases_of(ops).items()
        if isinstance(ALIASES[name.removesuffix("_")], Renamed)
    ]
    return (
        f"\nfor _name, _entry in (\n{''.join(own)}):\n"
        f"    {functions}[_name].__gw_op__ = _entry\n"
    )


def face_source() -> str:
    """Source of `_face.py`."""
    ops = sorted_ops()
    parts = [HEADER.format(what="The op functions: what `ops` means in rules."), FACE_IMPORTS]
    parts += [f'_{op.name} = _op("{op.name}")\n' for op in ops]
    parts.append(REQUIRE)
    parts.append("\n\n".join(_function(op) for op in ops))
    aliases = aliases_of(ops)
    parts.append("\n\n")
    parts += [_alias(name, alias, "") for name, alias in aliases.items()]
    public = [op.name for op in ops if "internal" not in op.tags]
    public += [n for n, alias in aliases.items() if "internal" not in alias.tags]
    public.sort(key=_natural)
    parts.append("\n\n__all__ = [\n" + "".join(f'    "{n}",\n' for n in public) + "]\n\n")
    parts.append(
        "for _name, _function in list(globals().items()):\n"
        '    if _name in TABLE:\n'
        "        _op(_name).call = _op(_name).public = _function\n"
        "        _function.__gw_op__ = _op(_name)\n"
    )
    parts.append(_marks(ops, "globals()"))
    return "".join(parts)


def methods_source() -> str:
    """Source of `_methods.py`."""
    ops = [op for op in sorted_ops() if op.method]
    parts = [HEADER.format(what="The op methods of Tensor."), FACE_IMPORTS]
    parts += [f'_{op.name} = _op("{op.name}")\n' for op in ops]
    parts.append("\n\nclass TensorMethods(TensorBase):\n")
    parts.append('    """Mixin of Tensor."""\n\n    __slots__ = ()\n')
    parts.append("".join("\n" + _method(op) for op in ops) + "\n")
    parts += [_alias(name, alias, "    ") for name, alias in aliases_of(ops).items()]
    parts.append(
        "\n\nfor _name, _method in list(vars(TensorMethods).items()):\n"
        "    if _name in TABLE:\n"
        "        _method.__gw_op__ = _op(_name)\n"
    )
    parts.append(_marks(ops, "vars(TensorMethods)"))
    return "".join(parts)


def families_source() -> str:
    """Source of `_families.py`."""
    lines = "".join(f'    "{op.name}": "{op.family}",\n' for op in sorted_ops())
    what = HEADER.format(what="The module of this folder that defines each op.")
    return f"{what}FAMILY = {{\n{lines}}}\n"


_SEVERAL = {
    "graphwright.runtime._core": ("TensorBase", "place"),
    "graphwright.runtime.tensor.memory_format": ("check_placement", "in_format"),
}
"""What is imported together, where the body uses it."""


def _trim_imports(source: str) -> str:
    """Drop imported names that the body does not use."""
    head, _, whole = source.partition("\n_")
    body = re.sub(r'""".*?"""', "", whole, flags=re.DOTALL)
    lines = []
    for line in head.splitlines():
        name = line.split()[-1].rstrip(",") if line.strip() else ""
        several = next((n for n in _SEVERAL if line.startswith(f"from {n} import")), None)
        if several is not None:
            used = [n for n in _SEVERAL[several] if re.search(rf"\b{n}\b[()]", body)]
            if used:
                lines.append(f"from {several} import {', '.join(used)}")
            continue
        optional = line.endswith(("import with_out", "import not_bound"))
        if (line.endswith(",") or optional) and f"{name}(" not in body:
            continue
        if "import device as Device" in line and "Device" not in body:
            continue
        if "import TABLE" in line and "TABLE" not in body:
            continue
        lines.append(line)
    return "\n".join(lines) + "\n_" + whole


def main(argv: list[str]) -> int:
    """Write the files, or compare with `--check`; 1 where they are out of date."""
    importlib.import_module("graphwright.runtime.ops.families").load_all()
    folder = Path(__file__).parent
    stale = []
    for name, text in (
        ("_face.py", _trim_imports(face_source())),
        ("_methods.py", _trim_imports(methods_source())),
        ("_families.py", families_source()),
    ):
        path = folder / name
        if not path.exists() or path.read_text() != text:
            stale.append(name)
            if "--check" not in argv:
                path.write_text(text)
    print("out of date: " + ", ".join(stale) if stale else "up to date")
    return 1 if stale and "--check" in argv else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
