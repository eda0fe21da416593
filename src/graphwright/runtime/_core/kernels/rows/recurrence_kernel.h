/* Steps of recurrent layers of one element type. Included with REAL, SIGMOID, TANH and NAME(x)
 * defined. */

/* Rows of a step: `x` is the input's share of the gates, `own` the hidden state's. What backward
 * reads goes to `saved`, which may be `own`, the new cell to `cell`, which may be `before`. A loop for
 * each function: their constants stay in registers, and processors see many elements ahead. */
GW_INLINE void NAME(sigmoids)(int64_t n, const REAL *x, const REAL *own, const REAL *bias,
                              REAL *to) {
    GW_ELEMENT_BY_ELEMENT
    for (int64_t j = 0; j < n; j++) {
        to[j] = SIGMOID(x[j] + (own[j] + bias[j]));
    }
}

GW_INLINE void NAME(tangents)(int64_t n, const REAL *x, const REAL *own, const REAL *bias,
                              REAL *to) {
    GW_ELEMENT_BY_ELEMENT
    for (int64_t j = 0; j < n; j++) {
        to[j] = TANH(x[j] + (own[j] + bias[j]));
    }
}

static GW_VECTOR_MATH void NAME(lstm_row)(int64_t n, const REAL *x, const REAL *own,
                                          const REAL *bias, const REAL *before, REAL *out,
                                          REAL *cell, REAL *saved) {
    NAME(sigmoids)(2 * n, x, own, bias, saved);
    NAME(tangents)(n, x + 2 * n, own + 2 * n, bias + 2 * n, saved + 2 * n);
    NAME(sigmoids)(n, x + 3 * n, own + 3 * n, bias + 3 * n, saved + 3 * n);
    GW_ELEMENT_BY_ELEMENT
    for (int64_t j = 0; j < n; j++) {
        REAL c = saved[n + j] * before[j] + saved[j] * saved[2 * n + j];
        cell[j] = c;
        out[j] = saved[3 * n + j] * TANH(c);
    }
}

/* `bias`: of r and of z for both shares, of the candidate for the input's, for the hidden state's. */
static GW_VECTOR_MATH void NAME(gru_row)(int64_t n, const REAL *x, const REAL *own,
                                         const REAL *bias, const REAL *before, REAL *out,
                                         REAL *saved) {
    GW_ELEMENT_BY_ELEMENT
    for (int64_t j = 0; j < n; j++) {
        saved[3 * n + j] = own[2 * n + j] + bias[3 * n + j];
    }
    NAME(sigmoids)(2 * n, x, own, bias, saved);
    GW_ELEMENT_BY_ELEMENT
    for (int64_t j = 0; j < n; j++) {
        REAL input = x[2 * n + j] + bias[2 * n + j];
        REAL new = TANH(input + saved[j] * saved[3 * n + j]);
        saved[2 * n + j] = new;
        out[j] = new + saved[n + j] * (before[j] - new);
    }
}

static GW_VECTOR_MATH void NAME(tanh_row)(int64_t n, const REAL *x, const REAL *own,
                                          const REAL *bias, REAL *out) {
    NAME(tangents)(n, x, own, bias, out);
}

static GW_VECTOR_MATH void NAME(relu_row)(
    int64_t n, const REAL *restrict x, const REAL *restrict own, const REAL *restrict bias,
    REAL *restrict out) {
    for (int64_t j = 0; j < n; j++) {
        REAL sum = x[j] + (own[j] + bias[j]);
        out[j] = sum < 0 ? 0 : sum;
    }
}

/* Rows [begin, end) of a step whose share of the hidden state, `own`, has been computed. */
static void NAME(advance)(const Recurrence *r, const Step *step, int64_t begin, int64_t end) {
    int64_t n = r->hidden;
    const REAL *bias = r->bias;
    for (int64_t row = begin; row < end; row++) {
        int64_t place = step->at * r->batch + row;
        const REAL *x = (const REAL *)step->x + (row - begin) * step->x_row;
        REAL *own = (REAL *)r->own + row * WIDEST * n, *out = (REAL *)r->out + place * n;
        REAL *saved = r->saved != NULL ? (REAL *)r->saved + place * WIDEST * n : own;
        if (r->kind == LSTM) {
            REAL *cell = (REAL *)r->cells + (r->save ? place : row) * n;
            NAME(lstm_row)(n, x, own, bias, (const REAL *)step->cell + row * n, out, cell, saved);
        } else if (r->kind == GRU) {
            NAME(gru_row)(n, x, own, bias, (const REAL *)step->hidden + row * n, out, saved);
        } else if (r->kind == RNN_TANH) {
            NAME(tanh_row)(n, x, own, bias, out);
        } else {
            NAME(relu_row)(n, x, own, bias, out);
        }
    }
}

/* The biases that rows of a step take, from those of both shares, each of which may be NULL. */
static void NAME(add_biases)(const Recurrence *r, const void *of_input, const void *of_state,
                             void *sums) {
    const REAL *input = of_input, *own = of_state;
    REAL *bias = sums;
    int64_t wide = r->gates * r->hidden, summed = r->kind == GRU ? 2 * r->hidden : wide;
    for (int64_t j = 0; j < summed; j++) {
        bias[j] = (input == NULL ? 0 : input[j]) + (own == NULL ? 0 : own[j]);
    }
    for (int64_t j = summed; j < wide; j++) {
        bias[j] = input == NULL ? 0 : input[j];
        bias[j + r->hidden] = own == NULL ? 0 : own[j];
    }
}

/* `slope` is the gradient of the step's result on entry; where the state goes on past the product
 * with the weights it holds that share of the previous state's gradient on return. */
static GW_VECTOR_MATH void NAME(lstm_slope)(
    int64_t n, const REAL *restrict saved, const REAL *restrict cell, const REAL *restrict before,
    const REAL *restrict slope, REAL *restrict to_cell, REAL *restrict to_gates) {
    for (int64_t j = 0; j < n; j++) {
        REAL i = saved[j], f = saved[n + j], g = saved[2 * n + j], o = saved[3 * n + j];
        REAL t = TANH(cell[j]), dh = slope[j];
        REAL dc = to_cell[j] + dh * o * (1 - t * t);
        to_gates[j] = dc * g * i * (1 - i);
        to_gates[n + j] = dc * before[j] * f * (1 - f);
        to_gates[2 * n + j] = dc * i * (1 - g * g);
        to_gates[3 * n + j] = dh * t * o * (1 - o);
        to_cell[j] = dc * f;
    }
}

static GW_VECTOR_MATH void NAME(gru_slope)(
    int64_t n, const REAL *restrict saved, const REAL *restrict before, REAL *restrict slope,
    REAL *restrict to_gates, REAL *restrict to_own) {
    for (int64_t j = 0; j < n; j++) {
        REAL r = saved[j], z = saved[n + j], new = saved[2 * n + j], candidate = saved[3 * n + j];
        REAL dh = slope[j], to_new = dh * (1 - z) * (1 - new * new);
        to_own[j] = to_gates[j] = to_new * candidate * r * (1 - r);
        to_own[n + j] = to_gates[n + j] = dh * (before[j] - new) * z * (1 - z);
        to_gates[2 * n + j] = to_new;
        to_own[2 * n + j] = to_new * r;
        slope[j] = dh * z;
    }
}

static GW_VECTOR_MATH void NAME(plain_slope)(
    int64_t n, bool relu, const REAL *restrict out, const REAL *restrict slope,
    REAL *restrict to_gates) {
    for (int64_t j = 0; j < n; j++) {
        REAL y = out[j], factor = 1 - y * y;
        to_gates[j] = relu ? (y > 0 ? slope[j] : 0) : slope[j] * factor;
    }
}

/* Rows [begin, end) of a step, of whose result `slope` is the gradient that comes from the next. */
static void NAME(go_back)(const Recurrence *r, const Step *step, int64_t begin, int64_t end) {
    int64_t n = r->hidden, wide = r->gates * n;
    for (int64_t row = begin; row < end; row++) {
        int64_t place = step->at * r->batch + row;
        REAL *slope = (REAL *)r->slope + row * n, *to_gates = (REAL *)r->to_gates + place * wide;
        const REAL *arriving = (const REAL *)r->grad + place * n;
        const REAL *saved = (const REAL *)r->saved + place * WIDEST * n;
        for (int64_t j = 0; j < n; j++) {
            slope[j] += arriving[j];
        }
        if (r->kind == LSTM) {
            NAME(lstm_slope)(n, saved, (const REAL *)r->cells + place * n,
                             (const REAL *)step->cell + row * n, slope,
                             (REAL *)r->to_cell + row * n, to_gates);
        } else if (r->kind == GRU) {
            NAME(gru_slope)(n, saved, (const REAL *)step->hidden + row * n, slope, to_gates,
                            (REAL *)r->to_own + place * wide);
        } else {
            NAME(plain_slope)(n, r->kind == RNN_RELU, (const REAL *)r->out + place * n, slope,
                              to_gates);
        }
    }
}
