/* The one form of arguments, of which ops and their kernels see no other. Plain ones are brought to
 * it here; all others, and all refusals, are those of the conversions in ops/argument_forms.py. */
#include "binding.h"

static bool is_sequence(PyObject *o) { return PyTuple_Check(o) || PyList_Check(o); }

/* How many dims the arguments refer to; -1 with an exception. */
static int dims_meant(const GwBinding *b, const GwBound *bound) {
    if (b->dims_of < 0) {
        return 0;
    }
    PyObject *tensor = bound->value[b->dims_of];
    if (b->dims_of_list) {
        if (!is_sequence(tensor) || PySequence_Fast_GET_SIZE(tensor) == 0) {
            PyErr_SetString(PyExc_RuntimeError, "expected a non-empty list of Tensors");
            return -1;
        }
        tensor = PySequence_Fast_GET_ITEM(tensor, 0);
    }
    if (gw_is_tensor(tensor)) {
        return ((const GwTensor *)tensor)->ndim;
    }
    PyObject *ndim = PyObject_GetAttrString(tensor, "ndim");
    long n = ndim == NULL ? -1 : PyLong_AsLong(ndim);
    Py_XDECREF(ndim);
    if (n < 0 && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_RuntimeError, "a number of dims is negative");
    }
    return n > GW_MAX_DIMS ? GW_MAX_DIMS : (int)n;
}

/* An int that names a dim, counted from 0; NULL without an exception for anything else. */
static PyObject *plain_dim(PyObject *o, int ndim) {
    int dim;
    if (!gw_wrapped_dim(o, ndim, &dim)) {
        return NULL;
    }
    return PyLong_AsLongLong(o) == dim ? Py_NewRef(o) : PyLong_FromLong(dim);
}

static PyObject *all_dims(int ndim) {
    static PyObject *made[GW_MAX_DIMS + 1];
    if (made[ndim] == NULL) {
        int64_t dims[GW_MAX_DIMS];
        for (int i = 0; i < ndim; i++) {
            dims[i] = i;
        }
        made[ndim] = gw_int_tuple(dims, ndim);
    }
    return Py_XNewRef(made[ndim]);
}

/* Several ints that name dims, in their order: distinct, and ascending where `sorted`. */
static PyObject *plain_dims(PyObject *given, int ndim, bool sorted) {
    Py_ssize_t n = PySequence_Fast_GET_SIZE(given);
    int64_t dims[GW_MAX_DIMS];
    uint32_t seen = 0;
    bool same = PyTuple_CheckExact(given);
    if (n > ndim) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *one = PySequence_Fast_GET_ITEM(given, i);
        int dim;
        if (!gw_wrapped_dim(one, ndim, &dim) || (seen & UINT32_C(1) << dim) != 0
            || (sorted && i > 0 && dim < dims[i - 1])) {
            return NULL;
        }
        same = same && PyLong_AsLongLong(one) == dim;
        seen |= UINT32_C(1) << dim;
        dims[i] = dim;
    }
    return same ? Py_NewRef(given) : gw_int_tuple(dims, (int)n);
}

/* One dim or several as a sorted tuple; what stands for all of them is the caller's to say. */
static PyObject *dims_tuple(PyObject *given, int ndim) {
    if (is_sequence(given)) {
        return PySequence_Fast_GET_SIZE(given) == 0 ? NULL : plain_dims(given, ndim, true);
    }
    int dim;
    if (!gw_wrapped_dim(given, ndim, &dim)) {
        return NULL;
    }
    int64_t one = dim;
    return gw_int_tuple(&one, 1);
}

static PyObject *pair(PyObject *given) {
    if (!is_sequence(given)) {
        return PyTuple_Pack(2, given, given);
    }
    if (PySequence_Fast_GET_SIZE(given) != 2) {
        return NULL;
    }
    return PyTuple_CheckExact(given) ? Py_NewRef(given) : PySequence_Tuple(given);
}

static bool is_empty(PyObject *given) {
    return is_sequence(given) && PySequence_Fast_GET_SIZE(given) == 0;
}

static PyObject *exact_tuple(PyObject *given) {
    return PyTuple_CheckExact(given) ? Py_NewRef(given)
           : is_sequence(given) ? PySequence_Tuple(given) : NULL;
}

/* A plain argument in its form; NULL, perhaps without an exception, for others. */
static PyObject *plain_form(int form, PyObject *given, int ndim) {
    bool none = given == Py_None;
    switch (form) {
    case GW_FORM_TENSORS:
        return exact_tuple(given);
    case GW_FORM_SIZE_OR_NONE:
    case GW_FORM_SIZE:
        if ((none && form == GW_FORM_SIZE_OR_NONE) || Py_IS_TYPE(given, &GwSize_Type)) {
            return Py_NewRef(given);
        }
        return exact_tuple(given);
    case GW_FORM_PAIR_OR_NONE:
        return none || is_empty(given) ? Py_NewRef(Py_None) : pair(given);
    case GW_FORM_PAIR:
        return pair(given);
    case GW_FORM_DIM_OR_NONE:
        return none ? Py_NewRef(given) : plain_dim(given, ndim);
    case GW_FORM_DIM:
        return plain_dim(given, ndim);
    case GW_FORM_DIMS:
        return none || is_empty(given) ? all_dims(ndim) : dims_tuple(given, ndim);
    case GW_FORM_LONE_DIM:
        return none ? all_dims(ndim) : is_sequence(given) ? NULL : dims_tuple(given, ndim);
    case GW_FORM_DIMS_OR_NONE:
        return none || is_empty(given) ? Py_NewRef(Py_None) : dims_tuple(given, ndim);
    case GW_FORM_DIMS_EXACT:
        return none ? all_dims(ndim) : is_empty(given) ? PyTuple_New(0) : dims_tuple(given, ndim);
    case GW_FORM_DIMS_GIVEN:
        return none ? NULL : dims_tuple(given, ndim);
    case GW_FORM_PERMUTATION:
        return is_sequence(given) && PySequence_Fast_GET_SIZE(given) == ndim
               ? plain_dims(given, ndim, false) : NULL;
    default:
        return NULL;
    }
}

/* What stands behind an equation: one by one, or in one list. Behind a tensor, which begins the
 * format of sublists, it is left as it is. */
static PyObject *operands(PyObject *equation, PyObject *given) {
    PyObject *only = PyTuple_GET_SIZE(given) == 1 ? PyTuple_GET_ITEM(given, 0) : NULL;
    return only != NULL && is_sequence(only) && PyUnicode_Check(equation)
           ? PySequence_Tuple(only) : Py_NewRef(given);
}

bool gw_convert_bound(const GwBinding *b, GwBound *bound) {
    int ndim = -1;
    for (int k = 0; k < b->converted_count; k++) {
        int i = b->converted[k];
        const GwParameter *p = &b->parameter[i];
        PyObject *given = bound->value[i], *made;
        bool of_dims = p->form >= GW_FORM_DIM;
        if (of_dims && ndim < 0 && (ndim = dims_meant(b, bound)) < 0) {
            return false;
        }
        if (p->form == GW_FORM_OPERANDS) {
            made = operands(bound->value[0], given);
        } else {
            made = plain_form(p->form, given, ndim + p->more_dims);
        }
        if (made == NULL && !PyErr_Occurred()) {
            PyObject *dims = of_dims ? PyLong_FromLong(ndim + p->more_dims) : NULL;
            made = of_dims && dims == NULL ? NULL
                   : PyObject_CallFunctionObjArgs(p->convert, given, dims, NULL);
            Py_XDECREF(dims);
        }
        if (gw_keep(bound, made) == NULL) {
            return false;
        }
        bound->value[i] = made;
    }
    return true;
}
