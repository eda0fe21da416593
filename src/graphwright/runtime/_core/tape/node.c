/* NodeBase: the fields of a node, and what a node recorded in C looks like from Python. */
#include "node.h"

#include <structmember.h>

/* Where the instances of a class with __slots__ keep them. */
typedef struct {
    PyTypeObject *type;
    Py_ssize_t offset[5];
} Slots;

static Slots saved_slots, spec_slots;
static PyTypeObject *node_class;
static PyObject *naming;
static int64_t last_sequence;

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
            *(PyObject **)((char *)o + slots->offset[i]) = values[i];
        } else {
            Py_XDECREF(values[i]);
        }
    }
    return o;
}

static PyObject *saved_tensor(PyObject *tensor, int64_t version, bool is_output) {
    PyObject *values[] = {Py_NewRef(tensor), PyLong_FromLongLong(version),
                          Py_NewRef(is_output ? Py_True : Py_False), Py_NewRef(Py_None)};
    return filled(&saved_slots, values, 4);
}

PyObject *gw_kept_spec(const GwKept *kept) {
    PyObject *values[] = {Py_NewRef(kept->shape), Py_NewRef(kept->strides),
                          Py_NewRef(gw_dtypes[kept->dtype].object),
                          gw_device_object(kept->device, kept->device_index),
                          PyLong_FromLongLong(kept->offset)};
    return filled(&spec_slots, values, 5);
}

bool gw_read_node_classes(PyObject *node, PyObject *saved, PyObject *spec) {
    static const char *const saved_names[] = {"tensor", "version", "is_output", "packed", NULL};
    static const char *const spec_names[] = {"shape", "strides", "dtype", "device", "offset",
                                             NULL};
    if (!PyType_Check(node) || !PyType_IsSubtype((PyTypeObject *)node, &GwNode_Type)) {
        PyErr_SetString(PyExc_TypeError, "expected a subclass of NodeBase");
        return false;
    }
    if (!find_slots(saved, saved_names, &saved_slots)
        || !find_slots(spec, spec_names, &spec_slots)) {
        return false;
    }
    Py_XSETREF(node_class, (PyTypeObject *)Py_NewRef(node));
    return true;
}

/* ---- making ---- */

GwNode *gw_node_new(PyObject *op, int count) {
    GwNode *node = (GwNode *)node_class->tp_alloc(node_class, 0);
    if (node == NULL) {
        return NULL;
    }
    size_t room = (size_t)(count > 0 ? count : 1);
    node->kept = PyMem_Calloc(room, sizeof *node->kept);
    if (node->kept == NULL) {
        Py_DECREF(node);
        PyErr_NoMemory();
        return NULL;
    }
    node->count = count;
    node->op = Py_NewRef(op);
    return node;
}

void gw_node_number(GwNode *node) {
    node->sequence = ++last_sequence;
}

bool gw_node_reserve(GwNode *node, int outputs) {
    node->made = &node->only;
    if (outputs > 1) {
        node->made = PyMem_Calloc((size_t)outputs, sizeof *node->made);
        if (node->made == NULL) {
            PyErr_NoMemory();
            return false;
        }
    }
    node->made_count = outputs;
    return true;
}

static PyObject *next_sequence(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    GW_UNUSED(args);
    return PyLong_FromLongLong(++last_sequence);
}

static PyObject *skip_sequence(PyObject *self, PyObject *count) {
    GW_UNUSED(self);
    long long n = PyLong_AsLongLong(count);
    if (n == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (n < 0 || n > INT32_MAX) {
        return PyErr_Format(PyExc_ValueError, "skip_sequence: %lld is no count of nodes", n);
    }
    last_sequence += n;
    Py_RETURN_NONE;
}

/* Nodes recorded here are all of one class; they get that of their op when someone looks. */
PyObject *gw_node_named(PyObject *node) {
    if (node == NULL || naming == NULL || Py_TYPE(node) != node_class) {
        return node;
    }
    PyObject *done = PyObject_CallOneArg(naming, node);
    if (done == NULL) {
        Py_CLEAR(node);
    }
    Py_XDECREF(done);
    return node;
}

static PyObject *set_node_naming(PyObject *self, PyObject *hook) {
    GW_UNUSED(self);
    Py_XSETREF(naming, Py_NewRef(hook));
    Py_RETURN_NONE;
}

/* ---- the attributes ---- */

PyObject *gw_kept_edge(const GwKept *kept) {
    return kept->target == NULL ? Py_NewRef(Py_None)
                                : Py_BuildValue("(Oi)", kept->target, (int)kept->number);
}

static PyObject *get_edges(PyObject *self, void *closure) {
    GW_UNUSED(closure);
    const GwNode *node = (const GwNode *)self;
    if (node->edges != NULL || node->kept == NULL) {
        return Py_NewRef(node->edges != NULL ? node->edges : Py_None);
    }
    Py_ssize_t n = 0;
    for (int i = 0; i < node->count; i++) {
        n += node->kept[i].is_edge;
    }
    PyObject *edges = PyTuple_New(n);
    for (int i = 0, at = 0; edges != NULL && i < node->count; i++) {
        if (node->kept[i].is_edge) {
            PyObject *edge = gw_kept_edge(&node->kept[i]);
            if (edge == NULL) {
                Py_CLEAR(edges);
            } else {
                PyTuple_SET_ITEM(edges, at++, edge);
            }
        }
    }
    return edges;
}

PyObject *gw_kept_list(const GwKept *kept, PyObject *(*of)(const GwKept *)) {
    PyObject *list = PyList_New(kept->number);
    for (int i = 0; list != NULL && i < kept->number; i++) {
        PyObject *item = of(kept + 1 + i);
        if (item == NULL) {
            Py_CLEAR(list);
        } else {
            PyList_SET_ITEM(list, i, item);
        }
    }
    return list;
}

/* What tape/node.py keeps of an argument. */
static PyObject *as_kept(const GwKept *kept) {
    switch (kept->kind) {
    case GW_KEPT_TENSOR:
        return saved_tensor(kept->value, kept->version, false);
    case GW_KEPT_SPEC:
        return gw_kept_spec(kept);
    case GW_KEPT_LIST:
        return gw_kept_list(kept, as_kept);
    default:
        return Py_NewRef(kept->value);
    }
}

/* Appends what is taken over; false, also where there is nothing. */
static bool add(PyObject *list, PyObject *item) {
    bool added = item != NULL && PyList_Append(list, item) == 0;
    Py_XDECREF(item);
    return added;
}

static PyObject *get_args(PyObject *self, void *closure) {
    GW_UNUSED(closure);
    const GwNode *node = (const GwNode *)self;
    if (node->args != NULL || node->kept == NULL || node->freed) {
        return Py_NewRef(node->args != NULL ? node->args : Py_None);
    }
    PyObject *list = PyList_New(0);
    const GwKept *end = node->kept + node->count;
    for (const GwKept *k = node->kept; list != NULL && k < end; k = gw_kept_next(k)) {
        if (!add(list, as_kept(k))) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *get_needing(PyObject *self, void *closure) {
    GW_UNUSED(closure);
    const GwNode *node = (const GwNode *)self;
    if (node->needing != NULL) {
        return Py_NewRef(node->needing);
    }
    PyObject *set = PySet_New(NULL);
    for (int slot = 0; set != NULL && slot < 32; slot++) {
        if ((node->needed >> slot & 1) != 0) {
            PyObject *number = PyLong_FromLong(slot);
            if (number == NULL || PySet_Add(set, number) < 0) {
                Py_CLEAR(set);
            }
            Py_XDECREF(number);
        }
    }
    return set;
}

static PyObject *output_of(const GwMade *made) {
    if (made->shape == NULL) {
        return Py_BuildValue("(()OO)", Py_None, Py_None);
    }
    return Py_BuildValue("(OON)", made->shape, gw_dtypes[made->dtype].object,
                         gw_device_object(made->device, made->device_index));
}

static PyObject *get_outputs(PyObject *self, void *closure) {
    GW_UNUSED(closure);
    GwNode *node = (GwNode *)self;
    if (node->outputs == NULL) {
        PyObject *list = PyList_New(0);
        for (int i = 0; list != NULL && i < node->made_count; i++) {
            if (!add(list, output_of(&node->made[i]))) {
                Py_CLEAR(list);
            }
        }
        node->outputs = list;
    }
    return Py_XNewRef(node->outputs);
}

static PyObject *get_output_count(PyObject *self, void *closure) {
    GW_UNUSED(closure);
    const GwNode *node = (const GwNode *)self;
    Py_ssize_t count = node->outputs == NULL ? node->made_count : PyObject_Size(node->outputs);
    return count < 0 ? NULL : PyLong_FromSsize_t(count);
}

/* One item for each output that the op's entry says is kept. */
static PyObject *get_saved_outputs(PyObject *self, void *closure) {
    GW_UNUSED(closure);
    GwNode *node = (GwNode *)self;
    if (node->saved_outputs != NULL) {
        return Py_NewRef(node->saved_outputs);
    }
    PyObject *list = PyList_New(0);
    if (node->kept == NULL || node->freed) {
        return list;
    }
    PyObject *pairs = PyObject_GetAttrString(node->op, "saved_outputs");
    bool ok = pairs != NULL && list != NULL;
    for (Py_ssize_t i = 0; ok && i < PyTuple_GET_SIZE(pairs); i++) {
        long number = PyLong_AsLong(PyTuple_GET_ITEM(PyTuple_GET_ITEM(pairs, i), 0));
        const GwMade *made = number < node->made_count ? &node->made[number] : NULL;
        ok = add(list, made == NULL || made->saved == NULL
                           ? Py_NewRef(Py_None) : saved_tensor(made->saved, made->version, true));
    }
    Py_XDECREF(pairs);
    if (!ok) {
        Py_CLEAR(list);
    }
    return list;
}

/* Sets the field at that offset. */
static int set_field(PyObject *self, PyObject *value, void *closure) {
    PyObject **field = (PyObject **)((char *)self + (Py_ssize_t)(intptr_t)closure);
    Py_XSETREF(*field, Py_XNewRef(value));
    return 0;
}

static PyObject *forget(PyObject *self, PyObject *args) {
    GW_UNUSED(args);
    GwNode *node = (GwNode *)self;
    if (node->kept == NULL) {
        Py_RETURN_FALSE;
    }
    if (node->frees) {
        node->freed = true;
        for (int i = 0; i < node->count; i++) {
            Py_CLEAR(node->kept[i].value);
        }
        for (int i = 0; i < node->made_count; i++) {
            Py_CLEAR(node->made[i].saved);
        }
    }
    Py_RETURN_TRUE;
}

/* ---- the type ---- */

static int node_traverse(PyObject *self, visitproc visit, void *arg) {
    GwNode *node = (GwNode *)self;
    PyObject *fields[] = {node->hooks, node->prehooks, node->output_hooks, node->op, node->edges,
                          node->args, node->needing, node->outputs, node->saved_outputs};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        Py_VISIT(fields[i]);
    }
    for (int i = 0; i < node->count; i++) {
        Py_VISIT(node->kept[i].target);
        Py_VISIT(node->kept[i].value);
    }
    for (int i = 0; i < node->made_count; i++) {
        Py_VISIT(node->made[i].saved);
    }
    return 0;
}

static int node_clear(PyObject *self) {
    GwNode *node = (GwNode *)self;
    node->freed = true;
    Py_CLEAR(node->hooks);
    Py_CLEAR(node->prehooks);
    Py_CLEAR(node->output_hooks);
    Py_CLEAR(node->op);
    Py_CLEAR(node->edges);
    Py_CLEAR(node->args);
    Py_CLEAR(node->needing);
    Py_CLEAR(node->outputs);
    Py_CLEAR(node->saved_outputs);
    for (int i = 0; i < node->count; i++) {
        Py_CLEAR(node->kept[i].target);
        Py_CLEAR(node->kept[i].value);
        Py_CLEAR(node->kept[i].shape);
        Py_CLEAR(node->kept[i].strides);
    }
    for (int i = 0; i < node->made_count; i++) {
        Py_CLEAR(node->made[i].shape);
        Py_CLEAR(node->made[i].saved);
    }
    return 0;
}

static void node_dealloc(PyObject *self) {
    GwNode *node = (GwNode *)self;
    PyObject_GC_UnTrack(self);
    node_clear(self);
    PyMem_Free(node->kept);
    if (node->made != &node->only) {
        PyMem_Free(node->made);
    }
    Py_TYPE(self)->tp_free(self);
}

#define FIELD(name) (void *)offsetof(GwNode, name)

static PyGetSetDef node_getset[] = {
    {"edges", get_edges, set_field, "Pairs (node or leaf, output number), or None.", FIELD(edges)},
    {"args", get_args, set_field, "The bound arguments, tensors saved or as metadata; None once "
     "they were released.", FIELD(args)},
    {"needing", get_needing, set_field, "The parameters that need gradients.", FIELD(needing)},
    {"outputs", get_outputs, set_field, "(shape, dtype, device) of each output.", FIELD(outputs)},
    {"output_count", get_output_count, NULL, "How many outputs there are.", NULL},
    {"saved_outputs", get_saved_outputs, set_field, "The outputs that are kept.",
     FIELD(saved_outputs)},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef node_members[] = {
    {"hooks", T_OBJECT, offsetof(GwNode, hooks), 0, "Called after the node."},
    {"prehooks", T_OBJECT, offsetof(GwNode, prehooks), 0, "Called before the node."},
    {"output_hooks", T_OBJECT, offsetof(GwNode, output_hooks), 0, "Called before those."},
    {"op", T_OBJECT, offsetof(GwNode, op), 0, "The op."},
    {"sequence", T_LONGLONG, offsetof(GwNode, sequence), 0, "Grows with every node."},
    {NULL, 0, 0, 0, NULL},
};

static PyMethodDef node_type_methods[] = {
    {"forget", forget, METH_NOARGS,
     "Drop what was saved, and say True; False where it is not kept here."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject GwNode_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.NodeBase",
    .tp_doc = "The fields of a node of the tape.",
    .tp_basicsize = sizeof(GwNode),
    .tp_new = PyType_GenericNew,
    .tp_dealloc = node_dealloc,
    .tp_traverse = node_traverse,
    .tp_clear = node_clear,
    .tp_getset = node_getset,
    .tp_members = node_members,
    .tp_methods = node_type_methods,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
};

PyMethodDef gw_node_methods[] = {
    {"next_sequence", next_sequence, METH_NOARGS, "next_sequence(): a number, each time larger."},
    {"skip_sequence", skip_sequence, METH_O,
     "skip_sequence(n): leave n numbers before the next one free. ValueError unless n >= 0."},
    {"set_node_naming", set_node_naming, METH_O,
     "set_node_naming(f): f(node) gives a recorded node the class of its op's nodes; it is called "
     "when `grad_fn` is read."},
    {NULL, NULL, 0, NULL},
};
