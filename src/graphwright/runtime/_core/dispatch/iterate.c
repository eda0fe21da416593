/* Running an elementwise loop over tensors: broadcasting, the order of dimensions, buffers for
 * conversions, threads. Layout rules are those of ops/strides.py. */
#include "layout.h"
#include "loops.h"
#include "pool.h"

enum {
    BLOCK = 1024,           /* elements that pass through the buffers at a time */
    GRAIN = 32 << 10,       /* elements of a cheap operation that are worth a thread */
    COSTLY_GRAIN = 4 << 10,
    HOLD_GIL = 4 << 10,     /* shorter runs are not worth giving it up */
};

int gw_broadcast(int count, GwTensor *const *tensors, int64_t *sizes) {
    int ndim = 0;
    for (int i = 0; i < count; i++) {
        ndim = tensors[i]->ndim > ndim ? tensors[i]->ndim : ndim;
    }
    for (int d = 0; d < ndim; d++) {
        sizes[d] = 1;
    }
    for (int i = 0; i < count; i++) {
        int lead = ndim - tensors[i]->ndim;
        for (int d = 0; d < tensors[i]->ndim; d++) {
            int64_t size = tensors[i]->sizes[d];
            if (size == 1) {
                continue;
            }
            if (sizes[lead + d] != 1 && sizes[lead + d] != size) {
                return -1;
            }
            sizes[lead + d] = size;
        }
    }
    return ndim;
}

/* ---- the strides of a result ---- */

typedef struct {
    bool sizes, strides;        /* the same for all */
    bool contiguous;            /* all are, and of the same sizes */
} Alike;

static Alike alike(int count, GwTensor *const *tensors, int ndim, const int64_t *sizes) {
    Alike all = {true, true, true};
    for (int i = 0; i < count; i++) {
        const GwTensor *t = tensors[i];
        if (t->ndim != ndim || memcmp(t->sizes, sizes, (size_t)ndim * sizeof(int64_t)) != 0) {
            return (Alike){false, false, false};
        }
        all.contiguous = all.contiguous && (t->flags & GW_CONTIGUOUS) != 0;
        all.strides = all.strides
                && memcmp(t->strides, tensors[0]->strides, (size_t)ndim * sizeof(int64_t)) == 0;
    }
    return all;
}

static bool is_dense(int ndim, const int64_t *sizes, const int64_t *strides) {
    bool taken[GW_MAX_DIMS] = {false};
    int64_t expected = 1;
    for (int n = 0; n < ndim; n++) {
        int found = -1;
        for (int d = 0; d < ndim; d++) {
            if (!taken[d] && sizes[d] != 1 && strides[d] == expected) {
                found = d;
                break;
            }
        }
        if (found < 0) {
            break;
        }
        taken[found] = true;
        expected *= sizes[found];
    }
    for (int d = 0; d < ndim; d++) {
        if (!taken[d] && sizes[d] != 1) {
            return false;
        }
    }
    return true;
}

/* The stride of a tensor along a dimension of the result; 0 where it is broadcast. */
static int64_t stride_along(const GwTensor *t, int ndim, int d, const int64_t *sizes) {
    int own = d - (ndim - t->ndim);
    return own >= 0 && t->sizes[own] == sizes[d] ? t->strides[own] : 0;
}

static int should_swap(int count, GwTensor *const *tensors, int ndim, const int64_t *sizes,
                       int inner, int outer) {
    for (int i = 0; i < count; i++) {
        int64_t a = stride_along(tensors[i], ndim, inner, sizes);
        int64_t b = stride_along(tensors[i], ndim, outer, sizes);
        if (a == 0 || b == 0) {
            continue;
        }
        if (a != b) {
            return a < b ? -1 : 1;
        }
        if (sizes[inner] > sizes[outer]) {
            return 1;
        }
    }
    return 0;
}

/* The dims from fastest to slowest. */
static void order_of(int count, GwTensor *const *tensors, int ndim, const int64_t *sizes,
                     int *perm) {
    for (int i = 0; i < ndim; i++) {
        perm[i] = ndim - 1 - i;
    }
    for (int i = 1; i < ndim; i++) {
        int at = i;
        for (int j = i - 1; j >= 0; j--) {
            int order = should_swap(count, tensors, ndim, sizes, perm[j], perm[at]);
            if (order < 0) {
                break;
            }
            if (order > 0) {
                int other = perm[j];
                perm[j] = perm[at];
                perm[at] = other;
                at = j;
            }
        }
    }
}

void gw_dense_strides(int count, GwTensor *const *tensors, int ndim, const int64_t *sizes,
                      int64_t *strides) {
    int perm[GW_MAX_DIMS];
    order_of(count, tensors, ndim, sizes, perm);
    int64_t step = 1;
    for (int i = 0; i < ndim; i++) {
        strides[perm[i]] = step;
        step *= sizes[perm[i]] > 1 ? sizes[perm[i]] : 1;
    }
}

/* Of operands that differ in their layouts: false where their order is row-major. A size of 0
 * counts, as it does in no other layout. */
static bool iterated_strides(int count, GwTensor *const *tensors, int ndim, const int64_t *sizes,
                             int64_t *strides) {
    int perm[GW_MAX_DIMS];
    bool row_major = true;
    order_of(count, tensors, ndim, sizes, perm);
    int64_t step = 1;
    for (int i = 0; i < ndim; i++) {
        row_major = row_major && perm[i] == ndim - 1 - i;
        strides[perm[i]] = step;
        step *= sizes[perm[i]];
    }
    return !row_major;
}

/* Whether all are images whose channels lie together. */
static bool channels_last(int count, GwTensor *const *tensors, int ndim) {
    bool last = ndim == 4 || ndim == 5;
    for (int i = 0; last && i < count; i++) {
        int64_t expected = 1;
        for (int n = 0; last && n < ndim; n++) {
            int d = n == 0 ? 1 : n == ndim - 1 ? 0 : ndim - n;
            last = tensors[i]->sizes[d] == 1 || tensors[i]->strides[d] == expected;
            expected *= tensors[i]->sizes[d];
        }
    }
    return last;
}

static void channels_last_strides(int ndim, const int64_t *sizes, int64_t *strides) {
    strides[1] = 1;
    strides[ndim - 1] = sizes[1];
    for (int d = ndim - 2; d > 1; d--) {
        strides[d] = strides[d + 1] * sizes[d + 1];
    }
    strides[0] = strides[2] * sizes[2];
}

bool gw_result_strides(int count, GwTensor *const *tensors, bool numbers, int ndim,
                       const int64_t *sizes, int64_t *strides) {
    if (ndim < 2) {
        return false;
    }
    Alike all = alike(count, tensors, ndim, sizes);
    if (all.contiguous
        && (!numbers || (all.strides && tensors[0]->numel > 0 && gw_row_major(tensors[0])))) {
        return false;
    }
    if (numbers || !all.sizes) {
        return iterated_strides(count, tensors, ndim, sizes, strides);
    }
    if (channels_last(count, tensors, ndim)) {
        channels_last_strides(ndim, sizes, strides);
    } else if (all.strides && is_dense(ndim, sizes, tensors[0]->strides)) {
        memcpy(strides, tensors[0]->strides, (size_t)ndim * sizeof(int64_t));
    } else {
        return iterated_strides(count, tensors, ndim, sizes, strides);
    }
    return true;
}

bool gw_kept_strides(GwTensor *t, int64_t *strides) {
    if (gw_row_major(t)) {
        return false;
    }
    if ((t->flags & GW_CONTIGUOUS) != 0 || is_dense(t->ndim, t->sizes, t->strides)) {
        memcpy(strides, t->strides, (size_t)t->ndim * sizeof(int64_t));
    } else {
        gw_dense_strides(1, &t, t->ndim, t->sizes, strides);
    }
    return true;
}

GwTensor *gw_tensor_like(PyTypeObject *cls, GwTensor *t, int dtype) {
    int64_t strides[GW_MAX_DIMS];
    bool strided = gw_kept_strides(t, strides);
    return gw_tensor_empty(cls, dtype, t->ndim, t->sizes, strided ? strides : NULL);
}

GwTensor *gw_copy_of_row(PyTypeObject *cls, GwTensor *t) {
    GwTensor *copy = (t->flags & GW_CONTIGUOUS) != 0 ? gw_tensor_like(cls, t, t->dtype) : NULL;
    if (copy != NULL && t->numel > 0) {
        memcpy(copy->data, t->data, (size_t)(t->numel * gw_itemsize(t)));
    }
    return copy;
}

/* ---- plans ---- */

void gw_plan_tensor(GwPlan *plan, int at, const GwTensor *t, int ndim, const int64_t *sizes) {
    int itemsize = gw_itemsize(t);
    plan->data[at] = t->data;
    for (int d = 0; d < ndim; d++) {
        plan->steps[at][d] = (npy_intp)stride_along(t, ndim, d, sizes) * itemsize;
    }
}

static bool joinable(const GwPlan *plan, int inner, int outer) {
    for (int i = 0; i < plan->count; i++) {
        if (plan->steps[i][outer] != plan->steps[i][inner] * (npy_intp)plan->sizes[inner]) {
            return false;
        }
    }
    return true;
}

static void move_dim(GwPlan *plan, int to, int from) {
    plan->sizes[to] = plan->sizes[from];
    for (int i = 0; i < plan->count; i++) {
        plan->steps[i][to] = plan->steps[i][from];
    }
}

static void swap_dims(GwPlan *plan, int a, int b) {
    int64_t size = plan->sizes[a];
    plan->sizes[a] = plan->sizes[b];
    plan->sizes[b] = size;
    for (int i = 0; i < plan->count; i++) {
        npy_intp step = plan->steps[i][a];
        plan->steps[i][a] = plan->steps[i][b];
        plan->steps[i][b] = step;
    }
}

void gw_plan_finish(GwPlan *plan, int ndim, const int64_t *sizes) {
    int out = plan->count - 1, n = 0;
    plan->numel = 1;
    for (int d = ndim - 1; d >= 0; d--) {   /* the last dimension comes first */
        plan->sizes[d] = sizes[d];
        plan->numel *= sizes[d];
    }
    for (int low = 0, high = ndim - 1; low < high; low++, high--) {
        swap_dims(plan, low, high);
    }
    for (int d = 0; d < ndim; d++) {
        if (plan->sizes[d] != 1) {
            move_dim(plan, n++, d);
        }
    }
    for (int i = 1; i < n; i++) {           /* by the output's steps */
        for (int j = i; j > 0 && plan->steps[out][j] < plan->steps[out][j - 1]; j--) {
            swap_dims(plan, j, j - 1);
        }
    }
    int last = 0;
    for (int d = 1; d < n; d++) {
        if (joinable(plan, last, d)) {
            plan->sizes[last] *= plan->sizes[d];
        } else {
            move_dim(plan, ++last, d);
        }
    }
    plan->ndim = n > 0 ? last + 1 : 0;
    plan->buffered = false;
    for (int i = 0; i < plan->count; i++) {
        plan->buffered = plan->buffered || plan->convert[i] != NULL;
    }
}

/* Brings elements together, where a conversion would stand. */
static void gather(char **args, const npy_intp *count, const npy_intp *steps, void *data) {
    GW_UNUSED(data);
    gw_pick_of(steps[1], steps[0])(args[0], *count, args[1]);
}

void gw_plan_gather(GwPlan *plan) {
    for (int i = 0; i < plan->count - 1 && plan->ndim > 0; i++) {
        if (plan->convert[i] == NULL && gw_pick_of(plan->width[i], plan->steps[i][0]) != NULL) {
            plan->convert[i] = gather;
            plan->buffered = true;
        }
    }
}

/* Converts blocks of the inputs, computes, converts the result. */
static void run_buffered(const GwPlan *plan, char **args, const npy_intp *steps, int64_t n) {
    _Alignas(64) char buffers[GW_MAX_OPERANDS][BLOCK * 8];
    int out = plan->count - 1;
    npy_intp inner[GW_MAX_OPERANDS];
    char *at[GW_MAX_OPERANDS];
    for (int64_t done = 0; done < n; done += BLOCK) {
        npy_intp block = n - done < BLOCK ? n - done : BLOCK;
        for (int i = 0; i <= out; i++) {
            char *own = args[i] + done * steps[i];
            bool convert = plan->convert[i] != NULL;
            at[i] = convert ? buffers[i] : own;
            inner[i] = convert ? plan->width[i] : steps[i];
            if (convert && i < out) {
                bool one = steps[i] == 0;
                npy_intp count = one ? 1 : block, widths[2] = {steps[i], plan->width[i]};
                char *pair[2] = {own, buffers[i]};
                plan->convert[i](pair, &count, widths, NULL);
                inner[i] = one ? 0 : plan->width[i];
            }
        }
        char *result = args[out] + done * steps[out], *computed = at[out];
        plan->loop.loop(at, &block, inner, plan->loop.data);
        if (plan->convert[out] != NULL) {
            char *pair[2] = {computed, result};
            npy_intp widths[2] = {plan->width[out], steps[out]};
            plan->convert[out](pair, &block, widths, NULL);
        }
    }
}

static void run_inner(const GwPlan *plan, char *const *start, int64_t n) {
    char *args[GW_MAX_OPERANDS];
    npy_intp steps[GW_MAX_OPERANDS], count = n;
    for (int i = 0; i < plan->count; i++) {
        args[i] = start[i];
        steps[i] = plan->ndim > 0 ? plan->steps[i][0] : 0;
    }
    if (plan->buffered) {
        run_buffered(plan, args, steps, n);
    } else {
        plan->loop.loop(args, &count, steps, plan->loop.data);
    }
}

/* Elements [begin, end) in the order of the iteration. */
static void run_range(void *closure, int64_t begin, int64_t end) {
    const GwPlan *plan = closure;
    int64_t index[GW_MAX_DIMS], rest = begin;
    char *at[GW_MAX_OPERANDS];
    memcpy(at, plan->data, sizeof at);
    for (int d = 0; d < plan->ndim; d++) {
        index[d] = rest % plan->sizes[d];
        rest /= plan->sizes[d];
        for (int i = 0; i < plan->count; i++) {
            at[i] += index[d] * plan->steps[i][d];
        }
    }
    while (begin < end) {
        int64_t left = plan->ndim > 0 ? plan->sizes[0] - index[0] : 1;
        int64_t n = left < end - begin ? left : end - begin;
        run_inner(plan, at, n);
        begin += n;
        if (begin >= end) {
            break;
        }
        for (int i = 0; i < plan->count; i++) {
            at[i] -= index[0] * plan->steps[i][0];
        }
        index[0] = 0;
        for (int d = 1; d < plan->ndim; d++) {
            bool carries = ++index[d] == plan->sizes[d];
            int64_t moved = carries ? 1 - plan->sizes[d] : 1;
            for (int i = 0; i < plan->count; i++) {
                at[i] += moved * plan->steps[i][d];
            }
            if (!carries) {
                break;
            }
            index[d] = 0;
        }
    }
}

void gw_plan_run(GwPlan *plan) {
    if (plan->numel == 0) {
        return;
    }
    int64_t grain = plan->costly ? COSTLY_GRAIN : GRAIN;
    if (plan->numel <= HOLD_GIL) {
        run_range(plan, 0, plan->numel);
        return;
    }
    gw_ctx ctx;
    gw_context(&ctx);
    Py_BEGIN_ALLOW_THREADS
    if (!gw_run_short_rows(plan, &ctx, grain)) {
        gw_parallel_for(&ctx, run_range, plan, plan->numel, grain);
    }
    Py_END_ALLOW_THREADS
}

/* ---- overlap ---- */

static const char *end_of(const GwTensor *t) {
    int64_t last = 0;
    for (int d = 0; d < t->ndim; d++) {
        last += (t->sizes[d] - 1) * t->strides[d];
    }
    return t->data + (last + 1) * gw_itemsize(t);
}

bool gw_may_clobber(const GwTensor *out, const GwTensor *in) {
    if (out->numel == 0 || in->numel == 0 || end_of(in) <= out->data || end_of(out) <= in->data) {
        return false;
    }
    return out->data != in->data || gw_itemsize(out) != gw_itemsize(in) || !gw_same_steps(out, in);
}
