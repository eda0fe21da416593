/* Running row kernels over any layout, and finding them by name. */
#include "elements.h"
#include "pool.h"

enum { BLOCK = 512 };

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

static bool is_contiguous(const GwRowRun *run, const npy_intp *steps) {
    for (int i = 0; i < run->count; i++) {
        if (steps[i] != run->width[i]) {
            return false;
        }
    }
    return true;
}

/* Operands that are not contiguous pass through buffers, repeated ones are written out once. */
void gw_run_rows(char **args, const npy_intp *count, const npy_intp *steps, void *data) {
    GwRowRun *run = data;
    int64_t n = *count;
    int out = run->count - 1;
    if (is_contiguous(run, steps)) {
        run->row(args, n, &run->trouble);
        return;
    }
    _Alignas(64) char buffers[GW_MAX_OPERANDS][BLOCK * 8];
    char *at[GW_MAX_OPERANDS];
    int kind[GW_MAX_OPERANDS];
    for (int i = 0; i <= out; i++) {
        kind[i] = __builtin_ctz((unsigned)run->width[i]);
        if (steps[i] == 0 && i < out) {
            repeats[kind[i]](args[i], n < BLOCK ? n : BLOCK, buffers[i]);
        }
    }
    for (int64_t done = 0; done < n; done += BLOCK) {
        int64_t block = n - done < BLOCK ? n - done : BLOCK;
        for (int i = 0; i <= out; i++) {
            bool direct = steps[i] == run->width[i];
            at[i] = direct ? args[i] + done * steps[i] : buffers[i];
            if (!direct && i < out && steps[i] != 0) {
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
    const GwRowTable *const families[] = {gw_plain_rows, gw_choice_rows, gw_division_rows,
                                          gw_smooth_rows, gw_special_rows, gw_gamma_rows};
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        for (const GwRowTable *entry = families[f]; entry->name != NULL; entry++) {
            if (strcmp(entry->name, name) == 0 && entry->rows[dtype] != NULL) {
                return entry->rows[dtype];
            }
        }
    }
    return NULL;
}

GwRow gw_mixed_row(const char *name, int *tensors) {
    for (const GwMixedRow *entry = gw_mixed_rows; entry->name != NULL; entry++) {
        if (strcmp(entry->name, name) == 0) {
            *tensors = entry->tensors;
            return entry->row;
        }
    }
    return NULL;
}
