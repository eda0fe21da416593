"""NAME.h: what a package is to its callers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.codegen.program import NativeProgram
from graphwright.export.size_rules import SizeRules
from graphwright.runtime.tensor import dtypes

_C_TYPES = {
    dtypes.float32: "float", dtypes.float64: "double", dtypes.int64: "int64_t",
    dtypes.int32: "int32_t", dtypes.int16: "int16_t", dtypes.int8: "int8_t",
    dtypes.uint8: "uint8_t", dtypes.bool: "_Bool", dtypes.float16: "_Float16",
    dtypes.bfloat16: "uint16_t (bfloat16)",
}

TENSOR = """#ifndef GRAPHWRIGHTTENSOR
#define GRAPHWRIGHTTENSOR
/* Elements in row-major order. */
typedef struct {
    void *data;
    int64_t *sizes;     /* [rank] */
    int32_t rank;
} gw_tensor;
#endif
"""

_HEADER = """/* {name}: a program packaged by graphwright. Functions return 0, or 1 on failure.
 *
{inputs}{outputs}{ranges} */
#ifndef GRAPHWRIGHT_{guard}_H
#define GRAPHWRIGHT_{guard}_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

{tensor}
typedef struct {name} {name};

/* A model with the weights of a file, which is mapped: what the program writes stays in the model.
{weights} * threads: how many run it. seed: of its random numbers. Where it fails, {name}_error
 * says why; {name}_free releases the model in any case. Models are independent of each other; one
 * model is used by one thread at a time. */
int {name}_create({name} **model, const char *weights, int threads, uint64_t seed);

/* Runs the program. Where outputs[i].data is NULL, it is set to memory of the model's, which
 * holds the result until the next run. Sizes of results are written where outputs[i].sizes is not
 * NULL. */
int {name}_run({name} *model, const gw_tensor *inputs, gw_tensor *outputs);

/* Why the last function failed. */
const char *{name}_error(const {name} *model);

/* The weights and what the program has written, as a safetensors file, and back. */
int {name}_save({name} *model, const char *path);
int {name}_load({name} *model, const char *path);

void {name}_free({name} *model);

#ifdef __cplusplus
}}
#endif
#endif
"""

_EMBEDDED = " * weights: NULL for those that the library has, or the path of a file with others.\n"


def header_text(
    name: str, rules: SizeRules, written: tuple[str, ...], program: NativeProgram, embedded: bool
) -> str:
    """The text of the header. `graphwright_loader` reads its first comment, too.

    name: what begins the names of its functions; written: the inputs that the program writes;
    embedded: whether the library has the weights.
    """
    inputs = "".join(
        f" *   inputs[{number}]  {node.name}: "
        f"{_described(node.meta['val'].dtype, node.meta['val'].shape)}"
        f"{' (written)' if node.name in written else ''}\n"
        for number, node in enumerate(rules.inputs))
    outputs = "".join(f" *   outputs[{number}]: {_described(one.buffer.dtype, one.shape)}\n"
                      for number, one in enumerate(program.outputs))
    ranges = "".join(f" *   {symbol} in {one}\n" for symbol, one in rules.ranges)
    return _HEADER.format(
        name=name, guard=name.upper(), inputs=inputs, outputs=outputs, tensor=TENSOR,
        ranges=f" * sizes:\n{ranges}" if ranges else "", weights=_EMBEDDED if embedded else "")


def _described(dtype: dtypes.dtype, shape: Sequence[Any]) -> str:
    return f"{_C_TYPES.get(dtype, dtype.name)}[{', '.join(map(str, shape))}]"
