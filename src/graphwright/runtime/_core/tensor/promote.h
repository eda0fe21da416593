/* Type promotion of bool, integers and floats, by the rules of promotion.py. */
#ifndef GRAPHWRIGHT_PROMOTE_H
#define GRAPHWRIGHT_PROMOTE_H

#include "core.h"

/* The common dtype of tensors with dims, of those without, and of Python's numbers; -1: none. */
typedef struct {
    int levels[3];
} GwPromotion;

#define GW_NO_PROMOTION ((GwPromotion){{-1, -1, -1}})

static inline bool gw_can_promote(int dtype) { return dtype <= GW_FLOAT64; }

/* 0 for bool, 1 for integers, 2 for floats. */
static inline int gw_category(int dtype) {
    return dtype == GW_BOOL ? 0 : dtype < GW_FLOAT16 ? 1 : 2;
}

void gw_promote_tensor(GwPromotion *p, const GwTensor *t);
void gw_promote_number(GwPromotion *p, PyObject *number);   /* a bool, int or float */

/* The dtype of the result; -1 where there was no operand. */
int gw_promoted(const GwPromotion *p);

#endif
