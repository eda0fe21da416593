/* Elementwise kernels of tensors with numbers: those of bfloat16 without a detour over buffers of
 * float32, and the numbers of all are read once. The tensors x, y, z come first, then the numbers
 * a, b, c. */
#include "elements.h"
#include "half.h"

#define MIXED(name, out, numbers, tensors, expression)                                     \
    GW_ROW(NAME(name)) {                                                                   \
        GW_UNUSED(trouble);                                                                \
        T *result = (T *)args[out];                                                        \
        numbers                                                                            \
        GW_EACH(i, n) {                                                                    \
            tensors                                                                        \
            result[i] = FROM_REAL(expression);                                             \
        }                                                                                  \
    }
#define TENSOR(name, at) REAL name = TO_REAL(((const T *)args[at])[i]);
#define NUMBER(name, at) const REAL name = *(const REAL *)args[at];
#define MIXED_1_1(name, expression) MIXED(name, 2, NUMBER(a, 1), TENSOR(x, 0), expression)
#define MIXED_1_2(name, expression) \
    MIXED(name, 3, NUMBER(a, 1) NUMBER(b, 2), TENSOR(x, 0), expression)
#define MIXED_1_3(name, expression) \
    MIXED(name, 4, NUMBER(a, 1) NUMBER(b, 2) NUMBER(c, 3), TENSOR(x, 0), expression)
#define MIXED_2_1(name, expression) \
    MIXED(name, 3, NUMBER(a, 2), TENSOR(x, 0) TENSOR(y, 1), expression)
#define MIXED_3_1(name, expression) \
    MIXED(name, 4, NUMBER(a, 3), TENSOR(x, 0) TENSOR(y, 1) TENSOR(z, 2), expression)

#define T uint16_t
#define REAL float
#define TO_REAL(element) gw_from_bfloat16(element)
#define FROM_REAL(number) gw_to_bfloat16(number)
#define NAME(name) name##_of_bfloat16
#define TABLE gw_mixed_bfloat16_rows
#include "tensor_number_rows_kernel.h"
#undef T
#undef TO_REAL
#undef FROM_REAL
#define TO_REAL(element) (element)
#define FROM_REAL(number) (number)

#define T float
#define NAME(name) name##_of_float32
#define TABLE gw_mixed_float32_rows
#include "tensor_number_rows_kernel.h"
#undef T
#undef REAL

#define T double
#define REAL double
#define NAME(name) name##_of_float64
#define TABLE gw_mixed_float64_rows
#include "tensor_number_rows_kernel.h"
