/* Binding positional and keyword arguments to the parameters of an op. */
#include "binding.h"

/* ---- what an op's parameters are ---- */

static const struct {
    const char *type;
    uint8_t form;
} forms[] = {
    {"Tensor[]", GW_FORM_TENSORS}, {"Tensor?[]", GW_FORM_TENSORS}, {"Operands*", GW_FORM_OPERANDS},
    {"Dim", GW_FORM_DIM}, {"Dim?", GW_FORM_DIM_OR_NONE}, {"NewDim", GW_FORM_DIM},
    {"Dims", GW_FORM_DIMS}, {"Dims?", GW_FORM_DIMS_OR_NONE}, {"DimsGiven", GW_FORM_DIMS_GIVEN},
    {"LoneDim", GW_FORM_LONE_DIM}, {"DimsExact", GW_FORM_DIMS_EXACT},
    {"Perm", GW_FORM_PERMUTATION}, {"Perm*", GW_FORM_PERMUTATION}, {"Size", GW_FORM_SIZE},
    {"Size*", GW_FORM_SIZE}, {"Size?", GW_FORM_SIZE_OR_NONE}, {"IntPair", GW_FORM_PAIR},
    {"IntPair?", GW_FORM_PAIR_OR_NONE},
};

static void set_form(GwParameter *p, const char *type) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].type, type) == 0) {
            p->form = forms[i].form;
        }
    }
}

static bool read_parameter(PyObject *described, GwParameter *p) {
    PyObject *name, *seconds, *value, *convert;
    const char *type;
    int more_dims, required, never_none, needs_int_before, with_next;
    if (!PyTuple_Check(described)
        || !PyArg_ParseTuple(described, "UsO!OOipppp:parameter", &name, &type, &PyTuple_Type,
                             &seconds, &value, &convert, &more_dims, &required, &never_none,
                             &needs_int_before, &with_next)) {
        return false;
    }
    p->name = Py_NewRef(name);
    PyUnicode_InternInPlace(&p->name);
    p->seconds = Py_NewRef(seconds);
    p->value = required ? NULL : Py_NewRef(value);
    p->convert = Py_NewRef(convert);
    p->never_none = never_none;
    p->needs_int_before = needs_int_before;
    p->more_dims = (int8_t)more_dims;
    p->with_next = with_next;
    set_form(p, type);
    return true;
}

bool gw_read_binding(PyObject *described, GwBinding *b) {
    PyObject *parameters;
    int positional, collect, dims_of, dims_of_list, device, out, plain_out, format, placement;
    int older;
    memset(b, 0, sizeof *b);
    if (!PyTuple_Check(described)
        || !PyArg_ParseTuple(described, "O!iiipippppp:binding", &PyTuple_Type, &parameters,
                             &positional, &collect, &dims_of, &dims_of_list, &device, &out,
                             &plain_out, &format, &placement, &older)) {
        return false;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(parameters);
    if (n > GW_BOUND_PARAMS || positional > n || dims_of >= n || device >= n
        || (collect != GW_COLLECT_NOTHING && positional < 1)) {
        PyErr_SetString(PyExc_ValueError, "an op with such parameters cannot be called");
        return false;
    }
    b->parameter = PyMem_Calloc((size_t)n, sizeof *b->parameter);
    if (b->parameter == NULL) {
        PyErr_NoMemory();
        return false;
    }
    while (b->count < n) {
        GwParameter *p = &b->parameter[b->count];
        bool ok = read_parameter(PyTuple_GET_ITEM(parameters, b->count++), p);
        if (ok && p->needs_int_before && b->count == 1) {
            PyErr_SetString(PyExc_ValueError, "there is no parameter before the first");
            ok = false;
        }
        if (!ok) {
            gw_clear_binding(b);
            return false;
        }
        if (p->form != GW_FORM_AS_GIVEN) {
            b->converted[b->converted_count++] = (int8_t)(b->count - 1);
        }
    }
    b->positional = positional;
    b->collect = (int8_t)collect;
    b->dims_of = (int8_t)dims_of;
    b->dims_of_list = dims_of_list;
    b->device = (int8_t)device;
    b->takes_out = out;
    b->plain_out = plain_out;
    b->takes_format = format;
    b->takes_placement = placement;
    b->takes_older = older;
    return true;
}

void gw_clear_binding(GwBinding *b) {
    int count = b->count;
    b->count = 0;
    for (int i = 0; i < count; i++) {
        GwParameter *p = &b->parameter[i];
        Py_CLEAR(p->name);
        Py_CLEAR(p->seconds);
        Py_CLEAR(p->value);
        Py_CLEAR(p->convert);
    }
    PyMem_Free(b->parameter);
    b->parameter = NULL;
}

int gw_visit_binding(GwBinding *b, visitproc visit, void *arg) {
    for (int i = 0; i < b->count; i++) {
        Py_VISIT(b->parameter[i].seconds);
        Py_VISIT(b->parameter[i].value);
        Py_VISIT(b->parameter[i].convert);
    }
    return 0;
}

/* ---- names ---- */

static bool is_named(PyObject *a, PyObject *b) {
    return a == b || PyUnicode_Compare(a, b) == 0;
}

/* The parameter of a name; -1: there is none. */
static int parameter_named(const GwBinding *b, PyObject *name, bool *second) {
    *second = false;
    for (int i = 0; i < b->count; i++) {
        if (b->parameter[i].name == name) {
            return i;
        }
    }
    for (int i = 0; i < b->count; i++) {
        const GwParameter *p = &b->parameter[i];
        if (is_named(p->name, name)) {
            return i;
        }
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(p->seconds); k++) {
            if (is_named(PyTuple_GET_ITEM(p->seconds, k), name)) {
                *second = true;
                return i;
            }
        }
    }
    return -1;
}

/* Where an argument goes that is none of the op's own; NULL: there is none of that name. */
static PyObject **place_of_other(const GwBinding *b, PyObject *name, GwBound *bound) {
    const struct {
        bool taken;
        const char *name;
        PyObject **place;
    } others[] = {
        {b->takes_out, "out", &bound->out},
        {b->takes_format, "memory_format", &bound->format},
        {b->takes_placement, "layout", &bound->layout},
        {b->takes_placement, "pin_memory", &bound->pin_memory},
        {b->takes_placement, "requires_grad", &bound->requires_grad},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].taken && PyUnicode_CompareWithASCIIString(name, others[i].name) == 0) {
            return others[i].place;
        }
    }
    return NULL;
}

/* ---- binding ---- */

/* What the last positional parameter takes of the arguments from its own on; NULL with an exception,
 * or without one where it is not given. */
static PyObject *collected(const GwBinding *b, PyObject *const *args, Py_ssize_t n,
                           GwBound *bound) {
    bool single = n == 1 && b->collect != GW_COLLECT_ALL;
    if (n == 0 && b->collect != GW_COLLECT_ALL) {
        return NULL;
    }
    if (single && (b->collect == GW_COLLECT_ONE_OR_MORE || PyTuple_Check(args[0])
                   || PyList_Check(args[0]))) {
        return args[0];
    }
    return gw_keep(bound, gw_tuple(args, n));
}

static bool too_many(const GwBinding *b, PyObject *name, Py_ssize_t nargs) {
    int least = 0;
    while (least < b->positional && b->parameter[least].value == NULL) {
        least++;
    }
    if (least < b->positional) {
        PyErr_Format(PyExc_TypeError,
                     "%U() takes from %d to %d positional arguments but %zd were given", name, least,
                     b->positional, nargs);
    } else {
        PyErr_Format(PyExc_TypeError, "%U() takes %d positional argument%s but %zd were given", name,
                     b->positional, b->positional == 1 ? "" : "s", nargs);
    }
    return false;
}

static bool bind_keyword(const GwBinding *b, PyObject *name, PyObject *word, PyObject *given,
                         GwBound *bound) {
    bool second;
    int i = parameter_named(b, word, &second);
    bool by_position_only = i >= 0 && i == b->positional - 1 && b->collect == GW_COLLECT_ALL;
    PyObject **place = i >= 0 && !by_position_only ? &bound->value[i]
                       : place_of_other(b, word, bound);
    if (place == NULL) {
        PyErr_Format(PyExc_TypeError, "%U() got an unexpected keyword argument '%U'", name, word);
        return false;
    }
    if (*place != NULL && second) {
        PyErr_Format(PyExc_TypeError, "%U() got values for both '%U' and '%U'", name,
                     b->parameter[i].name, word);
        return false;
    }
    if (*place != NULL) {
        PyErr_Format(PyExc_TypeError, "%U() got multiple values for argument '%U'", name,
                     i >= 0 ? b->parameter[i].name : word);
        return false;
    }
    if (second && b->parameter[i].with_next) {
        bound->needs_next = i;
    }
    *place = given;
    return true;
}

static bool missing(const GwBinding *b, PyObject *name, int i) {
    PyErr_Format(PyExc_TypeError, "%U() missing 1 required %s argument: '%U'", name,
                 i < b->positional ? "positional" : "keyword-only", b->parameter[i].name);
    return false;
}

/* What is not given has its default; false with TypeError where it has none, or for a value that may
 * not be there. */
static bool complete(const GwBinding *b, PyObject *name, GwBound *bound) {
    for (int i = 0; i < b->count; i++) {
        const GwParameter *p = &b->parameter[i];
        if (bound->value[i] == NULL) {
            if (p->value == NULL) {
                return missing(b, name, i);
            }
            bound->value[i] = p->value;
            continue;
        }
        if (p->never_none && bound->value[i] == Py_None) {
            PyErr_Format(PyExc_TypeError,
                         "%U(): argument '%U' must be given a value, not None, or left out", name,
                         p->name);
            return false;
        }
        if (p->needs_int_before && !PyLong_CheckExact(bound->value[i - 1])) {
            PyObject *dim = PyObject_CallFunctionObjArgs(p->convert, bound->value[i - 1], NULL);
            if (gw_keep(bound, dim) == NULL) {
                return false;
            }
            bound->value[i - 1] = dim;
        }
    }
    return true;
}

bool gw_bind(const GwBinding *b, PyObject *name, PyObject *const *args, Py_ssize_t nargs,
             PyObject *kwnames, GwBound *bound) {
    int last = b->positional - (b->collect != GW_COLLECT_NOTHING);
    int filled = nargs < last ? (int)nargs : last;
    memcpy(bound->value, args, (size_t)filled * sizeof *args);
    memset(bound->value + filled, 0, (size_t)(b->count - filled) * sizeof *args);
    if (b->collect != GW_COLLECT_NOTHING) {
        bound->value[last] = collected(b, args + filled, nargs - filled, bound);
        if (bound->value[last] == NULL && PyErr_Occurred()) {
            return false;
        }
    } else if (nargs > last) {
        return too_many(b, name, nargs);
    }
    bound->needs_next = -1;
    Py_ssize_t named = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t k = 0; k < named; k++) {
        if (!bind_keyword(b, name, PyTuple_GET_ITEM(kwnames, k), args[nargs + k], bound)) {
            return false;
        }
    }
    if (bound->needs_next >= 0 && bound->value[bound->needs_next + 1] == NULL) {
        PyErr_Format(PyExc_TypeError, "%U() missing the argument that goes with '%U'", name,
                     PyTuple_GET_ITEM(b->parameter[bound->needs_next].seconds, 0));
        return false;
    }
    return complete(b, name, bound);
}
