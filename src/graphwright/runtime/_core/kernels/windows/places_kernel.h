/* Reading and writing planes at given places, for one element type. Included with REAL and
 * NAME(x) defined. */

static inline bool NAME(inside)(Places *p, int64_t at) {
    if (at >= 0 && at < p->size) {
        return true;
    }
    p->bad = at == -1 ? p->size : at;
    return false;
}

static void NAME(add_at)(void *closure, int64_t begin, int64_t end) {
    Places *p = closure;
    for (int64_t plane = begin; plane < end; plane++) {
        const REAL *values = (const REAL *)p->values + plane * p->count;
        const int64_t *indices = p->indices + plane * p->count;
        REAL *out = (REAL *)p->output + plane * p->size;
        memset(out, 0, (size_t)p->size * sizeof(REAL));
        for (int64_t i = 0; i < p->count; i++) {
            if (NAME(inside)(p, indices[i])) {
                out[indices[i]] += values[i];
            }
        }
    }
}

static void NAME(put_at)(void *closure, int64_t begin, int64_t end) {
    Places *p = closure;
    for (int64_t plane = begin; plane < end; plane++) {
        const REAL *values = (const REAL *)p->values + plane * p->count;
        const int64_t *indices = p->indices + plane * p->count;
        REAL *out = (REAL *)p->output + plane * p->size;
        memset(out, 0, (size_t)p->size * sizeof(REAL));
        for (int64_t i = 0; i < p->count; i++) {
            if (NAME(inside)(p, indices[i])) {
                out[indices[i]] = values[i];
            }
        }
    }
}

static void NAME(take_at)(void *closure, int64_t begin, int64_t end) {
    Places *p = closure;
    for (int64_t plane = begin; plane < end; plane++) {
        const REAL *values = (const REAL *)p->values + plane * p->size;
        const int64_t *indices = p->indices + plane * p->count;
        REAL *out = (REAL *)p->output + plane * p->count;
        for (int64_t i = 0; i < p->count; i++) {
            out[i] = NAME(inside)(p, indices[i]) ? values[indices[i]] : 0;
        }
    }
}

static const gw_body NAME(places)[] = {NAME(add_at), NAME(put_at), NAME(take_at)};

#undef REAL
#undef NAME
