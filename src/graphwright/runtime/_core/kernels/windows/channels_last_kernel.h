/* Tiles of the indirect convolution, in one vector width. Included with NAME(x), BYTES (of a vector)
 * and KERNEL (the attribute that selects instructions) defined. */

enum { NAME(LANES) = BYTES / sizeof(float), NAME(WIDTH) = 2 * NAME(LANES) };
typedef float NAME(Vector) __attribute__((vector_size(BYTES), aligned(sizeof(float)), may_alias));

/* Writes, or adds to, `columns` of each row of the result, of which `vectors` were summed up. */
static inline __attribute__((always_inline)) void
NAME(put)(const Tile *t, const int rows, const int vectors, NAME(Vector) (*sums)[2],
          int64_t columns) {
    for (int i = 0; i < rows; i++) {
        float *to = t->y + i * t->row;
        if (columns >= vectors * NAME(LANES)) {
            for (int v = 0; v < vectors; v++) {
                NAME(Vector) sum = sums[i][v], *at = (NAME(Vector) *)(to + v * NAME(LANES));
                if (t->adds) {
                    sum += *at;
                }
                if (t->bias != NULL) {
                    sum += *(const NAME(Vector) *)(t->bias + v * NAME(LANES));
                }
                *at = sum;
            }
            continue;
        }
        for (int64_t j = 0; j < columns; j++) {
            float sum = sums[i][j / NAME(LANES)][j % NAME(LANES)];
            sum = t->adds ? sum + to[j] : sum;
            to[j] = t->bias != NULL ? sum + t->bias[j] : sum;
        }
    }
}

/* Sums over all channels of a group: rows of places by `vectors` of output channels. */
static inline __attribute__((always_inline)) void
NAME(dense)(const Tile *t, const int rows, const int vectors, int64_t columns) {
    NAME(Vector) sums[ROWS][2];
    for (int i = 0; i < rows; i++) {
        sums[i][0] = sums[i][1] = (NAME(Vector)){0};
    }
    const float *b = t->panel, *next = t->next;
    for (int64_t tap = 0; tap < t->taps; tap++) {
        const float *lines[ROWS];
        for (int i = 0; i < rows; i++) {
            lines[i] = t->places[tap * TALL + i] + t->offset;
        }
        for (int64_t q = 0; q < t->depth; q++, b += NAME(WIDTH), next += t->apart) {
            __builtin_prefetch(next);
            NAME(Vector) low = *(const NAME(Vector) *)b, high = low;
            if (vectors == 2) {
                high = *(const NAME(Vector) *)(b + NAME(LANES));
            }
            for (int i = 0; i < rows; i++) {
                float factor = lines[i][q];
                sums[i][0] += factor * low;
                if (vectors == 2) {
                    sums[i][1] += factor * high;
                }
            }
        }
    }
    NAME(put)(t, rows, vectors, sums, columns);
}

/* Sums of single channels. */
static inline __attribute__((always_inline)) void
NAME(depthwise)(const Tile *t, const int rows, const int vectors) {
    NAME(Vector) sums[ROWS][2];
    for (int i = 0; i < rows; i++) {
        sums[i][0] = sums[i][1] = (NAME(Vector)){0};
    }
    for (int64_t tap = 0; tap < t->taps; tap++) {
        const float *b = t->panel + tap * NAME(WIDTH);
        const float *const *places = t->places + tap * TALL;
        for (int v = 0; v < vectors; v++) {
            NAME(Vector) factor = *(const NAME(Vector) *)(b + v * NAME(LANES));
            for (int i = 0; i < rows; i++) {
                const float *at = places[i] + t->offset + v * NAME(LANES);
                sums[i][v] += factor * *(const NAME(Vector) *)at;
            }
        }
    }
    NAME(put)(t, rows, vectors, sums, vectors * NAME(LANES));
}

/* The last channels, fewer than a vector has. */
static inline __attribute__((always_inline)) void
NAME(depthwise_rest)(const Tile *t, int64_t rows, int64_t columns) {
    for (int64_t i = 0; i < rows; i++) {
        NAME(Vector) sums[1][2] = {{{0}, {0}}};
        for (int64_t tap = 0; tap < t->taps; tap++) {
            const float *at = t->places[tap * TALL + i] + t->offset;
            for (int64_t j = 0; j < columns; j++) {
                sums[0][0][j] += t->panel[tap * NAME(WIDTH) + j] * at[j];
            }
        }
        Tile one = *t;
        one.y += i * t->row;
        NAME(put)(&one, 1, 1, sums, columns);
    }
}

#define EACH_HEIGHT(CALL)                                                                          \
    switch (rows) {                                                                                \
        case 1: CALL(1); break;                                                                    \
        case 2: CALL(2); break;                                                                    \
        case 3: CALL(3); break;                                                                    \
        case 4: CALL(4); break;                                                                    \
        case 5: CALL(5); break;                                                                    \
        default: CALL(6); break;                                                                   \
    }

static inline __attribute__((always_inline)) void
NAME(dense_tile)(const Tile *t, int64_t rows, int64_t columns) {
#define TWO(height) NAME(dense)(t, height, 2, columns)
#define ONE(height) NAME(dense)(t, height, 1, columns)
    if (columns > NAME(LANES)) {
        EACH_HEIGHT(TWO)
    } else {
        EACH_HEIGHT(ONE)
    }
#undef TWO
#undef ONE
}

static inline __attribute__((always_inline)) void
NAME(depthwise_tile)(Tile t, int64_t rows, int64_t columns) {
#define TWO(height) NAME(depthwise)(&t, height, 2)
#define ONE(height) NAME(depthwise)(&t, height, 1)
    if (columns >= NAME(WIDTH)) {
        EACH_HEIGHT(TWO)
        return;
    }
    if (columns >= NAME(LANES)) {
        EACH_HEIGHT(ONE)
        t.panel += NAME(LANES);
        t.offset += NAME(LANES);
        t.y += NAME(LANES);
        t.bias = t.bias != NULL ? t.bias + NAME(LANES) : NULL;
        columns -= NAME(LANES);
    }
    if (columns > 0) {
        NAME(depthwise_rest)(&t, rows, columns);
    }
#undef TWO
#undef ONE
}
#undef EACH_HEIGHT

/* One part of the sums of `rows` places, no more than ROWS, for one panel of all groups'; meanwhile
 * the cache is asked for what lies `apart`, from `next` on. */
static inline __attribute__((always_inline)) void
NAME(panel)(const Job *job, const Part *part, const float *const *places, int64_t place,
            int64_t rows, int64_t panel, const float *next, int64_t apart) {
    int64_t group = panel / job->group_panels;
    int64_t column = panel % job->group_panels * NAME(WIDTH), at = group * job->outs + column;
    Tile t = {.taps = part->taps, .depth = part->depth, .row = job->groups * job->outs,
              .adds = part->adds, .places = places, .next = next, .apart = apart};
    t.panel = job->panels + (panel * job->panel_rows + part->row) * NAME(WIDTH);
    t.offset = job->depthwise ? column : group * job->ins + part->channel;
    t.bias = part->ends && job->bias != NULL ? job->bias + at : NULL;
    t.y = job->y + place * t.row + at;
    if (job->depthwise) {
        NAME(depthwise_tile)(t, rows, job->outs - column);
    } else {
        NAME(dense_tile)(&t, rows, job->outs - column);
    }
}

/* `rows` places, for panels [first, last). */
static inline __attribute__((always_inline)) void
NAME(panels)(const Job *job, const Part *part, const float *const *places, int64_t place,
             int64_t rows, int64_t first, int64_t last) {
    int64_t tiles = (rows + ROWS - 1) / ROWS, least = rows / tiles, higher = rows % tiles;
    int64_t together = job->by_places ? last - first : 1;
    int64_t deep = part->taps * part->depth, apart = (NAME(WIDTH) + tiles - 1) / tiles;
    for (int64_t from = first; from < last; from += together) {
        int64_t i = 0, row = from + 1 < last ? (from + 1) * job->panel_rows + part->row
                             : first * job->panel_rows + part->row + deep;
        for (int64_t tile = 0; tile < tiles; tile++) {
            const float *next = job->panels + row * NAME(WIDTH) + tile * deep * apart;
            int64_t count = least + (tile < higher);
            for (int64_t panel = from; panel < from + together; panel++) {
                NAME(panel)(job, part, places + i, place + i, count, panel, next, apart);
            }
            i += count;
        }
    }
}

/* Tasks [begin, end): blocks of places, each for one share of the panels. */
KERNEL static void NAME(convolve)(void *closure, int64_t begin, int64_t end) {
    const Job *job = closure;
    const float *places[MOST_TAPS * TALL];
    for (int64_t task = begin; task < end; task++) {
        int64_t first = task / job->shares * job->block, left = job->places - first;
        int64_t rows = left < job->block ? left : job->block;
        int64_t panel = task % job->shares * job->share_panels;
        int64_t last = panel + job->share_panels;
        last = last < job->groups * job->group_panels ? last : job->groups * job->group_panels;
        for (int64_t number = 0; number < job->parts; number++) {
            Part part = part_of(job, number);
            find_places(job, &part, first, rows, places);
            NAME(panels)(job, &part, places, first, rows, panel, last);
        }
        if (job->then != NULL) {
            int64_t row = job->groups * job->outs;
            gw_follow(job->then, first * row, (first + rows) * row, job->places * row);
        }
    }
}

#undef NAME
#undef BYTES
#undef KERNEL
