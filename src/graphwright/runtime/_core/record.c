/* Recording an op for autograd in the plain case: no tracing, no fake tensors, no lists of
 * tensors. It does what `record` in autograd/node.py does, whose classes it fills. */
#include "record.h"

#include <structmember.h>

/* Where the instances of a class with __slots__ keep them. */
typedef struct {
    PyTypeObject *type;
    Py_ssize_t offset[10];
} Slots;

enum { NODE_EDGES, NODE_SEQUENCE, NODE_OUTPUTS, NODE_OP, NODE_ARGS, NODE_NEEDING, NODE_SAVED,
       NODE_HOOKS, NODE_PREHOOKS, NODE_OUTPUT_HOOKS, NODE_SLOTS };

static Slots node_slots, saved_slots, spec_slots;
static PyObject *anomaly, *packing;     /* objects whose `enabled` and `count` switch this off */
static PyObject *next_sequence;
static PyObject *context_class, *fit_function;

static PyObject **slot(PyObject *o, const Slots *slots, int which) {
    return (PyObject **)((char *)o + slots->offset[which]);
}

static bool find_slots(PyObject *type, const char *const *names, Slots *slots) {
    if (!PyType_Check(type)) {
        PyErr_SetString(PyExc_TypeError, "expected a class");
        return false;
    }
    for (int i = 0; names[i] != NULL; i++) {
        PyObject *member = PyObject_GetAttrString(type, names[i]);
        if (member == NULL) {
            return false;
        }
        bool found = Py_TYPE(member) == &PyMemberDescr_Type;
        if (found) {
            slots->offset[i] = ((PyMemberDescrObject *)member)->d_member->offset;
        }
        Py_DECREF(member);
        if (!found) {
            PyErr_Format(PyExc_TypeError, "%R has no slot %s", type, names[i]);
            return false;
        }
    }
    Py_XSETREF(slots->type, (PyTypeObject *)Py_NewRef(type));
    return true;
}

/* An instance with the slots `values`, whose references it takes over even if it fails. */
static PyObject *filled(const Slots *slots, PyObject **values, int n) {
    bool complete = true;
    for (int i = 0; i < n; i++) {
        complete = complete && values[i] != NULL;
    }
    PyObject *o = complete ? slots->type->tp_alloc(slots->type, 0) : NULL;
    for (int i = 0; i < n; i++) {
        if (o != NULL) {
            *slot(o, slots, i) = values[i];
        } else {
            Py_XDECREF(values[i]);
        }
    }
    return o;
}

static PyObject *saved_tensor(PyObject *tensor, bool is_output) {
    const GwTensor *t = (GwTensor *)tensor;
    if (t->storage->inference) {
        PyErr_SetString(PyExc_RuntimeError, "Inference tensors cannot be saved for backward. To "
                        "work around you can make a clone to get a normal tensor and use it in "
                        "autograd.");
        return NULL;
    }
    PyObject *values[] = {Py_NewRef(tensor), PyLong_FromLongLong(t->storage->version),
                          Py_NewRef(is_output ? Py_True : Py_False), Py_NewRef(Py_None)};
    return filled(&saved_slots, values, 4);
}

static PyObject *metadata(PyObject *tensor) {
    GwTensor *t = (GwTensor *)tensor;
    PyObject *values[] = {Py_XNewRef(gw_tensor_shape(t)), Py_XNewRef(gw_tensor_strides(t)),
                          Py_NewRef(gw_dtypes[t->dtype].object),
                          gw_device_object(t->device, t->device_index),
                          t->offset_obj != NULL ? Py_NewRef(t->offset_obj)
                                                : PyLong_FromLongLong(t->offset)};
    return filled(&spec_slots, values, 5);
}

/* ---- what an op needs of it ---- */

static bool read_index(PyObject *number, int *value) {
    long v = PyLong_AsLong(number);
    *value = (int)v;
    return v != -1 || !PyErr_Occurred();
}

/* The parameter that has to need a gradient, or -1 for None. */
static bool read_need(PyObject *need, int *value) {
    *value = -1;
    return need == Py_None || read_index(need, value);
}

static bool read_inputs(PyObject *slots, PyObject *saved, GwRecipe *r) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(slots); i++) {
        PyObject *index = PyTuple_GET_ITEM(PyTuple_GET_ITEM(slots, i), 0);
        PyObject *need = PyDict_GetItemWithError(saved, index);
        r->saved[i] = need != NULL;
        if (!read_index(index, &r->slots[i])
            || (need != NULL && !read_need(need, &r->needs[i])) || PyErr_Occurred()) {
            return false;
        }
    }
    r->inputs = (int)PyTuple_GET_SIZE(slots);
    return true;
}

static bool read_outputs(PyObject *saved, GwRecipe *r) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(saved); i++) {
        int number;
        PyObject *pair = PyTuple_GET_ITEM(saved, i);
        if (!read_index(PyTuple_GET_ITEM(pair, 0), &number)
            || !read_need(PyTuple_GET_ITEM(pair, 1), &r->output_need)) {
            return false;
        }
        r->several_outputs = r->several_outputs || i > 0 || number != 0;
    }
    r->saves_output = PyTuple_GET_SIZE(saved) > 0;
    return true;
}

bool gw_read_recipe(PyObject *op, GwRecipe *r) {
    memset(r, 0, sizeof *r);
    PyObject *slots = PyObject_GetAttrString(op, "tensor_slots");
    PyObject *saved = slots != NULL ? PyObject_GetAttrString(op, "saved_slots") : NULL;
    PyObject *outputs = saved != NULL ? PyObject_GetAttrString(op, "saved_outputs") : NULL;
    PyObject *vjp = outputs != NULL ? PyObject_GetAttrString(op, "vjp") : NULL;
    PyObject *flat = vjp != NULL ? PyObject_GetAttrString(op, "is_flat") : NULL;
    bool ok = flat != NULL;
    if (ok && flat == Py_True && PyCallable_Check(vjp)
        && PyTuple_GET_SIZE(slots) <= GW_RECIPE_INPUTS) {
        ok = read_inputs(slots, saved, r) && read_outputs(outputs, r);
        r->plain = !r->several_outputs;
    }
    PyObject *functional = ok ? PyObject_GetAttrString(op, "functional") : NULL;
    PyObject *parts = functional != NULL ? PyObject_GetAttrString(op, "decompose") : NULL;
    r->by_parts = parts != NULL && parts != Py_None && vjp == Py_None && functional == Py_None;
    ok = ok && parts != NULL;
    Py_XDECREF(parts);
    Py_XDECREF(functional);
    Py_XDECREF(slots);
    Py_XDECREF(saved);
    Py_XDECREF(outputs);
    Py_XDECREF(vjp);
    Py_XDECREF(flat);
    r->known = ok;
    return ok;
}

/* ---- recording ---- */

/* A new reference to what the gradient of `o` goes to: a pair or None. */
static PyObject *gradient_edge(PyObject *o) {
    if (!gw_is_tensor(o)) {
        return Py_NewRef(Py_None);
    }
    GwTensor *t = (GwTensor *)o;
    PyObject *node = NULL;
    if (t->base != NULL) {      /* its history may have to be made anew */
        node = PyObject_GetAttrString(o, "grad_fn");
        if (node == NULL) {
            return NULL;
        }
        if (node == Py_None) {
            Py_CLEAR(node);
        }
    } else {
        node = Py_XNewRef(t->grad_fn);
    }
    if (node == NULL && !gw_own_grad(t)) {
        return Py_NewRef(Py_None);
    }
    PyObject *edge = PyTuple_New(2);
    PyObject *number = PyLong_FromLong(node != NULL ? t->output_nr : 0);
    if (edge == NULL || number == NULL) {
        Py_XDECREF(edge);
        Py_XDECREF(number);
        Py_XDECREF(node);
        return NULL;
    }
    PyTuple_SET_ITEM(edge, 0, node != NULL ? node : Py_NewRef(o));
    PyTuple_SET_ITEM(edge, 1, number);
    return edge;
}

/* Fills the lists of edges and of kept arguments, and the set of slots that need gradients. */
static bool keep_inputs(const GwRecipe *r, PyObject *args, PyObject *edges, PyObject *kept,
                        PyObject *needing, uint32_t *needed) {
    *needed = 0;
    for (int i = 0; i < r->inputs; i++) {
        PyObject *edge = gradient_edge(PyTuple_GET_ITEM(args, r->slots[i]));
        if (edge == NULL) {
            return false;
        }
        PyList_SET_ITEM(edges, i, edge);
        if (edge != Py_None) {
            PyObject *number = PyLong_FromLong(r->slots[i]);
            int failed = number == NULL ? -1 : PySet_Add(needing, number);
            Py_XDECREF(number);
            if (failed) {
                return false;
            }
            *needed |= (uint32_t)1 << r->slots[i];
        }
    }
    for (int i = 0; i < r->inputs; i++) {
        PyObject *value = PyTuple_GET_ITEM(args, r->slots[i]);
        if (!gw_is_tensor(value)) {
            continue;
        }
        bool save = r->saved[i] && (r->needs[i] < 0 || (*needed >> r->needs[i] & 1) != 0);
        PyObject *replaced = save ? saved_tensor(value, false) : metadata(value);
        if (replaced == NULL || PyList_SetItem(kept, r->slots[i], replaced) < 0) {
            return false;
        }
    }
    return true;
}

static PyObject *make_node(PyObject *op, const GwRecipe *r, PyObject *args, uint32_t *needed) {
    Py_ssize_t n = PyTuple_GET_SIZE(args);
    PyObject *edges = PyList_New(r->inputs), *kept = PyList_New(n), *needing = PySet_New(NULL);
    bool ok = edges != NULL && kept != NULL && needing != NULL;
    for (Py_ssize_t i = 0; ok && i < n; i++) {
        PyList_SET_ITEM(kept, i, Py_NewRef(PyTuple_GET_ITEM(args, i)));
    }
    if (!ok || !keep_inputs(r, args, edges, kept, needing, needed)) {
        Py_XDECREF(edges);
        Py_XDECREF(kept);
        Py_XDECREF(needing);
        return NULL;
    }
    PyObject *values[] = {
        [NODE_EDGES] = edges, [NODE_SEQUENCE] = PyObject_CallNoArgs(next_sequence),
        [NODE_OUTPUTS] = PyList_New(0), [NODE_OP] = Py_NewRef(op), [NODE_ARGS] = kept,
        [NODE_NEEDING] = needing, [NODE_SAVED] = PyList_New(0),
        [NODE_HOOKS] = Py_NewRef(Py_None), [NODE_PREHOOKS] = Py_NewRef(Py_None),
        [NODE_OUTPUT_HOOKS] = Py_NewRef(Py_None),
    };
    return filled(&node_slots, values, NODE_SLOTS);
}

static bool keep_output(PyObject *node, const GwRecipe *r, PyObject *out, uint32_t needed) {
    PyObject *list = *slot(node, &node_slots, NODE_SAVED), *saved = NULL;
    if (r->output_need >= 0 && (needed >> r->output_need & 1) == 0) {
        saved = Py_NewRef(Py_None);
    } else {
        GwTensor *alias = gw_tensor_alias((GwTensor *)out);
        if (alias != NULL) {
            saved = saved_tensor((PyObject *)alias, true);
            Py_DECREF(alias);
        }
    }
    int failed = saved == NULL ? -1 : PyList_Append(list, saved);
    Py_XDECREF(saved);
    return failed == 0;
}

static bool hang(PyObject *node, PyObject *out) {
    GwTensor *t = (GwTensor *)out;
    if (!gw_dtypes[t->dtype].floating) {
        return true;
    }
    PyObject *device = gw_device_object(t->device, t->device_index);
    PyObject *shape = gw_tensor_shape(t);
    PyObject *entry = device == NULL || shape == NULL ? NULL
                      : PyTuple_Pack(3, shape, gw_dtypes[t->dtype].object, device);
    Py_XDECREF(device);
    int failed = entry == NULL ? -1
                 : PyList_Append(*slot(node, &node_slots, NODE_OUTPUTS), entry);
    Py_XDECREF(entry);
    if (failed) {
        return false;
    }
    Py_XSETREF(t->grad_fn, Py_NewRef(node));
    t->output_nr = 0;
    return true;
}

/* Outputs that are no single tensor: as Node.attach does it. */
static PyObject *attach(PyObject *node, PyObject *out) {
    PyObject *result = PyObject_CallMethod(node, "attach", "(O)", out);
    Py_DECREF(out);
    return result;
}

bool gw_can_record(PyObject *op, GwRecipe *r) {
    if (!r->known && !gw_read_recipe(op, r)) {
        PyErr_Clear();
        return false;
    }
    if (!r->plain || node_slots.type == NULL) {
        return false;
    }
    PyObject *enabled = PyObject_GetAttrString(anomaly, "enabled");
    PyObject *count = PyObject_GetAttrString(packing, "count");
    bool quiet = enabled == Py_False && count != NULL && PyLong_AsLong(count) == 0;
    Py_XDECREF(enabled);
    Py_XDECREF(count);
    PyErr_Clear();
    return quiet;
}

PyObject *gw_record(PyObject *op, const GwRecipe *r, PyObject *run, PyObject *args) {
    uint32_t needed;
    PyObject *node = make_node(op, r, args, &needed);
    if (node == NULL) {
        return NULL;
    }
    gw_start_recording();
    PyObject *out = PyObject_Vectorcall(run, PySequence_Fast_ITEMS(args),
                                        (size_t)PyTuple_GET_SIZE(args), NULL);
    gw_set_grad_enabled(1);
    if (out == NULL || !gw_is_tensor(out)) {
        if (out != NULL && r->saves_output) {
            PyObject *done = PyObject_CallMethod(node, "save_outputs", "OO", out, Py_True);
            if (done == NULL) {
                Py_CLEAR(out);
            }
            Py_XDECREF(done);
        }
        out = out != NULL ? attach(node, out) : NULL;
    } else if ((r->saves_output && !keep_output(node, r, out, needed)) || !hang(node, out)) {
        Py_CLEAR(out);
    }
    Py_DECREF(node);
    return out;
}

/* ---- the gradients of a recorded op ---- */

/* The tensor of a SavedTensor that nothing special is to be done for; NULL without exception. */
static PyObject *unpacked(PyObject *saved) {
    if (Py_TYPE(saved) != saved_slots.type || *slot(saved, &saved_slots, 3) != Py_None) {
        return NULL;
    }
    PyObject *tensor = *slot(saved, &saved_slots, 0), *version = *slot(saved, &saved_slots, 1);
    bool same = gw_is_tensor(tensor)
                && PyLong_AsLongLong(version) == ((GwTensor *)tensor)->storage->version;
    return same ? tensor : NULL;
}

/* 1 if `values` and `needs` are filled, 0 if that takes the long way, -1 with an exception. */
static int unpack_inputs(const GwRecipe *r, PyObject *names, PyObject *args, PyObject *edges,
                         PyObject *values, PyObject *needs) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(args); i++) {
        if (PyDict_SetItem(values, PyTuple_GET_ITEM(names, i), PyList_GET_ITEM(args, i)) < 0) {
            return -1;
        }
    }
    for (int i = 0; i < r->inputs; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, r->slots[i]);
        PyObject *kept = PyList_GET_ITEM(args, r->slots[i]);
        bool needed = PyList_GET_ITEM(edges, i) != Py_None;
        if (PyDict_SetItem(needs, name, needed ? Py_True : Py_False) < 0) {
            return -1;
        }
        if (Py_TYPE(kept) == saved_slots.type) {
            PyObject *tensor = unpacked(kept);
            if (tensor == NULL) {
                return 0;
            }
            if (PyDict_SetItem(values, name, tensor) < 0) {
                return -1;
            }
        }
    }
    return PyDict_SetItemString(values, "needs", needs) < 0 ? -1 : 1;
}

static int unpack_output(const GwRecipe *r, PyObject *saved, PyObject *values) {
    if (!r->saves_output) {
        return 1;
    }
    if (PyList_GET_SIZE(saved) != 1 || gw_grad_enabled()) {
        return 0;
    }
    PyObject *kept = PyList_GET_ITEM(saved, 0);
    if (kept == Py_None) {
        return 1;
    }
    PyObject *tensor = unpacked(kept);
    if (tensor == NULL) {
        return 0;
    }
    return PyDict_SetItemString(values, "out", tensor) < 0
                   || PyDict_SetItemString(values, "out0", tensor) < 0 ? -1 : 1;
}

/* What a vjp sees, or NULL; *plain is false where that takes the long way. */
static PyObject *plain_context(PyObject *node, const GwRecipe *r, bool *plain) {
    PyObject *op = *slot(node, &node_slots, NODE_OP), *args = *slot(node, &node_slots, NODE_ARGS);
    PyObject *edges = *slot(node, &node_slots, NODE_EDGES);
    PyObject *saved = *slot(node, &node_slots, NODE_SAVED), *out = NULL;
    PyObject *names = PyObject_GetAttrString(op, "names");
    PyObject *values = PyDict_New(), *needs = PyDict_New();
    int done = -1;
    if (names != NULL && values != NULL && needs != NULL) {
        bool whole = args != NULL && edges != NULL && saved != NULL
                     && PyList_CheckExact(args) && PyList_CheckExact(edges)
                     && PyList_CheckExact(saved) && PyTuple_CheckExact(names)
                     && PyList_GET_SIZE(args) == PyTuple_GET_SIZE(names)
                     && PyList_GET_SIZE(edges) == r->inputs;
        done = whole ? unpack_inputs(r, names, args, edges, values, needs) : 0;
        done = done == 1 ? unpack_output(r, saved, values) : done;
    }
    *plain = done != 0;
    if (done == 1) {
        out = PyObject_CallOneArg(context_class, values);
    }
    Py_XDECREF(names);
    Py_XDECREF(values);
    Py_XDECREF(needs);
    return out;
}

static bool fits_spec(const GwTensor *grad, PyObject *spec) {
    PyObject *shape = *slot(spec, &spec_slots, 0);
    if (*slot(spec, &spec_slots, 2) != gw_dtypes[grad->dtype].object || !PyTuple_Check(shape)
        || PyTuple_GET_SIZE(shape) != grad->ndim) {
        return false;
    }
    for (int d = 0; d < grad->ndim; d++) {
        PyObject *size = PyTuple_GET_ITEM(shape, d);
        if (!PyLong_CheckExact(size) || PyLong_AsLongLong(size) != grad->sizes[d]) {
            return false;
        }
    }
    return true;
}

/* Whether the gradient has the dtype and shape of what it is for. */
static bool fits(PyObject *grad, PyObject *kept) {
    if (!gw_is_tensor(grad) || (((GwTensor *)grad)->flags & GW_SYMBOLIC) != 0) {
        return false;
    }
    const GwTensor *g = (GwTensor *)grad;
    if (Py_TYPE(kept) == spec_slots.type) {
        return fits_spec(g, kept);
    }
    PyObject *tensor = unpacked(kept);
    if (tensor == NULL) {
        return false;
    }
    const GwTensor *t = (GwTensor *)tensor;
    return t->dtype == g->dtype && t->ndim == g->ndim && (t->flags & GW_SYMBOLIC) == 0
           && memcmp(t->sizes, g->sizes, (size_t)t->ndim * sizeof(int64_t)) == 0;
}

/* Drops gradients that nothing needs, and brings those of broadcast operands into shape. */
static bool fit_all(PyObject *node, const GwRecipe *r, PyObject *grads) {
    PyObject *args = *slot(node, &node_slots, NODE_ARGS);
    PyObject *edges = *slot(node, &node_slots, NODE_EDGES);
    for (int i = 0; i < r->inputs && i < PyList_GET_SIZE(grads); i++) {
        PyObject *grad = PyList_GET_ITEM(grads, i), *kept = PyList_GET_ITEM(args, r->slots[i]);
        if (grad == Py_None) {
            continue;
        }
        PyObject *fitted = Py_None;
        if (PyList_GET_ITEM(edges, i) == Py_None) {
            Py_INCREF(fitted);
        } else if (fits(grad, kept)) {
            continue;
        } else {
            PyObject *source = Py_TYPE(kept) == saved_slots.type ? *slot(kept, &saved_slots, 0)
                                                                 : kept;
            fitted = PyObject_CallFunctionObjArgs(fit_function,
                                                  *slot(node, &node_slots, NODE_OP), grad, source,
                                                  NULL);
        }
        if (fitted == NULL || PyList_SetItem(grads, i, fitted) < 0) {
            return false;
        }
    }
    return true;
}

/* The list of input gradients for vjp's answer, which is taken over. */
static PyObject *as_list(PyObject *answer) {
    PyObject *list = NULL;
    if (PyTuple_CheckExact(answer)) {
        list = PySequence_List(answer);
    } else {
        list = PyList_New(1);
        if (list != NULL) {
            PyList_SET_ITEM(list, 0, Py_NewRef(answer));
        }
    }
    Py_DECREF(answer);
    return list;
}

/* Complex gradients are conjugated around the rule: OpNode.compute does that. */
static bool is_complex(PyObject *grad) {
    if (!gw_is_tensor(grad)) {
        return false;
    }
    int dtype = ((GwTensor *)grad)->dtype;
    return dtype == GW_COMPLEX64 || dtype == GW_COMPLEX128;
}

static PyObject *plain_gradients(PyObject *self, PyObject *const *given, Py_ssize_t nargs) {
    GW_UNUSED(self);
    if (nargs != 2 || Py_TYPE(given[0]) != node_slots.type || !PyList_CheckExact(given[1])) {
        return Py_NewRef(Py_NotImplemented);
    }
    PyObject *node = given[0], *grads = given[1], *op = *slot(node, &node_slots, NODE_OP);
    GwRecipe *r = &((GwOpBase *)op)->recipe;
    if (!PyObject_TypeCheck(op, &GwOpBase_Type) || !r->known || !r->plain
        || PyList_GET_SIZE(grads) != 1 || is_complex(PyList_GET_ITEM(grads, 0))) {
        return Py_NewRef(Py_NotImplemented);
    }
    bool plain;
    PyObject *context = plain_context(node, r, &plain);
    if (context == NULL) {
        return plain ? NULL : Py_NewRef(Py_NotImplemented);
    }
    PyObject *vjp = PyObject_GetAttrString(op, "vjp"), *answer = NULL;
    if (vjp != NULL) {
        PyObject *both[2] = {context, PyList_GET_ITEM(grads, 0)};
        answer = PyObject_Vectorcall(vjp, both, 2, NULL);
    }
    Py_XDECREF(vjp);
    Py_DECREF(context);
    PyObject *list = answer != NULL ? as_list(answer) : NULL;
    if (list != NULL && !fit_all(node, r, list)) {
        Py_CLEAR(list);
    }
    return list;
}

/* ---- Python ---- */

static PyObject *set_record_classes(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    static const char *const node_names[] = {"edges", "sequence", "outputs", "op", "args",
                                             "needing", "saved_outputs", "hooks", "prehooks",
                                             "output_hooks", NULL};
    static const char *const saved_names[] = {"tensor", "version", "is_output", "packed", NULL};
    static const char *const spec_names[] = {"shape", "strides", "dtype", "device", "offset",
                                             NULL};
    PyObject *node, *saved, *spec, *context, *fit, *state, *active, *sequence;
    if (!PyArg_ParseTuple(args, "OOOOOOOO:set_record_classes", &node, &saved, &spec, &context,
                          &fit, &state, &active, &sequence)
        || !find_slots(spec, spec_names, &spec_slots)
        || !find_slots(saved, saved_names, &saved_slots)) {
        return NULL;
    }
    Py_XSETREF(context_class, Py_NewRef(context));
    Py_XSETREF(fit_function, Py_NewRef(fit));
    Py_XSETREF(anomaly, Py_NewRef(state));
    Py_XSETREF(packing, Py_NewRef(active));
    Py_XSETREF(next_sequence, Py_NewRef(sequence));
    if (!find_slots(node, node_names, &node_slots)) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef gw_record_methods[] = {
    {"set_record_classes", set_record_classes, METH_VARARGS,
     "set_record_classes(OpNode, SavedTensor, TensorSpec, Context, fit_gradient, anomaly, packing, "
     "next_sequence): the classes that records are made of; `anomaly.enabled` and "
     "`packing.count` switch recording in C off."},
    {"plain_gradients", (PyCFunction)(void (*)(void))plain_gradients, METH_FASTCALL,
     "plain_gradients(node, grads): what OpNode.compute gives; NotImplemented where a saved "
     "tensor takes more than its version to be compared."},
    {NULL, NULL, 0, NULL},
};
