/* Tables of string keys, and reading several of them at once. */
#ifndef GRAPHWRIGHT_FIELDS_H
#define GRAPHWRIGHT_FIELDS_H

#include "eval_frame.h"

/* The keys of a dict in order of insertion; valid until anything else runs. */
typedef struct {
    PyObject *const *entries;   /* key, value, key, value, ...; deleted keys are NULL */
    PyObject *const *values;    /* where the values are kept apart, else NULL */
    Py_ssize_t n;
} EfTable;

/* attributes.c. false: there is no such table, or keys other than plain strings are in it. */
bool ef_instance_table(PyObject *obj, EfTable *table);
bool ef_dict_table(PyObject *dict, EfTable *table);

/* guard_run.c: what had to be made goes into the registers. */
PyObject *ef_item(PyObject *base, PyObject *key, EfRegisters *regs);
PyObject *ef_attribute(PyObject *base, PyObject *name, EfRegisters *regs);

/* 0 where the class has none, because it changes or because there are too many. */
unsigned int ef_type_version(PyTypeObject *tp);

#endif
