/* Steps of recurrent layers of one element type. Included with REAL, EXP, TANH and NAME(x)
 * defined. */

GW_INLINE REAL NAME(sigmoid)(REAL x) {
    return 1 / (1 + EXP(-x));
}

static GW_VECTOR_MATH void NAME(lstm_row)(
    int64_t n, const REAL *restrict x, const REAL *restrict own, const REAL *restrict bias,
    const REAL *restrict before, REAL *restrict out, REAL *restrict cell, REAL *restrict kept) {
    for (int64_t j = 0; j < n; j++) {
        REAL i = NAME(sigmoid)(x[j] + (own[j] + bias[j]));
        REAL f = NAME(sigmoid)(x[n + j] + (own[n + j] + bias[n + j]));
        REAL g = TANH(x[2 * n + j] + (own[2 * n + j] + bias[2 * n + j]));
        REAL o = NAME(sigmoid)(x[3 * n + j] + (own[3 * n + j] + bias[3 * n + j]));
        REAL c = f * before[j] + i * g;
        kept[j] = i;
        kept[n + j] = f;
        kept[2 * n + j] = g;
        kept[3 * n + j] = o;
        cell[j] = c;
        out[j] = o * TANH(c);
    }
}

static GW_VECTOR_MATH void NAME(gru_row)(
    int64_t n, const REAL *restrict x, const REAL *restrict own, const REAL *restrict bias,
    const REAL *restrict before, REAL *restrict out, REAL *restrict kept) {
    for (int64_t j = 0; j < n; j++) {
        REAL r = NAME(sigmoid)(x[j] + (own[j] + bias[j]));
        REAL z = NAME(sigmoid)(x[n + j] + (own[n + j] + bias[n + j]));
        REAL candidate = own[2 * n + j] + bias[2 * n + j];
        REAL new = TANH(x[2 * n + j] + r * candidate);
        kept[j] = r;
        kept[n + j] = z;
        kept[2 * n + j] = new;
        kept[3 * n + j] = candidate;
        out[j] = new + z * (before[j] - new);
    }
}

static GW_VECTOR_MATH void NAME(tanh_row)(
    int64_t n, const REAL *restrict x, const REAL *restrict own, const REAL *restrict bias,
    REAL *restrict out) {
    for (int64_t j = 0; j < n; j++) {
        out[j] = TANH(x[j] + (own[j] + bias[j]));
    }
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
static void NAME(advance)(void *closure, int64_t begin, int64_t end) {
    const Recurrence *r = closure;
    int64_t n = r->hidden, wide = r->gates * n;
    for (int64_t row = r->row + begin; row < r->row + end; row++) {
        int64_t place = row - r->row;
        const REAL *x = (const REAL *)r->x + row * wide;
        const REAL *own = (const REAL *)r->own + place * wide, *bias = r->bias;
        REAL *out = (REAL *)r->out + row * n;
        if (r->kind == LSTM) {
            const REAL *before = (const REAL *)cell_before(r) + place * n;
            NAME(lstm_row)(n, x, own, bias, before, out, (REAL *)r->cells + row * n,
                           (REAL *)r->kept + row * 4 * n);
        } else if (r->kind == GRU) {
            const REAL *before = (const REAL *)hidden_before(r) + place * n;
            NAME(gru_row)(n, x, own, bias, before, out, (REAL *)r->kept + row * 4 * n);
        } else if (r->kind == RNN_TANH) {
            NAME(tanh_row)(n, x, own, bias, out);
        } else {
            NAME(relu_row)(n, x, own, bias, out);
        }
    }
}

/* `slope` is the gradient of the step's result on entry; where the state goes on past the product
 * with the weights it holds that share of the previous state's gradient on return. */
static GW_VECTOR_MATH void NAME(lstm_slope)(
    int64_t n, const REAL *restrict kept, const REAL *restrict cell, const REAL *restrict before,
    const REAL *restrict slope, REAL *restrict to_cell, REAL *restrict to_gates) {
    for (int64_t j = 0; j < n; j++) {
        REAL i = kept[j], f = kept[n + j], g = kept[2 * n + j], o = kept[3 * n + j];
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
    int64_t n, const REAL *restrict kept, const REAL *restrict before, REAL *restrict slope,
    REAL *restrict to_gates, REAL *restrict to_own) {
    for (int64_t j = 0; j < n; j++) {
        REAL r = kept[j], z = kept[n + j], new = kept[2 * n + j], candidate = kept[3 * n + j];
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

static void NAME(go_back)(void *closure, int64_t begin, int64_t end) {
    const Recurrence *r = closure;
    int64_t n = r->hidden, wide = r->gates * n;
    for (int64_t row = r->row + begin; row < r->row + end; row++) {
        int64_t place = row - r->row;
        REAL *slope = (REAL *)r->slope + place * n, *to_gates = (REAL *)r->to_gates + row * wide;
        const REAL *arriving = (const REAL *)r->grad + row * n;
        const REAL *kept = (const REAL *)r->kept + row * 4 * n;
        for (int64_t j = 0; j < n; j++) {
            slope[j] += arriving[j];
        }
        if (r->kind == LSTM) {
            NAME(lstm_slope)(n, kept, (const REAL *)r->cells + row * n,
                             (const REAL *)cell_before(r) + place * n, slope,
                             (REAL *)r->to_cell + place * n, to_gates);
        } else if (r->kind == GRU) {
            NAME(gru_slope)(n, kept, (const REAL *)hidden_before(r) + place * n, slope, to_gates,
                            (REAL *)r->to_own + row * wide);
        } else {
            NAME(plain_slope)(n, r->kind == RNN_RELU, (const REAL *)r->out + row * n, slope,
                              to_gates);
        }
    }
}
