/* Connectionist temporal classification (Graves et al., 2006) of few short sequences: the losses,
 * and their slopes by the log-probabilities. */
#include "losses.h"

#include <math.h>

enum { MOST_PLACES = 129, MOST_TIMES = 512, LARGEST = 64 << 10 };

/* Log-probabilities [steps, batch, classes]; of one sequence the labels with blanks around them,
 * and the logarithms of the weights of all paths to a place at a time, and from it to the end. */
typedef struct {
    const GwTensor *scores;
    int64_t steps, batch, classes, blank;
    int64_t labels[MOST_PLACES];
    int64_t places, times, sequence;
    double *before, *after;         /* [times, places] */
} Paths;

static double score(const Paths *p, int64_t time, int64_t class) {
    int64_t at = (time * p->batch + p->sequence) * p->classes + class;
    return p->scores->dtype == GW_FLOAT32 ? (double)((const float *)p->scores->data)[at]
                                          : ((const double *)p->scores->data)[at];
}

static void set_value(GwTensor *t, int64_t at, double value) {
    if (t->dtype == GW_FLOAT32) {
        ((float *)t->data)[at] = (float)value;
    } else {
        ((double *)t->data)[at] = value;
    }
}

static double part(double x, double most) { return x == most ? 1 : exp(x - most); }

/* log(e^a + e^b + e^c) */
static double log_sum(double a, double b, double c) {
    double most = a > b ? a : b;
    most = c > most ? c : most;
    if (!(most > -INFINITY)) {
        return a + b + c;           /* nothing but -inf, or no number */
    }
    return most + log(part(a, most) + part(b, most) + part(c, most));
}

/* Whether a path may go from place - 2 to a place. */
static bool skips(const Paths *p, int64_t place) {
    return place >= 2 && p->labels[place] != p->blank && p->labels[place] != p->labels[place - 2];
}

static void go_forward(const Paths *p) {
    for (int64_t t = 0; t < p->times; t++) {
        double *row = p->before + t * p->places, *last = row - p->places;
        for (int64_t s = 0; s < p->places; s++) {
            double sum = s < 2 ? 0 : -INFINITY;
            if (t > 0) {
                sum = log_sum(last[s], s > 0 ? last[s - 1] : -INFINITY,
                              skips(p, s) ? last[s - 2] : -INFINITY);
            }
            row[s] = sum + score(p, t, p->labels[s]);
        }
    }
}

static void go_backward(const Paths *p) {
    for (int64_t t = p->times - 1; t >= 0; t--) {
        double *row = p->after + t * p->places, *next = row + p->places;
        for (int64_t s = 0; s < p->places; s++) {
            double sum = s >= p->places - 2 ? 0 : -INFINITY;
            if (t < p->times - 1) {
                sum = log_sum(next[s], s + 1 < p->places ? next[s + 1] : -INFINITY,
                              s + 2 < p->places && skips(p, s + 2) ? next[s + 2] : -INFINITY);
            }
            row[s] = sum + score(p, t, p->labels[s]);
        }
    }
}

/* The logarithm of the weight of all paths. */
static double whole(const Paths *p) {
    if (p->times == 0) {
        return p->places == 1 ? 0 : -INFINITY;
    }
    const double *row = p->before + (p->times - 1) * p->places;
    double second = p->places > 1 ? row[p->places - 2] : -INFINITY;
    return log_sum(row[p->places - 1], second, -INFINITY);
}

/* exp(score), less what the paths through a class have of the whole; 0 behind the end. Where there
 * is no path at all, no slope is a number. */
static void write_slope(const Paths *p, double total, GwTensor *slope, double *taken) {
    for (int64_t t = 0; t < p->steps; t++) {
        int64_t row = (t * p->batch + p->sequence) * p->classes;
        for (int64_t c = 0; c < p->classes; c++) {
            taken[c] = total == -INFINITY ? NAN : 0;
        }
        for (int64_t s = 0; t < p->times && s < p->places; s++) {
            int64_t at = t * p->places + s;
            double own = score(p, t, p->labels[s]);
            taken[p->labels[s]] += exp(p->before[at] + p->after[at] - own - total);
        }
        for (int64_t c = 0; c < p->classes; c++) {
            set_value(slope, row + c, t < p->times ? exp(score(p, t, c)) - taken[c] : 0);
        }
    }
}

/* ---- reading arguments ---- */

/* Lengths from 0 to `most`, one for each sequence. */
static bool read_length(PyObject *lengths, int64_t count, int64_t i, int64_t most, int64_t *out) {
    return PyTuple_Check(lengths) && PyTuple_GET_SIZE(lengths) == count
           && gw_plain_int(PyTuple_GET_ITEM(lengths, i), out) && *out >= 0 && *out <= most;
}

/* The labels of the next sequence: of its row, or behind those of the sequences before (`used`). */
static bool read_labels(Paths *p, const GwTensor *targets, int64_t length, int64_t *used) {
    int64_t start = targets->ndim == 2 ? p->sequence * targets->sizes[1] : *used;
    int64_t room = targets->ndim == 2 ? targets->sizes[1] : targets->numel - *used;
    if (length > room || 2 * length + 1 > MOST_PLACES) {
        return false;
    }
    *used += length;
    p->places = 2 * length + 1;
    for (int64_t s = 0; s < p->places; s++) {
        int64_t label = s % 2 == 0 ? p->blank : ((const int64_t *)targets->data)[start + s / 2];
        if (label < 0 || label >= p->classes) {
            return false;
        }
        p->labels[s] = label;
    }
    return true;
}

static bool read_paths(Paths *p, PyObject *const *args) {
    const GwTensor *scores = p->scores = gw_plain_tensor(args[0]);
    const GwTensor *targets = gw_plain_tensor(args[1]);
    if (scores == NULL || targets == NULL || scores->ndim != 3 || scores->numel == 0
        || scores->numel > LARGEST || (scores->dtype != GW_FLOAT32 && scores->dtype != GW_FLOAT64)
        || targets->dtype != GW_INT64 || (scores->flags & targets->flags & GW_CONTIGUOUS) == 0) {
        return false;
    }
    p->steps = scores->sizes[0];
    p->batch = scores->sizes[1];
    p->classes = scores->sizes[2];
    bool rows = targets->ndim == 2 && targets->sizes[0] == p->batch;
    return p->steps <= MOST_TIMES && (targets->ndim == 1 || rows)
           && gw_plain_int(args[4], &p->blank) && p->blank >= 0 && p->blank < p->classes;
}

/* All sequences; false where one is not a plain one. */
static bool run(Paths *p, PyObject *const *args, GwTensor *losses, GwTensor *slope,
                double *taken) {
    int64_t used = 0, length;
    for (p->sequence = 0; p->sequence < p->batch; p->sequence++) {
        if (!read_length(args[2], p->batch, p->sequence, p->steps, &p->times)
            || !read_length(args[3], p->batch, p->sequence, MOST_PLACES, &length)
            || !read_labels(p, (const GwTensor *)args[1], length, &used)) {
            return false;
        }
        go_forward(p);
        go_backward(p);
        double total = whole(p);
        set_value(losses, p->sequence, -total);
        write_slope(p, total, slope, taken);
    }
    return true;
}

PyObject *gw_ctc_loss_parts(PyTypeObject *cls, PyObject *const *args) {
    Paths p;
    if (!read_paths(&p, args)) {
        return NULL;
    }
    size_t each = (size_t)p.steps * MOST_PLACES, all = 2 * each + (size_t)p.classes;
    double *memory = PyMem_Malloc(all * sizeof *memory);
    if (memory == NULL) {
        return PyErr_NoMemory();
    }
    p.before = memory;
    p.after = memory + each;
    GwTensor *losses = gw_tensor_empty(cls, p.scores->dtype, 1, &p.batch, NULL);
    GwTensor *slope = gw_tensor_empty(cls, p.scores->dtype, 3, p.scores->sizes, NULL);
    bool done = losses != NULL && slope != NULL && run(&p, args, losses, slope, memory + 2 * each);
    PyObject *out = done ? PyTuple_Pack(2, losses, slope) : NULL;
    Py_XDECREF(losses);
    Py_XDECREF(slope);
    PyMem_Free(memory);
    return out;
}
