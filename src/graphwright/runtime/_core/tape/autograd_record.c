/* Recording an op for autograd where no tracing, fake tensors or hooks on saved tensors are in
 * play. It does what `record` in tape/node.py does; its nodes keep what they need in C. */
#include "autograd_record.h"

#include <structmember.h>

#include "native.h"
#include "node.h"

/* Objects of Python whose fields switch this off. */
static PyObject *anomaly, *packing;
static Py_ssize_t anomaly_enabled, packing_count;

/* ---- what an op needs of it ---- */

static bool read_index(PyObject *number, int8_t *value) {
    long v = PyLong_AsLong(number);
    *value = (int8_t)v;
    return v != -1 || !PyErr_Occurred();
}

/* The parameter that has to need a gradient, or -1 for None. */
static bool read_need(PyObject *need, int8_t *value) {
    *value = -1;
    return need == Py_None || read_index(need, value);
}

/* `slots`: pairs (parameter, whether it is a list). */
static bool read_params(PyObject *slots, PyObject *saved, GwRecipe *r) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(slots); i++) {
        int8_t at;
        PyObject *pair = PyTuple_GET_ITEM(slots, i), *index = PyTuple_GET_ITEM(pair, 0);
        PyObject *need = PyDict_GetItemWithError(saved, index);
        if (!read_index(index, &at) || PyErr_Occurred()) {
            return false;
        }
        bool list = PyTuple_GET_ITEM(pair, 1) == Py_True;
        r->param[at].kind = list ? GW_PARAM_LIST : GW_PARAM_TENSOR;
        r->param[at].saved = need != NULL;
        if (need != NULL && !read_need(need, &r->param[at].need)) {
            return false;
        }
    }
    return true;
}

/* `slots`: numbers of parameters. */
static bool read_mask(PyObject *slots, uint32_t *mask) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(slots); i++) {
        int8_t at;
        if (!read_index(PyTuple_GET_ITEM(slots, i), &at)) {
            return false;
        }
        *mask |= UINT32_C(1) << at;
    }
    return true;
}

/* `kinds`: seven tuples of such numbers. */
static bool read_kinds(PyObject *kinds, GwKinds *k) {
    return read_mask(PyTuple_GET_ITEM(kinds, 0), &k->integers)
           && read_mask(PyTuple_GET_ITEM(kinds, 1), &k->tensors)
           && read_mask(PyTuple_GET_ITEM(kinds, 2), &k->bools)
           && read_mask(PyTuple_GET_ITEM(kinds, 3), &k->numbers)
           && read_mask(PyTuple_GET_ITEM(kinds, 4), &k->never_none)
           && read_mask(PyTuple_GET_ITEM(kinds, 5), &k->singles)
           && read_mask(PyTuple_GET_ITEM(kinds, 6), &k->optional);
}

static bool read_outputs(PyObject *saved, GwRecipe *r) {
    r->outputs = (int8_t)PyTuple_GET_SIZE(saved);
    for (int i = 0; i < r->outputs; i++) {
        PyObject *pair = PyTuple_GET_ITEM(saved, i);
        if (!read_index(PyTuple_GET_ITEM(pair, 0), &r->output[i].number)
            || !read_need(PyTuple_GET_ITEM(pair, 1), &r->output[i].need)) {
            return false;
        }
    }
    return true;
}

bool gw_read_recipe(PyObject *op, GwRecipe *r) {
    static const char *const names[] = {"tensor_slots", "saved_slots", "saved_outputs", "rule",
                                        "is_flat", "names", "functional", "decompose", "vjp",
                                        "kinds"};
    enum { SLOTS, SAVED, OUTPUTS, RULE, FLAT, NAMES, FUNCTIONAL, PARTS, VJP, KINDS, FIELDS };
    memset(r, 0, sizeof *r);
    PyObject *field[FIELDS] = {NULL};
    bool ok = true;
    for (int i = 0; ok && i < FIELDS; i++) {
        field[i] = PyObject_GetAttrString(op, names[i]);
        ok = field[i] != NULL;
    }
    if (ok && PyTuple_GET_SIZE(field[NAMES]) <= GW_RECIPE_PARAMS
        && PyTuple_GET_SIZE(field[OUTPUTS]) <= GW_RECIPE_OUTPUTS) {
        r->params = (int8_t)PyTuple_GET_SIZE(field[NAMES]);
        r->flat = field[FLAT] == Py_True;
        ok = read_params(field[SLOTS], field[SAVED], r) && read_outputs(field[OUTPUTS], r)
             && read_kinds(field[KINDS], &r->kinds);
        r->plain = ok && PyCallable_Check(field[RULE]);
    }
    r->by_parts = ok && field[PARTS] != Py_None && field[VJP] == Py_None
                  && field[FUNCTIONAL] == Py_None;
    for (int i = 0; i < FIELDS; i++) {
        Py_XDECREF(field[i]);
    }
    r->known = ok;
    return ok;
}

/* ---- the arguments ---- */

/* Where the gradient of a tensor goes. */
bool gw_keep_edge(GwKept *kept, PyObject *o) {
    kept->is_edge = true;
    if (!gw_is_tensor(o)) {
        return true;
    }
    GwTensor *t = (GwTensor *)o;
    PyObject *node = t->grad_fn;
    if (t->base != NULL) {      /* its history may have to be made anew */
        node = gw_tensor_grad_fn(t);
        if (node == NULL) {
            return false;
        }
        if (node == Py_None) {
            Py_CLEAR(node);
        }
    } else {
        Py_XINCREF(node);
    }
    if (node != NULL) {
        kept->target = node;
        kept->number = t->output_nr;
    } else if (gw_own_grad(t)) {
        kept->target = Py_NewRef(o);
    }
    return true;
}

bool gw_may_save(const GwTensor *t) {
    if (t->storage->inference) {
        PyErr_SetString(PyExc_RuntimeError, "Inference tensors cannot be saved for backward. To "
                        "work around you can make a clone to get a normal tensor and use it in "
                        "autograd.");
    }
    return !t->storage->inference;
}

/* The tensor itself if it is to be saved, or its metadata; another argument as it is, a list as it
 * is now. */
static bool keep_value(GwKept *kept, PyObject *o, bool save) {
    if (!gw_is_tensor(o)) {
        kept->kind = GW_KEPT_VALUE;
        kept->value = PyList_CheckExact(o) ? PyList_AsTuple(o) : Py_NewRef(o);
        return kept->value != NULL;
    }
    GwTensor *t = (GwTensor *)o;
    if (save) {
        kept->kind = GW_KEPT_TENSOR;
        kept->version = t->storage->version;
        kept->value = Py_NewRef(o);
        return gw_may_save(t);
    }
    kept->kind = GW_KEPT_SPEC;
    kept->shape = Py_XNewRef(gw_tensor_shape(t));
    kept->strides = Py_XNewRef(gw_tensor_strides(t));
    kept->offset = t->offset;
    kept->dtype = t->dtype;
    kept->device = t->device;
    kept->device_index = t->device_index;
    return kept->shape != NULL && kept->strides != NULL;
}

/* An argument that is no operand: of a tensor of one element that stands for a number the number,
 * which the gradient's rule reads. */
static bool keep_plain(GwKept *kept, PyObject *o) {
    if (!gw_is_tensor(o) || gw_plain_tensor(o) == NULL || ((GwTensor *)o)->numel != 1) {
        return keep_value(kept, o, false);
    }
    kept->kind = GW_KEPT_VALUE;
    kept->value = gw_tensor_item(o, NULL);
    return kept->value != NULL;
}

/* How many entries the arguments take; -1 with TypeError. */
static int entries(const GwRecipe *r, PyObject *args) {
    Py_ssize_t n = 0;
    for (int p = 0; p < r->params; p++) {
        n++;
        if (r->param[p].kind == GW_PARAM_LIST) {
            PyObject *list = PyTuple_GET_ITEM(args, p);
            if (!PyTuple_Check(list) && !PyList_Check(list)) {
                PyErr_SetString(PyExc_TypeError, "expected a tuple or list of tensors");
                return -1;
            }
            n += PySequence_Fast_GET_SIZE(list);
        }
    }
    return (int)n;
}

static bool keep_edges(GwNode *node, const GwRecipe *r, PyObject *args) {
    GwKept *kept = node->kept;
    for (int p = 0; p < r->params; p++, kept++) {
        PyObject *arg = PyTuple_GET_ITEM(args, p);
        if (r->param[p].kind == GW_PARAM_TENSOR) {
            if (!gw_keep_edge(kept, arg)) {
                return false;
            }
            node->needed |= (uint32_t)(kept->target != NULL) << p;
        } else if (r->param[p].kind == GW_PARAM_LIST) {
            kept->kind = GW_KEPT_LIST;
            kept->number = (int32_t)PySequence_Fast_GET_SIZE(arg);
            for (int i = 0; i < (int)kept->number; i++) {
                if (!gw_keep_edge(kept + 1 + i, PySequence_Fast_GET_ITEM(arg, i))) {
                    return false;
                }
            }
            kept += kept->number;
        }
    }
    return true;
}

static bool is_needed(const GwNode *node, int need) {
    return need < 0 || (node->needed >> need & 1) != 0;
}

static bool keep_values(GwNode *node, const GwRecipe *r, PyObject *args) {
    GwKept *kept = node->kept;
    for (int p = 0; p < r->params; p++, kept++) {
        PyObject *arg = PyTuple_GET_ITEM(args, p);
        bool save = r->param[p].saved && is_needed(node, r->param[p].need);
        if (kept->kind == GW_KEPT_LIST) {
            for (int i = 0; i < (int)kept->number; i++) {
                if (!keep_value(kept + 1 + i, PySequence_Fast_GET_ITEM(arg, i), save)) {
                    return false;
                }
                node->frees = node->frees || kept[1 + i].kind == GW_KEPT_TENSOR;
            }
            kept += kept->number;
        } else if (r->param[p].kind == GW_PARAM_VALUE) {
            if (!keep_plain(kept, arg)) {
                return false;
            }
        } else if (!keep_value(kept, arg, save)) {
            return false;
        } else {    /* a number counts as saved, too: PyTorch keeps such a one as a tensor */
            node->frees = node->frees
                          || (save && (kept->kind == GW_KEPT_TENSOR || PyLong_Check(arg)
                                       || PyFloat_CheckExact(arg) || PyComplex_CheckExact(arg)));
        }
    }
    return true;
}

static GwNode *node_of(PyObject *op, const GwRecipe *r, PyObject *args) {
    int count = entries(r, args);
    GwNode *node = count < 0 ? NULL : gw_node_new(op, count);
    if (node != NULL && (!keep_edges(node, r, args) || !keep_values(node, r, args))) {
        Py_CLEAR(node);
    }
    if (node != NULL) {
        gw_node_number(node);
    }
    return node;
}

/* ---- the outputs ---- */

/* Makes the node the history of one of its outputs. */
static bool hang(GwNode *node, int number, PyObject *out) {
    GwTensor *t = (GwTensor *)out;
    GwMade *made = &node->made[number];
    made->shape = Py_XNewRef(gw_tensor_shape(t));
    made->dtype = t->dtype;
    made->device = t->device;
    made->device_index = t->device_index;
    if (made->shape != NULL && gw_dtypes[t->dtype].floating) {
        Py_XSETREF(t->grad_fn, Py_NewRef(node));
        t->output_nr = number;
        t->view_version = t->storage->version;
    }
    return made->shape != NULL;
}

/* An output is saved as an alias without history: the output itself would close a cycle. */
static bool save_outputs(GwNode *node, const GwRecipe *r, PyObject *const *outs) {
    for (int i = 0; i < r->outputs; i++) {
        int number = r->output[i].number;
        node->frees = true;
        if (!is_needed(node, r->output[i].need) || number >= node->made_count) {
            continue;
        }
        GwMade *made = &node->made[number];
        if (!gw_is_tensor(outs[number]) || !gw_may_save((GwTensor *)outs[number])) {
            return PyErr_Occurred() == NULL;
        }
        made->saved = (PyObject *)gw_tensor_alias((GwTensor *)outs[number]);
        made->version = ((GwTensor *)outs[number])->storage->version;
        if (made->saved == NULL) {
            return false;
        }
    }
    return true;
}

static bool keep_outputs(GwNode *node, const GwRecipe *r, PyObject *out) {
    bool single = gw_is_tensor(out);
    if (single && !gw_dtypes[((GwTensor *)out)->dtype].floating) {
        return true;
    }
    if (!single && !PyTuple_Check(out) && !PyList_Check(out)) {
        PyErr_Format(PyExc_TypeError, "%R gave no tensors", node->op);
        return false;
    }
    int n = single ? 1 : (int)PySequence_Fast_GET_SIZE(out);
    PyObject *const *outs = single ? &out : PySequence_Fast_ITEMS(out);
    if (!gw_node_reserve(node, n) || !save_outputs(node, r, outs)) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        if (gw_is_tensor(outs[i]) && !hang(node, i, outs[i])) {
            return false;
        }
    }
    return true;
}

/* ---- recording ---- */

static PyObject *field_at(PyObject *o, Py_ssize_t offset) {
    return *(PyObject **)((char *)o + offset);
}

bool gw_can_record(PyObject *op, GwRecipe *r) {
    if (!r->known && !gw_read_recipe(op, r)) {
        PyErr_Clear();
        return false;
    }
    if (!r->plain || anomaly == NULL || field_at(anomaly, anomaly_enabled) != Py_False) {
        return false;
    }
    PyObject *count = field_at(packing, packing_count);
    return count != NULL && PyLong_AsLong(count) == 0;
}

PyObject *gw_record(PyObject *op, const GwRecipe *r, PyObject *run, PyObject *args) {
    GwNode *node = node_of(op, r, args);
    if (node == NULL) {
        return NULL;
    }
    gw_start_recording();
    PyObject *out = PyObject_Vectorcall(run, PySequence_Fast_ITEMS(args),
                                        (size_t)PyTuple_GET_SIZE(args), NULL);
    gw_set_grad_enabled(1);
    if (out != NULL && !keep_outputs(node, r, out)) {
        Py_CLEAR(out);
    }
    Py_DECREF(node);
    return out;
}

static bool is_argument(PyObject *out, PyObject *args) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
        if (PyTuple_GET_ITEM(args, i) == out) {
            return true;
        }
    }
    return false;
}

/* Complex gradients take the parts' rules. */
static bool has_complex(PyObject *args) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
        PyObject *arg = PyTuple_GET_ITEM(args, i);
        if (gw_is_tensor(arg) && (((GwTensor *)arg)->dtype == GW_COMPLEX64
                                  || ((GwTensor *)arg)->dtype == GW_COMPLEX128)) {
            return true;
        }
    }
    return false;
}

PyObject *gw_record_whole(PyObject *op, const GwRecipe *r, PyObject *run, PyObject *args) {
    if (has_complex(args)) {
        return NULL;
    }
    gw_start_recording();
    PyObject *out = gw_try_kernel(run, PySequence_Fast_ITEMS(args), PyTuple_GET_SIZE(args));
    gw_set_grad_enabled(1);
    if (out == NULL || is_argument(out, args)) {
        return out;
    }
    GwNode *node = node_of(op, r, args);
    if (node == NULL || !keep_outputs(node, r, out)) {
        Py_CLEAR(out);
    }
    Py_XDECREF(node);
    return out;
}

/* ---- Python ---- */

/* The offset of a slot that the object's class declares; -1 with an exception. */
static Py_ssize_t slot_of(PyObject *o, const char *name) {
    PyObject *member = PyObject_GetAttrString((PyObject *)Py_TYPE(o), name);
    if (member == NULL) {
        return -1;
    }
    Py_ssize_t offset = -1;
    if (Py_TYPE(member) == &PyMemberDescr_Type) {
        offset = ((PyMemberDescrObject *)member)->d_member->offset;
    } else {
        PyErr_Format(PyExc_TypeError, "%R has no slot %s", Py_TYPE(o), name);
    }
    Py_DECREF(member);
    return offset;
}

static PyObject *set_record_classes(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *node, *saved, *spec, *context, *fit, *state, *active;
    if (!PyArg_ParseTuple(args, "OOOOOOO:set_record_classes", &node, &saved, &spec, &context, &fit,
                          &state, &active)) {
        return NULL;
    }
    anomaly_enabled = slot_of(state, "enabled");
    packing_count = slot_of(active, "count");
    if (anomaly_enabled < 0 || packing_count < 0 || !gw_read_node_classes(node, saved, spec)) {
        return NULL;
    }
    gw_set_gradient_classes(context, fit);
    Py_XSETREF(packing, Py_NewRef(active));
    Py_XSETREF(anomaly, Py_NewRef(state));
    Py_RETURN_NONE;
}

PyMethodDef gw_record_methods[] = {
    {"set_record_classes", set_record_classes, METH_VARARGS,
     "set_record_classes(OpNode, SavedTensor, TensorSpec, Context, fit_gradient, anomaly, "
     "packing): the classes that records are made of; `anomaly.enabled` and `packing.count` "
     "switch recording in C off."},
    {NULL, NULL, 0, NULL},
};
