/* Type promotion. The codes of dtypes are in the order of their categories and widths. */
#include "promote.h"

static int common(int a, int b) {
    int low = a < b ? a : b, high = a < b ? b : a;
    if (low == GW_UINT8 && high == GW_INT8) {
        return GW_INT16;
    }
    return low == GW_FLOAT16 && high == GW_BFLOAT16 ? GW_FLOAT32 : high;
}

static void add(GwPromotion *p, int level, int dtype) {
    int seen = p->levels[level];
    p->levels[level] = seen < 0 ? dtype : common(seen, dtype);
}

void gw_promote_tensor(GwPromotion *p, const GwTensor *t) {
    add(p, t->ndim > 0 ? 0 : 1, t->dtype);
}

void gw_promote_number(GwPromotion *p, PyObject *number) {
    add(p, 2, PyBool_Check(number) ? GW_BOOL
              : PyFloat_Check(number) ? gw_default_dtype() : GW_INT64);
}

int gw_promoted(const GwPromotion *p) {
    int result = -1;
    for (int level = 0; level < 3; level++) {
        int dtype = p->levels[level];
        if (dtype >= 0 && (result < 0 || gw_category(dtype) > gw_category(result))) {
            result = dtype;
        }
    }
    return result;
}
