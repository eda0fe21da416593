/* The float8 dtypes: their numbers, and conversions from and to float32. */
#include "float8.h"
#include "half.h"
#include "pool.h"

#include <math.h>

enum { COUNT = GW_NUM_DTYPES - GW_FLOAT8_E4M3FN, CODES = 256 };

typedef struct {
    uint32_t largest, overflow, nan;    /* codes: see runtime/tensor/float8.py */
    uint32_t shift;                     /* the bits that float32's mantissa has more */
    uint32_t rebias;                    /* what its exponent field has more */
    uint32_t normal;                    /* its bits from which on numbers are normal here */
    uint32_t sign;                      /* 0x80 where there are negative numbers */
    bool implied;                       /* no mantissa: the leading 1 is what is rounded to */
    bool minus_zero;
    float values[CODES];
} Format;

static Format formats[COUNT];

static float value_of(const Format *f, uint32_t code) {
    uint32_t body = code & ~f->sign & 0xff;
    bool special = body > f->largest || (code == f->nan && !f->minus_zero);
    float value = gw_half_float(body << f->shift);      /* but for the bias, also if subnormal */
    value = ldexpf(value, (int)(f->rebias >> 23));
    if (f->implied) {
        value = ldexpf(1.0f, (int)body - 127);
    }
    if (special) {
        value = code != f->nan && body == f->overflow ? INFINITY : NAN;
    }
    return code & f->sign ? -value : value;
}

/* |bits| as a code without a sign. */
static inline __attribute__((always_inline)) uint32_t code_of(const Format *f, uint32_t bits) {
    uint32_t odd = f->implied ? bits >> 23 != 0 : bits >> f->shift & 1;
    uint32_t half = (UINT32_C(1) << (f->shift - 1)) - 1;
    uint32_t normal = (bits + half + odd - f->rebias) >> f->shift;
    uint32_t adder = f->rebias + ((f->shift + 1) << 23);    /* whose last bit is the least code */
    uint32_t small = gw_half_bits(gw_half_float(bits) + gw_half_float(adder)) - adder;
    uint32_t code = bits < f->normal ? small : normal;
    code = code > f->largest ? f->overflow : code;
    return bits > 0x7f800000 ? f->nan : code;
}

static inline __attribute__((always_inline)) uint8_t byte_of(const Format *f, float number) {
    uint32_t bits = gw_half_bits(number);
    uint32_t code = code_of(f, bits & 0x7fffffff), sign = bits >> 24 & f->sign;
    return (uint8_t)(code | (code != 0 || f->minus_zero ? sign : 0));
}

float gw_from_float8(int dtype, uint8_t code) {
    return formats[dtype - GW_FLOAT8_E4M3FN].values[code];
}

uint8_t gw_to_float8(int dtype, float number) {
    return byte_of(&formats[dtype - GW_FLOAT8_E4M3FN], number);
}

bool gw_float8_holds(int dtype, double number) {
    const Format *f = &formats[dtype - GW_FLOAT8_E4M3FN];
    double most = f->values[f->largest], least = f->sign != 0 ? -most : f->values[0];
    bool infinite = isinf(number) && isinf(f->values[f->overflow]);
    return isnan(number) || infinite || (number >= least && number <= most);
}

/* ---- loops ---- */

static void decode(const Format *f, char **args, npy_intp count, const npy_intp *steps) {
    for (npy_intp i = 0; i < count; i++) {
        *(float *)(args[1] + i * steps[1]) = f->values[*(const uint8_t *)(args[0] + i * steps[0])];
    }
}

GW_VECTORISED static void encode_row(const Format *format, const float *in, uint8_t *out,
                                     int64_t n) {
    const Format f = *format;       /* which no store changes */
    for (int64_t i = 0; i < n; i++) {
        out[i] = byte_of(&f, in[i]);
    }
}

static void encode(const Format *f, char **args, npy_intp count, const npy_intp *steps) {
    if (steps[0] == sizeof(float) && steps[1] == 1) {
        encode_row(f, (const float *)args[0], (uint8_t *)args[1], count);
        return;
    }
    for (npy_intp i = 0; i < count; i++) {
        *(uint8_t *)(args[1] + i * steps[1]) = byte_of(f, *(const float *)(args[0] + i * steps[0]));
    }
}

#define LOOPS(name, code)                                                                       \
    static void decode_##name(char **args, const npy_intp *count, const npy_intp *steps,        \
                              void *data) {                                                     \
        GW_UNUSED(data);                                                                        \
        decode(&formats[code - GW_FLOAT8_E4M3FN], args, *count, steps);                         \
    }                                                                                           \
    static void encode_##name(char **args, const npy_intp *count, const npy_intp *steps,        \
                              void *data) {                                                     \
        GW_UNUSED(data);                                                                        \
        encode(&formats[code - GW_FLOAT8_E4M3FN], args, *count, steps);                         \
    }

LOOPS(e4m3fn, GW_FLOAT8_E4M3FN)
LOOPS(e5m2, GW_FLOAT8_E5M2)
LOOPS(e4m3fnuz, GW_FLOAT8_E4M3FNUZ)
LOOPS(e5m2fnuz, GW_FLOAT8_E5M2FNUZ)
LOOPS(e8m0fnu, GW_FLOAT8_E8M0FNU)

GwLoop gw_float8_loop(int from, int to) {
    static const GwLoop decoders[COUNT] = {decode_e4m3fn, decode_e5m2, decode_e4m3fnuz,
                                           decode_e5m2fnuz, decode_e8m0fnu};
    static const GwLoop encoders[COUNT] = {encode_e4m3fn, encode_e5m2, encode_e4m3fnuz,
                                           encode_e5m2fnuz, encode_e8m0fnu};
    return gw_is_float8(from) && to == GW_FLOAT32   ? decoders[from - GW_FLOAT8_E4M3FN]
           : gw_is_float8(to) && from == GW_FLOAT32 ? encoders[to - GW_FLOAT8_E4M3FN]
                                                    : NULL;
}

/* ---- Python ---- */

static PyObject *register_float8(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    int code;
    unsigned mantissa, bias, largest, overflow, nan;
    if (!PyArg_ParseTuple(args, "i(IIIII):register_float8", &code, &mantissa, &bias, &largest,
                          &overflow, &nan)) {
        return NULL;
    }
    if (code < GW_FLOAT8_E4M3FN || code >= GW_NUM_DTYPES || mantissa > 6 || bias > 127
        || largest >= CODES || overflow >= CODES || nan >= CODES) {
        return PyErr_Format(PyExc_ValueError, "no float8 dtype has the code %d, or no such format",
                            code);
    }
    Format *f = &formats[code - GW_FLOAT8_E4M3FN];
    *f = (Format){
        .largest = largest, .overflow = overflow, .nan = nan, .shift = 23 - mantissa,
        .rebias = (127 - bias) << 23, .implied = mantissa == 0,
        .normal = mantissa == 0 ? 0 : (128 - bias) << 23,
        .sign = largest < 0x80 ? 0x80 : 0, .minus_zero = largest < 0x80 && nan != 0x80,
    };
    for (uint32_t i = 0; i < CODES; i++) {
        f->values[i] = value_of(f, i);
    }
    Py_RETURN_NONE;
}

PyMethodDef gw_float8_methods[] = {
    {"register_float8", register_float8, METH_VARARGS,
     "register_float8(code, format): what the bits of a float8 dtype mean, a tuple of five ints."},
    {NULL, NULL, 0, NULL},
};
