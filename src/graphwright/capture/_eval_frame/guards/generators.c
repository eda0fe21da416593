/* The state of Python's generators of random numbers, as bytes.
 *
 * `getstate()` makes an int of each of its 625 words, which takes as long as drawing hundreds of
 * numbers. The words follow the head of the object and refer to nothing.
 */
#include "eval_frame.h"

#include <stddef.h>
#include <string.h>

enum { WORDS = 624 };
typedef struct {
    PyObject_HEAD
    int index;
    uint32_t state[WORDS];
} Layout;

enum { STATE_BYTES = sizeof(int) + WORDS * sizeof(uint32_t) };

/* Where the words are; NULL, without an exception, of an object that is laid out otherwise. */
static char *words_of(PyObject *generator) {
    PyTypeObject *base = Py_TYPE(generator);
    while (base->tp_base != NULL && base->tp_base != &PyBaseObject_Type) {
        base = base->tp_base;
    }
    bool known = strcmp(base->tp_name, "_random.Random") == 0
        && base->tp_basicsize == (Py_ssize_t)sizeof(Layout);
    return known ? (char *)generator + offsetof(Layout, index) : NULL;
}

static PyObject *generator_state(PyObject *Py_UNUSED(module), PyObject *generator) {
    char *words = words_of(generator);
    if (words == NULL) {
        Py_RETURN_NONE;
    }
    return PyBytes_FromStringAndSize(words, STATE_BYTES);
}

static PyObject *set_generator_state(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *generator;
    const char *state;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "Oy#:set_generator_state", &generator, &state, &size)) {
        return NULL;
    }
    char *words = words_of(generator);
    if (words == NULL || size != STATE_BYTES) {
        PyErr_SetString(PyExc_TypeError, "set_generator_state(generator, generator_state(of it))");
        return NULL;
    }
    memcpy(words, state, STATE_BYTES);
    Py_RETURN_NONE;
}

PyMethodDef ef_generator_methods[] = {
    {"generator_state", generator_state, METH_O, NULL},
    {"set_generator_state", set_generator_state, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
