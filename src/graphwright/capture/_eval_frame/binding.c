/* From the arguments of a call to argument slots, by the rules of the language.
 *
 * Slots are in the order of co_varnames: positional, keyword-only, *args, **kwargs.
 */
#include "eval_frame.h"

int ef_code_slots(const PyCodeObject *code) {
    return code->co_argcount + code->co_kwonlyargcount + ((code->co_flags & CO_VARARGS) != 0)
        + ((code->co_flags & CO_VARKEYWORDS) != 0);
}

/* Index of a parameter that may be named in a call, -1 if there is none of that name. */
static int find_parameter(const PyCodeObject *code, PyObject *name) {
    PyObject *names = code->co_localsplusnames;
    int end = code->co_argcount + code->co_kwonlyargcount;
    for (int i = code->co_posonlyargcount; i < end; i++) {
        if (PyTuple_GET_ITEM(names, i) == name) {
            return i;
        }
    }
    for (int i = code->co_posonlyargcount; i < end; i++) {
        if (PyUnicode_Compare(PyTuple_GET_ITEM(names, i), name) == 0) {
            return i;
        }
    }
    return -1;
}

static bool bind_keywords(const PyCodeObject *code, PyObject *const *values, PyObject *kwnames,
                          PyObject **slots, EfBound *bound) {
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(kwnames); k++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, k);
        int i = find_parameter(code, name);
        if (i >= 0 && slots[i] == NULL) {
            slots[i] = values[k];
        } else if (i >= 0 || bound->varkw == NULL
                   || PyDict_SetItem(bound->varkw, name, values[k]) < 0) {
            PyErr_Clear();
            return false;
        }
    }
    return true;
}

static bool fill_defaults(PyFunctionObject *function, const PyCodeObject *code,
                          Py_ssize_t given, PyObject **slots) {
    PyObject *defaults = function->func_defaults, *kwdefaults = function->func_kwdefaults;
    Py_ssize_t n_defaults = defaults == NULL ? 0 : PyTuple_GET_SIZE(defaults);
    for (Py_ssize_t i = given; i < code->co_argcount; i++) {
        Py_ssize_t d = i - (code->co_argcount - n_defaults);
        if (slots[i] == NULL && d < 0) {
            return false;
        }
        slots[i] = slots[i] == NULL ? PyTuple_GET_ITEM(defaults, d) : slots[i];
    }
    for (int i = code->co_argcount; i < code->co_argcount + code->co_kwonlyargcount; i++) {
        if (slots[i] == NULL && kwdefaults != NULL) {
            slots[i] = PyDict_GetItemWithError(
                kwdefaults, PyTuple_GET_ITEM(code->co_localsplusnames, i));
        }
        if (slots[i] == NULL) {
            PyErr_Clear();
            return false;
        }
    }
    return true;
}

static bool make_collectors(const PyCodeObject *code, PyObject *const *args, Py_ssize_t nargs,
                            PyObject **slots, EfBound *bound) {
    int next = code->co_argcount + code->co_kwonlyargcount;
    if (code->co_flags & CO_VARARGS) {
        Py_ssize_t extra = nargs > code->co_argcount ? nargs - code->co_argcount : 0;
        bound->varargs = PyTuple_New(extra);
        for (Py_ssize_t i = 0; bound->varargs != NULL && i < extra; i++) {
            PyTuple_SET_ITEM(bound->varargs, i, Py_NewRef(args[code->co_argcount + i]));
        }
        slots[next++] = bound->varargs;
    }
    if (code->co_flags & CO_VARKEYWORDS) {
        bound->varkw = PyDict_New();
        slots[next++] = bound->varkw;
    }
    bool made = (!(code->co_flags & CO_VARARGS) || bound->varargs != NULL)
        && (!(code->co_flags & CO_VARKEYWORDS) || bound->varkw != NULL);
    if (!made) {
        PyErr_Clear();
    }
    return made;
}

bool ef_bind(PyFunctionObject *function, PyObject *const *args, Py_ssize_t nargs,
             PyObject *kwnames, PyObject **slots, EfBound *bound) {
    const PyCodeObject *code = (PyCodeObject *)function->func_code;
    int named = code->co_argcount + code->co_kwonlyargcount;
    Py_ssize_t given = nargs < code->co_argcount ? nargs : code->co_argcount;
    if (nargs > code->co_argcount && !(code->co_flags & CO_VARARGS)) {
        return false;
    }
    for (int i = 0; i < named; i++) {
        slots[i] = i < given ? args[i] : NULL;
    }
    return make_collectors(code, args, nargs, slots, bound)
        && (kwnames == NULL || bind_keywords(code, args + nargs, kwnames, slots, bound))
        && fill_defaults(function, code, given, slots);
}

void ef_bound_release(EfBound *bound) {
    Py_CLEAR(bound->varargs);
    Py_CLEAR(bound->varkw);
}
