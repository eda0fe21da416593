/* Rows of half precision by the kernels of float32. Included by softmax_rows.c, after Rows. */

/* Rows of half precision: some at a time are computed in float32, from and to memory of their own. */
typedef struct {
    const Rows *rows;
    gw_body body;
    int inputs;
    GwLoop widen, narrow;
    atomic_bool failed;     /* for want of memory */
} HalfRows;

static void convert_row(GwLoop loop, const void *from, npy_intp width, void *to, npy_intp n) {
    char *pair[2] = {(char *)(uintptr_t)from, to};
    npy_intp widths[2] = {width, (npy_intp)(sizeof(float) + sizeof(uint16_t)) - width};
    loop(pair, &n, widths, NULL);
}

static void half_rows(void *closure, int64_t begin, int64_t end) {
    HalfRows *h = closure;
    int64_t n = h->rows->n, together = n < PIECE ? PIECE / n : 1;
    float *own = PyMem_RawMalloc((size_t)((h->inputs + 1) * together * n) * sizeof *own);
    if (own == NULL) {
        h->failed = true;
        return;
    }
    Rows part = *h->rows;
    for (int64_t row = begin; row < end; row += together) {
        int64_t count = end - row < together ? end - row : together;
        for (int i = 0; i < h->inputs; i++) {
            const uint16_t *from = (const uint16_t *)h->rows->inputs[i] + row * n;
            part.inputs[i] = own + i * together * n;
            convert_row(h->widen, from, sizeof *from, own + i * together * n, count * n);
        }
        if (part.mean != NULL) {
            part.mean = (float *)h->rows->mean + row;
            part.rstd = (float *)h->rows->rstd + row;
        }
        part.out = own + h->inputs * together * n;
        h->body(&part, 0, count);
        convert_row(h->narrow, part.out, sizeof *own, (uint16_t *)h->rows->out + row * n,
                    count * n);
    }
    PyMem_RawFree(own);
}

/* Makes float32 of the vectors after the input, of one row's size; in memory that the caller frees,
 * or NULL. */
static float *widen_vectors(Rows *r, GwLoop widen) {
    float *own = PyMem_RawMalloc((size_t)((INPUTS - 1) * r->n) * sizeof *own);
    for (int i = 1; own != NULL && i < INPUTS; i++) {
        if (r->inputs[i] != NULL) {
            float *to = own + (i - 1) * r->n;
            convert_row(widen, r->inputs[i], sizeof(uint16_t), to, r->n);
            r->inputs[i] = to;
        }
    }
    return own;
}
