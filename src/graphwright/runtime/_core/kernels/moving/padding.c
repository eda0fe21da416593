/* Padding of small tensors: by a constant, by reflection, by the border, around in a circle. */
#include "native.h"

enum { LARGEST = 1 << 15 };     /* elements of the result */

/* Both tensors share `sizes`: what is left of the input. Strides and begins in bytes. */
typedef struct {
    int ndim;
    int64_t sizes[GW_MAX_DIMS], outer[GW_MAX_DIMS], inner[GW_MAX_DIMS];
    int64_t to, from;
} Overlap;

/* Reads the pairs (before, after), last dim first; the result's sizes go to `sizes`. False where
 * these are no plain ints, or nothing or too much is left. */
static bool read_pads(PyObject *pad, const GwTensor *t, Overlap *o, int64_t *sizes) {
    Py_ssize_t n = PyTuple_Check(pad) ? PyTuple_GET_SIZE(pad) : -1;
    if (n < 0 || n % 2 != 0 || n / 2 > t->ndim) {
        return false;
    }
    int64_t step = gw_itemsize(t), numel = 1;
    o->ndim = t->ndim;
    o->to = o->from = 0;
    for (int d = t->ndim - 1; d >= 0; d--) {
        int64_t before = 0, after = 0, i = 2 * (t->ndim - 1 - d);
        if (i < n && (!gw_plain_int(PyTuple_GET_ITEM(pad, i), &before)
                      || !gw_plain_int(PyTuple_GET_ITEM(pad, i + 1), &after)
                      || before > LARGEST || after > LARGEST || before < -LARGEST
                      || after < -LARGEST)) {
            return false;
        }
        sizes[d] = t->sizes[d] + before + after;
        o->sizes[d] = t->sizes[d] + (before < 0 ? before : 0) + (after < 0 ? after : 0);
        if (sizes[d] <= 0 || o->sizes[d] <= 0 || sizes[d] > LARGEST) {
            return false;
        }
        numel *= sizes[d];
        if (numel > LARGEST) {
            return false;
        }
        o->outer[d] = step;
        o->inner[d] = t->strides[d] * gw_itemsize(t);
        o->to += before > 0 ? before * step : 0;
        o->from += before < 0 ? -before * o->inner[d] : 0;
        step *= sizes[d];
    }
    return true;
}

static void copy_overlap(const Overlap *o, int d, char *to, const char *from, int itemsize) {
    if (d == o->ndim) {
        memcpy(to, from, (size_t)itemsize);
    } else if (d == o->ndim - 1 && o->inner[d] == itemsize) {
        memcpy(to, from, (size_t)(o->sizes[d] * itemsize));
    } else {
        for (int64_t i = 0; i < o->sizes[d]; i++) {
            copy_overlap(o, d + 1, to + i * o->outer[d], from + i * o->inner[d], itemsize);
        }
    }
}

static void fill(char *data, const char *element, int64_t n, int itemsize) {
    static const char zeros[16];
    if (memcmp(element, zeros, (size_t)itemsize) == 0) {
        memset(data, 0, (size_t)(n * itemsize));
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        memcpy(data + i * itemsize, element, (size_t)itemsize);
    }
}

static PyObject *padded(PyTypeObject *cls, PyObject *input, PyObject *pad, PyObject *value) {
    const GwTensor *t = gw_plain_tensor(input);
    Overlap overlap;
    int64_t sizes[GW_MAX_DIMS];
    char element[16] = {0};
    if (t == NULL || t->numel == 0 || !read_pads(pad, t, &overlap, sizes)
        || (value != Py_None && !gw_element(value, t->dtype, element))) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, t->dtype, t->ndim, sizes, NULL);
    if (out != NULL) {
        fill(out->data, element, out->numel, gw_itemsize(t));
        copy_overlap(&overlap, 0, out->data + overlap.to, t->data + overlap.from, gw_itemsize(t));
    }
    return (PyObject *)out;
}

/* input, pad, value */
GW_KERNEL(constant_pad) { return padded(cls, args[0], args[1], args[2]); }

/* ---- by the tensor's own elements ---- */

enum { REFLECT, REPLICATE, CIRCULAR };

static int read_mode(PyObject *o) {
    static const char *const names[] = {"reflect", "replicate", "circular"};
    for (int i = 0; PyUnicode_Check(o) && i < 3; i++) {
        if (PyUnicode_CompareWithASCIIString(o, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

/* The place that place `i` counted from the first element repeats. */
static int64_t source_of(int mode, int64_t i, int64_t size) {
    switch (mode) {
        case REFLECT: i = i < 0 ? -i : i; return i < size ? i : 2 * (size - 1) - i;
        case REPLICATE: return i < 0 ? 0 : i < size ? i : size - 1;
        default: return i < 0 ? i + size : i < size ? i : i - size;
    }
}

typedef struct {
    int ndim, itemsize, mode;
    int64_t sizes[GW_MAX_DIMS], inner[GW_MAX_DIMS], steps[GW_MAX_DIMS], before[GW_MAX_DIMS];
    char *to;
} Repeat;

/* Places [begin, end) of the last dim, counted from the first element. */
static void repeat_each(Repeat *r, const char *from, int64_t begin, int64_t end) {
    int d = r->ndim - 1;
    for (int64_t i = begin; i < end; i++) {
        const char *element = from + source_of(r->mode, i, r->inner[d]) * r->steps[d];
        switch (r->itemsize) {      /* of known sizes, which need no call */
            case 4: memcpy(r->to, element, 4); break;
            case 8: memcpy(r->to, element, 8); break;
            default: memcpy(r->to, element, (size_t)r->itemsize);
        }
        r->to += r->itemsize;
    }
}

/* Writes the elements from dim `d` on, in the order of the result. */
static void repeat(Repeat *r, int d, const char *from) {
    if (d == r->ndim - 1) {
        int64_t size = r->inner[d], end = r->sizes[d] - r->before[d];
        bool together = r->steps[d] == r->itemsize;
        repeat_each(r, from, -r->before[d], together ? 0 : end);
        if (together) {
            memcpy(r->to, from, (size_t)(size * r->itemsize));
            r->to += size * r->itemsize;
            repeat_each(r, from, size, end);
        }
        return;
    }
    for (int64_t i = -r->before[d]; i < r->sizes[d] - r->before[d]; i++) {
        repeat(r, d + 1, from + source_of(r->mode, i, r->inner[d]) * r->steps[d]);
    }
}

/* Whether `dims` pairs of no negative paddings suit the mode and the sizes of the tensor. */
static bool suits(int mode, const GwTensor *t, PyObject *pad, Repeat *r) {
    int dims = (int)PyTuple_GET_SIZE(pad) / 2;
    if (dims < 1 || dims > 3 || (t->ndim != dims + 1 && t->ndim != dims + 2)) {
        return false;
    }
    for (int d = 0; d < t->ndim; d++) {
        int64_t before = 0, after = 0, size = t->sizes[d], i = 2 * (t->ndim - 1 - d);
        if (i < 2 * dims && (!gw_plain_int(PyTuple_GET_ITEM(pad, i), &before)
                             || !gw_plain_int(PyTuple_GET_ITEM(pad, i + 1), &after))) {
            return false;
        }
        int64_t most = mode == REFLECT ? size - 1 : mode == CIRCULAR ? size : LARGEST;
        if (before < 0 || after < 0 || before > most || after > most) {
            return false;
        }
        r->before[d] = before;
        r->inner[d] = size;
        r->steps[d] = t->strides[d] * gw_itemsize(t);
    }
    return true;
}

/* Only where nothing is recorded: the parts have the gradient. Masks go around only. */
static PyObject *repeated(PyTypeObject *cls, PyObject *const *args, int mode) {
    const GwTensor *t = gw_plain_tensor(args[0]);
    bool recording = !gw_grad_enabled() && !gw_user_disabled_grad();
    Overlap overlap;
    Repeat r;
    if (recording || t == NULL || (t->dtype == GW_BOOL && mode != CIRCULAR) || t->numel == 0
        || args[3] != Py_None || !read_pads(args[1], t, &overlap, r.sizes)
        || !suits(mode, t, args[1], &r)) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, t->dtype, t->ndim, r.sizes, NULL);
    if (out != NULL) {
        r.ndim = t->ndim;
        r.itemsize = gw_itemsize(t);
        r.mode = mode;
        r.to = out->data;
        repeat(&r, 0, t->data);
    }
    return (PyObject *)out;
}

/* input, pad, mode, value */
GW_KERNEL(pad) {
    if (PyUnicode_Check(args[2]) && PyUnicode_CompareWithASCIIString(args[2], "constant") == 0) {
        return padded(cls, args[0], args[1], args[3]);
    }
    int mode = read_mode(args[2]);
    return mode < 0 ? NULL : repeated(cls, args, mode);
}

const GwKernelEntry gw_padding_kernels[] = {
    {"constant_pad", 3, constant_pad},
    {"constant_pad_nd", 3, constant_pad},
    {"pad", 4, pad},
    {NULL, 0, NULL},
};
