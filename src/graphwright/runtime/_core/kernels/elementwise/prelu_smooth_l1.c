/* Functions in pieces, of contiguous tensors: prelu, and smooth_l1_loss in one pass. How sums are
 * cut depends on the number of elements alone. */
#include "native.h"
#include "pool.h"

#include <math.h>
#include <stdlib.h>

static const double LEAST_BETA = 1e-30;     /* as in nn_losses.py; float32 has its inverse */

enum { PIECE = 4096 };

typedef struct {
    const void *x, *weight;
    void *y;
    int64_t n, inner, weights;
    bool inner_weights;         /* a weight for each element of a line */
} Prelu;

typedef struct {
    const void *x, *target;
    void *each;                 /* NULL: sums of the pieces */
    double *sums, beta;
    int64_t n;
} Smooth;

#define REAL float
#define NAME(x) x##_f32
#include "prelu_smooth_l1_kernel.h"
#define REAL double
#define NAME(x) x##_f64
#include "prelu_smooth_l1_kernel.h"

/* A contiguous tensor of float32 or float64 with elements; else NULL. */
static const GwTensor *dense(PyObject *o) {
    const GwTensor *t = gw_plain_tensor(o);
    bool fits = t != NULL && (t->dtype == GW_FLOAT32 || t->dtype == GW_FLOAT64)
                && (t->flags & GW_CONTIGUOUS) != 0 && t->numel > 0;
    return fits ? t : NULL;
}

/* input, weight */
GW_KERNEL(prelu) {
    const GwTensor *x = dense(args[0]), *weight = dense(args[1]);
    if (x == NULL || weight == NULL || weight->dtype != x->dtype || weight->ndim > 1
        || (weight->numel > 1 && (x->ndim < 2 || weight->numel != x->sizes[1]))) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, x->dtype, x->ndim, x->sizes, NULL);
    if (out == NULL) {
        return NULL;
    }
    Prelu p = {.x = x->data, .weight = weight->data, .y = out->data, .n = x->numel,
               .inner = PIECE, .weights = weight->numel};
    if (p.weights > 1) {
        p.inner = x->numel / (x->sizes[0] * p.weights);
        p.inner_weights = p.inner == 1;
        p.inner *= p.inner_weights ? p.weights : 1;
    }
    int64_t lines = (p.n + p.inner - 1) / p.inner;
    gw_run_tasks(x->dtype == GW_FLOAT32 ? prelu_f32 : prelu_f64, &p, lines, p.inner);
    return (PyObject *)out;
}

static bool is_word(PyObject *o, const char *word) {
    return PyUnicode_Check(o) && PyUnicode_CompareWithASCIIString(o, word) == 0;
}

/* input, target, reduction, beta */
GW_KERNEL(smooth_l1_loss) {
    const GwTensor *x = dense(args[0]), *target = dense(args[1]);
    Smooth s = {0};
    bool each = is_word(args[2], "none"), mean = is_word(args[2], "mean");
    if (x == NULL || target == NULL || target->dtype != x->dtype || target->ndim != x->ndim
        || memcmp(target->sizes, x->sizes, (size_t)x->ndim * sizeof(int64_t)) != 0
        || !gw_plain_number(args[3], &s.beta) || !(s.beta >= LEAST_BETA)
        || (!each && !mean && !is_word(args[2], "sum"))) {
        return NULL;
    }
    int64_t pieces = (x->numel + PIECE - 1) / PIECE;
    double few[16], *sums = pieces > 16 && !each ? malloc((size_t)pieces * sizeof *sums) : few;
    GwTensor *out = gw_tensor_empty(cls, x->dtype, each ? x->ndim : 0, x->sizes, NULL);
    if (sums == NULL && out != NULL) {
        PyErr_NoMemory();
        Py_CLEAR(out);
    }
    if (out != NULL) {
        s.x = x->data;
        s.target = target->data;
        s.n = x->numel;
        s.each = each ? out->data : NULL;
        s.sums = sums;
        bool single = x->dtype == GW_FLOAT32;
        gw_run_tasks(single ? smooth_l1_pieces_f32 : smooth_l1_pieces_f64, &s, pieces,
            x->numel < PIECE ? x->numel : PIECE);
        double total = 0;
        for (int64_t i = 0; i < pieces && !each; i++) {
            total += sums[i];
        }
        total /= (mean ? (double)s.n : 1);
        if (!each && single) {
            *(float *)out->data = (float)total;
        } else if (!each) {
            *(double *)out->data = total;
        }
    }
    if (sums != few) {
        free(sums);
    }
    return (PyObject *)out;
}

const GwKernelEntry gw_piece_kernels[] = {
    {"prelu", 2, prelu},
    {"smooth_l1_loss", 4, smooth_l1_loss},
    {NULL, 0, NULL},
};
