/* Packs for one launch. They are looked up, and what was made is kept, with the GIL; products that
 * run without it fill memory that no other launch knows. A pack made while the weight is written
 * has the number of writes before, and is not found again once the write is counted. */
#include "weights.h"

struct GwBorrowed {
    struct gw_weights table;
    struct Loan {
        GwStorage *storage;     /* a new reference; NULL: the input has none to lend */
        GwFactor factor;
        int64_t writes;
        GwPack *pack;
        size_t reserved;
    } *loans;
    GwWeight weights[];
};

void gw_free_weight_inputs(GwWeightInputs *inputs) {
    if (inputs != NULL) {
        Py_DECREF(inputs->cls);
        PyMem_Free(inputs);
    }
}

static bool read_weight_input(PyObject *spec, Py_ssize_t n_inputs, GwWeightInput *w) {
    long long offset, n, k, ld, taps, groups;
    int transposed;
    if (!PyTuple_Check(spec)
        || !PyArg_ParseTuple(spec, "nLpLLLLL", &w->input, &offset, &transposed, &n, &k, &ld, &taps,
                             &groups)
        || w->input < 0 || w->input >= n_inputs || offset < 0 || n < 1 || k < 1 || ld < 1
        || taps < 1 || k % taps != 0 || groups < 1) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "Launcher: a weight is (input, offset in bytes, "
                            "transposed, columns, rows, leading dimension, taps, groups)");
        }
        return false;
    }
    w->factor = (GwFactor){offset, {n, k, ld, taps, groups, transposed != 0}};
    return true;
}

bool gw_read_weight_inputs(PyObject *list, PyObject *cls, Py_ssize_t n_inputs,
                           GwWeightInputs **inputs) {
    Py_ssize_t count = list == NULL ? 0 : PyList_GET_SIZE(list);
    if (count == 0) {
        return true;
    }
    if (cls == NULL) {
        PyErr_SetString(PyExc_ValueError, "Launcher: weights need weight_class");
        return false;
    }
    GwWeightInputs *made = PyMem_Calloc(1, sizeof *made + (size_t)count * sizeof *made->list);
    if (made == NULL) {
        return PyErr_NoMemory() != NULL;
    }
    made->count = count;
    made->cls = (PyTypeObject *)Py_NewRef(cls);
    *inputs = made;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!read_weight_input(PyList_GET_ITEM(list, i), n_inputs, &made->list[i])) {
            return false;
        }
    }
    return true;
}

PyObject *gw_packed_counts(const GwWeightInputs *inputs) {
    return inputs == NULL ? Py_BuildValue("(ii)", 0, 0)
           : Py_BuildValue("(LL)", (long long)inputs->packed, (long long)inputs->bytes);
}

/* Fills in one weight, and what is borrowed for it. */
static void borrow(const GwWeightInput *input, const GwTensor *t, GwWeight *w, struct Loan *loan) {
    const GwFactor *f = &input->factor;
    if (t->dtype != GW_FLOAT32) {
        return;
    }
    if (!gw_writes_are_counted(t, &loan->writes)) {
        gw_packs_drop(t->storage);
        return;
    }
    loan->storage = (GwStorage *)Py_NewRef(t->storage);
    loan->factor = *f;
    loan->factor.offset += t->data - t->storage->data;
    *w = (GwWeight){(const float *)(const void *)(t->data + f->offset), f->form, false, NULL};
    loan->pack = gw_pack_find(t->storage, &loan->factor, loan->writes);
    if (loan->pack != NULL) {
        w->panels = loan->pack->panels;
        return;
    }
    size_t bytes = gw_panels_bytes(&f->form);
    w->may_pack = gw_pack_reserve(bytes);
    loan->reserved = w->may_pack ? bytes : 0;
}

GwBorrowed *gw_borrow_weights(const GwWeightInputs *inputs, PyObject *const *args, gw_ctx *ctx) {
    size_t count = (size_t)inputs->count;
    size_t each = sizeof(GwWeight) + sizeof(struct Loan);
    GwBorrowed *made = PyMem_Calloc(1, sizeof *made + count * each);
    if (made == NULL) {     /* then products read the weights as they are */
        return NULL;
    }
    made->loans = (struct Loan *)(made->weights + count);
    made->table = (struct gw_weights){(int64_t)count, 0, made->weights};
    for (size_t i = 0; i < count; i++) {
        PyObject *arg = args[inputs->list[i].input];
        if (PyObject_TypeCheck(arg, inputs->cls)) {
            borrow(&inputs->list[i], (GwTensor *)arg, &made->weights[i], &made->loans[i]);
        }
    }
    ctx->weights = &made->table;
    return made;
}

/* Keeps what the launch made, unless the weight was written, or lent, since it began. */
static void keep_made(struct Loan *loan, const GwWeight *w, const GwTensor *t) {
    int64_t writes;
    if (w->panels == NULL) {
        gw_pack_cancel(loan->reserved);
    } else if (t->storage == loan->storage && gw_writes_are_counted(t, &writes)
               && writes == loan->writes) {
        gw_pack_keep(loan->storage, &loan->factor, writes, (void *)w->panels, loan->reserved);
    } else {
        gw_pack_cancel(loan->reserved);
        gw_panels_free((void *)w->panels, loan->reserved);
    }
}

void gw_return_weights(GwWeightInputs *inputs, GwBorrowed *borrowed, PyObject *const *args) {
    int64_t packed = 0, bytes = 0;
    for (Py_ssize_t i = 0; i < inputs->count; i++) {
        struct Loan *loan = &borrowed->loans[i];
        const GwWeight *w = &borrowed->weights[i];
        if (loan->storage == NULL) {
            continue;
        }
        packed += w->panels != NULL;
        bytes += w->panels != NULL ? (int64_t)gw_panels_bytes(&w->form) : 0;
        if (loan->pack != NULL) {
            gw_pack_release(loan->pack);
        } else if (w->may_pack) {
            keep_made(loan, w, (GwTensor *)args[inputs->list[i].input]);
        }
        Py_DECREF(loan->storage);
    }
    inputs->packed = packed;
    inputs->bytes = bytes;
    PyMem_Free(borrowed);
}
