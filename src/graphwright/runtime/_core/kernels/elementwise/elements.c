/* Running row kernels over any layout, and finding them by name. */
#include "elements.h"
#include "pool.h"

enum { BLOCK = 512, STRETCH = 512, LINE = 64 };

#define MOVES(bits)                                                                        \
    GW_VECTORISED static void repeat##bits(const char *from, int64_t n, char *to) {        \
        uint##bits##_t value;                                                              \
        memcpy(&value, from, sizeof value);                                                \
        for (int64_t i = 0; i < n; i++) {                                                  \
            ((uint##bits##_t *)(void *)to)[i] = value;                                     \
        }                                                                                  \
    }                                                                                      \
    static void gather##bits(const char *from, npy_intp step, int64_t n, char *to) {       \
        for (int64_t i = 0; i < n; i++) {                                                  \
            memcpy(to + i * (bits / 8), from + i * step, bits / 8);                        \
        }                                                                                  \
    }                                                                                      \
    static void spread##bits(const char *from, npy_intp step, int64_t n, char *to) {       \
        for (int64_t i = 0; i < n; i++) {                                                  \
            memcpy(to + i * step, from + i * (bits / 8), bits / 8);                        \
        }                                                                                  \
    }

MOVES(8)
MOVES(16)
MOVES(32)
MOVES(64)

#define PICK(bits, factor)                                                                 \
    GW_VECTORISED static void pick##bits##_##factor(const char *from, int64_t n, char *to) { \
        for (int64_t i = 0; i < n; i++) {                                                  \
            ((uint##bits##_t *)(void *)to)[i] =                                            \
                ((const uint##bits##_t *)(const void *)from)[i * (factor)];                \
        }                                                                                  \
    }

PICK(16, 2)
PICK(16, 3)
PICK(16, 4)
PICK(32, 2)
PICK(32, 3)
PICK(32, 4)
PICK(64, 2)
PICK(64, 3)
PICK(64, 4)

GwPick gw_pick_of(int64_t width, int64_t step) {
    static const GwPick picks[3][3] = {
        {pick16_2, pick16_3, pick16_4}, {pick32_2, pick32_3, pick32_4},
        {pick64_2, pick64_3, pick64_4},
    };
    int64_t factor = step / width;
    bool known = width >= 2 && width <= 8 && step % width == 0 && factor >= 2 && factor <= 4;
    return known ? picks[width / 4][factor - 2] : NULL;
}

/* Between elements `step` bytes apart and contiguous ones, by the logarithm of their width. */
static void (*const repeats[])(const char *, int64_t, char *) = {
    repeat8, repeat16, repeat32, repeat64,
};
static void (*const gathers[])(const char *, npy_intp, int64_t, char *) = {
    gather8, gather16, gather32, gather64,
};
static void (*const spreads[])(const char *, npy_intp, int64_t, char *) = {
    spread8, spread16, spread32, spread64,
};

static bool is_number(const GwRowRun *run, int i) {
    return i >= run->count - 1 - run->numbers && i < run->count - 1;
}

static bool is_contiguous(const GwRowRun *run, const npy_intp *steps) {
    for (int i = 0; i < run->count; i++) {
        if (steps[i] != run->width[i] && !is_number(run, i)) {
            return false;
        }
    }
    return true;
}

/* Asks for the inputs of the next stretch while one is worked on: between a long kernel's loads are
 * more instructions than the processor looks ahead, and vectors across two cache lines make it wait
 * for both. */
static void run_stretches(GwRowRun *run, char *const *args, int64_t n) {
    int out = run->count - 1;
    char *at[GW_MAX_OPERANDS];
    for (int64_t done = 0; done < n; done += STRETCH) {
        int64_t rest = n - done, stretch = rest < STRETCH ? rest : STRETCH;
        int64_t next = rest - stretch < STRETCH ? rest - stretch : STRETCH;
        for (int i = 0; i <= out; i++) {
            int64_t width = is_number(run, i) ? 0 : run->width[i];
            at[i] = args[i] + done * width;
            for (int64_t byte = 0; i < out && byte < next * width; byte += LINE) {
                __builtin_prefetch(at[i] + stretch * width + byte);
            }
        }
        run->row(at, stretch, &run->trouble);
    }
}

/* Operands that are not contiguous pass through buffers, repeated ones are written out once. */
void gw_run_rows(char **args, const npy_intp *count, const npy_intp *steps, void *data) {
    GwRowRun *run = data;
    int64_t n = *count;
    int out = run->count - 1;
    if (is_contiguous(run, steps)) {
        run_stretches(run, args, n);
        return;
    }
    _Alignas(64) char buffers[GW_MAX_OPERANDS][BLOCK * 8];
    char *at[GW_MAX_OPERANDS];
    int kind[GW_MAX_OPERANDS];
    GwPick pick[GW_MAX_OPERANDS];
    for (int i = 0; i <= out; i++) {
        kind[i] = __builtin_ctz((unsigned)run->width[i]);
        pick[i] = gw_pick_of(run->width[i], steps[i]);
        if (steps[i] == 0 && i < out && !is_number(run, i)) {
            repeats[kind[i]](args[i], n < BLOCK ? n : BLOCK, buffers[i]);
        }
    }
    for (int64_t done = 0; done < n; done += BLOCK) {
        int64_t block = n - done < BLOCK ? n - done : BLOCK;
        for (int i = 0; i <= out; i++) {
            bool direct = steps[i] == run->width[i] || is_number(run, i);
            at[i] = direct ? args[i] + done * steps[i] : buffers[i];
            if (!direct && i < out && pick[i] != NULL) {
                pick[i](args[i] + done * steps[i], block, buffers[i]);
            } else if (!direct && i < out && steps[i] != 0) {
                gathers[kind[i]](args[i] + done * steps[i], steps[i], block, buffers[i]);
            }
        }
        run->row(at, block, &run->trouble);
        if (at[out] == buffers[out]) {
            spreads[kind[out]](buffers[out], steps[out], block, args[out] + done * steps[out]);
        }
    }
}

GwRow gw_own_row(const char *name, int dtype) {
    static const GwRowTable none[] = {{NULL, {NULL}}};
    const GwRowTable *const families[] = {gw_has_wide_rows() ? gw_wide_rows : none,
                                          gw_has_wide_rows() ? gw_piece_rows : none,
                                          gw_has_float16_rows() ? gw_float16_rows : none,
                                          gw_has_bfloat16_rows() ? gw_bfloat16_rows : none,
                                          gw_plain_rows, gw_choice_rows, gw_division_rows,
                                          gw_smooth_rows, gw_special_rows, gw_analysis_rows,
                                          gw_gamma_rows};
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        for (const GwRowTable *entry = families[f]; entry->name != NULL; entry++) {
            if (strcmp(entry->name, name) == 0 && entry->rows[dtype] != NULL) {
                return entry->rows[dtype];
            }
        }
    }
    return NULL;
}

GwRow gw_mixed_row(const char *name, int dtype, int *tensors) {
    const GwMixedRow *const tables[GW_NUM_DTYPES] = {
        [GW_FLOAT16] = gw_has_float16_rows() ? gw_mixed_float16_rows : NULL,
        [GW_BFLOAT16] = gw_has_bfloat16_rows() ? gw_mixed_bfloat16_quick_rows
                                               : gw_mixed_bfloat16_rows,
        [GW_FLOAT32] = gw_mixed_float32_rows, [GW_FLOAT64] = gw_mixed_float64_rows,
    };
    for (const GwMixedRow *entry = tables[dtype]; entry != NULL && entry->name != NULL; entry++) {
        if (strcmp(entry->name, name) == 0) {
            *tensors = entry->tensors;
            return entry->row;
        }
    }
    return NULL;
}
