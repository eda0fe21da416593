"""The part of a C module before its functions: the ABI, vector types, small inline helpers.

Only what a module uses is written. GCC and Clang both have vector extensions; what these lack
(fma, roots, rounding) is spelled with each compiler's builtins.
"""

from __future__ import annotations

from graphwright.codegen.emit.regs import BITS, NARROW

SCALARS = {
    "b": "_Bool", "i8": "int8_t", "u8": "uint8_t", "i16": "int16_t", "i32": "int32_t",
    "i64": "int64_t", "f32": "float", "f64": "double",
}
SCALARS |= {kind: SCALARS[integer] for kind, integer in NARROW.items()}
UNSIGNED = {"i8": "u8", "u8": "u8", "i16": "u16", "i32": "u32", "i64": "u64"}
_WORDS = {"u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t"}

ABI = """\
#include <stdint.h>

typedef struct gw_ctx gw_ctx;
typedef void (*gw_body)(void *closure, int64_t begin, int64_t end);
typedef struct {
    gw_body body;
    void *closure;
    int64_t count, grain, each;
} gw_then;
typedef int32_t (*gw_routine)(const gw_ctx *, void *const *arrays, const int64_t *sizes,
                              const double *numbers, const gw_then *then);
struct gw_ctx {
    void (*parallel_for)(const gw_ctx *, gw_body, void *closure, int64_t n, int64_t grain);
    int32_t (*gemm)(const gw_ctx *, int32_t dtype, int32_t transa, int32_t transb, int64_t m,
                    int64_t n, int64_t k, double alpha, const void *a, int64_t lda,
                    int64_t stride_a, const void *b, int64_t ldb, int64_t stride_b, double beta,
                    void *c, int64_t ldc, int64_t stride_c, int64_t batch, const gw_then *then);
    uint64_t seed, offset;
    int64_t num_threads;
    int64_t *error_info;
    int32_t (*enter_stage)(const gw_ctx *, int64_t stage);
    const gw_routine *routines;
};
"""


def memory_kind(kind: str) -> str:
    """The kind whose C type elements of `kind` have in memory."""
    return "i8" if kind == "b" else NARROW.get(kind, kind)


def vector_kind(kind: str) -> str:
    """The kind whose C type SIMD lanes of `kind` have: truth values are 0 or -1 in 32 bits."""
    return "i32" if kind == "b" else NARROW.get(kind, kind)


def c_type(kind: str, lanes: int = 1) -> str:
    """The C type of a value."""
    return SCALARS[kind] if lanes == 1 else f"{vector_kind(kind)}x{lanes}"


def vector_typedef(name: str) -> str:
    """`typedef ... f32x16`, and `f32x16_u` for access to unaligned memory of any type."""
    kind, _, lanes = name.partition("x")
    bits = {"u16": 16, "u32": 32, "u64": 64}.get(kind) or BITS[kind]
    scalar, size = _WORDS.get(kind) or SCALARS[kind], bits // 8
    total = size * int(lanes)
    return (f"typedef {scalar} {name} __attribute__((vector_size({total})));\n"
            f"typedef {scalar} {name}_u "
            f"__attribute__((vector_size({total}), aligned({size}), may_alias));\n")


def _inline(result: str, name: str, params: str, body: str) -> str:
    return f"static inline {result} {name}({params}) {{ {body} }}\n"


def splat(kind: str, lanes: int) -> str:
    ty = f"{kind}x{lanes}"
    items = ", ".join(["x"] * lanes)
    return _inline(ty, f"splat_{ty}", f"{SCALARS[kind]} x", f"return ({ty}){{{items}}};")


def select(kind: str, lanes: int) -> str:
    """Bitwise, on integers as wide as the lanes."""
    ty, flags = f"{kind}x{lanes}", f"i{BITS[kind]}x{lanes}"
    mask = "m" if flags == f"i32x{lanes}" else f"__builtin_convertvector(m, {flags})"
    return _inline(
        ty, f"select_{ty}", f"i32x{lanes} m, {ty} a, {ty} b",
        f"{flags} k = {mask}; return ({ty})((k & ({flags})a) | (~k & ({flags})b));")


def any_lane(lanes: int) -> str:
    return _inline("_Bool", f"any_i32x{lanes}", f"i32x{lanes} m",
                   f"int32_t r = 0; for (int l = 0; l < {lanes}; l++) r |= m[l]; return r != 0;")


def half(kind: str, lanes: int) -> str:
    """Access to the lower (0) or upper (1) lanes of a vector twice as long."""
    ty, source = f"{kind}x{lanes}", f"{kind}x{2 * lanes}"
    return _inline(ty, f"half_{source}", f"{source} a, int upper",
                   f"return ((const {ty}_u *)&a)[upper];")


def load_masked(kind: str, lanes: int) -> str:
    ty, item = f"{kind}x{lanes}", SCALARS[kind]
    return _inline(ty, f"load_{ty}", f"const {item} *p, i32x{lanes} m",
                   f"{ty} r; for (int l = 0; l < {lanes}; l++) r[l] = m[l] ? p[l] : 0; return r;")


def store_masked(kind: str, lanes: int) -> str:
    ty, item = f"{kind}x{lanes}", SCALARS[kind]
    return _inline("void", f"store_{ty}", f"{item} *p, {ty} v, i32x{lanes} m",
                   f"for (int l = 0; l < {lanes}; l++) if (m[l]) p[l] = v[l];")


def strided(kind: str, lanes: int) -> str:
    ty, item = f"{kind}x{lanes}", SCALARS[kind]
    return _inline(ty, f"strided_{ty}", f"const {item} *p, int step",
                   f"{ty} r; for (int l = 0; l < {lanes}; l++) r[l] = p[l * step]; return r;")


def store_strided(kind: str, lanes: int) -> str:
    ty, item = f"{kind}x{lanes}", SCALARS[kind]
    return _inline("void", f"store_strided_{ty}", f"{item} *p, {ty} v, int step",
                   f"for (int l = 0; l < {lanes}; l++) p[l * step] = v[l];")


def gather(kind: str, lanes: int) -> str:
    ty, item = f"{kind}x{lanes}", SCALARS[kind]
    return _inline(ty, f"gather_{ty}", f"const {item} *p, i64x{lanes} i",
                   f"{ty} r; for (int l = 0; l < {lanes}; l++) r[l] = p[i[l]]; return r;")


def gather_masked(kind: str, lanes: int) -> str:
    ty, item = f"{kind}x{lanes}", SCALARS[kind]
    return _inline(
        ty, f"gather_masked_{ty}", f"const {item} *p, i64x{lanes} i, i32x{lanes} m",
        f"{ty} r; for (int l = 0; l < {lanes}; l++) r[l] = m[l] ? p[i[l]] : 0; return r;")


def scatter_masked(kind: str, lanes: int) -> str:
    ty, item = f"{kind}x{lanes}", SCALARS[kind]
    return _inline("void", f"scatter_{ty}",
                   f"{item} *p, i64x{lanes} i, {ty} v, i32x{lanes} m",
                   f"for (int l = 0; l < {lanes}; l++) if (m[l]) p[i[l]] = v[l];")


def bitcast_scalar(source: str, kind: str) -> str:
    a, b = SCALARS[source], SCALARS[kind]
    return _inline(b, f"{kind}_of_{source}", f"{a} x",
                   f"union {{ {a} from; {b} to; }} u = {{x}}; return u.to;")


def high_product(kind: str, lanes: int) -> str:
    """The upper half of an unsigned product."""
    if lanes == 1:
        word, double = ("uint32_t", "uint64_t") if kind == "i32" else (
            "uint64_t", "unsigned __int128")
        return _inline(SCALARS[kind], f"umulhi_{kind}", f"{SCALARS[kind]} a, {SCALARS[kind]} b",
                       f"return ({double})({word})a * ({word})b >> {BITS[kind]};")
    ty, word, double = f"i32x{lanes}", f"u32x{lanes}", f"u64x{lanes}"
    return _inline(
        ty, f"umulhi_{ty}", f"{ty} a, {ty} b",
        f"return ({ty})__builtin_convertvector((__builtin_convertvector(({word})a, {double}) * "
        f"__builtin_convertvector(({word})b, {double})) >> 32, {word});")


_ROUNDING = {"round": 8, "floor": 9, "ceil": 10, "trunc": 11}
_CLANG = {"sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
          "round": "roundeven", "abs": "abs", "fma": "fma"}


def float_function(op: str, kind: str, lanes: int) -> str:
    """C code of fma, sqrt or a rounding of a vector; one longer than a register is halved."""
    ty, params = f"{kind}x{lanes}", "abc" if op == "fma" else "a"
    head = ", ".join(f"{ty} {p}" for p in params)
    args = ", ".join(params)
    spelled = _gcc_spelling(op, kind, lanes)
    libm = f"__builtin_{'roundeven' if op == 'round' else op}{'f' if kind == 'f32' else ''}"
    lanewise = ", ".join(f"{p}[l]" for p in params)
    loop = f"{ty} r; for (int l = 0; l < {lanes}; l++) r[l] = {libm}({lanewise}); return r;"
    name = f"{op}_{ty}"
    text = "#if defined(__clang__)\n"
    text += _inline(ty, name, head, f"return __builtin_elementwise_{_CLANG[op]}({args});")
    if spelled is not None:
        condition, call = spelled
        text += f"#elif defined({condition})\n" + _inline(ty, name, head, call)
    return text + "#else\n" + _inline(ty, name, head, loop) + "#endif\n"


def _gcc_spelling(op: str, kind: str, lanes: int) -> tuple[str, str] | None:
    """(macro that must be defined, body) with GCC's builtins."""
    bits, p = lanes * BITS[kind], "ps" if kind == "f32" else "pd"
    ty, params = f"{kind}x{lanes}", "abc" if op == "fma" else "a"
    if bits > 512:
        part = f"{kind}x{lanes // 2}"
        halves = [", ".join(f"((const {part}_u *)&{v})[{i}]" for v in params) for i in (0, 1)]
        stores = " ".join(f"(({part}_u *)&r)[{i}] = {op}_{part}({h});"
                          for i, h in enumerate(halves))
        return "__GNUC__", f"{ty} r; {stores} return r;"
    every = f"(unsigned {'short' if lanes == 16 else 'char'})-1, 4"
    if bits == 512:
        body = {"fma": f"vfmadd{p}512_mask(a, b, c, {every})",
                "sqrt": f"sqrt{p}512_mask(a, a, {every})"}.get(op)
        if body is None:
            body = f"rndscale{p}_mask(a, {_ROUNDING[op]}, a, {every})"
        return "__AVX512F__", f"return __builtin_ia32_{body};"
    if bits not in (128, 256):
        return None
    wide = "256" if bits == 256 else ""
    if op == "fma":
        return "__FMA__", f"return __builtin_ia32_vfmadd{p}{wide}(a, b, c);"
    if op == "sqrt":
        return "__AVX__" if wide else "__SSE2__", f"return __builtin_ia32_sqrt{p}{wide}(a);"
    return ("__AVX__" if wide else "__SSE4_1__",
            f"return __builtin_ia32_round{p}{wide}(a, {_ROUNDING[op]});")
