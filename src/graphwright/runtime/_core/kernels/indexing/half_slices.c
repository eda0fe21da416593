/* index_add of half precision: all slices for one position are added to it in float32, in their
 * order, and rounded once. */
#include "half_slices.h"
#include "loops.h"
#include "pool.h"

enum {
    LEAST = 32,         /* elements of slices that are taken here */
    PIECE = 1024,       /* elements that are summed at a time */
};

typedef struct {
    const uint16_t *in, *source;
    uint16_t *out;
    int64_t n, count, inner;    /* positions, slices of the source, elements of a slice */
    int64_t *first, *order;     /* [n + 1] into the latter: [count] slices, by their positions */
    GwLoop widen, narrow;
} Sums;

static void convert(GwLoop loop, const void *from, npy_intp width, void *to, npy_intp n) {
    char *pair[2] = {(char *)(uintptr_t)from, to};
    npy_intp widths[2] = {width, (npy_intp)(sizeof(float) + sizeof(uint16_t)) - width};
    loop(pair, &n, widths, NULL);
}

GW_VECTORISED static void add_row(float *restrict to, const float *restrict from, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        to[i] += from[i];
    }
}

/* Positions [begin, end), counted over all outer indices. */
static void sum_positions(void *closure, int64_t begin, int64_t end) {
    const Sums *s = closure;
    float total[PIECE], more[PIECE];
    for (int64_t at = begin; at < end; at++) {
        int64_t outer = at / s->n, position = at % s->n;
        int64_t from = s->first[position], to = s->first[position + 1];
        const uint16_t *in = s->in + at * s->inner, *source = s->source + outer * s->count * s->inner;
        uint16_t *out = s->out + at * s->inner;
        if (from == to && out != in) {
            memcpy(out, in, (size_t)s->inner * sizeof *out);
        }
        for (int64_t done = 0; done < s->inner && from != to; done += PIECE) {
            int64_t n = s->inner - done < PIECE ? s->inner - done : PIECE;
            convert(s->widen, in + done, sizeof *in, total, n);
            for (int64_t k = from; k < to; k++) {
                convert(s->widen, source + s->order[k] * s->inner + done, sizeof *source, more, n);
                add_row(total, more, n);
            }
            convert(s->narrow, total, sizeof *total, out + done, n);
        }
    }
}

/* Sorts the slices by position; false where one is out of range. */
static bool sort_slices(Sums *s, const GwTensor *index) {
    int64_t *places = s->order + s->count;
    for (int64_t i = 0; i < s->count; i++) {
        const char *at = index->data + i * index->strides[0] * gw_itemsize(index);
        int64_t place = index->dtype == GW_INT64 ? *(const int64_t *)(const void *)at
                                                 : *(const int32_t *)(const void *)at;
        if (place < 0 || place >= s->n) {
            return false;
        }
        places[i] = place;
        s->first[place + 1]++;
    }
    for (int64_t p = 0; p < s->n; p++) {
        s->first[p + 1] += s->first[p];
    }
    for (int64_t i = s->count - 1; i >= 0; i--) {   /* from the ends down, which become the starts */
        s->order[--s->first[places[i] + 1]] = i;
    }
    memmove(s->first, s->first + 1, (size_t)s->n * sizeof *s->first);
    s->first[s->n] = s->count;
    return true;
}

bool gw_fits_half_slices(const GwTensor *input, int dim, const GwTensor *source) {
    int64_t inner = 1;
    for (int d = dim + 1; d < input->ndim; d++) {
        inner *= input->sizes[d];
    }
    return gw_is_half(input->dtype) && (input->flags & source->flags & GW_CONTIGUOUS) != 0
           && input->numel > 0 && inner >= LEAST;
}

bool gw_add_half_slices(const GwTensor *input, int dim, const GwTensor *index,
                        const GwTensor *source, GwTensor *out) {
    Sums s = {(const uint16_t *)(const void *)input->data,
              (const uint16_t *)(const void *)source->data, (uint16_t *)(void *)out->data,
              input->sizes[dim], index->sizes[0], 1, NULL, NULL,
              gw_convert_loop(input->dtype, GW_FLOAT32), gw_convert_loop(GW_FLOAT32, input->dtype)};
    for (int d = dim + 1; d < input->ndim; d++) {
        s.inner *= input->sizes[d];
    }
    s.first = PyMem_Calloc((size_t)(s.n + 1 + 2 * s.count), sizeof(int64_t));
    if (s.first == NULL) {
        PyErr_NoMemory();
        return false;
    }
    s.order = s.first + s.n + 1;
    bool right = sort_slices(&s, index);
    if (right) {
        gw_run_tasks(sum_positions, &s, input->numel / s.inner, s.inner);
    }
    PyMem_Free(s.first);
    return right;
}
