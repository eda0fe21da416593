/* Elementwise runs over rows of few elements: what is short innermost is run as pieces of many
 * rows. Operands that do not go on from one row to the next (they repeat their row or its
 * elements, or their rows lie apart) are written out for each piece. */
#include "loops.h"
#include "pool.h"

enum {
    PIECE = 1024,           /* elements of a piece */
    SHORT = PIECE / 4,      /* of the longest rows that are put together */
    LONG = 16,              /* of rows that are worth a call of memcpy */
};

/* How an operand goes through a piece. */
enum { GOES_ON, NUMBER, REPEATED, APART };

typedef struct {
    const GwPlan *plan;
    int ways[GW_MAX_OPERANDS];
} Pieces;

/* `rows` rows of n elements, `inner` bytes apart, one after the other. */
#define WRITTEN(bits)                                                                      \
    static void written##bits(const char *from, npy_intp inner, npy_intp outer, int64_t n, \
                              int64_t rows, char *to) {                                    \
        uint##bits##_t *out = (uint##bits##_t *)(void *)to;                                \
        for (int64_t c = 0; c < n && rows > n; c++) {                                      \
            for (int64_t r = 0; r < rows; r++) {                                           \
                out[r * n + c] = *(const uint##bits##_t *)(from + r * outer + c * inner);  \
            }                                                                              \
        }                                                                                  \
        for (int64_t r = 0; r < rows && rows <= n; r++) {                                  \
            for (int64_t c = 0; c < n; c++) {                                              \
                out[r * n + c] = *(const uint##bits##_t *)(from + r * outer + c * inner);  \
            }                                                                              \
        }                                                                                  \
    }

WRITTEN(8)
WRITTEN(16)
WRITTEN(32)
WRITTEN(64)

typedef void (*Written)(const char *, npy_intp, npy_intp, int64_t, int64_t, char *);

/* By the logarithm of the width. */
static const Written written_by_width[] = {written8, written16, written32, written64};

/* The same of any width; one row over and over is copied. */
static void write_run(const char *from, npy_intp inner, npy_intp outer, int64_t n, int64_t rows,
                      int width, char *to) {
    Written written = written_by_width[__builtin_ctz((unsigned)width)];
    size_t row = (size_t)n * (size_t)width;
    if (outer == 0) {
        written(from, inner, 0, n, 1, to);
        for (int64_t done = 1; done < rows; done *= 2) {
            memcpy(to + (size_t)done * row, to,
                   row * (size_t)(done < rows - done ? done : rows - done));
        }
    } else if (inner == width && n >= LONG) {
        for (int64_t r = 0; r < rows; r++) {
            memcpy(to + (size_t)r * row, from + r * outer, row);
        }
    } else {
        written(from, inner, outer, n, rows, to);
    }
}

/* Rows [row, row + rows) of operand i. */
static void write_rows(const GwPlan *plan, int i, int64_t row, int64_t rows, char *to) {
    const npy_intp *steps = plan->steps[i];
    const char *from = plan->data[i];
    int64_t index[GW_MAX_DIMS];
    for (int d = 1; d < plan->ndim; d++) {
        index[d] = row % plan->sizes[d];
        row /= plan->sizes[d];
        from += index[d] * steps[d];
    }
    while (rows > 0) {
        int64_t left = plan->sizes[1] - index[1], count = left < rows ? left : rows;
        write_run(from, steps[0], steps[1], plan->sizes[0], count, plan->width[i], to);
        to += count * plan->sizes[0] * plan->width[i];
        rows -= count;
        from -= index[1] * steps[1];
        index[1] = 0;
        for (int d = 2; d < plan->ndim; d++) {
            from += steps[d];
            if (++index[d] < plan->sizes[d]) {
                break;
            }
            from -= steps[d] * plan->sizes[d];
            index[d] = 0;
        }
    }
}

/* Rows [begin, end), counted over all outer dimensions. */
static void run_pieces(void *closure, int64_t begin, int64_t end) {
    const Pieces *pieces = closure;
    const GwPlan *plan = pieces->plan;
    _Alignas(64) char written[GW_MAX_OPERANDS][PIECE * 8];
    int64_t n = plan->sizes[0], most = PIECE / n;
    char *args[GW_MAX_OPERANDS];
    npy_intp steps[GW_MAX_OPERANDS];
    for (int i = 0; i < plan->count; i++) {
        bool buffer = pieces->ways[i] == REPEATED || pieces->ways[i] == APART;
        args[i] = buffer ? written[i] : plan->data[i];
        steps[i] = buffer ? plan->width[i] : plan->steps[i][0];
        if (pieces->ways[i] == REPEATED) {
            write_rows(plan, i, begin, most < end - begin ? most : end - begin, written[i]);
        }
    }
    for (; begin < end; begin += most) {
        int64_t rows = end - begin < most ? end - begin : most;
        npy_intp count = rows * n;
        for (int i = 0; i < plan->count; i++) {
            if (pieces->ways[i] == GOES_ON) {
                args[i] = plan->data[i] + begin * n * steps[i];
            } else if (pieces->ways[i] == APART) {
                write_rows(plan, i, begin, rows, written[i]);
            }
        }
        plan->loop.loop(args, &count, steps, plan->loop.data);
    }
}

static int way_of(const GwPlan *plan, int i) {
    bool on = true, repeated = true;
    for (int d = 1; d < plan->ndim; d++) {
        on = on && plan->steps[i][d] == plan->steps[i][d - 1] * (npy_intp)plan->sizes[d - 1];
        repeated = repeated && plan->steps[i][d] == 0;
    }
    return on ? (plan->steps[i][0] == 0 ? NUMBER : GOES_ON) : repeated ? REPEATED : APART;
}

bool gw_run_short_rows(const GwPlan *plan, gw_ctx *ctx, int64_t grain) {
    if (plan->ndim < 2 || plan->buffered || plan->sizes[0] > SHORT) {
        return false;
    }
    Pieces pieces = {.plan = plan};
    for (int i = 0; i < plan->count; i++) {
        pieces.ways[i] = way_of(plan, i);
        bool output = i == plan->count - 1, on = pieces.ways[i] == GOES_ON;
        if (!on && (output || (pieces.ways[i] != NUMBER && plan->width[i] > 8))) {
            return false;
        }
    }
    gw_parallel_for(ctx, run_pieces, &pieces, plan->numel / plan->sizes[0],
                    (grain + plan->sizes[0] - 1) / plan->sizes[0]);
    return true;
}
