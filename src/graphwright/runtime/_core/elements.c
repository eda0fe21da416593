/* Running row kernels over any layout, and finding them by name. */
#include "elements.h"

enum { BLOCK = 512 };

/* Writes `n` elements that lie `step` bytes apart next to one another. */
static void gather(const char *from, npy_intp step, int width, int64_t n, char *to) {
    switch (width) {
        case 1: for (int64_t i = 0; i < n; i++) { to[i] = from[i * step]; } break;
        case 2: for (int64_t i = 0; i < n; i++) { memcpy(to + 2 * i, from + i * step, 2); } break;
        case 4: for (int64_t i = 0; i < n; i++) { memcpy(to + 4 * i, from + i * step, 4); } break;
        default: for (int64_t i = 0; i < n; i++) { memcpy(to + 8 * i, from + i * step, 8); } break;
    }
}

static void spread(const char *from, npy_intp step, int width, int64_t n, char *to) {
    switch (width) {
        case 1: for (int64_t i = 0; i < n; i++) { to[i * step] = from[i]; } break;
        case 2: for (int64_t i = 0; i < n; i++) { memcpy(to + i * step, from + 2 * i, 2); } break;
        case 4: for (int64_t i = 0; i < n; i++) { memcpy(to + i * step, from + 4 * i, 4); } break;
        default: for (int64_t i = 0; i < n; i++) { memcpy(to + i * step, from + 8 * i, 8); } break;
    }
}

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
    for (int i = 0; i < out; i++) {
        if (steps[i] == 0) {
            gather(args[i], 0, run->width[i], n < BLOCK ? n : BLOCK, buffers[i]);
        }
    }
    for (int64_t done = 0; done < n; done += BLOCK) {
        int64_t block = n - done < BLOCK ? n - done : BLOCK;
        for (int i = 0; i <= out; i++) {
            bool direct = steps[i] == run->width[i];
            at[i] = direct ? args[i] + done * steps[i] : buffers[i];
            if (!direct && i < out && steps[i] != 0) {
                gather(args[i] + done * steps[i], steps[i], run->width[i], block, buffers[i]);
            }
        }
        run->row(at, block, &run->trouble);
        if (at[out] == buffers[out]) {
            spread(buffers[out], steps[out], run->width[out], block, args[out] + done * steps[out]);
        }
    }
}

GwRow gw_own_row(const char *name, int dtype) {
    const GwRowTable *const families[] = {gw_plain_rows, gw_choice_rows, gw_division_rows,
                                          gw_smooth_rows, gw_special_rows};
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        for (const GwRowTable *entry = families[f]; entry->name != NULL; entry++) {
            if (strcmp(entry->name, name) == 0 && entry->rows[dtype] != NULL) {
                return entry->rows[dtype];
            }
        }
    }
    return NULL;
}
