/* How the function or method of an op takes its arguments. */
#ifndef GRAPHWRIGHT_BINDING_H
#define GRAPHWRIGHT_BINDING_H

#include "arguments.h"
#include "autograd_record.h"

enum { GW_BOUND_PARAMS = 32 };      /* at most; GW_RECIPE_PARAMS counts only for what is recorded */

/* How a parameter's argument is brought to its one form; schema.py describes the types. */
enum GwForm {
    GW_FORM_AS_GIVEN,
    GW_FORM_TENSORS, GW_FORM_OPERANDS, GW_FORM_SIZE, GW_FORM_SIZE_OR_NONE, GW_FORM_PAIR,
    GW_FORM_PAIR_OR_NONE,
    /* these refer to the dims of the first tensor */
    GW_FORM_DIM, GW_FORM_DIM_OR_NONE, GW_FORM_DIMS, GW_FORM_DIMS_OR_NONE, GW_FORM_DIMS_EXACT,
    GW_FORM_DIMS_GIVEN, GW_FORM_LONE_DIM, GW_FORM_PERMUTATION,
};

/* What becomes of positional arguments from some parameter on. */
enum GwCollect { GW_COLLECT_NOTHING, GW_COLLECT_ALL, GW_COLLECT_SIZES, GW_COLLECT_ONE_OR_MORE };

typedef struct {
    PyObject *name;         /* interned */
    PyObject *seconds;      /* a tuple of other names that it is given by */
    PyObject *value;        /* the default; NULL: it must be given */
    PyObject *convert;      /* convert(value[, ndim]): what is not plain; None: nothing is made */
    uint8_t form;           /* of GwForm */
    int8_t more_dims;       /* of the result, beyond those of the tensor */
    bool never_none;        /* it may be left out, but not be None */
    bool needs_int_before;  /* where it is given, `convert` makes an int of the one before it */
    bool with_next;         /* by its second name only together with the parameter behind it */
} GwParameter;

typedef struct {
    int count;              /* of parameters: those of the op's schema */
    int positional;         /* the first so many may be given by position */
    int8_t collect;         /* of GwCollect, by the last of them */
    int8_t dims_of;         /* the tensor, or list of them, whose dims are meant; -1: none */
    bool dims_of_list;
    int8_t device;          /* the parameter that has this thread's place as its default; -1: none */
    bool plain_out;         /* no argument depends on `out` */
    bool takes_out, takes_format, takes_placement, takes_older;
    int converted_count;
    int8_t converted[GW_BOUND_PARAMS];      /* the parameters that have a form */
    GwParameter *parameter;
} GwBinding;

/* What Python does for bound calls: see `set_binding_hooks`. */
typedef struct {
    PyObject *describe, *not_bound, *with_out, *older, *check_placement, *in_format;
    PyObject *document, *signature;
} GwBindingHooks;

/* Arguments as they are being bound. */
typedef struct {
    PyObject *value[GW_BOUND_PARAMS];       /* borrowed */
    PyObject *kept[2 * GW_BOUND_PARAMS];    /* owned: what was made of them */
    int kept_count;
    int needs_next;     /* the parameter that was given by such a name: with_next; -1: none */
    PyObject *out, *format, *layout, *pin_memory, *requires_grad;   /* borrowed, or NULL */
} GwBound;

/* binding.c */
bool gw_read_binding(PyObject *described, GwBinding *binding);
void gw_clear_binding(GwBinding *binding);
int gw_visit_binding(GwBinding *binding, visitproc visit, void *arg);
/* Fills `bound`; false with TypeError where the call does not fit. The caller releases what is
 * kept, in any case. */
bool gw_bind(const GwBinding *binding, PyObject *name, PyObject *const *args, Py_ssize_t nargs,
             PyObject *kwnames, GwBound *bound);

/* argument_forms.c: brings all arguments to their form; false with an exception. */
bool gw_convert_bound(const GwBinding *binding, GwBound *bound);

/* dispatch.c */
PyObject *gw_tuple(PyObject *const *items, Py_ssize_t n);

/* hook(op, args, error) with the pending exception: gives a result after all, or raises. `args` are
 * the items as a tuple, or NULL. */
PyObject *gw_ask_about_error(PyObject *hook, PyObject *op, PyObject *const *items,
                             Py_ssize_t count, PyObject *args);

/* Runs the op; `args` are the same arguments as a tuple, or NULL. */
PyObject *gw_dispatch(PyObject *op, PyObject *const *items, Py_ssize_t count, PyObject *args);

/* The same written into `out`, a tensor or an exact tuple of them: see `compute_out`. */
PyObject *gw_compute_out(PyObject *op, PyObject *const *items, Py_ssize_t count, PyObject *out);

/* modes.c: borrowed. */
PyObject *gw_place(void);

/* op_function.c */
extern PyTypeObject GwOpFunction_Type, GwOpMethod_Type;
extern PyMethodDef gw_op_function_methods[];

/* Takes over a new reference, which is released with the call; NULL stays NULL. */
static inline PyObject *gw_keep(GwBound *bound, PyObject *made) {
    if (made != NULL) {
        bound->kept[bound->kept_count++] = made;
    }
    return made;
}

#endif
