/* Resampling of one element type, over the outer dimension. Included with REAL and NAME(x)
 * defined. */

GW_VECTORISED static void NAME(gather)(void *closure, int64_t begin, int64_t end) {
    const Resample *r = closure;
    for (int64_t o = begin; o < end; o++) {
        const REAL *x = (const REAL *)r->from + o * r->size * r->inner;
        REAL *out = (REAL *)r->to + o * r->count * r->inner;
        const int64_t *index = r->index;
        const REAL *weight = r->weight;
        for (int64_t i = 0; i < r->count; i++, out += r->inner) {
            if (r->inner == 1) {
                REAL sum = 0;
                for (int64_t k = 0; k < r->taps; k++) {
                    sum += *weight++ * x[*index++];
                }
                *out = sum;
                continue;
            }
            memset(out, 0, (size_t)r->inner * sizeof(REAL));
            for (int64_t k = 0; k < r->taps; k++, index++, weight++) {
                const REAL *row = x + *index * r->inner;
                REAL factor = *weight;
                for (int64_t j = 0; j < r->inner; j++) {
                    out[j] += factor * row[j];
                }
            }
        }
    }
}

GW_VECTORISED static void NAME(spread)(void *closure, int64_t begin, int64_t end) {
    const Resample *r = closure;
    for (int64_t o = begin; o < end; o++) {
        const REAL *x = (const REAL *)r->from + o * r->count * r->inner;
        REAL *out = (REAL *)r->to + o * r->size * r->inner;
        const int64_t *index = r->index;
        const REAL *weight = r->weight;
        memset(out, 0, (size_t)(r->size * r->inner) * sizeof(REAL));
        for (int64_t i = 0; i < r->count; i++, x += r->inner) {
            for (int64_t k = 0; k < r->taps; k++, index++, weight++) {
                REAL *row = out + *index * r->inner, factor = *weight;
                for (int64_t j = 0; j < r->inner; j++) {
                    row[j] += factor * x[j];
                }
            }
        }
    }
}

#undef REAL
#undef NAME
