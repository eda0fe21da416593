/* Ops by a mask that broadcasts: masked_select and masked_scatter of few elements, masked_fill. Other
 * threads may write the mask between its being counted and used, so that counts stay bounds. */
#include "elements.h"
#include "small_broadcast.h"

/* The elements where the mask, which is walked second, holds; the walk ends where it began. */
static int64_t count_true(GwSteps *w) {
    int64_t count = 0;
    for (int64_t i = 0; i < w->numel; i++, gw_walk_next(w)) {
        count += *w->at[1] != 0;
    }
    return count;
}

/* Whether what is walked has the shape of the first tensor. */
static bool is_first(const GwSteps *w, const GwTensor *first) {
    return w->ndim == first->ndim
           && memcmp(w->sizes, first->sizes, (size_t)w->ndim * sizeof(int64_t)) == 0;
}

GW_KERNEL(masked_select) {
    GwTensor *both[2] = {gw_plain_tensor(args[0]), gw_plain_tensor(args[1])};
    GwSteps w;
    if (both[0] == NULL || both[1] == NULL || both[1]->dtype != GW_BOOL) {
        return NULL;
    }
    if (!gw_walk_begin(&w, 2, both)) {
        return (PyObject *)gw_select_contiguous(cls, both[0], both[1]);
    }
    int64_t count = count_true(&w);
    size_t size = (size_t)gw_itemsize(both[0]);
    GwTensor *out = gw_tensor_empty(cls, both[0]->dtype, 1, &count, NULL);
    char *to = out == NULL ? NULL : out->data;
    for (int64_t i = 0; out != NULL && i < w.numel; i++, gw_walk_next(&w)) {
        if (*w.at[1] != 0 && count-- > 0) {
            memcpy(to, w.at[0], size);
            to += size;
        }
    }
    return (PyObject *)out;
}

/* input, mask, source: the n-th true element takes the n-th of the source. */
GW_KERNEL(masked_scatter) {
    GwTensor *both[2] = {gw_plain_tensor(args[0]), gw_plain_tensor(args[1])};
    const GwTensor *source = gw_plain_tensor(args[2]);
    GwSteps w;
    if (both[0] == NULL || both[1] == NULL || both[1]->dtype != GW_BOOL || source == NULL
        || (source->flags & GW_CONTIGUOUS) == 0 || source->dtype != both[0]->dtype
        || !gw_walk_begin(&w, 2, both)
        || count_true(&w) > source->numel) {
        return NULL;
    }
    size_t size = (size_t)gw_itemsize(source);
    GwTensor *out = gw_tensor_empty(cls, source->dtype, w.ndim, w.sizes, NULL);
    const char *given = source->data, *end = given + (size_t)source->numel * size;
    for (int64_t i = 0; out != NULL && i < w.numel; i++, gw_walk_next(&w)) {
        bool taken = *w.at[1] != 0 && given < end;
        memcpy(out->data + (size_t)i * size, taken ? given : w.at[0], size);
        given += taken ? size : 0;
    }
    return (PyObject *)out;
}

/* As masked_scatter, into the input, which the mask does not widen. */
GW_KERNEL(masked_scatter_) {
    GW_UNUSED(cls);
    GwTensor *both[2] = {gw_plain_tensor(args[0]), gw_plain_tensor(args[1])};
    const GwTensor *source = gw_plain_tensor(args[2]);
    GwSteps w;
    if (both[0] == NULL || both[1] == NULL || both[1]->dtype != GW_BOOL || source == NULL
        || (source->flags & GW_CONTIGUOUS) == 0 || source->dtype != both[0]->dtype
        || both[0]->storage->readonly || both[0]->storage == both[1]->storage
        || both[0]->storage == source->storage || !gw_walk_begin(&w, 2, both)
        || !is_first(&w, both[0])
        || count_true(&w) > source->numel) {
        return NULL;
    }
    size_t size = (size_t)gw_itemsize(source);
    const char *given = source->data, *end = given + (size_t)source->numel * size;
    for (int64_t i = 0; i < w.numel; i++, gw_walk_next(&w)) {
        if (*w.at[1] != 0 && given < end) {
            memcpy(w.at[0], given, size);
            given += size;
        }
    }
    both[0]->storage->version++;
    return Py_NewRef(args[0]);
}

/* A number that fits the dtype, or a tensor of one element of that dtype. */
static bool read_value(PyObject *value, int dtype, char bytes[16]) {
    const GwTensor *t = gw_plain_tensor(value);
    if (t == NULL) {
        return !gw_is_tensor(value) && gw_element(value, dtype, bytes);
    }
    if (t->ndim == 0 && t->dtype == dtype) {
        memcpy(bytes, t->data, (size_t)gw_itemsize(t));
        return true;
    }
    return false;
}

typedef struct {
    GwTensor *both[2];
    GwSteps walk;
    bool few;
    GwRow choose;       /* of many elements: the rows of `where` */
    char value[16];
} Fill;

/* input, mask, value */
static bool read_fill(Fill *f, PyObject *const *args) {
    f->both[0] = gw_plain_tensor(args[0]);
    f->both[1] = gw_plain_tensor(args[1]);
    if (f->both[0] == NULL || f->both[1] == NULL || f->both[1]->dtype != GW_BOOL) {
        return false;
    }
    f->few = gw_walk_begin(&f->walk, 2, f->both);
    f->choose = f->few ? NULL : gw_own_row("where", f->both[0]->dtype);
    return f->walk.ndim >= 0 && (f->few || f->choose != NULL)
           && read_value(args[2], f->both[0]->dtype, f->value);
}

/* where(mask, value, input) into `out`, which may be the input. */
static void fill_many(const Fill *f, GwTensor *out) {
    int width = gw_itemsize(out);
    GwPlan plan = {.count = 4, .rows = {.row = f->choose, .count = 4,
                                        .width = {1, width, width, width}}};
    plan.loop = (GwLoopRef){gw_run_rows, &plan.rows};
    memcpy(plan.width, plan.rows.width, sizeof plan.width);
    memcpy(plan.scalars[1], f->value, sizeof f->value);
    plan.data[1] = plan.scalars[1];
    gw_plan_tensor(&plan, 0, f->both[1], out->ndim, out->sizes);
    gw_plan_tensor(&plan, 2, f->both[0], out->ndim, out->sizes);
    gw_plan_tensor(&plan, 3, out, out->ndim, out->sizes);
    gw_plan_finish(&plan, out->ndim, out->sizes);
    gw_plan_run(&plan);
}

GW_KERNEL(masked_fill) {
    Fill f;
    if (!read_fill(&f, args)) {
        return NULL;
    }
    GwSteps *w = &f.walk;
    GwTensor *out = gw_tensor_empty(cls, f.both[0]->dtype, w->ndim, w->sizes, NULL);
    if (out != NULL && !f.few) {
        fill_many(&f, out);
        return (PyObject *)out;
    }
    size_t size = (size_t)gw_itemsize(f.both[0]);
    for (int64_t i = 0; out != NULL && i < w->numel; i++, gw_walk_next(w)) {
        memcpy(out->data + (size_t)i * size, *w->at[1] != 0 ? f.value : w->at[0], size);
    }
    return (PyObject *)out;
}

GW_KERNEL(masked_fill_) {
    GW_UNUSED(cls);
    Fill f;
    if (!read_fill(&f, args) || f.both[0]->storage->readonly
        || !is_first(&f.walk, f.both[0])
        || f.both[0]->storage == f.both[1]->storage
        || (!f.few && gw_repeats_elements(f.both[0]))) {
        return NULL;
    }
    size_t size = (size_t)gw_itemsize(f.both[0]);
    for (int64_t i = 0; f.few && i < f.walk.numel; i++, gw_walk_next(&f.walk)) {
        if (*f.walk.at[1] != 0) {
            memcpy(f.walk.at[0], f.value, size);
        }
    }
    if (!f.few) {
        fill_many(&f, f.both[0]);
    }
    f.both[0]->storage->version++;
    return Py_NewRef(args[0]);
}

const GwKernelEntry gw_mask_kernels[] = {
    {"masked_fill", 3, masked_fill},
    {"masked_fill_", 3, masked_fill_},
    {"masked_scatter", 3, masked_scatter},
    {"masked_scatter_", 3, masked_scatter_},
    {"masked_select", 2, masked_select},
    {NULL, 0, NULL},
};
