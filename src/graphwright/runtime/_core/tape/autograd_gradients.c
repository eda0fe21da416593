/* The gradients of an op that was recorded in C: what its rule sees, and what is made of the
 * rule's answer. OpNode in tape/node.py does the same with what it is shown. */
#include "node.h"
#include "autograd_record.h"

static PyTypeObject *context_class;
static PyObject *fit_function;
static PyObject *name_rule, *name_names, *name_needs, *name_dict;

void gw_set_gradient_classes(PyObject *context, PyObject *fit) {
    name_rule = PyUnicode_InternFromString("rule");
    name_names = PyUnicode_InternFromString("names");
    name_needs = PyUnicode_InternFromString("needs");
    name_dict = PyUnicode_InternFromString("__dict__");
    Py_XSETREF(context_class, (PyTypeObject *)Py_NewRef(context));
    Py_XSETREF(fit_function, Py_NewRef(fit));
}

/* ---- what the rule sees ---- */

/* An argument: a tensor, metadata, a list of both, or a value; NULL, without an exception, where
 * a saved tensor was changed. */
static PyObject *argument(const GwKept *kept) {
    switch (kept->kind) {
    case GW_KEPT_TENSOR:
        return gw_kept_fresh(kept) ? Py_NewRef(kept->value) : NULL;
    case GW_KEPT_SPEC:
        return gw_kept_spec(kept);
    case GW_KEPT_LIST:
        return gw_kept_list(kept, argument);
    default:
        return Py_NewRef(kept->value);
    }
}

/* Whether an argument needs a gradient; for a list, a list. */
static PyObject *need(const GwKept *kept) {
    if (kept->kind != GW_KEPT_LIST) {
        return Py_NewRef(kept->target != NULL ? Py_True : Py_False);
    }
    PyObject *list = PyList_New(kept->number);
    for (int i = 0; list != NULL && i < kept->number; i++) {
        PyList_SET_ITEM(list, i, Py_NewRef(kept[1 + i].target != NULL ? Py_True : Py_False));
    }
    return list;
}

/* Sets an item to what is taken over; false where that is NULL. */
static bool put(PyObject *dict, PyObject *name, PyObject *value) {
    bool done = value != NULL && PyDict_SetItem(dict, name, value) == 0;
    Py_XDECREF(value);
    return done;
}

static bool put_arguments(const GwNode *node, const GwRecipe *r, PyObject *names,
                          PyObject *values, PyObject *needs) {
    const GwKept *kept = node->kept;
    for (int p = 0; p < r->params; p++, kept = gw_kept_next(kept)) {
        PyObject *name = PyTuple_GET_ITEM(names, p);
        if (!put(values, name, argument(kept))) {
            return false;
        }
        if (r->param[p].kind != GW_PARAM_VALUE && !put(needs, name, need(kept))) {
            return false;
        }
    }
    return PyDict_SetItem(values, name_needs, needs) == 0;
}

static bool put_outputs(const GwNode *node, const GwRecipe *r, PyObject *values) {
    for (int i = 0; i < r->outputs; i++) {
        int number = r->output[i].number;
        const GwMade *made = number < node->made_count ? &node->made[number] : NULL;
        if (made == NULL || made->saved == NULL) {
            continue;
        }
        if (((GwTensor *)made->saved)->storage->version != made->version) {
            return false;
        }
        PyObject *name = PyUnicode_FromFormat("out%d", number);
        bool done = name != NULL && PyDict_SetItem(values, name, made->saved) == 0;
        Py_XDECREF(name);
        if (!done) {
            return false;
        }
        if (number == 0 && PyDict_SetItemString(values, "out", made->saved) < 0) {
            return false;
        }
    }
    return true;
}

/* A Context, whose attributes are the items of a dict. */
static PyObject *context_of(PyObject *values) {
    PyObject *context = context_class->tp_alloc(context_class, 0);
    if (context != NULL && PyObject_SetAttr(context, name_dict, values) < 0) {
        Py_CLEAR(context);
    }
    return context;
}

/* NULL without an exception where the long way reports the error. */
static PyObject *rule_context(const GwNode *node, const GwRecipe *r) {
    PyObject *names = PyObject_GetAttr(node->op, name_names), *context = NULL;
    PyObject *values = PyDict_New(), *needs = PyDict_New();
    if (names != NULL && values != NULL && needs != NULL
        && put_arguments(node, r, names, values, needs) && put_outputs(node, r, values)) {
        context = context_of(values);
    }
    Py_XDECREF(names);
    Py_XDECREF(values);
    Py_XDECREF(needs);
    return context;
}

/* ---- the answer ---- */

/* Whether a gradient has the dtype, device and shape of what it is for. */
static bool fits(PyObject *grad, const GwKept *kept) {
    if (!gw_is_tensor(grad) || (((GwTensor *)grad)->flags & GW_SYMBOLIC) != 0) {
        return false;
    }
    const GwTensor *g = (GwTensor *)grad;
    if (kept->kind == GW_KEPT_TENSOR) {
        const GwTensor *t = (GwTensor *)kept->value;
        return t->dtype == g->dtype && t->device == g->device && t->device_index == g->device_index
               && t->ndim == g->ndim && (t->flags & GW_SYMBOLIC) == 0
               && memcmp(t->sizes, g->sizes, (size_t)t->ndim * sizeof(int64_t)) == 0;
    }
    if (kept->kind != GW_KEPT_SPEC || kept->dtype != g->dtype || kept->device != g->device
        || kept->device_index != g->device_index || PyTuple_GET_SIZE(kept->shape) != g->ndim) {
        return false;
    }
    for (int d = 0; d < g->ndim; d++) {
        if (PyLong_AsLongLong(PyTuple_GET_ITEM(kept->shape, d)) != g->sizes[d]) {
            return false;
        }
    }
    return true;
}

/* The gradient as it goes on: None where nothing needs it, in shape where that was broadcast. */
static PyObject *fitted(const GwNode *node, const GwKept *kept, PyObject *grad) {
    if (grad == Py_None || kept->target == NULL) {
        return Py_NewRef(Py_None);
    }
    if (fits(grad, kept)) {
        return Py_NewRef(grad);
    }
    PyObject *source = argument(kept), *out = NULL;
    if (source != NULL) {
        out = PyObject_CallFunctionObjArgs(fit_function, node->op, grad, source, NULL);
        Py_DECREF(source);
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_RuntimeError, "a saved tensor changed while its gradient was made");
    }
    return out;
}

static bool append(PyObject *list, const GwNode *node, const GwKept *kept, PyObject *grad) {
    PyObject *item = fitted(node, kept, grad);
    bool done = item != NULL && PyList_Append(list, item) == 0;
    Py_XDECREF(item);
    return done;
}

static bool append_all(PyObject *list, const GwNode *node, const GwKept *kept, PyObject *given) {
    PyObject *grads = PySequence_Fast(given, "expected a gradient for each tensor of the list");
    bool ok = grads != NULL;
    if (ok && PySequence_Fast_GET_SIZE(grads) != kept->number) {
        PyErr_SetString(PyExc_ValueError, "expected a gradient for each tensor of the list");
        ok = false;
    }
    for (int i = 0; ok && i < kept->number; i++) {
        ok = append(list, node, kept + 1 + i, PySequence_Fast_GET_ITEM(grads, i));
    }
    Py_XDECREF(grads);
    return ok;
}

/* One gradient or None for each edge, from a rule's answer: one for each tensor parameter. */
static PyObject *input_gradients(const GwNode *node, const GwRecipe *r, PyObject *answer) {
    PyObject *list = PyList_New(0);
    PyObject *const *items = PyTuple_CheckExact(answer) ? PySequence_Fast_ITEMS(answer) : &answer;
    Py_ssize_t given = PyTuple_CheckExact(answer) ? PyTuple_GET_SIZE(answer) : 1, used = 0;
    const GwKept *kept = node->kept;
    bool ok = list != NULL;
    for (int p = 0; ok && p < r->params; p++, kept = gw_kept_next(kept)) {
        if (r->param[p].kind == GW_PARAM_VALUE) {
            continue;
        }
        if (used == given) {
            PyErr_Format(PyExc_ValueError, "the rule of %R gave too few gradients", node->op);
            ok = false;
        } else if (r->param[p].kind == GW_PARAM_LIST) {
            ok = append_all(list, node, kept, items[used++]);
        } else {
            ok = append(list, node, kept, items[used++]);
        }
    }
    if (!ok) {
        Py_CLEAR(list);
    }
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

static PyObject *call_rule(const GwNode *node, PyObject *context, PyObject *grads) {
    PyObject *given[8];
    Py_ssize_t n = PyList_GET_SIZE(grads);
    PyObject *rule = PyObject_GetAttr(node->op, name_rule), *answer = NULL;
    given[0] = context;
    memcpy(given + 1, PySequence_Fast_ITEMS(grads), (size_t)n * sizeof *given);
    if (rule != NULL) {
        answer = PyObject_Vectorcall(rule, given, (size_t)n + 1, NULL);
        Py_DECREF(rule);
    }
    return answer;
}

static PyObject *plain_gradients(PyObject *self, PyObject *const *given, Py_ssize_t nargs) {
    GW_UNUSED(self);
    if (nargs != 2 || !PyObject_TypeCheck(given[0], &GwNode_Type) || !PyList_CheckExact(given[1])) {
        PyErr_SetString(PyExc_TypeError, "plain_gradients(node, grads) takes a node and a list");
        return NULL;
    }
    const GwNode *node = (const GwNode *)given[0];
    PyObject *grads = given[1];
    Py_ssize_t n = PyList_GET_SIZE(grads);
    if (node->kept == NULL || node->freed || n < 1 || n > 7
        || is_complex(PyList_GET_ITEM(grads, 0))) {
        return Py_NewRef(Py_NotImplemented);
    }
    const GwRecipe *r = &((GwOpBase *)node->op)->recipe;
    if (!r->known || !r->plain || (r->outputs > 0 && gw_grad_enabled())) {
        return Py_NewRef(Py_NotImplemented);
    }
    PyObject *context = rule_context(node, r);
    if (context == NULL) {
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_NotImplemented);
    }
    PyObject *answer = call_rule(node, context, grads), *list = NULL;
    Py_DECREF(context);
    if (answer != NULL) {
        list = input_gradients(node, r, answer);
        Py_DECREF(answer);
    }
    return list;
}

PyMethodDef gw_gradient_methods[] = {
    {"plain_gradients", (PyCFunction)(void (*)(void))plain_gradients, METH_FASTCALL,
     "plain_gradients(node, grads): what OpNode.compute gives; NotImplemented for a node that C "
     "has not recorded, and where a saved tensor takes more than its version to be compared."},
    {NULL, NULL, 0, NULL},
};
